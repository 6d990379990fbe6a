//! `casdiag diff`: what is new, gone, more and less in a report against another. One value is compared once and rendered
//! into each output; a kind of thing to compare is one row of `KINDS`.

mod findings;
mod markdown;
mod measure;
mod signals;
mod templates;
mod tests;
mod text;

use std::cmp::Reverse;
use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use crate::report::model::{Report, Tool};
use crate::report::{Style, figures, json};
use crate::vocab::Severity;

pub use findings::Place;
use measure::Exposure;
pub use measure::Measure;

/// The schema's name.
const SCHEMA: &str = "casdiag.diff/1";

/// Nodes named in a sentence.
const NODES_MAX: usize = 6;

/// How two reports differ.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Diff {
    /// `casdiag.diff/1`.
    pub schema: &'static str,
    /// What wrote it.
    pub tool: Tool,
    /// From which severity on a new finding fails the command; none where nothing does.
    pub fail_on: Option<Severity>,
    /// What is compared with.
    pub base: Side,
    /// What is compared.
    pub new: Side,
    /// Whether the two cover times of about the same length; if not, counts are compared by the hour.
    pub same_length: bool,
    /// What differs and what does not: by kind, and in it the worst first.
    pub changes: Vec<Change>,
    /// What the comparison cannot say.
    pub remarks: Vec<String>,
    /// Whether tests may fail in the new one that it does not list.
    pub open: bool,
}

/// One of the two reports.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Side {
    /// What the user named.
    pub name: String,
    /// Whether everything recognised was read whole.
    pub complete: bool,
    /// Its records.
    pub records: u64,
    /// Its reporters.
    pub nodes: Vec<String>,
    /// How long they log, in seconds, all nodes added up; none where no record has a stamp.
    pub node_seconds: Option<f64>,
}

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Failing tests by name.
    Test,
    /// Failures of tests by what they have in common.
    Failure,
    /// Findings by rule.
    Finding,
    /// Signals by node.
    Signal,
    /// Templates of Error and Fatal records that nothing explains.
    Template,
}

/// How a thing differs; ordered by how much a reader wants to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Only the new one has it.
    New,
    /// The new one has more of it, or it is worse.
    More,
    /// One of the two could not have shown it.
    Unknown,
    /// The new one has less of it, or it is milder.
    Less,
    /// Only the base has it.
    Gone,
    /// No difference beyond chance.
    Same,
}

/// One thing compared.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Change {
    /// What kind of thing.
    pub kind: Kind,
    /// How it differs.
    pub direction: Direction,
    /// The rule, the signal or the template.
    pub what: String,
    /// The node, for what is counted by node; for findings, nodes on which the base has none of the rule.
    pub node: Option<String>,
    /// The worst severity in the new report, else in the base.
    pub severity: Option<Severity>,
    /// The finding's sentence, or what a signal means.
    pub title: Option<String>,
    /// In the base.
    pub base: Measure,
    /// In the new report.
    pub new: Measure,
    /// Whether parts are missing at the end that came in the base.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub unhealed: bool,
    /// Whether it is what says of a run that it failed: such a failure has no test.
    #[serde(skip)]
    pub of_run: bool,
    /// Where a finding stands among the others.
    #[serde(skip)]
    pub place: Place,
}

/// Compares things of a kind.
type Compare = fn(&Pair<'_>) -> Vec<Change>;

/// Every kind of thing that is compared.
const KINDS: &[Compare] = &[
    tests::compare_tests,
    tests::compare_failures,
    findings::compare,
    signals::compare,
    templates::compare,
];

/// Two reports, and how long each of their nodes logs.
struct Pair<'r> {
    base: &'r Report,
    new: &'r Report,
    base_time: Exposure,
    new_time: Exposure,
}

/// Compares a report with a base; `names` are what the user called them.
pub fn compare(
    base: &Report,
    new: &Report,
    names: (&str, &str),
    fail_on: Option<Severity>,
) -> Diff {
    let pair = Pair {
        base,
        new,
        base_time: Exposure::of(base),
        new_time: Exposure::of(new),
    };
    let mut changes: Vec<Change> = KINDS.iter().flat_map(|compare| compare(&pair)).collect();
    changes.sort_by(|a, b| {
        let rank = |it: &Change| (it.kind, it.direction, it.place, Reverse(it.severity));
        rank(a)
            .cmp(&rank(b))
            .then_with(|| (&a.what, &a.node).cmp(&(&b.what, &b.node)))
    });
    Diff {
        schema: SCHEMA,
        tool: new.tool.clone(),
        fail_on,
        base: side(base, names.0, &pair.base_time),
        new: side(new, names.1, &pair.new_time),
        same_length: pair.base_time.is_like(&pair.new_time),
        remarks: remarks(&pair),
        open: tests::may_hide_failures(&pair),
        changes,
    }
}

fn side(report: &Report, name: &str, time: &Exposure) -> Side {
    Side {
        name: name.to_owned(),
        complete: report.complete,
        records: report.records.total,
        nodes: time.nodes().map(str::to_owned).collect(),
        node_seconds: time.seconds(),
    }
}

fn remarks(pair: &Pair<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    for (name, report) in [("the base", pair.base), ("the new one", pair.new)] {
        if !report.complete {
            remarks.push(format!(
                "{name} is partial: not everything recognised was read whole"
            ));
        }
    }
    let has_tests = [pair.base, pair.new].map(tests::has_any);
    for (name, has) in [("the base", has_tests[0]), ("the new one", has_tests[1])] {
        if !has && has_tests.contains(&true) {
            remarks.push(format!(
                "{name} has no results of tests, so what fails in the other may be old or new"
            ));
        }
    }
    if has_tests[1] && tests::may_hide_failures(pair) {
        remarks.push("runs of tests in the new one are not told whole, so tests of them may fail that are not listed".to_owned());
    }
    if pair.base.redacted || pair.new.redacted {
        remarks.push("a masked report's names are its own: the same mask stands for different names in two reports".to_owned());
    }
    let only = |one: &Exposure, other: &Exposure| -> Vec<String> {
        one.nodes()
            .filter(|it| !other.has(it))
            .map(str::to_owned)
            .collect()
    };
    for (name, nodes) in [
        ("the base", only(&pair.base_time, &pair.new_time)),
        ("the new one", only(&pair.new_time, &pair.base_time)),
    ] {
        if !nodes.is_empty() {
            let nodes = figures::names(&nodes, NODES_MAX);
            remarks.push(format!(
                "only {name} has {nodes}: signals are also compared over all nodes"
            ));
        }
    }
    if pair.base.tool.version != pair.new.tool.version {
        remarks.push(format!(
            "the base was made by version {}, the new one by {}: rules may differ",
            pair.base.tool.version, pair.new.tool.version
        ));
    }
    remarks
}

impl Change {
    /// Whether it is a test that fails, or a run that says so itself. Tests that failed before may fail with another message
    /// now: that is another failure, and no test that failed anew.
    fn is_failing(&self) -> bool {
        self.kind == Kind::Test || self.of_run
    }
}

impl Diff {
    /// Whether a test fails that did not, or a finding is new or worse than in the base, and as bad as fails the command.
    pub fn fails(&self) -> bool {
        let is_new_failure = |it: &Change| it.is_failing() && it.direction == Direction::New;
        if self.fail_on.is_some() && self.changes.iter().any(is_new_failure) {
            return true;
        }
        let is_worse = |it: &Change| match it.direction {
            Direction::New => true,
            Direction::More => it.unhealed || it.new.severity > it.base.severity,
            Direction::Unknown | Direction::Less | Direction::Gone | Direction::Same => false,
        };
        self.fail_on.is_some_and(|least| {
            self.changes
                .iter()
                .filter(|it| it.kind == Kind::Finding && is_worse(it))
                .any(|it| it.new.severity >= Some(least))
        })
    }

    /// Whether tests or runs fail of which the base cannot say that they did not, or may fail without being listed.
    pub fn leaves_open(&self) -> bool {
        let fails = |it: &Change| it.is_failing() && it.new.count.is_some_and(|it| it > 0);
        let mut changes = self.changes.iter();
        self.open || changes.any(|it| fails(it) && it.direction == Direction::Unknown)
    }

    /// Those that differ, of a kind.
    fn differing(&self, kind: Kind) -> Vec<&Change> {
        let changes = self.changes.iter();
        changes
            .filter(|it| it.kind == kind && it.direction != Direction::Same)
            .collect()
    }

    /// How many of a kind do not.
    fn same(&self, kind: Kind) -> usize {
        let changes = self.changes.iter();
        changes
            .filter(|it| it.kind == kind && it.direction == Direction::Same)
            .count()
    }
}

/// An output of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct DiffOutput {
    /// Its name in `--format`.
    pub name: &'static str,
    /// Writes it.
    pub write: fn(&Diff, &Style, &mut dyn Write) -> io::Result<()>,
}

/// Every output; the first is the default.
pub const DIFF_OUTPUTS: &[DiffOutput] = &[
    DiffOutput {
        name: "text",
        write: text::write,
    },
    DiffOutput {
        name: "json",
        write: |diff, _, out| json::write_inert(diff, out),
    },
    DiffOutput {
        name: "markdown",
        write: markdown::write,
    },
];

/// The headings of the kinds, in their order.
const HEADINGS: &[(Kind, &str)] = &[
    (Kind::Test, "failing tests"),
    (Kind::Failure, "failures of tests"),
    (Kind::Finding, "findings"),
    (Kind::Signal, "signals by node"),
    (Kind::Template, "unexplained templates"),
];

/// The word for a direction.
fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::New => "new",
        Direction::More => "more",
        Direction::Unknown => "unknown",
        Direction::Less => "less",
        Direction::Gone => "gone",
        Direction::Same => "same",
    }
}

/// How many things differ in which way, in words; none where nothing does.
fn summary(changes: &[&Change]) -> Option<String> {
    let parts = [
        Direction::New,
        Direction::More,
        Direction::Unknown,
        Direction::Less,
        Direction::Gone,
    ]
    .map(|direction| {
        let count = changes
            .iter()
            .filter(|it| it.direction == direction)
            .count();
        (count > 0).then(|| format!("{count} {}", word(direction)))
    });
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The first line: what is new and how bad.
fn verdict(diff: &Diff) -> String {
    let findings = diff.differing(Kind::Finding);
    let new: Vec<&&Change> = findings
        .iter()
        .filter(|it| it.direction == Direction::New)
        .collect();
    let worse = findings
        .iter()
        .filter(|it| it.direction == Direction::More)
        .count();
    let said = match (new.first(), worse) {
        (Some(first), _) => {
            let worst = new.iter().filter_map(|it| it.severity).max();
            let is_milder = first.severity < worst;
            let cause = if is_milder { ", its cause first" } else { "" };
            format!(
                "{} {} the base does not have, the worst {}{cause}: {}",
                new.len(),
                if new.len() == 1 {
                    "finding that"
                } else {
                    "findings that"
                },
                worst.map_or("", Severity::word),
                first.title.as_deref().unwrap_or(&first.what),
            )
        }
        (None, 1) => "no new finding; 1 is worse or more frequent than in the base".to_owned(),
        (None, worse) if worse > 1 => {
            format!("no new finding; {worse} are worse or more frequent than in the base")
        }
        _ => "no new finding".to_owned(),
    };
    match of_tests(diff) {
        Some(tests) => format!("{tests}; {said}"),
        None => said,
    }
}

/// What of the tests is new, in a clause; nothing where neither side has failing ones.
fn of_tests(diff: &Diff) -> Option<String> {
    let count = |kind: Kind, direction: Direction| {
        let changes = diff.changes.iter();
        let fits = changes.filter(|it| it.kind == kind && it.direction == direction);
        u64::try_from(fits.count()).unwrap_or(u64::MAX)
    };
    let (new, gone) = (
        count(Kind::Test, Direction::New),
        count(Kind::Test, Direction::Gone),
    );
    let open = count(Kind::Test, Direction::Unknown);
    let of_runs = diff.changes.iter().filter(|it| it.of_run);
    let open_runs = of_runs
        .filter(|it| it.direction == Direction::Unknown)
        .count();
    let open_runs = u64::try_from(open_runs).unwrap_or(u64::MAX);
    let failures = count(Kind::Failure, Direction::New);
    let parts = [
        (
            new,
            figures::counted(new, "test fails", "tests fail") + " that did not in the base",
        ),
        (
            if new == 0 { failures } else { 0 },
            figures::counted(failures, "failure", "failures") + " of tests not in the base",
        ),
        (
            gone,
            figures::counted(gone, "test fails", "tests fail") + " no more",
        ),
        (
            open,
            figures::counted(open, "failing test", "failing tests")
                + " that one side could not have shown",
        ),
        (
            open_runs,
            figures::counted(open_runs, "failure of a run", "failures of runs")
                + " that one side could not have shown",
        ),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(_, words)| words)
        .collect();
    let has_any = diff.changes.iter().any(|it| it.kind == Kind::Test);
    if parts.is_empty() {
        return has_any.then(|| "no test fails that did not in the base".to_owned());
    }
    Some(parts.join(", "))
}

/// What a change is about: the node of a signal, the severity of a finding.
fn subject(change: &Change) -> String {
    match (&change.node, change.kind) {
        (Some(node), _) => format!("{} on {node}", change.what),
        (None, Kind::Signal) => format!("{} on all nodes", change.what),
        (None, Kind::Test | Kind::Failure | Kind::Finding | Kind::Template) => change.what.clone(),
    }
}

/// A measure as written: of a finding how bad and how often, of a count the count and where wanted its rate.
fn written(measure: &Measure, by_hour: bool) -> String {
    let Some(count) = measure.count else {
        return "n/o".to_owned();
    };
    if count == 0 {
        return "0".to_owned();
    }
    let count = figures::thousands(count);
    let healing = measure
        .healing
        .map_or_else(String::new, |it| format!(", {}", it.words()));
    match (measure.severity, measure.per_hour) {
        (Some(severity), _) if count == "1" => severity.word().to_owned() + &healing,
        (Some(severity), _) => format!("{count} {}{healing}", severity.word()),
        (None, Some(rate)) if by_hour => format!("{count} ({}/h)", measure::rate_words(rate)),
        (None, _) => count,
    }
}

/// A length of time in words.
fn duration(seconds: f64) -> String {
    if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else if seconds < 2.0 * 3_600.0 {
        format!("{:.1} min", seconds / 60.0)
    } else {
        format!("{:.1} h", seconds / 3_600.0)
    }
}
