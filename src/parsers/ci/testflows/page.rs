//! `report.html`: the page that `tfs report results` makes, of which the totals and attributes are read.
//!
//! Its list of failing tests leaves out every test whose parent is no suite, so it is not taken for the leaves.

use std::io::{BufRead, Read};

use super::{level_of_word, seconds};
use crate::parsers::ci::model::{Duration, Incomplete, RemarkKind, TestRun, Total};
use crate::parsers::ci::{Form, Reading};

/// A page is some megabytes at most: it holds one line per test.
const PAGE_BYTES_MAX: u64 = 64 << 20;

/// Whether a source is such a page.
pub(in crate::parsers::ci) fn claims(sample: &[u8]) -> bool {
    let finds = |text: &[u8]| memchr::memmem::find(sample, text).is_some();
    let is_page = sample.trim_ascii_start().starts_with(b"<")
        && (finds(b"<html") || finds(b"<!DOCTYPE") || finds(b"<style"));
    is_page && (finds(b"testflows") || finds(b"TestFlows"))
}

/// Reads the page.
pub(in crate::parsers::ci) fn read(reader: &mut dyn BufRead) -> Reading {
    let mut bytes = Vec::new();
    let error = reader.take(PAGE_BYTES_MAX).read_to_end(&mut bytes).err();
    let html = String::from_utf8_lossy(&bytes);
    let mut run = TestRun::new(Form::TestFlowsPage);
    let place = run.place;
    let said = "its tables hold only tests whose parent is a suite; failing tests below scenarios are not in it";
    run.remark(RemarkKind::LeavesOut, said, place);
    let mut results = Vec::new();
    for row in rows(&html) {
        match row.as_slice() {
            [_, units, words @ ..] if units == "Units" => results = words.to_vec(),
            [name, value] if run.attributes.len() < 1000 => {
                run.attributes.insert(name.clone(), value.clone());
            }
            [level, units, counts @ ..] => statistics(level, units, counts, &results, &mut run),
            _ => {}
        }
    }
    if let Some(seconds) = run
        .attributes
        .get("Duration")
        .and_then(|time| seconds(time))
    {
        let rule = "`Duration` of the page, cut to two units";
        run.durations.push(Duration { seconds, rule });
    }
    run.name = heading(&html).unwrap_or_default();
    if run.stated.is_empty() {
        run.incomplete.push(Incomplete::NoEnd);
        let said = "the page has no statistics: it was made from a run without an end";
        run.remark(RemarkKind::Unreadable, said, place);
    }
    Reading {
        runs: vec![run],
        lines: u64::try_from(memchr::memchr_iter(b'\n', &bytes).count()).unwrap_or(u64::MAX),
        error: error.map(|error| error.to_string()),
        ..Reading::default()
    }
}

/// A row of the statistics: a level, how many, and counts of the results that the head of the table names.
fn statistics(level: &str, units: &str, counts: &[String], results: &[String], run: &mut TestRun) {
    let level = level_of_word(&level.to_lowercase());
    let (Some(level), Ok(units)) = (level, units.parse()) else {
        return;
    };
    let mut total = Total::new(level);
    total.units = units;
    for (count, result) in counts.iter().zip(results) {
        if let Ok(count @ 1..) = count.parse() {
            total.by.insert(result.clone(), count);
        }
    }
    run.stated.retain(|known| known.level != level);
    let at = run
        .stated
        .partition_point(|known| known.rank() < total.rank());
    run.stated.insert(at, total);
}

/// The name in `<h1>Ledger Test Run Report</h1>`, which is that of the root test with capitals.
fn heading(html: &str) -> Option<String> {
    let (_, after) = html.split_once("<h1")?;
    let (_, after) = after.split_once('>')?;
    let (heading, _) = after.split_once("</h1")?;
    let heading = text(heading);
    heading
        .strip_suffix("Test Run Report")
        .map(|name| name.trim().to_owned())
}

/// The rows of all tables: the text of their cells.
fn rows(html: &str) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for row in html.split("<tr").skip(1) {
        let row = row.split("</tr").next().unwrap_or_default();
        let cells = row
            .split("<t")
            .skip(1)
            .filter(|cell| cell.starts_with(['d', 'h']));
        rows.push(
            cells
                .map(|cell| text(cell.split_once('>').map_or("", |(_, text)| text)))
                .collect(),
        );
    }
    rows
}

/// What a piece of markup shows.
fn text(markup: &str) -> String {
    let mut shown = String::new();
    let mut rest = markup;
    while let Some(at) = rest.find('<') {
        shown.push_str(&rest[..at]);
        rest = rest[at..].split_once('>').map_or("", |(_, after)| after);
    }
    shown.push_str(rest);
    let shown = shown
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&amp;", "&");
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_and_attributes_are_read_from_their_tables() {
        let html = "<html><body><h1 id=\"a\">Ledger Test Run Report</h1><table><tr><td><strong>Duration</strong></td><td>1h 53m</td></tr>\
                    <tr><td><strong>arch</strong></td><td>x86_64</td></tr></table><table><thead><tr><th><span></span></th><th>Units</th>\
                    <th><span class=\"r\">OK</span></th><th>Fail</th></tr></thead><tr><td>Scenarios</td><td><center>46</center></td><td></td>\
                    <td><center>19</center></td></tr></table> testflows";
        assert!(claims(html.as_bytes()));
        let reading = read(&mut html.as_bytes());
        let run = &reading.runs[0];
        assert_eq!(
            (run.name.as_str(), run.attributes["arch"].as_str()),
            ("Ledger", "x86_64")
        );
        assert_eq!(
            (
                run.stated[0].level.as_str(),
                run.stated[0].units,
                run.stated[0].of(&["Fail"])
            ),
            ("scenario", 46, 19)
        );
        assert_eq!(run.durations[0].seconds.to_bits(), 6780.0_f64.to_bits());
        assert!(run.is_complete());
    }

    #[test]
    fn a_page_without_statistics_is_of_a_run_without_an_end() {
        let reading = read(&mut &b"<html><style>.testflows {}</style></html>"[..]);
        assert_eq!(reading.runs[0].incomplete, [Incomplete::NoEnd]);
    }
}
