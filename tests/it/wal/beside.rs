//! WALs beside logs in `analyze`: checked in the same run, counted as problems of their nodes, and tied to a stall by position.

use casdiag::report::model::{Finding, Report};
use casdiag::vocab::Severity;
use serde_json::{Value, json};

use super::writer::{Entry, Etcd, entries, keeper, reference, zookeeper};
use super::{Folder, misfiled};
use crate::product::{analyze, casdiag, findings, fired, gzip, record, report, repository};

/// Rules that stand on WALs.
const WAL_RULES: &[&str] = &[
    "misfiled-segment",
    "wal-missing-range",
    "wal-damaged",
    "wal-crash-residue",
];

/// The logs of a stall: the standby stays at 323, the primary streams from 340 up to 342 and has committed 341.
fn stalled_logs(folder: &Folder, under: &str) {
    for log in ["ctrl-1.log", "ctrl-2.log"] {
        let text = std::fs::read(repository("samples/incidents/report-003").join(log)).unwrap();
        folder.write(&format!("{under}{log}"), &text);
    }
}

/// A node's two segments: the first one's records, then those of `second` at its end; a segment for what lies between.
fn two_lives(folder: &Folder, node: &str, first: u64, second: std::ops::RangeInclusive<u64>) {
    let (from, to) = (first + 1, second.start() - 1);
    let held = [entries(1..=first, 20), entries(second, 21)].concat();
    folder.write(
        &format!("{node}/seg-{:016x}.wal", 1),
        &reference(1, 7, &held),
    );
    let between = reference(from, 7, &entries(from..=to, 20));
    folder.write(&format!("{node}/seg-{from:016x}.wal"), &between);
}

fn one<'r>(report: &'r Report, rule: &str) -> &'r Finding {
    let found = findings(report, rule);
    assert_eq!(found.len(), 1, "{rule}: {:?}", fired(report));
    found[0]
}

fn wal_findings(report: &Report) -> Vec<&str> {
    let mut rules = fired(report);
    rules.retain(|rule| WAL_RULES.contains(rule));
    rules
}

/// The stall as the logs alone have it.
fn assert_stall(stall: &Finding) {
    assert_eq!(stall.severity, Severity::High);
    for (name, value) in [
        ("match_lsn", json!(323)),
        ("join_lsn", json!(340)),
        ("ceiling_lsn", json!(342)),
        ("committed_lsn", json!(341)),
        ("standby", json!("ctrl-1")),
        ("primary", json!("ctrl-2")),
    ] {
        assert_eq!(stall.subjects[name], value, "{name}");
    }
}

#[test]
fn a_stall_has_the_segment_as_root_that_alone_holds_what_the_standby_needs() {
    let folder = Folder::new();
    stalled_logs(&folder, "");
    misfiled(&folder);
    let report = report(folder.path());
    let (segment, stall) = (
        one(&report, "misfiled-segment"),
        one(&report, "catch-up-stall"),
    );
    assert_stall(stall);
    assert_eq!(stall.caused_by, std::slice::from_ref(&segment.id));
    assert_eq!(report.incidents.len(), 1);
    assert_eq!(report.incidents[0].root, segment.id);
    assert!(report.incidents[0].findings.contains(&stall.id));

    assert_eq!(
        (&segment.reported_by, &segment.accused),
        (&vec!["ctrl-2".to_owned()], &vec!["ctrl-2".to_owned()])
    );
    for (name, value) in [
        ("first_lsn", json!(306)),
        ("last_lsn", json!(348)),
        ("segment", json!("seg-0000000000000001.wal")),
        ("belongs_in", json!("seg-0000000000000132.wal")),
    ] {
        assert_eq!(segment.subjects[name], value, "{name}");
    }
    // 32 bytes of header, and 234 records of 24 bytes and their payload, filled up to 8.
    let bytes: u64 = (1..=234_u64)
        .map(|lsn| (24 + 9 + lsn % 23).next_multiple_of(8))
        .sum();
    let cited = &segment.evidence[0];
    assert!(
        cited.path.ends_with("ctrl-2/seg-0000000000000001.wal"),
        "{}",
        cited.path
    );
    assert_eq!((cited.line, cited.offset), (0, 32 + bytes));
    assert!(cited.text.contains("306..348"), "{}", cited.text);

    assert_eq!(report.wal.len(), 1);
    let wal = &report.wal[0];
    assert_eq!((wal.run.as_str(), wal.node.as_str()), (".", "ctrl-2"));
    assert_eq!(
        (wal.verdict.as_str(), wal.segments.len(), wal.records),
        ("damaged", 2, 348)
    );
    assert_eq!(wal.problems.len(), 1);
    assert_eq!(wal.problems[0].kind, "misfiled");
    let mut formats: Vec<&str> = report.inputs.iter().map(|it| it.format.as_str()).collect();
    formats.sort_unstable();
    assert_eq!(
        formats,
        [
            "ha-controller",
            "ha-controller",
            "wal-segment",
            "wal-segment"
        ]
    );
}

#[test]
fn every_output_shows_the_wal_with_what_follows_from_its_problem() {
    let folder = Folder::new();
    stalled_logs(&folder, "");
    misfiled(&folder);
    for format in ["text", "markdown"] {
        let ran = analyze(folder.path(), &["--format", format]);
        assert_eq!(ran.code, Some(1), "{}", ran.err);
        let flat = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            flat.contains("ctrl-2 reference damaged")
                || flat.contains("| reference | damaged, ends at 305 | 2 | 348 |"),
            "{}",
            ran.out
        );
        assert!(flat.contains("finds nothing from 306 on"), "{}", ran.out);
        assert!(flat.contains("offset 11"), "{}", ran.out);
        assert!(ran.out.contains("!|"), "{}", ran.out);
        assert!(!flat.contains("unknown"), "{}", ran.out);
    }
    let once = analyze(folder.path(), &["--format", "json", "--threads", "1"]).out;
    assert_eq!(
        analyze(folder.path(), &["--format", "json", "--threads", "4"]).out,
        once
    );
}

#[test]
fn a_misfiled_range_is_no_cause_unless_it_holds_what_the_standby_needs_first() {
    type Put = fn(&Folder);
    let cases: [(&str, Put); 5] = [
        ("another node's", |folder| {
            two_lives(folder, "ctrl-1", 234, 306..=348);
        }),
        ("a node's of which nothing is logged", |folder| {
            two_lives(folder, "ctrl-3", 234, 306..=348);
        }),
        ("positions above", |folder| {
            two_lives(folder, "ctrl-2", 234, 325..=348);
        }),
        ("positions below", |folder| {
            two_lives(folder, "ctrl-2", 234, 306..=323);
        }),
        ("another run's", |folder| {
            two_lives(folder, "b/ctrl-2", 234, 306..=348);
            let line = "10:00:00,000 ctrl-2 HA repl: cluster ready\n";
            folder.write("b/ctrl-2.log", line.as_bytes());
        }),
    ];
    for (what, put) in cases {
        let folder = Folder::new();
        stalled_logs(&folder, "a/");
        put(&folder);
        let report = report(folder.path());
        one(&report, "misfiled-segment");
        let stall = one(&report, "catch-up-stall");
        assert_stall(stall);
        assert!(stall.caused_by.is_empty(), "{what}: {:?}", stall.caused_by);
    }
    let folder = Folder::new();
    stalled_logs(&folder, "a/");
    two_lives(&folder, "a/data/ctrl-2", 234, 324..=348);
    assert_eq!(
        one(&report(folder.path()), "catch-up-stall")
            .caused_by
            .len(),
        1
    );
}

#[test]
fn a_range_that_is_gone_from_the_primary_is_a_cause_too() {
    let folder = Folder::new();
    stalled_logs(&folder, "");
    for (first, last) in [(1, 300), (331, 348)] {
        let bytes = reference(first, 7, &entries(first..=last, 20));
        folder.write(&format!("data/ctrl-2/seg-{first:016x}.wal"), &bytes);
    }
    let report = report(folder.path());
    let missing = one(&report, "wal-missing-range");
    assert_eq!(
        (
            &missing.subjects["first_lsn"],
            &missing.subjects["last_lsn"]
        ),
        (&json!(301), &json!(330))
    );
    assert_eq!(
        one(&report, "catch-up-stall").caused_by,
        std::slice::from_ref(&missing.id)
    );
}

#[test]
fn sound_wals_beside_logs_add_rows_and_no_finding() {
    let (bare, beside) = (Folder::new(), Folder::new());
    stalled_logs(&bare, "");
    stalled_logs(&beside, "");
    for node in ["ctrl-1", "ctrl-2"] {
        for first in [1, 9, 17] {
            let bytes = reference(first, 7, &entries(first..=first + 7, 20));
            beside.write(&format!("data/{node}/seg-{first:016x}.wal"), &bytes);
        }
    }
    let (without, with) = (report(bare.path()), report(beside.path()));
    assert_eq!(fired(&with), fired(&without));
    assert_eq!(with.records.total, without.records.total);
    assert_eq!(with.nodes.len(), without.nodes.len());
    let rows: Vec<(&str, &str, usize)> = with
        .wal
        .iter()
        .map(|wal| (wal.node.as_str(), wal.verdict.as_str(), wal.segments.len()))
        .collect();
    assert_eq!(rows, [("ctrl-1", "clean", 3), ("ctrl-2", "clean", 3)]);
    assert_eq!(with.wal_nodes.len(), 1);
}

#[test]
fn each_verdict_has_its_findings_and_exit_code() {
    let whole = reference(1, 7, &entries(1..=20, 3));
    let mut flipped = whole.clone();
    flipped[200] ^= 1;
    for (bytes, verdict, rules, code) in [
        (whole.clone(), "clean", &[][..], 0),
        (
            whole[..whole.len() - 9].to_vec(),
            "crash-residue",
            &["wal-crash-residue"],
            0,
        ),
        (flipped, "damaged", &["wal-damaged"], 1),
    ] {
        let folder = Folder::new();
        folder.write("n1/wal/seg-0000000000000001.wal", &bytes);
        for logs in [false, true] {
            if logs {
                let line = record("10:00:00.000000", "Debug", "Alive", "tick");
                folder.write("n1/clickhouse-server.log", line.as_bytes());
            }
            let ran = analyze(folder.path(), &["--format", "json"]);
            assert_eq!(ran.code, Some(code), "{verdict}: {}", ran.err);
            let report = ran.report();
            assert_eq!(report.wal[0].verdict, verdict);
            assert_eq!(wal_findings(&report), rules);
        }
    }
}

#[test]
fn each_known_system_is_checked_beside_a_servers_logs() {
    let mut etcd = Etcd::file(0, 7);
    etcd.snapshot(0, 0);
    etcd.state(2, 0);
    etcd.entries(&entries(1..=9, 2));
    let mut torn: Vec<Entry> = entries(1..=4, 1);
    torn.extend(entries(7..=9, 1));
    for (layout, path, bytes, rules) in [
        (
            "etcd",
            "member/wal/0000000000000000-0000000000000000.wal",
            etcd.bytes,
            &[][..],
        ),
        (
            "zookeeper",
            "version-2/log.100000001",
            zookeeper(&[0x1_0000_0001, 0x1_0000_0002]),
            &[],
        ),
        (
            "clickhouse-keeper",
            "coordination/log/changelog_1_100000.bin",
            keeper(&torn),
            &["wal-missing-range"],
        ),
    ] {
        let folder = Folder::new();
        for node in ["n1", "n2"] {
            let line = record("10:00:00.000000", "Debug", "Alive", "tick");
            folder.write(&format!("{node}/clickhouse-server.log"), line.as_bytes());
        }
        folder.write(&format!("n2/{path}"), &bytes);
        let report = report(folder.path());
        let rows: Vec<(&str, &str, &str)> = report
            .wal
            .iter()
            .map(|wal| (wal.run.as_str(), wal.node.as_str(), wal.layout.as_str()))
            .collect();
        assert_eq!(rows, [(".", "n2", layout)]);
        assert_eq!(
            wal_findings(&report),
            rules,
            "{layout}: {:?}",
            report.wal[0].problems
        );
        assert_eq!(report.records.total, 2, "{layout}");
        for rule in rules {
            assert_eq!(one(&report, rule).nodes, ["n2"]);
        }
    }
}

/// The rows of WALs without what the path decides.
fn rows(report: &Value) -> Vec<Value> {
    let mut rows = report["wal"].as_array().unwrap().clone();
    for row in &mut rows {
        let row = row.as_object_mut().unwrap();
        for name in ["path", "node", "run"] {
            row.remove(name).unwrap();
        }
        // Files that read as logs are inputs of their own here.
        let notes = row["notes"].as_array_mut().unwrap();
        notes.retain(|note| note["kind"] != "ignored-file");
    }
    rows
}

#[test]
fn a_packed_folder_is_checked_as_the_gate_checks_it_unpacked() {
    let mut seen = 0;
    for system in ["etcd", "zookeeper", "clickhouse-keeper"] {
        for case in std::fs::read_dir(super::cases().join(system)).unwrap() {
            let archive = case.unwrap().path().join("data.tar.gz");
            if !archive.exists() {
                continue;
            }
            seen += 1;
            let unpacked = super::unpack(&archive);
            let gate = super::json(&super::check(unpacked.path()));
            let loose = [
                "--max-ratio",
                "2000",
                "--format",
                "json",
                "--fail-on",
                "never",
            ];
            for path in [unpacked.path(), &archive] {
                let ran = analyze(path, &loose);
                assert_eq!(ran.code, Some(0), "{}: {}", path.display(), ran.err);
                let report: Value = serde_json::from_str(&ran.out).unwrap();
                assert_eq!(rows(&report), rows(&gate), "{}", path.display());
            }
        }
    }
    assert!(seen >= 10, "only {seen} cases are packed");
}

#[test]
fn a_segment_that_an_archive_cuts_is_unread_and_not_clean() {
    let line = record("10:00:00.000000", "Debug", "Alive", "tick");
    let segment = reference(1, 7, &entries(1..=500, 1));
    let mut packer = tar::Builder::new(Vec::new());
    for (name, bytes) in [
        ("n1/clickhouse-server.log", line.as_bytes()),
        ("n1/wal/seg-0000000000000001.wal", &segment),
    ] {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        packer.append_data(&mut header, name, bytes).unwrap();
    }
    let whole = packer.into_inner().unwrap();
    // Behind two headers and the log's block: between two records, where a file that ended would be clean.
    let cut = 3 * 512 + reference(1, 7, &entries(1..=200, 1)).len();
    for packed in [whole[..cut].to_vec(), gzip(&whole[..cut])] {
        let folder = Folder::new();
        folder.write("all.tar", &packed);
        let ran = analyze(folder.path(), &["--format", "json"]);
        assert_eq!(ran.code, Some(3), "{}", ran.err);
        let report = ran.report();
        assert_eq!(report.records.total, 1);
        let wal = &report.wal[0];
        assert_eq!(
            (wal.records, wal.unread.len()),
            (200, 1),
            "{:?}",
            wal.unread
        );
        let segment = report.inputs.iter().find(|it| it.format == "wal-segment");
        assert_eq!(segment.unwrap().problems[0].kind, "unreadable");
    }
}

#[test]
fn hostile_segments_do_not_keep_logs_from_being_read() {
    let bare = Folder::new();
    stalled_logs(&bare, "");
    let folder = Folder::new();
    stalled_logs(&folder, "");
    let log = std::fs::read(bare.path().join("ctrl-2.log")).unwrap();
    let garbage: Vec<u8> = (0..100_000_u32)
        .map(|n| n.wrapping_mul(2_654_435_761).to_be_bytes()[1])
        .collect();
    folder.write("data/ctrl-2/seg-0000000000000001.wal", &[]);
    folder.write("data/ctrl-2/seg-0000000000000100.wal", &garbage);
    folder.write(
        "data/ctrl-1/seg-0000000000000001.wal",
        &reference(1, 7, &entries(1..=9, 1)),
    );
    folder.write("data/ctrl-1/seg-000000000000000a.wal", &[]);
    folder.write("data/ctrl-1/seg-0000000000000014.wal", &garbage);
    folder.write(
        "data/ctrl-3/0000000000000000-0000000000000000.wal",
        &garbage,
    );
    folder.write("data/ctrl-4/some.wal", &garbage);
    folder.write("data/ctrl-5/changelog_1_9.bin", &log);
    folder.write(
        "data/ctrl-6/log.1",
        b"2026.09.01 10:00:00.000000 [ 7 ] {} <Debug> Alive: tick\n",
    );
    let (without, with) = (report(bare.path()), report(folder.path()));
    assert_eq!(with.records.total, without.records.total + 1);
    let logged = |report: &Report| {
        let mut rules = fired(report)
            .iter()
            .map(|it| (*it).to_owned())
            .collect::<Vec<_>>();
        rules.retain(|rule| !WAL_RULES.contains(&rule.as_str()));
        rules
    };
    assert_eq!(logged(&with), logged(&without));
    let nodes: Vec<&str> = with.wal.iter().map(|wal| wal.node.as_str()).collect();
    assert_eq!(nodes, ["ctrl-1", "ctrl-3", "ctrl-5"]);
    assert!(with.wal.iter().all(|wal| wal.verdict == "damaged"));
    // What looks like a WAL and is of no known layout is said, with what to do about it.
    let unchecked = with
        .inputs
        .iter()
        .filter(|it| it.problems.iter().any(|it| it.kind == "unchecked-wal"));
    let unchecked: Vec<_> = unchecked.collect();
    assert_eq!(unchecked.len(), 2, "{unchecked:?}");
    assert!(
        unchecked
            .iter()
            .all(|it| it.problems[0].detail.contains("--layout")),
        "{unchecked:?}"
    );
}

#[test]
fn a_declared_layout_is_read_beside_logs_too() {
    let case = super::cases().join("generic/be-header-crc32-trailer");
    let (folder, layout) = (case.join("renamed"), case.join("layout.toml"));
    let layout = layout.to_str().unwrap();
    let wanted = ["--layout", layout, "--format", "json"];
    let ran = analyze(&folder, &wanted);
    let gate = super::json(&super::check_with(&folder, layout.as_ref()));
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(gate["wal"][0]["verdict"], "damaged");
    assert_eq!(rows(&report), rows(&gate));
    assert_eq!(ran.code, Some(1));
    assert_eq!(analyze(&folder, &["--layout", "nobody"]).code, Some(2));
}

#[test]
fn a_rule_on_wals_is_explained_by_its_count() {
    let folder = Folder::new();
    stalled_logs(&folder, "");
    misfiled(&folder);
    let line = format!("{}/ctrl-2.log:1", folder.text());
    let ran = casdiag(&["explain", "misfiled-segment", &line, folder.text()]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let told = "misfiled (problems of WALs) at least 1: it is 1 (ctrl-2 1)";
    assert!(ran.out.contains(told), "{}", ran.out);
}
