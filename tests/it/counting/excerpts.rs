//! Files that somebody took from logs, under whatever name and in whatever order: nothing of them is lost, and no record counts
//! twice. Every expected value is counted by hand.

use casdiag::report::model::Report;

use crate::counting::refused;
use crate::product::{self, Folder, count, record, total};

/// Refusals, one a minute from 10:00 on, by their numbers.
fn refusals(numbers: &[u32]) -> String {
    let refusal = |number: &u32| refused(&format!("10:{number:02}:00.000000"), "n2");
    numbers.iter().map(refusal).collect()
}

/// What a keeper writes, a record a minute, and nothing of it is a refusal.
fn keeper(numbers: &[u32]) -> String {
    let written = |number: &u32| {
        let time = format!("10:{number:02}:30.000000");
        record(&time, "Warning", "KeeperTCPHandler", "Keeper is slow")
    };
    numbers.iter().map(written).collect()
}

/// The nodes of all logs that were read.
fn nodes(report: &Report) -> Vec<&str> {
    let read = report.inputs.iter().filter(|input| input.records > 0);
    let mut nodes: Vec<&str> = read.map(|input| input.node.as_str()).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

const LOG: &str = "n1/clickhouse-server.log";

#[test]
fn excerpts_that_begin_alike_and_go_different_ways_lose_nothing() {
    // Two records are longer than what tells whether files may be copies.
    let (first, second) = (refusals(&[0, 1, 2, 3]), refusals(&[0, 1, 4]));
    assert_eq!(first[..600], second[..600]);
    let folder = Folder::with("n1/errors.txt", &first);
    folder.put("n1/errors-210.txt", &second);
    assert_eq!(count(&folder.report(), "relink-refused", "n1"), 5);
    // Beside a log that has all of them and one more; and beside one that has three of them and one more.
    folder.put(LOG, refusals(&[0, 1, 2, 3, 4, 5]));
    assert_eq!(count(&folder.report(), "relink-refused", "n1"), 6);
    folder.put(LOG, refusals(&[0, 1, 2, 5]));
    assert_eq!(count(&folder.report(), "relink-refused", "n1"), 6);
    // A third one, which the first one holds.
    folder.put("n1/grep.txt", refusals(&[0, 1, 2]));
    let report = folder.report();
    assert_eq!(count(&report, "relink-refused", "n1"), 6);
    let held = product::problems(product::input(&report, "grep.txt"));
    assert_eq!(held, [("duplicate-piece", None)]);
    assert_eq!(report.records.total, 6);
}

#[test]
fn an_excerpt_that_begins_like_its_log_and_is_longer_does_not_hide_it() {
    for (log, excerpt, refused) in [
        // With records of older pieces that are not here; and with all of the log.
        (&[0, 1, 9][..], &[0, 1, 5, 6, 7][..], 6),
        (&[0, 1], &[0, 1, 5, 6], 4),
    ] {
        let folder = Folder::with(LOG, refusals(log));
        folder.put("n1/errors.txt", refusals(excerpt));
        let report = folder.report();
        assert_eq!(count(&report, "relink-refused", "n1"), refused);
        assert!(product::problems(product::input(&report, LOG)).is_empty());
        let excerpt = product::input(&report, "errors.txt");
        assert_eq!(product::problems(excerpt), [("further-view", None)]);
    }
}

#[test]
fn lines_that_were_cut_are_known_by_what_is_left_of_them() {
    let log = refusals(&[0, 1, 2]);
    let cut = |length: usize, mark: &str| {
        let lines = log.lines().map(|line| &line[..length.min(line.len())]);
        let lines: Vec<String> = lines.map(|line| format!("{line}{mark}\n")).collect();
        lines.concat()
    };
    for excerpt in [
        cut(60, ""),
        cut(150, ""),
        cut(200, "..."),
        cut(170, "…"),
        cut(9999, " ..."),
    ] {
        for (name, packed) in [(LOG, false), ("n1/clickhouse-server.log.gz", true)] {
            let folder = if packed {
                Folder::with(name, product::gzip(log.as_bytes()))
            } else {
                Folder::with(name, &log)
            };
            folder.put("n1/timeouts.txt", &excerpt);
            let report = folder.report();
            assert_eq!(count(&report, "relink-refused", "n1"), 3, "{excerpt}");
            assert_eq!(report.records.total, 3, "{excerpt}");
            assert_eq!(nodes(&report), ["n1"]);
        }
    }
}

#[test]
fn a_copy_that_was_changed_loses_nothing_and_counts_nothing_twice() {
    let folder = Folder::with(LOG, refusals(&[0, 1, 2, 3]));
    folder.put("n1/clickhouse-server.log.bak", refusals(&[0, 1, 3, 4]));
    folder.put(
        "n1/clickhouse-server.log.0.gz",
        product::gzip(refusals(&[0, 1, 2, 5]).as_bytes()),
    );
    assert_eq!(count(&folder.report(), "relink-refused", "n1"), 6);
}

#[test]
fn an_excerpt_of_any_name_is_of_the_node_of_its_log() {
    let all = refusals(&[0, 1, 2]);
    for excerpt in [
        "n1/timeouts.txt",
        "n1/n1-errors.txt",
        "n1/Errors.TXT",
        "n1/errors.log",
        "n1/relinks.log",
        "n1/grep/errors.txt",
        "n1/grep/relinks.txt",
        "n1-errors.txt",
        "errors.txt",
    ] {
        // One record, two, and one that the log lacks.
        for (numbers, refused) in [(&[1][..], 3), (&[0, 2], 3), (&[0, 2, 7], 4)] {
            // What is called like a log and not like an excerpt is one only if the log has all of it.
            let is_log = excerpt.ends_with("relinks.log");
            if is_log && refused == 4 {
                continue;
            }
            let folder = Folder::with(LOG, &all);
            folder.put("n2/clickhouse-server.log", refusals(&[30, 31]));
            folder.put(excerpt, refusals(numbers));
            let report = folder.report();
            assert_eq!(nodes(&report), ["n1", "n2"], "{excerpt}");
            assert_eq!(count(&report, "relink-refused", "n1"), refused, "{excerpt}");
            assert_eq!(report.records.total, refused + 2, "{excerpt}");
            let excerpt = product::input(&report, excerpt);
            let detail = &excerpt.problems[0].detail;
            assert!(detail.contains(LOG), "{detail}");
        }
    }
}

#[test]
fn a_file_of_other_records_keeps_its_name() {
    // Flat: a node a file. Of another node than the one beside it, and shorter.
    let folder = Folder::with("n1.log", refusals(&[0, 1, 2]));
    folder.put("n2.log", refusals(&[10, 11]));
    folder.put("n3.txt", refusals(&[20]));
    let report = folder.report();
    assert_eq!(nodes(&report), ["n1", "n2", "n3"]);
    assert_eq!(report.records.total, 6);
    // A log that holds some of another one's records and some of its own is called like a log and stays one.
    folder.put("n2.log", refusals(&[1, 11]));
    assert_eq!(nodes(&folder.report()), ["n1", "n2", "n3"]);
}

#[test]
fn an_excerpt_is_found_in_large_logs_in_rotated_and_in_packed_ones() {
    // 600 records, some 200 KiB: what is looked for stands in the beginning, in the middle and at the end.
    let record = |at: u32| refused(&format!("{:02}:{:02}:00.000000", at / 60, at % 60), "n2");
    let all: Vec<String> = (0..600).map(record).collect();
    let taken = [&all[3], &all[299], &all[300], &all[599]];
    let taken: String = taken.into_iter().cloned().collect();
    let folder = Folder::with(LOG, all.concat());
    folder.put("n1/timeouts.txt", &taken);
    let report = folder.report();
    assert_eq!(
        (nodes(&report), total(&report, "relink-refused")),
        (vec!["n1"], 600)
    );
    folder.put(LOG, all[300..].concat());
    folder.put("n1/clickhouse-server.log.0", all[..300].concat());
    let report = folder.report();
    assert_eq!(
        (nodes(&report), total(&report, "relink-refused")),
        (vec!["n1"], 600)
    );
    std::fs::remove_file(folder.path().join("n1/clickhouse-server.log.0")).unwrap();
    let packed = product::gzip(all[..300].concat().as_bytes());
    folder.put("n1/clickhouse-server.log.0.gz", packed);
    let report = folder.report();
    assert_eq!(
        (nodes(&report), total(&report, "relink-refused")),
        (vec!["n1"], 600)
    );
}

#[test]
fn an_excerpt_is_a_view_of_the_log_that_holds_its_records() {
    let folder = Folder::with(LOG, refusals(&[0, 1, 2]));
    folder.put("n1/clickhouse-keeper.log", keeper(&[0, 1, 2, 3]));
    folder.put("n1/errors.txt", keeper(&[1, 2]));
    folder.put("n1/slow.txt", keeper(&[2, 3]));
    let report = folder.report();
    assert_eq!(report.records.total, 7);
    for excerpt in ["errors.txt", "slow.txt"] {
        let excerpt = product::input(&report, excerpt);
        let detail = &excerpt.problems[0].detail;
        assert!(detail.contains("n1/clickhouse-keeper.log"), "{detail}");
    }
}

#[test]
fn an_excerpt_whose_newest_record_stands_first_counts_once() {
    let turned: Vec<String> = (0..12).rev().map(|it| refusals(&[it])).collect();
    for excerpt in ["n1/errors.txt", "n1/timeouts.txt"] {
        let folder = Folder::with(LOG, refusals(&(0..13).collect::<Vec<_>>()));
        folder.put(excerpt, turned.concat());
        let report = folder.report();
        assert_eq!(report.records.total, 13, "{excerpt}");
        assert_eq!(nodes(&report), ["n1"]);
        let excerpt = product::input(&report, excerpt);
        assert_eq!(product::problems(excerpt), [("further-view", None)]);
    }
}

#[test]
fn an_excerpt_of_a_log_that_is_only_here_in_a_wrapper_counts_once() {
    let all = refusals(&[0, 1, 2, 3]);
    let docker = |line: &str| {
        format!(
            "{{\"log\":\"{line}\\n\",\"stream\":\"stderr\",\"time\":\"2026-09-01T10:00:00.123456789Z\"}}\n"
        )
    };
    let cri = |line: &str| format!("2026-09-01T10:00:00.123456789Z stderr F {line}\n");
    let journal =
        |line: &str| format!("Sep 01 10:00:00.123456 n1 clickhouse-server[670]: {line}\n");
    let wrapped = |wrap: &dyn Fn(&str) -> String| all.lines().map(wrap).collect::<String>();
    for (log, text) in [
        ("n1/docker-json.log", wrapped(&docker)),
        ("n1/pod.log", wrapped(&cri)),
        ("n1/journal.log", wrapped(&journal)),
        ("n1/journal.txt", wrapped(&journal)),
    ] {
        for excerpt in ["errors.txt", "timeouts.txt"] {
            let folder = Folder::with(log, &text);
            folder.put(&format!("n1/{excerpt}"), refusals(&[1, 3]));
            let report = folder.report();
            assert_eq!(report.records.total, 4, "{excerpt} beside {log}");
            assert_eq!(nodes(&report).len(), 1, "{excerpt} beside {log}");
            let excerpt = product::input(&report, excerpt);
            assert_eq!(
                product::problems(excerpt),
                [("further-view", None)],
                "{log}"
            );
        }
    }
}

#[test]
fn a_bare_file_name_before_a_line_leads_to_the_log_of_that_name_that_has_it() {
    let behind = |text: String| -> String {
        let lines = text.split_inclusive('\n');
        lines
            .flat_map(|line| ["clickhouse-server.log:", line])
            .collect()
    };
    for excerpt in [
        "errors.txt",
        "notes/errors.txt",
        "n2/grep/errors.txt",
        "grep.log",
    ] {
        let folder = Folder::with("n1/clickhouse-server.log", refusals(&[0, 1, 2]));
        folder.put("n2/clickhouse-server.log", refusals(&[30, 31]));
        folder.put(excerpt, behind(refusals(&[30, 31, 32])));
        let report = folder.report();
        assert_eq!(nodes(&report), ["n1", "n2"], "{excerpt}");
        assert_eq!(count(&report, "relink-refused", "n1"), 3, "{excerpt}");
        assert_eq!(count(&report, "relink-refused", "n2"), 3, "{excerpt}");
    }
}

#[test]
fn an_excerpt_of_several_logs_without_their_names_counts_nothing_twice() {
    let of_both = refusals(&[1, 2]) + &refusals(&[30, 31]);
    for excerpt in ["errors.txt", "timeouts.txt"] {
        for packed in [false, true] {
            let folder = Folder::with(LOG, refusals(&[0, 1, 2]));
            let second = refusals(&[30, 31, 32]);
            if packed {
                let packed = product::gzip(second.as_bytes());
                folder.put("n2/clickhouse-server.log.0.gz", packed);
            } else {
                folder.put("n2/clickhouse-server.log", second);
            }
            folder.put(excerpt, &of_both);
            let report = folder.report();
            assert_eq!(nodes(&report), ["n1", "n2"]);
            assert_eq!(report.records.total, 6);
            let input = product::input(&report, excerpt);
            assert_eq!(product::problems(input), [("duplicate-piece", None)]);
            let detail = &input.problems[0].detail;
            assert!(detail.contains("n1/") && detail.contains("n2/"), "{detail}");
            // With a record that none of them has that is read, for it must not be lost.
            folder.put(excerpt, format!("{of_both}{}", refusals(&[40])));
            let report = folder.report();
            assert_eq!(report.records.total, 6 + 1);
            assert_eq!(nodes(&report), ["(unnamed)", "n1", "n2"]);
        }
    }
    // The server's and the keeper's of one node, and one that both lack.
    let folder = Folder::with(LOG, refusals(&[0, 1, 2]));
    folder.put("n1/clickhouse-keeper.log", keeper(&[0, 1, 2]));
    let of_both = refusals(&[1, 2]) + &keeper(&[2]);
    folder.put("n1/timeouts.txt", &of_both);
    assert_eq!(folder.report().records.total, 6);
    folder.put("n1/timeouts.txt", of_both + &refusals(&[9]));
    let report = folder.report();
    assert_eq!(
        (nodes(&report), count(&report, "relink-refused", "n1")),
        (vec!["n1"], 4)
    );
}
