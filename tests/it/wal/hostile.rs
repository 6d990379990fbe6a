//! Bytes that no writer wrote: no reader panics, hangs or claims that they are sound.

use casdiag::layout::Verdict;
use casdiag::parsers::wal::{Context, Format, LAYOUTS, SegmentName};
use casdiag::vocab::Lsn;
use proptest::prelude::*;

use super::writer::{Etcd, entries, keeper, reference, zookeeper};
use super::{Folder, casdiag, cases, check, load_layout};

/// A good segment of each layout, with the name it goes by.
fn good(n: usize) -> (&'static str, Vec<u8>) {
    let mut etcd = Etcd::file(0, 0xc1);
    etcd.snapshot(0, 0);
    etcd.entries(&entries(1..=20, 2));
    etcd.state(2, 20);
    match n {
        0 => (
            "seg-0000000000000001.wal",
            reference(1, 7, &entries(1..=20, 2)),
        ),
        1 => ("0000000000000000-0000000000000000.wal", etcd.bytes),
        2 => ("log.1", zookeeper(&(1..=20).collect::<Vec<_>>())),
        _ => ("changelog_1_20.bin", keeper(&entries(1..=20, 2))),
    }
}

fn formats() -> Vec<Format> {
    let mut formats: Vec<Format> = LAYOUTS.iter().map(Format::Known).collect();
    for layout in ["le-crc32c-len", "be-header-crc32-trailer"] {
        let declared = load_layout(&cases().join("generic").join(layout).join("layout.toml"));
        formats.push(Format::Declared(Box::new(declared.declaration)));
    }
    formats
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_make_a_reader_panic_or_read_past_them(bytes in proptest::collection::vec(any::<u8>(), 0..3000), is_last: bool, is_compressed: bool, is_numbered: bool) {
        for format in formats() {
            let lsn = (!is_numbered).then_some(Lsn(1));
            let name = SegmentName { lsn, seq: is_numbered.then_some(1), is_compressed, ..SegmentName::default() };
            let context = Context { name, size: bytes.len() as u64, is_last, chain: Some(1), key: Some([7; 32]), is_key_sure: is_numbered, carry: None };
            let mut end = 0;
            let scan = format.read(&mut bytes.as_slice(), &context, &mut |frame| {
                assert_eq!(frame.offset, end.max(frame.offset), "frames do not overlap");
                end = frame.offset + frame.size;
            });
            prop_assert!(is_compressed || scan.end_offset <= bytes.len() as u64);
        }
    }

    #[test]
    fn a_good_segment_with_some_bytes_changed_is_never_read_as_more_than_it_was(
        layout in 0_usize..4,
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut: prop::sample::Index,
    ) {
        let (file, mut bytes) = good(layout);
        let whole = bytes.clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        let folder = Folder::new();
        folder.write(&format!("version-2/{file}"), &bytes);
        folder.write("version-2/currentEpoch", b"1");
        let inspection = check(folder.path());
        for wal in &inspection.wals {
            prop_assert!(wal.segments[0].entries <= 20);
            if wal.verdict() == Verdict::Clean && bytes.len() == whole.len() {
                prop_assert_eq!(wal.segments[0].entries, 20, "clean, and records are lost");
            }
        }
    }
}

/// Runs of positions for some segments, by the position in the name; short, so that all sorts of overlap come up.
fn segments() -> impl Strategy<Value = std::collections::BTreeMap<u64, Vec<(u64, u64)>>> {
    let run = (1_u64..14, 1_u64..5, 1_u64..3);
    let runs = proptest::collection::vec(run, 0..3);
    let drawn = proptest::collection::btree_map(1_u64..14, runs, 1..4).prop_map(|segments| {
        let entries = |runs: Vec<(u64, u64, u64)>| {
            runs.iter()
                .flat_map(|&(first, count, term)| {
                    (first..first + count).map(move |lsn| (lsn, term))
                })
                .collect()
        };
        segments
            .into_iter()
            .map(|(name, runs)| (name, entries(runs)))
            .collect()
    });
    // Half of the logs are in order but for where they are cut into segments.
    let cuts = proptest::collection::btree_set(1_u64..14, 1..4).prop_map(|cuts| {
        let ends = cuts.iter().skip(1).copied().chain([15]);
        cuts.iter()
            .copied()
            .zip(ends)
            .map(|(first, end)| (first, entries(first..=end - 1, 1)))
            .collect()
    });
    prop_oneof![drawn, cuts]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_log_is_clean_if_and_only_if_its_positions_and_names_are_in_order(segments in segments()) {
        let folder = Folder::new();
        for (name, entries) in &segments {
            folder.write(&format!("seg-{name:016x}.wal"), &reference(*name, 7, entries));
        }
        let all: Vec<(u64, u64)> = segments.values().flatten().copied().collect();
        let steps = all.windows(2).all(|pair| pair[1].0 == pair[0].0 + 1 && pair[1].1 >= pair[0].1);
        let names = segments.iter().all(|(name, entries)| entries.first().is_none_or(|first| first.0 == *name));
        // A segment without records is in order only where nothing is missing behind it.
        let next: Vec<u64> = segments.keys().skip(1).copied().chain([u64::MAX]).collect();
        let filled = segments.values().zip(&next).all(|(entries, next)| !entries.is_empty() || *next == u64::MAX);
        let last = all.last().map_or(0, |last| last.0);
        let end = segments.iter().next_back().is_none_or(|(name, entries)| !entries.is_empty() || all.is_empty() || *name == last + 1);
        let inspection = check(folder.path());
        let wal = &inspection.wals[0];
        let is_clean = wal.verdict() == Verdict::Clean;
        prop_assert_eq!(is_clean, steps && names && filled && end, "{:?}: {:?}", segments, wal.problems.iter().map(|it| (it.kind, it.detail.clone())).collect::<Vec<_>>());

        // What a reader choosing by name finds, looked up one position after the other.
        let mut lsns: Vec<u64> = all.iter().map(|(lsn, _)| *lsn).collect();
        lsns.sort_unstable();
        let is_twice = lsns.windows(2).any(|pair| pair[0] == pair[1]);
        let by_name = |lsn: u64| segments.range(..=lsn).next_back().is_some_and(|(_, entries)| entries.iter().any(|entry| entry.0 == lsn));
        let found = |lsn: u64| wal.found.iter().any(|range| range.first.0 <= lsn && lsn <= range.last.0);
        // Behind a jump the last segment's records count as misfiled: their own segment was never begun.
        let last = wal.segments.len() - 1;
        let is_behind_jump = |lsn: u64| wal.misfiled.iter().any(|(range, n)| *n == last && range.first.0 <= lsn && lsn <= range.last.0);
        for lsn in 0..20 {
            let is_right = by_name(lsn) == found(lsn) || is_behind_jump(lsn);
            prop_assert!(is_twice || is_right, "{lsn} of {segments:?}: {:?}", wal.found);
        }
    }
}

#[test]
fn every_offset_looking_like_a_large_record_does_not_hang_the_search() {
    // A length that is plausible at every eighth byte, and never a record.
    let mut bytes = reference(1, 7, &entries(1..=3, 1));
    let pattern: Vec<u8> = [0x00, 0x00, 0x0f, 0x00, 0x11, 0x22, 0x33, 0x44].repeat(1 << 20);
    bytes.extend(pattern);
    let folder = Folder::new();
    folder.write("seg-0000000000000001.wal", &bytes);
    assert_eq!(check(folder.path()).verdict(), Verdict::Damaged);
}

#[test]
fn a_segment_of_nothing_but_breaks_is_cut_short_and_said_to_be() {
    let breaks: Vec<(u64, u64)> = (0..110_000).map(|n| (n * 2 + 1, 1)).collect();
    let folder = Folder::new();
    folder.write("seg-0000000000000001.wal", &reference(1, 7, &breaks));
    let inspection = check(folder.path());
    assert_eq!(inspection.verdict(), Verdict::Damaged);
    assert!(!inspection.is_complete());
    assert!(inspection.wals[0].problems.len() <= 10_000);
    let (code, text) = casdiag(&["wal-layout-check", folder.text()]);
    assert_eq!(code, 1);
    assert!(text.lines().count() < 1000);
}

#[test]
fn links_devices_and_folders_in_the_place_of_segments_are_not_followed_for_ever() {
    let folder = Folder::new();
    folder.write(
        "seg-0000000000000001.wal",
        &reference(1, 7, &entries(1..=3, 1)),
    );
    std::os::unix::fs::symlink(folder.path(), folder.path().join("loop")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("seg-0000000000000004.wal"))
        .unwrap();
    std::fs::create_dir(folder.path().join("seg-0000000000000005.wal")).unwrap();
    let inspection = check(folder.path());
    assert_eq!(inspection.wals.len(), 1);
    assert_eq!(inspection.wals[0].unread.len(), 1);
    assert!(
        inspection.wals[0].unread[0]
            .detail
            .contains("not a regular file")
    );
}
