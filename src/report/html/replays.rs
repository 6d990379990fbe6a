//! Findings run again in the reference engine: what was observed beside what the run predicts, what the run rests on, and what
//! each change would have made of it.

use serde_json::Value;

use crate::report::figures::thousands;
use crate::report::model::replays::{capital, cure, helped, legend, shown};

use super::markup::Markup;
use super::remainder::table;
use super::sheet::Sheet;

/// Replays, and the bytes for all of them.
const REPLAYS_MAX: usize = 40;
const REPLAY_BYTES: usize = 250_000;

/// Rows and items of one.
const ROWS_MAX: usize = 120;
const ITEMS_MAX: usize = 60;

/// What bars are drawn in: the longest one is as long.
const BAR: u64 = 100;

/// Writes what was run again, if anything was.
pub(super) fn write(sheet: &Sheet<'_>, page: &mut Markup) {
    let replays = &sheet.report.replays;
    if replays.is_empty() {
        return;
    }
    page.section("replays", "Run again", |page| {
        page.leaf(
            "p",
            &[("class", "sub")],
            "Findings as runs of the reference engine, made from what the records show. What a run predicts stands beside what was observed.",
        );
        let left = page.bounded(replays, REPLAYS_MAX, REPLAY_BYTES, one);
        page.left_out(left, "replays");
    });
}

fn one(page: &mut Markup, replay: &Value) {
    let verdict = word(replay, "verdict");
    let (class, shown) = match verdict {
        "reproduced" => ("outcome reproduced", "reproduced"),
        "partly" => ("outcome partly", "partly reproduced"),
        "not" => ("outcome not", "not reproduced"),
        _ => ("outcome", "not run again"),
    };
    page.el("div", &[("class", "replay it")], |page| {
        page.el("p", &[("class", "badges")], |page| {
            let finding = word(replay, "finding");
            page.link(finding, &[], |page| page.text(finding));
            page.leaf("span", &[("class", class)], shown);
        });
        page.leaf("p", &[], word(replay, "summary"));
        compared(replay, page);
        page.el("div", &[("class", "two")], |page| {
            page.el("div", &[], |page| {
                facts("Read from the records", &replay["read"], page);
            });
            page.el("div", &[], |page| {
                facts("Assumed", &replay["assumed"], page);
                fitted(&replay["fitted"], page);
            });
        });
        facts("Not balanced, and not fitted", &replay["unbalanced"], page);
        facts("As in no run of the model", &replay["at_odds"], page);
        candidates(&replay["candidates"], page);
        fixes(replay, page);
        trace(&replay["trace"], page);
    });
}

fn word<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn rows(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// Observed beside predicted, with bars as long as the numbers.
fn compared(replay: &Value, page: &mut Markup) {
    let all = rows(&replay["compared"]);
    if all.is_empty() {
        return;
    }
    // A position is met or not: how large its number is says nothing.
    let has_bars = word(replay, "model") != "controllers";
    let mut header = vec!["What", "Node", "Observed", "Predicted", "Apart", "Counts"];
    header.extend(has_bars.then_some("Observed (upper bar) and predicted (lower bar)"));
    let mut left = 0;
    table(&header, page, |page| {
        left = page.bounded(all, ROWS_MAX, REPLAY_BYTES, |page, row| {
            page.el("tr", &[], |page| {
                page.leaf("td", &[], word(row, "what"));
                page.leaf("td", &[("class", "node")], word(row, "node"));
                let observed = row["observed"].as_u64();
                let text = observed.map_or_else(|| "not here".to_owned(), thousands);
                number("observed", &text, page);
                // Of what a run was made from it predicts nothing.
                let predicted = row["predicted"].as_u64();
                let text = predicted.map_or_else(String::new, thousands);
                number("predicted", &text, page);
                number("apart", &apart(row), page);
                let counts = shown(word(row, "counts"));
                page.leaf("td", &[("data-what", "counts")], &counts);
                if has_bars {
                    let longest = longest(all, word(row, "what"));
                    page.el("td", &[("class", "pair")], |page| {
                        bars(observed, predicted, longest, page);
                    });
                }
            });
        });
    });
    page.left_out(left, "rows");
    if has_bars {
        page.el("p", &[("class", "more pairs")], |page| {
            for (class, text) in [
                ("observed", "observed, the upper bar"),
                ("predicted", "predicted, the lower bar"),
            ] {
                page.el("span", &[("class", "key")], |page| {
                    let mark = [("viewBox", "0 0 10 5"), ("aria-hidden", "true")];
                    page.el("svg", &mark, |page| {
                        let rect = [("class", class), ("width", "10"), ("height", "5")];
                        page.el("rect", &rect, |_| {});
                    });
                    page.text(text);
                });
            }
        });
    }
    let words = legend(all);
    let words = words
        .iter()
        .map(|(word, means)| format!("“{word}”, {means}"));
    let words: Vec<String> = words.collect();
    if !words.is_empty() {
        let text = format!("Counts: {}.", words.join("; "));
        page.leaf("p", &[("class", "more")], &text);
    }
}

fn number(what: &str, text: &str, page: &mut Markup) {
    page.leaf("td", &[("class", "n"), ("data-what", what)], text);
}

/// How far a prediction is from what was observed, with its sign.
fn apart(row: &Value) -> String {
    let (observed, predicted) = (row["observed"].as_u64(), row["predicted"].as_u64());
    let error = row["error"].as_f64().filter(|it| it.is_finite());
    let Some(((observed, predicted), error)) = observed.zip(predicted).zip(error) else {
        return String::new();
    };
    let sign = if predicted < observed { "−" } else { "+" };
    format!("{sign}{:.1} %", error * 100.0)
}

/// The largest number of the rows that count the same.
fn longest(rows: &[Value], what: &str) -> u64 {
    let same = rows.iter().filter(|it| word(it, "what") == what);
    let numbers = same.flat_map(|it| [&it["observed"], &it["predicted"]]);
    numbers.filter_map(Value::as_u64).max().unwrap_or(0).max(1)
}

fn bars(observed: Option<u64>, predicted: Option<u64>, longest: u64, page: &mut Markup) {
    let view = format!("0 0 {BAR} 14");
    let long = |it: u64| {
        let long = u128::from(it) * u128::from(BAR) * 10 / u128::from(longest);
        format!("{}.{}", long / 10, long % 10)
    };
    page.el(
        "svg",
        &[
            ("viewBox", &view),
            ("preserveAspectRatio", "none"),
            ("aria-hidden", "true"),
        ],
        |page| {
            let each = [(observed, "1", "observed"), (predicted, "8", "predicted")];
            for (count, top, class) in each {
                let Some(count) = count else { continue };
                let width = long(count);
                let rect = [
                    ("class", class),
                    ("y", top),
                    ("width", width.as_str()),
                    ("height", "5"),
                ];
                page.el("rect", &rect, |_| {});
            }
        },
    );
}

/// A list of what is known and from where.
fn facts(heading: &str, facts: &Value, page: &mut Markup) {
    let facts = rows(facts);
    if facts.is_empty() {
        return;
    }
    page.leaf("h4", &[], heading);
    page.el("ul", &[], |page| {
        let left = page.bounded(facts, ITEMS_MAX, REPLAY_BYTES, fact);
        page.left_out(left, "facts");
    });
}

fn fact(page: &mut Markup, fact: &Value) {
    page.el("li", &[], |page| {
        page.text(&format!("{}: ", word(fact, "what")));
        page.leaf("b", &[], word(fact, "value"));
        page.leaf(
            "span",
            &[("class", "dim")],
            &format!(" ({})", word(fact, "from")),
        );
    });
}

fn fitted(fitted: &Value, page: &mut Markup) {
    let fitted = rows(fitted);
    if fitted.is_empty() {
        return;
    }
    page.leaf("h4", &[], "Fitted, with the range that fits as well");
    page.el("ul", &[], |page| {
        page.bounded(fitted, ITEMS_MAX, REPLAY_BYTES, |page, it| {
            let number = |key: &str| thousands(it[key].as_u64().unwrap_or(0));
            page.el("li", &[], |page| {
                page.text(&format!("{}: ", word(it, "what")));
                page.leaf("b", &[], &number("value"));
                page.text(&format!(" ({} to {})", number("least"), number("most")));
                if it["is_cut"] == true {
                    page.leaf(
                        "p",
                        &[("class", "warn")],
                        "The budget of the search ended before it: the range may be wider.",
                    );
                }
            });
        });
    });
}

fn candidates(candidates: &Value, page: &mut Markup) {
    let candidates = rows(candidates);
    if candidates.is_empty() {
        return;
    }
    page.leaf(
        "h4",
        &[],
        "Suspected of the connections that broke beside it",
    );
    page.el("ul", &[], |page| {
        page.bounded(candidates, ITEMS_MAX, REPLAY_BYTES, |page, it| {
            page.el("li", &[], |page| {
                page.text(&format!("{}: ", word(it, "candidate")));
                page.leaf("b", &[], &shown(word(it, "verdict")));
                page.text(&format!(": {}", word(it, "reason")));
                let read = rows(&it["read"]);
                page.el("ul", &[], |page| {
                    page.bounded(read, ITEMS_MAX, REPLAY_BYTES, fact);
                });
            });
        });
    });
}

fn fixes(replay: &Value, page: &mut Markup) {
    let fixes = rows(&replay["fixes"]);
    if fixes.is_empty() {
        return;
    }
    let untold = replay["untold"].as_str();
    page.leaf("h4", &[], "What would have helped here");
    if untold.is_some() {
        page.leaf(
            "p",
            &[("class", "warn")],
            &format!("{}.", capital(&helped(untold))),
        );
    }
    table(&["Change", "Cures", "What comes of it"], page, |page| {
        page.bounded(fixes, ITEMS_MAX, REPLAY_BYTES, |page, it| {
            page.el("tr", &[], |page| {
                page.el("td", &[], |page| page.leaf("code", &[], word(it, "fix")));
                let cures = it["cures"].as_bool();
                let class = match cures {
                    Some(true) => "outcome reproduced",
                    Some(false) => "outcome not",
                    None => "outcome",
                };
                page.el("td", &[], |page| {
                    page.leaf("span", &[("class", class)], cure(cures));
                });
                page.leaf("td", &[], word(it, "outcome"));
            });
        });
    });
}

fn trace(trace: &Value, page: &mut Markup) {
    let trace = rows(trace);
    if trace.is_empty() {
        return;
    }
    page.leaf("h4", &[], "The shortest way to it");
    page.el("ol", &[], |page| {
        let steps = trace.iter().filter_map(Value::as_str);
        let left = page.bounded(steps, ITEMS_MAX, REPLAY_BYTES, |page, it| {
            page.leaf("li", &[], it);
        });
        page.left_out(left, "steps");
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_distance_has_its_sign() {
        let row = |observed: Value, predicted: u64, counts: &str| json!({ "observed": observed, "predicted": predicted, "error": 0.105, "counts": counts });
        assert_eq!(apart(&row(json!(17_092), 15_293, "yes")), "−10.5 %");
        assert_eq!(apart(&row(json!(200), 221, "yes")), "+10.5 %");
        let given = json!({ "observed": 46, "predicted": null, "error": null, "counts": "given" });
        assert_eq!(apart(&given), "");
        assert_eq!(apart(&row(Value::Null, 20, "yes")), "");
    }

    #[test]
    fn bars_are_as_long_as_their_numbers_and_texts_are_inert() {
        let replay = json!({
            "finding": "F1", "model": "relinks", "verdict": "partly", "summary": "<b>x",
            "compared": [
                { "what": "refused", "node": "<i>", "observed": 50, "predicted": 200, "error": 3.0, "counts": "in-total" },
                { "what": "refused", "node": "b", "observed": null, "predicted": 25, "error": null, "counts": "yes" },
            ],
            "untold": "<u>y",
            "fixes": [{ "fix": "as it was", "cures": null, "outcome": "z" }],
            "fitted": [{ "what": "a request, us", "value": 7, "least": 5, "most": 9, "is_cut": true }],
        });
        let mut page = Markup::default();
        one(&mut page, &replay);
        let text = page.page();
        assert!(text.contains("cannot be told: &lt;u&gt;y."), "{text}");
        assert!(text.contains(">cannot be told</span>") && !text.contains(">cures<"));
        assert!(
            text.contains("&lt;b&gt;x") && text.contains("&lt;i&gt;"),
            "{text}"
        );
        for width in ["25.0", "100.0", "12.5"] {
            assert!(text.contains(&format!("width=\"{width}\"")), "{text}");
        }
        assert_eq!(
            text.matches("<rect").count(),
            3 + 2,
            "what is not here has no bar; two tell the colors"
        );
        assert!(
            text.contains("in total") && text.contains("may be wider"),
            "{text}"
        );
    }
}
