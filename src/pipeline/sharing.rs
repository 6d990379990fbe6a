//! Files whose logs are of several nodes, or several logs of one: each is read in one pass, and the nodes it is of together.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Progress;
use super::inputs::Looked;
use super::wrapped::Wrapped;
use crate::intake::{Block, Limits};
use crate::streams::{Log, Source};
use crate::time::Timestamp;
use crate::wrappers::{Demux, Reading, StreamReader, side_by_side};

/// The files that are read in one pass, opened when the first of their logs is asked for.
pub(super) struct Files<'p> {
    looked: &'p Looked,
    progress: &'p Progress,
    limits: Limits,
    opened: Mutex<BTreeMap<usize, Result<SharedFile, String>>>,
}

/// A file that is read in one pass.
type SharedFile = Arc<Mutex<Demux>>;

/// One log of a file that is read in one pass.
pub(super) struct SharedLog {
    file: SharedFile,
    log: usize,
    /// How many blocks of it were taken.
    taken: usize,
}

impl<'p> Files<'p> {
    pub(super) fn new(looked: &'p Looked, progress: &'p Progress, limits: Limits) -> Self {
        Self {
            looked,
            progress,
            limits,
            opened: Mutex::default(),
        }
    }

    /// A log of a file that is read in one pass; `None` if the file is not.
    pub(super) fn log(&self, source: Source) -> Option<Result<SharedLog, String>> {
        if !is_shared(self.looked, source.artifact, self.limits) {
            return None;
        }
        let mut opened = lock(&self.opened);
        let file = opened
            .entry(source.artifact)
            .or_insert_with(|| self.open(source.artifact));
        Some(file.clone().map(|file| SharedLog {
            file,
            log: source.stream,
            taken: 0,
        }))
    }

    fn open(&self, artifact: usize) -> Result<SharedFile, String> {
        let (file, _) = self.looked.logs_in(artifact);
        self.progress.done.fetch_add(file.bytes, Ordering::Relaxed);
        let reader = self.looked.open_tests(artifact)?;
        let readings = readings(self.looked, artifact);
        Ok(Arc::new(Mutex::new(Demux::new(
            reader,
            readings,
            self.limits,
        ))))
    }

    /// The reader of a log that was let go, where the pass over its file has left it.
    pub(super) fn alone(&self, source: Source, log: &SharedLog) -> Result<StreamReader, String> {
        let reader = self.looked.open_again(source)?;
        let mut all = readings(self.looked, source.artifact);
        let limits = side_by_side(all.len(), self.limits);
        let mut alone = StreamReader::new(reader, all.swap_remove(source.stream), limits);
        let mut buffer = Vec::new();
        for _ in 0..log.taken {
            // Whatever was taken is there again, in the same blocks.
            let Some(block) = alone.next(buffer) else {
                break;
            };
            buffer = block.bytes;
        }
        Ok(alone)
    }
}

/// Whether the logs of an artifact are read in one pass. It does not pay for what is a single block anyway.
pub(super) fn is_shared(looked: &Looked, artifact: usize, limits: Limits) -> bool {
    let (file, logs) = looked.logs_in(artifact);
    file.bytes > u64::try_from(limits.block_bytes).unwrap_or(u64::MAX)
        && logs.len() > 1
        && logs.iter().all(Wrapped::is_in_order)
        && Demux::can_read(logs.iter().map(|log| log.layers.as_slice()))
}

/// How each log of an artifact is read.
fn readings(looked: &Looked, artifact: usize) -> Vec<Reading<'_>> {
    let (_, logs) = looked.logs_in(artifact);
    let logs = logs.iter().enumerate();
    logs.map(|(at, log)| log.reading(at == 0)).collect()
}

impl SharedLog {
    /// Whether it has a block or none will come.
    pub(super) fn is_ready(&self) -> bool {
        lock(&self.file).is_ready(self.log)
    }

    /// Whether it has to be read alone.
    pub(super) fn is_let_go(&self) -> bool {
        lock(&self.file).is_let_go(self.log)
    }

    /// Reads on in its file.
    pub(super) fn advance(&self) {
        lock(&self.file).advance();
    }

    pub(super) fn next(&mut self, buffer: Vec<u8>) -> Option<Block> {
        let block = lock(&self.file).next(self.log, buffer);
        self.taken += usize::from(block.is_some());
        block
    }

    pub(super) fn peek(&self, stamp: impl Fn(&[u8]) -> Option<Timestamp>) -> Option<Timestamp> {
        lock(&self.file).peek(self.log, stamp)
    }

    pub(super) fn error(&self) -> Option<(u64, io::Error)> {
        lock(&self.file).error()
    }
}

/// Nodes by what they share: those whose logs are in a file that is read in one pass are read together. In their order, each
/// group by the first of its nodes.
pub(super) fn groups<'l>(
    nodes: impl Iterator<Item = &'l [Log]>,
    is_shared: impl Fn(usize) -> bool,
) -> Vec<Vec<usize>> {
    // The group of each node, and of each file.
    let mut group_of: Vec<usize> = Vec::new();
    let mut of_file: BTreeMap<usize, usize> = BTreeMap::new();
    for (node, logs) in nodes.enumerate() {
        group_of.push(node);
        let sources = logs.iter().flat_map(|log| {
            let err = log.err.pieces.iter().chain(&log.views);
            log.main.pieces.iter().chain(err)
        });
        for source in sources.filter(|source| is_shared(source.artifact)) {
            let group = *of_file.entry(source.artifact).or_insert(node);
            join(&mut group_of, group, node);
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for node in 0..group_of.len() {
        groups.entry(first(&group_of, node)).or_default().push(node);
    }
    groups.into_values().collect()
}

/// The first node of a node's group.
fn first(group_of: &[usize], mut node: usize) -> usize {
    while group_of[node] != node {
        node = group_of[node];
    }
    node
}

fn join(group_of: &mut [usize], a: usize, b: usize) {
    let (a, b) = (first(group_of, a), first(group_of, b));
    group_of[a.max(b)] = a.min(b);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsers::Format;

    #[test]
    fn nodes_that_share_files_are_read_together() {
        let log = |files: &[usize]| {
            let source = |&artifact| Source {
                artifact,
                stream: 0,
                format: Format::CLICKHOUSE,
                coarse: false,
                is_collected: false,
                is_whole: false,
                is_excerpt: false,
                is_taken: false,
                is_held: false,
                follows_hole: false,
            };
            let mut log = Log::default();
            log.main.pieces = files.iter().map(source).collect();
            vec![log]
        };
        // Files 1 and 2 are shared; 9 is not, whoever has logs in it.
        let nodes = [log(&[1]), log(&[9]), log(&[2]), log(&[9, 1]), log(&[2, 1])];
        let nodes = nodes.iter().map(Vec::as_slice);
        assert_eq!(groups(nodes, |file| file < 9), [vec![0, 2, 3, 4], vec![1]]);
    }
}
