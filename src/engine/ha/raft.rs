//! Terms, votes, appends and commits.

use std::collections::BTreeSet;

use super::names::{Entry, NodeId, Violation, What};
use super::node::{AppendEntries, Delay, Message, Out, Primary, Role, Standby, Step};
use super::setup::Defect;
use super::world::{Refused, World};

impl World {
    /// The time without a primary begins anew.
    pub(super) fn begin_timer(&mut self, node: NodeId, out: &mut Out) {
        let it = &mut self.nodes[node];
        it.timer += 1;
        let step = Step::Election {
            node,
            life: it.life,
            timer: it.timer,
        };
        out.later.push((Delay::Election, step));
    }

    /// Takes notice of a term; a higher one ends whatever role the node had.
    pub(super) fn observe(&mut self, node: NodeId, term: u64, out: &mut Out) {
        let it = &mut self.nodes[node];
        if term <= it.disk.term {
            return;
        }
        it.disk.term = term;
        it.disk.vote = None;
        let was_primary = matches!(it.role, Role::Primary(_));
        let was_follower = matches!(it.role, Role::Follower);
        it.role = Role::Follower;
        if was_primary {
            self.note(node, What::SteppedDown { term }, out);
        }
        if !was_follower {
            self.begin_timer(node, out);
        }
    }

    pub(super) fn stand_for_election(&mut self, node: NodeId, out: &mut Out) {
        let it = &mut self.nodes[node];
        if !it.is_recovered() || it.primary().is_some() {
            return;
        }
        it.disk.term += 1;
        it.disk.vote = Some(node);
        it.role = Role::Candidate(BTreeSet::from([node]));
        let (term, last) = (it.disk.term, it.last());
        let last_term = it.term_at(last).unwrap_or(0);
        self.note(node, What::Candidate { term }, out);
        self.begin_timer(node, out);
        for to in self.peers(node) {
            let message = Message::AskVote {
                term,
                last,
                last_term,
            };
            self.send(node, to, message, out);
        }
        self.count_votes(node, out);
    }

    /// All other nodes, in order.
    pub(super) fn peers(&self, node: NodeId) -> Vec<NodeId> {
        (0..self.setup.nodes).filter(|it| *it != node).collect()
    }

    pub(super) fn vote(
        &mut self,
        from: NodeId,
        to: NodeId,
        term: u64,
        log: (u64, u64),
        out: &mut Out,
    ) {
        if !self.nodes[to].is_recovered() {
            return;
        }
        self.observe(to, term, out);
        let is_blind = self.setup.variant.has(Defect::BlindVotes);
        let it = &mut self.nodes[to];
        let last = it.last();
        let own = (it.term_at(last).unwrap_or(0), last);
        let is_free = it.disk.vote.is_none_or(|it| it == from);
        let is_granted = term == it.disk.term && is_free && (log >= own || is_blind);
        let term = it.disk.term;
        if is_granted {
            it.disk.vote = Some(from);
            self.note(
                to,
                What::VoteGranted {
                    to: from,
                    term,
                    last,
                },
                out,
            );
            self.begin_timer(to, out);
        }
        self.send(to, from, Message::Vote { term, is_granted }, out);
    }

    pub(super) fn voted(
        &mut self,
        from: NodeId,
        to: NodeId,
        term: u64,
        is_granted: bool,
        out: &mut Out,
    ) {
        if !self.nodes[to].is_recovered() {
            return;
        }
        self.observe(to, term, out);
        let it = &mut self.nodes[to];
        if it.disk.term == term
            && is_granted
            && let Role::Candidate(votes) = &mut it.role
        {
            votes.insert(from);
            self.count_votes(to, out);
        }
    }

    fn count_votes(&mut self, node: NodeId, out: &mut Out) {
        let majority = self.setup.majority();
        let it = &mut self.nodes[node];
        let Role::Candidate(votes) = &it.role else {
            return;
        };
        let votes = votes.len();
        if votes < majority {
            return;
        }
        let (last, term, life) = (it.last(), it.disk.term, it.life);
        let standby = Standby {
            next: last + 1,
            ..Standby::default()
        };
        it.role = Role::Primary(Primary {
            standbys: vec![standby; self.setup.nodes],
            buffer: Vec::new(),
            handed: last,
            own: last,
            is_ready: false,
            waits: BTreeSet::new(),
        });
        // What an earlier life wrote may not be durable under a lost answer; a primary counts itself only after a sync.
        it.disk.sync();
        it.timer += 1;
        self.acknowledge(node, last, out);
        self.judge_primary(node);
        let (votes, of) = (votes as u64, self.setup.nodes as u64);
        self.note(node, What::Primary { term, votes, of }, out);
        let tick = Step::Tick { node, life, term };
        out.later.push((Delay::Tick, tick));
        let noop = Entry {
            lsn: last + 1,
            term,
            value: 0,
        };
        self.hand_over(node, &[noop], out);
    }

    /// Takes a write; the position that it gets. Internal writes do not wait until the primary is ready.
    pub(super) fn write(
        &mut self,
        node: NodeId,
        value: u64,
        is_internal: bool,
        out: &mut Out,
    ) -> Result<u64, Refused> {
        let it = &mut self.nodes[node];
        let (term, life, is_up) = (it.disk.term, it.life, it.is_up);
        let primary = it.primary_mut().filter(|_| is_up);
        let primary = primary.ok_or(Refused::NotPrimary)?;
        if !primary.is_ready && !is_internal {
            return Err(Refused::NotReady);
        }
        let lsn = primary.buffer.last().map_or(primary.handed, |it| it.lsn) + 1;
        primary.buffer.push(Entry { lsn, term, value });
        primary.waits.insert(lsn);
        let deadline = Step::Deadline { node, life, lsn };
        out.later.push((Delay::Wait, deadline));
        self.hand_over_waiting(node, out);
        Ok(lsn)
    }

    pub(super) fn deadline(&mut self, node: NodeId, lsn: u64, out: &mut Out) {
        let committed = self.nodes[node].committed;
        let Some(primary) = self.nodes[node].primary_mut() else {
            return;
        };
        let writable = primary.handed;
        if primary.waits.remove(&lsn) {
            let what = What::WaitExpired {
                lsn,
                committed,
                writable,
            };
            self.note(node, what, out);
        }
    }

    /// Waiting writes go to the log once the batch before them is committed.
    pub(super) fn hand_over_waiting(&mut self, node: NodeId, out: &mut Out) {
        let one_batch = self.setup.assumptions.one_batch;
        let committed = self.nodes[node].committed;
        let Some(primary) = self.nodes[node].primary_mut() else {
            return;
        };
        if primary.buffer.is_empty() || (one_batch && primary.handed > committed) {
            return;
        }
        let batch = std::mem::take(&mut primary.buffer);
        self.hand_over(node, &batch, out);
    }

    fn hand_over(&mut self, node: NodeId, batch: &[Entry], out: &mut Out) {
        for entry in batch {
            self.write_entry(node, *entry);
        }
        let life = self.nodes[node].life;
        let last = self.nodes[node].last();
        if let Some(primary) = self.nodes[node].primary_mut() {
            primary.handed = last;
        }
        out.later.push((Delay::Sync, Step::Synced { node, life }));
        for peer in self.peers(node) {
            self.send_live(node, peer, out);
        }
    }

    /// Sends what a standby lacks of the newest entries; a standby in catch-up gets none.
    pub(super) fn send_live(&mut self, node: NodeId, peer: NodeId, out: &mut Out) {
        let suppresses = self.setup.assumptions.suppresses_live;
        let Some(primary) = self.nodes[node].primary() else {
            return;
        };
        let standby = &primary.standbys[peer];
        let is_open = standby.is_registered && !(standby.is_behind && suppresses);
        let (next, handed) = (standby.next, primary.handed);
        if is_open && next <= handed {
            if let Some(entries) = self.entries(node, next, handed) {
                self.send(node, peer, Message::Append(entries), out);
            } else if let Some(primary) = self.nodes[node].primary_mut() {
                // Purged: only a snapshot helps.
                let standby = &mut primary.standbys[peer];
                standby.is_behind = true;
                standby.join.get_or_insert(next - 1);
            }
        }
    }

    /// The entries from a position to another one with what is before them; none if that is not known here.
    pub(super) fn entries(&self, node: NodeId, from: u64, to: u64) -> Option<AppendEntries> {
        let it = &self.nodes[node];
        let prev = from - 1;
        let prev_term = if prev == 0 { 0 } else { it.term_at(prev)? };
        let mut entries = Vec::new();
        for lsn in from..=to {
            entries.push(*it.log.get(&lsn)?);
        }
        Some(AppendEntries {
            term: it.disk.term,
            prev,
            prev_term,
            entries,
            commit: it.committed,
        })
    }

    /// Live entries or a heartbeat arrive. Before recovery there is no log to compare with: no answer.
    pub(super) fn append(
        &mut self,
        from: NodeId,
        to: NodeId,
        entries: &AppendEntries,
        out: &mut Out,
    ) {
        if self.nodes[to].is_recovered() && self.follow(from, to, entries.term, out) {
            self.consume(from, to, entries, false, out);
        }
    }

    /// Follows the primary of a term; whether the term is current.
    pub(super) fn follow(&mut self, from: NodeId, to: NodeId, term: u64, out: &mut Out) -> bool {
        self.observe(to, term, out);
        let it = &mut self.nodes[to];
        if term < it.disk.term {
            let message = Message::Nack {
                term: it.disk.term,
                prev: 0,
                lsn: 0,
            };
            self.send(to, from, message, out);
            return false;
        }
        if matches!(it.role, Role::Candidate(_)) {
            it.role = Role::Follower;
        }
        self.begin_timer(to, out);
        true
    }

    /// Compares and takes entries; the answer waits for the disk.
    pub(super) fn consume(
        &mut self,
        from: NodeId,
        to: NodeId,
        entries: &AppendEntries,
        is_batch: bool,
        out: &mut Out,
    ) {
        let it = &self.nodes[to];
        let (term, prev, n) = (entries.term, entries.prev, entries.entries.len() as u64);
        let matches = prev <= it.disk.snapshot.0 || it.term_at(prev) == Some(entries.prev_term);
        if !matches {
            self.note(to, What::AppendRejected { term, prev, n }, out);
            let lsn = entries.last();
            self.send(to, from, Message::Nack { term, prev, lsn }, out);
            return;
        }
        for entry in &entries.entries {
            self.take(to, *entry);
        }
        let matched = entries.last();
        if is_batch {
            let (first, last) = (prev + 1, matched);
            self.note(to, What::CatchUp { first, last, term }, out);
        } else {
            let what = What::AppendOk {
                term,
                prev,
                n,
                matched,
            };
            self.note(to, what, out);
        }
        // Told by a message that can carry entries and does not.
        let is_told = n > 0 || self.setup.assumptions.tells_commit;
        let commit = entries.commit.min(matched);
        if is_told && commit > self.nodes[to].committed {
            self.commit_to(to, commit, out);
        }
        let answer = Message::Ack {
            term,
            lsn: matched,
            is_heartbeat: n == 0,
        };
        self.answer(to, from, answer, out);
    }

    fn take(&mut self, node: NodeId, entry: Entry) {
        let it = &mut self.nodes[node];
        if entry.lsn <= it.disk.snapshot.0 || it.term_at(entry.lsn) == Some(entry.term) {
            return;
        }
        if it.log.contains_key(&entry.lsn) {
            it.persist.truncate(&mut it.disk, entry.lsn);
            it.log.retain(|lsn, _| *lsn < entry.lsn);
            it.acknowledged = it.acknowledged.min(entry.lsn - 1);
            it.forget_answers(entry.lsn);
            if it.committed >= entry.lsn {
                self.broken.insert(Violation::CommittedDiverged);
            }
        }
        self.write_entry(node, entry);
    }

    /// Answers when everything here is durable.
    pub(super) fn answer(&mut self, node: NodeId, to: NodeId, message: Message, out: &mut Out) {
        let it = &mut self.nodes[node];
        let life = it.life;
        it.answers.push((to, message));
        if it.disk.is_synced() {
            self.synced(node, out);
        } else {
            out.later.push((Delay::Sync, Step::Synced { node, life }));
        }
    }

    /// The disk has everything: what waited for it is answered and counted.
    pub(super) fn synced(&mut self, node: NodeId, out: &mut Out) {
        let it = &mut self.nodes[node];
        it.disk.sync();
        for (to, message) in std::mem::take(&mut it.answers) {
            if let Message::Ack { lsn, .. } = message {
                self.acknowledge(node, lsn, out);
            }
            self.send(node, to, message, out);
        }
        if let Some(primary) = self.nodes[node].primary_mut()
            && primary.own < primary.handed
        {
            primary.own = primary.handed;
            let own = primary.own;
            self.acknowledge(node, own, out);
            self.advance_commit(node, out);
        }
    }

    /// Commits what a majority has, if an entry of the own term is among it.
    pub(super) fn advance_commit(&mut self, node: NodeId, out: &mut Out) {
        let majority = self.setup.majority();
        let it = &self.nodes[node];
        let Some(primary) = it.primary() else {
            return;
        };
        let mut have: Vec<u64> = self
            .peers(node)
            .into_iter()
            .map(|peer| primary.standbys[peer].matched)
            .collect();
        have.push(primary.own);
        have.sort_unstable_by(|a, b| b.cmp(a));
        let lsn = have.get(majority - 1).copied().unwrap_or(0);
        let term = it.disk.term;
        if lsn <= it.committed || it.term_at(lsn) != Some(term) {
            return;
        }
        let was_ready = primary.is_ready;
        self.commit_to(node, lsn, out);
        if let Some(primary) = self.nodes[node].primary_mut() {
            primary.is_ready = true;
        }
        if !was_ready {
            let committed = lsn;
            self.note(node, What::Ready { term, committed }, out);
        }
        self.hand_over_waiting(node, out);
    }
}
