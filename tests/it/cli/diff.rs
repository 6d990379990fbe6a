//! `casdiag diff`: what is new, gone, more and less, and what cannot be compared.

use serde_json::Value;

use super::samples;
use crate::product::{Folder, Ran, casdiag, record, repository};

fn refusal() -> &'static str {
    "Code: 210. DB::Exception: Source n2 did not prove it still holds the manifest it offered for part all_1_1_0 by relink; the relink is abandoned"
}

/// So many refusals on a node in the first minute, and a harmless record when the log ends.
fn log(refusals: usize, minutes: usize, more: &str) -> String {
    let mut log = record("10:00:00.000000", "Information", "Application", "begins");
    for nth in 0..refusals {
        let at = format!("10:00:{:02}.{:06}", nth / 20, nth % 20 * 1000 + 1);
        log += &record(&at, "Error", "q.s", refusal());
    }
    log += more;
    log + &record(
        &format!("10:{minutes:02}:00.000000"),
        "Information",
        "Application",
        "ends",
    )
}

fn diff(base: &str, new: &str, flags: &[&str]) -> Ran {
    casdiag(&[&["diff", base, new], flags].concat())
}

fn json(base: &Folder, new: &Folder) -> Value {
    let path = |it: &Folder| it.path().to_str().unwrap().to_owned();
    let ran = diff(
        &path(base),
        &path(new),
        &["--format", "json", "--fail-on", "never"],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// How something differs; `node` is empty for what is of no node.
fn direction<'v>(diff: &'v Value, kind: &str, what: &str, node: &str) -> &'v str {
    let changes = diff["changes"].as_array().unwrap();
    let found = changes.iter().find(|it| {
        it["kind"] == kind && it["what"] == what && it["node"].as_str().unwrap_or("") == node
    });
    found.map_or("not listed", |it| it["direction"].as_str().unwrap())
}

fn folder(node: &str, log: &str) -> Folder {
    Folder::with(&format!("{node}/clickhouse-server.log"), log)
}

#[test]
fn findings_signals_and_templates_are_new_gone_more_or_less() {
    let odd = record("10:00:50.000000", "Error", "x", "the frobnicator is stuck");
    let good = folder("n1", &log(0, 59, ""));
    let bad = folder("n1", &log(300, 59, &odd));
    let forth = json(&good, &bad);
    assert_eq!(direction(&forth, "finding", "code-210-storm", ""), "new");
    assert_eq!(direction(&forth, "signal", "relink-refused", "n1"), "new");
    assert_eq!(
        direction(&forth, "template", "the frobnicator is stuck", ""),
        "new"
    );
    let back = json(&bad, &good);
    assert_eq!(direction(&back, "finding", "code-210-storm", ""), "gone");
    assert_eq!(direction(&back, "signal", "relink-refused", "n1"), "gone");
    assert_eq!(
        direction(&back, "template", "the frobnicator is stuck", ""),
        "gone"
    );
    let calmer = folder("n1", &log(100, 59, &odd));
    let less = json(&bad, &calmer);
    assert_eq!(direction(&less, "signal", "relink-refused", "n1"), "less");
    assert_eq!(
        direction(&less, "template", "the frobnicator is stuck", ""),
        "same"
    );
    assert_eq!(
        direction(&json(&calmer, &bad), "signal", "relink-refused", "n1"),
        "more"
    );
}

#[test]
fn a_log_of_a_tenth_of_the_time_is_compared_by_its_rate() {
    // 300 in 50 minutes are 360 an hour, 30 in 5 minutes as well; 150 in 5 minutes are 1,800.
    let long = folder("n1", &log(300, 50, ""));
    let same = json(&long, &folder("n1", &log(30, 5, "")));
    assert_eq!(same["same_length"], false);
    assert_eq!(direction(&same, "signal", "relink-refused", "n1"), "same");
    let row = same["changes"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["what"] == "relink-refused")
        .unwrap();
    assert_eq!(
        (
            row["base"]["count"].as_u64(),
            row["base"]["per_hour"].as_f64()
        ),
        (Some(300), Some(360.0))
    );
    assert_eq!(
        (
            row["new"]["count"].as_u64(),
            row["new"]["per_hour"].as_f64()
        ),
        (Some(30), Some(360.0))
    );
    let more = json(&long, &folder("n1", &log(150, 5, "")));
    assert_eq!(direction(&more, "signal", "relink-refused", "n1"), "more");
}

#[test]
fn nodes_of_one_report_alone_are_compared_in_the_sum() {
    let (one, other) = (
        folder("n1", &log(20, 30, "")),
        folder("m1", &log(200, 30, "")),
    );
    let found = json(&one, &other);
    assert_eq!(
        direction(&found, "signal", "relink-refused", "n1"),
        "not listed"
    );
    assert_eq!(direction(&found, "signal", "relink-refused", ""), "more");
    let remarks = found["remarks"].to_string();
    assert!(
        remarks.contains("n1") && remarks.contains("m1"),
        "{remarks}"
    );
}

#[test]
fn what_a_log_cannot_show_is_neither_new_nor_gone() {
    // Without Debug records nothing says whether a relink was offered.
    let offered = record(
        "10:00:40.000000",
        "Debug",
        "q.s (94c6) (Replicated PartsService)",
        "Relink confirm is unproven (unknown) for ref 'all_1_1_0' (part all_1_1_0, manifest 1:4:1) in namespace 'n@cas@'",
    );
    let seen = folder("n1", &log(20, 30, &offered));
    let unseen = folder("n1", &log(20, 30, ""));
    let found = json(&seen, &unseen);
    assert_eq!(
        direction(&found, "signal", "relink-unproven", "n1"),
        "unknown",
        "{found:#}"
    );
}

#[test]
fn signals_of_a_log_that_is_not_there_are_not_gone() {
    let root = |name: &str| samples().join(name).to_str().unwrap().to_owned();
    // Only report-000 has a log of the soak.
    let ran = diff(
        &root("report-000"),
        &root("report-001"),
        &["--format", "json", "--fail-on", "never"],
    );
    let found: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        direction(&found, "signal", "soak-checkpoint-passed", ""),
        "unknown"
    );
    assert_eq!(direction(&found, "signal", "client-gone", ""), "gone");
}

#[test]
fn the_exit_code_is_for_what_is_new_or_worse_at_the_level() {
    let good = folder("n1", &log(0, 59, ""));
    let bad = folder("n1", &log(300, 59, ""));
    let (good, bad) = (good.path().to_str().unwrap(), bad.path().to_str().unwrap());
    assert_eq!(diff(good, bad, &[]).code, Some(1));
    assert_eq!(diff(good, bad, &["--fail-on", "critical"]).code, Some(0));
    assert_eq!(diff(good, bad, &["--fail-on", "never"]).code, Some(0));
    assert_eq!(
        diff(bad, good, &[]).code,
        Some(0),
        "what is gone fails nothing"
    );
    assert_eq!(
        diff(bad, bad, &[]).code,
        Some(0),
        "what was there before fails nothing"
    );
    let empty = Folder::with("x.bin", "nothing");
    let ran = diff(good, empty.path().to_str().unwrap(), &[]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.err.contains("nothing was recognised"), "{}", ran.err);
    assert_eq!(diff(good, "/nowhere/at/all", &[]).code, Some(2));
}

#[test]
fn a_finding_on_a_node_that_the_base_finds_nothing_on_is_new() {
    // Long silent, and then its session is gone: the process was paused.
    let paused = |is_paused: bool| {
        let time = if is_paused {
            "10:00:00.000000"
        } else {
            "10:00:39.000000"
        };
        record(time, "Information", "l", "at work")
            + "2026.09.01 10:00:40.000000 [ 9 ] {} <Error> void Coordination::ZooKeeper::receiveThread(): Code: 33, e.displayText() = DB::Exception: Cannot read all data. Bytes read: 0. Bytes expected: 4.: while reading from socket (127.0.0.1:2181), e.what() = DB::Exception, Stack trace:\n"
    };
    let nodes = |states: &[(&str, bool)]| {
        let folder = Folder::new();
        for (node, is_paused) in states {
            folder.put(&format!("{node}/clickhouse-server.log"), paused(*is_paused));
        }
        folder
    };
    let rule = "process-paused";
    let compared = |base: &[(&str, bool)], new: &[(&str, bool)]| {
        let (base, new) = (nodes(base), nodes(new));
        let found = json(&base, &new);
        let paths = [&base, &new].map(|it| it.path().to_str().unwrap().to_owned());
        (found, diff(&paths[0], &paths[1], &[]))
    };
    let base = [("n1", true), ("n2", false)];
    for (new, node) in [
        // A node that the base has no log of, beside what was known or without it.
        (&[("n1", true), ("n2", false), ("n3", true)][..], "n3"),
        (&[("n1", false), ("n2", false), ("n3", true)], "n3"),
        // One that the base finds nothing on.
        (&[("n1", true), ("n2", true)], "n2"),
    ] {
        let (found, ran) = compared(&base, new);
        assert_eq!(direction(&found, "finding", rule, node), "new", "{new:?}");
        let known = if new[0].1 { "same" } else { "gone" };
        assert_eq!(direction(&found, "finding", rule, ""), known, "{new:?}");
        assert_eq!(ran.code, Some(1), "{}", ran.out);
        let verdict = ran.out.lines().next().unwrap();
        let said =
            format!("1 finding that the base does not have, the worst high: {node} was silent");
        assert!(verdict.starts_with(&said), "{verdict}");
        assert!(
            ran.out.contains(&format!("new      {rule} on {node}")),
            "{}",
            ran.out
        );
    }
    // Of nodes that both have, chance hits now one and now another; and other names tell nothing.
    for new in [[("n1", false), ("n2", true)], [("m1", true), ("m2", false)]] {
        let (found, ran) = compared(&base, &new);
        assert_eq!(direction(&found, "finding", rule, ""), "same", "{new:?}");
        assert_eq!(ran.code, Some(0), "{}", ran.out);
    }
}

#[test]
fn kept_reports_and_folders_that_out_wrote_stand_for_their_logs() {
    let out = Folder::new();
    let kept = out.path().join("kept");
    let root = samples().join("report-000");
    let root = root.to_str().unwrap();
    let analyzed = casdiag(&[
        "analyze",
        root,
        "--fail-on",
        "never",
        "--out",
        kept.to_str().unwrap(),
    ]);
    assert_eq!(analyzed.code, Some(0));
    let file = kept.join("report.json");
    let other = samples().join("report-003");
    let other = other.to_str().unwrap();
    let without_names = |text: &str| {
        text.replace(file.to_str().unwrap(), "NAME")
            .replace(kept.to_str().unwrap(), "NAME")
            .replace(root, "NAME")
    };
    for format in ["text", "json", "markdown"] {
        let flags = ["--format", format, "--fail-on", "never"];
        let live = diff(root, other, &flags);
        assert!(!live.out.is_empty());
        for path in [&file, &kept] {
            let from_kept = diff(path.to_str().unwrap(), other, &flags);
            // Lines are filled to the terminal, and names of other lengths fill them otherwise.
            if format != "text" {
                assert_eq!(without_names(&from_kept.out), without_names(&live.out));
            }
            assert_eq!(
                diff(path.to_str().unwrap(), other, &flags).out,
                from_kept.out
            );
        }
    }
    let same = diff(file.to_str().unwrap(), root, &[]);
    assert_eq!(same.code, Some(0));
    assert!(same.out.starts_with("no new finding\n"), "{}", same.out);
}

#[test]
fn strangers_text_is_inert_in_a_comparison() {
    let good = folder("n1", &log(0, 59, ""));
    let hostile = crate::machine::hostile();
    for format in ["text", "json", "markdown"] {
        let ran = diff(
            good.path().to_str().unwrap(),
            hostile.path().to_str().unwrap(),
            &["--format", format, "--fail-on", "never"],
        );
        crate::hostile::is_inert(&ran.out);
    }
}

/// Two runs of a real cluster under the same work; in the second one the interserver port of n1 refused connections for
/// nine seconds (`bad.events.tsv` beside them). By hand, `grep -c 'e.code() = 111'` gives 10 on n2 of the second run and 0 else.
#[test]
fn of_two_runs_of_a_cluster_the_fault_is_named_first_and_nothing_that_both_have() {
    let case = repository("tests/cases/diff");
    let path = |name: &str| case.join(name).to_str().unwrap().to_owned();
    let (good, bad) = (path("good.tar.xz"), path("bad.tar.xz"));
    let ran = diff(&good, &bad, &["--format", "json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let read: Value = serde_json::from_str(&ran.out).unwrap();
    let changes = read["changes"].as_array().unwrap();
    let differing: Vec<(&str, &str, &str, u64)> = changes
        .iter()
        .filter(|it| it["direction"] != "same")
        .map(|it| {
            let text = |key: &str| it[key].as_str().unwrap_or("");
            let count = it["new"]["count"].as_u64().unwrap();
            (text("direction"), text("what"), text("node"), count)
        })
        .collect();
    let fault = [
        ("new", "fetch-storm", "", 1),
        // `grep -c 'Skipping action for part'`: parts that came in larger ones while their fetches failed.
        ("new", "part-present", "n2", 12),
        ("new", "queue-entry-error", "n2", 10),
        ("new", "queue-entry-failed", "n2", 10),
    ];
    assert_eq!(differing, fault);
    // The differences stand first.
    assert!(changes[..3].iter().all(|it| it["direction"] == "new"));
    assert!(
        changes[0]["title"]
            .as_str()
            .unwrap()
            .contains("n1 refuses connections")
    );
    // The same bytes again, and nothing new the other way round.
    assert_eq!(diff(&good, &bad, &["--format", "json"]).out, ran.out);
    assert_eq!(diff(&bad, &good, &[]).code, Some(0));
}

#[test]
fn both_sides_are_read_with_the_nodes_runs_and_times_that_are_asked_for() {
    let odd = record("10:00:50.000000", "Error", "x", "the frobnicator is stuck");
    let good = folder("n1", &log(0, 59, ""));
    let bad = folder("n1", &log(300, 59, &odd));
    let (base, new) = (
        good.path().to_str().unwrap().to_owned(),
        bad.path().to_str().unwrap().to_owned(),
    );
    assert_eq!(diff(&base, &new, &[]).code, Some(1));
    // What both hold from 10:30 on is the same.
    let later = diff(&base, &new, &["--since", "2026-09-01T10:30"]);
    assert_eq!(later.code, Some(0), "{}", later.out);
    assert!(!later.out.contains("code-210-storm"), "{}", later.out);
    let until = diff(&base, &new, &["--until", "2026-09-01T10:30"]);
    assert_eq!(until.code, Some(1));
    let named = [
        "--node",
        "web7=**/clickhouse-server.log",
        "--format",
        "json",
    ];
    let named = diff(&base, &new, &named);
    let named: Value = serde_json::from_str(&named.out).unwrap();
    assert_eq!(direction(&named, "signal", "relink-refused", "web7"), "new");
    let run = diff(&base, &new, &["--run", "**/n1", "--format", "markdown"]);
    assert_eq!(run.code, Some(1), "{}", run.err);
}

#[test]
fn a_kept_report_cannot_be_read_for_other_nodes_or_times() {
    let good = folder("n1", &log(0, 59, ""));
    let logs = good.path().to_str().unwrap().to_owned();
    let kept = Folder::with(
        "kept.json",
        casdiag(&["analyze", &logs, "--format", "json"]).out,
    );
    let kept = kept.path().join("kept.json");
    let kept = kept.to_str().unwrap();
    assert_eq!(diff(kept, &logs, &[]).code, Some(0));
    for flags in [
        ["--since", "2026-09-01"],
        ["--until", "2026-09-02"],
        ["--run", "*"],
        ["--node", "a=**"],
    ] {
        let ran = diff(kept, &logs, &flags);
        assert_eq!(ran.code, Some(2), "{flags:?}");
        assert!(ran.err.contains("kept report"), "{}", ran.err);
    }
}

#[test]
fn a_cause_leads_before_what_follows_from_it_and_the_length_is_said_to_be_a_sum() {
    let case = |name: &str| repository("tests/cases/clickhouse").join(name);
    let (base, new) = (case("01-baseline"), case("10-replace-partition-divergence"));
    let (base, new) = (base.to_str().unwrap(), new.to_str().unwrap());
    let ran = diff(base, new, &["--fail-on", "never"]);
    let place = |what: &str| {
        ran.out
            .find(what)
            .unwrap_or_else(|| panic!("{what}: {}", ran.out))
    };
    // Both are high, and diverged-replicas follows from fetch-storm.
    assert!(place("new      fetch-storm") < place("new      diverged-replicas"));
    assert!(
        ran.out.contains("the worst high: 21 fetches failed at n2"),
        "{}",
        ran.out
    );
    let words: Vec<&str> = ran.out.split_whitespace().collect();
    let text = words.join(" ");
    let lengths = text.matches(" of logs, all nodes added up");
    assert_eq!(lengths.count(), 2, "{text}");
}

/// Twelve fetches of a part that are refused, and the part behind them if it comes.
fn storm(comes: bool) -> String {
    let storage = "shop.orders (StorageReplicatedMergeTree)";
    let path = "/clickhouse/tables/orders/replicas/n1";
    let refused = "DB::StorageReplicatedMergeTree::queueTask()::<lambda(X&)>: Poco::Exception. Code: 1000, e.code() = 111, e.displayText() = Connection refused, e.what() = x";
    let mut log = String::new();
    for second in 0..12 {
        let at = format!("10:00:{second:02}.000000");
        log += &record(
            &at,
            "Debug",
            storage,
            &format!("Fetching part all_1_1_0 from {path}"),
        );
        log += &record(&at, "Error", storage, refused);
    }
    let part = if comes { "all_1_1_0" } else { "all_2_2_0" };
    log + &record(
        "10:00:20.000000",
        "Debug",
        storage,
        &format!("Fetched part {part} from {path}"),
    )
}

#[test]
fn a_storm_that_healed_in_one_and_not_in_the_other_differs() {
    let (healed, open) = (folder("n2", &storm(true)), folder("n2", &storm(false)));
    let path = |it: &Folder| it.path().to_str().unwrap().to_owned();
    let (healed_path, open_path) = (path(&healed), path(&open));
    let forth = json(&healed, &open);
    assert_eq!(direction(&forth, "finding", "fetch-storm", ""), "more");
    let back = json(&open, &healed);
    assert_eq!(direction(&back, "finding", "fetch-storm", ""), "less");
    let same = json(&open, &open);
    assert_eq!(direction(&same, "finding", "fetch-storm", ""), "same");
    let ran = diff(&healed_path, &open_path, &[]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(
        ran.out.contains("high, healed -> high, parts missing"),
        "{}",
        ran.out
    );
    let words: Vec<&str> = ran.out.split_whitespace().collect();
    let title = "1 part is still missing where the log ends";
    assert!(words.join(" ").contains(title), "{}", ran.out);
    assert_eq!(diff(&open_path, &healed_path, &[]).code, Some(0));
    // Each node by itself: one heals that did not, the other does not any more.
    healed.put("n3/clickhouse-server.log", storm(false));
    open.put("n3/clickhouse-server.log", storm(true));
    let ran = diff(&healed_path, &open_path, &[]);
    assert_eq!(ran.code, Some(1), "{}", ran.out);
    assert!(ran.out.contains("12 fetches failed at n2"), "{}", ran.out);
}
