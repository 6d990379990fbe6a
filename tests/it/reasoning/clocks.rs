//! Clocks that are apart: estimated from records that two nodes have of one event, and said.

use std::fmt::Write as _;

use casdiag::report::model::{Report, SkewKind};

use crate::product::Folder;

/// `10:00:SS.mmm000` of a millisecond.
fn at(milliseconds: u64) -> String {
    let (seconds, milliseconds) = (milliseconds / 1_000, milliseconds % 1_000);
    format!("2026.09.01 10:00:{seconds:02}.{milliseconds:03}000")
}

/// Fetches of n1 from n2, whose clock is `ahead` milliseconds ahead: 10 ms until it sends, 20 ms more until the part is there.
fn fetches(count: u64, ahead: u64) -> Report {
    let (mut n1, mut n2) = (String::new(), String::new());
    for number in 0..count {
        let part = format!("all_{number}_{number}_0");
        let time = 1_000 * number + 100;
        let table = "shop.t (Replicated PartsService)";
        let (asked, sent, done) = (at(time), at(time + 10 + ahead), at(time + 30));
        writeln!(
            n1,
            "{asked} [ 7 ] {{}} <Debug> shop.t (0a): Fetching part {part} from /t/replicas/n2"
        )
        .unwrap();
        writeln!(n2, "{sent} [ 8 ] {{}} <Trace> {table}: Sending part {part}").unwrap();
        writeln!(
            n1,
            "{done} [ 7 ] {{}} <Debug> shop.t (0a): Fetched part {part} from /t/replicas/n2"
        )
        .unwrap();
    }
    let folder = Folder::new();
    folder.put("n1/clickhouse-server.log", n1);
    folder.put("n2/clickhouse-server.log", n2);
    folder.report()
}

#[test]
fn a_clock_that_is_ahead_is_told_with_its_pairs_and_spread_and_no_stamp_is_moved() {
    let report = fetches(20, 500);
    let clock = &report.clocks[0];
    assert_eq!(report.clocks.len(), 1);
    assert_eq!((clock.node.as_str(), clock.against.as_str()), ("n2", "n1"));
    // Asked and sent are 510 ms apart, sent and fetched 480: 495 ms, 15 ms more or less.
    assert!(
        (clock.ahead_s - 0.495).abs() < 1e-9 && (clock.spread_s - 0.015).abs() < 1e-9,
        "{clock:?}"
    );
    assert_eq!((clock.pairs, clock.kind), (40, SkewKind::Between));
    let sent = report
        .signals
        .iter()
        .find(|row| row.signal == "part-sent")
        .unwrap();
    assert_eq!(sent.first.as_deref(), Some("2026-09-01T10:00:00.610000"));
}

#[test]
fn clocks_that_agree_within_the_way_between_them_are_told_too() {
    let clock = &fetches(20, 0).clocks[0];
    assert!(clock.ahead_s.abs() <= clock.spread_s, "{clock:?}");
}

#[test]
fn of_few_pairs_nothing_is_said() {
    assert_eq!(fetches(3, 500).clocks.len(), 0);
}

#[test]
fn pairs_that_go_one_way_bound_a_clock_from_one_side() {
    // The source answers at :00.100 by its clock, and the receiver gives up 20 ms later by its own, which is a second behind.
    let (mut n1, mut n2) = (String::new(), String::new());
    for number in 0..9 {
        let part = format!("all_{number}_{number}_0");
        let time = 2_000 * number + 1_100;
        writeln!(n2, "{} [ 8 ] {{}} <Debug> q.s (94c6) (Replicated PartsService): Relink confirm is unproven (unknown) for ref '{part}' (part {part}, manifest 1:1:1) in namespace 'n'", at(time)).unwrap();
        writeln!(n1, "{} [ 7 ] {{}} <Error> q.s (94c6): Code: 210. DB::Exception: Source n2 did not prove it still holds the manifest it offered for part {part} by relink; the relink is abandoned and the fetch will be retried later. (NETWORK_ERROR)", at(time - 1_000 + 20)).unwrap();
    }
    let folder = Folder::new();
    folder.put("n1/clickhouse-server.log", n1);
    folder.put("n2/clickhouse-server.log", n2);
    let report = folder.report();
    let clock = &report.clocks[0];
    // n2 wrote first: whatever the way took, its clock is at least 980 ms ahead.
    assert_eq!((clock.pairs, clock.kind), (9, SkewKind::AtLeast));
    assert!((clock.ahead_s - 0.98).abs() < 1e-9, "{clock:?}");
}
