//! The records of one segment: those that begin and end in it are handed on, the last one with the address behind whatever runs on
//! into the next segment.

use std::io::Read;

use crate::parsers::wal::found::{close, is_blank};
use crate::parsers::wal::window::{Window, is_zero};
use crate::parsers::wal::{Behind, Body, Context, FaultKind, Frame, Scan, Tail, little};
use crate::vocab::{Lsn, Term};

use super::gather::{FIXED, Gather, manager_name, within};
use super::pages::{Flaw, Pages, Taken};
use super::{Head, LONG};

/// The longest record that a server writes.
const LENGTH_MAX: u64 = 1020 * 1024 * 1024;

pub(super) fn read(
    reader: &mut dyn Read,
    context: &Context,
    sink: &mut dyn FnMut(&Frame<'_>),
) -> Scan {
    let mut window = Window::new(reader);
    let mut scan = Scan::new();
    if let Some(head) = head(&mut window, context, &mut scan) {
        let mut pages = Pages::new(&mut window, head);
        let mut walk = Walk {
            pages: &mut pages,
            scan: &mut scan,
            pending: None,
            before: None,
            given_up: None,
            term: head.timeline,
        };
        let end = walk.all(context, sink);
        walk.flush(None, sink);
        if let Some(end) = end {
            walk.end(end);
        }
    }
    close(&mut scan, &window);
    scan
}

/// Reads the first page's header; nothing if no records of this segment can be behind it.
fn head(window: &mut Window<'_>, context: &Context, scan: &mut Scan) -> Option<Head> {
    if is_blank(window, LONG, scan) {
        return None;
    }
    let bytes = window.peek(LONG);
    if Head::is_big_endian(bytes) {
        let detail = "it is from a big endian machine, and that is not read".to_owned();
        scan.tail = Tail::Bad;
        scan.fault(FaultKind::Unreadable, 0, detail);
        return None;
    }
    let Some(head) = Head::parse(bytes) else {
        let there = bytes.len().min(LONG);
        scan.tail = if there < LONG { Tail::Torn } else { Tail::Bad };
        let (kind, detail) = if there < LONG {
            (
                FaultKind::HeaderTorn,
                format!("the header ends after {there} of {LONG} bytes"),
            )
        } else {
            (
                FaultKind::Header,
                "the first page has no header of a segment".to_owned(),
            )
        };
        scan.fault(kind, 0, detail);
        return None;
    };
    scan.identity = Some(format!("system {}", head.system));
    let named = context.name.lsn.map_or(head.address, |lsn| lsn.0);
    let shown = format!("{:X}/{:X}", head.address >> 32, head.address & 0xffff_ffff);
    if head.address < named {
        scan.tail = Tail::Stale;
        scan.identity = None;
        let detail = format!("it still has the records from {shown} on, and none of its own yet");
        scan.fault(FaultKind::Recycled, 0, detail);
        return None;
    }
    if head.address > named {
        scan.tail = Tail::Bad;
        let detail = format!("it has the records from {shown} on, and the name says another place");
        scan.fault(FaultKind::Misnamed, 0, detail);
        return None;
    }
    Some(head)
}

/// A record between its first byte and the next record's.
struct Pending {
    offset: u64,
    size: u64,
    lsn: Lsn,
    next: Lsn,
    term: Term,
    sort: &'static str,
    payload: Vec<u8>,
}

/// Why no further record is read.
enum End {
    /// The segment is full, or the rest of it was left unused.
    Over,
    /// Zero bytes, or what was there before, stand where the next record would.
    Flaw(Flaw),
    /// A record is not there to its end, or wrong.
    Fault {
        offset: u64,
        kind: FaultKind,
        detail: String,
    },
}

struct Walk<'a, 'w, 'r> {
    pages: &'a mut Pages<'w, 'r>,
    scan: &'a mut Scan,
    /// The last record, which is handed on when it is known what follows.
    pending: Option<Pending>,
    /// Where the record before begins.
    before: Option<u64>,
    /// The record that was given up, which the next one has to name.
    given_up: Option<Lsn>,
    term: u64,
}

impl Walk<'_, '_, '_> {
    /// Hands on every record up to the end of the log or of the segment; says why it ended, unless all is said.
    fn all(&mut self, context: &Context, sink: &mut dyn FnMut(&Frame<'_>)) -> Option<End> {
        if let Err(flaw) = self.pages.enter() {
            return Some(End::Flaw(flaw));
        }
        self.term = self.pages.timeline;
        self.scan.end_offset = self.pages.offset();
        if let Some(end) = self.carried(context) {
            return Some(end);
        }
        loop {
            if self.pages.is_over() {
                return Some(End::Over);
            }
            match self.record(sink) {
                Ok(true) => {}
                Ok(false) => return Some(End::Over),
                Err(end) => return Some(end),
            }
        }
    }

    /// The end of a record that was begun in the segment before.
    fn carried(&mut self, context: &Context) -> Option<End> {
        let offset = self.pages.offset();
        let Some(carry) = context.carry else {
            return self.pages.skip_rest().err().map(End::Flaw);
        };
        self.scan.is_carry_told = self.pages.is_given_up || self.pages.rest == carry.rest;
        if self.pages.is_given_up {
            self.give_up(carry.lsn);
            return None;
        }
        if self.pages.rest != carry.rest {
            let detail = format!(
                "the record at {} should go on here with {} bytes, and {} are there",
                shown(carry.lsn),
                carry.rest,
                self.pages.rest
            );
            self.scan.fault(FaultKind::Chain, offset, detail);
            return self.pages.skip_rest().err().map(End::Flaw);
        }
        let mut gather = Gather::resumed(&carry);
        match self.pages.take(carry.rest, &mut |bytes| gather.add(bytes)) {
            Ok(Taken::All) => {}
            Ok(Taken::Left(rest)) => {
                self.scan.carry = Some(gather.carry(carry.lsn, carry.next, rest));
                return Some(End::Over);
            }
            Ok(Taken::GivenUp) => {
                self.give_up(carry.lsn);
                return None;
            }
            Err(flaw) => return Some(cut_off(offset, &flaw)),
        }
        self.before = Some(carry.lsn.0);
        gather.fault().map(|detail| End::Fault {
            offset,
            kind: FaultKind::Checksum,
            detail: format!("the record at {} ends here: {detail}", shown(carry.lsn)),
        })
    }

    /// The log goes on without a record that was begun.
    fn give_up(&mut self, lsn: Lsn) {
        self.given_up = Some(lsn);
        self.scan.remark = Some(
            "a crash cut a record off, and the server gave it up: the log goes on at the page behind",
        );
    }

    /// Takes in the record at the position; `false` if the rest of the segment holds none.
    fn record(&mut self, sink: &mut dyn FnMut(&Frame<'_>)) -> Result<bool, End> {
        match self.pages.align() {
            Ok(()) => {}
            Err(_) if self.pages.is_over() => return Ok(false),
            Err(flaw) => return Err(End::Flaw(flaw)),
        }
        // A page that begins within a record, where none was begun.
        if self.pages.rest > 0 {
            let detail = format!(
                "the page goes on with {} bytes of a record, and none was begun",
                self.pages.rest
            );
            return Err(self.wrong(FaultKind::Corrupt, detail));
        }
        self.term = self.term.max(self.pages.timeline);
        let (offset, lsn) = (self.pages.offset(), Lsn(self.pages.address()));
        let length = self.length()?;
        let next = Lsn(self.pages.behind(length));
        let is_first = self.scan.frames == 0 && self.pending.is_none();
        let here = self.pages.here();
        let is_on_page = length < here.len() as u64;
        // The next record names this one. If it stands on this page, this one ends on it.
        if !is_on_page && let Some(at) = within(here, Some(lsn)) {
            let detail = format!("a record of {length} bytes, and the next one begins after {at}");
            return Err(self.wrong(FaultKind::Corrupt, detail));
        }
        let mut gather = Gather::new();
        match self.pages.take(length, &mut |bytes| gather.add(bytes)) {
            Ok(Taken::All) => {}
            Ok(Taken::Left(rest)) => {
                self.scan.carry = Some(gather.carry(lsn, next, rest));
                self.scan.follows = self.scan.follows.or(is_first.then_some(next));
                self.flush(Some((offset, next)), sink);
                return Ok(false);
            }
            Ok(Taken::GivenUp) => {
                self.give_up(lsn);
                return Ok(true);
            }
            Err(flaw) => return Err(cut_off(offset, &flaw)),
        }
        let fault = |kind, detail| {
            Err(End::Fault {
                offset,
                kind,
                detail,
            })
        };
        if let Some(detail) = gather.fault() {
            // Its length may be what is wrong.
            if is_on_page {
                self.pages.back_to(offset);
            }
            return fault(FaultKind::Checksum, detail);
        }
        if let Some(given_up) = self.given_up.take() {
            if !gather.gives_up(given_up) {
                let detail = format!(
                    "the page says that the record at {} was given up, and its first record does not",
                    shown(given_up)
                );
                return fault(FaultKind::Corrupt, detail);
            }
            self.scan.follows = self.scan.follows.or(is_first.then_some(lsn));
        }
        self.flush(Some((offset, lsn)), sink);
        Ok(self.found(offset, lsn, next, gather))
    }

    /// The length of the record at the position, if it can be one and is linked to the record before.
    fn length(&mut self) -> Result<u64, End> {
        let here = self.pages.here();
        let length = here.get(..4).map_or(0, little);
        if length == 0 {
            let front = &here[..here.len().min(FIXED)];
            if is_zero(front) {
                return Err(End::Flaw(Flaw::Zero));
            }
            let detail = "a record's length is 0, and what follows the length is not".to_owned();
            return Err(self.wrong(FaultKind::Corrupt, detail));
        }
        if !(FIXED as u64..=LENGTH_MAX).contains(&length) {
            let detail = format!("a record's length is {length}");
            return Err(self.wrong(FaultKind::Corrupt, detail));
        }
        let linked = here.get(8..16).map(little);
        if let Some((linked, before)) = linked.zip(self.before)
            && linked != before
        {
            let detail = format!(
                "the record before it should begin at {}, and it names {}",
                shown(Lsn(before)),
                shown(Lsn(linked))
            );
            return Err(self.wrong(FaultKind::Corrupt, detail));
        }
        Ok(length)
    }

    /// A verified record; `false` if it says that the rest of the segment is left unused.
    fn found(&mut self, offset: u64, lsn: Lsn, next: Lsn, gather: Gather) -> bool {
        self.before = Some(lsn.0);
        let (flags, manager) = (gather.head[16] & 0xf0, gather.head[17]);
        let is_switch = (manager, flags) == (0, 0x40);
        // A checkpoint and the end of recovery name the timeline from which on they are.
        if manager == 0 && matches!(flags, 0x00 | 0x10 | 0x90) {
            let timeline = gather.kept.get(10..14).map_or(0, little);
            self.term = self.term.max(timeline);
        }
        let next = if is_switch {
            Lsn(self.pages.next_segment())
        } else {
            next
        };
        self.pending = Some(Pending {
            offset,
            size: self.pages.offset() - offset,
            lsn,
            next,
            term: Term(self.term),
            sort: manager_name(manager),
            payload: gather.kept,
        });
        !is_switch
    }

    /// Hands on the last record, which ends where the given one begins; the positions go on with the given one.
    fn flush(&mut self, follower: Option<(u64, Lsn)>, sink: &mut dyn FnMut(&Frame<'_>)) {
        let Some(pending) = self.pending.take() else {
            return;
        };
        let size = follower.map_or(pending.size, |(offset, _)| offset - pending.offset);
        let next = follower.map_or(pending.next, |(_, lsn)| lsn.max(pending.next));
        let frame = Frame {
            offset: pending.offset,
            size,
            body: Body::Entry {
                lsn: pending.lsn,
                next,
                term: Some(pending.term),
                sort: pending.sort,
            },
            payload: &pending.payload,
        };
        sink(&frame);
        self.scan.count(&frame);
    }

    fn wrong(&self, kind: FaultKind, detail: String) -> End {
        End::Fault {
            offset: self.pages.offset(),
            kind,
            detail,
        }
    }

    /// What stands behind the last record.
    fn end(&mut self, end: End) {
        let offset = self.scan.end_offset;
        let (kind, at, detail) = match end {
            End::Over => {
                self.scan.tail = if self.scan.carry.is_some() || self.pages.is_over() {
                    Tail::Exact
                } else {
                    self.rest().1
                };
                return;
            }
            End::Flaw(Flaw::Wrong(detail)) => (FaultKind::Corrupt, self.pages.offset(), detail),
            End::Flaw(Flaw::End) => {
                let detail = "the file ends here, before its segment does".to_owned();
                self.scan.tail = Tail::Torn;
                self.scan
                    .fault(FaultKind::Torn, self.pages.offset(), detail);
                return;
            }
            End::Flaw(Flaw::Zero | Flaw::Stale) => (FaultKind::Torn, offset, String::new()),
            End::Fault {
                offset,
                kind,
                detail,
            } => (kind, offset, detail),
        };
        let (behind, tail) = self.rest();
        self.scan.behind = behind;
        if behind.is_none() && detail.is_empty() {
            self.scan.tail = tail;
            return;
        }
        let (kind, detail) = match (behind, detail.is_empty()) {
            (Some(_), true) => (
                FaultKind::Corrupt,
                "zero bytes or old pages stand where the next record should".to_owned(),
            ),
            (Some(_), false) if kind == FaultKind::Torn => (FaultKind::Corrupt, detail),
            (Some(_), false) => (kind, detail),
            // What a server finds behind its end of the log is anything but a record that verifies.
            (None, _) => (FaultKind::Torn, detail),
        };
        self.scan.tail = if kind == FaultKind::Torn {
            Tail::Torn
        } else {
            Tail::Bad
        };
        self.scan.fault(kind, at, detail);
    }

    /// Verified records from the position on, and what else is there.
    fn rest(&mut self) -> (Option<Behind>, Tail) {
        let mut behind: Option<Behind> = None;
        let mut zeros = 0;
        let mut is_stale = false;
        if !self.pages.is_at_page()
            && let Some(at) = within(self.pages.here(), None)
        {
            self.pages.advance(at);
        }
        loop {
            while let Some((offset, lsn)) = self.try_record() {
                let known = behind.get_or_insert(Behind {
                    records: 0,
                    range: Some((lsn, lsn)),
                    offset,
                });
                known.records += 1;
                known.range = known.range.map(|(first, _)| (first, lsn));
            }
            if !self.pages.is_at_page() {
                let here = self.pages.here();
                zeros = if is_zero(here) { zeros + here.len() } else { 0 };
                self.pages.next_page();
            }
            // Up to the next page that is one of the log's.
            loop {
                match self.pages.enter() {
                    Ok(()) => {
                        zeros = 0;
                        // What goes on here may itself be cut off.
                        drop(self.pages.skip_rest());
                        break;
                    }
                    Err(Flaw::Zero) => zeros += self.pages.here().len(),
                    Err(Flaw::Stale | Flaw::Wrong(_)) => is_stale = true,
                    Err(Flaw::End) => {
                        let tail = if is_stale {
                            Tail::Stale
                        } else {
                            Tail::Zeros(zeros as u64)
                        };
                        return (behind, tail);
                    }
                }
                self.pages.next_page();
            }
        }
    }

    /// Offset and position of the record here, if it verifies.
    fn try_record(&mut self) -> Option<(u64, Lsn)> {
        loop {
            self.pages.align().ok()?;
            let (offset, lsn) = (self.pages.offset(), Lsn(self.pages.address()));
            let length = self.pages.here().get(..4).map(little)?;
            if !(FIXED as u64..=LENGTH_MAX).contains(&length) {
                return None;
            }
            let mut gather = Gather::new();
            match self.pages.take(length, &mut |bytes| gather.add(bytes)) {
                Ok(Taken::All) => return gather.fault().is_none().then_some((offset, lsn)),
                Ok(Taken::GivenUp) => {}
                Ok(Taken::Left(_)) | Err(_) => return None,
            }
        }
    }
}

fn shown(lsn: Lsn) -> String {
    crate::vocab::LsnNotation::Halves.show(lsn).to_string()
}

/// A record that ends before its last byte.
fn cut_off(offset: u64, flaw: &Flaw) -> End {
    let detail = match flaw {
        Flaw::End => "a record runs past the end of the file",
        Flaw::Zero => "a record goes on in a page that was never written",
        Flaw::Stale => "a record goes on in a page that has old content",
        Flaw::Wrong(detail) => detail,
    };
    End::Fault {
        offset,
        kind: FaultKind::Torn,
        detail: detail.to_owned(),
    }
}
