//! The soak over the engine: the harness's operations, its checkpoints, and what it leaves after a failure.

use casdiag::engine::cas::Variant;
use casdiag::engine::cas::soak::{Driver, Verdict};
use serde_json::Value;

use super::scenario;
use crate::product::{Folder, casdiag};

#[test]
fn the_command_prints_the_lines_of_the_harness() {
    let ran = casdiag(&[
        "soak",
        "cas",
        "--seed",
        "1",
        "--ops",
        "120",
        "--checkpoint-every",
        "60",
    ]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let lines: Vec<&str> = ran.out.lines().collect();
    assert_eq!(
        lines[0],
        "[soak.run] base_time=1787011200 (needed for replay) seed=1 phase=1 ops=120 workers=6 checkpoint_every=60"
    );
    let begins = |start: &str| lines.iter().filter(|it| it.starts_with(start)).count();
    assert_eq!(begins("[soak.run] checkpoint at executed=60 (op_id=59)"), 1);
    assert_eq!(
        begins("[soak.run] final checkpoint at executed=120 (op_id=119)"),
        1
    );
    assert_eq!(begins("[soak.run] checkpoint OK: now="), 1);
    assert_eq!(lines.last(), Some(&"PHASE1 OK"));
}

#[test]
fn both_replicas_show_what_the_model_says_under_every_protocol() {
    let scenario = scenario("soak-phase1", str::to_owned);
    let soak = scenario.soak.clone().unwrap();
    for variant in [
        "v0",
        "v1",
        "v2",
        "v1+A",
        "v1+B",
        "v1+D",
        "v1+E",
        "v1+ckpt-coalesce",
    ] {
        for seed in 1..4 {
            let variant = Variant::parse(variant).unwrap();
            let mut driver = Driver::new(&scenario, &soak, variant, seed, None);
            let mut out = Vec::new();
            let verdict = driver.finish(&mut out).unwrap();
            // A checkpoint compares seven sums of both replicas with the model.
            assert_eq!(verdict, Verdict::Ok, "{} {seed}", variant.name());
            assert!(
                driver.run.world.broken.is_empty(),
                "{} {seed}",
                variant.name()
            );
            assert_eq!(driver.aggregates(0), driver.aggregates(1));
            assert!(driver.aggregates(0).count > 0);
        }
    }
}

#[test]
fn a_failure_is_described_as_the_harness_does() {
    let scenario = scenario("http-exhaustion", str::to_owned);
    let soak = scenario.soak.clone().unwrap();
    let variant = Variant::parse("v1+B").unwrap();
    let mut driver = Driver::new(&scenario, &soak, variant, 2, None);
    let mut out = Vec::new();
    let verdict = driver.finish(&mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert_eq!(
        out.lines().last(),
        Some("TRANSPORT FAILURE: [Errno 104] Connection reset by peer")
    );
    let mut json = Vec::new();
    driver.failure(&verdict).unwrap().write(&mut json).unwrap();
    let json = String::from_utf8(json).unwrap();
    // Its keys in the harness's order.
    let keys = [
        "schema_version",
        "seed",
        "chaos_seed",
        "base_time",
        "op_id",
        "phase",
        "until_op",
        "error",
        "last_fault",
        "last_op",
        "model_expected",
        "nodes",
        "fsck",
        "fsck_status",
    ];
    let places: Vec<usize> = keys
        .iter()
        .map(|key| json.find(&format!("\n  \"{key}\":")).unwrap())
        .collect();
    assert!(places.is_sorted(), "{json}");
    let value: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["fsck"]["dangling"], 0);
    let id = value["last_op"]["op_id"].as_u64().unwrap();
    assert_eq!(value["op_id"].as_u64(), Some(id));
}

#[test]
fn replayed_logs_hold_the_soak_beside_the_servers() {
    let folder = Folder::new();
    let dir = folder.path().join("out");
    let ran = casdiag(&["replay", "soak-phase1", "--logs", dir.to_str().unwrap()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for file in [
        "ch1/clickhouse-server.log",
        "ch1/clickhouse-server.err.log",
        "ch2/clickhouse-server.log",
        "soak.log",
    ] {
        assert!(dir.join(file).is_file(), "{file}");
    }
}
