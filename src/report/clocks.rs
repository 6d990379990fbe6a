//! How far the clocks of nodes are apart, in words.

use super::counts::node_name;
use super::figures::counted;
use super::model::{ClockRow, Report, SkewKind};

/// A sentence for each two nodes whose clocks could be compared.
pub(super) fn sentences(report: &Report) -> Vec<String> {
    report
        .clocks
        .iter()
        .map(|row| sentence(report, row))
        .collect()
}

fn sentence(report: &Report, row: &ClockRow) -> String {
    let node = node_name(report, &row.run, &row.node);
    let against = node_name(report, &row.run, &row.against);
    let pairs = counted(row.pairs, "pair of records", "pairs of records");
    let (ahead, spread) = (distance(row.ahead_s.abs()), distance(row.spread_s));
    let way = if row.ahead_s < 0.0 {
        "behind"
    } else {
        "ahead of"
    };
    let is_none = row.kind == SkewKind::Between && row.ahead_s.abs() <= row.spread_s;
    let bound = match (row.kind, row.ahead_s < 0.0) {
        (SkewKind::Between, _) => "",
        (SkewKind::AtMost, false) | (SkewKind::AtLeast, true) => "at most ",
        (SkewKind::AtLeast, false) | (SkewKind::AtMost, true) => "at least ",
    };
    if is_none {
        format!(
            "the clock of {node} agrees with that of {against} within {spread} ({pairs}); no stamp is moved"
        )
    } else {
        format!(
            "the clock of {node} is {bound}{ahead} {way} that of {against}, give or take {spread} ({pairs}); no stamp is moved"
        )
    }
}

/// A time between two stamps, as short as it can be said.
fn distance(seconds: f64) -> String {
    if seconds < 1.0 {
        format!("{:.1} ms", seconds * 1e3)
    } else if seconds < 600.0 {
        format!("{seconds:.2} s")
    } else {
        format!("{:.1} min", seconds / 60.0)
    }
}
