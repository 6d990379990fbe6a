//! Records become numbers: what one log of one node adds to its tallies, in the order of its records.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::contexts::{Contexts, Taken, Waiting};
use super::count::{
    Said, continuation_lines, count, counter_of, evidence, evidence_in_place, in_full, row_evidence,
};
use super::joints::Joints;
use super::queries::Queries;
use super::table::table_of;
use super::{FoldRules, Scanned, Source, arrivals, awaited, each, mask, watch};
use crate::parsers::Format;
use crate::scan::{Entry, Occurrence, gap};
use crate::signals::FIELDS_MAX;
use crate::signals::tally::{GAPS_MAX, MARKS_MAX, NodeTally, Unplaced};
use crate::time::Timestamp;
use crate::vocab::Level;

/// How many mined templates are kept per node.
const TEMPLATES_MAX: usize = 2_000;

/// How many starts of a process are listed.
const STARTS_MAX: usize = 1_000;

/// The fold of one log into the tallies of its node.
pub struct Fold<'s> {
    rules: &'s FoldRules<'s>,
    tally: NodeTally,
    /// Nodes that lines name beside the one the path does.
    others: BTreeMap<Vec<u8>, NodeTally>,
    format: Format,
    contexts: Contexts,
    queries: Queries,
    /// The memory of the fields that an occurrence takes from another one.
    taken: Taken,
    /// The last stamp of the blocks before, and records worth a mark that have none behind them yet: the node that their
    /// line names, the signal, and their place.
    stamped: Option<Timestamp>,
    before_block: Option<Timestamp>,
    open: Vec<(Vec<u8>, usize, usize)>,
    /// The artifact of the last block of the main log, and its last stamp.
    last: Option<(u32, Timestamp)>,
    joints: Joints,
    /// The most that an occurrence adds to a sum: of a counter by how much it grew since another export.
    weight_max: u64,
}

impl<'s> Fold<'s> {
    /// Goes on with a node's tallies.
    pub fn new(rules: &'s FoldRules<'s>, tally: NodeTally, source: Source) -> Self {
        Self {
            rules,
            tally,
            others: BTreeMap::new(),
            format: source.format,
            contexts: Contexts::new(rules.signals),
            queries: Queries::default(),
            taken: Taken::default(),
            stamped: None,
            before_block: None,
            open: Vec::new(),
            last: None,
            joints: Joints::default(),
            weight_max: u64::MAX,
        }
    }

    /// The log has ended: gives the node's tallies back, and those of the other nodes that its lines name.
    pub fn finish(mut self) -> (NodeTally, Vec<NodeTally>) {
        for waiting in self.contexts.finish() {
            waiting.count(&mut self.tally, self.rules);
        }
        let tallies = self.others.values_mut().chain([&mut self.tally]);
        for tally in tallies {
            tally.settle(self.rules.subjects_max);
        }
        (self.tally, self.others.into_values().collect())
    }

    /// The tallies of the node that a record belongs to.
    fn tally_of(&mut self, scanned: &Scanned, entry: &Entry) -> &mut NodeTally {
        self.tally_named(entry.node.of(&scanned.block.bytes))
    }

    #[inline]
    fn tally_named(&mut self, node: &[u8]) -> &mut NodeTally {
        // Most lines name none.
        if node.is_empty() {
            return &mut self.tally;
        }
        self.tally_of_other(node)
    }

    fn tally_of_other(&mut self, node: &[u8]) -> &mut NodeTally {
        if node == self.tally.node.as_bytes() {
            return &mut self.tally;
        }
        let (rules, run) = (self.rules, &self.tally.run);
        let format = self.format;
        self.others.entry(node.to_vec()).or_insert_with(|| {
            let node = String::from_utf8_lossy(node);
            let mut tally = rules.tally(run, &node);
            tally.seen.note(format);
            tally.seen.note_kept(format);
            tally.seen.main = true;
            tally
        })
    }

    /// Counts what a block of a main log holds beside its entries.
    pub(super) fn block(&mut self, scanned: &Scanned) {
        let scan = &scanned.scan;
        self.seen(scanned, true);
        self.close(scan.stamps);
        if !self.is_log() || self.nodes_in_lines() {
            return;
        }
        self.joints.join(&mut self.tally, self.last, scanned);
        // A silence between two blocks of a file; between two files a piece may be missing.
        let before = self
            .last
            .filter(|(artifact, _)| *artifact == scanned.artifact);
        if let (Some((_, from)), Some(to)) = (before, scan.opened) {
            self.tally.gaps.extend(gap(from, to));
        }
        self.last = scan
            .last_time
            .map(|time| (scanned.artifact, time))
            .or(self.last);
        let room = GAPS_MAX.saturating_sub(self.tally.gaps.len());
        self.tally.gaps.extend(scan.gaps.iter().take(room));
        self.tally.records += scan.records;
        for (total, count) in self.tally.levels.iter_mut().zip(scan.levels) {
            *total += count;
        }
        self.tally.widen(scan.span);
        self.tally.continuation_lines += scan.continuation_lines;
        for &(signal, entry) in &scan.near_misses {
            self.near_miss(scanned, &scan.entries[entry as usize], signal);
        }
    }

    /// The err.log has a record of a time that the main log has not.
    pub(super) fn lacks(&mut self, time: Option<Timestamp>) {
        self.joints.lack(&mut self.tally, time);
    }

    /// Counts what a block of an err.log holds beside its entries.
    pub(super) fn err_block(&mut self, scanned: &Scanned) {
        self.seen(scanned, false);
        let scan = &scanned.scan;
        let mut levels = scan.levels;
        for entry in &scan.entries {
            levels[entry.level.index()] -= 1;
        }
        self.tally.records += levels.iter().sum::<u64>();
        for (total, count) in self.tally.levels.iter_mut().zip(levels) {
            *total += count;
        }
        self.tally.widen(scan.span);
    }

    /// Counts what a block of an export of the records holds beside its entries, which are all its records.
    pub(super) fn view_block(&mut self, scanned: &Scanned) {
        self.seen(scanned, true);
    }

    fn is_log(&self) -> bool {
        self.format.spec().counts_records
    }

    /// Whether every record is counted by its own line's node, and none by its block.
    pub(super) fn nodes_in_lines(&self) -> bool {
        self.format.spec().nodes_in_lines
    }

    fn seen(&mut self, scanned: &Scanned, main: bool) {
        let scan = &scanned.scan;
        let seen = &mut self.tally.seen;
        seen.note(self.format);
        seen.zones.0 |= scan.zones.0;
        seen.zones.1 |= scan.zones.1;
        if scan.records > 0 {
            seen.note_kept(self.format);
        }
        // Where only some of a log's lines are here, what is not may still have been.
        if scanned.source.is_excerpt {
            seen.excerpt |= self.format.spec().counts_records;
        } else if self.format.spec().counts_records && main {
            seen.main = true;
            for level in Level::ALL {
                if scan.levels[level.index()] > 0 {
                    seen.levels |= 1 << level.index();
                }
            }
        } else if self.format.spec().counts_records {
            seen.err = true;
        }
        if self.is_log() {
            self.tally.unparsed_lines += scan.unparsed_lines;
        }
        if let Some(version) = scan.version {
            let text = String::from_utf8_lossy(version.of(&scanned.block.bytes)).into_owned();
            if !self.tally.process.versions.contains(&text) {
                self.tally.process.versions.push(text);
            }
        }
    }

    /// Counts a record that no block's totals hold: one that only the err.log has, or one withheld before.
    pub(super) fn single(&mut self, scanned: &Arc<Scanned>, entry: &Entry, forged: bool) {
        let tally = self.tally_of(scanned, entry);
        tally.records += 1;
        tally.levels[entry.level.index()] += 1;
        tally.continuation_lines += continuation_lines(scanned, entry);
        if let Some(time) = entry.time.filter(|_| !entry.suspect) {
            tally.widen(Some((time, time)));
        }
        self.entry(scanned, entry, forged);
    }

    /// Takes a record out of its block's totals until it is known whether it counts.
    pub(super) fn withhold(&mut self, scanned: &Scanned, entry: &Entry) {
        self.tally.records -= 1;
        self.tally.levels[entry.level.index()] -= 1;
        self.tally.continuation_lines -= continuation_lines(scanned, entry);
    }

    /// Counts what a noteworthy record says.
    /// `forged`: what the other log says of it makes it suspect.
    pub(super) fn entry(&mut self, scanned: &Arc<Scanned>, entry: &Entry, forged: bool) {
        let suspect = entry.suspect || forged;
        if self.format == Format::TABLE {
            self.row(scanned, entry);
            return;
        }
        let is_log = self.is_log();
        let tally = self.tally_of(scanned, entry);
        tally.suspect += u64::from(suspect);
        if let Some(code) = entry.code.filter(|_| is_log) {
            tally
                .codes
                .entry(code)
                .or_default()
                .add(entry.time, suspect);
        }
        for &code in scanned.scan.nested_of(entry) {
            tally
                .nested
                .entry(code)
                .or_default()
                .add(entry.time, suspect);
        }
        let occurrences = scanned.scan.occurrences_of(entry);
        for occurrence in occurrences {
            self.occurrence(scanned, entry, occurrence, suspect);
            if entry.time.is_none() && !suspect {
                self.unplaced(scanned, entry, occurrence.signal);
            }
        }
        if let Some(watched) = self.rules.watch
            && !suspect
            && !occurrences.is_empty()
        {
            let signals = self.rules.signals;
            watch::count(
                self.tally_of(scanned, entry),
                signals,
                watched,
                scanned,
                entry,
            );
        }
        if matches!(entry.level, Level::Fatal | Level::Critical | Level::Error) && self.is_log() {
            self.error(scanned, entry, occurrences, suspect);
        }
    }

    /// Keeps a record that is worth a mark and has no stamp, with what is known of its time.
    fn unplaced(&mut self, scanned: &Scanned, entry: &Entry, signal: u16) {
        if self.rules.signals.signal(signal).mark.is_none() {
            return;
        }
        let (after, before) = scanned.scan.neighbors_of(entry);
        // Where the block has none before it, the last of the blocks before is it.
        let after = after.or(self.before_block);
        let at = usize::from(signal);
        let unplaced = &mut self.tally_of(scanned, entry).signals[at].unplaced;
        if unplaced.len() >= MARKS_MAX {
            return;
        }
        unplaced.push(Unplaced {
            evidence: evidence(scanned, entry),
            after,
            before,
        });
        let place = unplaced.len() - 1;
        if before.is_none() {
            let node = entry.node.of(&scanned.block.bytes).to_vec();
            self.open.push((node, at, place));
        }
    }

    /// A block begins: its first stamp stands behind what is open, and its last before what the next block begins with.
    fn close(&mut self, stamps: Option<(Timestamp, Timestamp)>) {
        self.before_block = self.stamped;
        let Some((first, last)) = stamps else { return };
        for (node, signal, place) in std::mem::take(&mut self.open) {
            let unplaced = &mut self.tally_named(&node).signals[signal].unplaced;
            if let Some(one) = unplaced.get_mut(place) {
                one.before = Some(first);
            }
        }
        self.stamped = Some(last);
    }

    /// Counts a row of a table: its counter, and the signals in it.
    fn row(&mut self, scanned: &Arc<Scanned>, entry: &Entry) {
        let Some(record) = self.format.parse(entry.bytes.of(&scanned.block.bytes)) else {
            return;
        };
        let exported = &mut self.tally.exported;
        let table = String::from_utf8_lossy(record.logger);
        if let Some(rows) = exported.rows.get_mut(&*table) {
            *rows += 1;
        } else {
            exported.rows.insert(table.clone().into_owned(), 1);
        }
        let mut weight_max = u64::MAX;
        if let Some((name, value)) = counter_of(&table, &record) {
            let more = exported.count(name, value);
            // Exported before, and nothing new: it was counted.
            if more == 0 && value.value > 0 {
                return;
            }
            weight_max = u64::try_from(more).unwrap_or(0);
        }
        self.weight_max = weight_max;
        for occurrence in scanned.scan.occurrences_of(entry) {
            self.occurrence(scanned, entry, occurrence, false);
        }
        self.weight_max = u64::MAX;
    }

    /// Notes a record that holds a signal's literal and does not fit it.
    fn near_miss(&mut self, scanned: &Scanned, entry: &Entry, signal: u16) {
        let tally = &mut self.tally.signals[usize::from(signal)];
        tally.near_misses += 1;
        if tally.near_miss.is_none() {
            tally.near_miss = Some(evidence(scanned, entry));
        }
    }

    fn error(
        &mut self,
        scanned: &Scanned,
        entry: &Entry,
        occurrences: &[Occurrence],
        suspect: bool,
    ) {
        let text = entry.bytes.of(&scanned.block.bytes);
        let held = (0u16..).zip(self.rules.texts);
        let held = held.filter(|(_, looked_for)| looked_for.is_in(text));
        let held: Vec<u16> = held.map(|(at, _)| at).collect();
        let errors = &mut self.tally_of(scanned, entry).errors;
        if !occurrences.is_empty() && !suspect {
            let signals = || occurrences.iter().map(|occurrence| occurrence.signal);
            errors.claimed(entry.level, signals());
            if !held.is_empty() {
                let key = (entry.level, signals().collect(), held);
                let first = || (0, evidence(scanned, entry));
                errors.holding.entry(key).or_insert_with(first).0 += 1;
            }
            return;
        }
        let template = mask::template(entry.message.of(&scanned.block.bytes));
        let forged = if suspect { "(may be forged) " } else { "" };
        let template = format!("{forged}{template}");
        let key = (entry.level, template, held);
        if let Some((count, _)) = errors.unmatched.get_mut(&key) {
            *count += 1;
        } else if errors.unmatched.len() < TEMPLATES_MAX {
            errors.unmatched.insert(key, (1, evidence(scanned, entry)));
        } else {
            errors.beyond_cap += 1;
        }
    }

    fn occurrence(
        &mut self,
        scanned: &Arc<Scanned>,
        entry: &Entry,
        found: &Occurrence,
        suspect: bool,
    ) {
        // Beside the fold, so that values may lie in it while the fold goes on.
        let mut taken = std::mem::take(&mut self.taken);
        let signal = self.rules.signals.signal(found.signal);
        let mut values: [&[u8]; FIELDS_MAX] = [b""; FIELDS_MAX];
        let spans = scanned.scan.fields_of(found);
        for (value, span) in values.iter_mut().zip(spans) {
            *value = span.of(&scanned.block.bytes);
        }
        signal.derive(&mut values);
        if self.rules.start == Some(found.signal) && !suspect {
            self.started(entry);
        }
        self.contexts.before(signal, entry, &mut taken, &mut values);
        let is_listed = self.rules.listed.is_some();
        let is_row = self.format == Format::TABLE;
        let evidence = || {
            if is_row {
                row_evidence(scanned, entry)
            } else if is_listed {
                evidence(scanned, entry)
            } else if !signal.each.is_empty() {
                in_full(evidence_in_place(scanned, entry), scanned, entry)
            } else {
                evidence_in_place(scanned, entry)
            }
        };
        let uses = &self.rules.uses[usize::from(found.signal)];
        let text = (self.format, entry.bytes.of(&scanned.block.bytes));
        let is_again = !suspect && self.queries.repeats(uses, found.signal, text);
        let table = if uses.of_table {
            table_of(scanned, entry)
        } else {
            b""
        };
        let ready = self
            .contexts
            .follow(self.rules.signals, found.signal, entry, &values);
        let (rules, weight_max) = (self.rules, self.weight_max);
        for one in ready {
            one.count(&mut self.tally, rules);
        }
        let said = Said {
            signal: found.signal,
            values: &values,
            time: entry.time,
            suspect,
            weight_max,
            table,
            is_again,
        };
        if Contexts::waits(signal) && entry.time.is_some() {
            let waiting = Waiting::new(&said, entry.thread, evidence());
            self.contexts.wait(waiting);
            self.taken = taken;
            return;
        }
        let tally = self.tally_of(scanned, entry);
        if !suspect {
            awaited::note(tally, rules, &said);
            arrivals::note(tally, rules, &said, evidence);
        }
        count(tally, rules, &said, evidence);
        if !suspect && !signal.each.is_empty() {
            each::count(tally, rules, (scanned, entry), &said);
        }
        self.taken = taken;
    }

    fn started(&mut self, entry: &Entry) {
        let starts = &mut self.tally.process.starts;
        if starts.len() < STARTS_MAX {
            starts.extend(entry.time);
        }
    }
}
