//! The command line: exit codes, messages, files, and the same bytes for any number of threads.

mod asked;
mod diff;
mod faults;
mod folder;
mod kept;
mod outputs;
mod rules;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::product::{self, Folder, analyze, casdiag, record, repository};

const REFUSED: &str = "auto DB::StorageReplicatedMergeTree::processQueueEntry(X)::operator() const: Code: 210. DB::Exception: Source n2 did not prove \
                       it still holds the manifest it offered for part all_1_1_0 by relink; the relink is abandoned and the fetch will be retried later. \
                       (NETWORK_ERROR)";

/// `count` refusals, one per second from 10:00:00 on, and nothing else.
pub(crate) fn refusals(count: u32) -> String {
    let one = |second: u32| {
        record(
            &format!("10:{:02}:{:02}.000000", second / 60, second % 60),
            "Error",
            "q.s (94c6)",
            REFUSED,
        )
    };
    (0..count).map(one).collect()
}

fn storm() -> Folder {
    Folder::with("n1/clickhouse-server.log", refusals(12))
}

fn samples() -> PathBuf {
    repository("samples/incidents")
}

#[test]
fn nothing_at_the_level_exits_with_0_and_something_with_1() {
    let quiet = Folder::with(
        "n1/clickhouse-server.log",
        record("10:00:00.000000", "Debug", "a", "b"),
    );
    assert_eq!(analyze(quiet.path(), &[]).code, Some(0));
    let storm = storm();
    assert_eq!(analyze(storm.path(), &[]).code, Some(1));
    assert_eq!(
        analyze(storm.path(), &["--fail-on", "critical"]).code,
        Some(0)
    );
    assert_eq!(analyze(storm.path(), &["--fail-on", "never"]).code, Some(0));
    // One refusal is a finding at low.
    let one = Folder::with("n1/clickhouse-server.log", refusals(1));
    assert_eq!(analyze(one.path(), &[]).code, Some(0));
    assert_eq!(analyze(one.path(), &["--fail-on", "low"]).code, Some(1));
}

#[test]
fn wrong_usage_exits_with_2_and_says_what_is_right() {
    let folder = Folder::with("n1/clickhouse-server.log", refusals(1));
    for (arguments, said) in [
        (
            &["--since", "yesterday"][..],
            "--since yesterday: no time; write a date",
        ),
        (&["--until", "9"], "--until 9: no time; write a date"),
        (
            &["--tz", "Mars"],
            "--tz Mars: no such time zone; use a name of the IANA data base",
        ),
        (&["--node", "a=["], "--node [: error parsing glob"),
        (&["--format", "yaml"], "text, json, markdown"),
        (
            &["--fail-on", "bad"],
            "never, info, low, medium, high, critical",
        ),
        (
            &["--rules", "/nowhere/rules.toml"],
            "cannot read /nowhere/rules.toml",
        ),
        (&["--force"], "--out"),
    ] {
        let ran = analyze(folder.path(), arguments);
        assert_eq!(ran.code, Some(2), "{arguments:?}");
        assert!(ran.err.contains(said), "{arguments:?}: {}", ran.err);
        assert_eq!(ran.out, "", "{arguments:?}");
    }
    let ran = analyze(Path::new("/nowhere"), &[]);
    assert_eq!(
        (ran.code, ran.err.contains("cannot read /nowhere")),
        (Some(2), true),
        "{}",
        ran.err
    );
    for arguments in [
        &["analyze"][..],
        &["analise"],
        &[],
        &["lines", "no-such-signal", "."],
        &["rules", "show", "no-such-rule"],
    ] {
        assert_eq!(casdiag(arguments).code, Some(2), "{arguments:?}");
    }
}

#[test]
fn a_folder_without_any_log_exits_with_3_and_says_what_was_looked_for() {
    let folder = Folder::with("notes/readme.md", "# nothing\n");
    folder.put("picture.png", [0x89, b'P', b'N', b'G']);
    for empty in [&folder, &Folder::new()] {
        let ran = analyze(empty.path(), &[]);
        assert_eq!(ran.code, Some(3));
        for said in [
            "nothing was recognised",
            "Looked for",
            "ClickHouse",
            "err.log",
            "gzip",
        ] {
            assert!(ran.err.contains(said), "{said}: {}", ran.err);
        }
    }
    let listed = folder.report();
    let paths: Vec<_> = listed
        .inputs
        .iter()
        .map(|input| (input.format.as_str(), input.records))
        .collect();
    assert_eq!(
        paths,
        [("unknown", 0), ("unknown", 0)],
        "files of unknown kind are listed and do not count"
    );
}

#[test]
fn something_unread_exits_with_3_unless_a_finding_fails() {
    let half = |text: &str| {
        let mut packed = product::gzip(text.as_bytes());
        packed.truncate(packed.len() - 8);
        packed
    };
    let calm = Folder::with("n1/clickhouse-server.log.0.gz", half(&refusals(1)));
    assert_eq!(analyze(calm.path(), &[]).code, Some(3));
    let storm = Folder::with("n1/clickhouse-server.log.0.gz", half(&refusals(20)));
    assert_eq!(analyze(storm.path(), &[]).code, Some(1));
}

#[test]
fn a_closed_pipe_ends_quietly_and_with_the_outcome() {
    let samples = samples();
    let samples = samples.to_str().unwrap();
    let nothing = Folder::with("readme.md", "# nothing\n");
    let nothing = nothing.path().to_str().unwrap();
    for (arguments, code) in [
        (&["analyze", samples, "--format", "json"][..], 1),
        (&["analyze", samples], 1),
        (&["analyze", samples, "--fail-on", "never"], 0),
        (&["analyze", nothing, "-q"], 3),
        (&["rules", "list"], 0),
        (&["lines", "relink-refused", samples], 0),
    ] {
        let mut child = product::binary(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let status = child.wait().unwrap();
        let mut said = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut said)
            .unwrap();
        assert_eq!(
            (status.code(), said.as_str()),
            (Some(code), ""),
            "{arguments:?}"
        );
    }
}

#[test]
fn stdout_has_the_answer_only_and_quiet_says_nothing() {
    let ran = analyze(storm().path(), &["--format", "json"]);
    assert_eq!(ran.err, "");
    assert_eq!(ran.report().findings[0].rule, "code-210-storm");
    let quiet = analyze(Folder::new().path(), &["-q", "--format", "json"]);
    assert_eq!((quiet.code, quiet.err.as_str()), (Some(3), ""));
    let text = analyze(storm().path(), &[]);
    assert!(!text.out.contains('\x1b'), "no color where no terminal is");
    assert!(
        analyze(storm().path(), &["--color", "always"])
            .out
            .contains('\x1b')
    );
}

#[test]
fn since_is_inclusive_and_until_is_exclusive() {
    let folder = Folder::with("n1/clickhouse-server.log", refusals(60));
    for (arguments, expected) in [
        (&["--since", "2026-09-01T10:00:10"][..], 50),
        (&["--until", "2026-09-01 10:00:10"], 10),
        (
            &[
                "--since",
                "2026-09-01 10:00:10",
                "--until",
                "2026-09-01 10:00:20",
            ],
            10,
        ),
        (&["--since", "2026-09-01 10:00:10.000001"], 49),
        (&["--since", "2026-09-02"], 0),
        (&["--until", "2026-09-01"], 0),
    ] {
        let report = analyze(folder.path(), &[arguments, &["--format", "json"]].concat()).report();
        assert_eq!(
            product::total(&report, "relink-refused"),
            expected,
            "{arguments:?}"
        );
        assert_eq!(report.records.total, expected, "{arguments:?}");
    }
}

#[test]
fn node_names_what_its_glob_matches() {
    let folder = Folder::with("10.0.0.7/clickhouse-server.log", refusals(3));
    folder.put("10.0.0.8/clickhouse-server.log", refusals(2));
    let report = analyze(
        folder.path(),
        &["--format", "json", "--node", "web1=**/10.0.0.7/*"],
    )
    .report();
    let names: Vec<_> = report
        .records
        .by_node
        .iter()
        .map(|(name, n)| (name.as_str(), *n))
        .collect();
    assert_eq!(names, [("10.0.0.8", 2), ("web1", 3)]);
}

#[test]
fn same_named_nodes_of_different_runs_are_different() {
    let folder = Folder::with("soak-1/ch1/clickhouse-server.log", refusals(12));
    folder.put("soak-2/ch1/clickhouse-server.log", refusals(3));
    let report = folder.report();
    let names: Vec<_> = report
        .records
        .by_node
        .iter()
        .map(|(name, n)| (name.as_str(), *n))
        .collect();
    assert_eq!(names, [("soak-1/ch1", 12), ("soak-2/ch1", 3)]);
    let storm = product::findings(&report, "code-210-storm");
    assert_eq!(
        (
            storm.len(),
            storm[0].run.as_str(),
            storm[0].runs.k,
            storm[0].runs.n
        ),
        (1, "soak-1", 1, 2)
    );
    let report = analyze(folder.path(), &["--format", "json", "--run", "soak-?"]).report();
    let runs: Vec<&str> = report
        .nodes
        .iter()
        .filter(|it| it.id == "ch1")
        .map(|it| it.run.as_str())
        .collect();
    assert_eq!(runs, ["soak-1", "soak-2"]);
}

#[test]
fn tz_names_the_zone_of_every_stamp() {
    let folder = storm();
    let report = analyze(
        folder.path(),
        &["--format", "json", "--tz", "Europe/Berlin"],
    )
    .report();
    let input = product::input(&report, "clickhouse-server.log");
    assert_eq!(
        input.first.as_deref(),
        Some("2026-09-01T10:00:00.000000+02:00")
    );
    assert_eq!(input.zone.as_deref(), Some("Europe/Berlin"));
    let unknown = product::input(&folder.report(), "clickhouse-server.log")
        .first
        .clone();
    assert_eq!(
        unknown.as_deref(),
        Some("2026-09-01T10:00:00.000000"),
        "no offset where no one names the zone"
    );
}
