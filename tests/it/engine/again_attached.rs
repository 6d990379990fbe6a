//! Report 001's shape run again: three servers, partitions attached to eight tables over 4 h 44 min. What is expected is
//! what the writer of the logs counted.

use casdiag::replay::{Compared, Counts, Replayed, TOLERANCE, replay};

use crate::product::{Folder, report};
use crate::report001::{NodeTruth, Plan, Truth, write};

/// A tenth of the report, run again.
fn tenth() -> (Truth, Replayed) {
    let folder = Folder::new();
    let plan = Plan {
        scale: 10,
        seed: 1,
        new_era: false,
    };
    let truth = write(&plan, folder.path());
    let replayed = replay(&report(folder.path()));
    let [one] = &replayed[..] else {
        panic!("{replayed:?}");
    };
    (truth, one.clone())
}

fn row<'r>(one: &'r Replayed, what: &str, node: &str) -> &'r Compared {
    let mut rows = one.compared.iter();
    let found = rows.find(|it| it.what == what && it.node == node);
    found.unwrap_or_else(|| panic!("{what} at {node}: {:#?}", one.compared))
}

#[test]
fn a_tenth_of_report_001_is_run_again_from_what_its_records_show() {
    let (truth, one) = tenth();
    for (what, counts) in [
        (
            "refused",
            truth.nodes.iter().map(|it| it.refusals).collect::<Vec<_>>(),
        ),
        (
            "finished",
            truth.nodes.iter().map(|it| it.finished).collect(),
        ),
        (
            "parts missing",
            truth.nodes.iter().map(NodeTruth::missing).collect(),
        ),
    ] {
        for (node, counted) in truth.nodes.iter().zip(&counts) {
            let row = row(&one, what, node.name);
            assert_eq!(row.observed, Some(*counted), "{row:?}");
            // Nothing says which source held whom back, so only sums are compared.
            assert_eq!(row.counts, Counts::InTotal);
        }
        let row = row(&one, what, "all servers");
        assert_eq!(row.counts, Counts::Yes);
        assert_eq!(row.observed, Some(counts.iter().sum()), "{row:?}");
        assert!(row.error.is_some_and(|it| it <= TOLERANCE), "{one:#?}");
    }
    what_was_read(&truth, &one);
    what_no_run_is_like(&truth, &one);
    the_fix_table_is_that_of_the_experiment(&one);
}

fn what_was_read(truth: &Truth, one: &Replayed) {
    let read = |what: &str| {
        let found = one.read.iter().find(|it| it.what == what);
        found.map_or("", |it| it.value.as_str())
    };
    // The writer has eight tables, and its entries replace ranges.
    assert_eq!(read("tables"), "8");
    assert!(read("entries").starts_with("REPLACE_RANGE"), "{one:#?}");
    let catalog: Vec<String> = truth
        .nodes
        .iter()
        .map(|it| format!("{} {}", it.name, it.ref_catalog_errors))
        .collect();
    assert_eq!(
        read("requests for the catalog that failed"),
        catalog.join(", ")
    );
    // The unproven remainder is told, and nothing is compared with it, so nothing is fitted to it.
    let refusals: u64 = truth.nodes.iter().map(|it| it.refusals).sum();
    let answers: u64 = truth
        .nodes
        .iter()
        .map(|it| it.unproven_unknown + it.unproven_no)
        .sum();
    let remainder = format!("{} of {refusals} ", refusals - answers);
    assert!(
        one.unbalanced
            .iter()
            .any(|it| it.value.starts_with(&remainder)),
        "{:?}",
        one.unbalanced
    );
    assert!(one.compared.iter().all(|it| it.what != "unproven"));
    // The writer has sixteen names of parts, of nine partitions: 16 / 9 is nearer to two than to one.
    assert_eq!(read("parts of an attach"), "2");
    // The fit stands on no threshold: what fits as well is near.
    let [request, ledgers] = &one.fitted[..] else {
        panic!("{:?}", one.fitted);
    };
    assert!(request.most < 3 * request.least, "{request:?}");
    assert!(ledgers.most <= 2 && !ledgers.is_cut, "{ledgers:?}");
}

/// The writer draws table, part and kind of each record for itself, and tries no part again: what is missing on a server, and
/// when it is refused, is its arithmetic and no order of events. The replay must see that.
fn what_no_run_is_like(truth: &Truth, one: &Replayed) {
    let odds = |what: &str| {
        let found = one.at_odds.iter().find(|it| it.what == what);
        found.unwrap_or_else(|| panic!("{what}: {:#?}", one.at_odds))
    };
    // Eight tables of sixteen parts on each of three servers; nearly all of them come some time.
    let finished: u64 = truth.nodes.iter().map(|it| it.finished).sum();
    let again = &odds("parts that came again").value;
    let (times, parts) = again.split_once(" relinks finished of ").unwrap();
    let parts: u64 = parts.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(times, finished.to_string());
    assert!((370..=384).contains(&parts), "{again}");
    // 128 parts, each of which ends with a refusal as often as a record is one.
    let drawn = truth.nodes.iter().map(|it| {
        let all = it.refusals + it.finished;
        let expected = (256 * it.refusals + all) / (2 * all);
        format!("{} {expected} ({} here)", it.name, it.missing())
    });
    let drawn: Vec<String> = drawn.collect();
    let shares = &odds("parts missing by the shares of records alone").value;
    assert_eq!(*shares, drawn.join(", "));
    // The writer's waits are powers of two below 2^16 ms, so none is over 33 s.
    let waits = &odds("waits for another try").value;
    assert!(
        waits.starts_with("none of ") && waits.ends_with("over 33 s"),
        "{waits}"
    );
    // Its pace is one for all kinds: 17,092 to 2,103 is 8.1 refusals for each finished relink, at all times.
    let course = &odds("refusals for each finished relink, by third of the time").value;
    for third in course.split(", ") {
        let third: f64 = third.parse().unwrap();
        assert!((6.5..10.0).contains(&third), "{course}");
    }
    assert!(
        one.summary
            .contains("; 4 things that the records show are as in no run of it")
    );
}

/// As `attach-partition` has it: only what lets a receiver take the bytes cures it.
fn the_fix_table_is_that_of_the_experiment(one: &Replayed) {
    for (fix, cures) in [
        ("as it was (v1)", false),
        ("v1+A", true),
        ("v1+B", true),
        ("v1+C1", false),
        ("v1+C3", false),
        ("v1+D", false),
        ("v1+E", false),
        ("v1+A+C3", true),
        ("v2", false),
    ] {
        let row = one.fixes.iter().find(|it| it.fix == fix).unwrap();
        assert_eq!(row.cures, Some(cures), "{:#?}", one.fixes);
    }
}
