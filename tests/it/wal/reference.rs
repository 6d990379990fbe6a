//! The reference layout: the picture of a stalled catch-up byte for byte, soaks, tears and flipped bytes.

use casdiag::layout::{Problem, ProblemKind, Severity, Verdict};
use casdiag::vocab::Lsn;

use super::writer::{Entry, entries, reference, reference_record};
use super::{Folder, casdiag, check, kinds, misfiled, only, output};

#[test]
fn records_filed_under_an_older_segment_are_one_problem_and_nothing_is_missing() {
    let folder = Folder::new();
    misfiled(&folder);
    let inspection = check(folder.path());
    let wal = only(&inspection);
    assert_eq!(kinds(wal), [ProblemKind::Misfiled]);
    let problem = &wal.problems[0];
    assert_eq!(
        wal.segments[problem.segment].file,
        "seg-0000000000000001.wal"
    );
    assert_eq!(
        (problem.lsn, problem.lsn_to),
        (Some(Lsn(306)), Some(Lsn(348)))
    );
    assert_eq!(
        problem.belongs_in.as_deref(),
        Some("seg-0000000000000132.wal")
    );
    // 32 bytes of header, and 234 records of 24 bytes and their payload, filled up to 8.
    let bytes: u64 = (1..=234_u64)
        .map(|lsn| (24 + 9 + lsn % 23).next_multiple_of(8))
        .sum();
    assert_eq!(problem.offset, Some(32 + bytes));
    assert!(wal.missing.is_empty());
    assert!(
        problem.consequence.contains("finds nothing from 306 on"),
        "{}",
        problem.consequence
    );

    let (code, text) = casdiag(&["wal-layout-check", folder.text()]);
    assert_eq!(code, 1, "{text}");
    assert!(
        text.contains("misfiled: seg-0000000000000001.wal"),
        "{text}"
    );
    assert!(text.ends_with("2 segments, 1 problem\n"), "{text}");
}

#[test]
fn without_the_segment_between_its_records_are_missing_as_well() {
    let folder = Folder::new();
    misfiled(&folder);
    folder.remove("ctrl-2/seg-00000000000000eb.wal");
    let inspection = check(folder.path());
    let wal = only(&inspection);
    assert_eq!(
        kinds(wal),
        [ProblemKind::Misfiled, ProblemKind::MissingRange]
    );
    let missing = &wal.problems[1];
    assert_eq!(
        (missing.lsn, missing.lsn_to),
        (Some(Lsn(235)), Some(Lsn(305)))
    );
}

#[test]
fn the_picture_marks_misfiled_and_missing_positions() {
    let folder = Folder::new();
    let first = [entries(1..=32, 1), entries(57..=64, 1)].concat();
    folder.write("n/seg-0000000000000001.wal", &reference(1, 0, &first));
    folder.write(
        "n/seg-0000000000000021.wal",
        &reference(33, 0, &entries(33..=48, 1)),
    );
    let text = output("text", &check(folder.path()));
    let bar = format!(
        "  n |{}{}{}{}|",
        "█".repeat(32),
        "▒".repeat(16),
        ".".repeat(8),
        "!".repeat(8)
    );
    // Eight positions are nowhere: their share of the line is bounded by an eighth of the records.
    let line = text.lines().find(|line| line.starts_with("  n |")).unwrap();
    assert!(line.chars().filter(|&c| c == '!').count() > 7, "{line}");
    assert!(
        line.contains('█') && line.contains('▒') && line.contains('.'),
        "{line}\n{bar}"
    );
}

/// Segments of eight records with the given preallocated size.
fn soak(folder: &Folder, node: &str, count: u64, size: usize) {
    for n in 0..count {
        let first = n * 8 + 1;
        let mut bytes = reference(first, 7, &entries(first..=first + 7, 1 + n / 5));
        bytes.resize(bytes.len().max(size), 0);
        folder.write(&format!("{node}/seg-{first:016x}.wal"), &bytes);
    }
}

#[test]
fn a_clean_soak_is_clean() {
    for size in [0, 4096] {
        let folder = Folder::new();
        soak(&folder, "ctrl-1", 9, size);
        soak(&folder, "ctrl-2", 8, size);
        soak(&folder, "ctrl-3", 8, size);
        let (code, text) = casdiag(&["wal-layout-check", folder.text()]);
        assert_eq!(code, 0, "{text}");
        assert!(text.ends_with("25 segments, 0 problems\n"), "{text}");
    }
}

#[test]
fn no_cut_that_loses_records_is_clean_but_one_between_records_of_the_last_segment() {
    for tail in [0, 40] {
        let lives = [(1, 5), (6, 9), (10, 14)];
        for (cut, &(first, last)) in lives.iter().enumerate() {
            let bytes = reference(first, 7, &entries(first..=last, 3));
            let ends: Vec<usize> = (first..=last + 1)
                .map(|lsn| reference(first, 7, &entries(first..=lsn - 1, 3)).len())
                .collect();
            for length in 0..bytes.len() + tail {
                let folder = Folder::new();
                for &(first, last) in &lives {
                    let mut bytes = reference(first, 7, &entries(first..=last, 3));
                    bytes.resize(bytes.len() + tail, 0);
                    folder.write(&format!("seg-{first:016x}.wal"), &bytes);
                }
                let mut cut_bytes = bytes.clone();
                cut_bytes.resize(bytes.len() + tail, 0);
                folder.write(&format!("seg-{first:016x}.wal"), &cut_bytes[..length]);
                let inspection = check(folder.path());
                let wal = only(&inspection);
                let kept = ends.iter().filter(|&&end| end <= length).count();
                let is_last = cut + 1 == lives.len();
                // Less than a length field behind the last record may be the front of one.
                let is_stub = (1..4).any(|more| length == bytes.len() + more);
                let is_between = ends.contains(&length) || length > bytes.len() && !is_stub;
                let lost = kept < ends.len() || is_stub;
                let expected = match (lost, is_last && is_between, is_last) {
                    (false, _, _) | (true, true, _) => Verdict::Clean,
                    (true, false, true) => Verdict::CrashResidue,
                    (true, false, false) => Verdict::Damaged,
                };
                assert_eq!(
                    wal.verdict(),
                    expected,
                    "segment {first} cut at {length}: {:?}",
                    kinds(wal)
                );
                if is_last && is_between && kept > 0 {
                    assert_eq!(
                        wal.end(),
                        Some(Lsn(first + kept as u64 - 2))
                            .filter(|_| kept > 1)
                            .or(Some(Lsn(first - 1))),
                        "cut at {length}"
                    );
                }
            }
        }
    }
}

#[test]
fn no_flipped_byte_goes_unnoticed() {
    let names = ["seg-0000000000000001.wal", "seg-0000000000000006.wal"];
    let segments = [
        reference(1, 7, &entries(1..=5, 3)),
        reference(6, 7, &entries(6..=9, 3)),
    ];
    for (name, segment) in names.iter().zip(&segments) {
        for at in 0..segment.len() {
            let folder = Folder::new();
            for (name, segment) in names.iter().zip(&segments) {
                folder.write(name, segment);
            }
            let mut bytes = segment.clone();
            bytes[at] ^= 0x10;
            folder.write(name, &bytes);
            let inspection = check(folder.path());
            // A wrong length in the very last record reads as a record that was not finished.
            let last = segment.len() - reference_record(9, 3, &super::writer::payload(9)).len();
            let is_length = *name == names[1] && (last..last + 4).contains(&at);
            let verdict = only(&inspection).verdict();
            assert!(
                verdict == Verdict::Damaged || is_length && verdict == Verdict::CrashResidue,
                "{name} at {at}"
            );
        }
    }
}

#[test]
fn a_wrong_record_in_the_middle_tells_what_lies_behind_it() {
    let folder = Folder::new();
    let mut bytes = reference(1, 7, &entries(1..=20, 3));
    let at = reference(1, 7, &entries(1..=9, 3)).len();
    bytes[at + 30] ^= 1;
    folder.write("seg-0000000000000001.wal", &bytes);
    let inspection = check(folder.path());
    let wal = only(&inspection);
    assert_eq!(kinds(wal), [ProblemKind::Checksum]);
    let problem = &wal.problems[0];
    assert_eq!(
        (problem.lsn, problem.lsn_to, problem.offset),
        (Some(Lsn(10)), Some(Lsn(20)), Some(at as u64))
    );
    assert!(
        problem.detail.contains("10 intact records, 11..20"),
        "{}",
        problem.detail
    );
}

#[test]
fn a_wrong_length_in_the_last_segment_is_no_tear_while_records_follow() {
    let folder = Folder::new();
    let mut bytes = reference(1, 7, &entries(1..=20, 3));
    let at = reference(1, 7, &entries(1..=9, 3)).len();
    bytes[at + 2] = 0x40;
    folder.write("seg-0000000000000001.wal", &bytes);
    let inspection = check(folder.path());
    assert_eq!(kinds(only(&inspection)), [ProblemKind::CorruptRecord]);
}

#[test]
fn a_cut_inside_a_length_that_begins_with_zero_is_no_end_mark() {
    let mut bytes = reference(1, 7, &entries(1..=3, 3));
    let whole = bytes.len();
    // 20 and 236 bytes: the length's low byte is zero.
    bytes.extend(reference_record(4, 3, &[7; 236]));
    assert_eq!(bytes[whole..whole + 2], [0, 1]);
    let folder = Folder::new();
    folder.write("seg-0000000000000001.wal", &bytes[..=whole]);
    let inspection = check(folder.path());
    assert_eq!(kinds(only(&inspection)), [ProblemKind::TornTail]);
}

#[test]
fn a_record_whose_last_sector_was_never_written_is_a_tear() {
    let folder = Folder::new();
    let mut bytes = reference(1, 7, &entries(1..=3, 3));
    let whole = bytes.len();
    bytes.extend(reference_record(4, 3, &[7; 3000]));
    let end = bytes.len();
    bytes[1024..].fill(0);
    bytes[whole..whole + 8].copy_from_slice(&reference_record(4, 3, &[7; 3000])[..8]);
    bytes.resize(end + 8192, 0);
    folder.write("seg-0000000000000001.wal", &bytes);
    let inspection = check(folder.path());
    let wal = only(&inspection);
    assert_eq!(kinds(wal), [ProblemKind::TornTail]);
    assert_eq!(
        (wal.problems[0].severity, wal.problems[0].lsn),
        (Severity::CrashResidue, Some(Lsn(4)))
    );
    let strict = casdiag(&["wal-layout-check", "--strict", folder.text()]);
    assert_eq!(
        (casdiag(&["wal-layout-check", folder.text()]).0, strict.0),
        (0, 1)
    );
}

fn write(segments: &[(u64, u64, Vec<Entry>)]) -> Folder {
    let folder = Folder::new();
    for (name, header, entries) in segments {
        folder.write(
            &format!("seg-{name:016x}.wal"),
            &reference(*header, 7, entries),
        );
    }
    folder
}

#[test]
fn a_segment_that_goes_on_over_others_is_told_and_not_they() {
    // Over two others and past what they have: where they have the same, it is there twice, and the rest is only where nobody looks.
    let overrun = write(&[
        (1, 1, entries(1..=30, 1)),
        (11, 11, entries(11..=15, 1)),
        (16, 16, entries(16..=20, 1)),
    ]);
    let inspection = check(overrun.path());
    let wal = only(&inspection);
    let told = |it: &Problem| (it.kind, it.segment, it.lsn, it.lsn_to);
    let told: Vec<_> = wal.problems.iter().map(told).collect();
    let range = |kind, first, last| (kind, 0, Some(Lsn(first)), Some(Lsn(last)));
    assert_eq!(
        told,
        [
            range(ProblemKind::Misfiled, 21, 30),
            range(ProblemKind::Duplicate, 11, 20)
        ]
    );
    let placed: Vec<_> = wal
        .placed
        .iter()
        .map(|it| (it.0.first.0, it.0.last.0, it.1))
        .collect();
    assert_eq!(placed, [(1, 10, 0), (11, 15, 1), (16, 20, 2)]);
}

#[test]
fn the_same_record_twice_a_renamed_segment_and_a_hole_have_their_names() {
    let twice = write(&[(1, 1, entries(1..=9, 1)), (8, 8, entries(8..=12, 1))]);
    let inspection = check(twice.path());
    let wal = only(&inspection);
    assert_eq!(kinds(wal), [ProblemKind::Duplicate]);
    assert_eq!(
        (wal.problems[0].lsn, wal.problems[0].lsn_to),
        (Some(Lsn(8)), Some(Lsn(9)))
    );

    let renamed = write(&[(1, 1, entries(1..=9, 1)), (14, 10, entries(10..=12, 1))]);
    assert_eq!(
        kinds(only(&check(renamed.path()))),
        [ProblemKind::NameMismatch]
    );

    let gap = write(&[(1, 1, entries(1..=9, 1)), (14, 14, entries(14..=20, 1))]);
    let inspection = check(gap.path());
    let wal = only(&inspection);
    assert_eq!(kinds(wal), [ProblemKind::Gap]);
    assert_eq!(
        (wal.problems[0].lsn, wal.problems[0].expected),
        (Some(Lsn(14)), Some(Lsn(10)))
    );

    let jump = [entries(1..=4, 1), entries(7..=9, 1)].concat();
    let jump = write(&[(1, 1, jump), (10, 10, entries(10..=12, 1))]);
    let inspection = check(jump.path());
    let wal = only(&inspection);
    assert_eq!(kinds(wal), [ProblemKind::Jump]);
    assert_eq!(
        (wal.problems[0].lsn, wal.problems[0].expected),
        (Some(Lsn(7)), Some(Lsn(5)))
    );

    let overlong = write(&[(1, 1, entries(1..=9, 1)), (5, 5, Vec::new())]);
    let inspection = check(overlong.path());
    let wal = only(&inspection);
    assert_eq!(kinds(wal), [ProblemKind::Misfiled]);
    assert_eq!(
        (wal.problems[0].lsn, wal.problems[0].lsn_to),
        (Some(Lsn(5)), Some(Lsn(9)))
    );

    let back = write(&[(1, 1, entries(1..=9, 5)), (10, 10, entries(10..=12, 4))]);
    assert_eq!(kinds(only(&check(back.path()))), [ProblemKind::Backward]);
}

#[test]
fn bad_files_get_a_line_each_and_the_rest_is_checked() {
    let folder = Folder::new();
    folder.write(
        "seg-0000000000000001.wal",
        &reference(1, 7, &entries(1..=9, 1)),
    );
    folder.write("seg-000000000000000a.wal", &[]);
    let mut version = reference(20, 7, &entries(20..=29, 1));
    version[8] = 9;
    folder.write("seg-0000000000000014.wal", &version);
    folder.write(
        "seg-000000000000001e.wal",
        &reference(30, 8, &entries(30..=39, 1)),
    );
    folder.write(
        "seg-0000000000000028.wal",
        &reference(40, 7, &entries(40..=49, 1)),
    );
    folder.write("notes.txt", b"a file of nobody's");
    std::os::unix::fs::symlink(
        "/nowhere/at/all",
        folder.path().join("seg-0000000000000032.wal"),
    )
    .unwrap();
    folder.write(
        "seg-000000000000003c.wal",
        &reference(60, 7, &entries(60..=69, 1)),
    );
    let inspection = check(folder.path());
    let wal = only(&inspection);
    assert_eq!(
        kinds(wal),
        [
            ProblemKind::EmptySegment,
            ProblemKind::BadHeader,
            ProblemKind::MetadataConflict
        ]
    );
    assert_eq!(wal.unread.len(), 1);
    assert!(
        wal.problems[1].detail.contains("version 9"),
        "{}",
        wal.problems[1].detail
    );
    assert!(
        wal.problems[2].detail.contains("log id 0x0000000000000008"),
        "{}",
        wal.problems[2].detail
    );
    assert_eq!(wal.segments.last().unwrap().last_lsn, Some(Lsn(69)));
    let text = output("text", &inspection);
    assert!(
        text.contains("not read: ") && text.contains("not the whole answer"),
        "{text}"
    );
}

#[test]
fn unreadable_alone_is_partial_and_nothing_is_not_clean() {
    let folder = Folder::new();
    folder.write(
        "seg-0000000000000001.wal",
        &reference(1, 7, &entries(1..=9, 1)),
    );
    std::os::unix::fs::symlink(
        "/nowhere/at/all",
        folder.path().join("seg-000000000000000a.wal"),
    )
    .unwrap();
    assert_eq!(casdiag(&["wal-layout-check", folder.text()]).0, 3);
    let empty = Folder::new();
    empty.write("a/readme.txt", b"nothing here");
    assert_eq!(casdiag(&["wal-layout-check", empty.text()]).0, 3);
    assert_eq!(casdiag(&["wal-layout-check", "/nowhere/at/all"]).0, 2);
    assert_eq!(
        casdiag(&["wal-layout-check", "--layout", "nobody", empty.text()]).0,
        2
    );
    assert_eq!(casdiag(&["wal-layout-check"]).0, 2);
}

#[test]
fn very_many_segments_are_checked_and_shown_in_short() {
    let folder = Folder::new();
    for first in 1..=3000_u64 {
        folder.write(
            &format!("seg-{first:016x}.wal"),
            &reference(first, 7, &[(first, 1)]),
        );
    }
    folder.remove(&format!("seg-{:016x}.wal", 1500));
    let (code, text) = casdiag(&["wal-layout-check", folder.text()]);
    assert_eq!(code, 1);
    assert!(text.lines().count() < 40, "{text}");
    assert!(text.contains("LSN 1501, expected 1500"), "{text}");
    assert!(text.ends_with("2999 segments, 1 problem\n"), "{text}");
}
