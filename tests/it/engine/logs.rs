//! The logs of a run, read like anyone's: the analysis counts what the engine counted.

use std::path::Path;

use casdiag::engine::cas::soak::{BASE_TIME, Driver, Verdict};
use casdiag::engine::cas::{Logs, Note, Run, Scenario, Tally, Variant, What, World, host};
use casdiag::report::model::Report;

use super::scenario;
use crate::product::{count, findings, report};

fn logs(dir: &Path, scenario: &Scenario, variant: Variant) -> Logs {
    let begins = i64::try_from((BASE_TIME + 60) * 1_000_000).unwrap();
    let is_soak = scenario.soak.is_some();
    let mut logs = Logs::create(dir, scenario.nodes, begins, is_soak).unwrap();
    logs.start(variant.rule);
    logs
}

/// What the engine counted, and what the analysis of its logs says.
fn replayed(scenario: &Scenario, variant: &str) -> (Tally, Report) {
    let dir = tempfile::tempdir().unwrap();
    let variant = Variant::parse(variant).unwrap();
    let mut logs = logs(dir.path(), scenario, variant);
    let mut sink = |now, note: &Note, world: &World| logs.note(now, note, world);
    let tally = if let Some(soak) = &scenario.soak {
        let mut driver = Driver::new(scenario, soak, variant, 1, Some(&mut sink));
        let mut lines = Vec::new();
        assert_eq!(driver.finish(&mut lines).unwrap(), Verdict::Ok);
        std::fs::write(dir.path().join("soak.log"), lines).unwrap();
        driver.run.tally
    } else {
        let mut run = Run::new(scenario, variant, 1, Some(&mut sink));
        run.finish();
        run.tally
    };
    logs.finish().unwrap();
    (tally, report(dir.path()))
}

/// The two views have the same counts on every server.
fn assert_same(tally: &Tally, report: &Report) {
    for node in 0..tally.nodes.len() {
        let name = host(node);
        for (signal, what) in [
            ("relink-refused", &[What::Refused][..]),
            ("relink-unproven", &[What::Unknown, What::No]),
            ("relink-finished", &[What::Finished]),
            ("relink-offered", &[What::Offered]),
            ("relink-confirm-failed", &[What::ConfirmLost]),
        ] {
            let counted: u64 = what.iter().map(|it| tally.total(*it, Some(node))).sum();
            assert_eq!(count(report, signal, &name), counted, "{signal} on {name}");
        }
    }
}

/// A storm and its cause are found, with the engine's own counts per server.
fn assert_storm(tally: &Tally, report: &Report) {
    assert_same(tally, report);
    let storm = findings(report, "code-210-storm");
    let [storm] = storm[..] else {
        panic!("{:?}", report.findings);
    };
    assert_eq!(storm.counts["refused"], tally.total(What::Refused, None));
    assert_eq!(storm.counts["finished"], tally.total(What::Finished, None));
    let unproven = findings(report, "unproven-confirms");
    let [unproven] = unproven[..] else {
        panic!("{:?}", report.findings);
    };
    assert_eq!(unproven.counts["unknown"], tally.total(What::Unknown, None));
    assert_eq!(unproven.counts["no"], tally.total(What::No, None));
    for node in 0..tally.nodes.len() {
        let name = host(node);
        let refused = tally.total(What::Refused, Some(node));
        assert_eq!(storm.counts_by_node[&name]["refused"], refused, "{name}");
        let unknown = tally.total(What::Unknown, Some(node));
        assert_eq!(unproven.counts_by_node[&name]["unknown"], unknown, "{name}");
    }
}

#[test]
fn the_soak_reads_as_a_storm_with_its_own_counts() {
    let (tally, report) = replayed(&scenario("soak-phase1", str::to_owned), "v1");
    assert_storm(&tally, &report);
}

#[test]
fn attached_partitions_read_as_a_storm_with_their_own_counts() {
    let (tally, report) = replayed(&scenario("attach-partition", str::to_owned), "v1");
    assert_storm(&tally, &report);
}

#[test]
fn the_livelock_reads_as_a_storm_with_its_own_counts() {
    // 240 MB of lines: the connect storm, forty minutes of refusals, and the cure.
    let (tally, report) = replayed(&scenario("gcs-livelock", str::to_owned), "v1");
    assert!(tally.total(What::Refused, None) > 40_000);
    assert_storm(&tally, &report);
}

#[test]
fn the_shipped_fix_reads_as_no_storm() {
    let (tally, report) = replayed(&scenario("threshold-above", str::to_owned), "v2");
    assert_same(&tally, &report);
    assert!(findings(&report, "code-210-storm").is_empty());
    assert!(findings(&report, "unproven-confirms").is_empty());
    assert!(tally.total(What::Finished, None) > 2500);
}

#[test]
fn the_new_era_is_read_too() {
    // References are dropped while they are asked for, so that the fixed rule refuses as well.
    let (tally, report) = replayed(&scenario("source-gone", str::to_owned), "v2");
    assert_same(&tally, &report);
    assert!(tally.total(What::Refused, None) > 0);
}
