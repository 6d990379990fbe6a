//! What somebody took from logs as terminals, containers and servers show it: of rotated pieces, in colors, in a wrapper, over a
//! clock that was set back; and notes that only show lines. Every expected value is counted by hand.

use casdiag::report::model::Report;

use crate::counting::refused;
use crate::product::{self, Folder, count, record, total};

const LOG: &str = "n1/clickhouse-server.log";

/// A time of day by its seconds and microseconds.
fn clock(second: u32, micros: u32) -> String {
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{hour:02}:{minute:02}:{:02}.{micros:06}", second % 60)
}

/// A refusal so many seconds and microseconds after midnight.
fn refused_at(second: u32, micros: u32) -> String {
    refused(&clock(second, micros), "n2")
}

/// Refusals, one a minute from 10:00 on, by their numbers.
fn refusals(numbers: impl IntoIterator<Item = u32>) -> String {
    let numbers = numbers.into_iter();
    numbers.map(|it| refused_at(36_000 + 60 * it, 0)).collect()
}

/// The report on a folder in which nothing counts beside the records of the log of `n1`, and a file is a view of that.
#[track_caller]
fn assert_view(folder: &Folder, excerpt: &str, records: u64) -> Report {
    let report = folder.report();
    assert_eq!(report.records.total, records, "{excerpt}");
    assert_eq!(
        report.records.by_node.keys().collect::<Vec<_>>(),
        ["n1"],
        "{excerpt}"
    );
    let input = product::input(&report, excerpt);
    let problems = product::problems(input);
    assert_eq!(problems, [("further-view", None)], "{excerpt}");
    report
}

#[test]
fn an_excerpt_of_rotated_and_packed_pieces_may_be_called_like_a_log() {
    // The packed pieces are smaller than what was taken of them.
    let taken = refusals((0..60).step_by(3));
    for excerpt in ["errors.log", "relinks.log", "n1-errors.log"] {
        for packed in [&[1][..], &[0, 1]] {
            let folder = Folder::with(LOG, refusals(40..60));
            for (piece, numbers) in [(0, 20..40), (1, 0..20)] {
                let text = refusals(numbers);
                if packed.contains(&piece) {
                    let bytes = product::gzip(text.as_bytes());
                    assert!(bytes.len() < taken.len());
                    folder.put(&format!("{LOG}.{piece}.gz"), bytes);
                } else {
                    folder.put(&format!("{LOG}.{piece}"), text);
                }
            }
            let excerpt = format!("n1/{excerpt}");
            folder.put(&excerpt, &taken);
            assert_view(&folder, &excerpt, 60);
        }
    }
}

#[test]
fn a_copy_of_a_log_under_another_name_counts_once() {
    // Packed it is smaller, and holds as much.
    let packed = product::gzip(refusals(0..6).as_bytes());
    for (name, copy) in [
        ("copy.log", refusals(0..6).into_bytes()),
        ("copy.log.gz", packed),
    ] {
        let folder = Folder::with(LOG, refusals(0..6));
        folder.put(&format!("n1/{name}"), copy);
        let report = folder.report();
        assert_eq!(count(&report, "relink-refused", "n1"), 6);
        assert_eq!(report.records.total, 6);
        let copy = product::input(&report, name);
        assert_eq!(product::problems(copy), [("duplicate-piece", None)]);
    }
}

#[test]
fn an_excerpt_that_says_so_may_have_records_that_its_log_lacks() {
    let folder = Folder::with(LOG, refusals(0..6));
    folder.put("n1/errors.log", refusals([2, 4, 9]));
    assert_view(&folder, "n1/errors.log", 7);
}

#[test]
fn a_log_that_was_just_rotated_is_no_excerpt_of_its_err_log() {
    let folder = Folder::with("alpha.err.log", refusals(0..6));
    folder.put("alpha.log", refusals(4..6));
    let report = folder.report();
    assert_eq!(count(&report, "relink-refused", "alpha"), 6);
    assert!(product::problems(product::input(&report, "alpha.log")).is_empty());
}

/// Each line as a pager of logs shows it.
fn colored(text: &str) -> String {
    let line = |line: &str| {
        let (stamp, rest) = line.split_at(26);
        format!("\x1b[0m\x1b[1m{stamp}\x1b[0m\x1b[36m{rest}\x1b[0m\n")
    };
    text.lines().map(line).collect()
}

/// Each line as `grep --color=always Error` prints it.
fn grepped(text: &str) -> String {
    text.replace("Error", "\x1b[01;31m\x1b[KError\x1b[m\x1b[K")
}

#[test]
fn colors_make_no_second_record_of_a_line() {
    // The longer ones are longer than what is looked at to tell a format.
    for records in [6, 400] {
        let all = refusals(0..records);
        let some = refusals((0..records).step_by(2));
        for excerpt in [
            "n1/errors.txt",
            "n1/red.txt",
            "n1/red.log",
            "n1/typescript",
            "n1/clickhouse-server.log.color",
            "red.log",
        ] {
            for text in [grepped(&some), colored(&some), colored(&all)] {
                let folder = Folder::with(LOG, &all);
                folder.put(excerpt, text);
                assert_view(&folder, excerpt, u64::from(records));
            }
        }
    }
}

/// Each line as `rg --color=always Error` prints it.
fn ripgrepped(text: &str) -> String {
    text.replace("Error", "\x1b[0m\x1b[1m\x1b[31mError\x1b[0m")
}

#[test]
fn colors_on_some_lines_make_no_second_record_of_them() {
    // Lines of context around the found ones: one in three, and one in 1,500 far behind what tells a format.
    for (records, found) in [(60, 3), (900, 3), (2_000, 1_500)] {
        let written = |at: u32| {
            if at % found == found - 1 {
                refused_at(36_000 + at, 0)
            } else {
                record(&clock(36_000 + at, 0), "Debug", "a", "b")
            }
        };
        let all: Vec<String> = (0..records).map(written).collect();
        let context = all[1..all.len() - 10].concat();
        let errors: String = all
            .iter()
            .filter(|it| it.contains("<Error>"))
            .map(String::as_str)
            .collect();
        for (mark, text) in [
            ("grep", grepped(&context)),
            ("rg", ripgrepped(&context)),
            (
                "rg message",
                context.replace("Source", "\x1b[0m\x1b[31mSource\x1b[0m"),
            ),
        ] {
            for name in ["n1/errors.txt", "n1/errors.log", "n1/context.txt"] {
                let folder = Folder::with(LOG, all.concat());
                folder.put(name, &text);
                let report = assert_view(&folder, name, u64::from(records));
                assert_eq!(
                    count(&report, "relink-refused", "n1"),
                    u64::from(records / found),
                    "{mark}"
                );
                // With a record that the log lacks.
                folder.put(name, text.clone() + &ripgrepped(&refused_at(50_000, 0)));
                let report = assert_view(&folder, name, u64::from(records) + 1);
                assert_eq!(
                    report.records.by_level["error"],
                    u64::from(records / found) + 1,
                    "{mark}"
                );
            }
        }
        // What was searched is all that is left of the log, beside its err.log.
        let folder = Folder::with("n1/clickhouse-server.err.log", &errors);
        folder.put(LOG, ripgrepped(&all.concat()));
        if found == 3 {
            assert_eq!(folder.report().records.total, u64::from(records));
        }
    }
}

#[test]
fn colors_hide_no_level_of_a_file_that_is_alone() {
    let report = Folder::with("red.log", grepped(&refusals(0..400))).report();
    assert_eq!(count(&report, "relink-refused", "red"), 400);
    assert_eq!(report.records.by_level["error"], 400);
    assert!(product::problems(product::input(&report, "red.log")).is_empty());
}

/// Each line as docker keeps it.
fn docker(text: &str) -> String {
    let line = |line: &str| {
        format!(
            "{{\"log\":\"{line}\\n\",\"stream\":\"stderr\",\"time\":\"2026-09-01T10:00:00.123456789Z\"}}\n"
        )
    };
    text.lines().map(line).collect()
}

#[test]
fn what_docker_keeps_of_a_log_is_a_view_of_it_whatever_its_file_is_called() {
    for name in [
        "n1/something.json",
        "n1/0123abcd-json.log",
        "something.json",
        "n1/dump.txt",
    ] {
        // Some of it, all of it, and a record of a piece that is not here.
        for (numbers, records) in [(vec![1, 3], 6), ((0..6).collect(), 6), (vec![1, 3, 9], 7)] {
            let folder = Folder::with(LOG, refusals(0..6));
            folder.put(name, docker(&refusals(numbers)));
            assert_view(&folder, name, records);
        }
    }
    // What is of another node, and what is alone, keeps its name.
    let folder = Folder::with(LOG, refusals(0..6));
    folder.put("web.json", docker(&refusals(10..12)));
    let report = folder.report();
    assert_eq!(count(&report, "relink-refused", "web"), 2);
    assert_eq!(total(&report, "relink-refused"), 8);
}

#[test]
fn what_docker_keeps_of_one_container_is_of_one_node_however_often_it_is_here() {
    let later = |text: &str| docker(text).replace("10:00:00.1", "11:00:00.1");
    for (first, second, nodes) in [
        // A copy, and one that was made earlier; the same lines at another time are another container's.
        (docker(&refusals(0..6)), docker(&refusals(0..6)), &[6][..]),
        (docker(&refusals(0..4)), docker(&refusals(0..6)), &[6]),
        (docker(&refusals(0..6)), later(&refusals(0..6)), &[6, 6]),
        (
            docker(&refusals(0..6)),
            docker(&refusals([0, 1, 7])),
            &[6, 3],
        ),
    ] {
        let folder = Folder::with("a1b2c3-json.log", &first);
        folder.put("f6e5d4-json.log", &second);
        let report = folder.report();
        let counts: Vec<u64> = report.records.by_node.values().copied().collect();
        assert_eq!(counts, nodes);
    }
}

#[test]
fn an_excerpt_is_found_on_both_sides_of_a_clock_that_was_set_back() {
    // 6,000 seconds; then the clock is set back by so many, and there are as many again.
    for back in [120, 600, 5_400] {
        let before = |at: u32| refused_at(36_000 + at, 0);
        let behind = |at: u32| refused_at(42_000 - back + at, 500_000);
        let log: String = (0..6_000)
            .map(before)
            .chain((0..6_000).map(behind))
            .collect();
        let about: String = (5_900..6_000)
            .map(before)
            .chain((0..100).map(behind))
            .collect();
        let repeated: String = (0..50).map(behind).collect();
        for (excerpt, text) in [
            ("n1/times.txt", &about),
            ("n1/times.log", &about),
            ("n1/errors.txt", &repeated),
            ("n1/times.log", &repeated),
        ] {
            let folder = Folder::with(LOG, &log);
            folder.put(excerpt, text);
            assert_view(&folder, excerpt, 12_000);
            // Beside the err.log, and packed.
            folder.put("n1/clickhouse-server.err.log", &log);
            assert_view(&folder, excerpt, 12_000);
        }
        let folder = Folder::with(&format!("{LOG}.0.gz"), product::gzip(log.as_bytes()));
        folder.put("n1/times.txt", &repeated);
        assert_view(&folder, "n1/times.txt", 12_000);
    }
}

#[test]
fn what_was_cut_or_taken_twice_counts_once_and_whole_from_its_log_where_the_clock_was_set_back() {
    // By an hour, between two pieces: the stamps of the second are before those of the first.
    let before: String = (0..20).map(|at| refused_at(40_000 + at, 0)).collect();
    let behind: String = (0..20).map(|at| refused_at(36_400 + at, 500)).collect();
    let both = [&before[..], &behind].concat();
    // As a terminal of 80 columns cuts lines: what is said begins behind.
    let cut: String = both.lines().map(|it| it[..80].to_owned() + "\n").collect();
    let pieces = || {
        let folder = Folder::with(&format!("{LOG}.0"), &before);
        folder.put(LOG, &behind);
        folder
    };
    for excerpt in ["n1/errors.txt", "n1/errors.log"] {
        let folder = pieces();
        folder.put(excerpt, &cut);
        let report = assert_view(&folder, excerpt, 40);
        assert_eq!(count(&report, "relink-refused", "n1"), 40);
    }
    // `grep -h` over a log and its err.log, which hold the same.
    let folder = pieces();
    folder.put("n1/clickhouse-server.err.log.0", &before);
    folder.put("n1/clickhouse-server.err.log", &behind);
    folder.put("n1/errors.txt", both.repeat(2));
    let report = assert_view(&folder, "n1/errors.txt", 40);
    assert_eq!(count(&report, "relink-refused", "n1"), 40);
}

#[test]
fn the_err_log_is_matched_behind_a_clock_that_was_set_back() {
    let told = |second: u32| {
        record(
            &clock(second, 0),
            "Debug",
            "a",
            "A padded message: ".repeat(20).trim(),
        )
    };
    // The clock is set back by an hour. No error was written near it, and of a tiny log there is one in all.
    for (seconds, errors) in [
        (2, 1..2),
        (100, 100..150),
        (6_000, 6_500..7_000),
        (6_000, 3_000..9_000),
    ] {
        let written = |at: u32| {
            let second = if at < seconds {
                40_000 + at
            } else {
                36_400 + at
            };
            if errors.contains(&at) || at == 2 * seconds - 1 {
                refused_at(second, at)
            } else {
                told(second)
            }
        };
        let all: Vec<String> = (0..2 * seconds).map(written).collect();
        let (before, behind) = all.split_at(seconds as usize);
        let err: String = all
            .iter()
            .filter(|it| it.contains("<Error>"))
            .map(String::as_str)
            .collect();
        for is_rotated in [false, true] {
            let folder = Folder::with("n1/clickhouse-server.err.log", &err);
            if is_rotated {
                folder.put(&format!("{LOG}.0"), before.concat());
                folder.put(LOG, behind.concat());
            } else {
                folder.put(LOG, all.concat());
            }
            let report = folder.report();
            assert_eq!(
                report.records.total,
                u64::from(2 * seconds),
                "{seconds} {is_rotated}"
            );
            let refused = err.lines().count() as u64;
            assert_eq!(count(&report, "relink-refused", "n1"), refused);
        }
    }
}

#[test]
fn a_record_of_an_excerpt_of_several_logs_that_none_of_them_has_counts_alone() {
    let folder = Folder::with(LOG, refusals(0..3));
    folder.put("n2/clickhouse-server.log", refusals(30..33));
    let foreign = refused_at(38_400, 0) + "0. DB::f() @ 0x1\n";
    let excerpt = [refusals([1, 2]), foreign, refusals([30, 31])].concat();
    for name in ["errors.txt", "times.txt", "errors.log"] {
        folder.put(name, &excerpt);
        let report = folder.report();
        let by_node = report.records.by_node.iter();
        let by_node: Vec<(&str, u64)> = by_node.map(|(node, n)| (node.as_str(), *n)).collect();
        assert_eq!(by_node, [("(unnamed)", 1), ("n1", 3), ("n2", 3)]);
        let input = product::input(&report, name);
        assert_eq!(product::problems(input), [("further-view", None)]);
        let detail = &input.problems[0].detail;
        assert!(detail.starts_with("4 records stand in "), "{detail}");
        assert!(detail.contains("n1/") && detail.contains("n2/"), "{detail}");
        // It is cited where it stands.
        let path = folder.path().to_str().unwrap();
        let listed = product::casdiag(&["lines", "relink-refused", path, "--node", "(unnamed)"]);
        let cited = format!("{name}:3: 2026.09.01 10:40:00.000000");
        assert!(listed.out.contains(&cited), "{}", listed.out);
        assert!(listed.out.contains("\n1 record is relink-refused\n"));
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }
}

#[test]
fn a_note_in_which_no_record_begins_names_no_node() {
    let shown = refusals(0..2);
    let lines = shown.split_inclusive('\n');
    let indented: String = lines.flat_map(|line| ["  ", line]).collect();
    let note = format!("Seen on n1:\n\n{indented}\nand nothing else.\n");
    for (name, lines) in [("README", &note), ("notes/notes.log", &note)] {
        let folder = Folder::with("server.log", refused("10:00:00.000000", "n2"));
        folder.put(name, lines);
        let report = folder.report();
        assert_eq!(report.records.by_node.len(), 1, "{name}");
        assert_eq!(report.records.by_node["(unnamed)"], 1);
        let note = product::input(&report, name);
        assert_eq!((note.records, note.format.as_str()), (0, "unknown"));
        assert_eq!(product::problems(note), [("unparsed-lines", Some(1))]);
        assert!(
            note.problems[0]
                .detail
                .ends_with("of clickhouse is indented")
        );
        assert!(report.complete);
    }
}

/// Each line of a text behind some blanks, but for empty ones.
fn indented(text: &str, blanks: &str) -> String {
    let line = |line: &str| match line {
        "" => "\n".to_owned(),
        line => format!("{blanks}{line}\n"),
    };
    text.lines().map(line).collect()
}

#[test]
fn a_log_whose_lines_are_all_indented_is_read_without_that() {
    let traced = |it: u32| refusals([it]) + "0. DB::f() @ 0x1\n\n  1. main @ 0x2\n";
    let log: String = (0..400).map(traced).collect();
    for blanks in [" ", "    ", "\t"] {
        let folder = Folder::with("n1.log", indented(&log, blanks));
        let report = folder.report();
        assert_eq!(count(&report, "relink-refused", "n1"), 400);
        assert_eq!(report.records.continuation_lines, 1_200);
        let input = product::input(&report, "n1.log");
        assert_eq!(input.wrapper.as_deref(), Some("indent"));
        assert!(product::problems(input).is_empty());
        let run = product::analyze(folder.path(), &["--fail-on", "never"]);
        assert_eq!(run.code, Some(0));
        // Beside the log itself it is one of its excerpts; compose and colors may be within.
        for text in [
            refusals([1, 2]),
            grepped(&refusals([1, 2])),
            docker(&refusals([1, 2])),
        ] {
            let folder = Folder::with(LOG, &log);
            folder.put("pasted.txt", indented(&text, blanks));
            assert_view(&folder, "pasted.txt", 400);
        }
    }
    // Of lines that are not indented alike nobody knows which are a log's.
    let note = indented(&refusals([1, 2]), "  ") + "and that is all\n";
    let folder = Folder::with("n1.log", note);
    let run = product::analyze(folder.path(), &["--fail-on", "never"]);
    assert_eq!(run.code, Some(3));
    assert!(run.out.contains("records of clickhouse"), "{}", run.out);
}
