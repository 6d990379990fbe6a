//! Outputs: written whole, and the same bytes whatever the threads and blocks.

use std::fs;
use std::path::Path;

use casdiag::intake::Limits;
use casdiag::pipeline::Plan;
use casdiag::report::tables::{FORMS, TABLES};
use casdiag::report::{PLOTS, REPORTS, Style};

use super::samples;
use crate::product::{self, Folder, analyze, casdiag, record, repository};
use crate::report001;

/// Every file below a folder, by its path in it.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            let inner = self::files(&entry.path()).into_iter();
            files.extend(inner.map(|(path, bytes)| (format!("{name}/{path}"), bytes)));
        } else {
            files.push((name, fs::read(entry.path()).unwrap()));
        }
    }
    files.sort();
    files
}

fn bytes_of<'f>(files: &'f [(String, Vec<u8>)], name: &str) -> &'f [u8] {
    let found = files.iter().find(|(path, _)| path == name);
    &found.unwrap_or_else(|| panic!("no {name}")).1
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
    let names = written.iter().map(|(name, _)| name.as_str());
    let (tables, names): (Vec<&str>, Vec<&str>) =
        names.partition(|name| name.starts_with("tables/"));
    assert_eq!(tables.len(), 2 * TABLES.len(), "each as CSV and as Parquet");
    assert_eq!(
        names,
        [
            "annotations.txt",
            "bug.md",
            "junit.xml",
            "plots/answers.svg",
            "plots/positions.svg",
            "plots/rates.svg",
            "plots/wal.svg",
            "report.html",
            "report.json",
            "report.md",
            "report.sarif",
            "report.txt"
        ]
    );
    assert!(written.iter().all(|(_, bytes)| !bytes.is_empty()));
    assert!(written == files(&second));
    let ran = analyze(&samples(), &["--format", "markdown"]);
    assert!(
        ran.out.as_bytes() == bytes_of(&written, "report.md"),
        "stdout and file are the same report"
    );
    let json = analyze(&samples(), &["--format", "json"]);
    assert!(json.out.as_bytes() == bytes_of(&written, "report.json"));
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
    assert_eq!(files(&first).len(), 13 + tables.len());
}

#[test]
fn what_a_killed_run_left_is_removed_and_needs_no_force() {
    let folder = Folder::with("out/.casdiag-unfinished-Ab12cd/report.json", "{");
    folder.put("out/.casdiag-unfinished-Ab12cd/tables/nodes.csv", "");
    // An older version left files.
    folder.put("out/.casdiag-Ab12cd", "{");
    let out = folder.path().join("out");
    let ran = analyze(&samples(), &["--out", out.to_str().unwrap()]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let written = files(&out);
    let hidden: Vec<&str> = written
        .iter()
        .map(|(path, _)| path.as_str())
        .filter(|path| path.starts_with('.'))
        .collect();
    assert_eq!(hidden, [".casdiag-Ab12cd"], "whoever made it");
    assert!(!bytes_of(&written, "report.json").is_empty());
}

#[test]
fn where_an_output_cannot_be_put_none_is() {
    // The tables have no room: a file is called like their folder.
    let folder = Folder::with("out/tables", "mine");
    let out = folder.path().join("out");
    let ran = analyze(&samples(), &["--out", out.to_str().unwrap(), "--force"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("cannot write"), "{}", ran.err);
    let left: Vec<String> = files(&out).into_iter().map(|(path, _)| path).collect();
    assert_eq!(left, ["tables"]);
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
    for table in TABLES {
        for form in FORMS {
            table.write(&report, form, &mut bytes).unwrap();
        }
    }
    for plot in PLOTS {
        bytes.extend((plot.draw)(&report).unwrap_or_default().into_bytes());
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
        for format in [
            "text", "json", "markdown", "bug", "html", "github", "junit", "sarif",
        ] {
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
fn a_kept_report_gives_every_output_again() {
    let folder = Folder::new();
    let kept = folder.path().join("kept");
    let ran = analyze(&samples(), &["--out", kept.to_str().unwrap()]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let again = folder.path().join("again");
    let report = kept.join("report.json");
    let arguments = [
        "render",
        report.to_str().unwrap(),
        "--out",
        again.to_str().unwrap(),
        "--format",
        "html",
    ];
    let rendered = casdiag(&arguments);
    assert_eq!(rendered.code, Some(0), "{}", rendered.err);
    assert!(files(&kept) == files(&again));
    assert!(rendered.out.as_bytes() == bytes_of(&files(&kept), "report.html"));
    let refused = casdiag(&arguments);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("--force"), "{}", refused.err);
}

#[test]
fn what_is_no_report_is_not_rendered() {
    let folder = Folder::with("other.json", r#"{"schema": "casdiag.report/1"}"#);
    for (name, text) in [
        ("other.json", None),
        ("log.json", Some("2026.09.01 00:00:00 <Error> x")),
        ("gone.json", None),
    ] {
        if let Some(text) = text {
            folder.put(name, text);
        }
        let path = folder.path().join(name);
        let ran = casdiag(&["render", path.to_str().unwrap()]);
        assert_eq!(ran.code, Some(2), "{name}: {}", ran.err);
        assert!(ran.err.contains(name) && ran.out.is_empty(), "{}", ran.err);
    }
    let mut report = serde_json::to_value(Folder::new().report()).unwrap();
    report["schema"] = "casdiag.report/9".into();
    let path = folder.put("newer.json", report.to_string());
    let ran = casdiag(&["render", path.to_str().unwrap()]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("casdiag.report/9"), "{}", ran.err);
}

#[test]
fn a_bug_is_the_issue_behind_a_front_matter() {
    let root = samples().join("report-000");
    let bug = analyze(&root, &["--format", "bug"]).out;
    let issue = analyze(&root, &["--format", "markdown"]).out;
    let (head, rest) = bug
        .strip_prefix("---\n")
        .unwrap()
        .split_once("---\n\n")
        .unwrap();
    assert!(rest == issue);
    for line in [
        r#"id: "unproven-confirms""#,
        r#"status: "open""#,
        r#"severity: "high""#,
        r#"timestamp: "2026-08-18T14:02:33.478364+00:00""#,
        r#"last_seen: "2026-08-18T14:03:24.086529+00:00""#,
        "occurrences: 1",
    ] {
        assert!(head.lines().any(|it| it == line), "{line} in {head}");
    }
}

#[test]
fn shells_and_man_are_served() {
    for shell in ["bash", "zsh", "fish"] {
        let ran = casdiag(&["completions", shell]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(
            ran.out.contains("wal-layout-check") && ran.out.contains("fail-on"),
            "{shell}"
        );
    }
    let page = casdiag(&["man"]);
    assert_eq!(page.code, Some(0), "{}", page.err);
    assert!(page.out.contains(".TH casdiag 1") && page.out.contains("wal\\-layout\\-check"));
}

/// The flags that a command's help lists.
fn flags(help: &str) -> Vec<String> {
    let lines = help.lines().map(str::trim_start);
    let long = lines.filter_map(|line| {
        let line = line.split_once(", ").map_or(
            line,
            |(short, rest)| if short.len() == 2 { rest } else { line },
        );
        let name = line.strip_prefix("--")?;
        let end = name
            .find(|c: char| !c.is_ascii_lowercase() && c != '-')
            .unwrap_or(name.len());
        Some(format!("--{}", &name[..end]))
    });
    long.collect()
}

#[test]
fn the_manual_has_every_flag_of_every_command_in_one_page() {
    let page = casdiag(&["man"]);
    assert_eq!(page.code, Some(0), "{}", page.err);
    let text = page
        .out
        .replace("\\-", "-")
        .replace("\\fB", "")
        .replace("\\fR", "")
        .replace("\\fI", "");
    let mut counted = 0;
    for path in [
        &["analyze"][..],
        &["lines"],
        &["explain"],
        &["render"],
        &["rules", "list"],
        &["rules", "show"],
        &["rules", "test"],
        &["rules", "lint"],
        &["wal-layout-check"],
        &["wal", "dump"],
        &["completions"],
        &["man"],
    ] {
        let heading = format!(".SH \"CASDIAG {}\"", path.join(" ").to_uppercase());
        let (_, rest) = text
            .split_once(&heading)
            .unwrap_or_else(|| panic!("{heading} in {text}"));
        let section = rest.split("\n.SH ").next().unwrap();
        let help = casdiag(&[path, &["--help"]].concat()).out;
        for flag in flags(&help) {
            assert!(section.contains(&flag), "{flag} of {path:?}: {section}");
            counted += 1;
        }
    }
    assert!(counted > 50, "{counted} flags");
    let visible = casdiag(&["--help"]).out;
    for line in visible
        .lines()
        .skip_while(|it| *it != "Commands:")
        .skip(1)
        .take_while(|it| !it.is_empty())
    {
        // Further lines of a description are indented deeper.
        if line.starts_with("   ") {
            continue;
        }
        let name = line.split_whitespace().next().unwrap();
        assert!(
            name == "help" || text.contains(&format!("CASDIAG {}", name.to_uppercase())),
            "{name}"
        );
    }
    assert!(
        !text.contains("(1)\n"),
        "no page is referred to that is not printed"
    );
}

/// The first line of the summary that begins with a label.
fn line<'t>(text: &'t str, label: &str) -> &'t str {
    let found = text.lines().find(|it| it.starts_with(label));
    found.unwrap_or_else(|| panic!("{label} in {text}"))
}

#[test]
fn a_signal_has_a_sparkline_where_there_is_room() {
    // In 120 seconds: 4, 4 and 1 record in the first bars of 4 seconds, 1 in the last: a quarter of the highest.
    let refusal = "Code: 210. DB::Exception: Source n2 did not prove it still holds the manifest it offered for part all_1_1_0 by relink; the relink is abandoned";
    let mut log = String::new();
    for nth in 0..9 {
        log += &record(&format!("10:00:0{nth}.000000"), "Error", "q.s", refusal);
    }
    log += &record("10:01:59.000000", "Error", "q.s", refusal);
    let report = Folder::with("n1/clickhouse-server.log", log).report();
    let text = |width| {
        let text = REPORTS.iter().find(|it| it.name == "text").unwrap();
        let mut bytes = Vec::new();
        (text.write)(
            &report,
            &Style {
                color: false,
                width,
            },
            &mut bytes,
        )
        .unwrap();
        String::from_utf8(bytes).unwrap()
    };
    for width in [100, 120, 200] {
        let text = text(width);
        assert!(
            line(&text, "records and signals").contains("2026-09-01 10:00:00 .. 10:01:59"),
            "{text}"
        );
        let row = line(&text, "relink-refused");
        assert!(row.contains('█') && row.ends_with('▂'), "{row}");
        let bars = row
            .trim_end()
            .chars()
            .rev()
            .take_while(|it| !it.is_ascii_digit())
            .count()
            - 2;
        // 120 seconds in at most 32 bars: 30 of 4 seconds.
        assert_eq!(bars, 30, "{row}");
    }
    assert!(
        line(&text(40), "records and signals").contains("over time"),
        "the stretch itself has no room"
    );
    for width in [40, 60, 80, 100] {
        for line in text(width).lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn colors_are_for_terminals_and_for_who_wants_them() {
    let ran = |flags: &[&str]| analyze(&samples().join("report-000"), flags).out;
    assert!(!ran(&[]).contains('\x1b'), "stdout is no terminal");
    assert!(ran(&["--color", "always"]).contains('\x1b'));
    assert!(!ran(&["--color", "never"]).contains('\x1b'));
}
