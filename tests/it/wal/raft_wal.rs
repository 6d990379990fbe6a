//! The log of raft-wal and the file that says what counts, by a writer of their own: hostile ones, and segments that it does not name.

use casdiag::layout::{NoteKind, ProblemKind, Verdict};
use casdiag::parsers::wal::LAYOUTS;
use proptest::prelude::*;

use super::writer::crc32c;
use super::{Folder, casdiag, check, kinds};

const PAGE: usize = 4096;
const LEDGER: &str = "raft/wal/wal-meta.db";

fn segment(base: u64, id: u64) -> String {
    format!("raft/wal/{base:020}-{id:016x}.wal")
}

fn frame(sort: u8, number: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![sort, 0, 0, 0];
    bytes.extend(number.to_le_bytes());
    bytes.extend(payload);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes
}

/// An entry of a term below 128, with data: index, term, type, length and data, no extensions, time.
fn entry(index: u64, term: u8, data: &[u8]) -> Vec<u8> {
    let mut payload = varint(index);
    payload.extend([term, 0]);
    payload.extend(varint(data.len() as u64));
    payload.extend(data);
    payload.extend([0; 16]);
    frame(1, u32::try_from(payload.len()).unwrap(), &payload)
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(u8::try_from(number & 0x7f).unwrap() | 0x80);
        number >>= 7;
    }
    bytes.push(u8::try_from(number).unwrap());
    bytes
}

/// A header and batches, each with its commit frame.
fn file(base: u64, id: u64, batches: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = 0x58eb_6b0d_u32.to_le_bytes().to_vec();
    bytes.extend([0; 4]);
    bytes.extend([base.to_le_bytes(), id.to_le_bytes(), 1_u64.to_le_bytes()].concat());
    let mut from = 0;
    for batch in batches {
        bytes.extend(batch);
        let crc = crc32c(0, &bytes[from..]);
        bytes.extend(frame(3, crc, &[]));
        from = bytes.len();
    }
    bytes
}

fn entries(indices: std::ops::Range<u64>, term: u8) -> Vec<Vec<u8>> {
    indices.map(|index| entry(index, term, b"data")).collect()
}

/// A page of a tree of bolt: its elements, then what they point to.
fn page(number: u64, kind: u16, elements: &[Vec<u8>], behind: &[u8]) -> Vec<u8> {
    let content = [&elements.concat(), behind].concat();
    let further = (16 + content.len()).div_ceil(PAGE) - 1;
    let mut bytes = number.to_le_bytes().to_vec();
    bytes.extend(kind.to_le_bytes());
    bytes.extend(u16::try_from(elements.len()).unwrap().to_le_bytes());
    bytes.extend(u32::try_from(further).unwrap().to_le_bytes());
    bytes.extend(content);
    bytes.resize((further + 1) * PAGE, 0);
    bytes
}

/// An element of a leaf: kind, where its key begins, from here, and the lengths of key and value.
fn leaf(kind: u32, position: usize, key: usize, value: usize) -> Vec<u8> {
    let number = |number: usize| u32::try_from(number).unwrap().to_le_bytes();
    let kind = kind.to_le_bytes();
    [kind, number(position), number(key), number(value)].concat()
}

/// A file of bolt with this root page behind its two meta pages.
fn bolt(root: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in 0..2_u64 {
        let mut meta = Vec::new();
        for field in [0xed0c_daed_u32, 2, 4096, 0] {
            meta.extend(field.to_le_bytes());
        }
        for field in [2, 0, 2, 9, number] {
            meta.extend(u64::to_le_bytes(field));
        }
        let fnv = meta.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        meta.extend(fnv.to_le_bytes());
        bytes.extend(page(number, 4, &[], &meta));
    }
    bytes.extend(root);
    bytes
}

/// What the library keeps of its segments: identifier, first index, lowest and highest one that counts.
fn ledger(segments: impl Iterator<Item = (u64, u64, u64, u64)>) -> Vec<u8> {
    let segments: Vec<String> = segments
        .map(|(id, base, min, max)| {
            format!(r#"{{"ID":{id},"BaseIndex":{base},"MinIndex":{min},"MaxIndex":{max}}}"#)
        })
        .collect();
    let value = format!(
        r#"{{"NextSegmentID":9,"Segments":[{}]}}"#,
        segments.join(",")
    );
    let element = leaf(0, 16, 1, value.len());
    bolt(&page(2, 2, &[element], format!("m{value}").as_bytes()))
}

#[test]
fn a_ledger_that_asks_for_more_than_it_has_is_refused() {
    let count = usize::from(u16::MAX);
    // A page that names itself as often as it can.
    let branch = page(
        2,
        1,
        &vec![[0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0].to_vec(); count],
        &[],
    );
    // Buckets whose root page is this one.
    let behind = 16 * count;
    let element = |n: usize, kind, length| leaf(kind, behind - 16 * n, 0, length);
    let buckets: Vec<Vec<u8>> = (0..count).map(|n| element(n, 1, 16)).collect();
    let buckets = page(
        2,
        2,
        &buckets,
        &[2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    );
    // Values that are all the same megabyte, which nearly is what is looked for.
    let value = format!(r#"{{"Segments":[{}"#, " ".repeat(1 << 20));
    let values: Vec<Vec<u8>> = (0..count).map(|n| element(n, 0, value.len())).collect();
    let values = page(2, 2, &values, value.as_bytes());
    for root in [branch, buckets, values] {
        let folder = Folder::new();
        folder.write(LEDGER, &bolt(&root));
        folder.write(&segment(1, 1), &file(1, 1, &entries(1..5, 1)));
        let inspection = check(folder.path());
        assert!(!inspection.is_complete());
        assert_eq!(inspection.wals[0].records, 4);
    }
}

#[test]
fn a_ledger_of_very_many_segments_is_looked_up_and_not_searched() {
    // Positions that come again 40,000 times, each a question of what the ledger says of the segment.
    let again: Vec<u8> = (0..40_000).flat_map(|_| entry(1, 1, b"")).collect();
    let folder = Folder::new();
    folder.write(&segment(1, 1), &file(1, 1, &[again]));
    let others = (2..700_000).map(|id| (id, 1, 1, 1));
    folder.write(LEDGER, &ledger(others.chain([(1, 1, 1, 0)])));
    let wal = folder.wal();
    assert_eq!(wal.verdict(), Verdict::Damaged);
    assert!(kinds(&wal).contains(&ProblemKind::MissingSegment));
    assert!(wal.notes.iter().any(|it| it.why.contains("not listed")));
}

#[test]
fn what_the_ledger_does_not_name_is_noted_and_not_judged() {
    let folder = Folder::new();
    // Left from before a snapshot was installed, with the indices of an old term.
    folder.write(&segment(1, 1), &file(1, 1, &entries(1..20, 1)));
    folder.write(&segment(1001, 6), &file(1001, 6, &entries(1001..1010, 2)));
    folder.write(&segment(1005, 7), b"torn");
    folder.write(LEDGER, &ledger([(6, 1001, 1001, 0)].into_iter()));
    let wal = folder.wal();
    assert_eq!(wal.verdict(), Verdict::Clean, "{:?}", wal.problems);
    assert_eq!((wal.segments.len(), wal.records), (1, 9));
    let unnamed = |it: &&casdiag::layout::Note| {
        it.kind == NoteKind::Info && it.why.contains("does not name it")
    };
    assert_eq!(wal.notes.iter().filter(unnamed).count(), 2);
    // What it names and is not there is damage as before; one that names nothing that is there is another log's.
    folder.write(
        LEDGER,
        &ledger([(5, 900, 900, 1000), (6, 1001, 1001, 0)].into_iter()),
    );
    assert_eq!(kinds(&folder.wal()), [ProblemKind::MissingSegment]);
    folder.write(LEDGER, &ledger([(5, 900, 900, 1000)].into_iter()));
    let wal = folder.wal();
    assert_eq!((wal.verdict(), wal.segments.len()), (Verdict::Damaged, 3));
}

#[test]
fn a_batch_that_is_too_long_to_be_verified_is_unread_and_not_damaged() {
    let long = vec![b'x'; 33 << 20];
    let mut bytes = file(1, 1, &entries(1..4, 1));
    bytes.extend(entry(4, 1, &long));
    // Its commit frame is not looked at.
    bytes.extend(frame(3, 0, &[]));
    let folder = Folder::new();
    folder.write(&segment(1, 1), &bytes);
    let inspection = check(folder.path());
    assert!(!inspection.is_complete());
    assert_eq!(kinds(&inspection.wals[0]), []);
    let (code, text) = casdiag(&["wal-layout-check", folder.text()]);
    assert_eq!(code, 3, "{text}");
    // Entries of no bytes, whose batch never ends.
    let mut bytes = file(1, 1, &entries(1..4, 1));
    bytes.extend(frame(1, 0, &[]).repeat((34 << 20) / 8));
    folder.write(&segment(1, 1), &bytes);
    assert!(!check(folder.path()).is_complete());
    // A changed length: the batches behind it tell.
    let mut bytes = file(1, 1, &entries(1..40, 1));
    let size = (bytes.len() - 32) / 39;
    bytes[32 + 3 * size + 7] |= 2;
    bytes.resize(40 << 20, 0);
    folder.write(&segment(1, 1), &bytes);
    let wal = folder.wal();
    assert_eq!(kinds(&wal), [ProblemKind::CorruptRecord]);
    assert_eq!(wal.verdict(), Verdict::Damaged);
    // Longer than the library writes an entry, or than the file is.
    let mut bytes = file(1, 1, &entries(1..4, 1));
    bytes.extend(frame(1, 34 << 20, &[0; 64]));
    folder.write(&segment(1, 1), &bytes);
    assert_eq!(kinds(&folder.wal()), [ProblemKind::CorruptRecord]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_changed_ledger_says_no_more_than_it_has_room_for(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        is_tree: bool,
    ) {
        let read = LAYOUTS.iter().find_map(|it| it.ledger).unwrap().1;
        let mut bytes = ledger((1..9).map(|id| (id, id * 10, id * 10, id * 10 + 9)));
        prop_assert_eq!(read(&bytes).unwrap().len(), 8);
        // Behind the meta pages, or anywhere.
        let from = if is_tree { 2 * PAGE } else { 0 };
        for (at, byte) in changes {
            let at = from + at.index(400.min(bytes.len() - from));
            bytes[at] = byte;
        }
        if let Some(extents) = read(&bytes) {
            prop_assert!(extents.len() <= 8);
        }
    }
}
