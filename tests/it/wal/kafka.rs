//! Partitions of Kafka by a writer of their own: offsets left out between files, and the log of the cluster itself.

use casdiag::layout::{NoteKind, ProblemKind, Verdict};
use casdiag::vocab::Lsn;

use super::writer::crc32c;
use super::{Folder, kinds};

/// Batches of five records without content, beginning at each offset.
fn batches(offsets: &[u64]) -> Vec<u8> {
    let batch = |&offset: &u64| {
        let mut covered = 0_u16.to_be_bytes().to_vec();
        covered.extend(4_u32.to_be_bytes());
        covered.extend([1_u64.to_be_bytes(), 1_u64.to_be_bytes()].concat());
        covered.extend([0xff; 14]);
        covered.extend(5_u32.to_be_bytes());
        covered.extend([b'r'; 50]);
        let mut bytes = offset.to_be_bytes().to_vec();
        let length = u32::try_from(4 + 1 + 4 + covered.len()).unwrap();
        bytes.extend(length.to_be_bytes());
        bytes.extend(0_u32.to_be_bytes());
        bytes.push(2);
        bytes.extend(crc32c(0, &covered).to_be_bytes());
        bytes.extend(covered);
        bytes
    };
    offsets.iter().flat_map(batch).collect()
}

fn partition(name: &str, files: &[(u64, &[u64])]) -> Folder {
    let folder = Folder::new();
    for (base, offsets) in files {
        folder.write(&format!("{name}/{base:020}.log"), &batches(offsets));
    }
    folder
}

#[test]
fn offsets_left_out_between_two_files_are_noted() {
    let wal = partition("t-0", &[(0, &[0, 5]), (20, &[20, 25])]).wal();
    assert_eq!(wal.verdict(), Verdict::Clean);
    let note = wal.notes.iter().find(|it| it.lsn == Some(Lsn(10))).unwrap();
    assert_eq!(note.segment.as_deref(), Some("00000000000000000020.log"));
    assert!(
        note.why.starts_with("10..19 are in no segment"),
        "{}",
        note.why
    );
    let wal = partition("t-0", &[(0, &[0, 5]), (10, &[10])]).wal();
    assert!(wal.notes.iter().all(|it| it.kind != NoteKind::Info));
}

#[test]
fn the_clusters_own_log_leaves_none_out() {
    const NAME: &str = "__cluster_metadata-0";
    let wal = partition(NAME, &[(0, &[0, 5]), (10, &[10])]).wal();
    assert_eq!(wal.verdict(), Verdict::Clean, "{:?}", wal.problems);
    let wal = partition(NAME, &[(0, &[0, 15])]).wal();
    assert_eq!(kinds(&wal), [ProblemKind::Jump]);
    assert_eq!(wal.problems[0].expected, Some(Lsn(5)));
    let folder = partition(NAME, &[(0, &[0, 5]), (20, &[20])]);
    assert_eq!(kinds(&folder.wal()), [ProblemKind::Gap]);
    // Everything below the offset in its name is in a checkpoint: too little here, enough there.
    let checkpoint = |end: u64| format!("{NAME}/{end:020}-0000000001.checkpoint");
    folder.write(&checkpoint(19), b"");
    assert_eq!(kinds(&folder.wal()), [ProblemKind::Gap]);
    folder.write(&checkpoint(20), b"");
    let wal = folder.wal();
    assert_eq!(wal.verdict(), Verdict::Clean, "{:?}", wal.problems);
    let explained = |it: &casdiag::layout::Note| it.kind == NoteKind::GapExplainedBySnapshot;
    assert!(wal.notes.iter().any(explained));
}
