//! All logs of a file whose wrapper holds several line by line, read in one pass.
//!
//! Each log is cut into the same blocks as if it were read alone, and its blocks wait here until they are asked for. Who
//! reads one log and not another one lets the other's blocks pile up; beyond a bound the log with most of them is let go,
//! and has to be read for itself.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read};

use super::lines::{Line, LineReader};
use super::reader::Reading;
use super::stack::{Bare, Place, Sink, Stack};
use super::text::{Text, stamp_of};
use super::{Key, Layer};
use crate::intake::{Block, Limits};
use crate::time::Timestamp;

/// How many blocks of full size may wait, of all logs together.
const WAITING_MAX: usize = 32;

/// Of more logs than this the blocks are smaller, so that they cost no more together.
const FULL_BLOCKS: usize = 8;

/// The smallest that blocks become for that, in bytes.
const SMALL_BLOCK_BYTES: usize = 64 << 10;

/// How many used blocks' memories are kept.
const SPARE_MAX: usize = 8;

/// Reads the logs of a wrapped file side by side.
pub struct Demux {
    lines: LineReader,
    /// The wrappers that stand around all logs, down to the one that holds several.
    stack: Stack,
    lanes: Lanes,
    /// Where each log is: its group, and its place in it.
    places: Vec<(usize, usize)>,
    /// How many bytes wait, and how many may.
    waiting: usize,
    waiting_max: usize,
    spare: Vec<Vec<u8>>,
    ended: bool,
    error: Option<(u64, io::ErrorKind, String)>,
}

/// The logs, grouped by the outermost key: where further wrappers hold several, logs share it.
struct Lanes {
    groups: Vec<(Key<Vec<u8>>, Vec<Lane>)>,
    /// The group of the last message; beyond the end where it is of none.
    last: usize,
    /// Whether this line gave it anything.
    is_touched: bool,
}

/// One log.
struct Lane {
    /// The wrappers below the one that holds several.
    stack: Stack,
    text: Text,
    blocks: VecDeque<Block>,
    /// Whether it is read for itself.
    is_let_go: bool,
    /// How long its text was before this line.
    before: usize,
}

/// Where the first wrapper is that holds several logs.
fn split_of(layers: &[Layer]) -> Option<usize> {
    layers
        .iter()
        .position(|layer| layer.wrapper.spec().is_split)
}

/// How the blocks of so many logs of a file are cut.
pub fn side_by_side(logs: usize, limits: Limits) -> Limits {
    let share = limits.block_bytes.saturating_mul(FULL_BLOCKS) / logs.max(1);
    let smallest = SMALL_BLOCK_BYTES.min(limits.block_bytes);
    Limits {
        block_bytes: share.clamp(smallest, limits.block_bytes),
        ..limits
    }
}

impl Demux {
    /// Whether the logs with these layers can be read in one pass: the same wrappers stand around them down to the first one
    /// that holds several.
    pub fn can_read<'l>(logs: impl IntoIterator<Item = &'l [Layer]>) -> bool {
        let kinds = |layers: &[Layer]| {
            let outer = layers.get(..=split_of(layers)?)?;
            Some(outer.iter().map(|it| it.wrapper).collect::<Vec<_>>())
        };
        let mut logs = logs.into_iter().map(kinds);
        let first = logs.next().flatten();
        first.is_some() && logs.all(|kinds| kinds == first)
    }

    /// Starts at the beginning of `reader`, with logs that can be read in one pass.
    pub fn new(reader: Box<dyn Read + Send>, logs: Vec<Reading<'_>>, limits: Limits) -> Self {
        let waiting_max = limits.block_bytes.saturating_mul(WAITING_MAX);
        let limits = side_by_side(logs.len(), limits);
        let paths = logs.first().map_or(Vec::new(), |log| log.paths.to_vec());
        let mut outer: Vec<Layer> = Vec::new();
        let mut places = vec![(0, 0); logs.len()];
        let mut groups: BTreeMap<Key<Vec<u8>>, Vec<(usize, Lane)>> = BTreeMap::new();
        for (at, log) in logs.into_iter().enumerate() {
            let split = split_of(log.layers).map_or(0, |split| split + 1);
            let (above, below) = log.layers.split_at(split);
            if outer.is_empty() {
                outer = above.to_vec();
            }
            let key = above.last().and_then(|layer| layer.key.clone());
            let mut stack = Stack::new(below, true);
            stack.know_paths(log.paths);
            let lane = Lane {
                stack,
                text: Text::new(log, limits),
                blocks: VecDeque::new(),
                is_let_go: false,
                before: 0,
            };
            let group = groups.entry(key.unwrap_or_default()).or_default();
            group.push((at, lane));
        }
        if let Some(split) = outer.last_mut() {
            split.key = None;
        }
        let mut stack = Stack::new(&outer, true);
        stack.know_paths(&paths);
        let place = |(group, (key, lanes)): (usize, (_, Vec<(usize, Lane)>))| {
            for (lane, (at, _)) in lanes.iter().enumerate() {
                places[*at] = (group, lane);
            }
            (key, lanes.into_iter().map(|(_, lane)| lane).collect())
        };
        let groups = groups.into_iter().enumerate().map(place).collect();
        Self {
            lines: LineReader::new(reader, limits.record_bytes),
            stack,
            lanes: Lanes {
                groups,
                last: usize::MAX,
                is_touched: false,
            },
            places,
            waiting: 0,
            waiting_max,
            spare: Vec::new(),
            ended: false,
            error: None,
        }
    }

    /// Whether a log has a block, or will have no more of them here.
    pub fn is_ready(&self, log: usize) -> bool {
        self.lane(log)
            .is_none_or(|lane| self.ended || lane.is_let_go || !lane.blocks.is_empty())
    }

    /// Whether a log was let go: what was not yet taken of it has to be read from the file.
    pub fn is_let_go(&self, log: usize) -> bool {
        self.lane(log).is_some_and(|lane| lane.is_let_go)
    }

    /// The stamp of the first record of a log's next block, as `stamp` reads it; nothing if it is not ready.
    pub fn peek(
        &self,
        log: usize,
        stamp: impl Fn(&[u8]) -> Option<Timestamp>,
    ) -> Option<Timestamp> {
        let block = self.lane(log)?.blocks.front()?;
        stamp_of(&block.bytes, block.origin.as_deref()?, stamp)
    }

    /// The next block of a log that is ready; `None` at its end. `buffer` is a used block's memory, or empty.
    pub fn next(&mut self, log: usize, buffer: Vec<u8>) -> Option<Block> {
        if !self.ended && self.spare.len() < SPARE_MAX && buffer.capacity() > 0 {
            self.spare.push(buffer);
        }
        let &(group, lane) = self.places.get(log)?;
        let lane = self.lanes.groups.get_mut(group)?.1.get_mut(lane)?;
        let block = lane.blocks.pop_front()?;
        self.waiting -= block.bytes.len();
        Some(block)
    }

    /// Why reading stopped before the end, and at which unpacked byte: the same for every log.
    pub fn error(&self) -> Option<(u64, io::Error)> {
        let (offset, kind, text) = self.error.as_ref()?;
        Some((*offset, io::Error::new(*kind, text.clone())))
    }

    /// Reads until some log has one block more, or the file ends.
    pub fn advance(&mut self) {
        while !self.ended {
            let Some(line) = self.lines.next() else {
                return self.end();
            };
            self.lanes.begin(&line);
            let is_open = line.is_open();
            self.stack.push(line.text, line.at, &mut self.lanes);
            if self.lanes.count(is_open) && self.cut() {
                return self.bound();
            }
        }
    }

    /// Cuts what is long enough of the logs that the line was of; whether anything was.
    fn cut(&mut self) -> bool {
        let Some((_, lanes)) = self.lanes.groups.get_mut(self.lanes.last) else {
            return false;
        };
        let mut is_cut = false;
        for lane in lanes.iter_mut().filter(|lane| !lane.is_let_go) {
            // A line that ends a long record may leave enough for several.
            while lane.text.is_enough() {
                let block = lane.text.cut(self.spare.pop().unwrap_or_default(), false);
                self.waiting += block.as_ref().map_or(0, |block| block.bytes.len());
                lane.blocks.extend(block);
                is_cut = true;
            }
        }
        is_cut
    }

    /// Lets the log go of which most waits, if too much does.
    fn bound(&mut self) {
        while self.waiting > self.waiting_max {
            let lanes = self.lanes.all();
            let Some(most) = lanes.max_by_key(|lane| lane.waiting()) else {
                return;
            };
            self.waiting -= most.waiting();
            most.blocks = VecDeque::new();
            most.is_let_go = true;
        }
    }

    fn end(&mut self) {
        let told = self.lines.take_error();
        self.error = told.map(|(at, error)| (at, error.kind(), error.to_string()));
        self.ended = true;
        // Whoever has logs of this file may read others for long.
        self.spare = Vec::new();
        self.lines.free();
        self.stack.end(&mut self.lanes);
        for lane in self.lanes.all().filter(|lane| !lane.is_let_go) {
            lane.stack.end(&mut lane.text);
            let block = lane.text.cut(Vec::new(), true);
            self.waiting += block.as_ref().map_or(0, |block| block.bytes.len());
            lane.blocks.extend(block);
        }
    }

    fn lane(&self, log: usize) -> Option<&Lane> {
        let &(group, lane) = self.places.get(log)?;
        self.lanes.groups.get(group)?.1.get(lane)
    }
}

impl Lane {
    /// How many bytes of it wait.
    fn waiting(&self) -> usize {
        self.blocks.iter().map(|block| block.bytes.len()).sum()
    }
}

impl Lanes {
    fn all(&mut self) -> impl Iterator<Item = &mut Lane> {
        self.groups.iter_mut().flat_map(|(_, lanes)| lanes)
    }

    /// A line is about to be unwrapped.
    fn begin(&mut self, line: &Line<'_>) {
        self.is_touched = false;
        if line.has_note() {
            for lane in self.all() {
                lane.text.note(line);
            }
        }
    }

    /// Counts the line with the logs that it was of; whether it was of any.
    fn count(&mut self, is_open: bool) -> bool {
        if !self.is_touched {
            return false;
        }
        let lanes = self.groups.get_mut(self.last).map(|(_, lanes)| lanes);
        for lane in lanes.into_iter().flatten() {
            lane.text.count(lane.before, is_open);
        }
        true
    }

    /// The group with a key; beyond the end if there is none.
    fn find(&self, key: Key<&[u8]>) -> usize {
        let is_last = |(known, _): &(Key<Vec<u8>>, _)| known.is(key);
        if self.groups.get(self.last).is_some_and(is_last) {
            return self.last;
        }
        let order = |(known, _): &(Key<Vec<u8>>, _)| {
            (known.node.as_slice(), known.part.as_slice()).cmp(&(key.node, key.part))
        };
        self.groups.binary_search_by(order).unwrap_or(usize::MAX)
    }

    /// Gives something to the logs of the last message's group.
    fn give(&mut self, give: impl Fn(&mut Lane)) {
        let lanes = self.groups.get_mut(self.last).map(|(_, lanes)| lanes);
        let lanes = lanes.into_iter().flatten();
        for lane in lanes.filter(|lane| !lane.is_let_go) {
            lane.before = lane.text.len();
            give(lane);
            self.is_touched = true;
        }
    }
}

impl Sink for Lanes {
    fn message(&mut self, text: Bare<'_>) {
        self.last = self.find(text.key);
        self.give(|lane| lane.stack.pass(text, &mut lane.text));
    }

    fn inner(&mut self, text: &[u8]) {
        self.give(|lane| lane.text.inner(text));
    }

    fn gap(&mut self) {
        self.all().for_each(|lane| lane.text.gap());
    }

    fn foreign(&mut self, at: Place) {
        self.all().for_each(|lane| lane.text.foreign(at));
    }
}

impl std::fmt::Debug for Demux {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Demux").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wrappers::{StreamReader, detect};
    use std::fmt::Write as _;
    use std::io::Cursor;

    const LIMITS: Limits = Limits {
        block_bytes: 24,
        record_bytes: 4096,
    };

    /// Some lines in turn, a stretch of one log, lines of none, a line between groups, and an end without a line's end.
    fn text() -> Vec<u8> {
        let mut text = String::from("Attaching to a.x, b.x\n");
        for at in 0..40 {
            write!(
                text,
                "a.x:#{at} of a\nb.x:#{at} of b\r\nb.x-more of b-{at}\na.x:more\n"
            )
            .unwrap();
        }
        text += "--\nb.x-left over: b\n";
        text += &"a.x:#a stretch of a\n".repeat(60);
        (text + "of none\nb.x:#the last").into_bytes()
    }

    fn paths() -> Vec<Vec<u8>> {
        [b"a.x", b"b.x"].map(|path| path.to_vec()).to_vec()
    }

    fn layers() -> Vec<Vec<Layer>> {
        let claims = |text: &[u8]| {
            text.split(|byte| *byte == b'\n')
                .filter(|line| line.starts_with(b"#"))
                .count()
        };
        let detected = detect(&text(), &claims);
        detected.logs.into_iter().map(|log| log.layers).collect()
    }

    fn reading<'l>(layers: &'l [Layer], paths: &'l [Vec<u8>], at: usize) -> Reading<'l> {
        Reading {
            layers,
            is_head: Box::new(|line| line.starts_with(b"#")),
            is_reversed: false,
            paths,
            left_out: &[],
            notes_foreign: at == 0,
        }
    }

    fn alone(layers: &[Layer], at: usize) -> Vec<String> {
        let limits = side_by_side(2, LIMITS);
        let mut reader = StreamReader::new(
            Box::new(Cursor::new(text())),
            reading(layers, &paths(), at),
            limits,
        );
        std::iter::from_fn(|| reader.next(Vec::new()))
            .map(|block| format!("{block:?}"))
            .collect()
    }

    fn demux(layers: &[Vec<Layer>]) -> Demux {
        let paths = paths();
        assert!(Demux::can_read(layers.iter().map(Vec::as_slice)));
        let readings = layers
            .iter()
            .enumerate()
            .map(|(at, it)| reading(it, &paths, at))
            .collect();
        Demux::new(Box::new(Cursor::new(text())), readings, LIMITS)
    }

    #[test]
    fn logs_read_in_one_pass_are_cut_as_if_each_were_read_alone() {
        let layers = layers();
        assert_eq!(layers.len(), 2);
        let mut demux = demux(&layers);
        let mut blocks = [Vec::new(), Vec::new()];
        while !demux.ended {
            demux.advance();
            for (at, blocks) in blocks.iter_mut().enumerate() {
                blocks.extend(std::iter::from_fn(|| demux.next(at, Vec::new())));
                assert!(!demux.is_let_go(at));
            }
        }
        for (at, blocks) in blocks.iter().enumerate() {
            let blocks: Vec<String> = blocks.iter().map(|block| format!("{block:?}")).collect();
            assert!(blocks.len() > 10);
            assert!(blocks == alone(&layers[at], at), "log {at}");
        }
        assert_eq!(demux.waiting, 0);
    }

    #[test]
    fn a_log_that_was_let_go_after_some_blocks_goes_on_where_they_end() {
        let layers = layers();
        let mut demux = demux(&layers);
        let mut taken = Vec::new();
        while !demux.ended {
            demux.advance();
            if taken.len() < 3 {
                taken.extend(demux.next(0, Vec::new()));
            }
            while demux.next(1, Vec::new()).is_some() {}
        }
        assert_eq!(taken.len(), 3);
        assert!(demux.is_let_go(0));
        assert!(demux.next(0, Vec::new()).is_none());
        let all = alone(&layers[0], 0);
        let taken = taken.iter().map(|block| format!("{block:?}"));
        let resumed = taken.chain(all.iter().skip(3).cloned());
        assert!(resumed.eq(all.iter().cloned()));
    }

    #[test]
    fn a_log_that_nobody_reads_is_let_go_before_too_much_of_it_waits() {
        let layers = layers();
        let mut demux = demux(&layers);
        let mut of_b = Vec::new();
        while !demux.ended {
            demux.advance();
            assert!(demux.waiting <= WAITING_MAX * LIMITS.block_bytes);
            of_b.extend(std::iter::from_fn(|| demux.next(1, Vec::new())));
        }
        assert!(demux.is_let_go(0) && demux.is_ready(0) && !demux.is_let_go(1));
        let of_b: Vec<String> = of_b.iter().map(|block| format!("{block:?}")).collect();
        assert!(of_b == alone(&layers[1], 1));
    }
}
