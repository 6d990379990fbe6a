//! A log of `PostgreSQL`, damaged on purpose: old segments, changed records, records over two segments, timelines.

use casdiag::layout::{NoteKind, ProblemKind, Verdict};
use casdiag::vocab::Lsn;

use super::others::case;
use super::{check, kinds, output};

const PG: &str = "postgresql/missing-middle";

fn pg(segment: u8) -> String {
    format!("n1/pg_wal/00000001{segment:016X}")
}

#[test]
fn postgresql_old_segments_are_legal_behind_the_end_and_damage_before_it() {
    let folder = case(PG);
    let (old, zero) = (folder.read(&pg(0x0b)), vec![0; 1 << 20]);
    folder.remove(&pg(0x0b));
    folder.remove(&pg(0x0c));
    folder.write(&pg(0x0f), &old);
    folder.write(&pg(0x10), &zero);
    let wal = folder.wal();
    assert_eq!(
        kinds(&wal),
        [ProblemKind::TornTail],
        "the last record goes on in the segment that has none of it"
    );
    assert_eq!(wal.verdict(), Verdict::CrashResidue);
    let at = |kind| {
        wal.notes
            .iter()
            .find(|note| note.kind == kind)
            .and_then(|note| note.segment.clone())
    };
    assert_eq!(
        at(NoteKind::RecycledSegment).as_deref(),
        Some("00000001000000000000000F")
    );
    assert_eq!(
        at(NoteKind::ZeroSegment).as_deref(),
        Some("000000010000000000000010")
    );
    let folder = case(PG);
    folder.write(&pg(0x0d), &old);
    let wal = folder.wal();
    assert_eq!(kinds(&wal), [ProblemKind::MissingRange]);
    folder.write(&pg(0x0d), &zero);
    assert_eq!(kinds(&folder.wal()), [ProblemKind::EmptySegment]);
    folder.write(&pg(0x0d), &folder.read(&pg(0x0e)));
    assert_eq!(kinds(&folder.wal()), [ProblemKind::NameMismatch]);
}

#[test]
fn postgresql_a_changed_record_is_told_from_the_end_of_the_log() {
    let folder = case(PG);
    folder.remove(&pg(0x0b));
    folder.remove(&pg(0x0c));
    folder.flip(&pg(0x0e), 500_000);
    let wal = folder.wal();
    assert_eq!(kinds(&wal), [ProblemKind::Checksum]);
    let whole = 11_254;
    let detail = &wal.problems[0].detail;
    let behind: u64 = detail
        .split("behind it ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    // All but the changed one, and one that runs over the edge of the page where reading goes on may be passed over.
    assert!(
        wal.records + behind + 2 >= whole && wal.records + behind < whole,
        "{detail}"
    );
    let folder = case(PG);
    folder.remove(&pg(0x0b));
    folder.remove(&pg(0x0c));
    folder.change(&pg(0x0e), |bytes| bytes[500_000..].fill(0));
    let wal = folder.wal();
    assert_eq!(kinds(&wal), [ProblemKind::TornTail]);
    assert_eq!(wal.verdict(), Verdict::CrashResidue);
}

#[test]
fn postgresql_a_record_over_two_segments_is_verified_in_the_second() {
    let folder = case("postgresql/real-15-primary-killed");
    // Its first page goes on with the last eight bytes of a record of the segment before, behind the long header.
    folder.flip("n1/pg_wal/000000010000000000000014", 42);
    let wal = folder.wal();
    assert_eq!(wal.problems.len(), 1, "{:?}", kinds(&wal));
    assert!(
        wal.problems[0].detail.contains("ends here"),
        "{}",
        wal.problems[0].detail
    );
}

#[test]
fn postgresql_timelines_of_two_servers_are_told_apart() {
    let folder = case("postgresql/real-15-promoted");
    let inspection = check(folder.path());
    let comparison = &inspection.comparisons[0];
    let (range, left, right) = &comparison.differing[0];
    assert_eq!((left.as_str(), right.as_str()), ("a", "b"));
    assert_eq!(
        range.first,
        Lsn(0x0080_cf20),
        "from the switch in the history file on"
    );
    let text = output("text", &inspection);
    assert!(text.contains("0/80CF20..0/81"), "{text}");
}
