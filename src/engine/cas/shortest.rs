//! The shortest run that still breaks a promise, as a scenario that repeats it and a trace of what led there.

use std::io::{self, Write};

use super::names::{NONE, Note, PartInfo};
use super::run::{Run, Sink};
use super::scenario::{Act, Fault, Load, Scenario};
use super::soak::Driver;
use super::variant::Variant;
use super::world::{Violation, World};
use crate::engine::sim::{Micros, SECOND, smallest};

/// Runs that are tried at most.
const RUNS_MAX: usize = 600;

/// Lines of a trace at most: the last ones.
const LINES_MAX: usize = 40;

/// A run that breaks a promise and from which nothing can be left out.
#[derive(Debug, Clone)]
pub struct Shortest {
    /// The promise.
    pub violation: Violation,
    /// The scenario.
    pub scenario: Scenario,
    /// The protocol.
    pub variant: Variant,
    /// The seed.
    pub seed: u64,
    /// Events up to the one that breaks it.
    pub events: u64,
    /// Runs that were tried.
    pub runs: usize,
    /// What led there, a line each.
    pub trace: Vec<String>,
}

/// Something that a scenario can do without.
#[derive(Debug, Clone)]
enum Piece {
    Load(Load),
    Fault(Fault),
    Act(Act),
}

/// Shrinks a run that breaks a promise: fewer loads, faults and deeds, fewer operations, servers and tables, less time,
/// and always the same promise. Nothing if the run breaks none.
pub fn shortest(scenario: &Scenario, variant: Variant, seed: u64) -> Option<Shortest> {
    let (violation, at) = first_broken(scenario, variant, seed)?;
    let mut best = Scenario {
        expect: Vec::new(),
        variant: variant.name(),
        seed,
        seeds: 1,
        ..scenario.clone()
    };
    if best.soak.is_none() {
        best.until_s = at / SECOND + 1;
    }
    let mut runs = 0;
    let mut breaks = |candidate: &Scenario| {
        runs += 1;
        let broken = first_broken(candidate, variant, seed);
        broken.filter(|it| it.0 == violation).map(|it| it.1)
    };
    let pieces = smallest(&pieces(&best), |kept| {
        breaks(&with_pieces(&best, kept)).is_some()
    });
    best = with_pieces(&best, &pieces);
    let mut left = RUNS_MAX;
    loop {
        let next = smaller(&best).into_iter().take(left).find_map(|candidate| {
            left = left.saturating_sub(1);
            let at = breaks(&candidate)?;
            Some((candidate, at))
        });
        let Some((candidate, at)) = next else {
            break;
        };
        best = candidate;
        if best.soak.is_none() {
            best.until_s = best.until_s.min(at / SECOND + 1);
        }
    }
    let (events, trace) = traced(&best, variant, seed);
    Some(Shortest {
        violation,
        scenario: best,
        variant,
        seed,
        events,
        runs,
        trace,
    })
}

/// The first promise that a run breaks, and when.
fn first_broken(scenario: &Scenario, variant: Variant, seed: u64) -> Option<(Violation, Micros)> {
    let run = ended(scenario, variant, seed, None);
    let violation = run.world.broken.first().copied()?;
    Some((violation, run.now()))
}

fn ended<'s>(scenario: &Scenario, variant: Variant, seed: u64, sink: Option<Sink<'s>>) -> Run<'s> {
    if let Some(soak) = &scenario.soak {
        let mut driver = Driver::new(scenario, soak, variant, seed, sink);
        // Whether the soak passes is another question; a sink takes every line.
        drop(driver.finish(&mut io::sink()));
        return driver.run;
    }
    let mut run = Run::new(scenario, variant, seed, sink);
    run.finish();
    run
}

fn pieces(scenario: &Scenario) -> Vec<Piece> {
    let loads = scenario.load.iter().cloned().map(Piece::Load);
    let faults = scenario.fault.iter().cloned().map(Piece::Fault);
    let acts = scenario.act.iter().copied().map(Piece::Act);
    loads.chain(faults).chain(acts).collect()
}

fn with_pieces(scenario: &Scenario, pieces: &[Piece]) -> Scenario {
    let mut kept = scenario.clone();
    kept.load.clear();
    kept.fault.clear();
    kept.act.clear();
    for piece in pieces {
        match piece {
            Piece::Load(load) => kept.load.push(load.clone()),
            Piece::Fault(fault) => kept.fault.push(fault.clone()),
            Piece::Act(act) => kept.act.push(*act),
        }
    }
    kept
}

/// Scenarios with one thing less, the largest steps first.
fn smaller(scenario: &Scenario) -> Vec<Scenario> {
    let mut all = Vec::new();
    let mut add = |change: &dyn Fn(&mut Scenario)| {
        let mut it = scenario.clone();
        change(&mut it);
        if it.check("").is_ok() && it.text() != scenario.text() {
            all.push(it);
        }
    };
    if let Some(soak) = &scenario.soak {
        for ops in [soak.ops / 2, soak.ops * 7 / 8, soak.ops - soak.ops.min(1)] {
            add(&|it| {
                if let Some(soak) = &mut it.soak {
                    soak.ops = ops.max(1);
                }
            });
        }
    }
    add(&|it| it.tables = 1);
    add(&|it| it.nodes -= 1);
    add(&|it| it.resident = None);
    add(&|it| it.handlers = None);
    add(&|it| it.without_confirm.clear());
    add(&|it| it.fetch_slots = 1);
    add(&|it| it.common_slots = 1);
    for place in 0..scenario.load.len() {
        let of = |change: fn(&mut Load)| {
            move |it: &mut Scenario| {
                if let Some(load) = it.load.get_mut(place) {
                    change(load);
                }
            }
        };
        let named = scenario.load.get(place).map_or(0, |it| it.nodes.len());
        for without in (0..named).filter(|_| named > 1) {
            add(&|it| {
                if let Some(load) = it.load.get_mut(place) {
                    load.nodes.remove(without);
                }
            });
        }
        add(&of(|it| {
            it.to_s = it.from_s + (it.to_s - it.from_s.min(it.to_s)) / 2;
        }));
        add(&of(|it| it.to_s -= it.to_s.min(1)));
        add(&of(|it| it.parts = it.parts.div_ceil(2).max(1)));
    }
    for place in 0..scenario.fault.len() {
        let of = |change: fn(&mut Fault)| {
            move |it: &mut Scenario| {
                if let Some(fault) = it.fault.get_mut(place) {
                    change(fault);
                }
            }
        };
        add(&of(|it| {
            it.to_s = it.from_s + (it.to_s - it.from_s.min(it.to_s)) / 2;
        }));
        add(&of(|it| {
            it.from_s = it.to_s - (it.to_s - it.from_s.min(it.to_s)) / 2;
        }));
    }
    all
}

/// What happened in a run to the part and the ledger of its last moment, from the first to the last.
fn traced(scenario: &Scenario, variant: Variant, seed: u64) -> (u64, Vec<String>) {
    let mut told: Vec<(Micros, Note, String)> = Vec::new();
    let mut sink = |now: Micros, note: &Note, world: &World| {
        let part = world.parts.get(note.part).map(PartInfo::name);
        told.push((now, *note, part.unwrap_or_default()));
    };
    let run = ended(scenario, variant, seed, Some(&mut sink));
    let events = run.events();
    drop(run);
    let part = told.iter().rev().map(|it| it.1.part).find(|it| *it != NONE);
    let table = told.last().map(|it| it.1.table);
    let belongs = |note: &Note| {
        let is_of_lane = note.part == NONE && (note.table == NONE || Some(note.table) == table);
        Some(note.part) == part || is_of_lane
    };
    let mut lines: Vec<String> = told
        .iter()
        .filter(|it| belongs(&it.1))
        .map(|(now, note, name)| line(*now, note, name))
        .collect();
    lines.drain(..lines.len().saturating_sub(LINES_MAX));
    (events, lines)
}

fn line(now: Micros, note: &Note, part: &str) -> String {
    let host = super::logs::host;
    let mut text = format!(
        "{:>4}.{:06} {} {}",
        now / SECOND,
        now % SECOND,
        host(note.node),
        note.what.words()
    );
    if !part.is_empty() {
        text = format!("{text} {part}");
    }
    if note.peer != note.node {
        text = format!("{text}, with {}", host(note.peer));
    }
    text
}

impl Shortest {
    /// Prints it for people.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let what = Violation::ALL.iter().find(|it| it.0 == self.violation);
        writeln!(
            out,
            "\nThe shortest run found that breaks it ({} tried, {} events): {}",
            self.runs,
            self.events,
            what.map_or("", |it| it.1)
        )?;
        for line in &self.trace {
            writeln!(out, "  {line}")?;
        }
        writeln!(
            out,
            "\nKeep this as a file; `casdiag replay FILE` repeats it, the seed is in it:\n"
        )?;
        write!(out, "{}", self.scenario.text())
    }
}
