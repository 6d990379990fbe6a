//! Step 2: what follows from single records that stand in an order, on a thread, on a node, or do not stand there.
//!
//! Conditions are tried with small rules of the tests' own, so that what is asked stands beside what is logged.

mod absence;
mod claims;
mod clocks;
mod context;
mod coverage;
mod ends;
mod entries;
mod explain;
mod healing;
mod ignore;
mod incidents;
mod levels;
mod order;
mod queue;
mod several;
mod stall;
mod steps;
mod windows;

use casdiag::pipeline::{self, Progress};
use casdiag::report::assemble;
use casdiag::report::model::Report;
use casdiag::rules;

use crate::product::{self, Folder, record};

/// Three kinds of records, `event-a of X`, `event-b of X` and `event-c of X`.
fn signals() -> String {
    let signal = |letter: &str| {
        format!(
            "[[signal]]\nid = \"{letter}\"\nwhat = \"w\"\ntemplates = [\"event-{letter} of {{subject:word}}\"]\ntop = [\"subject\"]\n"
        )
    };
    ["a", "b", "c"].map(signal).concat()
}

/// A rule that counts the three kinds under their letters; `more` are further keys.
fn rule(id: &str, more: &str, when: &str) -> String {
    format!(
        "[[rule]]\nid = \"{id}\"\ntitle = \"t\"\ncategory = \"c\"\ncounts.a = {{ signal = \"a\" }}\ncounts.b = {{ signal = \"b\" }}\n\
         counts.c = {{ signal = \"c\" }}\nmechanism = \"m\"\nwhen = {when}\n{more}\n\
         [[rule.verdict]]\nseverity = \"low\"\nconfidence = \"certain\"\ntitle = \"{id} at {{reporters}}\"\n"
    )
}

/// A main log: each event is a time of day and a letter, as `10:00:03.5 a`, or any other text.
fn log(events: &[&str]) -> String {
    let line = |event: &&str| {
        let (time, what) = event.split_once(' ').unwrap();
        let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
        let message = match what {
            "a" | "b" | "c" => format!("event-{what} of x"),
            other => other.to_owned(),
        };
        record(&format!("{clock}.{fraction:0<6}"), "Debug", "l", &message)
    };
    events.iter().map(line).collect()
}

/// A folder of main logs by node.
fn logs(nodes: &[(&str, &[&str])]) -> Folder {
    let folder = Folder::new();
    for (node, events) in nodes {
        folder.put(&format!("{node}/clickhouse-server.log"), log(events));
    }
    folder
}

/// The report of a folder under the built-in rules and these.
fn report_with(rules: &str, folder: &Folder) -> Report {
    let base = rules::load(&[("tests.toml".to_owned(), rules.to_owned())])
        .unwrap_or_else(|error| panic!("{error:?}\n{rules}"));
    let plan = product::plan(folder.path());
    let analysis = pipeline::analyze(&plan, &base, &Progress::default()).unwrap();
    assemble::report(&analysis, &base)
}

/// Whether a rule with this condition fires over the logs.
fn fires(when: &str, nodes: &[(&str, &[&str])]) -> bool {
    fires_in(when, &logs(nodes))
}

/// Whether a rule with this condition fires over the folder.
fn fires_in(when: &str, folder: &Folder) -> bool {
    let report = report_with(&(signals() + &rule("asked", "", when)), folder);
    report.findings.iter().any(|it| it.rule == "asked")
}
