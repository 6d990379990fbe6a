//! Templates of Error and Fatal records that nothing explains.

use std::collections::BTreeMap;

use crate::report::model::Report;

use super::measure::direction;
use super::{Change, Kind, Pair, Place};

pub(super) fn compare(pair: &Pair<'_>) -> Vec<Change> {
    let (base, new) = (counts(pair.base), counts(pair.new));
    let mut templates: Vec<&str> = base.keys().chain(new.keys()).copied().collect();
    templates.sort_unstable();
    templates.dedup();
    let times = (pair.base_time.time(None), pair.new_time.time(None));
    let changes = templates.into_iter().map(|template| {
        let of = |counts: &BTreeMap<&str, u64>| counts.get(template).copied().unwrap_or(0);
        let (before, after) = (of(&base), of(&new));
        Change {
            kind: Kind::Template,
            direction: direction(Some(before), Some(after), times),
            what: template.to_owned(),
            node: None,
            severity: None,
            title: None,
            base: pair.base_time.measure(before, None),
            new: pair.new_time.measure(after, None),
            unhealed: false,
            of_run: false,
            place: Place::default(),
        }
    });
    changes.collect()
}

fn counts(report: &Report) -> BTreeMap<&str, u64> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for one in &report.coverage.unexplained {
        *counts.entry(&one.template).or_default() += one.count;
    }
    counts
}
