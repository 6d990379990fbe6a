//! `TestFlows` runs against the framework's own tools and a count made with another program.

use std::collections::BTreeMap;
use std::io::Write;

use casdiag::parsers::ci::Incomplete::{CutLine, NoEnd, NoResult, TestsRunning, Torn};
use casdiag::parsers::ci::{Leaf, TestRun, Total};
use serde_json::Value;

use super::{case, expected, read, run};
use crate::product::Folder;

const CASE: &str = "testflows-failing";

/// The text of the messages, unpacked.
fn messages() -> Vec<u8> {
    let mut text = Vec::new();
    let packed = std::fs::read(case(CASE).join("raw.log")).unwrap();
    std::io::Read::read_to_end(
        &mut liblzma::read::XzDecoder::new_multi_decoder(&packed[..]),
        &mut text,
    )
    .unwrap();
    text
}

/// `expected.json`'s counts by level: units and results.
fn levels(expected: &Value) -> BTreeMap<String, BTreeMap<String, u64>> {
    let levels = expected["levels"].as_object().unwrap().iter();
    levels
        .map(|(level, counts)| {
            let counts = counts.as_object().unwrap().iter();
            let counts = counts.map(|(word, count)| (word.clone(), count.as_u64().unwrap()));
            (level.clone(), counts.collect())
        })
        .collect()
}

fn counted(totals: &[Total]) -> BTreeMap<String, BTreeMap<String, u64>> {
    let of = |total: &Total| {
        let mut counts = total.by.clone();
        counts.insert("units".to_owned(), total.units);
        (total.level.clone(), counts)
    };
    totals.iter().map(of).collect()
}

/// A leaf as `expected.json` lists it.
fn listed(leaf: &Leaf) -> Value {
    let text = (leaf.assertion.is_none()).then(|| match &leaf.exception {
        Some(class) => format!("{class}: {}", leaf.message),
        None => leaf.message.clone(),
    });
    serde_json::json!({
        "test": leaf.name,
        "result": leaf.outcome,
        "level": leaf.level,
        "seconds": leaf.seconds,
        "ended": leaf.ended.map(|at| format!("{}Z", at.at.iso(casdiag::time::Zone::Unknown))),
        "failed_tries": leaf.failed_tries,
        "exception": leaf.exception,
        "assertion": leaf.assertion,
        "text": text,
        "file": leaf.own.as_ref().map(|own| &own.file),
        "line": leaf.own.as_ref().map(|own| own.line),
        "function": leaf.own.as_ref().map(|own| &own.function),
    })
}

fn is_right(run: &TestRun) {
    let expected = expected(CASE);
    assert_eq!(run.incomplete, []);
    assert_eq!(run.name, expected["root"]);
    assert_eq!(run.result.as_deref(), expected["root_result"].as_str());
    assert_eq!(counted(&run.totals), levels(&expected));
    assert_eq!(run.failing.len(), 43);
    assert_eq!(run.failing.iter().filter(|test| test.is_leaf).count(), 26);
    let leaves: Vec<Value> = run.leaves.iter().map(listed).collect();
    assert_eq!(Value::from(leaves), expected["failing_leaves"]);
    let known: Vec<Value> = run
        .known
        .iter()
        .map(|it| serde_json::json!({"test": it.name, "result": it.outcome, "level": it.level, "reason": it.reason}))
        .collect();
    assert_eq!(Value::from(known), expected["known"]);
    let attributes = expected["attributes"].as_object().unwrap();
    for (name, value) in attributes {
        assert_eq!(
            run.attributes.get(name).map(String::as_str),
            value.as_str(),
            "{name}"
        );
    }
    let mut by_feature: BTreeMap<&str, u64> = BTreeMap::new();
    run.leaves
        .iter()
        .for_each(|leaf| *by_feature.entry(&leaf.feature).or_default() += 1);
    assert_eq!(
        serde_json::to_value(by_feature).unwrap(),
        expected["leaves_by_feature"]
    );
    assert_eq!(run.unstable.len(), 1);
    assert_eq!((run.unstable[0].passed, run.unstable[0].failed), (3, 2));
    assert_eq!((run.retries.tries, run.retries.failed), (66, 53));
    assert_eq!((run.filtered_out, run.running.len()), (0, 0));
}

#[test]
fn the_messages_of_a_run_give_the_same_however_they_are_packed() {
    let folder = Folder::with("test.log", messages());
    for path in [
        case(CASE).join("raw.log"),
        case(CASE).join("raw.as-written.log"),
        folder.path().join("test.log"),
    ] {
        let reading = read(&path);
        assert_eq!(reading.lines, 2088, "{}", path.display());
        is_right(&reading.runs[0]);
    }
}

#[test]
fn every_message_is_accounted_for_by_its_keyword() {
    let run = run(&case(CASE).join("raw.log"));
    let said = &run.remarks[0].text;
    for (keyword, count) in expected(CASE)["messages_by_keyword"].as_object().unwrap() {
        assert!(
            said.contains(&format!("{count} {keyword}")),
            "{keyword}: {said}"
        );
    }
}

#[test]
fn reports_state_the_totals_that_the_messages_have_and_name_the_same_leaves() {
    let raw = run(&case(CASE).join("raw.log"));
    let names = |run: &TestRun| {
        run.leaves
            .iter()
            .map(|leaf| leaf.name.clone())
            .collect::<Vec<_>>()
    };
    for file in [
        "fails.log.txt",
        "nice-new-fails.log.txt.xz",
        "stdout.log.txt",
    ] {
        let report = run(&case(CASE).join(file));
        assert_eq!(report.incomplete, [], "{file}");
        assert_eq!(report.stated, raw.totals, "{file}");
        assert_eq!(names(&report), names(&raw), "{file}");
        assert_eq!(report.failing.len(), 43, "{file}");
        let seconds: Vec<f64> = report.durations.iter().map(|it| it.seconds).collect();
        assert_eq!(seconds, [6780.0], "1h 53m: {file}");
        let known = if file.starts_with("nice") { 0 } else { 5 };
        assert_eq!(report.known.len(), known, "{file}");
    }
}

#[test]
fn the_report_with_whole_logs_gives_each_leaf_its_assertion_and_place() {
    let raw = run(&case(CASE).join("raw.log"));
    let nice = run(&case(CASE).join("nice-new-fails.log.txt.xz"));
    for (left, right) in raw.leaves.iter().zip(&nice.leaves) {
        assert_eq!(
            (&left.exception, &left.assertion, &left.own),
            (&right.exception, &right.assertion, &right.own)
        );
        assert_eq!(
            (&left.message, left.failed_tries),
            (&right.message, right.failed_tries),
            "{}",
            left.name
        );
    }
}

#[test]
fn lists_of_the_tools_are_reports_too() {
    let raw = run(&case(CASE).join("raw.log"));
    let shown = run(&case(CASE).join("tfs/show-fails.txt"));
    let leaves = |run: &TestRun| {
        run.leaves
            .iter()
            .map(|leaf| (leaf.name.clone(), leaf.outcome.clone()))
            .collect::<Vec<_>>()
    };
    assert_eq!(leaves(&shown), leaves(&raw));
    assert_eq!((shown.failing.len(), shown.known.len()), (43, 5));
    assert_eq!(
        run(&case(CASE).join("tfs/show-totals.txt")).stated,
        raw.totals
    );
}

#[test]
fn a_report_pasted_with_plain_names_has_three_leaves() {
    let report = run(&case("h12-testflows-fails-log").join("input/fails.log.txt"));
    let leaves: Vec<(&str, &str)> = report
        .leaves
        .iter()
        .map(|leaf| (leaf.outcome.as_str(), leaf.name.as_str()))
        .collect();
    let part = "/alter/attach partition/part 1";
    let expected = [
        (
            "Fail",
            format!("{part}/simple/partition key=intDiv(c,3)/attach from"),
        ),
        (
            "Fail",
            format!("{part}/simple/partition key=(intDiv(c,3),intDiv(d,3))/attach from"),
        ),
        ("Error", format!("{part}/part level/create table")),
    ];
    let expected: Vec<(&str, &str)> = expected
        .iter()
        .map(|(outcome, name)| (*outcome, name.as_str()))
        .collect();
    assert_eq!(leaves, expected);
    assert_eq!((report.failing.len(), report.known.len()), (8, 1));
    assert_eq!(
        report.leaves[2].message,
        "Code: 499. DB::Exception: Timeout, key data/pool/ref_catalog. (S3_ERROR)"
    );
}

/// The lines up to one, packed as CI packs a log again after the run was killed.
fn repacked(text: &[u8]) -> Vec<u8> {
    let mut packer = liblzma::write::XzEncoder::new(Vec::new(), 6);
    packer.write_all(text).unwrap();
    packer.finish().unwrap()
}

#[test]
fn a_log_that_breaks_off_is_read_to_its_end_and_names_the_tests_that_ran() {
    let text = messages();
    let cut = text.len() * 2 / 5;
    let whole_lines = memchr::memchr_iter(b'\n', &text[..cut]).count();
    let as_written = std::fs::read(case(CASE).join("raw.as-written.log")).unwrap();
    let folder = Folder::new();
    folder.put("recompressed.log", repacked(&text[..cut]));
    folder.put("killed.log", &as_written[..as_written.len() * 3 / 5]);

    let recompressed = read(&folder.path().join("recompressed.log"));
    assert_eq!(recompressed.lines, u64::try_from(whole_lines).unwrap() + 1);
    let run = &recompressed.runs[0];
    assert_eq!(run.incomplete, [NoEnd, NoResult, TestsRunning, CutLine]);
    assert_eq!(run.result, None);
    // What runs at the cut, by the ids of TEST and RESULT lines, counted without the product.
    let (mut open, mut last) = (BTreeMap::new(), 0.0);
    for line in text[..cut].split(|byte| *byte == b'\n').take(whole_lines) {
        let message: Value = serde_json::from_slice(line).unwrap();
        let id = message["test_id"].as_str().unwrap().to_owned();
        match message["message_keyword"].as_str().unwrap() {
            "TEST" => drop(open.insert(id, message["test_name"].as_str().unwrap().to_owned())),
            "RESULT" => drop(open.remove(&id)),
            _ => {}
        }
        last = message["message_time"].as_f64().unwrap();
    }
    let mut names: Vec<String> = open.into_values().collect();
    let mut running: Vec<String> = run.running.iter().map(|test| test.name.clone()).collect();
    names.sort();
    running.sort();
    assert_eq!(running, names);
    assert!(running.len() > 2);
    let expected = casdiag::parsers::ci::Moment::from_epoch(last);
    assert_eq!(run.last, expected);

    let killed = read(&folder.path().join("killed.log"));
    assert!(killed.error.is_some());
    assert!(killed.lines > 500);
    assert_eq!(
        killed.runs[0].incomplete[..3],
        [NoEnd, NoResult, TestsRunning]
    );
    assert!(killed.runs[0].incomplete.contains(&Torn));
}

#[test]
fn a_lost_message_is_noticed_by_the_numbers_of_its_test() {
    let text = messages();
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let is_printed = |line: &&[u8]| line.starts_with(b"{\"message_keyword\":\"NONE\"");
    let lost = lines.iter().position(is_printed).unwrap();
    let broken = &b"{\"message_keyword\":\"NO\n"[..];
    let text = [&lines[..lost], &[broken], &lines[lost + 1..]]
        .concat()
        .concat();
    let run = run(&Folder::new().put("raw.log", text));
    let texts: Vec<&str> = run
        .remarks
        .iter()
        .map(|remark| remark.text.as_str())
        .collect();
    assert!(
        texts
            .iter()
            .any(|text| text.contains("1 message is missing")),
        "{texts:?}"
    );
    assert!(
        texts
            .iter()
            .any(|text| text.contains("1 line is no message")),
        "{texts:?}"
    );
}

#[test]
fn of_very_many_tests_that_run_the_innermost_are_told() {
    let mut flow = super::flow::Flow::new(1_788_220_800.0);
    let mut root = flow.root("suite");
    for at in 0..49_999 {
        let mut feature = flow.begin(&mut root, &format!("f{at}"), "Suite", "Feature");
        flow.begin(&mut feature, "scenario", "Test", "Scenario");
    }
    let folder = Folder::with("raw.log", flow.text);
    let running = run(&folder.path().join("raw.log")).running;
    assert_eq!(running.len(), 20_000);
    for (at, test) in running.iter().enumerate() {
        let is_scenario = test.name.ends_with("/scenario");
        assert_eq!(
            (test.is_innermost, is_scenario),
            (is_scenario, at > 0 && at % 2 == 0)
        );
    }
}

#[test]
fn of_very_many_tests_that_a_report_begins_those_that_did_not_end_run() {
    let starts = (0..20_000).map(|at| format!("➤ Mar 14,2026 23:31:49 /s/t{at}\n"));
    let ends = (0..20_000).filter(|at| at % 2 == 0);
    let ends = ends.map(|at| format!("✔ 1s [ OK ] /s/t{at}\n"));
    let again =
        "➤ Mar 14,2026 23:31:49 /s/t1\n➤ Mar 14,2026 23:31:49 /s/t1/below\n✔ 1s [ OK ] /s/t1\n";
    let text: Vec<String> = starts.chain(ends).chain([again.to_owned()]).collect();
    let folder = Folder::with("stdout.log.txt", text.concat());
    let running = run(&folder.path().join("stdout.log.txt")).running;
    let names: Vec<&str> = running.iter().map(|test| test.name.as_str()).collect();
    let odd = (0..20_000).filter(|at| at % 2 == 1);
    let mut right: Vec<String> = odd.map(|at| format!("/s/t{at}")).collect();
    right.push("/s/t1/below".to_owned());
    assert_eq!(names, right);
    let outer: Vec<&str> = running
        .iter()
        .filter(|test| !test.is_innermost)
        .map(|test| test.name.as_str())
        .collect();
    assert_eq!(outer, ["/s/t1"]);
}
