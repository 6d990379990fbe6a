//! How a standby that is behind gets what it lacks: hello, join position, streams by segment names, snapshots.

use super::names::{Entry, NodeId, What};
use super::node::{AppendEntries, Delay, Message, Out, Standby, Step};
use super::setup::{Defect, Dispatch, Heartbeat, Shown};
use super::world::World;

impl World {
    /// A primary connects. A process that has not recovered answers too, and says that it has nothing.
    pub(super) fn hello(&mut self, from: NodeId, to: NodeId, term: u64, out: &mut Out) {
        let mut report = 0;
        if self.nodes[to].is_recovered() {
            if !self.follow(from, to, term, out) {
                return;
            }
            report = self.nodes[to].last();
        }
        let what = What::HelloTaken {
            from,
            term,
            applied: report,
        };
        self.note(to, what, out);
        self.send(to, from, Message::Welcome { term, report }, out);
    }

    /// A standby registers.
    pub(super) fn welcome(
        &mut self,
        from: NodeId,
        to: NodeId,
        term: u64,
        report: u64,
        out: &mut Out,
    ) {
        let Some(standby) = self.standby(to, from, term) else {
            return;
        };
        standby.is_registered = true;
        standby.report = report;
        standby.join = None;
        standby.is_behind = false;
        let standby = number(to, from);
        self.note(to, What::Registered { standby, report }, out);
        let assumptions = &self.setup.assumptions;
        let at_once = assumptions.dispatch == Dispatch::AtRegistration;
        let (live, pushes) = (assumptions.live_at_registration, assumptions.pushes);
        if pushes {
            self.send_push(to, from, out);
        }
        if live {
            self.send_live(to, from, out);
        }
        if at_once && self.is_short(to, from) {
            self.stream(to, from, out);
        }
    }

    /// What a primary knows of a standby, if it is primary of that term.
    fn standby(&mut self, node: NodeId, peer: NodeId, term: u64) -> Option<&mut Standby> {
        let it = &mut self.nodes[node];
        let is_current = it.is_recovered() && it.disk.term == term;
        let primary = it.primary_mut().filter(|_| is_current)?;
        primary.standbys.get_mut(peer)
    }

    /// Where a stream to a standby starts.
    fn start_of(&self, standby: &Standby) -> u64 {
        let overrides = self.setup.variant.has(Defect::JoinOverridesReport);
        match standby.join {
            None => standby.report,
            Some(join) if overrides => join,
            Some(join) => join.min(standby.report),
        }
    }

    /// Whether a standby lacks something that is in the log.
    fn is_short(&self, node: NodeId, peer: NodeId) -> bool {
        let primary = self.nodes[node].primary();
        primary.is_some_and(|it| self.start_of(&it.standbys[peer]) < it.handed)
    }

    /// A primary's turn.
    pub(super) fn tick(&mut self, node: NodeId, out: &mut Out) {
        let it = &self.nodes[node];
        let (term, life) = (it.disk.term, it.life);
        if it.primary().is_none() {
            return;
        }
        for peer in self.peers(node) {
            self.tick_for(node, peer, term, out);
        }
        let tick = Step::Tick { node, life, term };
        out.later.push((Delay::Tick, tick));
    }

    fn tick_for(&mut self, node: NodeId, peer: NodeId, term: u64, out: &mut Out) {
        let Some(primary) = self.nodes[node].primary() else {
            return;
        };
        let standby = &primary.standbys[peer];
        if !standby.is_registered {
            if !self.setup.variant.has(Defect::NoHello) {
                self.send(node, peer, Message::Hello { term }, out);
            }
            return;
        }
        let assumptions = &self.setup.assumptions;
        let is_behind = standby.is_behind && assumptions.suppresses_live;
        let by_report = standby.is_behind && assumptions.heartbeat == Heartbeat::Report;
        let prev = if by_report {
            standby.report
        } else {
            standby.next - 1
        };
        if !is_behind && standby.next <= primary.handed {
            self.send_live(node, peer, out);
        } else {
            self.send_heartbeat(node, peer, prev, out);
        }
        if self.is_short(node, peer) {
            self.stream(node, peer, out);
        }
    }

    fn send_heartbeat(&self, node: NodeId, peer: NodeId, prev: u64, out: &mut Out) {
        let it = &self.nodes[node];
        let prev = prev.min(it.last()).max(it.disk.snapshot.0);
        let heartbeat = self.entries(node, prev + 1, prev);
        if let Some(entries) = heartbeat.or_else(|| {
            let base = it.disk.snapshot.0;
            self.entries(node, base + 1, base)
        }) {
            self.send(node, peer, Message::Append(entries), out);
        }
    }

    /// Streams the log to a standby, segment by segment, found by their names.
    fn stream(&mut self, node: NodeId, peer: NodeId, out: &mut Out) {
        let Some(primary) = self.nodes[node].primary() else {
            return;
        };
        let standby = &primary.standbys[peer];
        let start = self.start_of(standby);
        let to = primary.handed;
        let lsn = match self.setup.assumptions.shown {
            Shown::Start => start,
            Shown::Report => standby.report,
        };
        let what = What::Stream {
            standby: number(node, peer),
            lsn,
            ceiling: to,
            committed: self.nodes[node].committed,
        };
        self.note(node, what, out);
        let (lsn, lsn_term) = self.nodes[node].disk.snapshot;
        let term = self.nodes[node].disk.term;
        if start < lsn {
            let message = Message::Snapshot {
                term,
                lsn,
                lsn_term,
            };
            self.send(node, peer, message, out);
            self.note(node, What::SnapshotSent { lsn }, out);
            return;
        }
        let mut entries = 0;
        let mut from = start;
        for _ in 0..self.setup.assumptions.batches {
            let Some(batch) = self.next_batch(node, from, to) else {
                break;
            };
            entries += batch.entries.len() as u64;
            from = batch.last();
            self.send(node, peer, Message::Batch(batch), out);
        }
        let is_counted = !self.setup.variant.has(Defect::SilentEmptyStream);
        let from = start;
        let what = if entries == 0 && is_counted {
            What::FoundNone { from, to }
        } else {
            What::Streamed {
                from,
                to,
                entries,
                is_counted,
            }
        };
        self.note(node, what, out);
    }

    fn next_batch(&self, node: NodeId, from: u64, to: u64) -> Option<AppendEntries> {
        let it = &self.nodes[node];
        let entries = it.disk.by_name(from, to);
        let prev = entries.first()?.lsn - 1;
        Some(AppendEntries {
            term: it.disk.term,
            prev,
            prev_term: if prev == 0 { 0 } else { it.term_at(prev)? },
            entries,
            commit: it.committed,
        })
    }

    /// A part of a stream arrives.
    pub(super) fn batch(
        &mut self,
        from: NodeId,
        to: NodeId,
        entries: AppendEntries,
        out: &mut Out,
    ) {
        if self.nodes[to].is_recovered() {
            if self.follow(from, to, entries.term, out) {
                self.consume(from, to, &entries, true, out);
            }
            return;
        }
        let (term, prev, last) = (entries.term, entries.prev, entries.last());
        if !self.takes_in(to, out) {
            return;
        }
        let nack = Message::Nack {
            term,
            prev,
            lsn: last,
        };
        if !self.may_write(to, prev + 1, out) || self.nodes[to].persist.current != prev + 1 {
            self.send(to, from, nack, out);
            return;
        }
        for entry in entries.entries {
            self.write_before_recovery(to, entry);
        }
        let first = prev + 1;
        self.note(to, What::CatchUp { first, last, term }, out);
        let message = Message::Ack {
            term,
            lsn: last,
            is_heartbeat: false,
        };
        self.answer(to, from, message, out);
    }

    /// Whether replication traffic before recovery is looked at.
    fn takes_in(&mut self, node: NodeId, out: &mut Out) -> bool {
        if self.setup.variant.has(Defect::PreRecoveryIntake) {
            return true;
        }
        let it = &mut self.nodes[node];
        let is_first = !std::mem::replace(&mut it.told_drop, true);
        self.note(node, What::Dropped { is_first }, out);
        false
    }

    /// Whether a replicated write before recovery is accepted.
    fn may_write(&self, node: NodeId, lsn: u64, out: &mut Out) -> bool {
        let may = self.setup.variant.has(Defect::PreRecoveryWrite);
        if !may {
            self.note(node, What::Busy { lsn }, out);
        }
        may
    }

    /// A write into a log whose end is not known yet: the position is 1 and no segment is open.
    fn write_before_recovery(&mut self, node: NodeId, entry: Entry) {
        let limit = self.setup.assumptions.segment_records;
        let it = &mut self.nodes[node];
        it.persist.write(&mut it.disk, entry, limit);
    }

    fn send_push(&self, node: NodeId, peer: NodeId, out: &mut Out) {
        let it = &self.nodes[node];
        if let Some((_, entry)) = it.log.last_key_value() {
            let message = Message::Push {
                term: it.disk.term,
                entry: *entry,
            };
            self.send(node, peer, message, out);
        }
    }

    /// A configuration record arrives outside of any catch-up: only the write itself can refuse it before recovery.
    /// With a log to compare with, it is left to the live append, which brings it too.
    pub(super) fn push(&mut self, to: NodeId, term: u64, entry: Entry, out: &mut Out) {
        let (first, last) = (entry.lsn, entry.lsn);
        if !self.nodes[to].is_recovered() && self.may_write(to, first, out) {
            self.write_before_recovery(to, entry);
            self.note(to, What::CatchUp { first, last, term }, out);
        }
    }

    /// A snapshot arrives.
    pub(super) fn snapshot(
        &mut self,
        from: NodeId,
        to: NodeId,
        term: u64,
        state: (u64, u64),
        out: &mut Out,
    ) {
        let lsn = state.0;
        if self.nodes[to].is_recovered() {
            if !self.follow(from, to, term, out) {
                return;
            }
            let it = &self.nodes[to];
            if lsn > it.committed && it.term_at(lsn) != Some(state.1) {
                self.install(to, state, term, out);
            }
        } else {
            if !self.takes_in(to, out) {
                return;
            }
            if !self.may_write(to, lsn, out) {
                let message = Message::Nack {
                    term,
                    prev: lsn,
                    lsn,
                };
                self.send(to, from, message, out);
                return;
            }
            self.install(to, state, term, out);
        }
        let message = Message::Ack {
            term,
            lsn,
            is_heartbeat: false,
        };
        self.answer(to, from, message, out);
    }

    fn install(&mut self, node: NodeId, state: (u64, u64), term: u64, out: &mut Out) {
        let it = &mut self.nodes[node];
        let lsn = state.0;
        it.persist.truncate(&mut it.disk, 1);
        it.disk.snapshot = state;
        it.persist.current = lsn + 1;
        it.log.clear();
        it.forget_answers(lsn + 1);
        it.committed = it.committed.max(lsn);
        if it.persist.is_recovered {
            it.acknowledged = it.acknowledged.min(lsn);
        }
        it.is_disordered = false;
        self.note(node, What::SnapshotTaken { lsn, term }, out);
    }

    /// Takes a snapshot of what is committed and removes the segments that it covers.
    pub(super) fn compact(&mut self, node: NodeId) {
        let it = &mut self.nodes[node];
        let lsn = it.committed;
        let Some(term) = it.term_at(lsn).filter(|_| it.persist.is_recovered) else {
            return;
        };
        it.disk.snapshot = (lsn, term);
        it.disk.purge(it.persist.open);
        it.log.retain(|at, _| *at > lsn);
    }

    /// A standby has everything up to a position.
    pub(super) fn ack(
        &mut self,
        from: NodeId,
        to: NodeId,
        term: u64,
        lsn: u64,
        is_heartbeat: bool,
        out: &mut Out,
    ) {
        let handed = self.nodes[to].primary().map_or(0, |it| it.handed);
        let Some(standby) = self.standby(to, from, term) else {
            return;
        };
        standby.matched = standby.matched.max(lsn);
        if is_heartbeat {
            standby.report = standby.report.max(lsn);
        } else {
            standby.report = lsn;
            if standby.is_behind {
                standby.join = standby.join.map(|_| lsn);
            }
            if standby.is_behind && lsn >= handed {
                standby.is_behind = false;
                standby.join = None;
            }
        }
        if !standby.is_behind {
            standby.next = standby.next.max(lsn + 1);
        }
        self.advance_commit(to, out);
    }

    /// A standby refused: its log does not have what was said to be before.
    pub(super) fn nack(
        &mut self,
        from: NodeId,
        to: NodeId,
        term: u64,
        prev: u64,
        lsn: u64,
        out: &mut Out,
    ) {
        if self.nodes[to].is_recovered() {
            self.observe(to, term, out);
        }
        let Some(standby) = self.standby(to, from, term) else {
            return;
        };
        if prev < standby.matched || lsn == 0 {
            // An answer from before what was acknowledged since.
            return;
        }
        standby.next = prev.max(1);
        let join = standby.next - 1;
        standby.join = match standby.join {
            Some(known) if standby.is_behind => Some(known.min(join)),
            _ => Some(join),
        };
        standby.is_behind = true;
        self.note(to, What::Nack { lsn }, out);
    }
}

/// The number of a standby at its primary.
pub(super) fn number(primary: NodeId, standby: NodeId) -> u64 {
    let before = usize::from(standby > primary);
    (standby - before) as u64
}
