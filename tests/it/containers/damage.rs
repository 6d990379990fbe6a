//! Torn and spoiled archives: what can be read is read, and the report says that it is not all.

use super::pack::{DEFLATED, Files, PACKINGS, STORED, ZipMember, tar, zip, zip_of};
use super::{beside, line, refused};
use crate::product::{Folder, gzip, record};

/// A line that packs badly.
pub(super) fn noisy(number: u32) -> String {
    let mut state = u64::from(number);
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (state ^ (state >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    let message = format!("tick {:x} {:x} {:x}", next(), next(), next());
    record(
        &format!("10:00:{:02}.000000", number % 60),
        "Debug",
        "Alive",
        &message,
    )
}

/// Logs of ten nodes, each of so many records that its last lies far from its first.
fn logs() -> Files {
    let text = |n: u32| (0..2000).map(|i| noisy(2000 * n + i)).collect::<String>();
    let name = |n| format!("n{n}/clickhouse-server.log");
    (0..10).map(|n| (name(n), text(n).into_bytes())).collect()
}

const EACH: u64 = 2000;

/// The archives of these logs in every format.
fn archives() -> Vec<(String, Vec<u8>)> {
    super::archives(&logs())
}

#[test]
fn a_torn_archive_is_read_up_to_the_tear() {
    for (name, mut bytes) in archives() {
        let whole = Folder::with(&name, &bytes).report();
        assert_eq!(
            (whole.records.total, whole.complete),
            (10 * EACH, true),
            "{name}"
        );
        bytes.truncate(bytes.len() * 7 / 10);
        let report = beside(&name, &bytes).report();
        assert!(!report.complete, "{name}");
        assert!(
            report.records.total < 10 * EACH,
            "{name}: {}",
            report.records.total
        );
        assert!(
            report.records.total >= 5 * EACH,
            "{name}: {}",
            report.records.total
        );
        assert!(!refused(&report).is_empty(), "{name}");
    }
}

#[test]
fn a_torn_packed_file_is_said_wherever_it_is_torn() {
    let text: String = (0..40).map(line).collect();
    for (suffix, pack) in PACKINGS {
        let packed = pack(text.as_bytes());
        for length in 1..packed.len() {
            let report = beside(
                &format!("n2/clickhouse-server.log.0.{suffix}"),
                &packed[..length],
            )
            .report();
            assert!(report.records.total <= 41, "{suffix} {length}");
            let input = report
                .inputs
                .iter()
                .find(|it| it.path.contains("/n2/"))
                .unwrap();
            let said = !input.problems.is_empty() || input.format == "unknown";
            assert!(
                said && (!report.complete || input.format == "unknown"),
                "{suffix} {length}: {input:?}"
            );
        }
    }
}

#[test]
fn a_spoiled_archive_neither_stops_the_program_nor_passes_for_whole() {
    for (name, bytes) in archives() {
        let mut spoiled = bytes.clone();
        // In a zip, behind the header of a member: what a header states a second time may be spoiled unseen.
        let member = memchr::memmem::find_iter(&bytes, b"PK\x03\x04").nth(4);
        let middle = member.map_or(spoiled.len() / 2, |at| at + 100);
        spoiled[middle..middle + 64].fill(0xa5);
        let report = beside(&name, &spoiled).report();
        assert!(report.records.total >= 1, "{name}");
        // A tar or a stored log has no checksum of its bytes: its bad line is a line that is no record.
        let seen = !report.complete || report.inputs.iter().any(|it| !it.problems.is_empty());
        assert!(seen, "{name}");
    }
}

#[test]
fn a_broken_header_loses_one_member_of_a_tar() {
    let files = logs();
    let member = tar(&files[..1].to_vec()).len() - 1024;
    for pack in [
        (|bytes: &[u8]| bytes.to_vec()) as fn(&[u8]) -> Vec<u8>,
        gzip,
    ] {
        let mut bytes = tar(&files);
        bytes[3 * member..3 * member + 100].fill(0xee);
        let report = Folder::with("a.tar", pack(&bytes)).report();
        assert_eq!((report.records.total, report.complete), (9 * EACH, false));
    }
}

#[test]
fn a_zip_without_its_directory_is_read_by_the_headers_of_its_members() {
    for method in [STORED, DEFLATED] {
        let files = logs();
        let mut bytes = zip(&files, method);
        let directory = memchr::memmem::find(&bytes, b"PK\x01\x02").unwrap();
        bytes.truncate(directory);
        let report = Folder::with("a.zip", &bytes).report();
        assert_eq!((report.records.total, report.complete), (10 * EACH, false));
    }
    // Members whose sizes stand behind them, as `zip -` and upload actions write them.
    let members: Vec<ZipMember> = logs()
        .iter()
        .map(|(name, text)| ZipMember {
            flags: 8,
            ..ZipMember::new(name.as_bytes(), DEFLATED, text)
        })
        .collect();
    let bytes = zip_of(&members);
    let whole = Folder::with("a.zip", &bytes).report();
    assert_eq!((whole.records.total, whole.complete), (10 * EACH, true));
    let directory = memchr::memmem::find(&bytes, b"PK\x01\x02").unwrap();
    let report = Folder::with("a.zip", &bytes[..directory]).report();
    assert_eq!((report.records.total, report.complete), (10 * EACH, false));
    let report = Folder::with("a.zip", &bytes[..directory * 6 / 10]).report();
    assert!(report.records.total >= 5 * EACH && report.records.total < 7 * EACH);
    assert!(!report.complete);
}

#[test]
fn a_bomb_in_a_zip_without_its_directory_is_refused() {
    let streamed = |name: &str, bytes: &[u8]| ZipMember {
        flags: 8,
        ..ZipMember::new(name.as_bytes(), DEFLATED, bytes)
    };
    let bytes = zip_of(&[
        streamed("z/bomb.log", &vec![0; 64 << 20]),
        streamed("n2/clickhouse-server.log", line(1).as_bytes()),
    ]);
    let directory = memchr::memmem::find(&bytes, b"PK\x01\x02").unwrap();
    let report = beside("a.zip", &bytes[..directory]).report();
    assert_eq!((report.records.total, report.complete), (2, false));
    let bomb = refused(&report)
        .into_iter()
        .find(|(name, _)| *name == "bomb.log");
    assert!(bomb.unwrap().1.contains("--max-ratio"));
}

#[test]
fn a_member_with_a_wrong_checksum_is_said() {
    let member = ZipMember {
        crc: 7,
        ..ZipMember::new(b"n2/clickhouse-server.log", DEFLATED, line(1).as_bytes())
    };
    let report = beside("a.zip", zip_of(&[member])).report();
    assert!(!report.complete);
    let input = report.inputs.iter().find(|it| it.node == "n2").unwrap();
    assert!(
        input
            .problems
            .iter()
            .any(|it| it.detail.contains("checksum")),
        "{input:?}"
    );
}
