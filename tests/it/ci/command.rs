//! `casdiag ci`: exit codes, the summary of a step, sources that disagree, text of strangers.

use std::io::Write;

use super::flow::Flow;
use super::{case, ci, expected};
use crate::product::{Folder, analyze, binary};

const CASE: &str = "testflows-failing";

/// A run of one scenario with a result.
fn one(result: &str, message: &str, ends: bool) -> String {
    let mut flow = Flow::new(1_788_220_800.0);
    let mut root = flow.root("suite");
    let mut feature = flow.begin(&mut root, "feature", "Suite", "Feature");
    let scenario = flow.begin(&mut feature, "scenario", "Test", "Scenario");
    if ends {
        flow.end(&scenario, result, Some(message));
        flow.end(&feature, result, Some(message));
        flow.end(&root, result, Some(message));
        flow.stop(&root);
    }
    flow.text
}

#[test]
fn the_exit_code_says_whether_a_test_failed_that_should_not_have() {
    for (result, ends, code) in [
        ("OK", true, 0),
        ("Fail", true, 1),
        ("Error", true, 1),
        ("Null", true, 1),
        ("XFail", true, 0),
        ("OK", false, 3),
    ] {
        let folder = Folder::with("raw.log", one(result, "said", ends));
        assert_eq!(ci(folder.path(), &[]).code, Some(code), "{result} {ends}");
    }
    let nothing = Folder::with("notes.txt", "nothing of the kind\n");
    let ran = ci(nothing.path(), &[]);
    assert_eq!(ran.code, Some(3));
    // Nothing was found of which a part was read.
    let first = ran.out.lines().next().unwrap();
    assert!(first.starts_with("NO TESTS: no results"), "{first}");
    assert!(!ran.out.contains("PARTIAL"), "{}", ran.out);
    assert!(ran.err.contains("(1 file seen)"), "{}", ran.err);
}

#[test]
fn groups_are_the_signatures_that_were_counted_by_hand() {
    let report = ci(&case(CASE).join("raw.log"), &["--format", "json"]).report();
    let expected = expected(CASE);
    let mut right: Vec<(String, Option<String>, Vec<String>)> = expected["signatures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let tests = one["tests"].as_array().unwrap().iter();
            (
                one["result"].as_str().unwrap().to_owned(),
                one["exception"].as_str().map(str::to_owned),
                tests
                    .map(|test| test.as_str().unwrap().to_owned())
                    .collect(),
            )
        })
        .collect();
    let groups = report.tests.groups.iter();
    let mut found: Vec<(String, Option<String>, Vec<String>)> = groups
        .map(|group| {
            let leaves = group.leaves.iter().map(|leaf| leaf.stored.clone());
            (
                group.result.clone(),
                group.exception.clone(),
                leaves.collect(),
            )
        })
        .collect();
    right.sort();
    found.sort();
    assert_eq!(found, right);
    let mut by_area: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new();
    for (area, count) in report.tests.groups.iter().flat_map(|group| &group.by_area) {
        *by_area.entry(area.clone()).or_default() += count;
    }
    let areas = expected["leaves_by_area"].as_object().unwrap().iter();
    let areas: std::collections::BTreeMap<String, u64> = areas
        .map(|(area, count)| {
            (
                casdiag::parsers::ci::names::readable(area),
                count.as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(by_area, areas);
}

#[test]
fn sources_of_one_run_are_one_run_and_agree() {
    let report = ci(&case(CASE), &["--format", "json"]).report();
    let runs: std::collections::BTreeSet<&str> = report
        .tests
        .runs
        .iter()
        .map(|row| row.run.as_str())
        .collect();
    assert_eq!(runs.len(), 1, "{runs:?}");
    assert_eq!(report.tests.runs.iter().filter(|row| row.speaks).count(), 1);
    assert_eq!(report.tests.runs[0].form, "testflows-raw");
    let said = &report.tests.disagreements;
    assert!(said.is_empty(), "{said:?}");
    let leaves: usize = report
        .tests
        .groups
        .iter()
        .map(|group| group.leaves.len())
        .sum();
    assert_eq!(leaves, 26);
}

#[test]
fn a_report_that_says_otherwise_is_named_and_not_believed() {
    let folder = Folder::new();
    folder.put(
        "raw.log",
        std::fs::read(case(CASE).join("raw.log")).unwrap(),
    );
    let fails = std::fs::read_to_string(case(CASE).join("fails.log.txt")).unwrap();
    folder.put(
        "fails.log.txt",
        fails.replace(
            "46 scenarios (20 ok, 19 failed",
            "46 scenarios (21 ok, 18 failed",
        ),
    );
    let ran = ci(folder.path(), &["--format", "json"]);
    let report = ran.report();
    let one = &report.tests.disagreements[0];
    assert_eq!(
        (report.tests.disagreements.len(), one.what.as_str()),
        (1, "scenario")
    );
    assert!(
        one.left.path.ends_with("raw.log") && one.left.says.contains("19 Fail"),
        "{one:?}"
    );
    assert!(
        one.right.path.ends_with("fails.log.txt") && one.right.says.contains("18 Fail"),
        "{one:?}"
    );
    assert_eq!(report.tests.runs[0].totals["scenario"]["fail"], 19);
    let text = ci(folder.path(), &[]).out;
    assert!(
        text.contains("sources of T1 disagree on scenario"),
        "{text}"
    );
}

#[test]
fn the_summary_of_a_step_is_added_where_the_workflow_wants_it() {
    let folder = Folder::with("raw.log", one("Fail", "said so", true));
    let summary = folder.put("out/summary.md", "# before\n");
    let path = folder.path().join("raw.log");
    let mut command = binary(&["ci", path.to_str().unwrap()]);
    command.env("GITHUB_STEP_SUMMARY", &summary);
    assert_eq!(command.output().unwrap().status.code(), Some(1));
    let text = std::fs::read_to_string(&summary).unwrap();
    assert!(
        text.starts_with("# before\n# 1 failing leaf, 1 failure by signature"),
        "{text}"
    );
    // What another wrote may lack the end of its last line.
    std::fs::write(&summary, "before").unwrap();
    let mut command = binary(&["ci", path.to_str().unwrap()]);
    command.env("GITHUB_STEP_SUMMARY", &summary);
    assert_eq!(command.output().unwrap().status.code(), Some(1));
    let text = std::fs::read_to_string(&summary).unwrap();
    assert!(text.starts_with("before\n# 1 failing leaf"), "{text}");
    // GitHub drops what is longer than 1 MiB, so the rest of it is kept free.
    let full = vec![b'x'; (1 << 20) - 300];
    std::fs::File::create(&summary)
        .unwrap()
        .write_all(&full)
        .unwrap();
    let mut command = binary(&["ci", path.to_str().unwrap()]);
    command.env("GITHUB_STEP_SUMMARY", &summary);
    assert_eq!(command.output().unwrap().status.code(), Some(1));
    let length = std::fs::metadata(&summary).unwrap().len();
    assert!(length <= 1 << 20 && length > (1 << 20) - 300, "{length}");
}

#[test]
fn tests_are_told_by_analyze_as_well() {
    let folder = Folder::with("raw.log", one("Fail", "said so", true));
    let ran = analyze(folder.path(), &[]);
    assert!(
        ran.out.starts_with("TESTS FAIL: 1 failing leaf"),
        "{}",
        ran.out
    );
    // A failing test is no finding: `analyze` fails on findings alone.
    assert_eq!(ran.code, Some(0));
}

#[test]
fn the_same_bytes_come_out_whatever_the_threads() {
    let path = case(CASE);
    let one = ci(&path, &["--threads", "1", "--format", "json"]).out;
    assert_eq!(one, ci(&path, &["--threads", "5", "--format", "json"]).out);
}

#[test]
fn nothing_that_a_test_says_commands_a_runner_or_a_page() {
    const HOSTILE: &str = "::error file=a::b ##[group]x `code` | cell <script>alert(1)</script> ]]> \u{1b}[2J &amp; {0} [l](http://e)";
    let mut flow = Flow::new(1_788_220_800.0);
    let mut root = flow.root("suite");
    let mut feature = flow.begin(
        &mut root,
        "feature ::error::x <script>alert(2)</script>",
        "Suite",
        "Feature",
    );
    let scenario = flow.begin(&mut feature, HOSTILE, "Test", "Scenario");
    let message = format!("{HOSTILE}\n::warning::second line\n##[error]third\n<script>");
    flow.end(&scenario, "Fail", Some(&message));
    flow.end(&feature, "Fail", Some(&message));
    flow.end(&root, "Fail", Some(&message));
    flow.stop(&root);
    let folder = Folder::with("raw.log", flow.text);
    for format in [
        "text", "json", "markdown", "bug", "html", "junit", "sarif", "github",
    ] {
        let ran = ci(folder.path(), &["--format", format]);
        assert_eq!(ran.code, Some(1), "{format}: {}", ran.err);
        assert!(
            ran.out.contains("said") || ran.out.contains("scenario") || ran.out.contains("alert"),
            "{format}: {}",
            ran.out
        );
        assert!(!ran.out.contains("##["), "{format}");
        assert!(!ran.out.contains('\u{1b}'), "{format}");
        let commands = ran
            .out
            .lines()
            .filter(|line| line.trim_start().starts_with("::"));
        let foreign: Vec<&str> = commands
            .filter(|line| format != "github" || !line.starts_with("::error "))
            .collect();
        assert!(foreign.is_empty(), "{format}: {foreign:?}");
        if matches!(format, "html" | "junit") {
            assert!(!ran.out.contains("<script>alert"), "{format}");
        }
        if matches!(format, "markdown" | "bug") {
            let outside_of_spans = ran.out.lines().filter(|line| {
                line.contains("<script>") && !line.contains('`') && !line.contains("\\<script")
            });
            assert_eq!(outside_of_spans.count(), 0, "{}", ran.out);
        }
    }
    let github = ci(folder.path(), &["--format", "github"]).out;
    assert_eq!(
        github
            .lines()
            .filter(|line| line.starts_with("::error "))
            .count(),
        1,
        "{github}"
    );
}

#[test]
fn two_runs_with_equal_totals_that_began_at_other_times_are_two() {
    let folder = Folder::new();
    for (job, start, message) in [
        ("x86", 1_788_220_800.0, "boom 1"),
        ("arm", 1_788_224_400.0, "boom 2"),
    ] {
        let mut flow = Flow::new(start);
        let mut root = flow.root("suite");
        let scenario = flow.begin(&mut root, "scenario", "Test", "Scenario");
        flow.end(&scenario, "Fail", Some(message));
        flow.end(&root, "Fail", Some(message));
        flow.stop(&root);
        folder.put(&format!("{job}/raw.log"), flow.text);
    }
    let report = ci(folder.path(), &["--format", "json"]).report();
    let speaking = report.tests.runs.iter().filter(|row| row.speaks);
    assert_eq!(speaking.map(|row| row.failing_leaves).sum::<u64>(), 2);
    assert_eq!(report.tests.groups.len(), 2);
}

#[test]
fn a_sum_that_also_says_what_there_is_none_of_agrees_with_the_tests() {
    let said = "running 1 test\ntest a::c ... ok\n\n\
                test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let folder = Folder::with("cargo.txt", said);
    let ran = ci(folder.path(), &["--format", "json"]);
    let report = ran.report();
    assert_eq!(report.tests.runs[0].totals["test"]["ok"], 1);
    assert!(report.tests.disagreements.is_empty());
}

/// What the outputs for people and machines say where nothing can be judged.
#[test]
fn a_report_that_judges_nothing_does_not_look_like_a_good_one() {
    let nothing = Folder::with("notes.txt", "nothing of the kind\n");
    let logs = Folder::with(
        "clickhouse-server.log",
        "2026.03.14 23:18:02.000001 [ 1 ] {} <Information> Application: Ready for connections.\n",
    );
    let unended = Folder::with("raw.log", one("OK", "said", false));
    for (folder, says) in [
        (&nothing, "nothing recognised"),
        (&logs, "no results of tests were recognised"),
        (&unended, "not told to"),
    ] {
        for format in ["text", "markdown", "bug", "github", "junit", "html"] {
            let ran = ci(folder.path(), &["--format", format]);
            assert_eq!(ran.code, Some(3), "{format} {says}");
            let out = ran.out.to_lowercase();
            assert!(
                out.contains(says) || format == "junit" && out.contains("<error"),
                "{format} {says}: {out}"
            );
        }
        let markdown = ci(folder.path(), &["--format", "markdown"]).out;
        assert!(markdown.starts_with("# Partial: "), "{says}: {markdown}");
        let bug = ci(folder.path(), &["--format", "bug"]).out;
        assert!(
            bug.contains("status: \"partial\"") && bug.contains("\npartial: "),
            "{says}: {bug}"
        );
        let junit = ci(folder.path(), &["--format", "junit"]).out;
        assert!(junit.contains("<error message="), "{says}: {junit}");
        let other = Folder::new();
        let summary = other.path().join("summary.md");
        let path = folder.path().display().to_string();
        let ran = binary(&["ci", path.as_str()])
            .env("GITHUB_STEP_SUMMARY", &summary)
            .output()
            .unwrap();
        assert_eq!(ran.status.code(), Some(3));
        let written = std::fs::read_to_string(&summary).unwrap();
        assert!(written.starts_with("# Partial: "), "{says}: {written}");
    }
}

#[test]
fn a_line_fits_the_columns_that_are_asked_for() {
    let path = case(CASE).display().to_string();
    for columns in [60, 80, 100] {
        let mut command = binary(&["ci", path.as_str()]);
        let ran = command
            .env("COLUMNS", columns.to_string())
            .output()
            .unwrap();
        let out = String::from_utf8(ran.stdout).unwrap();
        let longest = out.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(longest <= columns, "{columns}: {longest}");
        assert!(longest + 20 > columns, "{columns}: {longest}");
    }
}
