//! Outputs: written whole, and the same bytes whatever the threads and blocks.

use std::fs;
use std::path::Path;

use casdiag::intake::Limits;
use casdiag::pipeline::Plan;
use casdiag::report::tables::{FORMS, TABLES};
use casdiag::report::{PLOTS, REPORTS, Style};

use super::samples;
use crate::product::{self, Folder, analyze, casdiag, repository};
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
    assert_eq!(files(&first).len(), 12 + tables.len());
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
