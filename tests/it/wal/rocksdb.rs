//! Logs of `RocksDB` by a writer of their own: files that are used again, records about the log, torn headers, numbers left out.

use casdiag::layout::{NoteKind, ProblemKind, Verdict};
use casdiag::vocab::Lsn;

use super::writer::crc32c;
use super::{Folder, kinds};

/// A fragment; those of files that are used again name the file.
fn fragment(sort: u8, file: Option<u32>, content: &[u8]) -> Vec<u8> {
    let mut covered = vec![sort];
    covered.extend(file.iter().flat_map(|file| file.to_le_bytes()));
    covered.extend(content);
    let masked = crc32c(0, &covered)
        .rotate_right(15)
        .wrapping_add(0xa282_ead8);
    let mut bytes = masked.to_le_bytes().to_vec();
    bytes.extend(u16::try_from(content.len()).unwrap().to_le_bytes());
    bytes.extend(covered);
    bytes
}

fn batch(sequence: u64, count: u32, bytes: usize) -> Vec<u8> {
    let mut batch = sequence.to_le_bytes().to_vec();
    batch.extend(count.to_le_bytes());
    batch.extend(vec![b'k'; bytes]);
    batch
}

/// Whole records of one write each, in file 12, which is used again.
fn new(sequences: std::ops::Range<u64>) -> Vec<u8> {
    sequences
        .flat_map(|sequence| fragment(5, Some(12), &batch(sequence, 1, 30)))
        .collect()
}

/// What the same file held as file 8.
fn old() -> Vec<u8> {
    (1..=30)
        .flat_map(|sequence| fragment(5, Some(8), &batch(sequence, 1, 120)))
        .collect()
}

/// New content over the old one.
fn over(new: &[u8]) -> Vec<u8> {
    let old = old();
    [new, &old[new.len()..]].concat()
}

fn folder(bytes: &[u8]) -> Folder {
    let folder = Folder::new();
    folder.write("db/000012.log", bytes);
    folder
}

#[test]
fn new_records_may_end_in_the_midst_of_an_old_one() {
    // Old records have 143 bytes, new ones 53: none of these ends where an old one does.
    for count in 1..=20 {
        let wal = folder(&over(&new(100..100 + count))).wal();
        assert_eq!(wal.verdict(), Verdict::Clean, "{count}: {:?}", wal.problems);
        assert_eq!(wal.records, count);
        assert!(wal.notes.iter().any(|it| it.kind == NoteKind::StalePage));
    }
    // A file of one block and a half, whose second block begins in the midst of an old record's content.
    let mut long = new(100..105);
    long.extend(vec![0xee; 50_000]);
    let wal = folder(&long).wal();
    assert_eq!((wal.verdict(), wal.records), (Verdict::Clean, 5));
}

#[test]
fn old_content_does_not_hide_damage() {
    let size = new(0..1).len();
    let flipped = |at: usize| {
        let mut bytes = over(&new(100..103));
        bytes[at] ^= 4;
        folder(&bytes).wal()
    };
    // The content of the second of three, then the number of the file in its header, then its type.
    for (at, kind) in [
        (size + 20, ProblemKind::Checksum),
        (size + 7, ProblemKind::CorruptRecord),
        (size + 6, ProblemKind::Checksum),
    ] {
        let wal = flipped(at);
        assert_eq!(kinds(&wal), [kind], "{at}");
        assert_eq!(wal.verdict(), Verdict::Damaged);
        let detail = &wal.problems[0].detail;
        assert!(detail.contains("behind it 1 intact records"), "{detail}");
    }
    // Of the last one, a write that did not reach the disk looks the same.
    let wal = flipped(2 * size + 20);
    assert_eq!(kinds(&wal), [ProblemKind::TornTail]);
    // Where no old content follows it does not.
    let mut bytes = new(100..103);
    bytes[2 * size + 20] ^= 4;
    assert_eq!(kinds(&folder(&bytes).wal()), [ProblemKind::Checksum]);
}

#[test]
fn a_record_that_goes_on_in_old_content_is_torn() {
    let block = 32 * 1024;
    let mut bytes = new(100..102);
    let content = batch(102, 1, 40_000);
    let room = block - bytes.len() - 11;
    bytes.extend(fragment(6, Some(12), &content[..room]));
    assert_eq!(bytes.len(), block);
    let torn = [bytes.clone(), old()].concat();
    let wal = folder(&torn).wal();
    assert_eq!(kinds(&wal), [ProblemKind::TornTail]);
    assert_eq!(
        (wal.verdict(), wal.records),
        (Verdict::CrashResidue, 2),
        "the first fragment was written, the last one was not"
    );
    bytes.extend(fragment(8, Some(12), &content[room..]));
    bytes.extend(&old()[700..]);
    let wal = folder(&bytes).wal();
    assert_eq!((wal.verdict(), wal.records), (Verdict::Clean, 3));
}

#[test]
fn records_about_the_log_have_the_header_that_their_type_says() {
    let timestamps = [1, 0, 0, 0, 8, 0];
    let info = [7; 24];
    let bytes = [
        fragment(131, Some(12), &info),
        new(100..102),
        fragment(11, Some(12), &timestamps),
        new(102..103),
        // One that is not known yet, and can be passed over.
        fragment(201, Some(12), b"later"),
        new(103..104),
    ];
    let wal = folder(&bytes.concat()).wal();
    assert_eq!(wal.verdict(), Verdict::Clean, "{:?}", wal.problems);
    assert_eq!(wal.found[0].last, Lsn(103));
    let plain = |sequence| fragment(1, None, &batch(sequence, 1, 30));
    let bytes = [
        fragment(130, None, &info),
        fragment(10, None, &timestamps),
        plain(1),
        fragment(200, None, b"later"),
        plain(2),
    ];
    let wal = folder(&bytes.concat()).wal();
    assert_eq!(wal.verdict(), Verdict::Clean, "{:?}", wal.problems);
    assert_eq!(wal.found[0].last, Lsn(2));
    // Below 128 a type that is not known cannot be passed over.
    for sort in [12, 100, 127] {
        let bytes = [plain(1), fragment(sort, None, b"?"), plain(2)].concat();
        assert_eq!(kinds(&folder(&bytes).wal()), [ProblemKind::CorruptRecord]);
    }
    // Text in a file that is called so has letters for types.
    let text = Folder::new();
    let line = "2026-11-29 16:31:03 [DBG] a line of some other program's log\n";
    text.write("app/000001.log", line.repeat(200).as_bytes());
    assert!(super::check(text.path()).wals.is_empty());
}

#[test]
fn a_tear_anywhere_in_the_last_record_is_a_tear() {
    for (sort, file) in [(1, None), (5, Some(12))] {
        let record = |sequence| fragment(sort, file, &batch(sequence, 1, 30));
        let (whole, last) = ([record(1), record(2)].concat(), record(3));
        for count in 1..last.len() {
            let wal = folder(&[&whole, &last[..count]].concat()).wal();
            assert_eq!(kinds(&wal), [ProblemKind::TornTail], "{count} of {sort}");
            assert_eq!((wal.verdict(), wal.records), (Verdict::CrashResidue, 2));
        }
    }
}

#[test]
fn numbers_left_out_within_one_file_are_no_loss_and_between_two_they_are() {
    let record = |sequence, count| fragment(1, None, &batch(sequence, count, 30));
    let bytes = [record(1, 2), record(3, 1), record(10, 1), record(11, 1)];
    let folder = folder(&bytes.concat());
    let wal = folder.wal();
    assert_eq!(wal.verdict(), Verdict::Clean, "{:?}", wal.problems);
    assert!(wal.missing.is_empty());
    let note = wal.notes.iter().find(|it| it.lsn == Some(Lsn(4))).unwrap();
    assert!(
        note.why.starts_with("4..9 are in no record"),
        "{}",
        note.why
    );
    folder.write("db/000014.log", &record(20, 1));
    let wal = folder.wal();
    assert_eq!(kinds(&wal), [ProblemKind::Gap]);
    assert_eq!(wal.problems[0].expected, Some(Lsn(12)));
    // Numbers that come twice stay damage.
    folder.write("db/000014.log", &[record(12, 1), record(5, 1)].concat());
    assert_eq!(folder.wal().verdict(), Verdict::Damaged);
}
