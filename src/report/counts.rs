//! The counts tables: what was counted, by node. A nought stands only where no finding says that it could not be seen.

use std::collections::{BTreeMap, BTreeSet};

use crate::report::figures::thousands;
use crate::report::model::{CodeRow, Report, Role, SignalRow};

/// A field with more values than this is not split into rows of its own.
const SPLIT_VALUES_MAX: usize = 6;

/// Counts by node.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    /// The nodes, `RUN/NODE` where there are several runs.
    pub(super) columns: Vec<String>,
    /// What was counted.
    pub(super) rows: Vec<Row>,
}

/// One counted thing.
#[derive(Debug, Clone)]
pub(super) struct Row {
    /// What.
    pub(super) label: String,
    /// One per column.
    pub(super) cells: Vec<Cell>,
    /// Over all nodes.
    pub(super) total: u64,
    /// Whether there may be more than the total, because a node could not show it.
    pub(super) is_partial: bool,
    /// Whether it splits the row above.
    pub(super) is_part: bool,
}

impl Row {
    /// The total as written: `≥` where a node could not show it.
    pub(super) fn total_text(&self) -> String {
        let sign = if self.is_partial { "≥ " } else { "" };
        format!("{sign}{}", thousands(self.total))
    }
}

/// The count of one thing on one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cell {
    /// So many.
    Count(u64),
    /// None seen, and none could have been.
    NotObservable,
    /// Nothing that runs there logs such a thing, so that none is missing.
    Foreign,
}

impl Cell {
    /// The cell as written.
    pub(super) fn text(self) -> String {
        match self {
            Self::Count(count) => thousands(count),
            Self::NotObservable | Self::Foreign => "n/o".to_owned(),
        }
    }
}

/// Run and id.
type NodeKey<'a> = (&'a str, &'a str);

/// Code, name and family.
type CodeKey<'a> = (u32, Option<&'a str>, Option<&'a str>);

/// The name of a node in a report.
pub(super) fn node_name(report: &Report, run: &str, node: &str) -> String {
    if has_several_runs(report) && !run.is_empty() {
        format!("{run}/{node}")
    } else {
        node.to_owned()
    }
}

/// Whether nodes must be told apart by run.
pub(super) fn has_several_runs(report: &Report) -> bool {
    let runs: BTreeSet<&str> = report
        .nodes
        .iter()
        .filter(|it| it.role == Role::Reporter)
        .map(|it| it.run.as_str())
        .collect();
    runs.len() > 1
}

/// Records of each reporter.
pub(super) fn records(report: &Report) -> Grid {
    let nodes = reporters(report);
    let cells: Vec<Cell> = nodes
        .iter()
        .map(|key| {
            let node = report
                .nodes
                .iter()
                .find(|it| key == &(it.run.as_str(), it.id.as_str()));
            // Files that name no node have records and no node.
            let by_name = || {
                let by_node = &report.records.by_node;
                let name = by_node.get(&format!("{}/{}", key.0, key.1));
                name.or_else(|| by_node.get(key.1)).copied()
            };
            Cell::Count(node.map(|it| it.records).or_else(by_name).unwrap_or(0))
        })
        .collect();
    let row = Row {
        label: "records".to_owned(),
        cells,
        total: report.records.total,
        is_partial: false,
        is_part: false,
    };
    Grid {
        columns: column_names(report, &nodes),
        rows: vec![row],
    }
}

/// Signals by reporter in the order of the report; with `parts` each is split by the fields that have few values.
pub(super) fn signals(report: &Report, parts: bool) -> Grid {
    let nodes = reporters(report);
    let unseen = not_observable(report, &nodes);
    let foreign = foreign(report, &nodes);
    let mut names: Vec<&str> = Vec::new();
    let counted = report.signals.iter().map(|it| it.signal.as_str());
    let missed = report
        .findings
        .iter()
        .flat_map(|it| &it.not_observable)
        .map(|it| it.signal.as_str());
    for name in counted.chain(missed) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut rows = Vec::new();
    for name in names {
        let of_signal: Vec<&SignalRow> = report
            .signals
            .iter()
            .filter(|it| it.signal == name)
            .collect();
        let cells = |count: &dyn Fn(&SignalRow) -> u64| -> Vec<Cell> {
            let cell = |(column, key): (usize, &NodeKey<'_>)| {
                let on_node = of_signal
                    .iter()
                    .filter(|it| key == &(it.run.as_str(), it.node.as_str()));
                match on_node.map(|it| count(it)).sum() {
                    0 if unseen.contains(&(name, column)) => Cell::NotObservable,
                    0 if foreign.contains(&(name, column)) => Cell::Foreign,
                    count => Cell::Count(count),
                }
            };
            nodes.iter().enumerate().map(cell).collect()
        };
        rows.push(row(name.to_owned(), cells(&|it| it.count), false));
        for (field, value) in if parts {
            split_values(&of_signal)
        } else {
            Vec::new()
        } {
            let count = |it: &SignalRow| {
                it.by
                    .get(field)
                    .and_then(|by| by.get(value))
                    .copied()
                    .unwrap_or(0)
            };
            rows.push(row(format!("{field} = {value}"), cells(&count), true));
        }
    }
    Grid {
        columns: column_names(report, &nodes),
        rows,
    }
}

/// Codes by reporter.
pub(super) fn codes(report: &Report, codes: &[CodeRow]) -> Grid {
    let nodes = reporters(report);
    let mut by_code: BTreeMap<CodeKey<'_>, Vec<u64>> = BTreeMap::new();
    for code in codes {
        let Some(column) = nodes
            .iter()
            .position(|key| key == &(code.run.as_str(), code.node.as_str()))
        else {
            continue;
        };
        let key = (code.code, code.name.as_deref(), code.family.as_deref());
        let counts = by_code.entry(key).or_insert_with(|| vec![0; nodes.len()]);
        if let Some(count) = counts.get_mut(column) {
            *count += code.count;
        }
    }
    let without = without_codes(report, &nodes);
    let cell = |(column, count): (usize, u64)| match count {
        0 if without.contains(&column) => Cell::Foreign,
        count => Cell::Count(count),
    };
    let rows = by_code.into_iter().map(|((code, name, family), counts)| {
        let name = name.map_or_else(String::new, |it| format!(" {it}"));
        let family = family.map_or_else(String::new, |it| format!(", {it}"));
        row(
            format!("{code}{name}{family}"),
            counts.into_iter().enumerate().map(cell).collect(),
            false,
        )
    });
    Grid {
        columns: column_names(report, &nodes),
        rows: rows.collect(),
    }
}

impl Grid {
    /// The grid with at most `columns_max` columns: the busiest nodes, and one column that sums up the others.
    pub(super) fn narrowed(&self, columns_max: usize) -> Self {
        if self.columns.len() <= columns_max {
            return self.clone();
        }
        let kept_count = columns_max.saturating_sub(1);
        let mut by_weight: Vec<usize> = (0..self.columns.len()).collect();
        let weight =
            |column: &usize| -> u64 { self.rows.iter().map(|row| count_at(row, *column)).sum() };
        by_weight.sort_by_cached_key(|column| (std::cmp::Reverse(weight(column)), *column));
        let (kept, others) = by_weight.split_at(kept_count);
        let kept: BTreeSet<usize> = kept.iter().copied().collect();
        let mut columns: Vec<String> = kept
            .iter()
            .filter_map(|it| self.columns.get(*it).cloned())
            .collect();
        columns.push(format!("{} others", others.len()));
        let narrow = |row: &Row| {
            let mut cells: Vec<Cell> = kept
                .iter()
                .filter_map(|it| row.cells.get(*it).copied())
                .collect();
            cells.push(summed(row, others));
            Row {
                cells,
                ..row.clone()
            }
        };
        Self {
            columns,
            rows: self.rows.iter().map(narrow).collect(),
        }
    }
}

/// The cells of several columns in one.
fn summed(row: &Row, columns: &[usize]) -> Cell {
    let is = |cell: Cell| move |column: &usize| row.cells.get(*column) == Some(&cell);
    match columns.iter().map(|it| count_at(row, *it)).sum() {
        0 if columns.iter().any(is(Cell::NotObservable)) => Cell::NotObservable,
        0 if columns.iter().all(is(Cell::Foreign)) => Cell::Foreign,
        sum => Cell::Count(sum),
    }
}

fn reporters(report: &Report) -> Vec<NodeKey<'_>> {
    let named = report
        .nodes
        .iter()
        .filter(|it| it.role == Role::Reporter)
        .map(|it| (it.run.as_str(), it.id.as_str()));
    let signals = report
        .signals
        .iter()
        .map(|it| (it.run.as_str(), it.node.as_str()));
    let codes = report
        .codes
        .iter()
        .chain(&report.codes_nested)
        .map(|it| (it.run.as_str(), it.node.as_str()));
    let mut seen = BTreeSet::new();
    // A report from elsewhere may count what it does not list as a node; no count is dropped for that.
    named
        .chain(signals)
        .chain(codes)
        .filter(|it| seen.insert(*it))
        .collect()
}

fn column_names(report: &Report, nodes: &[NodeKey<'_>]) -> Vec<String> {
    nodes
        .iter()
        .map(|(run, node)| node_name(report, run, node))
        .collect()
}

/// Signals and the columns in which they could not have been seen.
fn not_observable<'a>(report: &'a Report, nodes: &[NodeKey<'_>]) -> BTreeSet<(&'a str, usize)> {
    let mut unseen = BTreeSet::new();
    // Where no node could show a signal, only a finding that would count it says so.
    let of_findings = report.findings.iter().flat_map(|it| &it.not_observable);
    for missed in report.not_observable.iter().chain(of_findings) {
        for (column, (run, node)) in nodes.iter().enumerate() {
            if missed.run == *run && missed.node == *node {
                unseen.insert((missed.signal.as_str(), column));
            }
        }
    }
    unseen
}

/// Signals and the columns of nodes that run nothing which logs them.
fn foreign<'a>(report: &'a Report, nodes: &[NodeKey<'_>]) -> BTreeSet<(&'a str, usize)> {
    let of = |(column, key): (usize, &NodeKey<'_>)| {
        let rows = report.foreign.iter();
        let mine = rows.filter(move |it| *key == (it.run.as_str(), it.node.as_str()));
        let signals = mine.flat_map(|it| &it.signals);
        let signals: Vec<_> = signals.map(|signal| (signal.as_str(), column)).collect();
        signals
    };
    nodes.iter().enumerate().flat_map(of).collect()
}

/// The columns of nodes whose logs have no codes.
fn without_codes(report: &Report, nodes: &[NodeKey<'_>]) -> BTreeSet<usize> {
    let foreign = report.foreign.iter().filter(|it| it.codes);
    let columns = foreign.filter_map(|it| {
        let key = (it.run.as_str(), it.node.as_str());
        nodes.iter().position(|node| *node == key)
    });
    columns.collect()
}

/// The values of each field that has few, over all nodes.
fn split_values<'a>(rows: &[&'a SignalRow]) -> Vec<(&'a str, &'a str)> {
    let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (field, by) in rows.iter().flat_map(|it| &it.by) {
        values
            .entry(field)
            .or_default()
            .extend(by.keys().map(String::as_str));
    }
    let few = values
        .into_iter()
        .filter(|(_, values)| values.len() <= SPLIT_VALUES_MAX);
    few.flat_map(|(field, values)| values.into_iter().map(move |value| (field, value)))
        .collect()
}

fn row(label: String, cells: Vec<Cell>, is_part: bool) -> Row {
    let counts = cells.iter().map(|it| match it {
        Cell::Count(count) => *count,
        Cell::NotObservable | Cell::Foreign => 0,
    });
    let is_partial = cells.contains(&Cell::NotObservable);
    Row {
        label,
        total: counts.sum(),
        cells,
        is_partial,
        is_part,
    }
}

fn count_at(row: &Row, column: usize) -> u64 {
    match row.cells.get(column) {
        Some(Cell::Count(count)) => *count,
        Some(Cell::NotObservable | Cell::Foreign) | None => 0,
    }
}
