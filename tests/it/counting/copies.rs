//! Copies of a log, and files that only quote one, add nothing to a count. Every expected value is counted by hand.

use casdiag::report::model::NotObservable;

use crate::counting::refused;
use crate::product::{self, Folder, count, total};

/// Three refusals, a minute apart.
fn three() -> String {
    ["10:00:00", "10:01:00", "10:02:00"]
        .map(|at| refused(&format!("{at}.000000"), "n2"))
        .concat()
}

#[test]
fn what_was_collected_while_it_was_rotated_counts_once() {
    let log = three();
    let first = refused("10:00:00.000000", "n2");
    let folder = Folder::with("n1/clickhouse-server.log", &first);
    folder.put("n1/clickhouse-server.log.0", &log);
    let report = folder.report();
    assert_eq!(total(&report, "relink-refused"), 3);
    let cut = product::input(&report, "server.log");
    assert_eq!(product::problems(cut), [("duplicate-piece", None)]);
}

#[test]
fn what_was_set_aside_or_downloaded_twice_counts_once() {
    for name in [
        "clickhouse-server.log~",
        "clickhouse-server.log.bak",
        "clickhouse-server (1).log",
        "server.log",
    ] {
        let folder = Folder::with("n1/clickhouse-server.log", three());
        folder.put(&format!("n1/{name}"), three());
        let report = folder.report();
        assert_eq!(total(&report, "relink-refused"), 3, "{name}");
    }
}

#[test]
fn a_copy_beside_its_log_is_no_node_however_it_is_called() {
    let log = three();
    let first = refused("10:00:00.000000", "n2");
    for copy in [
        "-copy",
        "_copy",
        " copy",
        " copy 2",
        " (copy)",
        " - Copy",
        " - Copy (2)",
        " (1)",
    ] {
        // The node's own name, a word, and what a server writes; whole, and as it was when less was in it.
        for name in ["n1", "web", "n1/clickhouse-server"] {
            for copied in [&log, &first] {
                let folder = Folder::with(&format!("{name}.log"), &log);
                folder.put("n2.log", refused("11:00:00.000000", "n1"));
                let copy = format!("{name}{copy}.log");
                folder.put(&copy, copied);
                let report = folder.report();
                assert_eq!(report.records.total, 4, "{copy}");
                assert_eq!(report.records.by_node.len(), 2, "{copy}");
                let copy = product::input(&report, &copy);
                assert_eq!(product::problems(copy), [("duplicate-piece", None)]);
            }
        }
    }
    // The log was emptied since, and goes on.
    let folder = Folder::with("n1.log", &first);
    folder.put("n1-copy.log", &log);
    folder.put("Copy of n1.log", first + &refused("10:05:00.000000", "n2"));
    let report = folder.report();
    assert_eq!(report.records.by_node.len(), 1);
    assert_eq!(report.records.by_node["n1"], 4);
    // What is called like a copy and holds other records is a log of its own.
    let folder = Folder::with("n1.log", &log);
    folder.put("n1-copy.log", refused("11:00:00.000000", "n2"));
    assert_eq!(folder.report().records.by_node["n1-copy"], 1);
}

#[test]
fn dated_pieces_are_pieces_of_their_log() {
    let at = |time: &str| refused(time, "n2");
    let folder = Folder::with("n1/clickhouse-server.log", at("10:02:00.000000"));
    folder.put("n1/clickhouse-server.log-20260901", at("10:01:00.000000"));
    folder.put(
        "n1/clickhouse-server.log-20260831.gz",
        product::gzip(at("10:00:00.000000").as_bytes()),
    );
    let report = folder.report();
    assert_eq!(count(&report, "relink-refused", "n1"), 3);
    let row = product::signal(&report, "relink-refused", "n1").unwrap();
    assert_eq!(row.first.as_deref(), Some("2026-09-01T10:00:00.000000"));
    assert_eq!(row.suspect, 0);
}

#[test]
fn a_document_that_quotes_a_log_is_none() {
    let folder = Folder::with("n1/clickhouse-server.log", three());
    folder.put("ticket.md", three());
    folder.put("n1/errors.html", three());
    let report = folder.report();
    assert_eq!(total(&report, "relink-refused"), 3);
    assert_eq!(product::input(&report, "ticket.md").records, 0);
}

#[test]
fn a_folder_that_is_given_in_two_spellings_is_read_once() {
    let folder = Folder::with("in/n1/clickhouse-server.log", three());
    let plain = folder.path().join("in");
    let detour = folder.path().join("in/n1/../../in");
    let mut plan = product::plan(&plain);
    plan.roots.push(detour);
    assert_eq!(total(&product::report_of(&plan), "relink-refused"), 3);
}

#[cfg(target_os = "linux")]
#[test]
fn paths_that_differ_only_in_bytes_that_are_no_text_stay_two() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = Folder::new();
    for name in [&b"n\xfe"[..], b"n\xff"] {
        let node = folder.path().join(OsStr::from_bytes(name));
        std::fs::create_dir(&node).unwrap();
        std::fs::write(node.join("clickhouse-server.log"), three()).unwrap();
    }
    let report = folder.report();
    assert_eq!(count(&report, "relink-refused", "n\\xfe"), 3);
    assert_eq!(count(&report, "relink-refused", "n\\xff"), 3);
}

#[test]
fn a_server_log_that_begins_with_a_hole_is_not_passed_over_in_silence() {
    let folder = Folder::with("n1/clickhouse-server.log", three());
    folder.put("n2/clickhouse-server.log", vec![0; 70_000]);
    let report = folder.report();
    let hole = product::input(&report, "n2/clickhouse-server.log");
    assert_eq!(product::problems(hole), [("unreadable", None)]);
    assert!(!report.complete);
}

/// What `grep` finds of the log's records, and a record that the log lacks.
fn taken(lines: &[&str]) -> String {
    lines.concat()
}

#[test]
fn an_excerpt_beside_its_log_adds_what_the_log_lacks() {
    let all = three();
    let lines: Vec<&str> = all.split_inclusive('\n').collect();
    let other = refused("10:00:30.000000", "n2");
    for (name, text, refusals, records) in [
        // One of the log's, all but the first, all of them twice.
        ("errors.txt", taken(&lines[1..2]), 3, 1),
        ("errors-210.txt", taken(&lines[1..]), 3, 2),
        ("grep.out", taken(&lines[1..2]), 3, 1),
        ("out", taken(&lines[2..]), 3, 1),
        ("tail.txt", taken(&[lines[1], lines[1]]), 4, 2),
        // One that the log lacks, beside one that it has and alone.
        ("errors.txt", taken(&[&other, lines[1]]), 4, 2),
        ("Errors.TXT", taken(&[&other]), 4, 1),
    ] {
        let folder = Folder::with("n1/clickhouse-server.log", &all);
        folder.put(&format!("n1/{name}"), &text);
        let report = folder.report();
        assert_eq!(count(&report, "relink-refused", "n1"), refusals, "{name}");
        assert_eq!(report.records.total, refusals, "{name}");
        let excerpt = product::input(&report, name);
        assert_eq!(excerpt.records, records, "{name}");
        assert_eq!(
            product::problems(excerpt),
            [("further-view", None)],
            "{name}"
        );
        assert!(
            excerpt.problems[0]
                .detail
                .contains("n1/clickhouse-server.log"),
            "{name}"
        );
    }
}

#[test]
fn an_excerpt_is_a_view_of_the_err_log_too() {
    let all = three();
    let folder = Folder::with("n1/clickhouse-server.err.log", &all);
    folder.put("n1/clickhouse-server.log", &all);
    folder.put(
        "n1/errors.txt",
        all.split_inclusive('\n').skip(1).collect::<String>(),
    );
    assert_eq!(folder.report().records.total, 3);
}

#[test]
fn what_is_no_excerpt_of_a_log_that_is_here_counts() {
    let all = three();
    let rest: String = all.split_inclusive('\n').skip(1).collect();
    // No log that it could be of; another node's.
    for (log, excerpt, refusals) in [
        ("n1/notes.md", "n1/errors.txt", 2),
        ("n1/clickhouse-server.log", "n2/errors.txt", 5),
    ] {
        let folder = Folder::with(log, &all);
        folder.put(excerpt, &rest);
        let report = folder.report();
        assert_eq!(report.records.total, refusals, "{excerpt}");
        assert!(
            product::problems(product::input(&report, excerpt)).is_empty(),
            "{excerpt}"
        );
    }
}

/// Each line behind a prefix, as `grep` prints it.
fn behind(prefix: &str, text: &str) -> String {
    let lines = text.split_inclusive('\n');
    lines.flat_map(|line| [prefix, line]).collect()
}

#[test]
fn what_grep_puts_before_a_line_makes_no_second_record_of_it() {
    let other = refused("10:00:30.000000", "n2");
    for (excerpt, prefix) in [
        // -H, -Hn, -r, whole paths, -n.
        ("n1/errors.txt", "clickhouse-server.log:"),
        ("n1/errors.txt", "clickhouse-server.log:12:"),
        ("n1/errors.txt", "./clickhouse-server.log:"),
        (
            "n1/errors.txt",
            "/var/log/clickhouse-server/clickhouse-server.log:",
        ),
        ("n1/errors.txt", "/home/u/case/n1/clickhouse-server.log:7:"),
        ("n1/errors.txt", "12:"),
        // In a file that is called like a log, from the folders above and beside.
        ("n1/errors.log", "clickhouse-server.log:"),
        ("errors.txt", "n1/clickhouse-server.log:"),
        ("errors.txt", "./n1/clickhouse-server.log:"),
        ("errors.txt", "/home/u/case/n1/clickhouse-server.log:7:"),
        ("n2/errors.txt", "../n1/clickhouse-server.log:"),
        ("notes/errors.txt", "../n1/clickhouse-server.log:"),
        ("notes/errors.txt", "n1/clickhouse-server.log:"),
    ] {
        let folder = Folder::with("n1/clickhouse-server.log", three());
        folder.put("n2/clickhouse-server.log", refused("10:00:10.000000", "n1"));
        for (text, refusals) in [(three(), 3), (format!("{}{other}", three()), 4)] {
            folder.put(excerpt, behind(prefix, &text));
            let report = folder.report();
            let what = format!("{excerpt}: {prefix}");
            assert_eq!(count(&report, "relink-refused", "n1"), refusals, "{what}");
            assert_eq!(count(&report, "relink-refused", "n2"), 1, "{what}");
            assert_eq!(report.records.total, refusals + 1, "{what}");
            let partly = |gap: &NotObservable| gap.why.contains("only some lines");
            assert!(!report.not_observable.iter().any(partly), "{what}");
            let excerpt = product::input(&report, excerpt);
            let problems = product::problems(excerpt);
            assert_eq!(problems, [("further-view", None)], "{what}");
            let detail = &excerpt.problems[0].detail;
            assert!(detail.contains("n1/clickhouse-server.log"), "{what}");
        }
    }
}

#[test]
fn what_grep_finds_in_all_logs_below_a_folder_counts_once() {
    let (first, second) = (three(), refused("10:00:10.000000", "n1"));
    let folder = Folder::with("n1/clickhouse-server.log", &first);
    folder.put("n1/clickhouse-server.err.log", &first);
    folder.put("n2/clickhouse-server.log", &second);
    let found = [
        behind("n1/clickhouse-server.err.log:7:", &first),
        behind("n1/clickhouse-server.log:9:", &first),
        behind("n2/clickhouse-server.log:1:", &second),
    ];
    folder.put("errors.txt", found.concat());
    let report = folder.report();
    assert_eq!(count(&report, "relink-refused", "n1"), 3);
    assert_eq!(count(&report, "relink-refused", "n2"), 1);
    assert_eq!(report.records.total, 4);
    let excerpt = product::input(&report, "errors.txt");
    assert_eq!(product::problems(excerpt), [("further-view", None)]);
    let detail = &excerpt.problems[0].detail;
    assert!(detail.contains("n1/clickhouse-server.log"), "{detail}");
    assert!(detail.contains("n2/clickhouse-server.log"), "{detail}");
}

/// Three refusals, an hour apart.
fn hourly() -> [String; 3] {
    ["10:00:00", "11:00:00", "12:00:00"].map(|at| refused(&format!("{at}.000000"), "n2"))
}

#[test]
fn an_excerpt_of_a_log_and_its_err_log_may_hold_each_record_twice() {
    let found = hourly().concat();
    let log = refused("09:00:00.000000", "n2") + &found;
    // `grep -h ... *.log`: what the err.log has, then what the log has. A third time is once more than both have it.
    for (times, refusals) in [(1, 4), (2, 4), (3, 7)] {
        let folder = Folder::with("n1/clickhouse-server.log", &log);
        folder.put("n1/clickhouse-server.err.log", &log);
        folder.put("n1/errors.txt", found.repeat(times));
        let report = folder.report();
        assert_eq!(report.records.total, refusals, "{times} times");
    }
}

#[test]
fn an_excerpt_of_pieces_is_in_the_order_of_their_names() {
    let [first, second, third] = hourly();
    let folder = Folder::with("n1/clickhouse-server.log", &third);
    folder.put("n1/clickhouse-server.log.0", format!("{first}{second}"));
    folder.put("n1/errors.txt", format!("{third}{first}{second}"));
    assert_eq!(folder.report().records.total, 3);
}

#[test]
fn an_excerpt_of_a_log_is_a_view_of_the_err_log_that_is_left() {
    let traced: String = hourly().map(|it| it + "0. DB::f() @ 0x1\n").concat();
    let folder = Folder::with("n1/clickhouse-server.err.log", traced);
    let found = behind("clickhouse-server.log:", &hourly().concat());
    folder.put("n1/errors.txt", found);
    let report = folder.report();
    assert_eq!(count(&report, "relink-refused", "n1"), 3);
    assert_eq!(report.records.total, 3);
    // The log itself is not here: what it alone would hold cannot be seen.
    let mut unseen = report.findings.iter().flat_map(|it| &it.not_observable);
    assert!(unseen.any(|it| it.signal == "relink-finished" && it.why.contains("only its err.log")));
}

#[test]
fn an_excerpt_is_taken_from_the_log_and_not_from_another_excerpt() {
    let all = three();
    let lines: Vec<&str> = all.split_inclusive('\n').collect();
    let folder = Folder::with("n1/clickhouse-server.log", &all);
    folder.put("n1/errors.log", lines[1]);
    folder.put("n1/grep.out", &all);
    let report = folder.report();
    assert_eq!(report.records.total, 3);
    let excerpt = product::input(&report, "grep.out");
    assert!(
        excerpt.problems[0]
            .detail
            .contains("n1/clickhouse-server.log")
    );
}

#[test]
fn what_is_called_as_its_log_and_has_another_ending_is_no_piece() {
    let all = three();
    let rest: String = all.split_inclusive('\n').skip(1).collect();
    let folder = Folder::with("n1/clickhouse-server.log", &all);
    folder.put("n1/clickhouse-server.txt", &rest);
    assert_eq!(folder.report().records.total, 3);
}
