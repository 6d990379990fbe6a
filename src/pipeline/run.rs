//! Reading, scanning and folding spread over threads, with the same result for any number of them.
//!
//! Every node's blocks are read in order by one task at a time, scanned by any thread, and folded in the order of
//! reading by one task at a time. So a thread unpacks while others scan, and what comes out depends on the input alone.
//! What is in flight is bounded per node, and so is the number of nodes at work.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::{Scope, ThreadPool};

use super::folding::{Done, Folding};
use super::inputs::{Looked, NodeScan};
use super::reader::{NodeReader, Step, Work};
use super::{Plan, Progress};
use crate::rules::RuleBase;
use crate::scan::{BlockContext, Grep, Scanner};
use crate::signals::tally::Watch;
use crate::streams::{FoldRules, Log, Scanned};

/// Blocks of one node between reading and folding: enough to keep the threads busy, few enough to stay small.
const IN_FLIGHT: usize = 6;

/// Scans all logs; one result per node, by run and node.
pub(super) fn scan(
    pool: &ThreadPool,
    plan: &Plan,
    looked: &Looked,
    rules: &RuleBase,
    watch: &Watch,
    progress: &Progress,
) -> Vec<NodeScan> {
    let listed = plan
        .listing
        .map(|listing| Grep::new(listing.signal, &rules.signals));
    let scanner = Scanner {
        signals: &rules.signals,
        families: &rules.families,
        period: plan.period,
        grep: listed.as_ref(),
        profile: plan.profile.as_deref(),
    };
    let fold_rules = FoldRules {
        signals: &rules.signals,
        counters: &rules.counters,
        counters_of: &rules.counters_of,
        stalls: &rules.stalls,
        subjects_max: plan.subjects_max,
        start: rules.environment.start_signal(),
        listed: plan.listing.map(|l| (l.signal, l.records_max)),
        watch: (!watch.is_empty()).then_some(watch),
    };
    let mut by_node: BTreeMap<(String, String), Vec<Log>> = BTreeMap::new();
    for log in looked.logs() {
        by_node
            .entry((log.run.clone(), log.node.clone()))
            .or_default()
            .push(log);
    }
    let tasks: Vec<NodeTask<'_>> = by_node
        .into_iter()
        .map(|((run, node), logs)| {
            let tally = fold_rules.tally(&run, &node);
            let folding = Folding::new(fold_rules, tally, &logs);
            NodeTask {
                reader: Mutex::new(Reading {
                    reader: NodeReader::new(looked, progress, plan.limits, logs),
                    next: 0,
                }),
                state: Mutex::new(State::default()),
                folding: Mutex::new(folding),
            }
        })
        .collect();
    let started = AtomicUsize::new(0);
    work(
        pool,
        Shared {
            tasks: &tasks,
            scanner,
            started: &started,
        },
    );
    tasks
        .into_iter()
        .map(|task| {
            task.folding
                .into_inner()
                .unwrap_or_else(PoisonError::into_inner)
                .finish()
        })
        .collect()
}

/// Does all the reading, scanning and folding.
fn work(pool: &ThreadPool, shared: Shared<'_, '_>) {
    pool.scope(|scope| {
        // One more node than threads: where one waits for its reader, another has work.
        for _ in 0..=pool.current_num_threads() {
            shared.start_next(scope);
        }
    });
}

#[derive(Clone, Copy)]
struct Shared<'t, 'e> {
    tasks: &'t [NodeTask<'e>],
    scanner: Scanner<'e>,
    started: &'t AtomicUsize,
}

struct NodeTask<'e> {
    reader: Mutex<Reading<'e>>,
    state: Mutex<State>,
    folding: Mutex<Folding<'e>>,
}

struct Reading<'e> {
    reader: NodeReader<'e>,
    next: u64,
}

/// What is between reading and folding.
#[derive(Default)]
struct State {
    /// Steps that are read and not folded.
    in_flight: usize,
    /// Scanned steps that wait for their turn.
    ready: BTreeMap<u64, Done>,
    /// The step to fold next.
    turn: u64,
    folding: bool,
    reading: bool,
    ended: bool,
    buffers: Vec<Vec<u8>>,
}

impl<'t, 'e> Shared<'t, 'e> {
    /// Starts the next node that no one has started.
    fn start_next<'s>(self, scope: &Scope<'s>)
    where
        't: 's,
        'e: 's,
    {
        if let Some(task) = self.tasks.get(self.started.fetch_add(1, Ordering::Relaxed)) {
            lock(&task.state).reading = true;
            scope.spawn(move |scope| self.read(scope, task));
        }
    }

    /// Reads one step of a node and hands it on; goes on reading while there is room.
    fn read<'s>(self, scope: &Scope<'s>, task: &'t NodeTask<'e>)
    where
        't: 's,
        'e: 's,
    {
        let buffer = lock(&task.state).buffers.pop().unwrap_or_default();
        let (step, number) = {
            let mut reading = lock(&task.reader);
            let number = reading.next;
            reading.next += 1;
            (reading.reader.next(buffer), number)
        };
        let Some(step) = step else {
            let mut state = lock(&task.state);
            state.reading = false;
            state.ended = true;
            drop(state);
            return self.start_next(scope);
        };
        {
            let mut state = lock(&task.state);
            state.in_flight += 1;
            state.reading = state.in_flight < IN_FLIGHT;
            if state.reading {
                scope.spawn(move |scope| self.read(scope, task));
            }
        }
        let done = match step {
            Step::Block(work) => self.scan(work),
            Step::Ended { artifact, error } => Done::Ended { artifact, error },
            Step::LogEnded => Done::LogEnded,
        };
        self.fold(scope, task, number, done);
    }

    fn scan(self, work: Work) -> Done {
        let Work {
            role,
            artifact,
            format,
            hashed,
            viewed,
            block,
        } = work;
        let context = BlockContext {
            format,
            hashed,
            viewed,
            continues: block.continues,
            last: block.last,
            origin: block.origin.as_deref(),
        };
        let scan = self.scanner.scan(&block.bytes, context);
        let artifact = u32::try_from(artifact).unwrap_or(u32::MAX);
        Done::Block(
            role,
            Arc::new(Scanned {
                artifact,
                block,
                first_line: 0,
                scan,
            }),
        )
    }

    /// Puts a step in its place, and folds all whose turn has come unless another thread does.
    fn fold<'s>(self, scope: &Scope<'s>, task: &'t NodeTask<'e>, number: u64, done: Done)
    where
        't: 's,
        'e: 's,
    {
        let mut state = lock(&task.state);
        state.ready.insert(number, done);
        if state.folding {
            return;
        }
        state.folding = true;
        loop {
            let turn = state.turn;
            let Some(done) = state.ready.remove(&turn) else {
                break;
            };
            drop(state);
            let buffer = lock(&task.folding).take(done);
            state = lock(&task.state);
            state.buffers.extend(buffer);
            state.turn += 1;
            state.in_flight -= 1;
            if !state.reading && !state.ended {
                state.reading = true;
                scope.spawn(move |scope| self.read(scope, task));
            }
        }
        state.folding = false;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
