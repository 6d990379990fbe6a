//! Logs of `PostgreSQL` by a writer of their own: a crash within a record over several pages, behind which the log goes on, and any
//! records at all, whole and with one bit changed.

use std::ops::Range;

use casdiag::layout::{ProblemKind, Verdict, Wal};
use casdiag::vocab::Lsn;
use proptest::prelude::*;

use super::writer::crc32c;
use super::{Folder, kinds};

const SEGMENT: usize = 1 << 20;
const PAGE: usize = 8192;
/// The first segment's number, and so its address.
const FIRST: usize = 5;
/// A page goes on with a record.
const GOES_ON: u16 = 1;
/// Version 15, and its flag of a page before which a record was given up.
const V15: (u16, u16) = (0xd110, 8);
/// The same of version 19.
const V19: (u16, u16) = (0xd121, 4);

/// A log under way, from the beginning of a segment on.
struct Log {
    bytes: Vec<u8>,
    magic: u16,
    given_up: u16,
    /// Flags of every page.
    flags: u16,
    /// The address of the record before.
    before: u64,
    /// Where the bytes of each record stand that was not cut off.
    places: Vec<Vec<Range<usize>>>,
}

impl Log {
    fn new((magic, given_up): (u16, u16)) -> Self {
        let mut log = Self {
            bytes: Vec::new(),
            magic,
            given_up,
            flags: 0,
            before: 0x004f_ff00,
            places: Vec::new(),
        };
        log.page(0, 0);
        log
    }

    fn address(&self) -> u64 {
        (FIRST * SEGMENT + self.bytes.len()) as u64
    }

    fn page(&mut self, flags: u16, rest: usize) {
        let is_first = self.bytes.len().is_multiple_of(SEGMENT);
        let flags = flags | self.flags | if is_first { 2 } else { 0 };
        let address = self.address();
        self.bytes.extend(self.magic.to_le_bytes());
        self.bytes.extend(flags.to_le_bytes());
        self.bytes.extend(1_u32.to_le_bytes());
        self.bytes.extend(address.to_le_bytes());
        self.bytes
            .extend(u32::try_from(rest).unwrap().to_le_bytes());
        self.bytes.extend([0; 4]);
        if is_first {
            self.bytes.extend(42_u64.to_le_bytes());
            self.bytes
                .extend(u32::try_from(SEGMENT).unwrap().to_le_bytes());
            self.bytes
                .extend(u32::try_from(PAGE).unwrap().to_le_bytes());
        }
    }

    /// Where the next record begins.
    fn align(&mut self) -> u64 {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        if self.bytes.len().is_multiple_of(PAGE) {
            self.page(0, 0);
        }
        self.address()
    }

    fn encode(&self, flags: u8, manager: u8, content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(24 + content.len()).unwrap();
        let mut bytes = length.to_le_bytes().to_vec();
        bytes.extend(7_u32.to_le_bytes());
        bytes.extend(self.before.to_le_bytes());
        bytes.extend([flags, manager, 0, 0]);
        let crc = crc32c(crc32c(0, content), &bytes);
        bytes.extend(crc.to_le_bytes());
        bytes.extend(content);
        bytes
    }

    /// Writes a record, or its bytes on so many pages; all of it if there are no more. Says where they stand.
    fn put(&mut self, mut bytes: &[u8], pages: usize) -> Vec<Range<usize>> {
        let mut seen = 1;
        let mut places = Vec::new();
        while !bytes.is_empty() {
            if self.bytes.len().is_multiple_of(PAGE) {
                if seen == pages {
                    break;
                }
                seen += 1;
                self.page(GOES_ON, bytes.len());
            }
            let room = PAGE - self.bytes.len() % PAGE;
            let (here, behind) = bytes.split_at(room.min(bytes.len()));
            places.push(self.bytes.len()..self.bytes.len() + here.len());
            self.bytes.extend(here);
            bytes = behind;
        }
        places
    }

    fn record(&mut self, flags: u8, manager: u8, content: &[u8]) {
        let at = self.align();
        let bytes = self.encode(flags, manager, content);
        let places = self.put(&bytes, usize::MAX);
        self.places.push(places);
        self.before = at;
    }

    /// So many records of the heap.
    fn records(&mut self, count: usize, bytes: usize) {
        for _ in 0..count {
            self.record(0, 10, &vec![b'd'; bytes - 24]);
        }
    }

    /// Begins a record that a crash cuts off behind so many pages; its address. The next page is marked, if that is wished.
    fn begin(&mut self, bytes: usize, pages: usize, is_marked: bool) -> u64 {
        let at = self.align();
        let bytes = self.encode(0, 10, &vec![b'x'; bytes - 24]);
        self.put(&bytes, pages);
        assert!(self.bytes.len().is_multiple_of(PAGE), "it is cut off");
        let flags = if is_marked { self.given_up } else { 0 };
        self.page(flags, 0);
        at
    }

    /// The record that says that one was given up: short data of 16 bytes, its address and the time.
    fn overwrite(&mut self, lsn: u64) {
        let data = [lsn.to_le_bytes(), 800_000_000_000_000_u64.to_le_bytes()].concat();
        self.record(0xd0, 0, &[&[255, 16], data.as_slice()].concat());
    }

    /// Whether a record begins and ends in the same segment; one that does not is an entry of neither.
    fn is_within_segment(&self, record: usize) -> bool {
        let places = &self.places[record];
        places[0].start / SEGMENT == places[places.len() - 1].start / SEGMENT
    }

    fn within_segments(&self) -> u64 {
        let records = 0..self.places.len();
        records.filter(|&it| self.is_within_segment(it)).count() as u64
    }

    fn check(mut self) -> Wal {
        let size = self.bytes.len().next_multiple_of(SEGMENT);
        self.bytes.resize(size, 0);
        let folder = Folder::new();
        for (n, segment) in self.bytes.chunks(SEGMENT).enumerate() {
            folder.write(&format!("n1/pg_wal/00000001{:016X}", FIRST + n), segment);
        }
        folder.wal()
    }
}

/// All records but the one that was cut off are there, in one stretch from the first on, and the note says why.
fn goes_on(wal: &Wal, entries: u64) {
    assert_eq!(wal.verdict(), Verdict::Clean, "{:?}", wal.problems);
    let found: u64 = wal.segments.iter().map(|it| it.entries).sum();
    assert_eq!(found, entries);
    assert_eq!(wal.found.len(), 1);
    assert_eq!(wal.found[0].first, Lsn((FIRST * SEGMENT + 40) as u64));
    assert!(wal.notes.iter().any(|it| it.why.contains("gave it up")));
}

#[test]
fn the_log_goes_on_behind_a_record_that_was_cut_off() {
    for version in [V15, V19] {
        // On its first page, and on the third of several.
        for (bytes, pages) in [(6000, 1), (40_000, 3)] {
            let mut log = Log::new(version);
            log.records(70, 104);
            let lsn = log.begin(bytes, pages, true);
            log.overwrite(lsn);
            log.records(50, 104);
            goes_on(&log.check(), 121);
        }
    }
}

#[test]
fn the_log_goes_on_in_the_next_segment_behind_a_record_that_was_cut_off() {
    // 1,027 records of 1,016 bytes leave less than 5,000 bytes of the segment: a record over its edge.
    for (bytes, pages) in [(5000, 1), (40_000, 3)] {
        let mut log = Log::new(V15);
        log.records(1027, 1016);
        assert!((SEGMENT - 5000..SEGMENT).contains(&log.bytes.len()));
        let lsn = log.begin(bytes, pages, true);
        log.overwrite(lsn);
        log.records(50, 104);
        goes_on(&log.check(), 1078);
    }
}

#[test]
fn a_page_that_gives_up_what_no_record_names_is_wrong() {
    let mut log = Log::new(V15);
    log.records(70, 104);
    let lsn = log.begin(6000, 1, true);
    log.overwrite(lsn - 104);
    log.records(50, 104);
    assert_eq!(kinds(&log.check()), [ProblemKind::CorruptRecord]);
    let mut log = Log::new(V15);
    log.records(70, 104);
    log.begin(6000, 1, true);
    log.records(50, 104);
    assert_eq!(kinds(&log.check()), [ProblemKind::CorruptRecord]);
    let mut log = Log::new(V15);
    log.records(70, 104);
    let lsn = log.begin(6000, 1, false);
    log.overwrite(lsn);
    log.records(50, 104);
    assert_eq!(log.check().verdict(), Verdict::Damaged, "no page says so");
}

#[test]
fn the_flag_for_backup_blocks_gives_nothing_up_before_version_19() {
    let mut log = Log::new(V15);
    log.flags = 4;
    log.records(300, 104);
    let wal = log.check();
    assert_eq!(wal.verdict(), Verdict::Clean, "{:?}", wal.problems);
    assert_eq!(wal.segments[0].entries, 300);
    assert!(wal.notes.iter().all(|it| !it.why.contains("gave it up")));
    // A flag that version 19 does not have.
    let mut log = Log::new(V19);
    log.records(100, 104);
    log.flags = 8;
    log.records(100, 104);
    assert_eq!(log.check().verdict(), Verdict::CrashResidue);
}

#[test]
fn a_record_may_end_in_a_segment_that_has_nothing_else() {
    let mut log = Log::new(V15);
    log.records(1027, 1016);
    log.records(1, 8000);
    assert!(log.places[1027].len() > 1 && !log.is_within_segment(1027));
    let wal = log.check();
    assert_eq!(wal.verdict(), Verdict::Clean, "{:?}", wal.problems);
    assert_eq!((wal.segments.len(), wal.segments[0].entries), (2, 1027));
}

#[test]
fn a_segment_may_have_no_record_of_its_own_between_two_that_run_over_its_edges() {
    let mut log = Log::new(V15);
    log.records(2, 104);
    log.records(2, 1_100_000);
    log.records(3, 104);
    assert_eq!(log.within_segments(), 5);
    let wal = log.check();
    assert_eq!(wal.verdict(), Verdict::Clean, "{:?}", wal.problems);
    let entries: Vec<u64> = wal.segments.iter().map(|it| it.entries).collect();
    assert_eq!((entries, wal.found.len()), (vec![2, 0, 3], 1));
}

#[test]
fn the_first_record_of_a_segment_may_be_one_that_was_cut_off() {
    for is_over_edge in [true, false] {
        let mut log = Log::new(V15);
        log.records(1027, 1016);
        // A record over the edge, or one that ends there.
        let rest = SEGMENT - log.bytes.len();
        log.records(1, if is_over_edge { 8000 } else { rest });
        let lsn = log.begin(2 * PAGE, 1, true);
        assert!(lsn >= (6 * SEGMENT) as u64);
        log.overwrite(lsn);
        log.records(50, 104);
        goes_on(&log.check(), if is_over_edge { 1078 } else { 1079 });
    }
}

#[test]
fn a_second_record_may_be_cut_off_behind_one_that_was_over_the_edge() {
    let mut log = Log::new(V15);
    log.records(1027, 1016);
    // Cut off where the segment ends, and again within the next one.
    for _ in 0..2 {
        let lsn = log.begin(2 * PAGE, 1, true);
        log.overwrite(lsn);
    }
    log.records(50, 104);
    goes_on(&log.check(), 1079);
}

#[test]
fn a_changed_length_does_not_hide_the_records_behind_it() {
    // Three records of one page, the length of the first becomes more than the page, or more than the first.
    for (byte, bit) in [(1, 5), (0, 7)] {
        let mut log = Log::new(V15);
        log.records(3, 104);
        let at = log.places[0][0].start + byte;
        log.bytes[at] ^= 1 << bit;
        let wal = log.check();
        assert_eq!(wal.verdict(), Verdict::Damaged);
        let detail = &wal.problems[0].detail;
        assert!(detail.contains("behind it 2 intact records"), "{detail}");
    }
}

#[test]
fn a_length_of_zero_in_front_of_a_record_is_no_end_of_the_log() {
    let mut log = Log::new(V15);
    log.records(3, 104);
    // 64 bytes, of whose length the one bit is lost.
    log.record(0, 10, &[b'z'; 40]);
    let at = log.places[3][0].start;
    assert_eq!(log.bytes[at], 64);
    log.bytes[at] = 0;
    let wal = log.check();
    assert_eq!(kinds(&wal), [ProblemKind::TornTail]);
    assert_eq!(wal.segments[0].entries, 3);
}

#[test]
fn a_log_of_a_machine_with_the_other_byte_order_is_unread_and_not_damaged() {
    let mut bytes = 0xd110_u16.to_be_bytes().to_vec();
    bytes.extend(2_u16.to_be_bytes());
    bytes.extend(1_u32.to_be_bytes());
    bytes.extend(((FIRST * SEGMENT) as u64).to_be_bytes());
    bytes.extend([0; 8]);
    bytes.extend(42_u64.to_be_bytes());
    bytes.extend(u32::try_from(SEGMENT).unwrap().to_be_bytes());
    bytes.extend(u32::try_from(PAGE).unwrap().to_be_bytes());
    bytes.resize(SEGMENT, 0);
    let folder = Folder::new();
    folder.write(&format!("n1/pg_wal/00000001{FIRST:016X}"), &bytes);
    let inspection = super::check(folder.path());
    assert_eq!(kinds(&inspection.wals[0]), []);
    assert!(!inspection.is_complete());
    let unread = &inspection.wals[0].unread[0];
    assert!(unread.detail.contains("big endian"), "{}", unread.detail);
}

/// What is written next.
#[derive(Debug, Clone)]
enum Step {
    /// A record of so many bytes.
    Record(usize),
    /// One that a crash cuts off behind so many pages, and the one that says so.
    CutOff(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        20 => (24_usize..400).prop_map(Step::Record),
        5 => (400_usize..30_000).prop_map(Step::Record),
        1 => (1_usize..5).prop_map(Step::CutOff),
    ];
    proptest::collection::vec(step, 2..120)
}

/// A log that begins with so many records of a kilobyte, which bring it near the end of a segment or not, and goes on with the steps.
fn written(lead: usize, steps: &[Step]) -> Log {
    let mut log = Log::new(V15);
    log.records(lead, 1016);
    for step in steps {
        match *step {
            Step::Record(bytes) => log.record(0, 10, &vec![b'd'; bytes - 24]),
            Step::CutOff(pages) => {
                let lsn = log.begin((pages + 1) * PAGE, pages, true);
                log.overwrite(lsn);
            }
        }
    }
    log
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_log_that_was_written_is_read_whole(lead in prop_oneof![Just(0), 1000_usize..1030], steps in steps()) {
        let log = written(lead, &steps);
        let count = log.within_segments();
        let wal = log.check();
        prop_assert_eq!(wal.verdict(), Verdict::Clean, "{:?}", wal.problems);
        prop_assert_eq!(wal.segments.iter().map(|it| it.entries).sum::<u64>(), count);
        prop_assert_eq!(wal.found.len(), 1);
    }

    #[test]
    fn one_bit_of_any_record_is_missed(
        lead in prop_oneof![Just(0), 1000_usize..1030],
        steps in steps(),
        record: prop::sample::Index,
        byte: prop::sample::Index,
        bit in 0..8,
    ) {
        let mut log = written(lead, &steps);
        let record = record.index(log.places.len());
        let places: Vec<usize> = log.places[record].iter().cloned().flatten().collect();
        log.bytes[places[byte.index(places.len())]] ^= 1_u8 << bit;
        let (count, is_within) = (log.within_segments(), log.is_within_segment(record));
        // A crash is no explanation where a whole record stands behind it.
        let is_followed = log.places[record + 1..].iter().any(|places| places.len() == 1);
        let wal = log.check();
        prop_assert_ne!(wal.verdict(), Verdict::Clean);
        if is_followed {
            prop_assert_eq!(wal.verdict(), Verdict::Damaged, "{:?}", wal.problems);
        }
        prop_assert!(wal.segments.iter().map(|it| it.entries).sum::<u64>() < count + u64::from(!is_within));
    }
}
