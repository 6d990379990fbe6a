//! Exported tables of a report: which files hold them, and their counters.

use crate::analysis::{Analysis, TableFacts};
use crate::report::model::{CounterRow, ExportedTable};
use crate::rules::NodeFacts;

pub(super) fn table(facts: &TableFacts) -> ExportedTable {
    ExportedTable {
        name: facts.name.map(str::to_owned),
        form: facts.form.to_owned(),
        columns: facts.columns.clone(),
        rows: facts.rows,
    }
}

/// The counters of all nodes, by run, node, table, name and code.
pub(super) fn counters(analysis: &Analysis) -> Vec<CounterRow> {
    analysis.nodes.iter().flat_map(of_node).collect()
}

fn of_node(facts: &NodeFacts) -> impl Iterator<Item = CounterRow> {
    let tally = &facts.tally;
    let has_log = tally.seen.main || tally.seen.err;
    let records = move |code: u32| {
        let codes = tally.codes.iter().filter(|((known, _), _)| *known == code);
        codes.map(|(_, tally)| tally.count).sum()
    };
    tally
        .exported
        .counters
        .iter()
        .map(move |(name, found)| CounterRow {
            run: tally.run.clone(),
            node: tally.node.clone(),
            table: name.table.clone(),
            name: name.name.clone(),
            code: name.code,
            remote: name.remote,
            value: found.value,
            // What another server reported is no record of this one.
            records: name.code.filter(|_| has_log && !name.remote).map(records),
            last: found.last.map(|at| at.iso(facts.zone)),
        })
}
