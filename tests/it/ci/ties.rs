//! What ties a failing test to what servers logged: the meaning of a code and not its number, the time, tables, a death.

use casdiag::report::model::Report;
use casdiag::report::model::tests::TestGroup;

use super::ci;
use super::flow::Flow;
use crate::containers::pack::{DEFLATED, Files, xz, zip};
use crate::product::{Folder, record};

/// 2026-09-01T10:00:00Z, when the logs begin.
const TEN: f64 = 1_788_220_800.0 + 36_000.0;

const REFUSAL: &str = "Source n2 did not prove it still holds the manifest it offered for part all_1_1_0 by relink; the relink is abandoned and the fetch will be retried later. (NETWORK_ERROR)";

/// A log with twenty refused relinks of a table in the second minute.
fn storm(table: &str) -> String {
    let mut log = record("10:00:00.000000", "Information", "Application", "begins");
    for nth in 0..20 {
        let at = format!("10:01:{nth:02}.000000");
        log += &record(
            &at,
            "Error",
            table,
            &format!("Code: 210. DB::Exception: {REFUSAL}"),
        );
    }
    log + &record("10:40:00.000000", "Information", "Application", "ends")
}

/// A run of scenarios, each from a minute to another, with what it runs and says.
fn run(scenarios: &[(&str, f64, f64, &str, &str)]) -> String {
    let mut flow = Flow::new(TEN);
    let mut root = flow.root("suite");
    let mut feature = flow.begin(&mut root, "feature", "Suite", "Feature");
    for (name, from, to, statement, message) in scenarios {
        flow.now = TEN + from * 60.0;
        let scenario = flow.begin(&mut feature, name, "Test", "Scenario");
        flow.say(&scenario, "n1", &format!("bash# client -q \"{statement}\""));
        flow.now = TEN + to * 60.0;
        flow.end(&scenario, "Fail", Some(message));
    }
    flow.now = TEN + 39.0 * 60.0;
    for test in [&feature, &root] {
        flow.end(test, "Fail", None);
    }
    flow.stop(&root);
    flow.text
}

fn group<'r>(report: &'r Report, test: &str) -> &'r TestGroup {
    let holds = |group: &&TestGroup| group.leaves.iter().any(|leaf| leaf.test.ends_with(test));
    let found = report.tests.groups.iter().find(holds);
    found.unwrap_or_else(|| panic!("no group of {test}"))
}

fn id_of(report: &Report, rule: &str) -> String {
    let found = report.findings.iter().find(|it| it.rule == rule);
    found.unwrap_or_else(|| panic!("no {rule}")).id.clone()
}

/// The question of `ci` is what became of the tests, so the page leads with them as all other outputs do.
#[test]
fn the_page_leads_with_the_tests_that_fail_and_then_names_the_worst_finding() {
    let folder = Folder::with("_instances/n1/logs/clickhouse-server.log", storm("q.s"));
    folder.put(
        "raw.log",
        run(&[("one", 1.0, 2.0, "SELECT 1", "it failed")]),
    );
    let heading = |arguments: &[&str]| {
        let page = ci(folder.path(), arguments).out;
        let (_, rest) = page.split_once("<h1>").unwrap();
        let (heading, rest) = rest.split_once("</h1>").unwrap();
        (heading.to_owned(), rest.to_owned())
    };
    let (heading, rest) = heading(&["--format", "html"]);
    assert!(
        heading.starts_with("1 failing leaf, 1 failure"),
        "{heading}"
    );
    let text = ci(folder.path(), &[]).out;
    assert!(
        text.starts_with(&format!("TESTS FAIL: {heading}")),
        "{text}"
    );
    let (badges, _) = rest.split_once("Reported by").unwrap();
    assert!(badges.contains("20 relinks refused at n1"), "{badges}");
}

#[test]
fn a_code_of_another_meaning_ties_nothing() {
    let folder = Folder::with("_instances/n1/logs/clickhouse-server.log", storm("q.s"));
    let empty = "Code: 49. DB::Exception: Chosen multipart upload for an empty file. This must not happen. (LOGICAL_ERROR)";
    let log = record("10:01:30.000000", "Error", "executeQuery", empty);
    folder.put(
        "_instances/n3/logs/clickhouse-server.log",
        storm("q.s") + &log,
    );
    let told = format!("Code: 210. DB::Exception: Received from n1:9000. DB::Exception: {REFUSAL}");
    let text = run(&[
        (
            "network",
            1.0,
            2.0,
            "SELECT 1",
            "Code: 210. DB::NetException: Connection refused (n1:9000). (NETWORK_ERROR)",
        ),
        ("relink", 1.0, 2.0, "SELECT 1", &told),
        (
            "cast",
            1.0,
            2.0,
            "SELECT 1",
            "Code: 49. DB::Exception: Bad cast from type A to B. (LOGICAL_ERROR)",
        ),
        ("upload", 1.0, 2.0, "SELECT 1", empty),
    ]);
    folder.put("raw.log", text);
    let report = ci(folder.path(), &["--format", "json"]).report();
    for test in ["network", "cast"] {
        let other = group(&report, test);
        assert!(other.ties.is_empty(), "{test}: {:?}", other.ties);
        assert_eq!(other.cause, None);
    }
    for (test, rule) in [
        ("relink", "code-210-storm"),
        ("upload", "empty-multipart-upload"),
    ] {
        let same = group(&report, test);
        assert_eq!(same.cause, Some(id_of(&report, rule)), "{test}");
        let tie = &same.ties[0];
        assert_eq!(
            (tie.how.as_str(), tie.same_text, tie.timed),
            ("code", true, true),
            "{test}"
        );
    }
}

#[test]
fn a_code_at_no_known_time_names_no_cause() {
    let xml = |attributes: &str| {
        format!(
            "<testsuite name=\"s\" tests=\"1\" failures=\"1\" {attributes}><testcase classname=\"c\" name=\"relink\">\
             <failure message=\"Code: 210. DB::Exception: {REFUSAL}\"/></testcase></testsuite>"
        )
    };
    let cases = [
        ("", Some(false)),
        (
            "timestamp=\"2026-09-01T10:00:30+00:00\" time=\"120\"",
            Some(true),
        ),
        ("timestamp=\"2026-09-01T18:00:30+00:00\" time=\"120\"", None),
    ];
    for (attributes, timed) in cases {
        let folder = Folder::with("_instances/n1/logs/clickhouse-server.log", storm("q.s"));
        folder.put("report.xml", xml(attributes));
        let report = ci(folder.path(), &["--format", "json", "--tz", "UTC"]).report();
        let one = group(&report, "relink");
        assert_eq!(one.ties.first().map(|tie| tie.timed), timed, "{attributes}");
        if timed == Some(true) {
            assert_eq!(one.cause, Some(id_of(&report, "code-210-storm")));
        } else {
            assert_eq!(
                (one.cause.as_ref(), one.role.as_str()),
                (None, "unknown"),
                "{attributes}"
            );
            assert_eq!(
                one.why.contains("not observable"),
                timed.is_some(),
                "{}",
                one.why
            );
        }
    }
}

#[test]
fn tables_tie_however_a_statement_names_them() {
    let folder = Folder::with(
        "_instances/n1/logs/clickhouse-server.log",
        storm("shop.dest_77 (0a)"),
    );
    let text = run(&[
        (
            "select",
            1.0,
            2.0,
            "select count() from shop.dest_77",
            "rows differ 1",
        ),
        (
            "insert",
            1.0,
            2.0,
            "INSERT INTO `shop`.`dest_77` VALUES (1)",
            "rows differ 2",
        ),
        (
            "alter",
            1.0,
            2.0,
            "alter table dest_77 drop partition 1",
            "rows differ 3",
        ),
        (
            "elsewhere",
            1.0,
            2.0,
            "select count() from shop.dest_78",
            "rows differ 4",
        ),
        (
            "elsewhen",
            30.0,
            31.0,
            "select count() from shop.dest_77",
            "rows differ 5",
        ),
    ]);
    folder.put("raw.log", text);
    let report = ci(folder.path(), &["--format", "json"]).report();
    for test in ["select", "insert", "alter"] {
        let one = group(&report, test);
        assert_eq!(one.ties[0].how, "table", "{test}");
        assert_eq!(
            (one.ties[0].records, one.ties[0].timed),
            (20, true),
            "{test}"
        );
    }
    for test in ["elsewhere", "elsewhen"] {
        assert!(group(&report, test).ties.is_empty(), "{test}");
    }
}

/// Checks that these tests are put down to the death of a server whose last words the cause cites.
fn assert_collateral(report: &Report, tests: &[&str]) {
    for &test in tests {
        let one = group(report, test);
        assert_eq!(
            (one.role.as_str(), one.ties[0].how.as_str()),
            ("collateral", "death"),
            "{test}: {}",
            one.why
        );
        let cause = report
            .findings
            .iter()
            .find(|it| Some(&it.id) == one.cause.as_ref())
            .unwrap();
        assert!(
            cause
                .evidence
                .iter()
                .any(|it| it.text.contains("Received signal Segmentation fault")),
            "{test}"
        );
    }
}

#[test]
fn in_an_artifact_that_is_a_zip_what_waited_for_a_dead_server_is_collateral() {
    let mut log = storm("q.s");
    log.truncate(log.len() - record("10:40:00.000000", "Information", "Application", "ends").len());
    log += &record(
        "10:05:00.000000",
        "Fatal",
        "BaseDaemon",
        "(version 26.6.2.1, build id: 7B1E) (from thread 38807) (no query) Received signal Segmentation fault (11)",
    );
    let refused = "Code: 210. DB::NetException: Connection refused (n1:9000). (NETWORK_ERROR)";
    let text = run(&[
        ("before", 2.0, 3.0, "SELECT 1", refused),
        (
            "during",
            4.0,
            6.0,
            "SELECT 1",
            "Code: 210. DB::NetException: Connection refused (n1:9000). (NETWORK_ERROR) during",
        ),
        (
            "after",
            20.0,
            30.0,
            "SELECT 1",
            "ExpectTimeoutError: Timeout 600.000s for 'bash# '",
        ),
    ]);
    let members: Files = vec![
        (
            "suite/_instances/n1/logs/clickhouse-server.log".to_owned(),
            log.into_bytes(),
        ),
        (
            "suite/_instances/n2/logs/clickhouse-server.log".to_owned(),
            storm("q.s").into_bytes(),
        ),
        ("raw.log".to_owned(), xz(text.as_bytes())),
    ];
    let folder = Folder::with("artifact.zip", zip(&members, DEFLATED));
    let ran = ci(folder.path(), &["--format", "json"]);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    let report = ran.report();
    assert!(
        report
            .inputs
            .iter()
            .any(|it| it.path.ends_with("artifact.zip!/raw.log") && it.format == "testflows-raw")
    );
    assert_eq!(
        report.records.by_node.keys().collect::<Vec<_>>(),
        ["n1", "n2"]
    );
    assert_collateral(&report, &["during", "after"]);
    let before = group(&report, "before");
    assert!(
        before.ties.iter().all(|tie| tie.how != "death"),
        "{:?}",
        before.ties
    );
    assert_ne!(before.role, "collateral");
}
