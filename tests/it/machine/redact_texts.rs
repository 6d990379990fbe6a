//! `--redact` of what is printed without a report: listed records and an explanation.

use std::path::Path;

use crate::product::{Folder, casdiag, record};

const SECRETS: [&str; 4] = ["acme", "vega", "198.51.100.7", "hunter2"];

fn refusal(source: &str) -> String {
    format!(
        "Code: 210. DB::Exception: Source {source} did not prove it still holds the manifest it offered for part all_1_1_0 by relink; the relink is abandoned and the fetch will be retried later. (NETWORK_ERROR) (from 198.51.100.7:41001) (in query: SELECT 'hunter2')"
    )
}

fn logs() -> Folder {
    let folder = Folder::new();
    let one = |second: u32| {
        let at = format!("10:00:{second:02}.000000");
        record(&at, "Error", "q.s", &refusal("vega-2.acme.example"))
    };
    let log: String = (0..12).map(one).collect();
    folder.put("acme/vega-1/clickhouse-server.log", log);
    folder
}

fn assert_masked(out: &str, masks: &[&str]) {
    let low = out.to_lowercase();
    for secret in SECRETS {
        assert!(!low.contains(secret), "{secret}: {out}");
    }
    for mask in masks {
        assert!(out.contains(mask), "{mask}: {out}");
    }
}

fn shown(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn listed_records_are_masked_and_their_counts_are_not() {
    let folder = logs();
    let lines = |more: &[&str]| {
        let all = [&["lines", "relink-refused", shown(folder.path())], more].concat();
        casdiag(&all)
    };
    let (plain, masked) = (lines(&[]), lines(&["--redact"]));
    assert!(plain.out.contains("vega-2.acme.example"), "{}", plain.out);
    assert_masked(&masked.out, &["host-", "query-", "all_1_1_0"]);
    assert_eq!(plain.out.lines().count(), masked.out.lines().count());
    assert!(
        masked.out.contains("12 records are relink-refused"),
        "{}",
        masked.out
    );
    assert_eq!(plain.code, masked.code);
}

#[test]
fn an_explanation_is_masked_and_its_answers_are_not() {
    let folder = logs();
    let place = format!(
        "{}/acme/vega-1/clickhouse-server.log:3",
        shown(folder.path())
    );
    let plain = casdiag(&["explain", "code-210-storm", &place]);
    let masked = casdiag(&["explain", "code-210-storm", &place, "--redact"]);
    assert!(plain.out.contains("acme"), "{}", plain.out);
    assert_masked(&masked.out, &["yes, as relink-refused", ":3 count for it?"]);
    assert_eq!(plain.out.lines().count(), masked.out.lines().count());
}
