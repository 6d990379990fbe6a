//! The small storms of the samples run again: no run of theirs is the incident, and every output must say what follows from it.

use casdiag::replay::{Counts, Replayed, Verdict, replay, write};
use casdiag::report::{REPORTS, Style};

use crate::product::{report, repository};

fn storm(sample: &str) -> Replayed {
    let report = report(&repository("samples/incidents").join(sample));
    let replayed = replay(&report);
    let storm = replayed.into_iter().find(|it| it.model == "relinks");
    storm.unwrap()
}

/// A replay in each output: as text, Markdown, page, and JSON.
fn outputs(sample: &str, one: &Replayed) -> [String; 4] {
    let mut report = report(&repository("samples/incidents").join(sample));
    report.replays = vec![one.value()];
    let mut text = Vec::new();
    write(std::slice::from_ref(one), &mut text).unwrap();
    let style = Style {
        color: false,
        width: 80,
    };
    let [markdown, html, json] = ["markdown", "html", "json"].map(|name| {
        let output = REPORTS.iter().find(|it| it.name == name).unwrap();
        let mut bytes = Vec::new();
        (output.write)(&report, &style, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    });
    [String::from_utf8(text).unwrap(), markdown, html, json]
}

#[test]
fn a_run_that_is_not_the_incident_recommends_no_change_in_any_output() {
    for sample in ["report-000", "report-001"] {
        let one = storm(sample);
        assert_eq!(one.verdict, Verdict::Not, "{one:#?}");
        assert!(one.fixes.len() > 5 && one.fixes.iter().all(|it| it.cures.is_none()));
        let why = one.untold.as_deref().unwrap();
        assert!(why.contains("does not reproduce the incident"), "{why}");
        let [text, markdown, html, json] = outputs(sample, &one);
        for output in [&text, &markdown, &html, &json] {
            assert!(output.contains(why), "{output}");
        }
        // One row for each change, and the baseline among them.
        let told = |output: &str, word: &str| output.matches(word).count();
        assert_eq!(told(&text, " cannot be told  "), one.fixes.len(), "{text}");
        assert_eq!(told(&markdown, "| cannot be told |"), one.fixes.len());
        assert_eq!(told(&html, ">cannot be told</span>"), one.fixes.len());
        assert_eq!(told(&html, ">cures</span>"), 0);
        assert_eq!(told(&markdown, "| cures |"), 1, "the header");
        assert!(!text.contains("  cures"), "{text}");
        let one_entry = |it: &String| it.contains(" 1 entries") || it.contains("; 1 entry wait ");
        assert!(!one.fixes.iter().any(|it| one_entry(&it.outcome)));
    }
}

#[test]
fn an_even_load_is_told_as_assumed_where_too_few_relinks_finished() {
    // 20 records of finished relinks in the one sample, 6 in the other.
    for (sample, finished) in [("report-000", "20 finished"), ("report-001", "6 finished")] {
        let one = storm(sample);
        let is_pace = |it: &str| it.contains("twelfth of the time");
        assert!(one.read.iter().all(|it| !is_pace(&it.what)), "{one:#?}");
        let assumed = one.assumed.iter().find(|it| is_pace(&it.what)).unwrap();
        assert!(assumed.from.starts_with(finished), "{assumed:?}");
        assert!(one.summary.contains("spread evenly"), "{}", one.summary);
    }
}

#[test]
fn the_sentence_names_each_row_that_is_too_far_off_and_the_rule() {
    let one = storm("report-000");
    assert!(one.summary.contains("within 20 %, fewer than half"));
    let mut far = 0;
    for row in &one.compared {
        let Some((observed, predicted)) = row.observed.zip(row.predicted) else {
            continue;
        };
        // More than a fifth of what was observed.
        let is_far = observed.abs_diff(predicted) * 5 > observed
            && matches!(row.counts, Counts::Yes | Counts::Unfitted);
        let named = format!(
            "{} at {} {observed} observed, {predicted} predicted",
            row.what, row.node
        );
        assert_eq!(
            one.summary.contains(&named),
            is_far,
            "{named}: {}",
            one.summary
        );
        far += u64::from(is_far);
    }
    assert!(far > 0);
}

#[test]
fn what_went_into_a_run_has_no_prediction_beside_it() {
    let one = storm("report-000");
    let given = one.compared.iter().filter(|it| it.counts == Counts::Given);
    // Two and three attempts at the catalog fail.
    let given: Vec<(Option<u64>, Option<u64>)> =
        given.map(|it| (it.observed, it.predicted)).collect();
    assert_eq!(given, [(Some(2), None), (Some(3), None)]);
    let [text, markdown, html, _] = outputs("report-000", &one);
    let row = "| requests for the catalog that failed | ch1 | 2 |  | given |";
    assert!(markdown.contains(row), "{markdown}");
    let is_row = |it: &&str| {
        it.trim_start().starts_with("requests for the catalog") && it.ends_with("given")
    };
    let row = text.lines().find(is_row).unwrap();
    assert_eq!(row.split_whitespace().rev().nth(1), Some("2"), "{row}");
    let (_, row) = html
        .split_once("<td>requests for the catalog that failed</td><td class=\"node\">ch1</td>")
        .unwrap();
    let (row, _) = row.split_once("</tr>").unwrap();
    assert!(row.contains("data-what=\"predicted\"></td>"), "{row}");
    // Each word that a row has is explained.
    for word in ["yes", "unfitted", "given", "handful"] {
        assert!(markdown.contains(&format!("`{word}`, ")), "{markdown}");
        assert!(html.contains(&format!("“{word}”, ")), "{word}");
    }
    assert!(one.fitted.iter().all(|it| it.what.ends_with(", ms")));
}
