//! Report 003's picture, in logs and on disks, read by the rest of the program.

use std::collections::BTreeSet;
use std::fs;

use casdiag::engine::ha::Scenario;
use casdiag::engine::scenarios::CONTROLLERS;
use casdiag::replay::{Counts, replay as replay_findings};
use serde_json::Value;

use crate::product::{Folder, casdiag, findings, fired, report, repository};

/// `casdiag replay wal-catch-up-stall` into a folder.
fn replay(arguments: &[&str]) -> (Folder, String) {
    let folder = Folder::new();
    let dir = folder.path().join("out");
    let mut all = vec![
        "replay",
        "wal-catch-up-stall",
        "--logs",
        dir.to_str().unwrap(),
    ];
    all.extend(arguments);
    let ran = casdiag(&all);
    assert!(ran.err.is_empty(), "{ran:?}");
    (folder, ran.out)
}

#[test]
fn every_scenario_file_of_the_controllers_comes_with_the_program() {
    let files: BTreeSet<String> = fs::read_dir(repository("samples/scenarios/controllers"))
        .unwrap()
        .map(|it| it.unwrap().file_name().into_string().unwrap())
        .collect();
    let known = CONTROLLERS.iter().map(|it| format!("{}.toml", it.0));
    assert_eq!(files, known.collect());
    let listed = casdiag(&["replay"]);
    for (name, text) in CONTROLLERS {
        let scenario = Scenario::read(name, text).unwrap();
        assert!(listed.out.contains(&scenario.what), "{name}");
    }
}

#[test]
fn the_logs_have_the_lines_of_the_report_at_its_times() {
    let (folder, _) = replay(&[]);
    let log = |name: &str| fs::read_to_string(folder.path().join("out").join(name)).unwrap();
    let (standby, primary, soak) = (log("ctrl-1.log"), log("ctrl-2.log"), log("soak.log"));
    // As the report quotes them, to the second: it does not show what its clocks are off by.
    for (text, log) in [
        (&primary, "07:05:47,806 ctrl-2 repl: primary hello from ctrl-3"),
        (&primary, "07:05:48,180 ctrl-2 cluster_init_phase2: persist_recover current_lsn=306"),
        (&primary, "07:06:45,520 ctrl-2 HA repl: standby[0] lsn=323 < stream_ceiling_lsn=342 (committed_lsn=341) → stream WAL batches"),
        (&primary, "ctrl-2 ha_stream_wal_to_standby: streamed WAL [323+1..342] to standby"),
        (&standby, "07:06:45,520 ctrl-1 ha_consume_append_entries: leader_idx=-1 term=21 prevIdx=341 n=1 -> success=0 match=0 (ae_reject_logmismatch)"),
        (&primary, "ctrl-2 repl_ack_decode_and_dispatch: WAL NACK from standby lsn=342 success=0 — marking catch-up"),
        (&primary, "ctrl-2 HA repl: standby[0] lsn=340 < stream_ceiling_lsn=342 (committed_lsn=341) → stream WAL batches"),
        (&primary, "ctrl-2 ha_stream_wal_to_standby: streamed WAL [340+1..342] to standby"),
        (&standby, "ctrl-1 ha_consume_append_entries: leader_idx=-1 term=21 prevIdx=323 n=0 -> success=1 match=323 (nop heartbeat)"),
        (&primary, "ctrl-2 commit: WAIT deadline expired without commit (lsn=343 committed_lsn=341 writable_lsn=342 timeout_ms=500)"),
        (&soak, "worker: xcecli failover: cluster not ready after 21 attempts (last status=-10013)"),
    ]
    .map(|(log, text)| (text, log))
    {
        assert!(log.contains(text), "{text}\n{log}");
    }
    // The report has 48,603 and 47,044.
    assert!(primary.contains("07:06:48,60"), "{primary}");
    assert!(primary.contains("07:07:47,044 ctrl-2 commit"), "{primary}");
    // ctrl-1 never logs another catch-up entry.
    let after = standby.split_once("07:06:45").unwrap().1;
    assert!(!after.contains("walCatchupEntry"), "{after}");
}

#[test]
fn the_segments_are_those_of_the_report() {
    let (folder, _) = replay(&[]);
    let data = folder.path().join("out/data");
    let of = |node: &str| {
        let ran = casdiag(&[
            "wal-layout-check",
            data.join(node).to_str().unwrap(),
            "--format",
            "json",
        ]);
        let value: Value = serde_json::from_str(&ran.out).unwrap();
        (ran.code, value)
    };
    let (code, value) = of("ctrl-2");
    assert_eq!(code, Some(1), "{value}");
    let wal = &value["wal"][0];
    let problems = wal["problems"].as_array().unwrap();
    let misfiled: Vec<&Value> = problems
        .iter()
        .filter(|it| it["kind"] == "misfiled")
        .collect();
    assert_eq!(misfiled.len(), 1, "{problems:?}");
    assert_eq!(misfiled[0]["segment"], "seg-0000000000000001.wal");
    assert_eq!(misfiled[0]["belongs_in"], "seg-0000000000000132.wal");
    let names: Vec<&str> = wal["segments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["file"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["seg-0000000000000001.wal", "seg-00000000000000eb.wal"]
    );
    assert_eq!(of("ctrl-1").0, Some(0));
    assert_eq!(of("ctrl-3").0, Some(0));
}

#[test]
fn the_analysis_finds_the_stall_and_names_the_segment_as_its_root() {
    let (folder, out) = replay(&[]);
    assert!(
        out.contains("STALL: ctrl-2 streams from 340 up to 342, 20 times, with 341 committed; the standby stays at 323"),
        "{out}"
    );
    let report = report(&folder.path().join("out"));
    let stalls = findings(&report, "catch-up-stall");
    assert_eq!(stalls.len(), 1, "{:?}", fired(&report));
    for (name, value) in [
        ("match_lsn", 323),
        ("join_lsn", 340),
        ("ceiling_lsn", 342),
        ("committed_lsn", 341),
        ("repeats", 20),
    ] {
        assert_eq!(stalls[0].subjects[name], value, "{name}");
    }
    let roots = findings(&report, "misfiled-segment");
    assert_eq!(roots.len(), 1, "{:?}", fired(&report));
    assert_eq!(stalls[0].caused_by, std::slice::from_ref(&roots[0].id));
    assert_eq!(roots[0].subjects["first_lsn"], 306);
}

#[test]
fn without_the_defects_the_same_faults_leave_nothing_to_find() {
    let (folder, out) = replay(&["--variant", "fixed"]);
    assert!(!out.contains("STALL"), "{out}");
    let report = report(&folder.path().join("out"));
    let named = fired(&report);
    for rule in ["catch-up-stall", "misfiled-segment", "commits-expire"] {
        assert!(!named.contains(&rule), "{named:?}");
    }
    let log = fs::read_to_string(folder.path().join("out/ctrl-2.log")).unwrap();
    assert_eq!(log.matches("dropped before recovery").count(), 1);
}

#[test]
fn the_same_seed_is_the_same_run_to_the_byte() {
    let (one, out) = replay(&[]);
    let (other, again) = replay(&[]);
    assert_eq!(out, again);
    for file in [
        "ctrl-1.log",
        "ctrl-2.log",
        "ctrl-3.log",
        "data/ctrl-2/seg-0000000000000001.wal",
    ] {
        let of = |folder: &Folder| fs::read(folder.path().join("out").join(file)).unwrap();
        assert_eq!(of(&one), of(&other), "{file}");
    }
}

#[test]
fn a_scenario_of_ones_own_runs_and_a_broken_one_is_located() {
    let own = "system = \"controllers\"\nwhat = \"Mine.\"\nuntil-ms = 30000\n[[act]]\nat-ms = 0\ndeed = \"start\"\n[[act]]\nat-ms = 0\ndeed = \"start\"\nnode = 1\n";
    for (text, code, says) in [
        (own.to_owned(), 0, "is primary of term"),
        (own.replace("start", "strat"), 2, "strat"),
        (
            own.replace("node = 1", "node = 7"),
            2,
            "controller 7 is named, and there are 3",
        ),
        (format!("{own}[client]\nx = 1\n"), 2, "unknown field `x`"),
        (
            own.replace("what", "variant = \"v9\"\nwhat"),
            2,
            "is called v9",
        ),
        (
            own.replace("what", "begins = \"25:00:00\"\nwhat"),
            2,
            "time of day",
        ),
    ] {
        let folder = Folder::with("mine.toml", &text);
        let path = folder.path().join("mine.toml");
        let ran = casdiag(&["replay", path.to_str().unwrap()]);
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(format!("{}{}", ran.out, ran.err).contains(says), "{ran:?}");
    }
}

#[test]
fn what_no_run_ends_with_is_refused_with_its_key_and_its_limit() {
    let own = "system = \"controllers\"\nwhat = \"Mine.\"\nuntil-ms = 30000\n";
    let long = own.replace("30000", "86400001");
    for (text, says) in [
        (long, "until-ms must be from 0 to 86400000"),
        (format!("{own}nodes = 10\n"), "nodes must be from 1 to 9"),
        (
            format!("{own}[timing]\ntick = 0\n"),
            "tick must be from 1000 to 3600000000",
        ),
        (
            format!("{own}[timing]\nelection = {{ exponential = 0 }}\n"),
            "election: 0 in the middle is less than 1000",
        ),
        (
            format!("{own}[timing]\nhop = {{ fixed = 3600000001 }}\n"),
            "hop: 3600000001 is more than 3600000000",
        ),
        (
            format!("{own}[timing]\nloss = 1001\n"),
            "loss must be from 0 to 1000",
        ),
        (
            format!("{own}[assume]\nbatches = 0\n"),
            "batches must be from 1 to 1000",
        ),
        (
            format!("{own}[[act]]\nat-ms = 0\ndeed = \"write\"\ncount = 100001\n"),
            "count of all writes together must be from 0 to 100000",
        ),
        (
            format!("{own}[[act]]\nat-ms = 86400001\ndeed = \"start\"\n"),
            "at-ms must be from 0 to 86400000",
        ),
        (
            format!("{own}[[disk]]\nnode = 0\nfirst = 1\nlast = 1000001\nterm = 1\n"),
            "last of a segment must be from 1 to 1000000",
        ),
        (
            format!("{own}[client]\nfrom-ms = 0\nevery-ms = 0\nattempts = 1\nround = 1\n"),
            "every-ms must be from 1 to 86400000",
        ),
    ] {
        let folder = Folder::with("mine.toml", &text);
        let path = folder.path().join("mine.toml");
        let ran = casdiag(&["replay", path.to_str().unwrap()]);
        assert_eq!(ran.code, Some(2), "{text}\n{ran:?}");
        assert!(ran.err.contains(&format!("mine.toml: {says}")), "{ran:?}");
    }
}

#[test]
fn what_a_run_was_made_from_is_told_from_what_it_predicts() {
    let replayed = replay_findings(&report(&repository("samples/incidents/report-003")));
    let [one] = &replayed[..] else {
        panic!("{replayed:?}");
    };
    let of = |given: bool| -> Vec<&str> {
        let rows = one
            .compared
            .iter()
            .filter(|it| (it.counts == Counts::Given) == given);
        rows.map(|it| it.what.as_str()).collect()
    };
    // The scenario is made from where the standby is, what is committed, how long it lasts and the checked segments;
    // 340 and 342 come out of it.
    assert_eq!(of(false), ["streams from LSN", "streams up to LSN"]);
    let given = [
        "stays at LSN",
        "has committed LSN",
        "rounds in vain",
        "first misfiled LSN",
    ];
    assert_eq!(of(true), given);
}

#[test]
fn a_run_that_keeps_too_much_ends_and_says_so() {
    // Nine controllers and a turn each millisecond, for a day: within each limit, and together more than a run keeps.
    let mut own = "system = \"controllers\"\nwhat = \"Mine.\"\nvariant = \"fixed\"\nnodes = 9\nuntil-ms = 86400000\n[timing]\ntick = 1000\n".to_owned();
    for node in 0..9 {
        let act = format!("[[act]]\nat-ms = 0\ndeed = \"start\"\nnode = {node}\n");
        own.push_str(&act);
    }
    let folder = Folder::with("mine.toml", &own);
    let path = folder.path().join("mine.toml");
    let ran = casdiag(&["replay", path.to_str().unwrap()]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.out.contains("CUT SHORT"), "{}", ran.out);
}
