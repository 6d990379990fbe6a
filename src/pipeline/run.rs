//! Reading, scanning and folding spread over threads, with the same result for any number of them.
//!
//! Every node's blocks are read in order by one task at a time, scanned by any thread, and folded in the order of
//! reading by one task at a time. So a thread unpacks while others scan, and what comes out depends on the input alone.
//! What is in flight is bounded per node, and so is the number of nodes at work.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::{Scope, ThreadPool};

use super::inputs::{ArtifactFacts, Looked, NodeScan};
use super::reader::{NodeReader, Step, Work};
use super::{Plan, Progress};
use crate::intake::Role;
use crate::rules::RuleBase;
use crate::scan::{BlockContext, Grep, Scanner};
use crate::signals::tally::NodeTally;
use crate::streams::{Fold, FoldRules, Log, Scanned, Twins};

/// Blocks of one node between reading and folding: enough to keep the threads busy, few enough to stay small.
const IN_FLIGHT: usize = 6;

/// Scans all logs; one result per node, by run and node.
pub(super) fn scan(
    pool: &ThreadPool,
    plan: &Plan,
    looked: &Looked,
    rules: &RuleBase,
    progress: &Progress,
) -> Vec<NodeScan> {
    let listed = plan
        .listing
        .map(|listing| Grep::new(listing.signal, &rules.signals));
    let scanner = Scanner {
        signals: &rules.signals,
        families: &rules.families,
        since: plan.since,
        until: plan.until,
        grep: listed.as_ref(),
    };
    let fold_rules = FoldRules {
        signals: &rules.signals,
        counters: &rules.counters,
        subjects_max: plan.subjects_max,
        start: rules.environment.start_signal(),
        listed: plan.listing.map(|l| (l.signal, l.records_max)),
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
            let tally = NodeTally::new(&run, &node, rules.signals.signals(), rules.counters.len());
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

/// A step after its scan.
enum Done {
    Block(Role, Arc<Scanned>),
    Ended {
        artifact: usize,
        error: Option<String>,
    },
    LogEnded,
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
            block,
        } = work;
        let context = BlockContext {
            format,
            hashed,
            continues: block.continues,
            last: block.last,
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

/// The folds of one node's logs, one after another.
struct Folding<'e> {
    rules: FoldRules<'e>,
    logs: VecDeque<(bool, bool)>,
    fold: Option<(Fold<'e>, Twins)>,
    tally: Option<NodeTally>,
    artifacts: BTreeMap<usize, ArtifactFacts>,
}

impl<'e> Folding<'e> {
    fn new(rules: FoldRules<'e>, tally: NodeTally, logs: &[Log]) -> Self {
        let is_log = |log: &Log| {
            log.main
                .pieces
                .iter()
                .chain(&log.err.pieces)
                .all(|s| s.format.spec().counts_records)
        };
        let logs = logs
            .iter()
            .map(|log| {
                (
                    is_log(log),
                    !log.err.pieces.is_empty() && !log.main.pieces.is_empty(),
                )
            })
            .collect();
        Self {
            rules,
            logs,
            fold: None,
            tally: Some(tally),
            artifacts: BTreeMap::new(),
        }
    }

    /// Folds one step; gives back a block's memory if nothing points into it any more.
    fn take(&mut self, done: Done) -> Option<Vec<u8>> {
        match done {
            Done::Block(role, mut scanned) => {
                self.place(&mut scanned);
                let (fold, twins) = self.open()?;
                match role {
                    Role::Main => twins.main(&scanned, fold),
                    Role::Err => twins.err(&scanned, fold),
                }
                Arc::into_inner(scanned).map(|scanned| scanned.block.bytes)
            }
            Done::Ended { artifact, error } => {
                let facts = self.artifacts.entry(artifact).or_default();
                facts.error = error.or(facts.error.take());
                None
            }
            Done::LogEnded => {
                self.open()?;
                let (mut fold, twins) = self.fold.take()?;
                twins.finish(&mut fold);
                self.tally = Some(fold.finish());
                self.logs.pop_front();
                None
            }
        }
    }

    /// The fold of the log being read.
    fn open(&mut self) -> Option<&mut (Fold<'e>, Twins)> {
        if self.fold.is_none() {
            let &(is_log, twins) = self.logs.front()?;
            self.fold = Some((
                Fold::new(self.rules, self.tally.take()?, !is_log),
                Twins::new(twins),
            ));
        }
        self.fold.as_mut()
    }

    /// Gives a block its lines, and its artifact its totals.
    fn place(&mut self, scanned: &mut Arc<Scanned>) {
        let facts = self.artifacts.entry(scanned.artifact as usize).or_default();
        if let Some(scanned) = Arc::get_mut(scanned) {
            scanned.first_line = facts.lines + 1;
        }
        facts.add(&scanned.scan);
    }

    fn finish(self) -> NodeScan {
        let tally = self.tally.unwrap_or_else(|| {
            NodeTally::new(
                "",
                "",
                self.rules.signals.signals(),
                self.rules.counters.len(),
            )
        });
        NodeScan {
            tally,
            artifacts: self.artifacts,
        }
    }
}
