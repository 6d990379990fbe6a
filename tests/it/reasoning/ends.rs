//! How processes ended and how many parts are lost: counts by hand, of records that say one thing several times.

use casdiag::report::model::{Finding, Report};
use casdiag::vocab::Severity;

use super::fires;
use crate::product::{Folder, findings};

/// A main log of a server of 2026: each event is a day of August, a time of day, a thread, level and logger, and the message.
fn main_log(events: &[&str]) -> String {
    let line = |event: &&str| {
        let mut words = event.splitn(5, ' ');
        let mut word = || words.next().unwrap();
        let (day, time, thread, level) = (word(), word(), word(), word());
        let text = word();
        format!("2026.08.{day} {time}.000000 [ {thread} ] {{}} <{level}> {text}\n")
    };
    events.iter().map(line).collect()
}

fn report(events: &[&str]) -> Report {
    Folder::with("ch1/clickhouse-server.log", main_log(events)).report()
}

fn only<'r>(report: &'r Report, rule: &str) -> &'r Finding {
    let [finding] = findings(report, rule)[..] else {
        panic!("{rule}: {:?}", findings(report, rule));
    };
    finding
}

const START: &str = "1 Information Application: Starting ClickHouse 26.8.1.804 (revision: 54510, git hash: e2308746, build id: 959B), PID 1";
const UNCLEAN: &str = "1 Information StatusFile: Status file /var/lib/clickhouse/status already exists - unclean restart. Contents:";
const SHORT: &str = "3282 Fatal BaseDaemon: (version 26.8.1.804 (official build), build id: 959B, git hash: e2308746, architecture: x86_64) (from thread 77) Received signal 11";
const FULL: &str = "3282 Fatal BaseDaemon: (version 26.8.1.804 (official build), build id: 959B, git hash: e2308746) (from thread 77) (no query) Received signal Segmentation fault (11)";
const KILLED: &str = "700 Fatal Application: Child process was terminated by signal 9 (KILL). If it is not done by 'forcestop' command or manually, the possible cause is OOM Killer (see 'dmesg' and look at the '/var/log/kern.log' for the details).";
const DIED: &str = "700 Fatal Application: Child process was terminated by signal 11.";

/// The events of these times.
fn at(times_and_events: &[(&str, &str)]) -> Report {
    let events: Vec<String> = times_and_events
        .iter()
        .map(|(time, event)| format!("{time} {event}"))
        .collect();
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    report(&events)
}

#[test]
fn each_restart_is_judged_by_what_ended_the_process_before_it() {
    let report = at(&[
        ("01 10:00:00", START),
        ("01 11:32:07", FULL),
        ("01 11:32:20", START),
        ("01 11:32:21", UNCLEAN),
        ("05 11:32:20", START),
        ("05 11:32:21", UNCLEAN),
        ("06 11:32:20", START),
        ("06 11:32:21", UNCLEAN),
    ]);
    let (crash, killed) = (
        only(&report, "server-crash"),
        only(&report, "process-killed"),
    );
    assert_eq!((crash.counts["crashes"], killed.counts["unclean"]), (1, 2));
    let window = killed.window.first.as_ref().unwrap();
    assert!(window.contains("-05T11:32:21"), "{window}");
    assert!(killed.evidence[0].text.starts_with("2026.08.05"));
    // The second start follows from the crash, the others from the kills.
    let restarts = only(&report, "server-restarted");
    assert_eq!(restarts.counts["starts"], 4);
    assert_eq!(restarts.caused_by, [crash.id.clone(), killed.id.clone()]);
}

#[test]
fn starts_of_which_one_follows_from_nothing_do_not_follow_from_a_crash() {
    let report = at(&[
        ("01 10:00:00", START),
        ("01 11:32:07", FULL),
        ("01 11:32:20", START),
        ("01 11:32:21", UNCLEAN),
        ("05 11:32:20", START),
    ]);
    assert!(findings(&report, "process-killed").is_empty());
    assert!(only(&report, "server-restarted").caused_by.is_empty());
    assert_eq!(report.incidents.len(), 2);
}

#[test]
fn a_kill_that_the_watchdog_tells_is_counted_once_with_its_restart() {
    let report = at(&[
        ("01 10:00:00", START),
        ("01 11:00:00", KILLED),
        ("01 11:00:05", START),
        ("01 11:00:06", UNCLEAN),
        ("02 11:00:00", KILLED),
        ("02 11:00:05", START),
        ("02 11:00:06", UNCLEAN),
        ("03 11:00:05", START),
        ("03 11:00:06", UNCLEAN),
    ]);
    let killed = only(&report, "process-killed");
    assert_eq!((killed.counts["killed"], killed.counts["unclean"]), (2, 1));
    let title = "the process at ch1 was killed 2 times by signal 9, says its watchdog, and ended 1 more time without a clean stop or a word of it";
    assert_eq!(killed.title, title);
}

#[test]
fn a_kill_after_many_crashes_is_the_one_that_is_cited() {
    let stamps: Vec<String> = (1..=12).map(|day| format!("{day:02} 10:00:0")).collect();
    let stamps =
        |second: u8| -> Vec<String> { stamps.iter().map(|day| format!("{day}{second}")).collect() };
    let (crashes, starts, ends) = (stamps(0), stamps(5), stamps(6));
    let lives = crashes.iter().zip(&starts).zip(&ends);
    let lives = lives.flat_map(|((crash, start), end)| {
        [
            (crash.as_str(), FULL),
            (start.as_str(), START),
            (end.as_str(), UNCLEAN),
        ]
    });
    let last = [("13 10:00:05", START), ("13 10:00:06", UNCLEAN)];
    let report = at(&lives.chain(last).collect::<Vec<_>>());
    let killed = only(&report, "process-killed");
    assert_eq!(killed.counts["unclean"], 1);
    let cited: Vec<&str> = killed.evidence.iter().map(|it| it.text.as_str()).collect();
    assert!(
        cited
            .iter()
            .any(|text| text.starts_with("2026.08.13 10:00:06")),
        "{cited:?}"
    );
}

#[test]
fn a_crash_is_counted_once_whether_its_report_is_whole_or_not() {
    let report = at(&[
        ("01 10:00:00", START),
        ("01 11:00:00", SHORT),
        ("01 11:00:00", FULL),
        ("01 11:00:05", START),
        ("01 11:00:06", UNCLEAN),
        ("01 12:00:00", SHORT),
        ("01 12:00:01", DIED),
        ("01 12:00:05", START),
        ("01 12:00:06", UNCLEAN),
        ("01 13:00:00", FULL),
    ]);
    let crash = only(&report, "server-crash");
    assert_eq!((crash.counts["crashes"], crash.counts["cut"]), (2, 1));
    let title =
        "2 crashes at ch1: Segmentation fault, and 1 crash of signal 11 whose report is not whole";
    assert!(crash.title.starts_with(title), "{}", crash.title);
    assert!(findings(&report, "process-killed").is_empty());
}

/// Twenty checks of one part of each table, each with both records.
fn lost(tables: &[&str]) -> Report {
    let log = (0..20).flat_map(|minute| {
        tables.iter().enumerate().map(move |(number, table)| {
            let head = format!("2026.08.01 10:{minute:02}:00.000000 [ 9 ] {{}} <Error> {table} (3f1c0b5e-0000-4000-8000-00000000000{number}) (ReplicatedMergeTreePartCheckThread): ");
            format!("{head}No replica has part covering all_0_0_0 and a merge is impossible: we didn't find a smaller part with the same min block.\n{head}Part all_0_0_0 is lost forever.\n")
        })
    });
    Folder::with("ch1/clickhouse-server.log", log.collect::<String>()).report()
}

#[test]
fn parts_are_counted_by_name_and_table_and_not_by_record() {
    for (tables, title) in [
        (
            &["db.a"][..],
            "1 part is on no replica, as ch1 found in 40 records",
        ),
        (
            &["db.a", "db.b"][..],
            "2 parts are on no replica, as ch1 found in 80 records",
        ),
    ] {
        let report = lost(tables);
        let damaged = only(&report, "parts-damaged");
        assert_eq!(
            (damaged.severity, damaged.title.as_str()),
            (Severity::Critical, title)
        );
    }
}

#[test]
fn a_part_that_two_starts_miss_is_one() {
    let missing = "9 Error db.t (3f1c0b5e-0000-4000-8000-000000000000): Removing locally missing part from ZooKeeper and queueing a fetch: all_0_0_0";
    let report = at(&[("01 10:01:00", missing), ("01 10:11:00", missing)]);
    let title = &only(&report, "parts-missing").title;
    assert!(
        title.starts_with("1 part not on the disk of ch1"),
        "{title}"
    );
}

#[test]
fn a_full_disk_says_only_of_what_its_records_tell() {
    let reserve = "9 Error db.t (3f1c): Code: 243. DB::Exception: Cannot reserve 1.00 MiB, not enough space. (NOT_ENOUGH_SPACE)";
    let insert = "9 Error executeQuery: Code: 75. DB::ErrnoException: Cannot write to file /var/lib/clickhouse/store/029/x/tmp_insert_all_1_1_0/s.bin: , errno: 28, strerror: No space left on device";
    let report = at(&[
        ("01 10:01:00", reserve),
        ("01 10:01:01", reserve),
        ("01 10:01:02", insert),
    ]);
    let title = "the disk of ch1 is full: 3 records of writes that failed, 1 record of inserts, 2 records that do not say of what";
    assert_eq!(only(&report, "disk-full").title, title);
}

#[test]
fn a_silence_is_one_where_it_stands_out_of_the_log_s_own() {
    let paused = |events: &[&str]| {
        fires(
            "{ silence = \"8s\", then = \"a\", within = \"3s\" }",
            &[("n1", events)],
        )
    };
    let busy = ["10:00:00 x", "10:00:01 x", "10:00:41 x", "10:00:42 a"];
    assert!(paused(&busy));
    // One long silence before tells nothing of a habit.
    assert!(paused(&[
        "09:59:15 x",
        "10:00:00 x",
        "10:00:01 x",
        "10:00:41 x",
        "10:00:42 a"
    ]));
    // Two of 45 s, of 20 s; of less than half as long.
    assert!(!paused(&[
        "09:58:30 x",
        "09:59:15 x",
        "10:00:00 x",
        "10:00:40 x",
        "10:00:41 a"
    ]));
    assert!(!paused(&[
        "09:59:20 x",
        "09:59:40 x",
        "10:00:00 x",
        "10:00:40 x",
        "10:00:41 a"
    ]));
    assert!(paused(&[
        "09:59:22 x",
        "09:59:41 x",
        "10:00:00 x",
        "10:00:40 x",
        "10:00:41 a"
    ]));
    // Paused again and again: these are no habit of a log without work.
    assert!(paused(&[
        "10:00:00 x",
        "10:00:40 a",
        "10:01:20 a",
        "10:02:00 a"
    ]));
}
