//! Listings of WAL folders beside logs: which names are left out, cited at their lines, and what is no listing.

use casdiag::report::model::{Finding, Report};
use casdiag::vocab::Severity;

use crate::product::{Folder, analyze, findings, fired, input, problems, record};

/// A log of a server that has nothing to say of its WAL.
pub(super) fn log() -> String {
    record(
        "10:00:00.000000",
        "Information",
        "Application",
        "Ready for connections.",
    )
}

/// What `ls -l` prints of Keeper's changelogs with these ranges.
pub(super) fn long(ranges: &[(u64, u64)]) -> String {
    let line = |(from, to): &(u64, u64)| {
        format!("-rw-r----- 1 keeper keeper   21M Jul 20 02:10 changelog_{from}_{to}.bin.zstd\n")
    };
    format!("total 88M\n{}", ranges.iter().map(line).collect::<String>())
}

/// What the listings of one node beside a log show.
fn told(listings: &[(&str, &str)]) -> Report {
    let folder = Folder::with("k1/clickhouse-keeper.log", log());
    for (name, text) in listings {
        folder.put(&format!("k1/{name}"), text);
    }
    folder.report()
}

fn gap(report: &Report) -> &Finding {
    let found = findings(report, "wal-listing-gap");
    assert_eq!(found.len(), 1, "{:?}", fired(report));
    found[0]
}

#[test]
fn names_left_out_are_told_at_the_line_behind_them() {
    let text = long(&[(1, 100), (101, 200), (301, 400), (501, 600)]);
    let report = told(&[("coordination-log.ls.txt", &text)]);
    let listing = input(&report, "coordination-log.ls.txt");
    assert_eq!(
        (
            listing.format.as_str(),
            listing.node.as_str(),
            listing.records
        ),
        ("wal-listing", "k1", 0)
    );
    assert_eq!(problems(listing), []);
    let gap = gap(&report);
    assert_eq!(
        (gap.severity, gap.counts["absent"], gap.counts["unnumbered"]),
        (Severity::High, 2, 0)
    );
    let cited: Vec<(u64, &str)> = gap
        .evidence
        .iter()
        .map(|it| (it.line, it.text.as_str()))
        .collect();
    assert_eq!(
        cited,
        [
            (
                4,
                "no file for 201..300: changelog_301_400.bin.zstd (size 21M) follows changelog_101_200.bin.zstd (size 21M); 4 segments are listed"
            ),
            (
                5,
                "no file for 401..500: changelog_501_600.bin.zstd (size 21M) follows changelog_301_400.bin.zstd (size 21M); 4 segments are listed"
            ),
        ]
    );
    assert!(gap.title.contains("2 stretches of positions without a file, the first 201..300, before changelog_301_400.bin.zstd"), "{}", gap.title);
    // Nobody knows why a file is not there.
    assert!(gap.not_excluded.join(" ").contains("interrupted") && gap.accused.is_empty());
    assert_eq!(fired(&report), ["wal-listing-gap"]);
}

/// Files with two of four positions each: a hole between each two.
#[test]
fn more_holes_than_are_told_are_counted_all() {
    let ranges: Vec<(u64, u64)> = (0..2_500).map(|at| (4 * at + 1, 4 * at + 2)).collect();
    let report = told(&[("ls.txt", &long(&ranges))]);
    assert_eq!(problems(input(&report, "ls.txt")), []);
    assert!(report.complete);
    let gap = gap(&report);
    assert_eq!(gap.counts["absent"], 2_499);
    let said = "2,499 stretches of positions without a file, the first 3..4,";
    assert!(gap.title.contains(said), "{}", gap.title);
}

#[test]
fn a_whole_listing_is_read_and_says_nothing() {
    let report = told(&[("ls.txt", &long(&[(1, 100), (101, 200), (201, 300)]))]);
    assert_eq!(input(&report, "ls.txt").format, "wal-listing");
    assert_eq!(fired(&report), [""; 0]);
}

#[test]
fn listings_of_one_node_are_one_log_and_those_of_two_are_two() {
    let torn = long(&[(1, 100), (201, 300)]);
    let rest = long(&[(101, 200), (301, 400)]);
    // Two disks of one node.
    assert_eq!(
        fired(&told(&[("a.txt", &torn), ("b.txt", &long(&[(101, 200)]))])),
        [""; 0]
    );
    // The same, and a hole of its own in the second.
    let report = told(&[("a.txt", &torn), ("b.txt", &rest)]);
    assert_eq!(fired(&report), [""; 0], "each has what the other lacks");
    let folder = Folder::with("k1/clickhouse-keeper.log", log());
    folder.put("k2/clickhouse-keeper.log", log());
    folder.put("k1/ls.txt", &torn);
    folder.put("k2/ls.txt", long(&[(101, 200)]));
    let report = folder.report();
    assert_eq!(gap(&report).reported_by, ["k1"]);
}

#[test]
fn numbers_left_out_are_told_without_positions() {
    let text = "$ ls member/wal\n0000000000000000-0000000000000000.wal\n0000000000000001-0000000000000038.wal\n0000000000000003-0000000000000070.wal\n0.tmp\n";
    let report = told(&[("etcd.ls", text)]);
    let gap = gap(&report);
    assert_eq!((gap.counts["absent"], gap.counts["unnumbered"]), (0, 1));
    assert_eq!(gap.evidence[0].line, 4);
    assert!(
        gap.evidence[0].text.starts_with("number 2 is missing: "),
        "{:?}",
        gap.evidence
    );
    assert!(gap.title.contains("1 hole in the numbers of the files, the first before 0000000000000003-0000000000000070.wal"), "{}", gap.title);
    assert!(!gap.title.contains("n/o"), "{}", gap.title);
}

#[test]
fn a_listing_alone_is_an_input_and_ends_as_a_finding_does() {
    let folder = Folder::with("listing.txt", long(&[(1, 100), (201, 300)]));
    let ran = analyze(folder.path(), &["--format", "json"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(findings(&ran.report(), "wal-listing-gap").len(), 1);
    let whole = Folder::with("listing.txt", long(&[(1, 100), (101, 200)]));
    assert_eq!(analyze(whole.path(), &["--format", "json"]).code, Some(0));
}

#[test]
fn what_only_quotes_a_listing_is_none() {
    let listing = long(&[(1, 100), (201, 300)]);
    let quoted = record(
        "10:00:01.000000",
        "Error",
        "Application",
        &format!("the folder:\n{listing}"),
    );
    for (name, text) in [
        ("clickhouse-keeper.err.log", quoted),
        ("ticket.md", listing.clone()),
        (
            "mail.txt",
            format!(
                "Hello,\nthis is what we have.\nIt was all there on Monday, I think.\n{listing}Can you help?\nBest regards\n"
            ),
        ),
        (
            "files.txt",
            "clickhouse-server.log\nconfig.xml\nchangelog_1_100.bin.zstd\n".to_owned(),
        ),
    ] {
        let report = told(&[(name, &text)]);
        assert!(
            report.inputs.iter().all(|it| it.format != "wal-listing"),
            "{name}"
        );
        assert!(findings(&report, "wal-listing-gap").is_empty(), "{name}");
    }
}
