//! Logs of the benches' generator, which knows every count: compared cell by cell.

#[expect(
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a generator: small numbers, and text of its own"
)]
#[path = "../../../benches/chlog/mod.rs"]
mod chlog;

use std::collections::BTreeMap;

use casdiag::pipeline::{self, Plan, Progress};
use casdiag::rules;
use chlog::Arguments;

/// The counts of every minute, node and signal, and the refusals of every part.
#[derive(Debug, Default, PartialEq, Eq)]
struct Cells {
    minutes: BTreeMap<(i64, usize, &'static str), u64>,
    parts: BTreeMap<String, u64>,
    records: Vec<u64>,
}

fn made_and_counted(arguments: &Arguments) -> (Cells, Cells) {
    let folder = tempfile::tempdir().unwrap();
    let truth = chlog::write(folder.path(), arguments).unwrap();
    let quoting: u64 = truth
        .counts
        .values()
        .map(|count| count.lines - count.records)
        .sum();
    assert_eq!(
        quoting, arguments.decoys,
        "queries that a plain search counts"
    );
    let made = Cells {
        minutes: truth
            .counts
            .iter()
            .map(|(&cell, count)| (cell, count.records))
            .filter(|(_, records)| *records > 0)
            .collect(),
        parts: truth.parts,
        records: truth.totals.iter().map(|&(records, _)| records).collect(),
    };
    let base = rules::load(&[]).unwrap();
    let plan = Plan {
        roots: vec![folder.path().to_owned()],
        ..Plan::default()
    };
    let analysis = pipeline::analyze(&plan, &base, &Progress::default()).unwrap();
    let mut counted = Cells::default();
    for (number, node) in (1..).zip(&analysis.nodes) {
        counted.records.push(node.tally.records);
        for id in chlog::SIGNALS {
            let index = usize::from(base.signals.index(id).unwrap());
            let tally = &node.tally.signals[index];
            let minutes = tally.minutes.counts().into_iter();
            counted
                .minutes
                .extend(minutes.map(|(at, count)| ((at, number, id), count)));
            if id == "relink-refused" {
                let field = base.signals.signals()[index].field("part").unwrap();
                for (part, count) in tally.values[field].ranked() {
                    *counted.parts.entry(part).or_default() += count;
                }
            }
        }
    }
    (made, counted)
}

const SMALL: Arguments = Arguments {
    bytes: 3_000_000,
    nodes: 3,
    error_percent: 15.0,
    minutes: 40,
    decoys: 30,
    fatal: 2,
    err_log: false,
    pieces: 1,
};

#[test]
fn every_cell_of_a_storm_is_what_was_made() {
    let (made, counted) = made_and_counted(&SMALL);
    assert!(made.minutes.len() > 300 && made.parts.len() > 100);
    assert_eq!(counted, made);
}

#[test]
fn every_cell_of_a_quiet_log_is_what_was_made() {
    let (made, counted) = made_and_counted(&Arguments {
        error_percent: 1.0,
        ..SMALL
    });
    assert_eq!(counted, made);
}

#[test]
fn neither_the_err_log_nor_pieces_change_a_cell() {
    let (made, counted) = made_and_counted(&Arguments {
        err_log: true,
        pieces: 3,
        ..SMALL
    });
    assert_eq!(counted, made);
}
