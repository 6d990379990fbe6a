//! The page stays below 2 MB whatever the report, and says what it leaves out.

use std::collections::BTreeSet;

use casdiag::report::model::Report;
use serde_json::{Value, json};

use super::{Parsed, page, samples};

const BYTES_MAX: usize = 2_000_000;

/// A list of a report, repeated until it has so many items; each is changed by its number.
fn repeat(value: &mut Value, key: &str, count: usize, change: impl Fn(&mut Value, usize)) {
    let seeds = value[key].as_array().unwrap().clone();
    let items = (0..count).map(|at| {
        let mut item = seeds[at % seeds.len()].clone();
        change(&mut item, at);
        item
    });
    value[key] = items.collect();
}

/// A report of hundreds of nodes that found everything, with texts as long as texts get.
fn huge(filler: &str) -> Report {
    let mut value = serde_json::to_value(&samples()[1]).unwrap();
    let long = filler.repeat(2_000);
    let node = |at: usize| format!("node-{}", at % 300);
    repeat(&mut value, "findings", 3_000, |it, at| {
        it["id"] = json!(format!("F{at}"));
        it["title"] = json!(format!("{at} {long}"));
        it["mechanism"] = json!(long);
        it["nodes"] = (0..300).map(node).collect();
        for evidence in it["evidence"].as_array_mut().unwrap() {
            evidence["text"] = json!(long);
            evidence["before"] = json!([long, long]);
        }
    });
    repeat(&mut value, "incidents", 3_000, |it, at| {
        it["id"] = json!(format!("I{at}"));
    });
    repeat(&mut value, "inputs", 20_000, |it, at| {
        it["path"] = json!(format!("{at}/{long}"));
        it["node"] = json!(node(at));
    });
    repeat(&mut value, "signals", 30_000, |it, at| {
        it["signal"] = json!(format!("signal-{}", at / 300));
        it["node"] = json!(node(at));
        it["what"] = json!(long);
    });
    repeat(&mut value, "balances", 500, |it, at| {
        it["name"] = json!(format!("{at} {long}"));
    });
    repeat(&mut value, "environment", 5_000, |it, at| {
        it["node"] = json!(format!("{long}{at}"));
    });
    repeat(&mut value, "not_observable", 5_000, |it, at| {
        it["why"] = json!(format!("{at} {long}"));
    });
    value["coverage"]["unexplained"] = (0..5_000)
        .map(|at| json!({"template": format!("{at} {long}"), "level": "error", "count": 1, "example": null}))
        .collect();
    let timeline = &mut value["timeline"];
    repeat(timeline, "series", 30_000, |it, at| {
        it["signal"] = json!(format!("signal-{}", at / 300));
        it["node"] = json!(node(at));
        it["points"] = (0..360)
            .map(|second| json!([second * 7, 1_000_000_000]))
            .collect();
    });
    repeat(timeline, "marks", 5_000, |it, at| {
        it["node"] = json!(node(at));
        it["text"] = json!(long);
    });
    repeat(timeline, "strips", 400, |it, at| {
        it["name"] = json!(format!("{at} {long}"));
    });
    serde_json::from_value(value).unwrap()
}

#[test]
fn no_report_makes_a_page_of_two_megabytes() {
    // One byte, a character that is written out long, and one that is escaped.
    for filler in ["a", "\u{e0041}", "\""] {
        let report = huge(filler);
        let page = page(&report);
        assert!(page.len() < BYTES_MAX, "{} bytes", page.len());
        let parsed = Parsed::of(&page);
        assert_eq!(parsed.faults, [""; 0]);
        let ids: BTreeSet<&str> = parsed
            .elements
            .iter()
            .filter_map(|it| it.attribute("id"))
            .collect();
        let links = parsed.named("a").filter_map(|it| it.attribute("href"));
        let dead: Vec<&str> = links.filter(|it| !ids.contains(&it[1..])).collect();
        assert_eq!(dead, [""; 0], "links to what was left out");
        let told = parsed
            .named("details")
            .filter(|it| it.has_class("finding"))
            .count();
        assert!(told > 0, "the worst is told");
        let rest = format!("{} more findings: see report.json", grouped(3_000 - told));
        assert!(page.contains(&rest), "{rest}");
        assert!(page.contains("more inputs: see report.json"));
        assert!(page.contains("more templates: see report.json"));
    }
}

fn grouped(count: usize) -> String {
    match (count / 1000, count % 1000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{thousands},{rest:03}"),
    }
}
