//! A controller's disk: segments as real bytes, of which the end may not be durable yet, and what survives beside them.
//!
//! The bytes are those of `docs/wal-format.md`. The reader of the analysis and this writer share nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::names::{Entry, LayoutKind, LayoutProblem, NodeId};

const MAGIC: &[u8; 8] = b"CDWALSEG";
const VERSION: u32 = 1;
const HEADER: usize = 32;
/// Length, checksum, position and term.
const FIXED: usize = 24;
const ALIGN: usize = 8;

/// A segment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Segment {
    bytes: Vec<u8>,
    /// Bytes that survive a crash.
    durable: usize,
    /// The position written last; 0 in an empty one.
    pub(super) last: u64,
    /// Records in it.
    pub(super) records: u64,
}

/// What survives the process.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Disk {
    /// Segments by the position that their names promise.
    pub(super) segments: BTreeMap<u64, Segment>,
    /// The highest term that was heard of.
    pub(super) term: u64,
    /// Who got this node's vote in it.
    pub(super) vote: Option<NodeId>,
    /// Position and term of the last entry that the snapshot holds.
    pub(super) snapshot: (u64, u64),
}

/// What a recovery made of a disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Recovered {
    /// The last position.
    pub(super) last: u64,
    /// The entries up to it.
    pub(super) entries: BTreeMap<u64, Entry>,
}

impl Disk {
    /// Opens a segment, and empties it if it exists.
    pub(super) fn create(&mut self, first: u64, log: u64) {
        self.sync();
        let mut bytes = MAGIC.to_vec();
        bytes.extend(VERSION.to_le_bytes());
        let mut rest = first.to_le_bytes().to_vec();
        rest.extend(log.to_le_bytes());
        let crc = crc32c::crc32c_append(crc32c::crc32c(&bytes), &rest);
        bytes.extend(crc.to_le_bytes());
        bytes.extend(rest);
        let segment = Segment {
            bytes,
            durable: 0,
            last: 0,
            records: 0,
        };
        self.segments.insert(first, segment);
    }

    /// Writes a record at the end of a segment.
    pub(super) fn append(&mut self, first: u64, entry: Entry) {
        if let Some(segment) = self.segments.get_mut(&first) {
            segment.bytes.extend(encode(entry));
            segment.last = entry.lsn;
            segment.records += 1;
        }
    }

    /// Makes everything durable.
    pub(super) fn sync(&mut self) {
        for segment in self.segments.values_mut() {
            segment.durable = segment.bytes.len();
        }
    }

    /// Whether everything is durable.
    pub(super) fn is_synced(&self) -> bool {
        let synced = |it: &Segment| it.durable == it.bytes.len();
        self.segments.values().all(synced)
    }

    /// The machine dies: of what was not durable the first `kept` bytes survive.
    pub(super) fn crash(&mut self, kept: usize) {
        for segment in self.segments.values_mut() {
            let left = segment.bytes.len().min(segment.durable + kept);
            segment.bytes.truncate(left);
            segment.durable = left;
            segment.count_again();
        }
    }

    /// Bytes that a crash could take.
    pub(super) fn volatile(&self) -> usize {
        let open = |it: &Segment| it.bytes.len() - it.durable;
        self.segments.values().map(open).sum()
    }

    /// Removes everything from a position on.
    pub(super) fn truncate(&mut self, from: u64) {
        for segment in self.segments.values_mut() {
            let keep = segment.decode().into_iter().find(|it| it.0.lsn >= from);
            if let Some((_, start, _)) = keep {
                segment.bytes.truncate(start);
                segment.durable = segment.durable.min(start);
                segment.count_again();
            }
        }
        self.segments.retain(|_, it| it.records > 0);
    }

    /// What a recovery would find: every record in the order of the names, and the last one of them as the end.
    ///
    /// It is never below the snapshot, which may hold more than the records: what was committed by others need not have
    /// been durable here. `is_ordered` is a recovery that looks at positions instead: the end is the highest without a
    /// hole below it.
    pub(super) fn recoverable(&self, is_ordered: bool) -> Recovered {
        let mut last = self.snapshot.0;
        let mut entries = BTreeMap::new();
        for segment in self.segments.values() {
            for (entry, ..) in segment.decode() {
                last = entry.lsn;
                entries.insert(entry.lsn, entry);
            }
        }
        last = last.max(self.snapshot.0);
        if is_ordered {
            last = self.snapshot.0;
            while entries.contains_key(&(last + 1)) {
                last += 1;
            }
        }
        entries.retain(|lsn, _| (self.snapshot.0 + 1..=last).contains(lsn));
        Recovered { last, entries }
    }

    /// Removes segments that a snapshot holds whole, but for one that is open.
    pub(super) fn purge(&mut self, open: Option<u64>) {
        let lsn = self.snapshot.0;
        self.segments
            .retain(|first, it| Some(*first) == open || it.last > lsn);
    }

    /// Cuts off what a crash left behind the last whole record.
    pub(super) fn repair(&mut self) {
        for segment in self.segments.values_mut() {
            let end = segment.decode().last().map_or(0, |it| it.2);
            if segment.bytes.len() > end {
                segment.bytes.truncate(end);
                segment.durable = segment.durable.min(end);
            }
        }
        self.segments.retain(|_, it| it.records > 0);
    }

    /// The entries above `from` up to `to` in the first segment that can hold one, judged by the names alone: a segment
    /// is skipped if the next one begins at or below what is wanted.
    pub(super) fn by_name(&self, from: u64, to: u64) -> Vec<Entry> {
        let names: Vec<u64> = self.segments.keys().copied().collect();
        for (place, name) in names.iter().enumerate() {
            let next = names.get(place + 1);
            if next.is_some_and(|next| *next <= from + 1) {
                continue;
            }
            let Some(segment) = self.segments.get(name) else {
                continue;
            };
            let mut found: Vec<Entry> = Vec::new();
            for (entry, ..) in segment.decode() {
                let wanted = found.last().map_or(from + 1, |it| it.lsn + 1);
                let follows = found.is_empty() || entry.lsn == wanted;
                if (wanted..=to).contains(&entry.lsn) && follows {
                    found.push(entry);
                }
            }
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }

    /// Every record that the snapshot does not hold.
    pub(super) fn above_snapshot(&self) -> impl Iterator<Item = Entry> {
        let all = self.segments.values().flat_map(Segment::decode);
        all.map(|it| it.0).filter(|it| it.lsn > self.snapshot.0)
    }

    /// The segment that a reader of a position opens, who goes by the names.
    pub(super) fn reader_opens(&self, lsn: u64) -> Option<u64> {
        self.segments.range(..=lsn).next_back().map(|it| *it.0)
    }

    /// What a check of the layout finds: stretches where nobody looks for them, and positions that are not there.
    ///
    /// A record behind a gap in its segment is in the wrong one as well: a position that is missing begins a segment.
    pub(super) fn problems(&self) -> Vec<LayoutProblem> {
        let mut problems: Vec<LayoutProblem> = Vec::new();
        let mut seen = BTreeSet::new();
        for (name, segment) in &self.segments {
            let mut wanted = *name;
            for (entry, ..) in segment.decode() {
                seen.insert(entry.lsn);
                let is_in_order = entry.lsn <= wanted.max(self.snapshot.0 + 1);
                if is_in_order && self.reader_opens(entry.lsn) == Some(*name) {
                    wanted = wanted.max(entry.lsn + 1);
                    continue;
                }
                match problems.last_mut() {
                    Some(it) if it.segment == *name && it.last + 1 == entry.lsn => {
                        it.last = entry.lsn;
                    }
                    _ => problems.push(LayoutProblem {
                        kind: LayoutKind::Misfiled,
                        segment: *name,
                        first: entry.lsn,
                        last: entry.lsn,
                    }),
                }
            }
        }
        // The snapshot holds what is at or below it.
        let mut before = Some(self.snapshot.0).filter(|it| *it > 0);
        for lsn in seen {
            if let Some(before) = before
                && before + 1 < lsn
            {
                problems.push(LayoutProblem {
                    kind: LayoutKind::Missing,
                    segment: self.reader_opens(before + 1).unwrap_or(0),
                    first: before + 1,
                    last: lsn - 1,
                });
            }
            before = before.max(Some(lsn));
        }
        problems
    }

    /// The stretches of positions in each segment, in words.
    pub(super) fn stretches(&self) -> Vec<String> {
        let mut all = Vec::new();
        for (first, segment) in &self.segments {
            let mut stretches: Vec<(u64, u64)> = Vec::new();
            for (entry, ..) in segment.decode() {
                match stretches.last_mut() {
                    Some(it) if it.1 + 1 == entry.lsn => it.1 = entry.lsn,
                    _ => stretches.push((entry.lsn, entry.lsn)),
                }
            }
            let words: Vec<String> = stretches
                .iter()
                .map(|it| format!("{}..{}", it.0, it.1))
                .collect();
            all.push(format!("seg-{first:016x} {}", words.join(" and ")));
        }
        all
    }

    /// The segments' names and bytes.
    pub(super) fn files(&self) -> impl Iterator<Item = (String, &[u8])> {
        let name = |first: &u64| format!("seg-{first:016x}.wal");
        self.segments
            .iter()
            .map(move |(first, it)| (name(first), it.bytes.as_slice()))
    }
}

impl Segment {
    /// Every whole record with where it begins and ends.
    fn decode(&self) -> Vec<(Entry, usize, usize)> {
        let mut found = Vec::new();
        let mut at = HEADER;
        while let Some((entry, end)) = decode(&self.bytes, at) {
            found.push((entry, at, end));
            at = end;
        }
        found
    }

    fn count_again(&mut self) {
        let all = self.decode();
        self.last = all.last().map_or(0, |it| it.0.lsn);
        self.records = all.len() as u64;
    }
}

/// A value as the payload of a record.
fn payload(value: u64) -> Vec<u8> {
    format!("op={value}").into_bytes()
}

fn encode(entry: Entry) -> Vec<u8> {
    let payload = payload(entry.value);
    let length = u32::try_from(FIXED - 4 + payload.len())
        .unwrap_or(u32::MAX)
        .to_le_bytes();
    let mut content = entry.lsn.to_le_bytes().to_vec();
    content.extend(entry.term.to_le_bytes());
    content.extend(payload);
    let mut bytes = length.to_vec();
    let crc = crc32c::crc32c_append(crc32c::crc32c(&length), &content);
    bytes.extend(crc.to_le_bytes());
    bytes.extend(content);
    bytes.resize(bytes.len().next_multiple_of(ALIGN), 0);
    bytes
}

/// The record at a place and where it ends; nothing if it is not whole.
fn decode(bytes: &[u8], at: usize) -> Option<(Entry, usize)> {
    let number = |from: usize| -> Option<u64> {
        let bytes: [u8; 8] = bytes.get(from..from + 8)?.try_into().ok()?;
        Some(u64::from_le_bytes(bytes))
    };
    let word = |from: usize| -> Option<u32> {
        let bytes: [u8; 4] = bytes.get(from..from + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes))
    };
    let size = usize::try_from(word(at)?).ok()?.checked_add(4)?;
    let end = at.checked_add(size)?.checked_next_multiple_of(ALIGN)?;
    if size < FIXED || end > bytes.len() {
        return None;
    }
    let content = bytes.get(at + 8..at + size)?;
    let crc = crc32c::crc32c_append(crc32c::crc32c(bytes.get(at..at + 4)?), content);
    if crc != word(at + 4)? {
        return None;
    }
    let text = std::str::from_utf8(bytes.get(at + FIXED..at + size)?).ok()?;
    let entry = Entry {
        lsn: number(at + 8)?,
        term: number(at + 16)?,
        value: text.strip_prefix("op=")?.parse().ok()?,
    };
    Some((entry, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(lsn: u64) -> Entry {
        Entry {
            lsn,
            term: 3,
            value: lsn * 10,
        }
    }

    fn disk(segments: &[(u64, &[u64])]) -> Disk {
        let mut disk = Disk::default();
        for (first, lsns) in segments {
            disk.create(*first, 7);
            for lsn in *lsns {
                disk.append(*first, entry(*lsn));
            }
        }
        disk.sync();
        disk
    }

    #[test]
    fn the_example_of_the_format_is_written_to_the_byte() {
        // docs/wal-format.md: segment 1 of log 7.
        let disk = disk(&[(1, &[])]);
        let (_, bytes) = disk.files().next().unwrap();
        let hex = bytes
            .iter()
            .fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
        assert_eq!(
            hex,
            "434457414c534547010000001e69dca601000000000000000700000000000000"
        );
    }

    #[test]
    fn a_torn_end_is_cut_off_and_what_was_durable_stays() {
        let mut disk = disk(&[(1, &[1, 2])]);
        disk.append(1, entry(3));
        assert!(!disk.is_synced());
        for kept in 0..disk.volatile() {
            let mut crashed = disk.clone();
            crashed.crash(kept);
            crashed.repair();
            assert_eq!(crashed.recoverable(false).last, 2, "{kept}");
        }
        let mut whole = disk.clone();
        whole.crash(disk.volatile());
        assert_eq!(whole.recoverable(false).last, 3);
    }

    #[test]
    fn a_reader_by_name_skips_what_the_next_name_covers() {
        let disk = disk(&[(1, &[1, 2, 6, 7]), (3, &[3, 4, 5])]);
        let lsns =
            |from, to| -> Vec<u64> { disk.by_name(from, to).iter().map(|it| it.lsn).collect() };
        assert_eq!(lsns(0, 9), [1, 2]);
        assert_eq!(lsns(2, 9), [3, 4, 5]);
        assert!(lsns(5, 9).is_empty());
        // The end by names is 5, the end by positions 7.
        assert_eq!(disk.recoverable(false).last, 5);
        assert_eq!(disk.recoverable(true).last, 7);
        let problems = disk.problems();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!((problems[0].first, problems[0].last), (6, 7));
    }

    #[test]
    fn a_truncated_log_ends_before_the_position() {
        let mut disk = disk(&[(1, &[1, 2]), (3, &[3, 4, 5]), (6, &[6])]);
        disk.truncate(4);
        assert_eq!(disk.recoverable(false).last, 3);
        assert_eq!(disk.segments.len(), 2);
        assert!(disk.problems().is_empty());
    }

    #[test]
    fn a_snapshot_holds_what_was_not_durable() {
        let mut disk = disk(&[(1, &[1, 2, 3]), (4, &[4, 5])]);
        disk.snapshot = (7, 3);
        for is_ordered in [false, true] {
            let recovered = disk.recoverable(is_ordered);
            assert_eq!((recovered.last, recovered.entries.len()), (7, 0));
        }
        // What it holds whole is removed, but for a segment that is open; it leaves no gap.
        disk.create(8, 7);
        disk.append(8, entry(8));
        disk.purge(Some(4));
        let names: Vec<u64> = disk.segments.keys().copied().collect();
        assert_eq!(names, [4, 8]);
        assert!(disk.problems().is_empty(), "{:?}", disk.problems());
    }

    #[test]
    fn behind_a_gap_a_record_is_misfiled_and_the_gap_is_missing() {
        // The only segment: nobody who looks for 6 would begin with it if 3 to 5 had a segment.
        let disk = disk(&[(1, &[1, 2, 6, 7])]);
        let found: Vec<_> = disk
            .problems()
            .iter()
            .map(|it| (it.kind, it.first, it.last))
            .collect();
        let wanted = [(LayoutKind::Misfiled, 6, 7), (LayoutKind::Missing, 3, 5)];
        assert_eq!(found, wanted);
    }
}
