//! The blocks of one node's logs, one after another, the err.log side by side with its main log; and of nodes whose logs
//! share a file, in turn.

use std::collections::VecDeque;
use std::io::{self, Read};

use super::Progress;
use super::inputs::Looked;
use super::sharing::{Files, SharedLog};
use crate::intake::{Block, BlockReader, Limits, Role};
use crate::streams::{Log, Source, Stream};
use crate::time::Timestamp;
use crate::wrappers::{StreamReader, TableReader};

/// One step of a node's reading, in the order in which it must be folded.
#[derive(Debug)]
pub(super) enum Step {
    /// The next block of a log's side.
    Block(Work),
    /// An artifact ended; why, if before its end.
    Ended {
        /// The artifact.
        artifact: usize,
        /// The byte and the reason.
        error: Option<String>,
    },
    /// Both sides of the log have ended.
    LogEnded,
}

/// A block to scan.
#[derive(Debug)]
pub(super) struct Work {
    /// Main log or err.log.
    pub(super) role: Role,
    /// The artifact and its log.
    pub(super) source: Source,
    /// Whether the log has a twin.
    pub(super) hashed: bool,
    /// Whether it has exports of the same records.
    pub(super) viewed: bool,
    /// The bytes.
    pub(super) block: Block,
}

/// Reads the logs of nodes that are read together.
pub(super) struct GroupReader<'p> {
    nodes: Vec<NodeReader<'p>>,
    /// The node whose turn it is, and how many steps of each were given.
    turn: usize,
    given: Vec<u64>,
}

impl<'p> GroupReader<'p> {
    pub(super) fn new(nodes: Vec<NodeReader<'p>>) -> Self {
        Self {
            turn: 0,
            given: vec![0; nodes.len()],
            nodes,
        }
    }

    /// The next step of some node: which node, the step's number among the node's, and the step; `None` when all are read.
    pub(super) fn next(&mut self, buffer: Vec<u8>) -> Option<(usize, u64, Step)> {
        loop {
            let mut waiting = None;
            let count = self.nodes.len();
            for at in (0..count).map(|at| (self.turn + at) % count) {
                match self.nodes[at].state() {
                    State::Ready => {
                        self.turn = at + 1;
                        let step = self.nodes[at].next(buffer)?;
                        self.given[at] += 1;
                        return Some((at, self.given[at] - 1, step));
                    }
                    State::Waits => waiting = waiting.or(Some(at)),
                    State::Ended => {}
                }
            }
            // Where nobody has what he needs, the file is read on; what it gives may be another one's.
            self.nodes[waiting?].advance();
        }
    }
}

/// Whether a node's reader can go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ready,
    /// For a log in a file that others share.
    Waits,
    Ended,
}

/// Reads the logs of one node.
pub(super) struct NodeReader<'p> {
    looked: &'p Looked,
    files: &'p Files<'p>,
    progress: &'p Progress,
    limits: Limits,
    logs: VecDeque<Log>,
    current: Option<Pair>,
    queued: VecDeque<Step>,
}

/// A log, its twin and its views while they are read.
struct Pair {
    /// The main log, the err.log, and a side for each view.
    sides: Vec<(Role, Side)>,
    hashed: bool,
    viewed: bool,
}

/// The pieces of one side that are still to be read.
struct Side {
    pieces: VecDeque<Source>,
    open: Option<(Source, Blocks)>,
}

/// The blocks of a log, as it is or as it is wrapped.
enum Blocks {
    Plain(Box<BlockReader>),
    Wrapped(Box<StreamReader>),
    Shared(SharedLog),
    Table(Box<TableReader>),
}

impl<'p> NodeReader<'p> {
    pub(super) fn new(
        looked: &'p Looked,
        files: &'p Files<'p>,
        progress: &'p Progress,
        limits: Limits,
        logs: Vec<Log>,
    ) -> Self {
        Self {
            looked,
            files,
            progress,
            limits,
            logs: logs.into(),
            current: None,
            queued: VecDeque::new(),
        }
    }

    /// Whether there is a step, or how it can be had.
    fn state(&mut self) -> State {
        if !self.queued.is_empty() {
            return State::Ready;
        }
        if self.current.is_none() {
            self.current = self.logs.pop_front().map(Pair::new);
        }
        let Some(mut pair) = self.current.take() else {
            return State::Ended;
        };
        for (_, side) in &mut pair.sides {
            self.prepare(side);
        }
        let waits = pair.waiting().is_some();
        self.current = Some(pair);
        if waits && self.queued.is_empty() {
            State::Waits
        } else {
            State::Ready
        }
    }

    /// Reads on in the file that it waits for.
    fn advance(&mut self) {
        if let Some(log) = self.current.as_ref().and_then(Pair::waiting) {
            log.advance();
        }
    }

    /// The next step, if there is one.
    fn next(&mut self, buffer: Vec<u8>) -> Option<Step> {
        if let Some(step) = self.queued.pop_front() {
            return Some(step);
        }
        let mut pair = self.current.take()?;
        let Some(at) = pair.earliest() else {
            return Some(Step::LogEnded);
        };
        let (hashed, viewed) = (pair.hashed, pair.viewed);
        let (role, side) = &mut pair.sides[at];
        let step = self.block(side, *role, (hashed, viewed), buffer);
        self.current = Some(pair);
        Some(step)
    }

    /// Opens the side's next piece if none is open.
    fn prepare(&mut self, side: &mut Side) {
        let let_go = match &side.open {
            Some((source, Blocks::Shared(log))) if log.is_let_go() => {
                Some((*source, self.files.alone(*source, log)))
            }
            Some(_) | None => None,
        };
        if let Some((source, alone)) = let_go {
            side.open = None;
            self.opened(side, source, alone.map(|it| Blocks::Wrapped(Box::new(it))));
        }
        while side.open.is_none() {
            let Some(source) = side.pieces.pop_front() else {
                return;
            };
            let blocks = match self.files.log(source) {
                Some(log) => log.map(Blocks::Shared),
                None => self
                    .looked
                    .open(source, self.progress)
                    .map(|reader| self.blocks(source, reader)),
            };
            self.opened(side, source, blocks);
        }
    }

    fn opened(&mut self, side: &mut Side, source: Source, blocks: Result<Blocks, String>) {
        match blocks {
            Ok(blocks) => side.open = Some((source, blocks)),
            Err(error) => self.queued.push_back(Step::Ended {
                artifact: source.artifact,
                error: Some(error),
            }),
        }
    }

    fn blocks(&self, source: Source, reader: Box<dyn Read + Send>) -> Blocks {
        if let Some((form, table)) = self.looked.export(source) {
            let reader = TableReader::new(reader, form, table, self.limits);
            return Blocks::Table(Box::new(reader));
        }
        if let Some(log) = self.looked.wrapped(source) {
            let reading = log.reading(source.stream == 0);
            return Blocks::Wrapped(Box::new(StreamReader::new(reader, reading, self.limits)));
        }
        let is_head = move |line: &[u8]| source.format.is_head(line);
        Blocks::Plain(Box::new(BlockReader::new(reader, is_head, self.limits)))
    }

    fn block(
        &mut self,
        side: &mut Side,
        role: Role,
        (hashed, viewed): (bool, bool),
        buffer: Vec<u8>,
    ) -> Step {
        let Some((source, reader)) = &mut side.open else {
            return Step::LogEnded;
        };
        let (source, artifact) = (*source, source.artifact);
        let next = reader.next(buffer);
        let ended = next.as_ref().is_none_or(|block| block.last);
        if ended {
            let error = reader
                .take_error()
                .map(|(offset, error)| format!("stopped at unpacked byte {offset}: {error}"));
            side.open = None;
            if next.is_none() {
                return Step::Ended { artifact, error };
            }
            self.queued.push_back(Step::Ended { artifact, error });
        }
        match next {
            Some(block) => Step::Block(Work {
                role,
                source,
                hashed,
                viewed,
                block,
            }),
            None => Step::Ended {
                artifact,
                error: None,
            },
        }
    }
}

impl Blocks {
    fn next(&mut self, buffer: Vec<u8>) -> Option<Block> {
        match self {
            Self::Plain(reader) => reader.next(buffer),
            Self::Wrapped(reader) => reader.next(buffer),
            Self::Shared(log) => log.next(buffer),
            Self::Table(reader) => reader.next(buffer),
        }
    }

    fn peek(&mut self, stamp: impl Fn(&[u8]) -> Option<Timestamp>) -> Option<Timestamp> {
        match self {
            Self::Plain(reader) => reader.peek(stamp),
            Self::Wrapped(reader) => reader.peek(stamp),
            Self::Shared(log) => log.peek(stamp),
            Self::Table(reader) => reader.peek(stamp),
        }
    }

    fn take_error(&mut self) -> Option<(u64, io::Error)> {
        match self {
            Self::Plain(reader) => reader.take_error(),
            Self::Wrapped(reader) => reader.take_error(),
            Self::Shared(log) => log.error(),
            Self::Table(reader) => reader.take_error(),
        }
    }
}

impl Pair {
    fn new(log: Log) -> Self {
        let (hashed, viewed) = (log.has_twins(), !log.views.is_empty());
        let of = |stream| Side::new(stream);
        let mut sides = vec![(Role::Main, of(log.main)), (Role::Err, of(log.err))];
        let views = log
            .views
            .into_iter()
            .map(|view| Stream { pieces: vec![view] });
        sides.extend(views.map(|view| (Role::View, of(view))));
        Self {
            sides,
            hashed,
            viewed,
        }
    }

    /// A log in a shared file that has nothing yet.
    fn waiting(&self) -> Option<&SharedLog> {
        let open = self.sides.iter().filter_map(|(_, side)| side.open.as_ref());
        let mut shared = open.filter_map(|(_, blocks)| match blocks {
            Blocks::Shared(log) => Some(log),
            Blocks::Plain(_) | Blocks::Wrapped(_) | Blocks::Table(_) => None,
        });
        shared.find(|log| !log.is_ready())
    }

    /// The side whose next stamp is the earliest, of equal ones the first.
    fn earliest(&mut self) -> Option<usize> {
        let sides = self.sides.iter_mut().enumerate();
        let stamped = sides.filter_map(|(at, (role, side))| {
            let (source, blocks) = side.open.as_mut()?;
            Some((stamp((*role, *source, blocks)), at))
        });
        stamped.min().map(|(_, at)| at)
    }
}

impl Side {
    fn new(stream: Stream) -> Self {
        Self {
            pieces: stream.pieces.into(),
            open: None,
        }
    }
}

/// The stamp of the next head; the earliest possible one where there is none, so that such bytes are read first. So is a view
/// that is read whole.
fn stamp((role, source, reader): (Role, Source, &mut Blocks)) -> Timestamp {
    let format = source.format;
    let stamp = if role == Role::View && source.is_held {
        None
    } else {
        reader.peek(|line| format.stamp(line))
    };
    stamp.unwrap_or(Timestamp(i64::MIN))
}
