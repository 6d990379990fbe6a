//! etcd: what its rolling checksum, its terms and its snapshot records explain, and what they do not.

use casdiag::layout::{NoteKind, ProblemKind, Severity, Verdict, Wal};
use casdiag::vocab::Lsn;

use super::writer::{Entry, Etcd, entries};
use super::{Folder, check, kinds, only};

/// Files of one log, by sequence number and the index in the name, with the entries of each.
struct Log {
    files: Vec<(String, Vec<u8>)>,
    /// The checksum that each file goes on with.
    before: Vec<u32>,
    crc: u32,
}

impl Log {
    fn new() -> Self {
        Self {
            files: Vec::new(),
            before: Vec::new(),
            crc: 0,
        }
    }

    fn file(&mut self, index: u64, write: impl FnOnce(&mut Etcd)) -> &mut Self {
        let seq = self.files.len();
        self.before.push(self.crc);
        let mut file = Etcd::file(self.crc, 0xc1);
        if seq == 0 {
            file.snapshot(0, 0);
        }
        write(&mut file);
        self.crc = file.crc;
        self.files
            .push((format!("{seq:016x}-{index:016x}.wal"), file.bytes));
        self
    }

    fn save(&self) -> Folder {
        let folder = Folder::new();
        for (name, bytes) in &self.files {
            folder.write(&format!("m1/member/wal/{name}"), bytes);
        }
        folder
    }
}

/// Three files: 1..10, 11..20, 21..25.
fn three() -> Log {
    let mut log = Log::new();
    log.file(0, |file| {
        file.entries(&entries(1..=10, 2));
        file.state(2, 9);
    });
    log.file(11, |file| {
        file.state(2, 9);
        file.entries(&entries(11..=20, 2));
        file.state(2, 20);
    });
    log.file(21, |file| {
        file.state(2, 20);
        file.entries(&entries(21..=25, 3));
        file.state(3, 25);
    });
    log
}

fn judge(folder: &Folder, test: impl FnOnce(&Wal)) {
    test(only(&check(folder.path())));
}

fn notes(wal: &Wal) -> Vec<NoteKind> {
    wal.notes.iter().map(|note| note.kind).collect()
}

#[test]
fn a_whole_log_is_clean_with_and_without_its_head() {
    let log = three();
    let folder = log.save();
    judge(&folder, |wal| {
        assert!(
            wal.problems.is_empty() && wal.notes.is_empty(),
            "{:?}",
            wal.problems
        );
        assert_eq!((wal.node.as_str(), wal.end()), ("m1", Some(Lsn(25))));
    });
    folder.remove(&format!("m1/member/wal/{}", log.files[0].0));
    judge(&folder, |wal| {
        assert!(wal.problems.is_empty(), "{:?}", wal.problems);
        assert_eq!(notes(wal), [NoteKind::HeadTruncated]);
    });
}

#[test]
fn records_filed_under_an_older_file_are_misfiled() {
    let mut log = Log::new();
    log.file(0, |file| {
        file.entries(&entries(1..=10, 2));
        file.entries(&entries(21..=25, 3));
    });
    log.file(11, |file| file.entries(&entries(11..=20, 2)));
    judge(&log.save(), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::Misfiled]);
        assert_eq!(
            (wal.problems[0].lsn, wal.problems[0].lsn_to),
            (Some(Lsn(21)), Some(Lsn(25)))
        );
    });
}

#[test]
fn a_hole_inside_a_file_is_a_jump_unless_a_snapshot_record_stands_for_it() {
    let hole = |snapshot: Option<(u64, u64)>| {
        let mut log = Log::new();
        log.file(0, |file| {
            file.entries(&entries(1..=10, 2));
            if let Some((lsn, term)) = snapshot {
                file.snapshot(lsn, term);
            }
            file.entries(&entries(31..=35, 3));
        });
        log.file(36, |file| file.entries(&entries(36..=40, 3)));
        log.save()
    };
    judge(&hole(None), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::Jump]);
        assert_eq!(
            (wal.problems[0].lsn, wal.problems[0].expected),
            (Some(Lsn(31)), Some(Lsn(11)))
        );
    });
    judge(&hole(Some((30, 3))), |wal| {
        assert!(wal.problems.is_empty(), "{:?}", wal.problems);
        assert_eq!(notes(wal), [NoteKind::JumpExplainedBySnapshot]);
    });
    judge(&hole(Some((8, 1))), |wal| {
        assert_eq!(
            kinds(wal),
            [ProblemKind::MetadataConflict, ProblemKind::Jump]
        );
    });
}

#[test]
fn a_rewrite_needs_a_higher_term_and_an_uncommitted_tail() {
    let rewrite = |old: Entry, new: Entry, commit: u64| {
        let mut log = Log::new();
        log.file(0, |file| {
            file.entries(&entries(1..=10, 2));
            file.state(2, commit);
            file.entry(old.0, old.1);
        });
        log.file(old.0 + 1, |file| file.entries(&[new, (new.0 + 1, new.1)]));
        log.save()
    };
    judge(&rewrite((11, 2), (9, 3), 8), |wal| {
        assert!(wal.problems.is_empty(), "{:?}", wal.problems);
        assert_eq!(notes(wal), [NoteKind::FirstLsnBelowName, NoteKind::Rewrite]);
        assert_eq!(wal.end(), Some(Lsn(10)));
    });
    judge(&rewrite((11, 2), (9, 2), 8), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::Duplicate]);
    });
    judge(&rewrite((11, 2), (9, 1), 8), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::Backward]);
    });
    judge(&rewrite((11, 2), (9, 3), 10), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::MetadataConflict]);
    });
}

#[test]
fn a_tail_rewritten_up_to_the_next_name_is_not_misfiled() {
    let mut log = Log::new();
    log.file(0, |file| {
        file.entries(&entries(1..=9, 2));
        file.entries(&entries(10..=14, 3));
        file.entries(&entries(7..=9, 4));
    });
    log.file(10, |file| file.entries(&entries(10..=12, 4)));
    judge(&log.save(), |wal| {
        assert!(wal.problems.is_empty(), "{:?}", wal.problems);
    });
}

#[test]
fn a_missing_file_is_told_by_number_and_by_position_and_not_by_its_checksum() {
    let log = three();
    let folder = log.save();
    folder.remove(&format!("m1/member/wal/{}", log.files[1].0));
    judge(&folder, |wal| {
        assert_eq!(kinds(wal), [ProblemKind::MissingSegment, ProblemKind::Gap]);
        let gap = &wal.problems[1];
        assert_eq!((gap.lsn, gap.expected), (Some(Lsn(21)), Some(Lsn(11))));
    });
}

#[test]
fn a_file_of_another_log_breaks_the_chain_and_one_of_another_cluster_is_said_to_be() {
    let mut log = three();
    let mut other = Etcd::file(0x1234_5678, 0xc1);
    other.entries(&entries(11..=20, 2));
    log.files[1].1 = other.bytes;
    judge(&log.save(), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::ChainBreak]);
        assert_eq!(wal.problems[0].lsn, Some(Lsn(11)));
    });
    let mut foreign = Etcd::file(0x1234_5678, 0xc2);
    foreign.entries(&entries(11..=20, 2));
    log.files[1].1 = foreign.bytes;
    judge(&log.save(), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::MetadataConflict]);
        assert_eq!(
            (wal.problems[0].lsn, wal.problems[0].lsn_to),
            (Some(Lsn(11)), Some(Lsn(20)))
        );
    });
}

#[test]
fn a_wrong_checksum_record_alone_costs_nothing_else() {
    let mut log = three();
    // The first record of a file hands the checksum on: a type, and the value from offset 11 on.
    log.files[1].1[12] ^= 1;
    judge(&log.save(), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::ChainBreak]);
        assert_eq!(
            (wal.problems[0].offset, wal.end()),
            (Some(0), Some(Lsn(25)))
        );
    });
}

#[test]
fn an_empty_last_file_is_damage_because_the_server_says_nothing() {
    for size in [0, 4096] {
        let mut log = three();
        log.files[2].1 = vec![0; size];
        judge(&log.save(), |wal| {
            assert_eq!(kinds(wal), [ProblemKind::EmptyLastSegment]);
            assert_eq!(wal.verdict(), Verdict::Damaged);
        });
    }
}

#[test]
fn a_commit_beyond_the_last_entry_is_a_contradiction() {
    let mut log = Log::new();
    log.file(0, |file| {
        file.entries(&entries(1..=10, 2));
        file.state(2, 14);
    });
    judge(&log.save(), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::MetadataConflict]);
        assert_eq!(
            (wal.problems[0].lsn, wal.problems[0].lsn_to),
            (Some(Lsn(11)), Some(Lsn(14)))
        );
    });
}

#[test]
fn a_sector_of_zeros_in_the_last_file_is_a_tear_and_in_a_closed_one_a_wrong_checksum() {
    let mut log = three();
    let bytes = &mut log.files[2].1;
    let mut file = Etcd::file(0, 0xc1);
    let before = bytes.len();
    file.crc = log.crc;
    file.bytes.clear();
    file.entry(26, 3);
    // The frame crosses into a sector that was never written.
    bytes.resize((before / 512 + 1) * 512 - 40, 0x5a);
    bytes.truncate(before);
    bytes.extend(&file.bytes);
    let zeroed = before + 16;
    bytes[zeroed..].fill(0);
    bytes.resize(8192, 0);
    judge(&log.save(), |wal| {
        assert!(
            matches!(
                kinds(wal)[..],
                [ProblemKind::TornTail | ProblemKind::Checksum]
            ),
            "{:?}",
            kinds(wal)
        );
        assert_eq!(wal.problems[0].lsn, Some(Lsn(26)));
    });
    let mut log = three();
    let end = log.files[1].1.len();
    log.files[1].1[end - 30] ^= 4;
    judge(&log.save(), |wal| {
        assert_eq!(kinds(wal)[0], ProblemKind::Checksum);
    });
}

#[test]
fn a_wrong_record_says_what_lies_behind_it() {
    let mut log = three();
    let mut prefix = Etcd::file(log.before[1], 0xc1);
    prefix.state(2, 9);
    prefix.entries(&entries(11..=13, 2));
    let at = prefix.bytes.len();
    log.files[1].1[at + 25] ^= 1;
    judge(&log.save(), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::Checksum]);
        let problem = &wal.problems[0];
        assert_eq!(problem.offset, Some(at as u64));
        assert_eq!(
            (problem.lsn, problem.lsn_to),
            (Some(Lsn(14)), Some(Lsn(20)))
        );
        assert!(
            problem.detail.contains("6 intact records, 15..20"),
            "{}",
            problem.detail
        );
        assert!(
            problem.consequence.contains("14 on, up to 25"),
            "{}",
            problem.consequence
        );
    });
}

#[test]
fn no_cut_that_loses_records_is_clean_but_one_between_records_of_the_last_file() {
    let log = three();
    for (n, (name, bytes)) in log.files.iter().enumerate() {
        let folder = log.save();
        let is_last = n + 1 == log.files.len();
        for length in 0..bytes.len() {
            folder.write(&format!("m1/member/wal/{name}"), &bytes[..length]);
            judge(&folder, |wal| {
                let segment = &wal.segments[n];
                let is_between = segment.end_offset == length as u64 && length > 0;
                match (is_last, is_between) {
                    (true, true) => assert!(
                        wal.verdict() <= Verdict::CrashResidue,
                        "cut at {length}: {:?}",
                        kinds(wal)
                    ),
                    (true, false) => assert_ne!(wal.verdict(), Verdict::Clean, "cut at {length}"),
                    (false, _) => {
                        assert_eq!(wal.verdict(), Verdict::Damaged, "{name} cut at {length}");
                    }
                }
            });
        }
    }
}

#[test]
fn leftovers_and_zero_tails_are_legal() {
    let mut log = three();
    log.files[2].1.resize(16384, 0);
    log.files[1].1.resize(16384, 0);
    let folder = log.save();
    folder.write("m1/member/wal/0.tmp", &[0; 4096]);
    folder.write(
        "m1/member/wal/0000000000000002-0000000000000015.wal.broken",
        b"x",
    );
    judge(&folder, |wal| {
        assert!(wal.problems.is_empty(), "{:?}", wal.problems);
        assert_eq!(
            notes(wal),
            [NoteKind::IgnoredFile, NoteKind::IgnoredFile, NoteKind::Info]
        );
    });
    log.files[2].1[9000] = 1;
    judge(&log.save(), |wal| {
        assert_eq!(wal.verdict(), Verdict::Clean);
        assert!(notes(wal).contains(&NoteKind::DataAfterZeros));
    });
}

#[test]
fn a_torn_tail_is_what_a_crash_leaves() {
    let mut log = three();
    let end = log.files[2].1.len();
    let mut more = Etcd::file(0, 0xc1);
    more.bytes.clear();
    more.crc = log.crc;
    more.entry(26, 3);
    log.files[2].1.extend(&more.bytes[..20]);
    judge(&log.save(), |wal| {
        assert_eq!(kinds(wal), [ProblemKind::TornTail]);
        let problem = &wal.problems[0];
        assert_eq!(
            (problem.severity, problem.lsn, problem.offset),
            (Severity::CrashResidue, Some(Lsn(26)), Some(end as u64))
        );
    });
}
