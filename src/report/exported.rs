//! What the error counters of exported tables say, in words.

use std::collections::BTreeMap;

use crate::report::counts::node_name;
use crate::report::figures::{counted, names, thousands};
use crate::report::model::{CounterRow, Report};

/// Names in a row.
const NAMES_MAX: usize = 4;

/// One sentence for each node with error counters: which of them no record explains, or where there are no logs which are
/// the largest.
pub(super) fn sentences(report: &Report) -> Vec<String> {
    let mut nodes: BTreeMap<(&str, &str), Vec<&CounterRow>> = BTreeMap::new();
    for row in &report.counters {
        if row.code.is_some() && row.value > 0 {
            nodes.entry((&row.run, &row.node)).or_default().push(row);
        }
    }
    let sentence = |((run, node), mut rows): ((&str, &str), Vec<&CounterRow>)| {
        rows.sort_by_key(|row| (std::cmp::Reverse(row.value), &row.name, row.remote));
        let node = node_name(report, run, node);
        let total = rows.iter().map(|row| magnitude(row)).sum();
        let errors = counted(total, "error", "errors");
        let named = |rows: &[&CounterRow]| {
            let said: Vec<String> = rows.iter().map(|row| said(row)).collect();
            names(&said, NAMES_MAX)
        };
        let unseen: Vec<&CounterRow> = rows
            .iter()
            .copied()
            .filter(|row| row.records == Some(0))
            .collect();
        let tail = if rows.iter().all(|row| row.records.is_none()) {
            format!(", no log to compare with: {}", named(&rows))
        } else if unseen.is_empty() {
            ", and the logs have records of each of their codes".to_owned()
        } else {
            format!("; the logs have no record of {}", named(&unseen))
        };
        format!("{node} counts {errors} that it threw, caught ones included{tail}")
    };
    nodes.into_iter().map(sentence).collect()
}

fn magnitude(row: &CounterRow) -> u64 {
    u64::try_from(row.value).unwrap_or(0)
}

fn said(row: &CounterRow) -> String {
    let code = row
        .code
        .map_or_else(String::new, |code| format!(" ({code})"));
    let remote = if row.remote {
        " reported by others"
    } else {
        ""
    };
    format!("{}{code}{remote}: {}", row.name, thousands(magnitude(row)))
}
