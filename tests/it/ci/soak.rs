//! Soaks. Right values: the report of the incident whose output this is, and counts by hand.

use casdiag::parsers::ci::{EventKind, Form, Incomplete, RemarkKind};

use super::{case, read, run};

#[test]
fn a_soak_that_died_says_which_checkpoints_passed_and_at_which_operation() {
    let reading = read(&case("soak").join("phase1.log"));
    let run = &reading.runs[0];
    assert_eq!(run.form, Form::SoakText);
    let passed: Vec<&str> = run
        .checks
        .iter()
        .filter(|it| it.outcome == "OK" && it.name.contains("checkpoint"))
        .map(|it| it.name.as_str())
        .collect();
    assert_eq!(
        passed,
        ["checkpoint at executed=50", "checkpoint at executed=100"]
    );
    assert_eq!(
        run.attributes["last_op"],
        "op 102 insert target 0 param 52792"
    );
    assert_eq!(run.result.as_deref(), Some("TRANSPORT FAILURE"));
    assert_eq!(run.leaves.len(), 1);
    assert_eq!(run.leaves[0].name, "op 102 insert target 0 param 52792");
    assert_eq!(run.leaves[0].message, "[Errno 54] Connection reset by peer");
    assert_eq!(run.attributes["transport"], "reset");
    let fsck = run.checks.iter().find(|it| it.name == "fsck").unwrap();
    assert_eq!(fsck.outcome, "OK");
    let unreachable: Vec<&str> = reading
        .events
        .iter()
        .filter(|it| it.kind == EventKind::Unreachable)
        .map(|it| it.subject.as_str())
        .collect();
    assert_eq!(
        unreachable,
        ["ch1"],
        "the other node's missing phases are no evidence"
    );
    let not_trusted: Vec<&str> = run
        .remarks
        .iter()
        .filter(|it| it.kind == RemarkKind::NotTrusted)
        .map(|it| it.text.as_str())
        .collect();
    assert!(
        not_trusted
            .iter()
            .any(|it| it.contains("localhost:8124") && it.contains("no evidence")),
        "{not_trusted:?}"
    );
    assert!(
        not_trusted.iter().any(|it| it.contains("constant text")),
        "{not_trusted:?}"
    );
    assert_eq!(run.attributes["seed"], "1");
}

#[test]
fn the_failure_file_says_the_same() {
    let reading = read(&case("soak").join("failure.json"));
    let run = &reading.runs[0];
    assert_eq!(run.form, Form::SoakFailure);
    assert_eq!(run.leaves[0].name, "op 102 insert target 0 param 52792");
    assert_eq!(
        (run.attributes["transport"].as_str(), run.exit_code),
        ("reset", Some(1))
    );
    assert_eq!(run.checks[0].outcome, "OK");
    assert_eq!(reading.events[0].subject, "ch1");
    assert!(
        run.remarks
            .iter()
            .any(|it| it.text.contains("last operation that was started"))
    );
}

#[test]
fn gates_that_were_skipped_pass_nothing() {
    let reading = read(&case("soak").join("skipped-gates.log"));
    let run = &reading.runs[0];
    assert_eq!(
        (run.result.as_deref(), run.exit_code, run.leaves.len()),
        (Some("PHASE3 OK"), Some(0), 0)
    );
    let checkpoints = run
        .totals
        .iter()
        .find(|it| it.level == "checkpoint")
        .unwrap();
    assert_eq!(
        (checkpoints.of(&["OK"]), checkpoints.of(&["GATE-SKIPPED"])),
        (1, 1)
    );
    assert!(
        run.remarks
            .iter()
            .any(|it| it.kind == RemarkKind::NotTrusted
                && it.text.contains("gates were skipped in this run"))
    );
    let skipped = reading
        .events
        .iter()
        .filter(|it| it.kind == EventKind::GateSkipped)
        .count();
    assert_eq!(skipped, 2);
    let unreachable: Vec<&str> = reading
        .events
        .iter()
        .filter(|it| it.kind == EventKind::Unreachable)
        .map(|it| it.subject.as_str())
        .collect();
    assert_eq!(unreachable, ["localhost:8124"]);
    assert!(run.is_complete());
}

#[test]
fn a_checkpoint_that_fails_is_the_leaf() {
    let reading = read(&case("soak").join("diverged.log"));
    let run = &reading.runs[0];
    assert_eq!(run.leaves[0].name, "checkpoint at executed=50");
    assert_eq!(run.leaves[0].message, "node2 count: model=8104 got=8033");
    assert_eq!(
        run.checks
            .iter()
            .find(|it| it.name == "fsck")
            .unwrap()
            .outcome,
        "not-run"
    );
    assert!(reading.events.is_empty());
}

#[test]
fn a_soak_that_is_cut_has_no_result() {
    let text = std::fs::read_to_string(case("soak").join("phase1.log")).unwrap();
    let upto = text.find("TRANSPORT").unwrap();
    let folder = crate::product::Folder::with("s.log", &text[..upto]);
    let run = run(&folder.path().join("s.log"));
    assert_eq!(run.incomplete, [Incomplete::NoEnd, Incomplete::NoResult]);
    assert_eq!(run.result, None);
}

#[test]
fn a_verdict_of_the_ha_soak_is_a_round_that_failed() {
    let reading = read(&case("soak").join("ha.txt"));
    let run = &reading.runs[0];
    assert_eq!((run.form, run.name.as_str()), (Form::HaSoak, "xce-test-ha"));
    assert_eq!(run.leaves[0].name, "round 19/worker-resync job a1");
    assert_eq!(
        run.leaves[0].message,
        "worker never logged a fresh rejoin after the failover (pre=18 post=18)"
    );
    assert_eq!(
        (run.attributes["rounds"].as_str(), run.result.as_deref()),
        ("19", Some("FAIL"))
    );
    assert_eq!(
        run.exit_code, None,
        "its harness prints a verdict and no code"
    );
    assert_eq!(reading.events[0].kind, EventKind::Unreachable);
}

#[test]
fn metrics_say_since_when_a_node_is_silent() {
    // The file: 60 ticks of two nodes a minute apart; ch1 is empty from tick 50 on; ch2 has one empty row before the first.
    let reading = read(&case("soak").join("soak.db"));
    let run = &reading.runs[0];
    let check = |name: &str| run.checks.iter().find(|it| it.name == name).unwrap();
    assert_eq!(check("node ch1 answers").outcome, "FAIL");
    assert!(
        check("node ch1 answers")
            .detail
            .starts_with("60 ticks, 10 without an answer")
    );
    assert_eq!(check("node ch2 answers").outcome, "OK");
    assert!(
        check("node ch2 answers")
            .detail
            .starts_with("61 ticks, 1 without an answer, restarts 0, longest queue 118")
    );
    assert_eq!(
        check("CASRefNeedsRecovery of ch2 stays 0").detail,
        "reached 4"
    );
    assert_eq!(reading.events.len(), 1);
    let gone = &reading.events[0];
    assert_eq!(
        (gone.kind, gone.subject.as_str()),
        (EventKind::Unreachable, "ch1")
    );
    assert_eq!(gone.at.unwrap().at.0, (1_771_934_400 + 50 * 60) * 1_000_000);
    assert_eq!(
        run.attributes["gc_slowest_phase"],
        "fold: 5.0 s in 100 calls"
    );
    assert_eq!(run.attributes["pool_bytes_most"], "59000");
    assert!(
        run.is_complete() && run.remarks.is_empty(),
        "{:?}",
        run.remarks
    );
}

#[test]
fn a_history_tells_what_comes_and_goes() {
    let run = run(&case("soak").join("RUN_HISTORY.md"));
    assert_eq!(run.totals[0].units, 3);
    assert_eq!(
        (run.unstable.len(), run.unstable[0].name.as_str()),
        (1, "S13 seed 1")
    );
    assert!(
        run.leaves.is_empty(),
        "earlier runs are no failures of this one"
    );
    assert!(run.checks[1].detail.contains("bbbb222"));
}

#[test]
fn a_dump_says_what_it_lacks_and_what_it_counted() {
    let reading = read(&case("soak").join("manifest.txt"));
    assert_eq!(reading.runs[0].checks.len(), 3);
    assert_eq!(
        (reading.events.len(), reading.events[0].subject.as_str()),
        (1, "errors.tsv")
    );
    assert_eq!(reading.runs[0].attributes["node"], "ch1");
    let shapes = run(&case("soak").join("text_log_error_shapes.tsv"));
    assert_eq!(shapes.checks[0].detail, "123907");
    assert!(shapes.checks[0].name.contains("did not prove"));
}

/// A cluster that died after S21: each later scenario waited its 600 s and failed in the same words.
#[test]
fn failures_in_a_row_that_say_the_same_are_told_as_one() {
    let row = |hour: u32, scenario: &str, status: &str, note: &str| {
        format!(
            "| 2026-08-21T{hour:02}:00:00 | {scenario} | 1 | small | 601s | {status} | aaaa111 | r | {note} |\n"
        )
    };
    let head = "| started | scenario | seed | scale | duration | status | git sha | run_dir | note |\n|---|---|---|---|---|---|---|---|---|\n";
    let late = |hour, scenario: &str| {
        row(
            hour,
            scenario,
            "fail",
            &format!("{scenario} timed out after 600 seconds"),
        )
    };
    let told = |rows: &str| {
        let folder = crate::product::Folder::with("RUN_HISTORY.md", format!("{head}{rows}"));
        let run = run(&folder.path().join("RUN_HISTORY.md"));
        let texts = run.remarks.iter().map(|it| it.text.clone());
        texts.collect::<Vec<_>>()
    };
    let streak = late(1, "S22") + &late(2, "S23") + &late(3, "S24");
    let said = told(&(row(0, "S21", "fail", "checkpoint failed") + &streak));
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].starts_with("3 failures one after another say the same"),
        "{said:?}"
    );
    // A run that passed between them says that what they ran on was well.
    let apart = late(1, "S22") + &late(2, "S23") + &row(3, "S24", "pass", "") + &late(4, "S25");
    assert_eq!(told(&apart), Vec::<String>::new());
}
