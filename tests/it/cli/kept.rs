//! `casdiag render` of kept reports that no casdiag wrote, and what becomes of outputs that were there before.

use std::fs;

use casdiag::report::model::Report;
use casdiag::report::{REPORTS, Style};
use serde_json::{Value, json};

use crate::product::{self, Folder, Ran, analyze, casdiag, repository};

fn sample() -> Value {
    let report = product::report(&repository("samples/incidents/report-000"));
    serde_json::to_value(&report).unwrap()
}

fn render(report: &Value, format: &str) -> Ran {
    let folder = Folder::new();
    let path = folder.put("report.json", report.to_string());
    casdiag(&["render", path.to_str().unwrap(), "--format", format])
}

#[test]
fn a_number_that_no_clock_shows_is_refused_by_its_name() {
    for (pointer, field) in [
        ("/timeline/step_seconds", "timeline.step_seconds"),
        ("/timeline/series/0/points/0/0", "timeline.series[0].points"),
        (
            "/timeline/strips/0/rows/0/points/0/0",
            "timeline.strips[0].rows[0].points",
        ),
    ] {
        for number in [1_i64 << 55, 1 << 60, i64::MAX] {
            let mut report = sample();
            *report.pointer_mut(pointer).unwrap() = json!(number);
            let ran = render(&report, "html");
            assert_eq!(ran.code, Some(2), "{pointer} {number}: {}", ran.err);
            assert!(ran.err.contains(field), "{}", ran.err);
            assert!(!ran.err.contains("panicked"), "{}", ran.err);
            assert_eq!(ran.out, "");
        }
    }
    let mut report = sample();
    report["timeline"]["series"][0]["points"][0][0] = json!(i64::MIN);
    assert_eq!(render(&report, "html").code, Some(2));
}

#[test]
fn counts_as_high_as_a_count_gets_are_shown() {
    let mut report = sample();
    for series in report["timeline"]["series"].as_array_mut().unwrap() {
        for point in series["points"].as_array_mut().unwrap() {
            point[1] = json!(u64::MAX);
        }
    }
    // Any stamp can stand in a kept report.
    for input in report["inputs"].as_array_mut().unwrap() {
        input["first"] = json!("0000-01-01T00:00:00.000000");
        input["last"] = json!("9999-12-31T23:59:59.999999");
    }
    let folder = Folder::new();
    let path = folder.put("report.json", report.to_string());
    let out = folder.path().join("out");
    let ran = casdiag(&[
        "render",
        path.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(out.join("report.html").exists());
}

#[test]
fn outputs_of_another_report_do_not_stay() {
    let folder = Folder::new();
    let out = folder.path().join("out");
    let to = |root: &str, more: &[&str]| {
        let mut arguments = vec!["--out", out.to_str().unwrap(), "--fail-on", "never"];
        arguments.extend(more);
        analyze(&repository(root), &arguments)
    };
    to("samples/incidents/report-003", &[]);
    assert!(out.join("plots/wal.svg").exists(), "it has a WAL");
    fs::write(out.join("plots/mine.svg"), "keep").unwrap();
    let ran = to("samples/incidents/report-000", &["--force"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(!out.join("plots/wal.svg").exists(), "this one has none");
    assert!(out.join("plots/rates.svg").exists());
    assert_eq!(
        fs::read_to_string(out.join("plots/mine.svg")).unwrap(),
        "keep"
    );
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_in_the_folder() {
    let folder = Folder::new();
    let (out, other) = (folder.path().join("out"), folder.path().join("other"));
    fs::create_dir_all(&out).unwrap();
    fs::create_dir_all(&other).unwrap();
    std::os::unix::fs::symlink(&other, out.join("plots")).unwrap();
    let ran = analyze(
        &repository("samples/incidents/report-000"),
        &["--out", out.to_str().unwrap(), "--force"],
    );
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("plots"), "{}", ran.err);
    assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
    assert!(!out.join("report.html").exists(), "nothing half written");
}

/// Makes every text of the findings, inputs and counts a megabyte long.
fn lengthen(value: &mut Value, key: &str) {
    match value {
        Value::String(text)
            if matches!(
                key,
                "path"
                    | "title"
                    | "run"
                    | "node"
                    | "rule"
                    | "what"
                    | "detail"
                    | "template"
                    | "version"
                    | "category"
                    | "text"
                    | "mechanism"
            ) =>
        {
            text.push_str(&"long ".repeat(200_000));
        }
        Value::Array(items) => items.iter_mut().take(3).for_each(|it| lengthen(it, key)),
        Value::Object(fields) => {
            for (name, it) in fields {
                lengthen(it, name);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn an_issue_stays_short_whatever_the_fields() {
    let mut value = sample();
    for part in ["findings", "inputs", "environment", "coverage", "balances"] {
        lengthen(&mut value[part], "");
    }
    let report: Report = serde_json::from_value(value).unwrap();
    let style = Style {
        color: false,
        width: 80,
    };
    for name in ["markdown", "bug"] {
        let output = REPORTS.iter().find(|it| it.name == name).unwrap();
        let mut bytes = Vec::new();
        (output.write)(&report, &style, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.len() < 200_000, "{name}: {} bytes", text.len());
        assert!(text.contains("… (999,"), "{name}: the cut shows");
    }
}
