//! One pass over the segments of a WAL: records folded into stretches of consecutive positions, so that memory does not grow with them.

use std::io::Read;
use std::sync::Arc;

use crate::parsers::wal::{
    Behind, Body, Carry, Context, Fault, FaultKind, Frame, Scan, SegmentName, Tail,
};
use crate::vocab::{Lsn, Term};

use super::folder::{Folder, SegmentFile};
use super::model::{Segment, Unread};
use super::rules::{Positions, Rules};

/// Stretches and snapshot records that are kept of one WAL. A healthy one has a handful a segment; only a hostile one has as many
/// stretches as records.
const ITEMS_MAX: usize = 100_000;

/// A segment after its pass.
pub(super) struct Scanned {
    pub(super) segment: Segment,
    pub(super) name: SegmentName,
    /// What stands behind the last verified frame.
    pub(super) tail: Tail,
    pub(super) faults: Vec<Fault>,
    pub(super) behind: Option<Behind>,
    /// The first position as the header states it.
    pub(super) header_lsn: Option<Lsn>,
    /// Which log it says it belongs to.
    pub(super) identity: Option<Arc<str>>,
    pub(super) items: Vec<Item>,
    /// The first state record that commits what is not there.
    pub(super) ahead: Option<Ahead>,
    /// The record that the segment ended within.
    pub(super) carry: Option<Carry>,
    /// Whether it has more of the record that the segment before ended within, or says that it was given up.
    pub(super) is_carry_told: bool,
    /// The position that follows the last record of the segments before, where only this one tells.
    follows: Option<Lsn>,
    /// What is worth knowing and not wrong.
    pub(super) remark: Option<&'static str>,
    /// Whether the file changed its size during the pass.
    pub(super) is_growing: bool,
}

/// What stands in a segment, in the order of the file.
pub(super) enum Item {
    Run(Run),
    Snapshot { lsn: Lsn, term: Term, offset: u64 },
}

/// Records of consecutive positions and one term.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run {
    pub(super) first: Lsn,
    pub(super) last: Lsn,
    /// The position that has to follow.
    pub(super) next: Lsn,
    pub(super) term: Option<Term>,
    pub(super) offset: u64,
    /// The highest position known as committed when the run began, if the run begins at or below it.
    pub(super) committed: Option<Lsn>,
}

/// A state record that commits a position beyond the last record.
pub(super) struct Ahead {
    pub(super) offset: u64,
    pub(super) commit: Lsn,
    pub(super) last: Lsn,
}

/// All segments of a folder after their pass.
pub(super) struct Pass {
    pub(super) segments: Vec<Scanned>,
    pub(super) unread: Vec<Unread>,
}

/// Reads the given segments of a folder once, in order.
pub(super) fn pass(folder: &Folder, files: &[&SegmentFile]) -> Pass {
    let mut pass = Pass {
        segments: Vec::with_capacity(files.len()),
        unread: Vec::new(),
    };
    let mut state = State {
        is_key_sure: folder.format.is_at_home(&folder.path),
        ..State::default()
    };
    let count = files.len();
    for (n, file) in files.iter().enumerate() {
        let scanned = segment(folder, file, n + 1 == count, &mut state);
        let unreadable = scanned
            .faults
            .iter()
            .filter(|fault| fault.kind == FaultKind::Unreadable);
        pass.unread.extend(unreadable.map(|fault| Unread {
            path: folder.path.join(&file.file).display().to_string(),
            detail: fault.detail.clone(),
        }));
        go_on(&mut pass.segments, &scanned);
        pass.segments.push(scanned);
    }
    if state.is_full {
        let detail = format!(
            "more than {ITEMS_MAX} breaks in the order of positions: what follows them was not compared"
        );
        pass.unread.push(Unread {
            path: folder.path.display().to_string(),
            detail,
        });
    }
    pass
}

/// Takes over what a segment says of the position that follows the last record of those before, unless a whole one is missing between.
fn go_on(segments: &mut [Scanned], scanned: &Scanned) {
    let mut items = segments.iter_mut().rev().map(|it| it.items.last_mut());
    if let (Some(Item::Run(run)), Some(next)) = (items.find_map(|it| it), scanned.follows)
        && scanned.name.lsn.is_none_or(|name| run.next >= name)
    {
        (run.last, run.next) = (next.before(), next);
    }
}

/// Reads one segment.
fn segment(folder: &Folder, file: &SegmentFile, is_last: bool, state: &mut State) -> Scanned {
    let mut context = Context {
        name: file.name,
        size: 0,
        is_last,
        chain: state.chain.filter(|_| state.is_next(file.name)),
        carry: state.carry.filter(|_| state.is_next(file.name)),
        key: folder.format.key(folder.log.as_deref(), file.name),
        is_key_sure: state.is_key_sure,
    };
    let mut segment = Segment::named(&file.file, file.name);
    let mut items = Vec::new();
    let mut is_growing = false;
    state.begin_segment();
    let scan = match file.source.open() {
        Ok((reader, size)) => {
            context.size = size;
            segment.size = size;
            let mut frame =
                |frame: &Frame<'_>| state.frame(frame, &folder.rules, &mut segment, &mut items);
            let scan = folder
                .format
                .read(&mut reader.take(size), &context, &mut frame);
            is_growing = file.source.is_growing(size);
            scan
        }
        Err(error) => Scan::unreadable(&error),
    };
    let ahead = state.end_segment(&scan, file.name, segment.last_lsn);
    segment.finish(&scan);
    items.shrink_to_fit();
    Scanned {
        segment,
        name: file.name,
        tail: scan.tail,
        faults: scan.faults,
        behind: scan.behind,
        header_lsn: scan.header_lsn,
        identity: state.share(scan.identity),
        items,
        ahead,
        carry: scan.carry,
        is_carry_told: scan.is_carry_told,
        follows: scan.follows,
        remark: scan.remark,
        is_growing,
    }
}

impl Segment {
    fn named(file: &str, name: SegmentName) -> Self {
        Self {
            file: file.to_owned(),
            name_seq: name.seq,
            name_lsn: name.lsn,
            name_last: name.last,
            size: 0,
            records: 0,
            entries: 0,
            first_lsn: None,
            last_lsn: None,
            max_lsn: None,
            end_offset: 0,
            tail: Tail::Exact.word(),
            zero_tail_bytes: None,
            commit: None,
        }
    }

    fn finish(&mut self, scan: &Scan) {
        self.records = scan.frames;
        self.end_offset = scan.end_offset;
        self.tail = scan.tail.word();
        self.zero_tail_bytes = match scan.tail {
            Tail::Zeros(count) => Some(count),
            Tail::Exact
            | Tail::DataAfterZeros { .. }
            | Tail::Torn
            | Tail::Bad
            | Tail::OpenStream
            | Tail::Stale => None,
        };
    }
}

/// What has to be remembered from one frame to the next.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is remembered from another place, and none follows from another"
)]
struct State {
    chain: Option<u64>,
    carry: Option<Carry>,
    /// Whether the key of the segments' checksums is known to be the system's.
    is_key_sure: bool,
    /// The name of the segment before, and its last position.
    name: Option<(SegmentName, Option<Lsn>)>,
    identity: Option<Arc<str>>,
    /// The last position of the log, records and snapshots.
    last: Option<Lsn>,
    commit: Option<Lsn>,
    ahead: Option<Ahead>,
    kept: usize,
    is_full: bool,
    /// A new segment begins a new run even if the positions go on.
    is_fresh: bool,
    /// No record of the log was seen in this segment.
    is_at_head: bool,
}

impl State {
    fn begin_segment(&mut self) {
        self.is_fresh = true;
        self.is_at_head = true;
    }

    /// Whether no segments are missing in between: else a running checksum has to be taken from the segment and not tested.
    fn is_next(&self, name: SegmentName) -> bool {
        self.name
            .is_some_and(|(before, last)| match (before.seq, name.seq) {
                (Some(before), Some(here)) => here == before.wrapping_add(1),
                _ => name.lsn.is_none() || name.lsn == last.map(Lsn::next),
            })
    }

    /// The same text for the segments of one log, of which there can be very many.
    fn share(&mut self, identity: Option<String>) -> Option<Arc<str>> {
        let identity = identity?;
        if self.identity.as_deref() != Some(identity.as_str()) {
            self.identity = Some(Arc::from(identity));
        }
        self.identity.clone()
    }

    fn end_segment(&mut self, scan: &Scan, name: SegmentName, last: Option<Lsn>) -> Option<Ahead> {
        // Behind a break the checksum of the next segment says nothing about that one.
        let is_broken = scan
            .faults
            .iter()
            .any(|fault| fault.kind == FaultKind::Chain);
        self.chain = scan.chain.filter(|_| !is_broken);
        self.carry = scan.carry;
        self.is_key_sure |= scan.is_key_good;
        self.name = Some((name, last));
        // What was lost to a fault may well have been committed.
        if scan.faults.iter().any(|fault| fault.kind.ends_segment()) {
            self.last = None;
        }
        self.ahead.take()
    }

    fn frame(
        &mut self,
        frame: &Frame<'_>,
        rules: &Rules,
        segment: &mut Segment,
        items: &mut Vec<Item>,
    ) {
        match frame.body {
            Body::Entry {
                lsn, next, term, ..
            } => {
                segment.entries += 1;
                segment.first_lsn.get_or_insert(lsn);
                segment.last_lsn = Some(lsn);
                segment.max_lsn = segment.max_lsn.max(Some(lsn));
                let last = if rules.is_wide { next.before() } else { lsn };
                self.last = Some(last);
                if self.is_at_head {
                    // The hole in front of this record is told by the record itself.
                    self.ahead = None;
                    self.is_at_head = false;
                }
                if let (false, Some(Item::Run(run))) = (self.is_fresh, items.last_mut())
                    && run.term == term
                    && (lsn == run.next || rules.positions == Positions::Rising && lsn > run.next)
                {
                    run.last = last;
                    run.next = next;
                    return;
                }
                let committed = self.commit.filter(|&commit| lsn <= commit);
                self.keep(
                    Item::Run(Run {
                        first: lsn,
                        last,
                        next,
                        term,
                        offset: frame.offset,
                        committed,
                    }),
                    items,
                );
            }
            Body::Snapshot { lsn, term } => {
                // Without its head, a log's last position is known from the name before it is from a record.
                let named = segment.name_lsn.map(Lsn::before);
                self.last = self.last.or(named).max(Some(lsn));
                self.keep(
                    Item::Snapshot {
                        lsn,
                        term,
                        offset: frame.offset,
                    },
                    items,
                );
            }
            Body::Commit { lsn, .. } => {
                segment.commit = segment.commit.max(Some(lsn));
                self.commit = self.commit.max(Some(lsn));
                // A log whose head was purged commits before its first record; nothing can be said there.
                if let Some(last) = self.last.filter(|&last| lsn > last)
                    && self.ahead.is_none()
                {
                    self.ahead = Some(Ahead {
                        offset: frame.offset,
                        commit: lsn,
                        last,
                    });
                }
            }
            Body::Unplaced { .. } => {
                segment.entries += u64::from(rules.positions == Positions::Nowhere);
            }
            Body::Metadata | Body::Chain { .. } => {}
        }
    }

    fn keep(&mut self, item: Item, items: &mut Vec<Item>) {
        self.is_fresh = false;
        if self.kept == ITEMS_MAX {
            self.is_full = true;
            return;
        }
        self.kept += 1;
        items.push(item);
    }
}
