//! What is left: what could not be seen, who knows it already, what to do, and which records nothing explains.

use std::collections::BTreeMap;

use crate::report::counts::node_name;
use crate::report::diagnosis;
use crate::report::escape::{markdown_inline, markdown_line};
use crate::report::exported;
use crate::report::figures::{counted, names, share, thousands};
use crate::report::model::replays::{capital, cure, helped, legend, shown};
use crate::report::model::{Applies, Evidence, Report};

use super::behavior::cited;
use super::page::Page;
use super::told;

/// Items of a list.
const ITEMS_MAX: usize = 20;

/// Writes the rest of the issue.
pub(super) fn write(report: &Report, page: &mut Page) {
    not_observable(report, page);
    known(report, page);
    next_steps(report, page);
    unexplained(report, page);
    counters(report, page);
    elsewhere(report, page);
}

fn not_observable(report: &Report, page: &mut Page) {
    let mut nodes: BTreeMap<(&str, &str, &str), Vec<String>> = BTreeMap::new();
    for missed in &report.not_observable {
        let of_signal = nodes
            .entry((&missed.signal, &missed.why, &missed.collect))
            .or_default();
        let node = node_name(report, &missed.run, &missed.node);
        if !of_signal.contains(&node) {
            of_signal.push(node);
        }
    }
    if nodes.is_empty() {
        return;
    }
    page.section("Not observable here, and what to collect");
    let items: Vec<String> = nodes
        .iter()
        .map(|((signal, why, collect), nodes)| {
            let (signal, nodes) = (
                markdown_inline(signal),
                markdown_inline(&names(nodes, ITEMS_MAX)),
            );
            format!(
                "{signal} on {nodes}: {}. Collect: {}",
                trimmed(why),
                markdown_line(collect)
            )
        })
        .collect();
    list(&items, "signals", page);
}

fn known(report: &Report, page: &mut Page) {
    let mut items: Vec<String> = Vec::new();
    for known in told(report).iter().flat_map(|it| &it.known) {
        let fixed = known.fixed_in.as_deref().map_or_else(
            || "no fixed version known".to_owned(),
            |it| format!("fixed in {}", markdown_inline(it)),
        );
        let applies = match known.applies {
            Applies::Yes => "a version here is older than the fix",
            Applies::No => "every version here has the fix, so this is something else or a relapse",
            Applies::Unknown => "the versions here do not say whether it applies",
        };
        let item = format!("{}: {fixed}; {applies}", markdown_inline(&known.reference));
        if !items.contains(&item) {
            items.push(item);
        }
    }
    if !items.is_empty() {
        page.section("Known issues");
        list(&items, "issues", page);
    }
}

fn next_steps(report: &Report, page: &mut Page) {
    let mut items: Vec<String> = Vec::new();
    for step in told(report).iter().flat_map(|it| &it.next_steps) {
        let item = markdown_line(step);
        if !items.contains(&item) {
            items.push(item);
        }
    }
    if !items.is_empty() {
        page.section("Next steps");
        list(&items, "steps", page);
    }
}

fn unexplained(report: &Report, page: &mut Page) {
    if report.records.total == 0 {
        return;
    }
    let coverage = &report.coverage;
    page.section("Unexplained");
    if coverage.error_records == 0 {
        page.block("There is no Error or Fatal record.");
    } else {
        page.block(&format!(
            "Explained: {} of {} ({}).",
            thousands(coverage.explained),
            counted(
                coverage.error_records,
                "Error or Fatal record",
                "Error and Fatal records"
            ),
            share(coverage.explained, coverage.error_records),
        ));
    }
    if !coverage.unexplained.is_empty() {
        let header = ["Count:", "Level", "Message", "First"].map(str::to_owned);
        let rows: Vec<Vec<String>> = coverage
            .unexplained
            .iter()
            .take(ITEMS_MAX)
            .map(|it| {
                let level = it.level.class().key().to_owned();
                vec![
                    thousands(it.count),
                    level,
                    markdown_inline(&it.template),
                    place(it.example.as_ref()),
                ]
            })
            .collect();
        page.table(&header, &rows);
        page.left_out(coverage.unexplained.len(), ITEMS_MAX, "templates");
    }
    if !coverage.near_misses.is_empty() {
        page.block("These hold a signal's text and do not fit it; the message may have changed:");
        for near in coverage.near_misses.iter().take(ITEMS_MAX) {
            let head = format!(
                "{} near {}",
                thousands(near.count),
                markdown_inline(&near.signal)
            );
            page.block(
                &near
                    .example
                    .as_ref()
                    .map_or_else(|| head.clone(), |it| format!("{head}, first {}", cited(it))),
            );
        }
        page.left_out(coverage.near_misses.len(), ITEMS_MAX, "near misses");
    }
    if !coverage.ignored.is_empty() {
        page.block("Left out by request:");
        let items: Vec<String> = coverage
            .ignored
            .iter()
            .map(|it| markdown_line(&diagnosis::ignored(it)))
            .collect();
        list(&items, "entries", page);
    }
}

fn counters(report: &Report, page: &mut Page) {
    let sentences = exported::sentences(report);
    if !sentences.is_empty() {
        page.section("Error counters of exported tables");
        let items: Vec<String> = sentences.iter().map(|it| markdown_line(it)).collect();
        list(&items, "nodes", page);
    }
}

fn elsewhere(report: &Report, page: &mut Page) {
    let summaries = report
        .replays
        .iter()
        .filter_map(|it| it["summary"].as_str());
    let items: Vec<String> = summaries.map(markdown_line).collect();
    if !items.is_empty() {
        page.section("Run again in the reference engine");
        list(&items, "replays", page);
    }
    for replay in report.replays.iter().take(ITEMS_MAX) {
        compared(replay, page);
        resting(replay, page);
        fixes(replay, page);
        let candidates = replay["candidates"].as_array();
        let candidates = candidates.into_iter().flatten().map(|it| {
            let word = |key: &str| it[key].as_str().unwrap_or_default();
            let verdict = shown(word("verdict"));
            markdown_line(&format!(
                "{}: {verdict}: {}",
                word("candidate"),
                word("reason")
            ))
        });
        let candidates: Vec<String> = candidates.collect();
        if !candidates.is_empty() {
            list(&candidates, "suspicions", page);
        }
    }
}

/// What was fitted for a replay, with its range, and what the records show that no run is like.
fn resting(replay: &serde_json::Value, page: &mut Page) {
    let rows = |key: &str| replay[key].as_array().map_or(&[][..], Vec::as_slice);
    let word = |it: &serde_json::Value, key: &str| {
        let text = it[key].as_str().map(str::to_owned);
        text.unwrap_or_else(|| it[key].to_string())
    };
    let fitted = rows("fitted").iter().map(|it| {
        let cut = if it["is_cut"] == true {
            ", cut short by the budget of the search: it may be wider"
        } else {
            ""
        };
        let of = |key: &str| word(it, key);
        let (what, value, least, most) = (of("what"), of("value"), of("least"), of("most"));
        markdown_line(&format!("fitted, {what}: {value} ({least} to {most}{cut})"))
    });
    let odds = rows("at_odds").iter().map(|it| {
        let of = |key: &str| word(it, key);
        let (what, value, from) = (of("what"), of("value"), of("from"));
        markdown_line(&format!("as in no run, {what}: {value} ({from})"))
    });
    let items: Vec<String> = fitted.chain(odds).collect();
    if !items.is_empty() {
        list(&items, "facts", page);
    }
}

/// What a replay predicts beside what was observed, and which rows do not count.
fn compared(replay: &serde_json::Value, page: &mut Page) {
    let rows = replay["compared"].as_array().map_or(&[][..], Vec::as_slice);
    if rows.is_empty() {
        return;
    }
    let header = ["what", "node", "observed", "predicted", "counts"].map(str::to_owned);
    let word = |it: &serde_json::Value| {
        let text = it.as_str().map_or_else(|| it.to_string(), str::to_owned);
        markdown_inline(&text)
    };
    let cells = rows.iter().take(2 * ITEMS_MAX).map(|it| {
        let observed = if it["observed"].is_null() {
            "not here".to_owned()
        } else {
            word(&it["observed"])
        };
        // Of what a run was made from it predicts nothing.
        let predicted = if it["predicted"].is_null() {
            String::new()
        } else {
            word(&it["predicted"])
        };
        vec![
            word(&it["what"]),
            word(&it["node"]),
            observed,
            predicted,
            word(&shown(it["counts"].as_str().unwrap_or_default()).into()),
        ]
    });
    page.table(&header, &cells.collect::<Vec<_>>());
    page.left_out(rows.len(), 2 * ITEMS_MAX, "rows");
    let legend = legend(rows);
    let words = legend
        .iter()
        .map(|(word, means)| format!("`{word}`, {means}"));
    let words: Vec<String> = words.collect();
    if !words.is_empty() {
        page.block(&format!("Counts: {}.", words.join("; ")));
    }
}

/// What each change would have made of a replay's incident, or why that cannot be told.
fn fixes(replay: &serde_json::Value, page: &mut Page) {
    let rows = replay["fixes"].as_array().map_or(&[][..], Vec::as_slice);
    if rows.is_empty() {
        return;
    }
    let untold = replay["untold"].as_str();
    let helped = markdown_line(&capital(&helped(untold)));
    let end = if untold.is_some() { "." } else { ":" };
    page.block(&format!("{helped}{end}"));
    let header = ["change", "cures", "what comes of it"].map(str::to_owned);
    let cells = rows.iter().take(ITEMS_MAX).map(|it| {
        let word = |key: &str| markdown_inline(it[key].as_str().unwrap_or_default());
        let cures = cure(it["cures"].as_bool()).to_owned();
        vec![word("fix"), cures, word("outcome")]
    });
    page.table(&header, &cells.collect::<Vec<_>>());
    page.left_out(rows.len(), ITEMS_MAX, "changes");
}

fn list(items: &[String], what: &str, page: &mut Page) {
    page.list(items.get(..ITEMS_MAX).unwrap_or(items));
    page.left_out(items.len(), ITEMS_MAX, what);
}

fn place(example: Option<&Evidence>) -> String {
    example.map_or_else(String::new, |it| {
        markdown_inline(&format!("{}:{}", it.path, it.line))
    })
}

/// Prose without its full stop, to go on behind it.
fn trimmed(text: &str) -> String {
    markdown_line(text.trim().trim_end_matches('.'))
}
