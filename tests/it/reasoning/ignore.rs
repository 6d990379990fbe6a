//! What is left out by request: it is no finding, it is listed with its reason, and it comes back when its day has come.

use casdiag::report::model::Report;

use super::{logs, report_with, rule, signals};
use crate::product::{Folder, analyze, casdiag, fired, record};

const WHEN: &str = "{ count = \"a\", at-least = 1 }";

/// The logs of the tests are of 2026-09-01.
fn entry(target: &str, expires: &str) -> String {
    format!(
        "[[ignore]]\nid = \"bench\"\nreason = \"The bench does that.\"\nexpires = \"{expires}\"\n{target}\n"
    )
}

fn report(target: &str, expires: &str) -> Report {
    let rules = signals() + &rule("mine", "", WHEN) + &entry(target, expires);
    let nodes: [(&str, &[&str]); 2] = [("n1", &["10:00:00 a"]), ("n2", &["10:00:05 quiet"])];
    report_with(&rules, &logs(&nodes))
}

#[test]
fn a_finding_is_left_out_with_its_reason_and_comes_back_on_the_day() {
    let out = report("rule = \"mine\"", "2026-09-02");
    assert_eq!(fired(&out), Vec::<&str>::new());
    let [row] = &out.coverage.ignored[..] else {
        panic!("{:?}", out.coverage.ignored)
    };
    let told = (row.id.as_str(), row.because.as_str(), row.expires.as_str());
    assert_eq!(told, ("bench", "The bench does that.", "2026-09-02"));
    assert_eq!((row.count, row.expired), (1, 0));
    assert_eq!(row.titles, ["mine at n1"]);
    // On the day itself it is over, whatever the day of the one who asks.
    let back = report("rule = \"mine\"", "2026-09-01");
    assert_eq!(fired(&back), ["mine"]);
    let row = &back.coverage.ignored[0];
    assert_eq!((row.count, row.expired), (0, 1));
}

#[test]
fn an_entry_for_a_node_leaves_out_what_that_node_alone_reports() {
    let fired_with = |node: &str| {
        let target = format!("rule = \"mine\"\nnode = \"{node}\"");
        let report = report(&target, "2026-12-01");
        report.findings.len()
    };
    assert_eq!((fired_with("n1"), fired_with("n2")), (0, 1));
}

#[test]
fn another_rule_of_the_same_records_stays() {
    let rules = signals()
        + &rule("mine", "", WHEN)
        + &rule("other", "caused-by = [\"mine\"]", WHEN)
        + &entry("rule = \"mine\"", "2026-12-01");
    let out = report_with(&rules, &logs(&[("n1", &["10:00:00 a"])]));
    assert_eq!(fired(&out), ["other"]);
    // What is no finding explains none.
    assert_eq!(out.findings[0].caused_by, Vec::<String>::new());
    assert_eq!(out.incidents.len(), 1);
}

#[test]
fn unexplained_records_that_hold_a_text_are_left_out_of_the_unexplained() {
    let error =
        |second: u32, text: &str| record(&format!("10:00:{second:02}.000000"), "Error", "l", text);
    let log = error(1, "the dictionary 'prices' is gone")
        + &error(2, "the dictionary 'prices' is gone")
        + &error(3, "the frobnicator is stuck");
    let folder = Folder::with("n1/clickhouse-server.log", &log);
    let whole = report_with(&signals(), &folder);
    assert_eq!(whole.coverage.unexplained.len(), 2);
    let rules = signals() + &entry("text = \"dictionary 'prices'\"", "2026-12-01");
    let out = report_with(&rules, &folder);
    let left: Vec<u64> = out.coverage.unexplained.iter().map(|it| it.count).collect();
    assert_eq!(left, [1]);
    assert_eq!(out.coverage.ignored[0].count, 2);
    assert_eq!(out.coverage.error_records, 3);
    assert_eq!(out.coverage.explained, 2);
}

#[test]
fn of_records_of_one_template_only_those_that_hold_the_text_are_left_out() {
    let error =
        |second: u32, text: &str| record(&format!("10:00:{second:02}.000000"), "Error", "l", text);
    let gone = |of: &str| format!("the dictionary '{of}' is gone");
    let rules = signals() + &entry("text = \"dictionary 'prices'\"", "2026-12-01");
    // Whichever of them comes first and is the example of all.
    for order in [["prices", "stock", "prices"], ["stock", "prices", "prices"]] {
        let log: String = (1..)
            .zip(order)
            .map(|(second, of)| error(second, &gone(of)))
            .collect();
        let folder = Folder::with("n1/clickhouse-server.log", log);
        let without = report_with(&signals(), &folder);
        assert_eq!(without.coverage.unexplained.len(), 1, "one template");
        let out = report_with(&rules, &folder);
        let left: Vec<u64> = out.coverage.unexplained.iter().map(|it| it.count).collect();
        assert_eq!(left, [1], "{order:?}");
        assert_eq!(out.coverage.ignored[0].count, 2);
    }
}

#[test]
fn of_records_of_one_signal_only_those_that_hold_the_text_are_left_out() {
    let error = |second: u32, subject: &str| {
        let text = format!("event-b of {subject}");
        record(&format!("10:00:{second:02}.000000"), "Error", "l", &text)
    };
    let log = error(1, "bench") + &error(2, "shop") + &error(3, "shop");
    let folder = Folder::with("n1/clickhouse-server.log", log);
    let rules = signals() + &entry("text = \"event-b of bench\"", "2026-12-01");
    let out = report_with(&rules, &folder);
    let left: Vec<u64> = out.coverage.unexplained.iter().map(|it| it.count).collect();
    assert_eq!(left, [2]);
    assert_eq!(out.coverage.ignored[0].count, 1);
}

#[test]
fn what_has_no_date_is_not_left_out() {
    let rules = "[[signal]]\nid = \"nack\"\nwhat = \"w\"\nformat = \"ha-controller\"\ntemplates = [\"WAL NACK from standby lsn={lsn:int}\"]\n\
                 [[rule]]\nid = \"nacked\"\ntitle = \"t\"\ncategory = \"c\"\ncounts.a = { signal = \"nack\" }\nwhen = { count = \"a\", at-least = 1 }\nmechanism = \"m\"\n\
                 [[rule.verdict]]\nseverity = \"low\"\nconfidence = \"certain\"\ntitle = \"t\"\n"
        .to_owned();
    let log = "07:06:48,603 ctrl-2 repl_ack_decode_and_dispatch: WAL NACK from standby lsn=342 success=0 — marking catch-up\n";
    let folder = Folder::with("ctrl-2.log", log);
    let out = report_with(
        &(rules + &entry("rule = \"nacked\"", "2099-01-01")),
        &folder,
    );
    assert!(fired(&out).contains(&"nacked"), "{:?}", fired(&out));
    assert_eq!(out.coverage.ignored[0].expired, 1);
}

#[test]
fn what_is_left_out_fails_no_command_and_is_told_in_every_output_for_people() {
    let refusal = "Code: 210. DB::Exception: Source n2 did not prove it still holds the manifest it offered for part all_1_1_0 by relink; the relink is abandoned";
    let one = |nth: u32| record(&format!("10:00:{nth:02}.000000"), "Error", "q.s", refusal);
    let folder = Folder::with(
        "n1/clickhouse-server.log",
        (0..20).map(one).collect::<String>(),
    );
    let text = entry("rule = \"code-210-storm\"", "2026-10-01");
    let beside = Folder::new();
    let rules = beside.put("rules.toml", text);
    let rules = rules.to_str().unwrap();
    let of = |format: &str| analyze(folder.path(), &["--rules", rules, "--format", format]);
    assert_eq!(analyze(folder.path(), &[]).code, Some(1));
    for format in ["text", "markdown", "html"] {
        let ran = of(format);
        assert_eq!(ran.code, Some(0), "{format}: {}", ran.err);
        let told = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
        let says = "1 finding left out by bench until 2026-10-01: The bench does that.";
        assert!(told.contains(says), "{format}: {told}");
    }
    assert_eq!(of("json").report().coverage.ignored[0].count, 1);
}

#[test]
fn an_entry_without_a_reason_a_day_or_one_target_is_refused() {
    let folder = Folder::new();
    let whole = entry("rule = \"server-crash\"", "2026-10-01");
    let cases = [
        (
            whole.replace("The bench does that.", " "),
            "an empty reason",
        ),
        (
            whole.replace("reason = \"The bench does that.\"\n", ""),
            "missing field `reason`",
        ),
        (
            whole.replace("2026-10-01", "next week"),
            "\"next week\" is no day",
        ),
        (whole.replace("2026-10-01", "2026-10-01T12:00"), "is no day"),
        (
            whole.replace("server-crash", "server-crush"),
            "there is no rule \"server-crush\"",
        ),
        (
            whole.replace("rule = \"server-crash\"", ""),
            "ignores nothing, or two things",
        ),
        (
            whole.clone() + "text = \"abcd\"\n",
            "ignores nothing, or two things",
        ),
        (
            entry("text = \"a\"", "2026-10-01"),
            "a text that is in too many records",
        ),
    ];
    for (text, says) in cases {
        let file = folder.put("mine.toml", &text);
        let ran = casdiag(&["rules", "lint", "--rules", file.to_str().unwrap()]);
        assert_eq!(ran.code, Some(2), "{text}");
        assert!(ran.err.contains(says), "{says}: {}", ran.err);
    }
}
