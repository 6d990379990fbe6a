//! Several nodes side by side, and the records of one segment.

use casdiag::vocab::Lsn;

use super::others::case;
use super::writer::{entries, payload, reference, reference_record};
use super::{Folder, casdiag, check, misfiled, output};

#[test]
fn a_failover_onto_a_node_with_misfiled_records_is_foretold() {
    let folder = Folder::new();
    misfiled(&folder);
    folder.write(
        "ctrl-1/seg-0000000000000001.wal",
        &reference(1, 7, &entries(1..=323, 20)),
    );
    let whole = [entries(1..=305, 20), entries(306..=348, 21)].concat();
    folder.write("ctrl-3/seg-0000000000000001.wal", &reference(1, 7, &whole));
    let inspection = check(folder.path());
    let comparison = &inspection.comparisons[0];
    let stall = comparison
        .forecasts
        .iter()
        .find(|stall| stall.primary == "ctrl-2" && stall.standby == "ctrl-1")
        .unwrap();
    assert_eq!(
        (stall.at, stall.lacks.first, stall.lacks.last),
        (Lsn(323), Lsn(324), Lsn(348))
    );
    assert_eq!(stall.held_by.as_deref(), Some("seg-0000000000000001.wal"));
    assert!(
        comparison
            .forecasts
            .iter()
            .all(|stall| stall.primary == "ctrl-2"),
        "{:?}",
        comparison.forecasts
    );
    let nodes: Vec<_> = comparison
        .nodes
        .iter()
        .map(|node| (node.node.as_str(), node.end, node.serves_from))
        .collect();
    assert_eq!(
        nodes,
        [
            ("ctrl-1", Some(Lsn(323)), Some(Lsn(1))),
            ("ctrl-2", Some(Lsn(305)), None),
            ("ctrl-3", Some(Lsn(348)), Some(Lsn(1)))
        ]
    );
    let text = output("text", &inspection);
    assert!(text.contains("if ctrl-2 becomes primary, ctrl-1 (at 323) stalls: it needs 324..348, which only seg-0000000000000001.wal holds"), "{text}");
    // 306..323 have term 20 on one and term 21 on the other.
    assert!(
        text.contains("306..323 have other terms on ctrl-1 than on ctrl-2"),
        "{text}"
    );
}

#[test]
fn nodes_of_different_runs_are_not_compared() {
    let folder = Folder::new();
    for run in ["run-1", "run-2"] {
        folder.write(
            &format!("{run}/ctrl-1/seg-0000000000000001.wal"),
            &reference(1, 7, &entries(1..=9, 1)),
        );
    }
    let inspection = check(folder.path());
    assert!(inspection.comparisons.is_empty());
    let nodes: Vec<&str> = inspection
        .wals
        .iter()
        .map(|wal| wal.node.as_str())
        .collect();
    assert_eq!(nodes, ["run-1/ctrl-1", "run-2/ctrl-1"]);
}

#[test]
fn a_dump_prints_records_with_their_offsets() {
    let folder = Folder::new();
    folder.write(
        "seg-0000000000000001.wal",
        &reference(1, 7, &entries(1..=9, 4)),
    );
    let file = folder.path().join("seg-0000000000000001.wal");
    let (code, text) = casdiag(&[
        "wal",
        "dump",
        file.to_str().unwrap(),
        "--from",
        "3",
        "--to",
        "0x4",
    ]);
    assert_eq!(code, 0);
    let offset = reference(1, 7, &entries(1..=2, 4)).len();
    let size = reference_record(3, 4, &payload(3)).len();
    let line = format!(
        "{offset:>12} {size:>9} {:>14} {:>6}  record, 12 bytes",
        3, 4
    );
    assert!(text.contains(&line), "{text}");
    assert_eq!(text.lines().count(), 4, "{text}");
}

#[test]
fn a_dump_of_a_file_that_tells_nothing_goes_by_its_place_and_by_what_stands_beside_it() {
    let dump = |folder: &Folder, file: &str| {
        let path = folder.path().join(file);
        casdiag(&["wal", "dump", path.to_str().unwrap()])
    };
    let folder = case("prometheus/real");
    let (code, text) = dump(&folder, "wal/00000002");
    assert_eq!(code, 0, "0 bytes are legal: {text}");
    // The same with nothing beside it.
    let alone = Folder::new();
    alone.write("00000002", b"");
    let (code, text) = dump(&alone, "00000002");
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("no known layout"), "{text}");
    // A segment that was made ahead and holds zero bytes.
    let folder = case("postgresql/missing-middle");
    let ahead = "n1/pg_wal/00000001000000000000000F";
    folder.write(ahead, &vec![0; 1 << 20]);
    let (_, text) = dump(&folder, ahead);
    assert!(!text.contains("no known layout"), "{text}");
    // Of a tombstone alone only the folder tells whether it is of a stream or of a group: 22 bytes, no subject, no content, a hash.
    let mut tombstone = 30_u32.to_le_bytes().to_vec();
    tombstone.extend(((1_u64 << 62) + 652).to_le_bytes());
    tombstone.extend([0; 18]);
    let folder = Folder::new();
    let file = "$SYS/_js_/S-R3F-abc/msgs/2.blk";
    folder.write(file, &tombstone);
    let (code, text) = dump(&folder, file);
    assert_eq!(code, 1, "its hash is wrong, and the key is known: {text}");
}
