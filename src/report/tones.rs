//! What a signal's color says: how bad the worst finding is that it shows, or that it is good news.

use std::collections::BTreeMap;

use crate::report::model::Report;
use crate::vocab::{Severity, Tone};

/// The colors of a report's signals.
#[derive(Debug, Default)]
pub(super) struct Tones<'r> {
    severities: BTreeMap<&'r str, Severity>,
    good: BTreeMap<&'r str, bool>,
}

impl<'r> Tones<'r> {
    pub(super) fn of(report: &'r Report) -> Self {
        let mut tones = Self::default();
        for finding in &report.findings {
            // Earlier reports do not say which of its signals show it.
            let shown = [&finding.shown_by, &finding.signals];
            let shown = shown.into_iter().find(|it| !it.is_empty());
            for signal in shown.into_iter().flatten() {
                let worst = tones.severities.entry(signal).or_insert(finding.severity);
                *worst = (*worst).max(finding.severity);
            }
        }
        for row in report.timeline.strips.iter().flat_map(|it| &it.rows) {
            let is_good = row.tone == Tone::Good;
            *tones.good.entry(&row.signal).or_insert(true) &= is_good;
        }
        tones
    }

    /// How bad the worst finding is that a signal shows.
    pub(super) fn severity(&self, signal: &str) -> Option<Severity> {
        self.severities.get(signal).copied()
    }

    /// Whether an occurrence of a signal is good news, as far as a strip says so.
    pub(super) fn is_good(&self, signal: &str) -> bool {
        self.good.get(signal).copied().unwrap_or(false)
    }
}
