//! Whatever a log, a path or a kept report says, the page holds no more than its own elements, attributes and script.

use std::collections::BTreeSet;

use casdiag::report::PLOTS;
use casdiag::report::model::Report;
use serde_json::{Value, json};

use super::{Parsed, page, samples};
use crate::product::Folder;

/// Everything at once: markup, ends of elements, links that run, marks that turn text around, escapes, comments.
const HOSTILE: &str = "x\"'><script>alert(1)</script></script></style></title><img src=x onerror=alert(2)>\
<a href=\"javascript:alert(3)\" onclick=\"alert(4)\">j</a><!-- \u{202e}evil\u{2066} \u{1b}[31m\u{9b}2J\u{0}\u{7} -->\
<svg onload=alert(5)><style>*{display:none}</style>]]>&lt;b&gt;&#x3c;i&#x3e;";

/// The elements that the page is made of.
const ELEMENTS: &[&str] = &[
    "a", "b", "body", "button", "circle", "code", "dd", "details", "div", "dl", "dt", "footer",
    "g", "h1", "h2", "h3", "h4", "head", "header", "html", "i", "input", "kbd", "li", "main",
    "meta", "nav", "ol", "option", "output", "p", "path", "rect", "script", "section", "select",
    "span", "style", "summary", "svg", "table", "tbody", "td", "text", "th", "thead", "title",
    "tr", "ul",
];

/// Attributes that could fetch or run something.
const FORBIDDEN: &[&str] = &[
    "style",
    "src",
    "srcdoc",
    "action",
    "formaction",
    "data",
    "xlink:href",
    "ping",
    "background",
];

fn assert_inert(page: &str) {
    let hidden = page.chars().find(|it| {
        it.is_control() && *it != '\n'
            || matches!(it, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
    });
    assert_eq!(hidden, None);
    let parsed = Parsed::of(page);
    assert_eq!(parsed.faults, [""; 0]);
    let names: BTreeSet<&str> = parsed.elements.iter().map(|it| it.name.as_str()).collect();
    let strange: Vec<&&str> = names.iter().filter(|it| !ELEMENTS.contains(it)).collect();
    assert!(strange.is_empty(), "{strange:?}");
    let mut ids = BTreeSet::new();
    for element in &parsed.elements {
        for (name, value) in &element.attributes {
            assert!(
                !name.starts_with("on") && !FORBIDDEN.contains(&name.as_str()),
                "{} {name}",
                element.name
            );
            if name == "href" {
                assert!(value.starts_with('#') && !value.contains(':'), "{value}");
            }
            if name == "id" {
                assert!(
                    ids.insert(value.clone()),
                    "two elements have the id {value}"
                );
            }
        }
    }
    let links = parsed.named("a").filter_map(|it| it.attribute("href"));
    let dead: Vec<&str> = links
        .filter(|it| !ids.contains(it.trim_start_matches('#')))
        .collect();
    assert_eq!(dead, [""; 0], "links to what is not on the page");
    assert_eq!(parsed.named("style").count(), 1);
    let scripts: Vec<_> = parsed.named("script").collect();
    let code: Vec<_> = scripts
        .iter()
        .filter(|it| it.attributes.is_empty())
        .collect();
    assert_eq!(code.len(), 1);
    assert!(
        !code[0].text.contains("alert"),
        "the script is the program's own"
    );
    for data in scripts.iter().filter(|it| !it.attributes.is_empty()) {
        assert_eq!(data.attribute("type"), Some("application/json"));
        let read: Result<Value, _> = serde_json::from_str(&data.text);
        assert!(read.is_ok(), "{read:?}");
    }
}

#[test]
fn samples_are_inert_and_well_formed() {
    for report in samples() {
        assert_inert(&page(&report));
    }
    assert_inert(&page(&Folder::new().report()));
}

#[test]
fn logs_and_paths_that_attack_are_text() {
    let folder = Folder::new();
    let name = "<img src=x onerror=alert(1)>\"'&lt;";
    let text = HOSTILE.replace('\u{0}', "");
    let refused = "Code: 210. DB::Exception: Source ch2 did not prove it still holds the manifest it offered for part all_1_1_0 by relink; the relink is abandoned and the fetch will be retried later. (NETWORK_ERROR)";
    let records = (0..30).map(|second| {
        format!(
            "2026.09.01 10:00:{second:02}.000000 [ 7 ] {{}} <Error> {text}: {refused}\n\
             2026.09.01 10:00:{second:02}.500000 [ 8 ] {{}} <Error> {text}: Code: 49. {text}\n{text}\n"
        )
    });
    let log: String = records.collect();
    folder.put(&format!("{name}/clickhouse-server.log"), &log);
    folder.put("javascript:alert(1)", &log);
    let report = folder.report();
    let page = page(&report);
    assert_inert(&page);
    assert!(
        page.contains("onerror=alert(2)&gt;"),
        "the text is shown all the same"
    );
    assert!(
        page.contains("\\u{202e}evil"),
        "what is invisible is written out"
    );
}

/// Puts the attack into every text of a report but those whose words are fixed; `times`: into stamps too.
fn poison(value: &mut Value, key: &str, times: bool) {
    const WORDS: &[&str] = &[
        "schema",
        "severity",
        "fail_on",
        "confidence",
        "role",
        "level",
        "log_level",
        "applies",
        "tone",
    ];
    const TIMES: &[&str] = &["first", "last", "at", "start"];
    match value {
        Value::String(text) => {
            let is_word =
                WORDS.contains(&key) || key == "kind" && !text.contains('-') && text.len() < 11;
            if !is_word && (times || !TIMES.contains(&key)) {
                text.push_str(HOSTILE);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|it| poison(it, key, times)),
        Value::Object(fields) => {
            let names: Vec<String> = fields.keys().cloned().collect();
            for name in names {
                poison(&mut fields[&name], &name, times);
            }
            if matches!(
                key,
                "by" | "top" | "counts" | "counts_by_node" | "subjects" | "by_level" | "by_node"
            ) {
                let inner = fields.clone();
                fields.extend(
                    inner
                        .into_iter()
                        .map(|(name, it)| (format!("{name}{HOSTILE}"), it)),
                );
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[test]
fn a_kept_report_that_attacks_in_every_field_is_text() {
    for times in [false, true] {
        for report in samples() {
            let mut value = serde_json::to_value(&report).unwrap();
            value["wal"] = wal();
            value["replays"] = replays();
            poison(&mut value, "", times);
            let poisoned: Report = serde_json::from_value(value).unwrap();
            let html = page(&poisoned);
            assert!(
                html.matches("alert(2)").count() > 100,
                "the attack is shown"
            );
            assert_inert(&html);
            for plot in PLOTS {
                let svg = (plot.draw)(&poisoned).unwrap_or_default();
                let parsed = Parsed::of(&svg);
                let names: BTreeSet<&str> =
                    parsed.elements.iter().map(|it| it.name.as_str()).collect();
                let own = [
                    "circle", "line", "polygon", "polyline", "rect", "style", "svg", "text",
                ];
                assert!(names.iter().all(|it| own.contains(it)), "{names:?}");
                assert!(!svg.contains(['\u{202e}', '\u{1b}', '\u{0}']));
            }
        }
    }
}

/// A WAL as `report.json` has it, with a hole and a misfiled record.
fn wal() -> Value {
    let segment = |file: &str, name: Value, first: u64, last: u64| {
        serde_json::json!({
            "file": file, "size": 512, "records": last - first + 1, "entries": last - first + 1, "name_lsn": name,
            "first_lsn": first, "last_lsn": last, "end_offset": 512, "tail": "none",
        })
    };
    serde_json::json!([{
        "path": "data/n1", "run": ".", "node": "n1", "layout": "reference", "verdict": "damaged", "records": 20,
        "segments": [segment("a", 1.into(), 1, 9), segment("b", "0x14".into(), 15, 25)],
        "problems": [{
            "kind": "misfiled", "severity": "damage", "segment": "b", "lsn": 15, "lsn_to": 19,
            "detail": "15..19 stand in b", "consequence": "a reader by name does not find them",
        }],
        "notes": [], "found": [], "misfiled": [{"range": [15, 19], "segment": "b"}], "missing": [[10, 14]],
        "in_snapshot": [], "unread": [],
    }])
}

#[test]
fn a_wal_is_drawn_with_its_holes() {
    let mut value = serde_json::to_value(Folder::new().report()).unwrap();
    value["wal"] = wal();
    let report: Report = serde_json::from_value(value).unwrap();
    let page = page(&report);
    assert_inert(&page);
    let parsed = Parsed::of(&page);
    let bars = |class: &str| -> Vec<(i64, i64)> {
        let number = |it: Option<&str>| it.unwrap().parse::<i64>().unwrap();
        let rects = parsed
            .named("rect")
            .filter(|it| it.attribute("class") == Some(class));
        rects
            .map(|it| (number(it.attribute("x")), number(it.attribute("width"))))
            .collect()
    };
    // 25 positions from 1 to 25 over 1000 units: 40 each.
    assert_eq!(bars("held"), [(0, 360), (560, 440)]);
    assert_eq!(bars("missing"), [(360, 200)]);
    assert_eq!(bars("damage"), [(560, 200)]);
    assert_eq!(
        bars("named").iter().map(|it| it.0).collect::<Vec<_>>(),
        [0, 760]
    );
    let svg = PLOTS
        .iter()
        .find_map(|it| (it.file == "plots/wal.svg").then(|| (it.draw)(&report)));
    assert!(svg.flatten().unwrap().contains("data/n1: damaged"));
}

#[test]
fn what_is_not_on_the_page_is_not_linked() {
    let mut report = samples().remove(1);
    report.signals.clear();
    for finding in &mut report.findings {
        finding.caused_by.push("F99".to_owned());
    }
    let page = page(&report);
    assert!(page.contains(">F99<"), "it is named all the same");
    assert_inert(&page);
}

/// Findings run again, with a text in every place where a text can be.
fn replays() -> Value {
    let fact = json!({ "what": "a", "value": "b", "from": "c" });
    json!([{
        "finding": "F1",
        "model": "relinks",
        "verdict": "partly",
        "summary": "s",
        "read": [fact],
        "assumed": [fact],
        "fitted": [{ "what": "f", "value": 1, "least": 0, "most": 2, "is_cut": true }],
        "compared": [{ "what": "refused", "node": "n", "observed": 1, "predicted": 2, "error": 1.0, "counts": "yes" }],
        "unbalanced": [fact],
        "at_odds": [fact],
        "candidates": [{ "candidate": "k", "verdict": "against", "reason": "r", "read": [fact] }],
        "fixes": [{ "fix": "A", "cures": true, "outcome": "o" }],
        "untold": "u",
        "trace": ["t"],
    }])
}
