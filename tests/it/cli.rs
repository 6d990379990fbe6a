//! The command line: exit codes, messages, files, and the same bytes for any number of threads.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use casdiag::intake::Limits;
use casdiag::pipeline::Plan;
use casdiag::report::{REPORTS, Style};

use crate::product::{self, Folder, analyze, casdiag, record, repository};
use crate::report001;

const REFUSED: &str = "auto DB::StorageReplicatedMergeTree::processQueueEntry(X)::operator() const: Code: 210. DB::Exception: Source n2 did not prove \
                       it still holds the manifest it offered for part all_1_1_0 by relink; the relink is abandoned and the fetch will be retried later. \
                       (NETWORK_ERROR)";

/// `count` refusals, one per second from 10:00:00 on, and nothing else.
fn refusals(count: u32) -> String {
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
fn a_broken_rules_file_is_shown_where_it_breaks() {
    let folder = Folder::new();
    let cases = [
        (
            "[[signal]]\nid = \"x\"\nwhat = \"w\"\nlevls = [\"error\"]\ntemplates = [\"abcdef\"]\n",
            ":4:1: unknown field `levls`, expected one of `id`, `what`, `format`, `levels`, `loggers`",
            "4 | levls = [\"error\"]\n  | ^^^^^\nhint: check the spelling",
        ),
        (
            "[[signal]]\nid = \"x\"\nwhat = \"w\"\nlevels = [\"loud\"]\ntemplates = [\"abcdef\"]\n",
            ":4:11: unknown variant `loud`, expected one of `fatal`, `critical`, `error`",
            "4 | levels = [\"loud\"]\n  |           ^^^^^^\nhint: check the spelling",
        ),
        (
            "[[signal]]\nid = \"x\"\nwhat = \"w\"\ntemplates = [\"ab {x:size} cdef\"]\n",
            ":4:14: unknown hole kind \"size\"; expected one of text, word, int, node",
            "  |              ^^^^^^",
        ),
        (
            "[[rule]]\nid = \"x\"\ntitle = \"t\"\ncategory = \"c\"\ncounts.a = { signal = \"relink-refusd\" }\nwhen = { count = \"a\", at-least = 1 }\n\
             mechanism = \"m\"\n[[rule.verdict]]\nseverity = \"low\"\nconfidence = \"certain\"\ntitle = \"t\"\n",
            ":5:23: there is no signal \"relink-refusd\"",
            "  |                       ^^^^^^^^^^^^^^^\nhint: expected one of relink-refused",
        ),
        (
            "[[signal]]\nid = \"Big\"\nwhat = \"w\"\ntemplates = [\"abcdef\"]\n",
            ":2:6: the id \"Big\" is not in kebab case",
            "hint: use lower-case letters",
        ),
        (
            "[[signal]]\nwhat = \"w\"\ntemplates = [\"abcdef\"]\n",
            "missing field `id`",
            "hint: add the field to this table",
        ),
        ("ä = \n", ":1:", "1 | ä ="),
        ("[[signal\n", ":1:", "1 | [[signal"),
    ];
    for (text, place, excerpt) in cases {
        let file = folder.put("mine.toml", text);
        let file = file.to_str().unwrap();
        for arguments in [
            &["rules", "lint", "--rules", file][..],
            &["analyze", file, "--rules", file],
        ] {
            let ran = casdiag(arguments);
            assert_eq!(ran.code, Some(2), "{text}");
            assert!(ran.err.contains(file), "{}", ran.err);
            assert!(ran.err.contains(place), "{place}: {}", ran.err);
            assert!(ran.err.contains(excerpt), "{excerpt}: {}", ran.err);
        }
    }
}

#[test]
fn a_user_adds_a_signal_and_a_rule_without_touching_the_program() {
    let rules = "[[signal]]\nid = \"mine\"\nwhat = \"w\"\nlevels = [\"debug\"]\ntemplates = [\"my own {what:word} words\"]\nby = [\"what\"]\n\
                 [[rule]]\nid = \"my-rule\"\ntitle = \"t\"\ncategory = \"c\"\ncounts.a = { signal = \"mine\" }\nwhen = { count = \"a\", at-least = 2 }\nmechanism = \"m\"\n\
                 [[rule.verdict]]\nseverity = \"critical\"\nconfidence = \"certain\"\ntitle = \"{a} of mine\"\n";
    let folder = Folder::new();
    let line = record(
        "10:00:00.000000",
        "Debug",
        "a",
        "these are my own three words",
    );
    folder.put("logs/n1/clickhouse-server.log", line.repeat(3));
    let rules = folder.put("mine.toml", rules);
    let ran = analyze(
        &folder.path().join("logs"),
        &["--format", "json", "--rules", rules.to_str().unwrap()],
    );
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let report = ran.report();
    assert_eq!(report.findings[0].title, "3 of mine");
    // Built-in declarations are still there, and one of the same id is replaced.
    assert!(
        casdiag(&[
            "rules",
            "show",
            "code-210-storm",
            "--rules",
            rules.to_str().unwrap()
        ])
        .code
            == Some(0)
    );
}

#[test]
fn rules_are_listed_shown_tested_and_linted() {
    let list = casdiag(&["rules", "list"]);
    assert_eq!(list.code, Some(0));
    for id in [
        "code-210-storm",
        "unproven-confirms",
        "relink-refused",
        "relink-unproven",
    ] {
        assert!(list.out.contains(&format!("  {id} ")), "{id}: {}", list.out);
    }
    let show = casdiag(&["rules", "show", "unproven-confirms"]);
    assert_eq!(show.code, Some(0));
    assert!(
        show.out
            .contains("Sources do not prove that they hold what they offered"),
        "{}",
        show.out
    );
    let test = casdiag(&["rules", "test"]);
    assert_eq!(test.code, Some(0), "{}", test.out);
    assert!(
        test.out.trim_end().ends_with("passed, 0 failed"),
        "{}",
        test.out
    );
    let lint = casdiag(&["rules", "lint"]);
    assert_eq!((lint.code, lint.out.as_str()), (Some(0), "0 faults\n"));
}

#[test]
fn a_sample_that_fails_and_a_signal_without_sample_exit_with_1() {
    let folder = Folder::new();
    let text = "[[signal]]\nid = \"mine\"\nwhat = \"w\"\nlevels = [\"error\"]\ntemplates = [\"my own words\"]\nsamples = [{ line = \"2026.09.01 10:00:00.0 [ 7 ] {} <Debug> a: my own words\" }]\n";
    let file = folder.put("mine.toml", text);
    let test = casdiag(&["rules", "test", "--rules", file.to_str().unwrap()]);
    assert_eq!(test.code, Some(1));
    assert!(test.out.contains("FAILED mine"), "{}", test.out);
    let file = folder.put("mine.toml", "[[signal]]\nid = \"mine\"\nwhat = \"w\"\nlevels = [\"error\"]\ntemplates = [\"my own words\"]\n");
    let lint = casdiag(&["rules", "lint", "--rules", file.to_str().unwrap()]);
    assert_eq!(lint.code, Some(1));
    assert!(lint.out.contains("mine: "), "{}", lint.out);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let samples = samples();
    for arguments in [
        &["analyze", samples.to_str().unwrap(), "--format", "json"][..],
        &["rules", "list"],
        &["lines", "relink-refused", samples.to_str().unwrap()],
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
            (Some(0), ""),
            "{arguments:?}"
        );
    }
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = entries
        .map(|it| {
            (
                it.file_name().into_string().unwrap(),
                fs::read(it.path()).unwrap(),
            )
        })
        .collect();
    files.sort();
    files
}

#[test]
fn out_writes_every_report_twice_the_same_and_spares_what_is_there() {
    let folder = Folder::new();
    let (first, second) = (folder.path().join("a/b"), folder.path().join("c"));
    for out in [&first, &second] {
        let ran = analyze(
            &samples(),
            &["--out", out.to_str().unwrap(), "--format", "markdown"],
        );
        assert_eq!(ran.code, Some(1), "{}", ran.err);
    }
    let written = files(&first);
    let names: Vec<&str> = written.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["report.json", "report.md", "report.txt"]);
    assert!(written.iter().all(|(_, bytes)| !bytes.is_empty()));
    assert!(written == files(&second));
    let ran = analyze(&samples(), &["--format", "markdown"]);
    assert!(
        ran.out.as_bytes() == written[1].1,
        "stdout and file are the same report"
    );
    let json = analyze(&samples(), &["--format", "json"]);
    assert!(json.out.as_bytes() == written[0].1);
    let again = analyze(&samples(), &["--out", first.to_str().unwrap()]);
    assert_eq!(again.code, Some(2));
    assert!(
        again.err.contains("is not empty") && again.err.contains("--force"),
        "{}",
        again.err
    );
    fs::write(first.join("mine.txt"), "keep").unwrap();
    let forced = analyze(&samples(), &["--out", first.to_str().unwrap(), "--force"]);
    assert_eq!(forced.code, Some(1));
    assert_eq!(fs::read_to_string(first.join("mine.txt")).unwrap(), "keep");
    assert_eq!(files(&first).len(), 4);
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

/// Every output of a plan, in one piece.
fn rendered(plan: &Plan) -> Vec<u8> {
    let report = product::report_of(plan);
    let style = Style {
        color: false,
        width: 100,
    };
    let mut bytes = Vec::new();
    for output in REPORTS {
        (output.write)(&report, &style, &mut bytes).unwrap();
    }
    bytes
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let folder = Folder::new();
    let plan = report001::Plan {
        scale: 200,
        seed: 9,
        new_era: false,
    };
    report001::write(&plan, folder.path());
    for root in [
        folder.path().to_path_buf(),
        samples(),
        repository("tests/cases/clickhouse/07-zookeeper-outage"),
    ] {
        for block_bytes in [4096, Limits::default().block_bytes] {
            let of = |threads| {
                let limits = Limits {
                    block_bytes,
                    ..Limits::default()
                };
                rendered(&Plan {
                    threads,
                    limits,
                    ..product::plan(&root)
                })
            };
            let one = of(1);
            for threads in [2, 5, 5] {
                assert!(
                    one == of(threads),
                    "{} with {threads} threads, blocks of {block_bytes}",
                    root.display()
                );
            }
        }
        for format in ["text", "json", "markdown"] {
            let of = |threads| analyze(&root, &["--threads", threads, "--format", format]).out;
            assert!(of("1") == of("2"), "{format}");
        }
    }
}

/// A report without what is cited: which of a signal's first records are cited depends on how far one log is read ahead
/// of its twin.
fn uncited(plan: &Plan) -> String {
    let mut report = product::report_of(plan);
    report
        .signals
        .iter_mut()
        .for_each(|row| row.evidence.clear());
    report
        .findings
        .iter_mut()
        .for_each(|finding| finding.evidence.clear());
    report
        .coverage
        .unexplained
        .iter_mut()
        .for_each(|one| one.example = None);
    report
        .coverage
        .near_misses
        .iter_mut()
        .for_each(|one| one.example = None);
    serde_json::to_string_pretty(&report).unwrap()
}

#[test]
fn the_size_of_blocks_changes_no_count() {
    let folder = Folder::new();
    let plan = report001::Plan {
        scale: 500,
        seed: 4,
        new_era: false,
    };
    report001::write(&plan, folder.path());
    let of = |block_bytes| {
        let limits = Limits {
            block_bytes,
            ..Limits::default()
        };
        uncited(&Plan {
            limits,
            ..product::plan(folder.path())
        })
    };
    let whole = of(Limits::default().block_bytes);
    for block_bytes in [1, 100, 5_000, 65_536] {
        let cut = of(block_bytes);
        let differs = whole.lines().zip(cut.lines()).find(|(a, b)| a != b);
        assert!(whole == cut, "blocks of {block_bytes}: {differs:?}");
    }
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
