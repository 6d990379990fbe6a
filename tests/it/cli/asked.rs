//! What was asked for and is not there: times, nodes, values beyond a cap; and errors that nothing explains.

use crate::product::{self, Folder, analyze, casdiag, record};

use super::{refusals, storm};

/// A record of three lines at 10:00, one of two lines at 11:00.
const TWO: &str = "2026.09.01 10:00:00.000000 [ 1 ] {} <Error> a: b\nc\nd\n\
                   2026.09.01 11:00:00.000000 [ 1 ] {} <Error> a: b\nc\n";

#[test]
fn records_are_listed_with_what_could_not_be_read() {
    let folder = Folder::with("n1/clickhouse-server.log", refusals(12));
    let lines = || casdiag(&["lines", "relink-refused", folder.path().to_str().unwrap()]);
    let whole = lines();
    assert_eq!(whole.code, Some(0));
    assert!(!whole.out.contains("PARTIAL"), "{}", whole.out);
    let mut packed = product::gzip(refusals(12).as_bytes());
    packed.truncate(packed.len() / 2);
    folder.put("n2/clickhouse-server.log.gz", packed);
    let partly = lines();
    assert_eq!(partly.code, Some(3));
    let said = "PARTIAL: counted is what could be read. Not read whole:\n  ";
    let (_, behind) = partly.out.split_once(said).unwrap();
    let path = behind.lines().next().unwrap();
    assert!(path.ends_with("n2/clickhouse-server.log.gz"), "{path}");
    assert!(!behind.contains("n1/clickhouse-server.log\n"), "{behind}");
}

#[test]
fn a_period_leaves_out_whole_records_and_is_said() {
    let folder = Folder::with("n1/clickhouse-server.log", TWO);
    for (since, until, lines) in [
        ("2026-09-01", "2026-09-02", 3),
        ("2026-09-01", "2026-09-01T11:00", 2),
        ("2026-09-01T10:30", "2026-09-02", 1),
    ] {
        let asked = ["--since", since, "--until", until];
        let of = |format| analyze(folder.path(), &[&asked[..], &["--format", format]].concat());
        let report = of("json").report();
        assert_eq!(report.records.continuation_lines, lines, "{since} {until}");
        assert!(report.since.unwrap().starts_with(since));
        assert!(report.until.unwrap().starts_with(until));
        for format in ["text", "markdown"] {
            let said = of(format).out;
            assert!(said.contains("only records from 2026-09-01T"), "{said}");
            assert!(said.contains(" on and before 2026-09-0"), "{said}");
        }
    }
    let whole = folder.report();
    assert_eq!((whole.since, whole.until), (None, None));
}

#[test]
fn a_period_without_a_record_is_no_clean_result() {
    let folder = storm();
    for period in [["--since", "2026-09-02"], ["--until", "2026-09-01"]] {
        let ran = analyze(folder.path(), &period);
        assert_eq!(ran.code, Some(3));
        assert!(
            ran.err.contains("lies in the time asked for"),
            "{}",
            ran.err
        );
        assert!(
            ran.out
                .starts_with("no record in the time asked for: 1 file"),
            "{}",
            ran.out
        );
        let root = folder.path().to_str().unwrap();
        let ran = casdiag(&[&["lines", "relink-refused", root][..], &period].concat());
        assert_eq!(ran.code, Some(3));
        let said = "relink-refused is not observable on n1: no clickhouse record of it lies in the time asked for";
        assert!(ran.out.contains(said), "{}", ran.out);
        assert!(!ran.out.contains("0 records"), "{}", ran.out);
    }
}

#[test]
fn a_period_that_ends_before_it_begins_is_wrong_usage() {
    let folder = storm();
    for until in ["2026-09-01", "2026-08-31T23:00"] {
        let ran = analyze(folder.path(), &["--since", "2026-09-01", "--until", until]);
        assert_eq!(ran.code, Some(2));
        assert!(ran.err.contains("is not after --since"), "{}", ran.err);
    }
}

#[test]
fn lines_without_stamps_lie_in_no_period() {
    let folder = Folder::with("clickhouse-n1/clickhouse-server.log", TWO);
    folder.put(
        "soak.log",
        "[soak.run] checkpoint OK: now=1 fsck reachable=1 dangling=0\nTRANSPORT FAILURE: [Errno 54] Connection reset by peer\n",
    );
    let fired = |report: &casdiag::report::model::Report| {
        !product::findings(report, "replica-unreachable").is_empty()
    };
    assert!(fired(&folder.report()));
    let since = analyze(
        folder.path(),
        &["--since", "2026-09-01T10:30", "--format", "json"],
    );
    assert!(!fired(&since.report()));
}

#[test]
fn a_node_that_is_not_there_is_no_clean_result() {
    let folder = storm();
    let root = folder.path().to_str().unwrap();
    for arguments in [
        &["lines", "relink-refused", root, "--node", "nosuch"][..],
        &[
            "analyze",
            root,
            "--fail-on",
            "never",
            "--node",
            "nosuch=zz*",
        ],
    ] {
        let ran = casdiag(arguments);
        assert_eq!(ran.code, Some(3), "{arguments:?}");
        assert!(
            ran.err.contains("no input is of the node nosuch"),
            "{}",
            ran.err
        );
        assert!(!ran.out.contains("0 records"), "{}", ran.out);
    }
}

#[test]
fn a_run_that_no_folder_is_is_said() {
    let folder = storm();
    let ran = |glob: &str| analyze(folder.path(), &["--fail-on", "never", "--run", glob]);
    let none = ran("zzz*");
    assert_eq!(none.code, Some(3));
    assert!(
        none.err.contains("no folder matches --run zzz*"),
        "{}",
        none.err
    );
    let one = ran("n*");
    assert_eq!((one.code, one.err.as_str()), (Some(0), ""));
}

#[test]
fn what_could_not_be_seen_is_not_counted_as_nought() {
    let folder = Folder::with("n1/clickhouse-server.err.log", refusals(2));
    let root = folder.path().to_str().unwrap();
    for (signal, why) in [
        ("relink-unproven", "only its err.log is here"),
        (
            "core-file",
            "the folder that cores are written to is not here",
        ),
    ] {
        let ran = casdiag(&["lines", signal, root]);
        let said = format!("{signal} is not observable on n1: {why}");
        assert!(ran.out.contains(&said), "{}", ran.out);
        assert!(!ran.out.contains("0 records"), "{}", ran.out);
    }
}

#[test]
fn errors_that_nothing_explains_are_in_the_headline() {
    let folder = Folder::with("n1/clickhouse-server.log", TWO);
    let ran = analyze(folder.path(), &[]);
    assert_eq!(ran.code, Some(0));
    let said = "no finding; 2 Error records unexplained in 2 records of 1 node";
    assert!(ran.out.starts_with(said), "{}", ran.out);
    let markdown = analyze(folder.path(), &["--format", "markdown"]).out;
    assert!(
        markdown.starts_with("# No finding; 2 Error records unexplained"),
        "{markdown}"
    );
    let calm = Folder::with(
        "n1/clickhouse-server.log",
        record("10:00:00.000000", "Debug", "a", "b"),
    );
    assert!(
        analyze(calm.path(), &[])
            .out
            .starts_with("nothing found in 1 record")
    );
}

#[test]
fn what_is_beyond_the_cap_is_said() {
    let refused = |from: u32| {
        let text = super::REFUSED.replace("Source n2 ", &format!("Source n{from} "));
        record(
            &format!("10:00:{from:02}.000000"),
            "Error",
            "q.s (94c6)",
            &text,
        )
    };
    let folder = Folder::with(
        "n1/clickhouse-server.log",
        (2..32).map(refused).collect::<String>(),
    );
    for format in ["text", "markdown"] {
        let of = |cap| analyze(folder.path(), &["--format", format, "--max-subjects", cap]).out;
        // Thirty sources of a refusal, of which ten are told apart.
        let said = of("10");
        assert!(said.contains("20 of relink-refused by "), "{said}");
        assert!(said.contains("max-subjects"), "{said}");
        assert!(!of("30").contains("max-subjects"));
    }
    assert_eq!(
        analyze(folder.path(), &["--max-subjects", "0"]).code,
        Some(2)
    );
}

#[test]
fn a_title_names_a_few_of_many_nodes() {
    let refused = |from: u32| {
        let text = super::REFUSED.replace("Source n2 ", &format!("Source n{from:02} "));
        record(
            &format!("10:00:{from:02}.000000"),
            "Error",
            "q.s (94c6)",
            &text,
        )
    };
    let folder = Folder::with(
        "n1/clickhouse-server.log",
        (10..50).map(refused).collect::<String>(),
    );
    let report = folder.report();
    let title = &product::findings(&report, "code-210-storm")[0].title;
    assert!(
        title.contains("n10, n11, n12, n13, n14, n15 and 34 more"),
        "{title}"
    );
}

#[test]
fn a_folder_in_use_is_refused_before_anything_is_read() {
    let folder = Folder::with("out/mine.txt", "keep");
    let out = folder.path().join("out");
    let ran = analyze(
        std::path::Path::new("/nowhere"),
        &["--out", out.to_str().unwrap()],
    );
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("is not empty"), "{}", ran.err);
}

#[test]
fn a_line_alone_is_explained_with_the_node_that_its_folder_names() {
    let folder = Folder::with("ch1/clickhouse-server.log", refusals(12));
    let place = folder.path().join("ch1/clickhouse-server.log:1");
    let out = casdiag(&["explain", "code-210-storm", place.to_str().unwrap()]).out;
    assert!(
        out.contains(": in all it is ch1 12") && !out.contains("(unnamed)"),
        "{out}"
    );
}

#[test]
fn a_continuation_line_is_explained_as_its_record() {
    let folder = Folder::with("clickhouse-server.log", TWO);
    let at = |line: u32| {
        let path = folder.path().join("clickhouse-server.log");
        let place = format!("{}:{line}", path.display());
        casdiag(&["explain", "code-210-storm", &place]).out
    };
    assert!(at(3).contains(":3, of the record at line 1, count for it?"));
    assert!(at(4).contains(":4 count for it?"));
}

#[test]
fn stamps_alone_make_no_log_of_a_job_that_passed() {
    let stamped = |text: &str| {
        let lines = text.lines().enumerate();
        let lines = lines.map(|(at, line)| format!("2026-03-01T10:00:{at:02}.0000000Z {line}\n"));
        lines.collect::<String>()
    };
    let (app, green, red) = (
        "some line\nanother one\n",
        "##[group]Run make\nmake\nshell: /usr/bin/bash -e {0}\n##[endgroup]\ndone\n",
        "##[group]Run make\nshell: /usr/bin/bash -e {0}\n##[endgroup]\n##[error]Process completed with exit code 2.\n",
    );
    for (text, code) in [(app, 3), (green, 3), (red, 0)] {
        let folder = Folder::with("app.log", stamped(text));
        let ran = analyze(folder.path(), &[]);
        assert_eq!(ran.code, Some(code), "{text}: {}", ran.out);
        let is_said = ran.err.contains("nothing was recognised under ");
        assert_eq!(is_said, code == 3, "{text}: {}", ran.err);
    }
    // Beside a log it hides nothing.
    let folder = Folder::with("app.log", stamped(app));
    folder.put("n1/clickhouse-server.log", TWO);
    assert_eq!(analyze(folder.path(), &[]).code, Some(0));
}

#[test]
fn what_a_machine_killed_is_in_the_headline_where_no_rule_fired() {
    let inspect = "[{\"Name\": \"/ch1-1\", \"State\": {\"Status\": \"exited\", \"OOMKilled\": true, \"ExitCode\": 137, \
                   \"StartedAt\": \"2026-09-01T09:00:00Z\", \"FinishedAt\": \"2026-09-01T10:00:20Z\"}, \"RestartCount\": 0}]";
    let calm = record("10:00:00.000000", "Debug", "a", "b");
    let folder = Folder::with("ch1/clickhouse-server.log", calm);
    folder.put("inspect.json", inspect);
    let said = |format| analyze(folder.path(), &["--format", format]).out;
    let text = said("text");
    let head = "out-of-memory of ch1-1 is told beside the logs; no finding in 1 record of 1 node";
    assert!(text.starts_with(head), "{text}");
    for format in ["markdown", "html"] {
        let out = said(format);
        let head = "Out-of-memory of ch1-1 is told beside the logs; no finding";
        assert!(out.contains(head), "{format}: {out}");
        assert!(!out.to_lowercase().contains("nothing found"), "{format}");
    }
    // Alone it is no log either.
    let folder = Folder::with("inspect.json", inspect);
    let text = analyze(folder.path(), &[]).out;
    let head = "out-of-memory of ch1-1 is told beside the logs; no log record in what was given";
    assert!(text.starts_with(head), "{text}");
}
