//! Reading, scanning and folding spread over threads, with the same result for any number of them.
//!
//! Every node's blocks are read in order by one task at a time, scanned by any thread, and folded in the order of
//! reading by one task at a time. So a thread unpacks while others scan, and what comes out depends on the input alone.
//! Nodes whose logs share a file are read together, a block of one and a block of another, so that the file is read once.
//! What is in flight is bounded per group of nodes, and so is the number of groups at work.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::{Scope, ThreadPool};

use super::folding::{Done, Folding};
use super::inputs::{Looked, NodeScan};
use super::reader::{GroupReader, NodeReader, Step, Work};
use super::sharing::{Files, groups, is_shared};
use super::{Plan, Progress};
use crate::rules::RuleBase;
use crate::scan::{BlockContext, Grep, Scanner};
use crate::signals::tally::Watch;
use crate::streams::{FoldRules, Log, Scanned};

/// Blocks of one group between reading and folding: enough to keep the threads busy, few enough to stay small.
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
        uses: &rules.uses,
        stalls: &rules.stalls,
        paired: &rules.paired,
        awaited: &rules.awaited,
        subjects_max: plan.subjects_max,
        start: rules.environment.start_signal(),
        listed: plan.listing.map(|l| (l.signal, l.records_max)),
        watch: (!watch.is_empty()).then_some(watch),
        texts: &rules.ignored_texts,
    };
    let mut by_node: BTreeMap<(String, String), Vec<Log>> = BTreeMap::new();
    for log in looked.logs() {
        by_node
            .entry((log.run.clone(), log.node.clone()))
            .or_default()
            .push(log);
    }
    let files = Files::new(looked, progress, plan.limits);
    let by_node: Vec<((String, String), Vec<Log>)> = by_node.into_iter().collect();
    let grouped = groups(
        by_node.iter().map(|(_, logs)| logs.as_slice()),
        |artifact| is_shared(looked, artifact, plan.limits),
    );
    let mut by_node: Vec<_> = by_node.into_iter().map(Some).collect();
    let mut node = |at: usize| {
        let ((run, node), logs) = by_node[at].take()?;
        let tally = fold_rules.tally(&run, &node);
        let folding = Folding::new(&fold_rules, tally, &logs);
        let reader = NodeReader::new(looked, &files, progress, plan.limits, logs);
        Some((reader, NodeTask::new(at, folding)))
    };
    let group = |nodes: Vec<usize>| {
        let (readers, nodes) = nodes.into_iter().filter_map(&mut node).unzip();
        Group {
            reader: Mutex::new(GroupReader::new(readers)),
            state: Mutex::default(),
            nodes,
        }
    };
    let tasks: Vec<Group<'_>> = grouped.into_iter().map(group).collect();
    let started = AtomicUsize::new(0);
    work(
        pool,
        Shared {
            tasks: &tasks,
            scanner,
            started: &started,
        },
    );
    let mut nodes: Vec<NodeTask<'_>> = tasks.into_iter().flat_map(|group| group.nodes).collect();
    nodes.sort_by_key(|node| node.at);
    nodes.into_iter().map(NodeTask::finish).collect()
}

/// Does all the reading, scanning and folding.
fn work(pool: &ThreadPool, shared: Shared<'_, '_>) {
    pool.scope(|scope| {
        // One more group than threads: where one waits for its reader, another has work.
        for _ in 0..=pool.current_num_threads() {
            shared.start_next(scope);
        }
    });
}

#[derive(Clone, Copy)]
struct Shared<'t, 'e> {
    tasks: &'t [Group<'e>],
    scanner: Scanner<'e>,
    started: &'t AtomicUsize,
}

/// Nodes that are read together; most are alone.
struct Group<'e> {
    reader: Mutex<GroupReader<'e>>,
    state: Mutex<State>,
    nodes: Vec<NodeTask<'e>>,
}

/// What is between reading and folding.
#[derive(Default)]
struct State {
    /// Steps that are read and not folded.
    in_flight: usize,
    reading: bool,
    ended: bool,
    buffers: Vec<Vec<u8>>,
}

struct NodeTask<'e> {
    /// Where it is among all nodes.
    at: usize,
    steps: Mutex<Steps>,
    folding: Mutex<Folding<'e>>,
}

/// The steps of a node that are to be folded.
#[derive(Default)]
struct Steps {
    /// Scanned steps that wait for their turn.
    ready: BTreeMap<u64, Done>,
    /// The step to fold next.
    turn: u64,
    folding: bool,
}

impl<'e> NodeTask<'e> {
    fn new(at: usize, folding: Folding<'e>) -> Self {
        Self {
            at,
            steps: Mutex::default(),
            folding: Mutex::new(folding),
        }
    }

    fn finish(self) -> NodeScan {
        self.folding
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .finish()
    }
}

impl<'t, 'e> Shared<'t, 'e> {
    /// Starts the next group that no one has started.
    fn start_next<'s>(self, scope: &Scope<'s>)
    where
        't: 's,
        'e: 's,
    {
        if let Some(group) = self.tasks.get(self.started.fetch_add(1, Ordering::Relaxed)) {
            lock(&group.state).reading = true;
            scope.spawn(move |scope| self.read(scope, group));
        }
    }

    /// Reads one step of a group and hands it on; goes on reading while there is room.
    fn read<'s>(self, scope: &Scope<'s>, group: &'t Group<'e>)
    where
        't: 's,
        'e: 's,
    {
        let buffer = lock(&group.state).buffers.pop().unwrap_or_default();
        let Some((node, number, step)) = lock(&group.reader).next(buffer) else {
            let mut state = lock(&group.state);
            state.reading = false;
            state.ended = true;
            drop(state);
            return self.start_next(scope);
        };
        {
            let mut state = lock(&group.state);
            state.in_flight += 1;
            state.reading = state.in_flight < IN_FLIGHT;
            if state.reading {
                scope.spawn(move |scope| self.read(scope, group));
            }
        }
        let done = match step {
            Step::Block(work) => self.scan(work),
            Step::Ended { artifact, error } => Done::Ended { artifact, error },
            Step::LogEnded => Done::LogEnded,
        };
        self.fold(scope, group, &group.nodes[node], (number, done));
    }

    fn scan(self, work: Work) -> Done {
        let Work {
            role,
            source,
            hashed,
            viewed,
            block,
        } = work;
        let context = BlockContext {
            format: source.format,
            hashed,
            viewed,
            continues: block.continues,
            last: block.last,
            origin: block.origin.as_deref(),
        };
        let scan = self.scanner.scan(&block.bytes, context);
        let artifact = u32::try_from(source.artifact).unwrap_or(u32::MAX);
        Done::Block(
            role,
            Arc::new(Scanned {
                artifact,
                source,
                block,
                first_line: 0,
                scan,
            }),
        )
    }

    /// Puts a step in its place, and folds all whose turn has come unless another thread does.
    fn fold<'s>(
        self,
        scope: &Scope<'s>,
        group: &'t Group<'e>,
        node: &'t NodeTask<'e>,
        (number, done): (u64, Done),
    ) where
        't: 's,
        'e: 's,
    {
        let mut steps = lock(&node.steps);
        steps.ready.insert(number, done);
        if steps.folding {
            return;
        }
        steps.folding = true;
        loop {
            let turn = steps.turn;
            let Some(done) = steps.ready.remove(&turn) else {
                break;
            };
            drop(steps);
            let buffer = lock(&node.folding).take(done);
            self.folded(scope, group, buffer);
            steps = lock(&node.steps);
            steps.turn += 1;
        }
        steps.folding = false;
    }

    /// A step is done: there may be room to read on.
    fn folded<'s>(self, scope: &Scope<'s>, group: &'t Group<'e>, buffer: Option<Vec<u8>>)
    where
        't: 's,
        'e: 's,
    {
        let mut state = lock(&group.state);
        state.buffers.extend(buffer);
        state.in_flight -= 1;
        if !state.reading && !state.ended {
            state.reading = true;
            scope.spawn(move |scope| self.read(scope, group));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
