//! `catch-up-stall`: report 003's pair, and what looks like it and is none.

use std::fmt::Write;

use casdiag::report::model::{Finding, Report};
use casdiag::vocab::Severity;

use crate::product::{Folder, findings, fired};

const DAY_MS: i64 = 86_400_000;
/// The pair's period in report 003.
const PERIOD_MS: i64 = 3_083;
/// 07:06:48,603: the primary's first line of the pair.
const START_MS: i64 = ((7 * 60 + 6) * 60 + 48) * 1000 + 603;

/// A line of a controller's log.
fn line(ms: i64, text: &str) -> String {
    let ms = ms.rem_euclid(DAY_MS);
    let (s, ms) = (ms / 1000, ms % 1000);
    format!(
        "{:02}:{:02}:{:02},{ms:03} {text}\n",
        s / 3600,
        s / 60 % 60,
        s % 60
    )
}

fn stream(ms: i64, lsn: u64) -> String {
    line(
        ms,
        &format!(
            "ctrl-2 HA repl: standby[0] lsn={lsn} < stream_ceiling_lsn=342 (committed_lsn=341) → stream WAL batches"
        ),
    ) + &line(
        ms,
        &format!("ctrl-2 ha_stream_wal_to_standby: streamed WAL [{lsn}+1..342] to standby"),
    )
}

fn heartbeat(ms: i64, node: &str, matched: u64) -> String {
    line(
        ms,
        &format!(
            "{node} ha_consume_append_entries: leader_idx=-1 term=21 prevIdx={matched} n=0 -> success=1 match={matched} (nop heartbeat)"
        ),
    )
}

fn rejected(ms: i64, prev: u64) -> String {
    line(
        ms,
        &format!(
            "ctrl-1 ha_consume_append_entries: leader_idx=-1 term=21 prevIdx={prev} n=1 -> success=0 match=0 (ae_reject_logmismatch)"
        ),
    )
}

fn nack(ms: i64, lsn: u64) -> String {
    line(
        ms,
        &format!(
            "ctrl-2 repl_ack_decode_and_dispatch: WAL NACK from standby lsn={lsn} success=0 — marking catch-up"
        ),
    )
}

fn expired(ms: i64) -> String {
    line(
        ms,
        "ctrl-2 commit: WAIT deadline expired without commit (lsn=343 committed_lsn=341 writable_lsn=342 timeout_ms=500)",
    )
}

/// The logs of primary and standby: the pair `times` times; the standby's stamps are `behind` ms before the primary's.
fn pair(start: i64, times: i64, behind: i64) -> (String, String) {
    let at = |n: i64| start + n * PERIOD_MS;
    let primary = (0..times).map(|n| stream(at(n), 340)).collect();
    let standby = (0..times)
        .map(|n| heartbeat(at(n) - behind, "ctrl-1", 323))
        .collect();
    (primary, standby)
}

/// The report of a primary's and a standby's log.
fn of(primary: &str, standby: &str) -> Report {
    let folder = Folder::with("ctrl-2.log", primary);
    folder.put("ctrl-1.log", standby);
    folder.report()
}

/// The one stall of a report, with the values of report 003.
fn stalled(report: &Report, repeats: u64) -> &Finding {
    let stalls = findings(report, "catch-up-stall");
    assert_eq!(stalls.len(), 1, "{:?}", fired(report));
    let stall = stalls[0];
    assert_eq!(stall.severity, Severity::High);
    for (name, value) in [
        ("match_lsn", 323),
        ("join_lsn", 340),
        ("ceiling_lsn", 342),
        ("committed_lsn", 341),
        ("repeats", repeats),
    ] {
        assert_eq!(stall.subjects[name], value, "{name}: {:?}", stall.subjects);
    }
    assert_eq!(stall.subjects["standby"], "ctrl-1");
    assert_eq!(stall.subjects["primary"], "ctrl-2");
    let period = stall.subjects["period_s"].as_f64().unwrap();
    assert!((3.07..3.10).contains(&period), "{period}");
    assert!(
        !fired(report).iter().any(|rule| rule.contains("storm")),
        "{:?}",
        fired(report)
    );
    assert!(!stall.title.contains("storm"), "{}", stall.title);
    stall
}

fn silent(report: &Report) {
    assert!(
        findings(report, "catch-up-stall").is_empty(),
        "{:?}",
        fired(report)
    );
}

#[test]
fn the_pair_of_report_003_is_one_stall() {
    // 20 times: 19 periods of 3.083 s are 58.577 s; with the log's end more than 60 s after the first rejection.
    let (primary, standby) = pair(START_MS, 20, 1);
    let before = stream(START_MS - 3_083, 323) + &nack(START_MS - 3_080, 342);
    let after = expired(START_MS + 58_441);
    let report = of(
        &(before + &primary + &after),
        &(rejected(START_MS - 3_083, 341) + &standby),
    );
    let stall = stalled(&report, 20);
    assert_eq!(stall.subjects["duration_s"], 58.577);
    assert_eq!(stall.window.first.as_deref(), Some("T07:06:48.603000"));
    assert_eq!(stall.window.last.as_deref(), Some("T07:07:47.180000"));
    let follows = findings(&report, "commits-expire");
    assert_eq!(follows[0].caused_by, std::slice::from_ref(&stall.id));
    assert_eq!(report.incidents.len(), 1);
}

/// The seed's paste, its pair as often as it says.
fn paste(start: i64, times: i64) -> String {
    let mut text =
        "# new primary ctrl-2 (term 21), its only reachable standby ctrl-1 (ctrl-3 killed):\n"
            .to_owned();
    let first = start - 3_083;
    text += &line(
        first,
        "ctrl-2 HA repl: standby[0] lsn=323 < stream_ceiling_lsn=342 (committed_lsn=341) → stream WAL batches",
    );
    text += &line(
        first + 2,
        "ctrl-2 ha_stream_wal_to_standby: streamed WAL [323+1..342] to standby",
    );
    text += &rejected(first, 341);
    text += &nack(first + 3, 342);
    for n in 0..times {
        let at = start + n * PERIOD_MS;
        text += &(stream(at, 340) + &heartbeat(at - 1, "ctrl-1", 323));
        if n == 0 {
            text += "... same pair every 3 s for >60 s; ctrl-1 never logs another walCatchupEntry ...\n";
        }
    }
    text += &expired(start + 58_441);
    text += "worker: xcecli failover: cluster not ready after 21 attempts (last status=-10013)\n";
    writeln!(text, "[xce-test-ha] FAIL: round 19: worker-resync job ...: worker never logged a fresh rejoin after the failover (pre=18 post=18)").unwrap();
    text
}

#[test]
fn both_nodes_in_one_paste_are_one_stall() {
    let report = Folder::with("paste.log", paste(START_MS, 20)).report();
    let stall = stalled(&report, 20);
    assert_eq!(stall.subjects["duration_s"], 58.577);
    let records = &report.records.by_node;
    // The rejection and 20 heartbeats; two streams of two lines and more, one NACK, one expired wait.
    assert_eq!((records["ctrl-1"], records["ctrl-2"]), (21, 2 + 1 + 40 + 1));
    assert_eq!(findings(&report, "commits-expire").len(), 1);
}

#[test]
fn a_paste_over_midnight_is_one_stall() {
    let report = Folder::with("paste.log", paste(DAY_MS - 30_000, 20)).report();
    assert_eq!(stalled(&report, 20).subjects["duration_s"], 58.577);
}

#[test]
fn logs_over_midnight_are_one_stall() {
    let (primary, standby) = pair(DAY_MS - 30_000, 20, 1);
    let report = of(&primary, &standby);
    assert_eq!(stalled(&report, 20).subjects["duration_s"], 58.577);
}

#[test]
fn a_reply_may_be_stamped_before_its_request() {
    for behind in [-7, 0, 1, 9, 250] {
        let (primary, standby) = pair(START_MS, 20, behind);
        stalled(&of(&primary, &standby), 20);
        let mixed: String = (0..20)
            .map(|n| START_MS + n * PERIOD_MS)
            .map(|at| stream(at, 340) + &heartbeat(at - behind, "ctrl-1", 323))
            .collect();
        stalled(&Folder::with("paste.log", mixed).report(), 20);
    }
}

#[test]
fn a_reply_stamped_before_midnight_may_follow_a_request_stamped_after_it() {
    // The third request is sent at 00:00:00,000 by the primary's clock; the standby's is 1 ms behind.
    let start = DAY_MS - 2 * PERIOD_MS;
    let mixed: String = (0..20)
        .map(|n| start + n * PERIOD_MS)
        .map(|at| stream(at, 340) + &heartbeat(at - 1, "ctrl-1", 323))
        .collect();
    let report = Folder::with("paste.log", mixed).report();
    assert_eq!(stalled(&report, 20).subjects["duration_s"], 58.577);
}

#[test]
fn seventeen_rejected_rounds_and_then_progress_are_no_stall() {
    let (mut primary, mut standby) = (String::new(), String::new());
    let lsns: Vec<u64> = (324..=340).rev().collect();
    assert_eq!(lsns.len(), 17);
    let mut at = START_MS;
    for lsn in lsns {
        primary += &(stream(at, lsn) + &nack(at + 2, lsn + 1));
        standby += &(heartbeat(at - 1, "ctrl-1", 323) + &rejected(at + 1, lsn));
        at += PERIOD_MS;
    }
    primary += &stream(at, 323);
    standby += &line(
        at + 1,
        "ctrl-1 ha_apply_wal_catchup_entry: walCatchupEntry lsn=324..342 term=20",
    );
    standby += &heartbeat(at + PERIOD_MS, "ctrl-1", 342);
    silent(&of(&primary, &standby));
}

#[test]
fn one_rejected_append_is_no_stall() {
    let primary =
        stream(START_MS, 323) + &nack(START_MS + 3, 342) + &stream(START_MS + PERIOD_MS, 340);
    let standby = rejected(START_MS, 341) + &heartbeat(START_MS + PERIOD_MS, "ctrl-1", 342);
    silent(&of(&primary, &standby));
}

#[test]
fn a_standby_that_is_level_is_no_stall() {
    let primary: String = (0..20)
        .map(|n| line(START_MS + n * PERIOD_MS, "ctrl-2 HA repl: standby[0] lsn=342 < stream_ceiling_lsn=342 (committed_lsn=342) → stream WAL batches"))
        .collect();
    let (_, standby) = pair(START_MS, 20, 1);
    silent(&of(&primary, &standby));
}

#[test]
fn standbys_do_not_share_a_stall() {
    // Each position is said three times and then moves: six of the same number are not six of one standby.
    let of_standby = |ms: i64, index: u64, lsn: u64| {
        line(
            ms,
            &format!(
                "ctrl-2 HA repl: standby[{index}] lsn={lsn} < stream_ceiling_lsn=342 (committed_lsn=341) → stream WAL batches"
            ),
        )
    };
    let primary: String = (0..6)
        .map(|n| of_standby(START_MS + n * PERIOD_MS, u64::try_from(n % 2).unwrap(), 340))
        .collect();
    silent(&of(&primary, ""));
    let (primary, standby) = pair(START_MS, 20, 1);
    let other: String = (0..20)
        .map(|n| {
            of_standby(
                START_MS + n * PERIOD_MS + 5,
                1,
                u64::try_from(320 + n).unwrap(),
            )
        })
        .collect();
    let mixed: String = interleaved(&primary, &other);
    stalled(&of(&mixed, &standby), 20);
}

/// Two logs as one, by stamp.
fn interleaved(one: &str, other: &str) -> String {
    let mut lines: Vec<&str> = one.lines().chain(other.lines()).collect();
    lines.sort_by_key(|line| &line[..12]);
    lines
        .iter()
        .fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn a_burst_of_many_rounds_does_not_hide_a_stall_of_fewer() {
    // Thirty rounds within a second, then the position moves: no stall. It must not be the one that is looked at.
    let burst: String = (0..30)
        .map(|n| stream(START_MS - 60_000 + n * 20, 300))
        .collect();
    let (primary, standby) = pair(START_MS, 20, 1);
    stalled(&of(&(burst + &primary), &standby), 20);
}

#[test]
fn without_the_standbys_log_it_is_a_possible_stall() {
    let (primary, _) = pair(START_MS, 20, 1);
    let report = Folder::with("ctrl-2.log", primary).report();
    let stall = findings(&report, "catch-up-stall")[0];
    assert_eq!(serde_json::to_value(stall.confidence).unwrap(), "possible");
    assert_eq!(stall.subjects["join_lsn"], 340);
    assert!(
        !stall.subjects.contains_key("match_lsn"),
        "{:?}",
        stall.subjects
    );
}

#[test]
fn a_healthy_standby_with_more_heartbeats_is_not_the_one_that_stands_still() {
    let (primary, standby) = pair(START_MS, 20, 1);
    let folder = Folder::with("ctrl-2.log", primary);
    folder.put("ctrl-1.log", standby);
    // Level with the ceiling of 342, from 20 periods before the stall to its end.
    let level: String = (-20..20)
        .map(|n| heartbeat(START_MS + n * PERIOD_MS - 1, "ctrl-3", 342))
        .collect();
    folder.put("ctrl-3.log", level);
    stalled(&folder.report(), 20);
}

#[test]
fn where_a_standby_idled_before_is_not_where_it_stands_still() {
    let (primary, standby) = pair(START_MS, 20, 1);
    // 200 heartbeats 3.083 s apart from 700 s before: the last is more than a minute before the stall.
    let idle: String = (0..200)
        .map(|n| heartbeat(START_MS - 700_000 + n * PERIOD_MS, "ctrl-1", 318))
        .collect();
    stalled(&of(&primary, &(idle + &standby)), 20);
}

#[test]
fn a_short_stand_at_another_position_is_not_the_stall() {
    let (primary, standby) = pair(START_MS, 20, 1);
    // 60 heartbeats within 6 s of the stall's 58 s.
    let burst: String = (0..60)
        .map(|n| heartbeat(START_MS + n * 100, "ctrl-3", 330))
        .collect();
    let folder = Folder::with("ctrl-2.log", primary);
    folder.put("ctrl-1.log", standby);
    folder.put("ctrl-3.log", burst);
    stalled(&folder.report(), 20);
}

#[test]
fn heartbeats_of_another_time_do_not_name_a_standby() {
    let (primary, _) = pair(START_MS, 20, 1);
    let (_, before) = pair(START_MS - 700_000, 20, 1);
    let report = of(&primary, &before);
    let stall = findings(&report, "catch-up-stall")[0];
    assert_eq!(serde_json::to_value(stall.confidence).unwrap(), "possible");
    assert!(
        !stall.subjects.contains_key("match_lsn"),
        "{:?}",
        stall.subjects
    );
}
