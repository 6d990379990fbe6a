//! The soak over the engine: the harness's operations, its checkpoints, and what it leaves after a failure.

use std::fs;

use casdiag::engine::cas::soak::{Driver, Soak, Verdict, schedule};
use casdiag::engine::cas::{Scenario, Variant};
use serde_json::Value;

use super::scenario;
use crate::product::{Folder, casdiag, repository};

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

/// The store's latency is fitted to seed 1; what it gives for others is said where the fit is.
#[test]
fn the_spread_of_the_fitted_soak_is_what_the_document_says() {
    let scenario = scenario("soak-phase1", str::to_owned);
    let soak = scenario.soak.clone().unwrap();
    let mut refused = [Vec::new(), Vec::new()];
    for seed in 1..=10 {
        let variant = Variant::parse("v1").unwrap();
        let mut driver = Driver::new(&scenario, &soak, variant, seed, None);
        driver.finish(&mut std::io::sink()).unwrap();
        for (node, all) in refused.iter_mut().enumerate() {
            all.push(driver.refused_after(102, Some(node)));
        }
    }
    let [one, other] = refused.map(|mut all| {
        all.sort_unstable();
        format!("{} to {}", all[0], all[9])
    });
    let says = format!(
        "Over the seeds 1 to 10 the same store gives {one} refusals on ch1 and {other} on ch2 after 102 operations"
    );
    let page = fs::read_to_string(repository("docs/engine.md")).unwrap();
    let words: Vec<&str> = page.split_whitespace().collect();
    assert!(words.join(" ").contains(&says), "{says}");
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

/// The soak of phase 1 as one of another phase, with leases as the command sets them.
fn in_phase(phase: u8) -> (Scenario, Soak) {
    let mut scenario = scenario("soak-phase1", str::to_owned);
    scenario.leases = true;
    let mut soak = scenario.soak.clone().unwrap();
    soak.phase = phase;
    scenario.soak = Some(soak.clone());
    (scenario, soak)
}

#[test]
fn faults_interrupt_a_soak_and_lose_nothing() {
    let (scenario, mut soak) = in_phase(2);
    soak.chaos_interval = 20;
    soak.duration_s = 300;
    let mut retried = 0;
    for seed in 1..5 {
        let mut driver = Driver::new(&scenario, &soak, Variant::parse("v2").unwrap(), seed, None);
        let mut out = Vec::new();
        let verdict = driver.finish(&mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        // Each checkpoint compares seven sums of both replicas with the model.
        assert_eq!(verdict, Verdict::Ok, "{seed}: {out}");
        assert!(driver.run.world.broken.is_empty(), "{seed}");
        assert_eq!(out.lines().last(), Some("PHASE2 OK"));
        let plans = schedule(seed, 20, 300);
        let said = |text: &str| out.matches(text).count();
        assert!(out.contains(&format!(
            "chaos schedule: {} faults over 300s (chaos_seed={seed} mean_interval=20s)",
            plans.len()
        )));
        let fired = said("CHAOS firing fault #");
        assert!(fired > 0 && fired <= plans.len());
        let complete = said("CHAOS fault window complete: ");
        assert!(complete <= fired && fired <= complete + 1, "{out}");
        assert_eq!(
            said("[soak.run] recovery checkpoint at executed="),
            said("RECOVERY: ")
        );
        retried += said("rerouting/retrying.") + said("hit retryable ABORTED");
    }
    assert!(retried > 0, "some insert met a fault");
}

#[test]
fn the_third_phase_goes_through_its_stages() {
    let (scenario, mut soak) = in_phase(3);
    soak.duration_s = 400;
    soak.chaos_interval = 30;
    let mut driver = Driver::new(&scenario, &soak, Variant::parse("v2").unwrap(), 1, None);
    let mut out = Vec::new();
    let verdict = driver.finish(&mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert_eq!(verdict, Verdict::Ok, "{out}");
    let stages: Vec<&str> = out
        .lines()
        .filter_map(|it| it.strip_prefix("[soak.run] === STAGE "))
        .filter_map(|it| it.split(' ').next())
        .collect();
    let wanted = [
        "warmup",
        "steady",
        "mutations",
        "ttl_pressure",
        "gc_checkpoint",
        "chaos",
        "cliff",
        "converge",
    ];
    assert_eq!(stages, wanted);
    assert!(out.contains("phase=3 ") && out.contains("checkpoint_every=stage-boundary"));
    assert!(out.contains("[soak.run] final converge checkpoint OK: now="));
    // Chaos is armed from 40 to 90 % of the time.
    let times = out.lines().filter_map(|it| {
        let (_, rest) = it.split_once("CHAOS firing fault #")?;
        let (_, rest) = rest.split_once("at t+")?;
        rest.split('s').next()?.parse::<u64>().ok()
    });
    let times: Vec<u64> = times.collect();
    assert!(
        !times.is_empty() && times.iter().all(|it| (160..360).contains(it)),
        "{times:?}"
    );
    assert_eq!(out.lines().last(), Some("PHASE3 OK"));
}

#[test]
fn the_command_runs_every_phase_and_says_what_a_time_is() {
    let ran = casdiag(&[
        "soak",
        "cas",
        "--phase",
        "3",
        "--duration",
        "2m",
        "--no-chaos",
    ]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.out.contains("CHAOS") && ran.out.ends_with("PHASE3 OK\n"));
    let ran = casdiag(&["soak", "cas", "--phase", "3", "--duration", "2 days"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("is not a time such as 24h"), "{}", ran.err);
}
