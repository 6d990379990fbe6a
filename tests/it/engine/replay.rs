//! `casdiag replay`: scenarios, their files, and the same run for the same seed.

use std::collections::BTreeSet;
use std::fs;

use casdiag::engine::cas::{Most, PartInfo, Run, Scenario, What, summarize};
use casdiag::engine::scenarios::BUILT_IN;
use serde_json::Value;

use super::{run, scenario, total};
use crate::product::{Folder, casdiag, repository};

#[test]
fn every_scenario_file_comes_with_the_program() {
    let files: BTreeSet<String> = fs::read_dir(repository("samples/scenarios"))
        .unwrap()
        .map(|it| it.unwrap())
        .filter(|it| it.path().is_file())
        .map(|it| it.file_name().into_string().unwrap())
        .collect();
    let built_in: BTreeSet<String> = BUILT_IN.iter().map(|it| format!("{}.toml", it.0)).collect();
    assert_eq!(files, built_in);
    let listed = casdiag(&["replay"]);
    for (name, text) in BUILT_IN {
        let scenario = Scenario::read(name, text).unwrap();
        assert!(!scenario.expect.is_empty(), "{name} expects something");
        assert!(listed.out.contains(&scenario.what), "{name}");
    }
}

#[test]
fn the_same_seed_is_the_same_run_and_another_seed_is_another() {
    let scenario = scenario("attach-partition", str::to_owned);
    let hashes: Vec<u64> = std::thread::scope(|scope| {
        let runs = [1, 1, 2].map(|seed| {
            let scenario = &scenario;
            scope.spawn(move || run(scenario, "v1", seed).hash())
        });
        runs.map(|it| it.join().unwrap()).to_vec()
    });
    assert_eq!(hashes[0], hashes[1]);
    assert_ne!(hashes[0], hashes[2]);
}

#[test]
fn a_fault_that_is_turned_off_leaves_the_workload_as_it_is() {
    let with = scenario("attach-partition", str::to_owned);
    let without = scenario("attach-partition", |it| {
        it.replace("share = ", "share = 0 #")
    });
    let parts = |scenario: &Scenario| -> Vec<String> {
        let run = run(scenario, "v2", 1);
        run.world.parts.iter().map(PartInfo::name).collect()
    };
    let (with, without) = (parts(&with), parts(&without));
    // The same parts were asked for, in the same order, until a write failed for the fault.
    assert!(with.len() > 400);
    assert_eq!(with, without);
}

#[test]
fn a_run_is_summed_up_for_people_and_for_machines() {
    let text = casdiag(&["replay", "relink-smoke"]);
    assert_eq!(text.code, Some(0), "{text:?}");
    assert!(text.out.contains("relinks finished"));
    assert!(text.out.contains("All servers have the same parts"));
    let json = casdiag(&["replay", "relink-smoke", "--format", "json"]);
    let value: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(value["nodes"][1]["counts"]["relinks finished"], 1);
    assert_eq!(value["converged"], true);
    assert!(
        value["promises"]
            .as_array()
            .unwrap()
            .iter()
            .all(|it| it["kept"] == true)
    );
}

#[test]
fn a_scenario_of_ones_own_runs_and_a_broken_one_is_located() {
    let own = "what = \"Mine.\"\nuntil-s = 5\n[[load]]\nkind = \"insert\"\nnodes = [0]\nevery = { fixed = 1_000_000 }\nto-s = 4\n";
    let folder = Folder::with("mine.toml", own);
    let path = folder.path().join("mine.toml");
    let ran = casdiag(&["replay", path.to_str().unwrap(), "--fixes", "A"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("under v1+A, seed 1"), "{}", ran.out);
    for (text, says) in [
        (own.replace("insert", "insrt"), "insrt"),
        (
            own.replace("nodes = [0]", "nodes = [7]"),
            "server 7 is named, and there are 2",
        ),
        (format!("nodes = 0\n{own}"), "nodes must be from 1 to 16"),
        (
            format!("variant = \"v9\"\n{own}"),
            "no variant or fix is called v9",
        ),
    ] {
        let folder = Folder::with("mine.toml", &text);
        let path = folder.path().join("mine.toml");
        let ran = casdiag(&["replay", path.to_str().unwrap()]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.err.contains(says), "{}", ran.err);
    }
    let ran = casdiag(&["replay", "no-such-scenario"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("relink-smoke"), "{}", ran.err);
}

#[test]
fn what_no_run_ends_with_is_refused_with_its_key_and_its_limit() {
    let own = "what = \"Mine.\"\nuntil-s = 5\n";
    let load = |every: &str, rest: &str| {
        format!("{own}[[load]]\nkind = \"attach\"\nnodes = [0]\nevery = {every}\nto-s = 4\n{rest}")
    };
    let latency = |text: &str| format!("{own}[latency]\n{text}\n");
    for (text, says) in [
        (
            own.replace('5', "604801"),
            "until-s must be from 0 to 604800",
        ),
        (
            format!("seeds = 1001\n{own}"),
            "seeds must be from 1 to 1000",
        ),
        (
            format!("tables = 1001\n{own}"),
            "tables must be from 1 to 1000",
        ),
        (format!("gc-s = 0\n{own}"), "gc-s must be from 1 to 604800"),
        (
            load("{ fixed = 1_000 }", "parts = 1001\n"),
            "parts must be from 0 to 1000",
        ),
        (
            load("{ exponential = 0 }", ""),
            "every: 0 in the middle is less than 1000",
        ),
        (
            load("{ uniform = [0, 1_000] }", ""),
            "every: 500 in the middle is less than 1000",
        ),
        (
            load("{ fixed = 1_000 }", "from-s = 604801\n"),
            "from-s of a load must be from 0 to 604800",
        ),
        (
            latency("hop = { sampled = [] }"),
            "hop: sampled has no value",
        ),
        (
            latency("log = { uniform = [5, 1] }"),
            "log: uniform goes from 5 to 1",
        ),
        (
            latency("read = { fixed = 3600000001 }"),
            "read: 3600000001 is more than 3600000000",
        ),
        (
            latency("recovery-reads = 1001"),
            "recovery-reads must be from 0 to 1000",
        ),
        (
            format!("{own}[[act]]\nat-s = 604801\ndeed = \"stop\"\nnode = 0\n"),
            "at-s of an act must be from 0 to 604800",
        ),
        (
            format!(
                "{own}[soak]\nops = 1000001\nworkers = 1\ncheckpoint-every = 1\nmax-cliffs = 0\nclient = {{ fixed = 1_000 }}\n"
            ),
            "ops must be from 0 to 1000000",
        ),
    ] {
        let folder = Folder::with("mine.toml", &text);
        let path = folder.path().join("mine.toml");
        let ran = casdiag(&["replay", path.to_str().unwrap()]);
        assert_eq!(ran.code, Some(2), "{text}\n{ran:?}");
        assert!(ran.err.contains(&format!("mine.toml: {says}")), "{ran:?}");
    }
}

#[test]
fn a_soak_of_too_many_operations_is_refused_on_the_command_line_too() {
    let ran = casdiag(&["soak", "cas", "--ops", "1000001"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("ops must be from 0 to 1000000"), "{ran:?}");
}

#[test]
fn a_broken_protocol_ends_with_the_exit_code_of_a_finding() {
    let ran = casdiag(&[
        "replay",
        "source-gone",
        "--variant",
        "promote-before-plus-one",
    ]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(
        ran.out.contains("BROKEN: a confirm is sent only after"),
        "{}",
        ran.out
    );
    // The shortest run follows, as a trace and as a file.
    let (_, short) = ran.out.split_once("The shortest run found").unwrap();
    let (trace, file) = short.split_once("the seed is in it:\n").unwrap();
    assert!(
        trace.contains("ch2 relinking all_1_1_0, with ch1"),
        "{trace}"
    );
    let folder = Folder::with("short.toml", file);
    let path = folder.path().join("short.toml");
    let again = casdiag(&["replay", path.to_str().unwrap()]);
    assert_eq!(again.code, Some(1), "{again:?}");
    assert!(again.out.contains("BROKEN: a confirm is sent only after"));
}

#[test]
fn a_run_leaves_its_numbers_and_a_picture() {
    let folder = Folder::new();
    let dir = folder.path().join("out");
    let dir = dir.to_str().unwrap();
    let ran = casdiag(&["replay", "stop-fetches", "--out", dir]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let read = |file: &str| fs::read_to_string(format!("{dir}/{file}")).unwrap();
    assert!(ran.out.starts_with(&read("replay.txt")));
    assert!(ran.out.contains("ch1 refused"), "{}", ran.out);
    let value: Value = serde_json::from_str(&read("replay.json")).unwrap();
    let course = &value["nodes"][0]["course"];
    let sum = |name: &str| -> u64 {
        let values = course[name].as_array().unwrap();
        values.iter().map(|it| it.as_u64().unwrap()).sum()
    };
    assert_eq!(
        sum("refused"),
        value["nodes"][0]["counts"]["relinks refused"]
    );
    assert_eq!(
        sum("finished"),
        value["nodes"][0]["counts"]["relinks finished"]
    );
    let (svg, page) = (read("replay.svg"), read("replay.html"));
    for text in ["Relinks refused in 10 s", "Length of the queue", "ch2"] {
        assert!(svg.contains(text) && page.contains(text), "{text}");
    }
    // Two lines in each of three panels.
    assert_eq!(svg.matches("stroke-width=\"2\"").count(), 6);
    let refused = casdiag(&["replay", "stop-fetches", "--out", dir]);
    assert_eq!(refused.code, Some(2), "a folder with files is left alone");
}

#[test]
fn a_run_that_keeps_too_much_is_cut_short_and_says_so() {
    let scenario = scenario("threshold-below", str::to_owned);
    let whole = run(&scenario, "v1", 1);
    for (most, events, parts) in [
        (
            Most {
                events: 1000,
                ..Most::default()
            },
            1000,
            usize::MAX,
        ),
        (
            Most {
                parts: 100,
                ..Most::default()
            },
            u64::MAX,
            100,
        ),
    ] {
        let mut run = Run::new(&scenario, scenario.protocol(), 1, None);
        run.most = most;
        run.finish();
        assert!(run.is_cut && !whole.is_cut);
        // It ends with the very event that fills it.
        assert!(run.events() == events || run.world.parts.len() == parts);
        assert!(run.events() <= events && run.world.parts.len() <= parts);
        assert!(run.events() < whole.events());
        let mut text = Vec::new();
        let summary = summarize("cut", 1, &run, None);
        summary.write_text(&mut text).unwrap();
        assert!(String::from_utf8(text).unwrap().contains("\nCUT SHORT: "));
    }
}

/// A file that asks for more parts than a run keeps: what was seen is told, and the exit code is none of a whole run.
#[test]
fn a_scenario_that_asks_for_too_many_parts_ends_with_a_code_of_its_own() {
    // A thousand parts each millisecond: a million are there after a second.
    let own = "what = \"Too much.\"\nnodes = 1\nuntil-s = 60\n[[load]]\nkind = \"attach\"\nparts = 1000\nnodes = [0]\nevery = { fixed = 1_000 }\nto-s = 60\n";
    let folder = Folder::with("mine.toml", own);
    let path = folder.path().join("mine.toml");
    let path = path.to_str().unwrap();
    let ran = casdiag(&["replay", path, "--format", "json"]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    let value: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(value["is_cut"], true);
    let kept = value["promises"].as_array().unwrap();
    assert!(kept.iter().all(|it| it["kept"] == true));
}

/// Every refusal has one answer at its source or one confirm that was lost, whatever happens.
#[test]
fn the_books_of_every_scenario_balance() {
    for (name, text) in BUILT_IN {
        let scenario = Scenario::read(name, text).unwrap();
        if scenario.soak.is_some() || scenario.until_s > 1000 {
            continue;
        }
        let run = run(&scenario, "v1", 1);
        let answered = total(&run, What::Unknown) + total(&run, What::No);
        let lost = total(&run, What::ConfirmLost);
        let refused = total(&run, What::Refused);
        // At the end some receivers have the answer and are still aborting.
        let under_way = answered + lost - refused;
        let slots = scenario.nodes * (scenario.fetch_slots + scenario.common_slots);
        assert!(
            under_way <= u64::try_from(slots).unwrap(),
            "{name}: {under_way}"
        );
    }
}
