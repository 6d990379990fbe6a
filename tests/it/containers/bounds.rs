//! Bombs, nests and floods stop at bounds that their messages name, and the rest is read.

use super::damage::noisy;
use super::pack::{DEFLATED, Files, PACKINGS, STORED, ZipMember, tar, xz, zip, zip_of, zst};
use super::{beside, line, refused};
use crate::product::{Folder, analyze, gzip, plan, report_of};

const MIB: usize = 1 << 20;

/// Noughts that any packing makes a thousand times smaller.
fn noughts() -> Vec<u8> {
    vec![0; 24 * MIB]
}

#[test]
fn a_bomb_is_refused_by_name_and_the_rest_is_read() {
    let best = |bytes: &[u8]| {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::Write::write_all(&mut packer, bytes).unwrap();
        packer.finish().unwrap()
    };
    let bomb = best(&noughts());
    assert!(noughts().len() / bomb.len() >= 1000);
    let inner: Files = vec![
        ("bomb.gz".into(), bomb.clone()),
        ("n2/clickhouse-server.log".into(), line(1).into()),
    ];
    let long: Files = vec![
        ("n2/clickhouse-server.log".into(), line(1).into()),
        ("z/bomb".into(), noughts()),
    ];
    for (name, bytes, records, culprit) in [
        ("bomb.gz", bomb, 1, "bomb.gz"),
        ("bomb.zst", zst(&noughts()), 1, "bomb.zst"),
        ("bomb.xz", xz(&noughts()), 1, "bomb.xz"),
        ("a.tar", tar(&inner), 2, "bomb.gz"),
        ("a.tar.xz", xz(&tar(&inner)), 2, "bomb.gz"),
        ("a.zip", zip(&long, DEFLATED), 2, "bomb"),
        ("a.tar.gz", best(&tar(&long)), 2, "a.tar.gz"),
    ] {
        let folder = beside(name, bytes);
        let report = folder.report();
        assert_eq!(
            (report.records.total, report.complete),
            (records, false),
            "{name}"
        );
        let listed = refused(&report);
        assert_eq!(listed.len(), 1, "{name}: {listed:?}");
        assert_eq!(listed[0].0, culprit);
        assert!(listed[0].1.contains("--max-ratio"), "{listed:?}");
        assert!(
            culprit != "a.tar.gz" || listed[0].1.contains("z/bomb"),
            "{listed:?}"
        );
        assert_eq!(analyze(folder.path(), &[]).code, Some(3), "{name}");
        let lifted = analyze(folder.path(), &["--max-ratio", "100000000"]);
        assert_eq!(lifted.code, Some(0), "{name}: {lifted:?}");
    }
}

#[test]
fn a_log_that_turns_into_a_bomb_is_read_up_to_the_bound() {
    let text: String = (0..4000).map(noisy).collect();
    let mut bytes = text.into_bytes();
    bytes.resize(120 * MIB, b'\n');
    let report = beside("n2/clickhouse-server.log.0.xz", xz(&bytes)).report();
    assert!(!report.complete);
    let input = report.inputs.iter().find(|it| it.node == "n2").unwrap();
    assert_eq!(input.records, 4000);
    assert!(
        input
            .problems
            .iter()
            .any(|it| it.detail.contains("--max-ratio")),
        "{:?}",
        input.problems
    );
}

#[test]
fn a_nest_of_forty_is_refused_at_the_bound_and_the_rest_is_read() {
    for method in [STORED, DEFLATED] {
        let mut nest = zip(
            &vec![("deep/clickhouse-server.log".into(), line(1).into())],
            method,
        );
        for level in 0..40 {
            let files: Files = vec![
                (format!("n{level}/clickhouse-server.log"), line(1).into()),
                ("nest.zip".into(), nest),
            ];
            nest = zip(&files, method);
        }
        let report = beside("nest.zip", nest).report();
        // Eight archives are opened, each with a log; one log lies beside them.
        assert_eq!((report.records.total, report.complete), (9, false));
        let listed = refused(&report);
        assert_eq!(listed.len(), 1);
        assert!(listed[0].1.contains("--max-nesting"), "{listed:?}");
    }
}

#[test]
fn a_file_packed_forty_times_is_refused() {
    for (suffix, pack) in PACKINGS {
        let nest = (0..40).fold(line(1).into_bytes(), |bytes, _| pack(&bytes));
        let report = beside("n2/clickhouse-server.log", nest).report();
        assert_eq!(
            (report.records.total, report.complete),
            (1, false),
            "{suffix}"
        );
        assert!(refused(&report)[0].1.contains("--max-nesting"), "{suffix}");
    }
}

#[test]
fn the_bounds_on_members_and_bytes_are_flags() {
    let files: Files = (0..50)
        .map(|n| (format!("n{n:02}/clickhouse-server.log"), line(n).into()))
        .collect();
    for bytes in [tar(&files), gzip(&tar(&files)), zip(&files, DEFLATED)] {
        let folder = beside("a", bytes);
        let mut few = plan(folder.path());
        few.bounds.members = 20;
        let report = report_of(&few);
        assert!(!report.complete && report.records.total <= 21);
        assert!(
            refused(&report)[0].1.contains("--max-members"),
            "{:?}",
            refused(&report)
        );
        few.bounds.members = 50;
        let report = report_of(&few);
        assert_eq!((report.records.total, report.complete), (51, true));
    }
    let folder = beside("a", gzip(&tar(&files)));
    let mut small = plan(folder.path());
    small.bounds.unpacked = 20_000;
    let report = report_of(&small);
    assert!(!report.complete && report.records.total > 1 && report.records.total < 51);
    assert!(
        refused(&report)
            .iter()
            .any(|(_, why)| why.contains("--max-unpacked"))
    );
    for flag in [
        "--max-members",
        "--max-unpacked",
        "--max-ratio",
        "--max-nesting",
    ] {
        assert_eq!(analyze(folder.path(), &[flag, "x"]).code, Some(2), "{flag}");
    }
}

#[test]
fn what_is_no_log_in_a_packed_archive_is_listed_with_its_size() {
    let mut state = 1_u64;
    let noise = std::iter::repeat_with(|| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        state.to_be_bytes()[0]
    });
    let noise: Vec<u8> = noise.take(4 * MIB).collect();
    let files: Files = vec![
        ("core.bin".into(), noise),
        ("n1/clickhouse-server.log".into(), line(1).into()),
    ];
    let folder = Folder::with("a.tar.gz", gzip(&tar(&files)));
    let report = folder.report();
    assert_eq!((report.records.total, report.complete), (1, true));
    let input = report
        .inputs
        .iter()
        .find(|it| it.path.ends_with("core.bin"))
        .unwrap();
    assert_eq!((input.format.as_str(), input.bytes), ("unknown", 4 << 20));
}

#[test]
fn a_zip_that_states_more_members_than_allowed_is_not_even_listed() {
    let member = ZipMember::new(b"n2/clickhouse-server.log", DEFLATED, line(1).as_bytes());
    let mut bytes = zip_of(&[member]);
    let end = memchr::memmem::rfind(&bytes, b"PK\x05\x06").unwrap();
    bytes[end + 8..end + 12].copy_from_slice(&[0xfe; 4]);
    let folder = beside("a.zip", bytes);
    let mut few = plan(folder.path());
    few.bounds.members = 1000;
    let report = report_of(&few);
    assert_eq!(report.records.total, 1);
    assert!(
        refused(&report)[0].1.contains("--max-members"),
        "{:?}",
        refused(&report)
    );
}
