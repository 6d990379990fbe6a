//! Blocks of NATS by a writer of their own: what was erased or purged, what the folder tells of a block, and any records at all, whole
//! and with one bit changed.

use casdiag::layout::{ProblemKind, Verdict};
use proptest::prelude::*;
use sha2::{Digest as _, Sha256};

use super::writer::highwayhash;
use super::{Folder, check, kinds};

const ERASED: u64 = 1 << 63;
const TOMBSTONE: u64 = 1 << 62;

/// The records of one block of a log.
struct Block {
    key: [u8; 32],
    bytes: Vec<u8>,
    /// Where each record begins.
    starts: Vec<usize>,
}

impl Block {
    fn new(log: &str, number: u64) -> Self {
        let key = Sha256::digest(format!("{log}-{number}")).into();
        Self {
            key,
            bytes: Vec::new(),
            starts: Vec::new(),
        }
    }

    fn record(mut self, sequence: u64, subject: &str, payload: &[u8]) -> Self {
        let mut hashed = sequence.to_le_bytes().to_vec();
        hashed.extend(1_700_000_000_000_000_000_u64.to_le_bytes());
        let length = u16::try_from(subject.len()).unwrap().to_le_bytes();
        let content = [subject.as_bytes(), payload].concat();
        let size = u32::try_from(4 + 16 + 2 + content.len() + 8).unwrap();
        self.starts.push(self.bytes.len());
        self.bytes.extend(size.to_le_bytes());
        self.bytes.extend(&hashed);
        self.bytes.extend(length);
        self.bytes.extend(&content);
        hashed.extend(content);
        self.bytes
            .extend(highwayhash(&self.key, &hashed).to_le_bytes());
        self
    }

    fn messages(self, sequences: &[u64]) -> Self {
        let add = |block: Self, &sequence: &u64| block.record(sequence, "a.b", b"hi");
        sequences.iter().fold(self, add)
    }
}

#[test]
fn a_purged_stream_is_a_stream_wherever_it_stands() {
    for folder in ["$G/streams/ORDERS/msgs", "ORDERS/msgs", "elsewhere"] {
        let block = Block::new("ORDERS", 1).record(4 | ERASED, "", b"");
        let files = Folder::new();
        let bytes = block.messages(&[5, 6, 9, 10]).bytes;
        files.write(&format!("{folder}/1.blk"), &bytes);
        let wal = files.wal();
        let about = (wal.layout.as_str(), wal.verdict(), wal.records);
        assert_eq!(about, ("nats-stream", Verdict::Clean, 5), "{folder}");
        // The same in a block of its own, and the messages in the next.
        let erased = Block::new("ORDERS", 1).record(4 | ERASED, "", b"").bytes;
        let messages = Block::new("ORDERS", 2).messages(&[5, 6, 9]).bytes;
        files.write(&format!("{folder}/1.blk"), &erased);
        files.write(&format!("{folder}/2.blk"), &messages);
        let wal = files.wal();
        let about = (wal.layout.as_str(), wal.verdict(), wal.segments.len());
        assert_eq!(about, ("nats-stream", Verdict::Clean, 2), "{folder}");
    }
}

#[test]
fn a_group_of_which_only_a_tombstone_is_left_is_a_group() {
    let block = |number| Block::new("S-R3F-abc", number).record(TOMBSTONE + 652, "", b"");
    let folder = Folder::new();
    let at = |number: u64| format!("$SYS/_js_/S-R3F-abc/msgs/{number}.blk");
    folder.write(&at(2), &block(2).bytes);
    let inspection = check(folder.path());
    assert!(inspection.unknown.is_empty());
    let wal = folder.wal();
    assert_eq!(
        (wal.layout.as_str(), wal.verdict(), wal.records),
        ("nats-raft", Verdict::Clean, 1)
    );
    // Entries behind it: leader, term 7, and what an entry says of the one before.
    let mut entry = b"leader01".to_vec();
    entry.extend(7_u64.to_le_bytes());
    entry.extend([0; 24]);
    let block = block(2).record(653, "", &entry).record(654, "", &entry);
    folder.write(&at(2), &block.bytes);
    let wal = folder.wal();
    assert_eq!(
        (wal.layout.as_str(), wal.verdict()),
        ("nats-raft", Verdict::Clean)
    );
    assert_eq!(wal.stretches[0].term.map(|term| term.0), Some(7));
}

#[test]
fn a_block_of_one_changed_record_is_told_where_its_key_is_known() {
    let flipped = |number: u64| {
        let mut bytes = Block::new("ORDERS", number).messages(&[3]).bytes;
        let at = bytes.len() - 9;
        bytes[at] ^= 4;
        bytes
    };
    let folder = Folder::new();
    folder.write("$G/streams/ORDERS/msgs/1.blk", &flipped(1));
    let wal = folder.wal();
    assert_eq!(kinds(&wal), [ProblemKind::Checksum]);
    assert_eq!(wal.verdict(), Verdict::Damaged);
    // Elsewhere the name of the folder need not be the log's, unless another block agrees with it.
    let folder = Folder::new();
    folder.write("copy/ORDERS/msgs/2.blk", &flipped(2));
    let wal = folder.wal();
    assert!(
        wal.notes
            .iter()
            .any(|it| it.why.contains("not be verified"))
    );
    let good = Block::new("ORDERS", 1).messages(&[1, 2]).bytes;
    folder.write("copy/ORDERS/msgs/1.blk", &good);
    assert_eq!(kinds(&folder.wal()), [ProblemKind::Checksum]);
}

#[test]
fn a_record_without_a_sequence_was_erased_long_ago() {
    let block = Block::new("ORDERS", 1).messages(&[1]);
    let block = block.record(ERASED, "", b"zzz").record(0, "", b"zzz");
    let folder = Folder::new();
    let bytes = block.messages(&[4, 5]).bytes;
    folder.write("$G/streams/ORDERS/msgs/1.blk", &bytes);
    let wal = folder.wal();
    assert_eq!(wal.verdict(), Verdict::Clean, "{:?}", wal.problems);
    assert_eq!((wal.records, wal.segments[0].entries), (5, 3));
}

/// A record to come.
#[derive(Debug, Clone)]
struct Next {
    /// Sequences that are left out in front of it.
    left_out: u64,
    /// Whether it is erased later on.
    is_erased: bool,
    /// Whether a tombstone of the sequence follows it.
    is_deleted: bool,
    subject: String,
    payload: Vec<u8>,
}

fn records() -> impl Strategy<Value = Vec<Next>> {
    let payload = proptest::collection::vec(any::<u8>(), 0..100);
    let flags = (
        prop_oneof![9 => Just(0), 1 => 1_u64..50],
        prop::bool::weighted(0.2),
        prop::bool::weighted(0.2),
    );
    let record = (flags, "[a-z]{1,8}(\\.[a-z0-9]{1,8}){0,3}", payload).prop_map(
        |((left_out, is_erased, is_deleted), subject, payload)| Next {
            left_out,
            is_erased,
            is_deleted,
            subject,
            payload,
        },
    );
    proptest::collection::vec(record, 1..40)
}

/// A block of a stream, and which of its records are verified.
fn written(records: &[Next], first: u64) -> (Block, Vec<usize>) {
    let mut block = Block::new("ORDERS", 1);
    let mut sequence = first;
    let mut verified = Vec::new();
    for record in records {
        sequence += record.left_out;
        let at = block.bytes.len();
        if !record.is_erased {
            verified.push(block.starts.len());
        }
        block = block.record(sequence, &record.subject, &record.payload);
        if record.is_erased {
            // The bit of the sequence is set in place, and the content goes; the hash stays.
            block.bytes[at + 11] |= 0x80;
            let content = at + 22 + record.subject.len();
            block.bytes[content..content + record.payload.len()].fill(b'?');
        }
        if record.is_deleted {
            verified.push(block.starts.len());
            block = block.record(sequence | TOMBSTONE, "", b"");
        }
        sequence += 1;
    }
    (block, verified)
}

const BLOCK: &str = "$G/streams/ORDERS/msgs/1.blk";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_block_that_was_written_is_read_whole(records in records(), first in 1_u64..1000) {
        let (block, _) = written(&records, first);
        let folder = Folder::new();
        folder.write(BLOCK, &block.bytes);
        let wal = folder.wal();
        prop_assert_eq!(wal.verdict(), Verdict::Clean, "{:?}", wal.problems);
        prop_assert_eq!(wal.records, block.starts.len() as u64);
        prop_assert_eq!(wal.segments[0].entries, records.len() as u64);
        prop_assert!(wal.notes.iter().all(|it| !it.why.contains("not be verified")));
    }

    #[test]
    fn one_bit_of_any_record_with_a_checksum_is_missed(
        records in records(),
        first in 1_u64..1000,
        record: prop::sample::Index,
        byte: prop::sample::Index,
        bit in 0..8,
    ) {
        let (mut block, verified) = written(&records, first);
        prop_assume!(!verified.is_empty());
        let record = verified[record.index(verified.len())];
        let start = block.starts[record];
        let end = block.starts.get(record + 1).map_or(block.bytes.len(), |it| *it);
        let at = byte.index(end - start);
        block.bytes[start + at] ^= 1_u8 << bit;
        // What no checksum is over: the subject's length, whose bytes and the payload's are summed as one, and whether the message is
        // gone, which its sequence says when it has the highest bit or is 0.
        let sequence = u64::from_le_bytes(block.bytes[start + 4..start + 12].try_into().unwrap());
        prop_assume!(!(20..22).contains(&at));
        prop_assume!(sequence & ERASED == 0 && sequence & !TOMBSTONE > 0);
        let folder = Folder::new();
        folder.write(BLOCK, &block.bytes);
        let wal = folder.wal();
        prop_assert_ne!(wal.verdict(), Verdict::Clean);
        prop_assert!(wal.records < block.starts.len() as u64);
    }
}
