//! `ClickHouse` Keeper: names with two ends, no zero tails, and compressed files that stay open.

use std::io::Write as _;

use casdiag::layout::{NoteKind, ProblemKind, Verdict, Wal};
use casdiag::vocab::Lsn;

use super::writer::{entries, keeper};
use super::{Folder, check, kinds, only};

/// Three changelogs: 1..10, 11..20, and 21..24 of a planned 30.
fn three() -> Vec<(String, Vec<u8>)> {
    vec![
        ("changelog_1_10.bin".to_owned(), keeper(&entries(1..=10, 1))),
        (
            "changelog_11_20.bin".to_owned(),
            keeper(&entries(11..=20, 1)),
        ),
        (
            "changelog_21_30.bin".to_owned(),
            keeper(&entries(21..=24, 2)),
        ),
    ]
}

fn save(logs: &[(String, Vec<u8>)]) -> Folder {
    let folder = Folder::new();
    for (name, bytes) in logs {
        folder.write(&format!("k1/coordination/log/{name}"), bytes);
    }
    folder
}

fn judge(folder: &Folder, test: impl FnOnce(&Wal)) {
    test(only(&check(folder.path())));
}

fn notes(wal: &Wal) -> Vec<NoteKind> {
    wal.notes.iter().map(|note| note.kind).collect()
}

/// A file of zstd frames, each of blocks that were flushed; the last frame is left open on wish.
fn compress(frames: &[&[&[u8]]], is_open: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (n, blocks) in frames.iter().enumerate() {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
        for block in *blocks {
            encoder.write_all(block).unwrap();
            encoder.flush().unwrap();
        }
        if is_open && n + 1 == frames.len() {
            bytes.extend(encoder.get_ref());
        } else {
            bytes.extend(encoder.finish().unwrap());
        }
    }
    bytes
}

#[test]
fn a_whole_log_is_clean_and_one_file_can_be_closed_early() {
    judge(&save(&three()), |wal| {
        assert!(
            wal.problems.is_empty() && wal.notes.is_empty(),
            "{:?}",
            wal.problems
        );
        assert_eq!((wal.node.as_str(), wal.end()), ("k1", Some(Lsn(24))));
    });
    let mut logs = three();
    logs[1] = (
        "changelog_11_99.bin".to_owned(),
        keeper(&entries(11..=20, 1)),
    );
    judge(&save(&logs), |wal| {
        assert_eq!(
            (kinds(wal), notes(wal)),
            (vec![], vec![NoteKind::ShortOfNameEnd])
        );
    });
}

#[test]
fn misfiled_entries_and_those_behind_the_end_of_the_name_are_found() {
    let mut logs = three();
    logs[0].1 = keeper(&[entries(1..=10, 1), entries(21..=24, 2)].concat());
    logs.truncate(2);
    judge(&save(&logs), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::Misfiled]);
        assert_eq!(
            (wal.problems[0].lsn, wal.problems[0].lsn_to),
            (Some(Lsn(21)), Some(Lsn(24)))
        );
    });
    let mut logs = three();
    logs[2].0 = "changelog_21_22.bin".to_owned();
    judge(&save(&logs), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::PastNameEnd]);
        assert_eq!(
            (wal.problems[0].lsn, wal.problems[0].lsn_to),
            (Some(Lsn(23)), Some(Lsn(24)))
        );
    });
    let mut logs = three();
    logs[1].1 = keeper(&[entries(11..=13, 1), entries(16..=20, 1)].concat());
    judge(&save(&logs), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::Jump]);
    });
    let mut logs = three();
    logs[1].0 = "changelog_12_20.bin".to_owned();
    judge(&save(&logs), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::NameMismatch]);
    });
}

#[test]
fn a_gap_is_explained_by_a_snapshot_that_covers_it() {
    let folder = save(&[three().remove(0), three().remove(2)]);
    judge(&folder, |wal| assert_eq!(kinds(wal), [ProblemKind::Gap]));
    folder.write(
        "k1/coordination/snapshots/snapshot_20.bin.zstd",
        b"a snapshot",
    );
    judge(&folder, |wal| {
        assert_eq!(
            (kinds(wal), notes(wal)),
            (vec![], vec![NoteKind::GapExplainedBySnapshot])
        );
    });
}

#[test]
fn zero_bytes_are_residue_at_the_end_and_damage_before() {
    let mut logs = three();
    logs[2].1.extend([0; 500]);
    judge(&save(&logs), |wal| {
        assert_eq!(
            (kinds(wal), wal.verdict()),
            (vec![ProblemKind::ZeroTail], Verdict::CrashResidue)
        );
        assert_eq!(wal.problems[0].lsn, Some(Lsn(25)));
    });
    let mut logs = three();
    logs[1].1.truncate(keeper(&entries(11..=15, 1)).len());
    logs[1].1.extend([0; 500]);
    judge(&save(&logs), |wal| {
        assert_eq!(
            (kinds(wal), wal.verdict()),
            (vec![ProblemKind::ZeroTail], Verdict::Damaged)
        );
    });
}

#[test]
fn an_empty_last_file_is_legal_and_one_before_is_not() {
    let mut logs = three();
    logs[2].1.clear();
    judge(&save(&logs), |wal| {
        assert_eq!(
            (kinds(wal), notes(wal)),
            (vec![], vec![NoteKind::EmptySegment])
        );
    });
    let mut logs = three();
    logs[1].1.clear();
    judge(&save(&logs), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::EmptySegment]);
    });
}

#[test]
fn a_flipped_bit_costs_everything_behind_it() {
    let mut logs = three();
    let at = keeper(&entries(11..=14, 1)).len();
    logs[1].1[at + 40] ^= 1;
    judge(&save(&logs), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::Checksum]);
        let problem = &wal.problems[0];
        assert_eq!(
            (problem.lsn, problem.lsn_to, problem.offset),
            (Some(Lsn(15)), Some(Lsn(20)), Some(at as u64))
        );
        assert!(
            problem.consequence.contains("up to 24"),
            "{}",
            problem.consequence
        );
    });
    let mut logs = three();
    logs[1].1[at + 8] = 3;
    judge(&save(&logs), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::CorruptRecord]);
        assert!(
            wal.problems[0].detail.contains("version 3"),
            "{}",
            wal.problems[0].detail
        );
    });
}

#[test]
fn a_rewrite_is_appended_under_a_higher_term() {
    let mut logs = three();
    logs[1].1 = keeper(&[entries(11..=16, 1), entries(14..=20, 2)].concat());
    judge(&save(&logs), |wal| {
        assert_eq!((kinds(wal), notes(wal)), (vec![], vec![NoteKind::Rewrite]));
    });
    logs[1].1 = keeper(&[entries(11..=16, 1), entries(14..=20, 1)].concat());
    judge(&save(&logs), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::Duplicate]);
    });
}

#[test]
fn detached_files_are_not_the_log() {
    let folder = save(&three());
    folder.write(
        "k1/coordination/log/detached/20261129T101112/changelog_25_30.bin",
        &keeper(&entries(25..=30, 1)),
    );
    judge(&folder, |wal| {
        assert_eq!((wal.segments.len(), kinds(wal)), (3, vec![]));
    });
}

#[test]
fn no_cut_that_loses_entries_is_clean_but_one_between_records_of_the_last_file() {
    let logs = three();
    for (n, (name, bytes)) in logs.iter().enumerate() {
        let folder = save(&logs);
        let is_last = n + 1 == logs.len();
        for length in 0..bytes.len() {
            folder.write(&format!("k1/coordination/log/{name}"), &bytes[..length]);
            judge(&folder, |wal| {
                let is_between = wal.segments[n].end_offset == length as u64;
                assert_eq!(
                    wal.verdict() == Verdict::Clean,
                    is_last && is_between,
                    "{name} cut at {length}: {:?}",
                    kinds(wal)
                );
            });
        }
    }
}

#[test]
fn a_compressed_file_cut_inside_a_block_is_not_one_left_open() {
    let records: Vec<Vec<u8>> = (21..=24).map(|lsn| keeper(&[(lsn, 2)])).collect();
    let blocks: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
    let frames: &[&[&[u8]]] = &[&blocks[..2], &blocks[2..]];
    let bytes = compress(frames, true);
    // Where a cut loses nothing that was begun: at each flush.
    let flushed: Vec<usize> = vec![
        compress(&[&blocks[..1]], true).len(),
        compress(&[&blocks[..2]], true).len(),
        compress(&[&blocks[..2]], false).len(),
        compress(&[&blocks[..2], &blocks[2..3]], true).len(),
        bytes.len(),
    ];
    let mut logs = three();
    logs[2].0 = "changelog_21_30.bin.zstd".to_owned();
    for length in 1..=bytes.len() {
        logs[2].1 = bytes[..length].to_vec();
        judge(&save(&logs), |wal| {
            let is_clean = wal.verdict() == Verdict::Clean;
            assert_eq!(
                is_clean,
                flushed.contains(&length),
                "cut at {length} of {}: {:?}",
                bytes.len(),
                kinds(wal)
            );
            if length == bytes.len() {
                assert_eq!(
                    (wal.end(), wal.segments[2].tail),
                    (Some(Lsn(24)), "unterminated-zstd-frame")
                );
            }
        });
    }
    let mut damaged = bytes;
    damaged[20] ^= 0xff;
    logs[2].1 = damaged;
    judge(&save(&logs), |wal| {
        assert_ne!(wal.verdict(), Verdict::Clean);
    });
}
