//! The metrics that a soak writes into an `SQLite` file: a row for each node and tick, empty where a node could not be read.

use std::collections::BTreeMap;
use std::io::BufRead;

use super::super::case::note;
use super::super::model::{
    Check, Event, EventKind, Incomplete, Moment, NAME_BYTES_MAX, Place, RemarkKind, TestRun,
    bounded,
};
use super::super::{Form, Reading};
use super::sqlite::{File, MAGIC, Table, Value};

/// Nodes that are told apart.
const NODES_MAX: usize = 100;

/// Ticks of a node that are kept to find since when it is silent: at one a minute, two months.
const TICKS_MAX: usize = 100_000;

/// Columns that say nothing of the node itself: they are read from the pool, whatever the node does.
const OF_THE_POOL: &[&str] = &[
    "ts",
    "node",
    "pool_objects",
    "pool_bytes",
    "fsck_reachable",
    "fsck_unreachable",
    "fsck_dangling",
    "fsck_stale_edge",
];

/// Counters of the servers that must stay at nought, in the spellings of old and new builds.
const MUST_BE_NOUGHT: &[&str] = &[
    "CASRefNeedsRecovery",
    "CasRefNeedsRecovery",
    "CASGCUnappliedFoldedTransactions",
    "CasGcUnappliedFoldedTransactions",
    "CASRefRecoveryStreamHole",
    "CasRefRecoveryStreamHole",
];

pub(crate) fn claims(sample: &[u8]) -> bool {
    let has = |text: &[u8]| memchr::memmem::find(sample, text).is_some();
    sample.starts_with(MAGIC) && has(b"metrics") && has(b"pool_bytes")
}

/// What the ticks say of one node.
#[derive(Debug, Default)]
struct Node {
    ticks: u64,
    gaps: u64,
    /// The last tick at which it answered, and the ticks behind it.
    answered: f64,
    silent: Vec<f64>,
    restarts: f64,
    queue: f64,
    nought: BTreeMap<String, f64>,
}

pub(crate) fn read(reader: &mut dyn BufRead) -> Reading {
    let mut run = TestRun::new(Form::SoakMetrics);
    "soak metrics".clone_into(&mut run.name);
    let mut reading = Reading::default();
    match File::read(reader) {
        Ok(Some(mut file)) => fill(&mut file, &mut run, &mut reading.events),
        Ok(None) => {
            note(&mut run, Incomplete::NoEnd);
            run.remark(RemarkKind::Unreadable, "no SQLite file", Place::default());
        }
        Err(error) => {
            note(&mut run, Incomplete::Torn);
            reading.error = Some(error.to_string());
        }
    }
    reading.runs.push(run);
    reading
}

fn fill(file: &mut File, run: &mut TestRun, events: &mut Vec<Event>) {
    if file.is_cut {
        note(run, Incomplete::CutLine);
        run.remark(
            RemarkKind::Unreadable,
            "the file is larger than 64 MiB and not read to its end",
            Place::default(),
        );
    }
    if file.has_journal {
        let text = "the file keeps changes in a file beside it (-wal), which is not read: the last ticks may be missing";
        run.remark(RemarkKind::LeavesOut, text, Place::default());
    }
    for table in file.tables() {
        match table.name.as_str() {
            "metrics" => metrics(file, &table, run, events),
            "gc_phases" => phases(file, &table, run),
            _ => {}
        }
    }
    if file.faults > 0 {
        note(run, Incomplete::CutLine);
        run.remark(
            RemarkKind::Unreadable,
            format!("{} pages or rows are damaged", file.faults),
            Place::default(),
        );
    }
}

/// Reads a row's value by the name of its column.
fn value<'a>(table: &Table, row: &'a [Value], name: &str) -> Option<&'a Value> {
    let at = table.columns.iter().position(|it| it == name)?;
    row.get(at)
}

fn metrics(file: &mut File, table: &Table, run: &mut TestRun, events: &mut Vec<Event>) {
    let mut nodes: BTreeMap<String, Node> = BTreeMap::new();
    let (mut first, mut last) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut pool = 0.0_f64;
    let own: Vec<usize> = (0..table.columns.len())
        .filter(|&at| !OF_THE_POOL.contains(&table.columns[at].as_str()))
        .collect();
    file.rows(table, &mut |row| {
        let number = |name: &str| value(table, row, name).and_then(Value::number);
        let Some(at) = number("ts") else { return };
        let name = bounded(
            value(table, row, "node").map_or("", Value::text),
            NAME_BYTES_MAX,
        );
        if !nodes.contains_key(&name) && nodes.len() >= NODES_MAX {
            return;
        }
        first = first.min(at);
        last = last.max(at);
        pool = pool.max(number("pool_bytes").unwrap_or(0.0));
        let node = nodes.entry(name).or_default();
        node.ticks += 1;
        if own
            .iter()
            .all(|&at| row.get(at).is_none_or(|it| *it == Value::Null))
        {
            node.gaps += 1;
            if at > node.answered && node.silent.len() < TICKS_MAX {
                node.silent.push(at);
            }
        } else {
            // Rows need not stand in the order of time.
            node.answered = node.answered.max(at);
            let answered = node.answered;
            node.silent.retain(|silent| *silent > answered);
        }
        node.restarts = node.restarts.max(number("restarts").unwrap_or(0.0));
        node.queue = node.queue.max(number("repl_queue").unwrap_or(0.0));
        for name in MUST_BE_NOUGHT {
            if let Some(count) = number(name).filter(|it| *it > 0.0) {
                let most = node.nought.entry((*name).to_owned()).or_default();
                *most = most.max(count);
            }
        }
    });
    for at in [first, last].into_iter().filter_map(Moment::from_epoch) {
        run.note_moment(at);
    }
    run.attributes
        .insert("pool_bytes_most".to_owned(), pool.to_string());
    for (name, node) in nodes {
        told(&name, &node, run, events);
    }
}

/// Tells what the ticks say of a node.
fn told(name: &str, node: &Node, run: &mut TestRun, events: &mut Vec<Event>) {
    let gone = node.silent.iter().copied().min_by(f64::total_cmp);
    let detail = format!(
        "{} ticks, {} without an answer, restarts {}, longest queue {}",
        node.ticks, node.gaps, node.restarts, node.queue
    );
    run.checks.push(Check {
        name: format!("node {name} answers"),
        outcome: if gone.is_some() { "FAIL" } else { "OK" }.to_owned(),
        detail,
        place: Place::default(),
    });
    if let Some(since) = gone {
        events.push(Event {
            kind: EventKind::Unreachable,
            subject: name.to_owned(),
            at: Moment::from_epoch(since),
            text: "could not be read from here to the last tick".to_owned(),
            place: Place::default(),
        });
    }
    for (counter, count) in &node.nought {
        run.checks.push(Check {
            name: format!("{counter} of {name} stays 0"),
            outcome: "FAIL".to_owned(),
            detail: format!("reached {count}"),
            place: Place::default(),
        });
    }
}

/// Sums the phases of garbage collection, and finds checkpoints without any.
fn phases(file: &mut File, table: &Table, run: &mut TestRun) {
    let mut sums: BTreeMap<String, (f64, f64)> = BTreeMap::new();
    file.rows(table, &mut |row| {
        let name = value(table, row, "phase").map_or("", Value::text);
        if name.is_empty() || (sums.len() >= 1000 && !sums.contains_key(name)) {
            return;
        }
        let number = |name: &str| {
            value(table, row, name)
                .and_then(Value::number)
                .unwrap_or(0.0)
        };
        let sum = sums.entry(bounded(name, 200)).or_default();
        sum.0 += number("total_us");
        sum.1 += number("calls");
    });
    let slowest = sums.iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0));
    if let Some((phase, (micros, calls))) = slowest {
        let text = format!("{phase}: {:.1} s in {calls} calls", micros / 1e6);
        run.attributes.insert("gc_slowest_phase".to_owned(), text);
    }
}
