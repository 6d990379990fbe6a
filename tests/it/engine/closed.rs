//! The loop closed: the logs of each scenario, analysed, give the rule of its incident, and under the fix they do not.

use std::collections::BTreeSet;
use std::fs;

use casdiag::engine::scenarios::{BUILT_IN, CONTROLLERS};

use crate::product::{Folder, casdiag, findings, fired, report};

/// A change of a scenario's text.
type Change = (&'static str, &'static str);

/// What a scenario's logs give.
struct Row {
    scenario: &'static str,
    /// What makes it shorter.
    short: &'static [Change],
    faulty: &'static str,
    /// The rule of its incident; nothing where its logs show none.
    rule: Option<&'static str>,
    mended: &'static str,
    /// What is mended in the scenario, where that is no protocol.
    without: &'static [Change],
}

const fn row(
    scenario: &'static str,
    faulty: &'static str,
    rule: &'static str,
    mended: &'static str,
) -> Row {
    Row {
        scenario,
        short: &[],
        faulty,
        rule: Some(rule),
        mended,
        without: &[],
    }
}

const fn quiet(scenario: &'static str) -> Row {
    Row {
        rule: None,
        ..row(scenario, "v1", "", "v2")
    }
}

const ROWS: &[Row] = &[
    // One row, one relink: no incident.
    quiet("relink-smoke"),
    row("soak-phase1", "v1", "code-210-storm", "v2"),
    // Of a reset that a full pool or a killed process causes there is no line at the server; the storm beside it has its own.
    row("http-exhaustion", "v1", "code-210-storm", "v2"),
    row("http-memory", "v1", "code-210-storm", "v2"),
    row("threshold-below", "v1", "code-210-storm", "v2"),
    Row {
        short: &[
            ("until-s = 600", "until-s = 90"),
            ("to-s = 300", "to-s = 60"),
        ],
        ..row("threshold-above", "v1", "code-210-storm", "v2")
    },
    Row {
        short: &[
            ("until-s = 600", "until-s = 90"),
            ("to-s = 300", "to-s = 60"),
        ],
        ..row("threshold-slow-store", "v1", "code-210-storm", "v2")
    },
    Row {
        short: &[
            ("until-s = 900", "until-s = 90"),
            ("to-s = 300\n", "to-s = 60\n"),
        ],
        ..row("stop-fetches", "v1", "code-210-storm", "v2")
    },
    Row {
        short: &[("until-s = 4200", "until-s = 780")],
        ..row("gcs-livelock", "v1", "code-210-storm", "v2")
    },
    // The fix that the report recommends; the ref-scoped rule alone does not cure a cold ledger.
    row("attach-partition", "v1", "code-210-storm", "v1+A"),
    // Its pauses of five minutes stand beside two thousand refusals, where the rule of inflated pauses keeps silent.
    row("backoff-inflation", "v1", "code-210-storm", "v2"),
    Row {
        without: &[
            ("deed = \"lose-lease\"", "deed = \"start\""),
            ("deed = \"remount\"", "deed = \"start\""),
        ],
        ..row("lease-loss", "v1", "mount-lease-lost", "v1")
    },
    Row {
        without: &[("deed = \"expire-lease\"", "deed = \"start\"")],
        ..row("silent-lease-expiry", "v1", "cas-writes-refused", "v1")
    },
    Row {
        without: &[("share = 1000", "share = 0")],
        ..row("lease-renewal", "v1", "mount-lease-lost", "v1")
    },
    Row {
        without: &[
            ("deed = \"fence-out\"", "deed = \"start\""),
            ("deed = \"remount\"", "deed = \"start\""),
        ],
        ..row("gc-fence-out", "v1", "mount-fenced-by-peer", "v1")
    },
    Row {
        without: &[("deed = \"foreign-log\"", "deed = \"start\"")],
        ..row("foreign-log", "v1", "ref-lane-broken", "v1")
    },
    // A comparison of the catalog that another server wins leaves no line.
    quiet("ddl-contention"),
    Row {
        without: &[("catalog-us = 1_000_000", "catalog-us = 0")],
        ..row("ddl-limited", "v1", "hot-control-key", "v1")
    },
    Row {
        without: &[("without-confirm = [1]", "without-confirm = []")],
        ..row("version-mix", "v1", "relink-versions-mixed", "v1")
    },
    // Merged parts that stay for their time are there when they are asked for.
    Row {
        without: &[("old-parts-s = 0", "old-parts-s = 480")],
        ..row("source-gone", "v1", "unproven-confirms", "v2")
    },
    row("wal-catch-up-stall", "reported", "catch-up-stall", "fixed"),
];

/// The scenario's text after changes, each of which changes something.
fn text(scenario: &str, changes: &[&[Change]]) -> String {
    let mut known = BUILT_IN.iter().chain(CONTROLLERS);
    let (_, text) = known.find(|it| it.0 == scenario).unwrap();
    let mut text = (*text).to_owned();
    for (from, to) in changes.iter().copied().flatten() {
        assert!(text.contains(from), "{scenario}: {from}");
        text = text.replace(from, to);
    }
    text
}

/// What the logs of a scenario give: how often the rule of the row, and every rule.
fn analysed(row: &Row, variant: &str, text: &str) -> (usize, Vec<String>) {
    let folder = Folder::with("scenario.toml", text);
    let (file, logs) = (
        folder.path().join("scenario.toml"),
        folder.path().join("logs"),
    );
    let (file, dir) = (file.to_str().unwrap(), logs.to_str().unwrap());
    let ran = casdiag(&["replay", file, "--variant", variant, "--logs", dir]);
    // A stall and a soak that fails end with 1.
    assert!(matches!(ran.code, Some(0 | 1)), "{}: {ran:?}", row.scenario);
    let report = report(&logs);
    fs::remove_dir_all(&logs).unwrap();
    let of_row = row.rule.map_or(0, |rule| findings(&report, rule).len());
    let all = fired(&report).into_iter().map(str::to_owned);
    (of_row, all.collect())
}

#[test]
fn every_incident_is_found_in_its_logs_and_none_in_those_of_its_fix() {
    let rows: BTreeSet<&str> = ROWS.iter().map(|it| it.scenario).collect();
    let known: BTreeSet<&str> = BUILT_IN.iter().chain(CONTROLLERS).map(|it| it.0).collect();
    assert_eq!(rows, known, "every scenario has its row");
    for row in ROWS {
        let (found, all) = analysed(row, row.faulty, &text(row.scenario, &[row.short]));
        if row.rule.is_none() {
            assert!(all.is_empty(), "{}: {all:?}", row.scenario);
            continue;
        }
        assert!(found > 0, "{}: {all:?}", row.scenario);
        let mended = text(row.scenario, &[row.short, row.without]);
        let (found, all) = analysed(row, row.mended, &mended);
        assert_eq!(found, 0, "{} mended: {all:?}", row.scenario);
    }
}
