//! Broken and hostile input: located, counted, inert. Nothing panics, and nothing is lost without a word.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use casdiag::report::model::Report;

use crate::product::{self, Folder, analyze, gzip, problems, record};

const LOG: &str = "n1/clickhouse-server.log";

fn line(second: u32) -> String {
    record(&format!("10:00:{second:02}.000000"), "Debug", "a", "b")
}

fn of_log(bytes: impl AsRef<[u8]>) -> Report {
    Folder::with(LOG, bytes).report()
}

/// The problems of the only log.
fn found(report: &Report) -> Vec<(&str, Option<u64>)> {
    problems(product::input(report, LOG))
}

#[test]
fn a_truncated_last_record_is_counted_and_said_to_be() {
    let text =
        line(1) + &line(2) + "2026.09.01 10:00:03.000000 [ 7 ] {} <Error> a: Code: 60. DB::Exc";
    let report = of_log(text);
    assert_eq!(report.records.total, 3);
    assert_eq!(found(&report), [("truncated", Some(3))]);
    assert!(report.complete, "all bytes that are there were read");
    // A head that is cut inside itself is a line of the record before.
    let report = of_log(line(1) + "2026.09.01 10:0");
    assert_eq!(
        (report.records.total, report.records.continuation_lines),
        (1, 1)
    );
    assert_eq!(found(&report), [("truncated", Some(2))]);
}

#[test]
fn nul_bytes_are_located_and_do_not_hide_a_head() {
    // What a power loss leaves: the stretch that was allocated and not written.
    let mut bytes = line(1).into_bytes();
    bytes.extend([0; 700]);
    bytes.extend(line(2).bytes());
    bytes.extend(line(3).replace("b\n", "b\0c\n").bytes());
    let report = of_log(&bytes);
    assert_eq!(report.records.total, 3);
    let found = found(&report);
    assert_eq!(found, [("nul-bytes", Some(2))]);
    let detail = &product::input(&report, LOG).problems[0].detail;
    assert!(detail.contains('2'), "two lines have them: {detail}");
}

#[test]
fn a_log_that_begins_or_ends_with_nul_bytes_is_still_a_log() {
    let mut bytes = vec![0; 4096];
    bytes.extend(line(1).bytes());
    bytes.extend(line(2).bytes());
    bytes.extend([0; 4096]);
    let report = of_log(&bytes);
    assert_eq!(report.records.total, 2, "{:?}", report.inputs);
    assert!(
        found(&report).contains(&("nul-bytes", Some(1))),
        "{:?}",
        found(&report)
    );
}

#[test]
fn invalid_utf_8_is_located_and_its_record_counts() {
    let mut bytes = line(1).into_bytes();
    bytes.extend(b"2026.09.01 10:00:02.000000 [ 7 ] {} <Error> a: Strange \xff\xfe words\n");
    bytes.extend(line(3).bytes());
    let report = of_log(&bytes);
    assert_eq!(report.records.total, 3);
    assert_eq!(found(&report), [("invalid-utf8", Some(2))]);
    let example = report.coverage.unexplained[0].example.as_ref().unwrap();
    assert!(
        example.text.contains("Strange \u{fffd}\u{fffd} words"),
        "{}",
        example.text
    );
}

#[test]
fn cr_lf_changes_no_count() {
    let text = line(1)
        + "2026.09.01 10:00:02.000000 [ 7 ] {} <Error> a: Code: 60. DB::Exception: x. (UNKNOWN_TABLE), Stack trace:\n\n0. f @ 0x1\n"
        + &line(3);
    let (unix, windows) = (of_log(&text), of_log(text.replace('\n', "\r\n")));
    assert_eq!(
        (unix.records.total, unix.records.continuation_lines),
        (3, 2)
    );
    assert_eq!(
        (windows.records.total, windows.records.continuation_lines),
        (3, 2)
    );
    assert_eq!(product::codes(&windows), product::codes(&unix));
    assert!(
        windows
            .coverage
            .unexplained
            .iter()
            .all(|it| !it.template.contains('\r'))
    );
    assert_eq!(found(&windows), [("cr-lf", Some(1))]);
}

#[test]
fn an_unknown_level_is_counted_as_none_and_located() {
    let report = of_log(line(1) + &record("10:00:02.000000", "Loud", "a", "b"));
    assert_eq!(report.records.by_level["none"], 1);
    assert_eq!(found(&report), [("unknown-level", Some(2))]);
}

#[test]
fn lines_before_the_first_head_are_counted_and_located() {
    let report = of_log("some\nbanner\n".to_owned() + &line(1) + &line(2));
    assert_eq!(
        (report.records.total, report.records.unparsed_lines),
        (2, 2)
    );
    assert_eq!(found(&report), [("unparsed-lines", Some(1))]);
}

#[test]
fn empty_files_are_listed() {
    let folder = Folder::with(LOG, "");
    folder.put("n1/clickhouse-server.err.log", "");
    folder.put("n1/notes.txt", "");
    let report = folder.report();
    assert_eq!(report.inputs.len(), 3);
    assert!(report.complete);
    assert_eq!(report.records.total, 0);
    assert_eq!(
        analyze(folder.path(), &[]).code,
        Some(0),
        "an empty err.log says that nothing went wrong"
    );
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_listed_and_not_opened() {
    let folder = Folder::with(LOG, line(1));
    fs::create_dir(folder.path().join("n1/clickhouse-server.err.log")).unwrap();
    std::os::unix::fs::symlink(folder.path(), folder.path().join("n1/loop")).unwrap();
    std::os::unix::fs::symlink("/nowhere", folder.path().join("n1/dangling.log")).unwrap();
    let made = Command::new("mkfifo")
        .arg(folder.path().join("n1/pipe.log"))
        .status()
        .unwrap();
    assert!(made.success());
    let report = folder.report();
    assert_eq!(report.records.total, 1);
    let refused = report.inputs.iter().filter(|it| it.format == "refused");
    let refused: Vec<_> = refused
        .map(|it| {
            (
                it.path.rsplit('/').next().unwrap(),
                it.problems[0].detail.as_str(),
            )
        })
        .collect();
    assert_eq!(
        refused,
        [
            ("dangling.log", "a link, not followed"),
            ("loop", "a link, not followed"),
            ("pipe.log", "not a regular file")
        ]
    );
}

#[test]
fn a_truncated_gzip_is_read_as_far_as_it_goes_and_makes_the_report_partial() {
    let text: String = (0..50).map(|n| line(n % 60)).collect();
    let mut packed = gzip(text.as_bytes());
    packed.truncate(packed.len() - 12);
    let folder = Folder::with("n1/clickhouse-server.log.0.gz", &packed);
    let report = folder.report();
    let input = product::input(&report, ".gz");
    assert_eq!(input.format, "clickhouse");
    assert!(input.records > 0);
    assert_eq!(
        input
            .problems
            .iter()
            .filter(|it| it.kind == "read-error")
            .count(),
        1,
        "{:?}",
        input.problems
    );
    assert!(!report.complete);
    assert_eq!(analyze(folder.path(), &[]).code, Some(3));
}

#[test]
fn a_corrupt_gzip_is_said_to_be_unread() {
    let text: String = (0..2000).map(|n| line(n % 60)).collect();
    let mut packed = gzip(text.as_bytes());
    let middle = packed.len() / 2;
    packed[middle..middle + 40].fill(0xff);
    let folder = Folder::with(LOG, line(1));
    folder.put("n1/clickhouse-server.log.0.gz", &packed);
    let report = folder.report();
    assert!(!report.complete, "{:?}", report.inputs);
    assert_eq!(analyze(folder.path(), &[]).code, Some(3));
    // Nothing but a magic number: a log by its name, unreadable by its content.
    let folder = Folder::with(LOG, line(1));
    folder.put("n1/clickhouse-server.log.0.gz", [0x1f, 0x8b, 0x08, 0, 1, 2]);
    let report = folder.report();
    assert!(!report.complete, "{:?}", report.inputs);
}

#[test]
fn a_gzip_of_several_members_is_one_text() {
    let packed = [gzip(line(1).as_bytes()), gzip(line(2).as_bytes())].concat();
    let report = Folder::with("n1/clickhouse-server.log.0.gz", packed).report();
    assert_eq!((report.records.total, report.complete), (2, true));
}

#[test]
fn a_record_beyond_the_bound_is_cut_and_said_to_be() {
    let folder = Folder::new();
    let path = folder.put(LOG, line(1));
    let mut file = fs::File::options().append(true).open(path).unwrap();
    writeln!(
        file,
        "2026.09.01 10:00:02.000000 [ 7 ] {{}} <Debug> executeQuery: (from 1.1.1.1:1) INSERT"
    )
    .unwrap();
    let row = "(1, 'some value of a long insert'),\n".repeat(30_000);
    for _ in 0..70 {
        file.write_all(row.as_bytes()).unwrap();
    }
    file.write_all(line(3).as_bytes()).unwrap();
    drop(file);
    let report = folder.report();
    assert_eq!(report.records.total, 3);
    assert_eq!(report.records.continuation_lines, 2_100_000);
    let kinds: Vec<&str> = found(&report).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["record-too-long"]);
    assert!(!report.complete);
}

#[test]
fn a_line_of_ten_megabytes_is_one_line() {
    let long = "x".repeat(10 << 20);
    let report = of_log(line(1) + &record("10:00:02.000000", "Error", "a", &long) + &line(3));
    assert_eq!(report.records.total, 3);
    assert_eq!(found(&report), []);
    let text = &report.coverage.unexplained[0]
        .example
        .as_ref()
        .unwrap()
        .text;
    assert!(text.len() < 100_000, "an excerpt is bounded");
    assert!(report.coverage.unexplained[0].template.len() < 100_000);
}

#[test]
fn two_thousand_files_are_two_thousand_nodes() {
    let folder = Folder::new();
    for n in 0..2000 {
        folder.put(&format!("node{n}/clickhouse-server.log"), line(n % 60));
    }
    let report = folder.report();
    assert_eq!(
        (
            report.records.total,
            report.inputs.len(),
            report.nodes.len()
        ),
        (2000, 2000, 2000)
    );
}

/// Text that commands a terminal, a runner, a page or a reader, in one message.
const EVIL: &str = "\x1b[2J\x1b]0;owned\x07 \u{202e}gnp.exe\u{202c} \u{9b}31m <script>alert(1)</script> ```\u{200b} ::error file=a::b ##[error]x | `c` @everyone";

fn evil() -> Folder {
    let folder = Folder::with(
        LOG,
        record("10:00:01.000000", "Error", "Evil", EVIL)
            + "::error::y\n## head\n"
            + &record("10:00:02.000000", "Error", "::warning::z", "::error::x"),
    );
    let refusal = "Code: 210. DB::Exception: Source n2 did not prove it still holds the manifest it offered for part \x1b[31m`<b>|all by relink; the relink is abandoned";
    folder.put(
        "n2/clickhouse-server.log",
        record("10:00:01.000000", "Error", "q.s", refusal).repeat(12),
    );
    folder
}

fn is_inert(text: &str) {
    for (number, line) in text.lines().enumerate() {
        let hidden = |c: char| {
            c.is_control()
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{feff}')
        };
        assert!(!line.contains(hidden), "{}: {line:?}", number + 1);
        assert!(
            !line.trim_start().starts_with("::"),
            "{}: {line:?}",
            number + 1
        );
        assert!(!line.contains("##["), "{}: {line:?}", number + 1);
    }
}

#[test]
fn text_of_logs_is_inert_in_every_output() {
    let folder = evil();
    for format in ["text", "markdown"] {
        let ran = analyze(folder.path(), &["--format", format, "--color", "never"]);
        is_inert(&ran.out);
        is_inert(&ran.err);
    }
    let markdown = analyze(folder.path(), &["--format", "markdown"]).out;
    let mut fence = None;
    for line in markdown.lines() {
        let ticks = line.chars().take_while(|c| *c == '`').count();
        match fence {
            None if ticks >= 3 => fence = Some(ticks),
            Some(open) if ticks >= open && line.len() == ticks => fence = None,
            None => {
                let outside: String = line.split('`').step_by(2).collect();
                assert!(
                    !outside.replace("\\<", "").contains("<script")
                        && !outside.contains("@everyone"),
                    "{line}"
                );
            }
            Some(_) => {}
        }
    }
    assert_eq!(fence, None, "every block of code is closed");
    let json = analyze(folder.path(), &["--format", "json"]);
    is_inert(&json.out);
    // Machines get the exact text back.
    let report = json.report();
    let told = report
        .coverage
        .unexplained
        .iter()
        .filter_map(|it| it.example.as_ref());
    assert!(
        told.clone().any(|it| it.text.ends_with(EVIL)),
        "{:?}",
        told.collect::<Vec<_>>()
    );
    let lines = product::casdiag(&["lines", "relink-refused", folder.path().to_str().unwrap()]);
    is_inert(&lines.out);
}

#[cfg(unix)]
#[test]
fn names_of_files_are_inert_in_every_output() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = Folder::with("n\x1b[31m1\n::error::x/clickhouse-server.log", line(1));
    folder.put(
        "\u{202e}`<b>|/clickhouse-server.log",
        line(2) + &record("10:00:03.000000", "Error", "a", "b"),
    );
    let bad = std::ffi::OsStr::from_bytes(b"bad\xff.log");
    fs::write(folder.path().join(Path::new(bad)), line(3)).unwrap();
    let report = folder.report();
    assert_eq!(report.records.total, 4, "{:?}", report.inputs);
    for format in ["text", "markdown", "json"] {
        let ran = analyze(folder.path(), &["--format", format]);
        is_inert(&ran.out);
        is_inert(&ran.err);
    }
    let ran = analyze(&folder.path().join("no\x1b[31m\n::error::x"), &[]);
    assert_eq!(ran.code, Some(2));
    is_inert(&ran.err);
}

#[test]
fn rules_of_strangers_are_inert_in_the_message_about_them() {
    let folder = Folder::new();
    let rules = folder.put("mine.toml", "\"\x1b[31m\" = 1\n");
    let ran = product::casdiag(&["rules", "lint", "--rules", rules.to_str().unwrap()]);
    assert_eq!(ran.code, Some(2));
    is_inert(&ran.err);
}

#[test]
fn a_folder_that_cannot_be_read_is_said() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with(LOG, line(1));
    let closed = folder.put("n2/clickhouse-server.log", line(1));
    let closed = closed.parent().unwrap();
    fs::set_permissions(closed, fs::Permissions::from_mode(0o000)).unwrap();
    // Who may read everything reads this too.
    let expected = if fs::read_dir(closed).is_ok() {
        Some(0)
    } else {
        Some(3)
    };
    let ran = analyze(folder.path(), &[]);
    fs::set_permissions(closed, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(ran.code, expected, "{}", ran.out);
}
