//! `ZooKeeper`: epochs, snapshots as evidence, and tears that are legal in any file.

use casdiag::layout::{NoteKind, ProblemKind, Verdict, Wal};
use casdiag::vocab::Lsn;

use super::writer::{zookeeper, zookeeper_record};
use super::{Folder, check, json, kinds, only, output};

const EPOCH_1: u64 = 0x1_0000_0000;
const EPOCH_2: u64 = 0x2_0000_0000;

/// Zxids of one epoch.
fn zxids(epoch: u64, counters: std::ops::RangeInclusive<u64>) -> Vec<u64> {
    counters.map(|counter| epoch + counter).collect()
}

fn log(zxids: &[u64]) -> (String, Vec<u8>) {
    let mut bytes = zookeeper(zxids);
    bytes.resize(bytes.len().max(4096), 0);
    (format!("log.{:x}", zxids[0]), bytes)
}

/// Three logs: counters 1..10, 11..20, and 1..5 of the next epoch.
fn three() -> Vec<(String, Vec<u8>)> {
    vec![
        log(&zxids(EPOCH_1, 1..=10)),
        log(&zxids(EPOCH_1, 11..=20)),
        log(&zxids(EPOCH_2, 1..=5)),
    ]
}

fn save(logs: &[(String, Vec<u8>)]) -> Folder {
    let folder = Folder::new();
    for (name, bytes) in logs {
        folder.write(&format!("z1/log/version-2/{name}"), bytes);
    }
    folder
}

fn judge(folder: &Folder, test: impl FnOnce(&Wal)) {
    test(only(&check(folder.path())));
}

fn notes(wal: &Wal) -> Vec<NoteKind> {
    wal.notes.iter().map(|note| note.kind).collect()
}

#[test]
fn epochs_and_zero_tails_are_legal_and_positions_are_written_as_zxids() {
    let folder = save(&three());
    let inspection = check(folder.path());
    let wal = only(&inspection);
    assert!(wal.problems.is_empty(), "{:?}", wal.problems);
    assert_eq!(
        (notes(wal), wal.node.as_str()),
        (vec![NoteKind::EpochChange], "z1")
    );
    assert_eq!(
        json(&inspection)["wal"][0]["segments"][1]["last_lsn"],
        "0x100000014"
    );
    // The four thousand million positions between the epochs take no room.
    let text = output("text", &inspection);
    assert!(
        text.contains(&format!(
            "|{}{}{}|",
            "█".repeat(25),
            "▒".repeat(26),
            "█".repeat(13)
        )),
        "{text}"
    );
    let inside = save(&[log(&[zxids(EPOCH_1, 1..=3), zxids(EPOCH_2, 1..=2)].concat())]);
    judge(&inside, |wal| {
        assert!(wal.problems.is_empty() && notes(wal) == [NoteKind::EpochChange]);
    });
}

#[test]
fn a_hole_needs_a_snapshot_that_ends_right_before_the_next_file() {
    let logs = [log(&zxids(EPOCH_1, 1..=10)), log(&zxids(EPOCH_1, 31..=40))];
    let snapshot = |name: &str| {
        let folder = save(&logs);
        folder.write(&format!("z1/data/version-2/{name}"), b"a snapshot");
        folder
    };
    judge(&save(&logs), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::Gap]);
        assert_eq!(
            (wal.problems[0].lsn, wal.problems[0].offset),
            (Some(Lsn(EPOCH_1 + 31)), Some(16))
        );
    });
    judge(&snapshot("snapshot.10000001e"), |wal| {
        assert!(wal.problems.is_empty(), "{:?}", wal.problems);
        assert_eq!(notes(wal), [NoteKind::GapExplainedBySnapshot]);
    });
    judge(&snapshot("snapshot.10000001d"), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::Gap]);
    });
}

#[test]
fn another_nodes_snapshot_explains_nothing() {
    let folder = save(&[log(&zxids(EPOCH_1, 1..=10)), log(&zxids(EPOCH_1, 31..=40))]);
    let (name, bytes) = log(&zxids(EPOCH_1, 1..=40));
    folder.write(&format!("z2/log/version-2/{name}"), &bytes);
    folder.write("z2/data/version-2/snapshot.10000001e", b"a snapshot");
    let inspection = check(folder.path());
    assert_eq!(kinds(&inspection.wals[0]), [ProblemKind::Gap]);
}

#[test]
fn misfiled_transactions_and_a_renamed_log_are_found_though_the_server_is_silent() {
    let first = [zxids(EPOCH_1, 1..=10), zxids(EPOCH_1, 21..=25)].concat();
    judge(
        &save(&[log(&first), log(&zxids(EPOCH_1, 11..=20))]),
        |wal| {
            assert_eq!(kinds(wal), [ProblemKind::Misfiled]);
            assert_eq!(wal.problems[0].belongs_in.as_deref(), Some("log.100000015"));
        },
    );
    judge(
        &save(&[log(&first), log(&zxids(EPOCH_1, 26..=30))]),
        |wal| {
            assert_eq!(kinds(wal), [ProblemKind::Jump]);
            assert_eq!(wal.problems[0].expected, Some(Lsn(EPOCH_1 + 11)));
        },
    );
    let mut renamed = three();
    renamed[1].0 = "log.10000000c".to_owned();
    judge(&save(&renamed), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::NameMismatch]);
        assert_eq!(
            (wal.problems[0].lsn, wal.problems[0].expected),
            (Some(Lsn(EPOCH_1 + 11)), Some(Lsn(EPOCH_1 + 12)))
        );
    });
    let mut twice = three();
    twice[1] = log(&zxids(EPOCH_1, 9..=20));
    judge(&save(&twice), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::Duplicate]);
    });
}

#[test]
fn names_are_ordered_as_numbers() {
    let logs = [
        log(&zxids(0, 1..=0x10)),
        log(&zxids(0, 0x11..=0x100)),
        log(&zxids(0, 0x101..=0x102)),
    ];
    judge(&save(&logs), |wal| {
        assert!(wal.problems.is_empty(), "{:?}", wal.problems);
    });
}

#[test]
fn a_tear_is_legal_where_the_next_file_goes_on() {
    let mut logs = three();
    let whole = zookeeper(&zxids(EPOCH_1, 1..=9));
    let torn = [whole.as_slice(), &zookeeper_record(EPOCH_1 + 10)[..20]].concat();
    logs[0].1.clone_from(&torn);
    judge(&save(&logs), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::TornMiddle]);
        assert_eq!(
            (wal.problems[0].lsn, wal.problems[0].lsn_to),
            (Some(Lsn(EPOCH_1 + 10)), Some(Lsn(EPOCH_1 + 10)))
        );
    });
    logs[1] = log(&zxids(EPOCH_1, 10..=20));
    judge(&save(&logs), |wal| {
        assert!(wal.problems.is_empty(), "{:?}", wal.problems);
        assert_eq!(
            notes(wal),
            [NoteKind::TornTailOfClosedSegment, NoteKind::EpochChange]
        );
    });
}

#[test]
fn a_wrong_end_byte_in_the_middle_hides_what_follows() {
    let mut logs = three();
    let end = zookeeper(&zxids(EPOCH_1, 11..=14)).len();
    logs[1].1[end - 1] = b'C';
    judge(&save(&logs), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::CorruptRecord]);
        assert!(
            wal.problems[0]
                .detail
                .contains("6 intact records, 0x10000000f..0x100000014"),
            "{}",
            wal.problems[0].detail
        );
    });
}

#[test]
fn records_behind_a_stretch_of_zeros_are_lost() {
    let mut logs = three();
    let from = zookeeper(&zxids(EPOCH_1, 11..=12)).len();
    let to = zookeeper(&zxids(EPOCH_1, 11..=14)).len();
    logs[1].1[from..to].fill(0);
    judge(&save(&logs), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::CorruptRecord]);
        assert_eq!(
            (wal.problems[0].lsn, wal.problems[0].lsn_to),
            (Some(Lsn(EPOCH_1 + 13)), Some(Lsn(EPOCH_1 + 20)))
        );
    });
}

#[test]
fn flipped_bits_and_empty_files_have_their_names() {
    let mut logs = three();
    logs[1].1[16 + 12 + 40] ^= 1;
    judge(&save(&logs), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::Checksum]);
    });
    let mut logs = three();
    logs[2].1.clear();
    judge(&save(&logs), |wal| {
        assert_eq!(
            (kinds(wal), wal.verdict()),
            (vec![ProblemKind::EmptyLastSegment], Verdict::CrashResidue)
        );
    });
    let mut logs = three();
    logs[1].1.clear();
    judge(&save(&logs), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::EmptySegment]);
    });
    let mut logs = three();
    logs[2].1.truncate(9);
    judge(&save(&logs), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::BadHeader]);
    });
}

#[test]
fn no_cut_that_loses_transactions_is_clean_but_one_between_records_of_the_last_log() {
    let logs: Vec<_> = three()
        .into_iter()
        .map(|(name, bytes)| {
            let end = bytes.iter().rposition(|&byte| byte != 0).unwrap() + 1;
            (name, bytes[..end].to_vec())
        })
        .collect();
    for (n, (name, bytes)) in logs.iter().enumerate() {
        let folder = save(&logs);
        let is_last = n + 1 == logs.len();
        for length in 0..bytes.len() {
            folder.write(&format!("z1/log/version-2/{name}"), &bytes[..length]);
            judge(&folder, |wal| {
                let is_between = wal.segments[n].end_offset == length as u64 && length > 0;
                // The epoch that follows begins at 1 whatever was never committed before it: the system calls a tear there legal.
                let is_before_epoch = n == 1 && length >= 16;
                let is_clean = is_before_epoch || is_between && is_last;
                assert_eq!(
                    wal.verdict() == Verdict::Clean,
                    is_clean,
                    "{name} cut at {length}: {:?}",
                    kinds(wal)
                );
            });
        }
    }
}

#[test]
fn text_logs_of_the_same_name_are_no_transaction_logs() {
    let folder = Folder::new();
    folder.write("app/log.1", b"2026-11-29 started\n");
    folder.write("app/log.2", b"2026-11-29 stopped\n");
    assert!(check(folder.path()).wals.is_empty());
}
