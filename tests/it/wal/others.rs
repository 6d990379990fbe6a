//! Logs that other systems wrote, damaged on purpose: what was done to them is what has to be said.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use casdiag::layout::{NoteKind, ProblemKind, Severity, Verdict, Wal};
use casdiag::parsers::wal::{Body, Context, Format, LAYOUTS, Layout, SegmentName};
use casdiag::vocab::Lsn;
use proptest::prelude::*;
use walkdir::WalkDir;

use super::{Folder, casdiag, cases, check, document, kinds, only, unpack};

/// A kept case in a folder of its own, to be changed.
pub(super) fn case(name: &str) -> Folder {
    let from = cases().join(name);
    let archive = from.join("data.tar.gz");
    if archive.exists() {
        return Folder(unpack(&archive));
    }
    let folder = Folder::new();
    for entry in WalkDir::new(&from) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let inner = entry.path().strip_prefix(&from).unwrap();
            folder.write(inner.to_str().unwrap(), &bytes(entry.path()));
        }
    }
    folder
}

#[expect(clippy::disallowed_methods, reason = "the cases are small")]
fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

impl Folder {
    pub(super) fn read(&self, file: &str) -> Vec<u8> {
        bytes(&self.path().join(file))
    }

    pub(super) fn change(&self, file: &str, change: impl Fn(&mut Vec<u8>)) {
        let mut bytes = self.read(file);
        change(&mut bytes);
        self.write(file, &bytes);
    }

    pub(super) fn flip(&self, file: &str, at: usize) {
        self.change(file, |bytes| bytes[at] ^= 4);
    }

    pub(super) fn wal(&self) -> Wal {
        only(&check(self.path())).clone()
    }
}

fn notes(wal: &Wal) -> Vec<NoteKind> {
    wal.notes.iter().map(|note| note.kind).collect()
}

const RAFT: &str = "raft-wal/real";
const RAFT_1: &str = "raft/wal/00000000000000000176-0000000000000001.wal";
const RAFT_2: &str = "raft/wal/00000000000000000331-0000000000000002.wal";
const RAFT_4: &str = "raft/wal/00000000000000000681-0000000000000004.wal";

#[test]
fn raft_wal_a_changed_entry_breaks_the_commit_behind_it_and_the_rest_is_counted() {
    let folder = case(RAFT);
    // Of the 175 entries behind 331, 35 batches of 5: the second batch is broken, so 165 stand behind it.
    let second = 32 + (folder.read(RAFT_2).len() - 32) / 35;
    folder.flip(RAFT_2, second + 200);
    let wal = folder.wal();
    assert_eq!(kinds(&wal), [ProblemKind::Checksum]);
    let problem = &wal.problems[0];
    assert_eq!(
        (problem.lsn, problem.lsn_to),
        (Some(Lsn(336)), Some(Lsn(505)))
    );
    assert!(
        problem
            .detail
            .contains("behind it 165 intact records, 341..505"),
        "{}",
        problem.detail
    );
}

#[test]
fn raft_wal_the_ledger_tells_a_missing_segment_and_what_was_given_up() {
    let folder = case(RAFT);
    folder.remove(RAFT_4);
    let wal = folder.wal();
    assert_eq!(
        kinds(&wal),
        [ProblemKind::MissingSegment],
        "the last one, which only the ledger knows"
    );
    folder.remove(RAFT_2);
    let wal = folder.wal();
    assert_eq!(wal.verdict(), Verdict::Damaged);
    assert!(
        wal.missing
            .iter()
            .any(|range| range.first <= Lsn(344) && range.last >= Lsn(505)),
        "{:?}",
        wal.missing
    );
    let folder = case(RAFT);
    folder.remove("raft/wal/wal-meta.db");
    let wal = folder.wal();
    assert_eq!(
        wal.verdict(),
        Verdict::Clean,
        "without it, a rewrite under a higher term"
    );
    assert!(notes(&wal).contains(&NoteKind::Rewrite));
    assert!(!notes(&wal).contains(&NoteKind::RecordsBeyondMaxIndex));
    folder.write("raft/wal/wal-meta.db", &[7; 9000]);
    assert!(!check(folder.path()).is_complete());
}

#[test]
fn raft_wal_an_unfinished_batch_is_residue_and_a_renamed_segment_is_not() {
    let folder = case(RAFT);
    folder.change(RAFT_4, |bytes| bytes.truncate(22_392 - 100));
    let wal = folder.wal();
    assert_eq!(kinds(&wal), [ProblemKind::TornTail]);
    assert_eq!(wal.problems[0].severity, Severity::CrashResidue);
    let folder = case(RAFT);
    let moved = folder.read(RAFT_1);
    folder.remove(RAFT_1);
    folder.write("raft/wal/00000000000000000200-0000000000000001.wal", &moved);
    let wal = folder.wal();
    assert!(
        kinds(&wal).contains(&ProblemKind::NameMismatch),
        "{:?}",
        kinds(&wal)
    );
}

#[test]
fn prometheus_numbers_have_to_follow_and_a_torn_end_is_residue() {
    let folder = case("prometheus/real");
    folder.change("wal/00000003", |bytes| bytes.truncate(1500));
    let wal = folder.wal();
    assert_eq!(kinds(&wal), [ProblemKind::TornTail]);
    assert_eq!(wal.verdict(), Verdict::CrashResidue);
    folder.change("wal/00000001", |bytes| bytes.truncate(1500));
    let wal = folder.wal();
    assert_eq!(
        kinds(&wal),
        [ProblemKind::TornMiddle, ProblemKind::TornTail]
    );
    let folder = case("prometheus/real");
    folder.remove("wal/00000001");
    let wal = folder.wal();
    assert_eq!(kinds(&wal), [ProblemKind::MissingSegment]);
    assert_eq!(wal.problems[0].belongs_in.as_deref(), Some("00000001"));
    let folder = case("prometheus/real");
    // The second of two records, so nothing stands behind it.
    folder.flip("wal/00000000", 6000);
    let wal = folder.wal();
    assert_eq!(kinds(&wal), [ProblemKind::Checksum]);
    assert_eq!(wal.problems[0].offset, Some(5656));
}

#[test]
fn rocksdb_goes_on_by_counts_over_files_whose_numbers_have_holes() {
    let folder = case("rocksdb/real");
    let flushed = "r1/db/archive/000008.log";
    let middle = folder.read(flushed);
    for (file, name) in [
        ("archive/000004.log", "000004.log"),
        ("archive/000008.log", "000008.log"),
        ("000010.log", "000010.log"),
    ] {
        folder.write(
            &format!("whole/{name}"),
            &folder.read(&format!("r1/db/{file}")),
        );
    }
    std::fs::remove_dir_all(folder.path().join("r1")).unwrap();
    let wal = folder.wal();
    assert_eq!(wal.verdict(), Verdict::Clean);
    // 60 batches of 1 to 7 in turn: 8 times 28 and 10 more.
    assert_eq!(
        (wal.found[0].first, wal.found[0].last, wal.found.len()),
        (Lsn(1), Lsn(234), 1)
    );
    folder.remove("whole/000008.log");
    let wal = folder.wal();
    assert_eq!(kinds(&wal), [ProblemKind::Gap]);
    assert_eq!(
        (wal.problems[0].expected, wal.problems[0].lsn),
        (Some(Lsn(85)), Some(Lsn(162)))
    );
    folder.write("whole/000008.log", &middle);
    folder.write("whole/000009.log", &middle);
    assert_eq!(kinds(&folder.wal()), [ProblemKind::Duplicate]);
    folder.remove("whole/000009.log");
    // Inside the batch that runs over three blocks: the first of the batches behind it stands in the third block.
    folder.flip("whole/000004.log", 40_000);
    let wal = folder.wal();
    assert_eq!(kinds(&wal), [ProblemKind::Checksum]);
    assert!(
        wal.problems[0]
            .detail
            .contains("behind it 7 intact records"),
        "{}",
        wal.problems[0].detail
    );
    folder.write("whole/000008.log", &middle[..middle.len() - 3]);
    assert!(kinds(&folder.wal()).contains(&ProblemKind::TornMiddle));
}

/// The blocks of one log on one server.
fn nats(log: &str, to: &str) -> Folder {
    let all = case("nats/real");
    let folder = Folder::new();
    folder.write(to, &all.read(&format!("n1/jetstream/{log}/msgs/1.blk")));
    folder
}

#[test]
fn nats_blocks_are_verified_with_the_name_of_their_log() {
    let at = "n1/jetstream/$G/streams/ORDERS/msgs/1.blk";
    let folder = nats("$G/streams/ORDERS", at);
    // In the tenth record or so; 60 others are intact, and one of them is erased.
    folder.flip(at, 400);
    let wal = folder.wal();
    assert_eq!(
        (wal.layout.as_str(), kinds(&wal)),
        ("nats-stream", vec![ProblemKind::Checksum])
    );
    assert_eq!(wal.problems[0].lsn_to, Some(Lsn(70)));
    let folder = nats("$G/streams/ORDERS", "elsewhere/1.blk");
    let wal = folder.wal();
    assert_eq!((wal.verdict(), wal.records), (Verdict::Clean, 70));
    assert!(
        wal.notes
            .iter()
            .any(|note| note.why.contains("could not be verified"))
    );
    folder.change("elsewhere/1.blk", |bytes| bytes.truncate(bytes.len() - 5));
    assert_eq!(kinds(&folder.wal()), [ProblemKind::TornTail]);
}

#[test]
fn nats_groups_of_three_servers_are_compared_log_by_log() {
    let folder = case("nats/real");
    let inspection = check(folder.path());
    let compared: Vec<(&str, usize, &str)> = inspection
        .comparisons
        .iter()
        .map(|it| {
            (
                it.identity.as_deref().unwrap(),
                it.nodes.len(),
                it.nodes[0].node.as_str(),
            )
        })
        .collect();
    assert_eq!(
        compared,
        [
            ("S-R3F-GRxI2Std", 3, "n1"),
            ("_meta_", 3, "n1"),
            ("ORDERS", 3, "n1")
        ]
    );
    let group = inspection
        .wals
        .iter()
        .find(|wal| wal.path.contains("_meta_"))
        .unwrap();
    assert_eq!(group.layout, "nats-raft");
    assert!(group.stretches.iter().all(|stretch| stretch.term.is_some()));
}

#[test]
fn several_logs_of_one_server_are_told_apart_beside_logs() {
    let folder = case("nats/real");
    let (code, text) = casdiag(&["analyze", folder.text()]);
    assert_eq!(code, 0, "{text}");
    for label in ["n1 (ORDERS/msgs)", "n1 (_meta_/msgs)", "n2 (ORDERS/msgs)"] {
        assert!(text.contains(label), "{label}: {text}");
    }
}

#[test]
fn kafka_offsets_rise_and_stand_where_the_names_say() {
    let at = |base: u64| format!("k1/orders-0/{base:020}.log");
    let folder = case("kafka/written");
    folder.flip(&at(0), 70);
    let wal = folder.wal();
    assert_eq!(
        (wal.identity.as_deref(), kinds(&wal)),
        (Some("orders-0"), vec![ProblemKind::Checksum])
    );
    assert!(
        wal.problems[0]
            .detail
            .contains("behind it 2 intact records"),
        "{}",
        wal.problems[0].detail
    );
    let folder = case("kafka/written");
    let last = folder.read(&at(33));
    folder.remove(&at(33));
    folder.write(&at(40), &last);
    assert_eq!(kinds(&folder.wal()), [ProblemKind::NameMismatch]);
    folder.write(&at(33), &last);
    assert!(kinds(&folder.wal()).contains(&ProblemKind::Duplicate));
    let folder = case("kafka/written");
    folder.change(&at(16), |bytes| bytes.extend(&last));
    folder.write(&at(33), &[]);
    let wal = folder.wal();
    assert_eq!(
        kinds(&wal),
        [ProblemKind::Misfiled],
        "in front of the file that is named after them"
    );
    let folder = case("kafka/written");
    folder.change(&at(33), |bytes| bytes.truncate(100));
    assert_eq!(kinds(&folder.wal()), [ProblemKind::TornTail]);
}

/// One segment of each layout, small enough to be changed often.
fn samples() -> Vec<(&'static str, PathBuf)> {
    vec![
        ("raft-wal", cases().join(RAFT).join(RAFT_4)),
        ("rocksdb", cases().join("rocksdb/real/r1/db/000010.log")),
        ("prometheus", cases().join("prometheus/real/wal/00000000")),
        (
            "kafka",
            cases().join("kafka/written/k1/orders-0/00000000000000000016.log"),
        ),
    ]
}

/// A segment to be changed, with what its reader is told.
struct Sample {
    layout: &'static Layout,
    name: SegmentName,
    key: Option<[u8; 32]>,
    bytes: Vec<u8>,
}

impl Sample {
    fn new(id: &str, log: Option<&str>, path: &Path) -> Self {
        let layout = LAYOUTS.iter().find(|it| it.id == id).unwrap();
        let bytes = bytes(path);
        let mut name = (layout.name)(path.file_name().unwrap().to_str().unwrap()).unwrap();
        if let Some(spacing) = (layout.spacing)(&bytes) {
            name = (layout.spaced)(name, spacing);
        }
        let key = log.map(|log| (layout.key)(log, name).unwrap());
        Self {
            layout,
            name,
            key,
            bytes,
        }
    }
}

/// Those, and some of which the archives are unpacked once.
static CHANGED: LazyLock<Vec<Sample>> = LazyLock::new(|| {
    let plain = samples();
    let mut all: Vec<Sample> = plain
        .iter()
        .map(|(layout, path)| Sample::new(layout, None, path))
        .collect();
    let (postgresql, nats) = (case("postgresql/real-15-promoted"), case("nats/real"));
    let at = |folder: &Folder, file: &str| folder.path().join(file);
    let file = at(&postgresql, "a/pg_wal/000000010000000000000008");
    all.push(Sample::new("postgresql", None, &file));
    for (layout, log, folder) in [
        ("nats-stream", "ORDERS", "$G/streams/ORDERS"),
        ("nats-raft", "_meta_", "$SYS/_js_/_meta_"),
    ] {
        let file = at(&nats, &format!("n1/jetstream/{folder}/msgs/1.blk"));
        all.push(Sample::new(layout, Some(log), &file));
    }
    all
});

#[test]
fn a_dump_prints_every_record_of_every_system() {
    let mut files: Vec<(String, usize)> = samples()
        .iter()
        .zip([80, 19, 2, 3])
        .map(|((_, path), records)| (path.display().to_string(), records))
        .collect();
    let (postgresql, nats) = (case("postgresql/real-15-promoted"), case("nats/real"));
    for (folder, file, records) in [
        (&postgresql, "a/pg_wal/000000010000000000000008", 1002),
        (&nats, "n1/jetstream/$G/streams/ORDERS/msgs/1.blk", 70),
        (&nats, "n1/jetstream/$SYS/_js_/_meta_/msgs/1.blk", 7),
    ] {
        files.push((folder.path().join(file).display().to_string(), records));
    }
    for (file, records) in &files {
        let (code, text) = casdiag(&["wal", "dump", file]);
        assert_eq!(code, 0, "{file}: {text}");
        // A line each, one above and one below.
        assert_eq!(text.lines().count(), records + 2, "{file}");
    }
    let (code, text) = casdiag(&["wal", "dump", &files[4].0, "--from", "0/815900"]);
    assert_eq!((code, text.lines().count()), (0, 3), "{text}");
    assert!(text.contains("0/815900"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_changed_segment_is_never_read_as_more_than_it_was(
        sample in 0_usize..CHANGED.len(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..5),
        cut: prop::sample::Index,
    ) {
        let Sample { layout, name, key, bytes } = &CHANGED[sample];
        let read = |bytes: &[u8]| {
            let context = Context { name: *name, size: bytes.len() as u64, is_last: true, key: *key, ..Context::default() };
            let mut records = 0;
            let scan = Format::Known(layout).read(&mut &*bytes, &context, &mut |frame| {
                records += u64::from(matches!(frame.body, Body::Entry { .. } | Body::Unplaced { .. }));
            });
            (records, scan)
        };
        let mut bytes = bytes.clone();
        let (whole, _) = read(&bytes);
        prop_assert!(whole > 0);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes.truncate(cut.index(bytes.len()) + 1);
        let (records, scan) = read(&bytes);
        prop_assert!(records <= whole);
        prop_assert!(scan.end_offset <= bytes.len() as u64);
    }
}

#[test]
fn the_documentation_lists_every_layout_as_the_registry_has_it() {
    let rows: Vec<String> = LAYOUTS
        .iter()
        .map(|it| {
            format!(
                "| `{}` | {} | {} | {} |\n",
                it.id, it.title, it.files, it.explains
            )
        })
        .collect();
    let readme = document("README.md").replace('\n', " ");
    for layout in LAYOUTS {
        assert!(
            readme.contains(layout.title),
            "README.md does not name {}",
            layout.title
        );
    }
    let format = document("docs/wal-format.md");
    assert!(
        format.contains(&rows.concat()),
        "docs/wal-format.md needs these rows:\n{}",
        rows.concat()
    );
}
