//! The shape of `rules.toml`, as read. Names are checked against each other in `load`.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

mod arrival;
mod awaited;
mod balance;
mod clock;
mod environment;
mod failure;
mod format;
mod ignore;
mod row;
mod sample;
mod signal;
mod step;
mod strip;
mod value;

pub use arrival::ArrivalDecl;
pub use awaited::{AwaitedDecl, ReadDecl};
pub use balance::{BalanceDecl, SideDecl};
pub use clock::ClockDecl;
pub use environment::EnvironmentDecl;
pub use failure::{FailureDecl, FailureKind};
pub use format::{FormatDecl, FormatSampleDecl};
pub use ignore::IgnoreDecl;
pub use row::{CellBounds, CellDecl};
pub use sample::{RuleSampleDecl, SampleDecl, SampleFile, WalSampleDecl};
pub use signal::{ContextDecl, DerivedDecl, DialectDecl, SignalDecl};
pub use step::StepDecl;
pub use strip::{StripDecl, StripRowDecl};
pub use value::{OneOrMany, Pair};

use crate::layout::{ProblemKind, Severity as Harm};
use crate::vocab::{Confidence, EngineModel, Severity};

/// A rules file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct File {
    /// Codes: names and families.
    #[serde(default)]
    pub code: Vec<CodeDecl>,
    /// Formats of logs beside those that are built in.
    #[serde(default)]
    pub format: Vec<FormatDecl>,
    /// Signals.
    #[serde(default)]
    pub signal: Vec<SignalDecl>,
    /// Rules.
    #[serde(default)]
    pub rule: Vec<RuleDecl>,
    /// Balances.
    #[serde(default)]
    pub balance: Vec<BalanceDecl>,
    /// Pairs of records by which clocks are compared.
    #[serde(default)]
    pub clock: Vec<ClockDecl>,
    /// What is asked for and may not come.
    #[serde(default)]
    pub awaited: Vec<AwaitedDecl>,
    /// Strips.
    #[serde(default)]
    pub strip: Vec<StripDecl>,
    /// Kinds of failing tests, told by what they say.
    #[serde(default)]
    pub failure: Vec<FailureDecl>,
    /// The steps of a diagnosis, in their order.
    #[serde(default)]
    pub step: Vec<StepDecl>,
    /// What is left out by request.
    #[serde(default)]
    pub ignore: Vec<IgnoreDecl>,
    /// Where versions, starts and zones are read from.
    pub environment: Option<EnvironmentDecl>,
}

/// A code.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CodeDecl {
    /// The number.
    pub code: Spanned<u32>,
    /// Its name in current versions.
    pub name: String,
    /// Its families, tried in order; one without texts takes the rest.
    #[serde(default)]
    pub families: Vec<FamilyDecl>,
}

/// A family of a code.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FamilyDecl {
    /// Its id.
    pub id: String,
    /// Any of these on the head's line.
    #[serde(default)]
    pub contains: Vec<String>,
}

/// A named stall of a rule: a signal said again and again for one subject while a position does not move.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct StallDecl {
    /// The signal.
    pub signal: Spanned<String>,
    /// The fields that tell one subject from another.
    #[serde(default)]
    pub key: Vec<Spanned<String>>,
    /// The fields that stay.
    #[serde(default)]
    pub still: Vec<Spanned<String>>,
    /// Two fields of which the first must be the smaller number.
    pub below: Option<Pair>,
    /// A number that is smaller by one at each repetition.
    pub falls: Option<Spanned<String>>,
    /// The longest pause between two repetitions; `60s` unless said.
    pub pause: Option<Spanned<String>>,
    /// Another stall of the rule, with which it must go on at the same time.
    pub during: Option<DuringDecl>,
    /// Parts that the rule asks for: only stretches whose part did not come since.
    pub until: Option<Spanned<String>>,
    /// The same: only stretches whose part came since, or is wanted no more.
    pub over: Option<Spanned<String>>,
}

/// The stall that another one must go on with.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DuringDecl {
    /// That stall's name.
    pub stall: Spanned<String>,
    /// A field of this stall's signal that must be a smaller number than a field of the other one's.
    pub below: Option<Pair>,
}

/// A value of a stall, of a WAL's problem, or of the silence that the rule's condition needs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FactDecl {
    /// The stall; neither this nor one of those below: the longest silence.
    pub stall: Option<Spanned<String>>,
    /// Parts that did not come at first.
    pub arrival: Option<Spanned<String>>,
    /// A count of problems of WALs: the first of them.
    pub wal: Option<Spanned<String>>,
    /// A count of records: the most frequent values of a field of its signal.
    pub count: Option<Spanned<String>>,
    /// A field of its signal, or one of the measures of a stall, a problem or a silence.
    pub value: Spanned<String>,
}

/// A rule whose finding explains this one because a position that this one is about lies where that one's WAL is wrong.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CauseDecl {
    /// That rule.
    pub rule: Spanned<String>,
    /// Its count of problems of WALs: the position lies in the range of one of them.
    pub wal: Spanned<String>,
    /// This rule's fact that is a position.
    pub lsn: Spanned<String>,
    /// What is added to it.
    #[serde(default)]
    pub plus: u64,
    /// This rule's fact that names the node whose WAL it is.
    pub node: Spanned<String>,
}

/// A named count of a rule: occurrences of a signal whose fields have given values, or problems of WALs.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CountDecl {
    /// The signal.
    pub signal: Option<Spanned<String>>,
    /// Instead of a signal: which problems of WALs.
    pub wal: Option<WalCountDecl>,
    /// A field whose numbers are added up instead of occurrences.
    pub sum: Option<Spanned<String>>,
    /// Field and accepted value or values.
    #[serde(default, rename = "where")]
    pub filters: BTreeMap<Spanned<String>, Spanned<OneOrMany>>,
    /// Two fields of which the first must be the smaller number.
    pub below: Option<Pair>,
    /// Queries are counted: of several loggers' records of one that failed the first.
    #[serde(default)]
    pub per_query: bool,
    /// Signals that explain an occurrence where they stand before it in the life of the process that ended: those are left out.
    #[serde(default)]
    pub not_after: Vec<Spanned<String>>,
}

/// Problems of WALs; what is empty or absent admits all.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WalCountDecl {
    /// Their kinds.
    #[serde(default)]
    pub problems: Vec<ProblemKind>,
    /// Whether a crash explains them.
    pub severity: Option<Harm>,
    /// Whether only a listing of the folder shows them; otherwise a check of the segments found them.
    #[serde(default)]
    pub listed: bool,
}

/// A condition; exactly one of its keys is set.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ConditionDecl {
    /// All of these hold.
    #[serde(default, deserialize_with = "value::parts")]
    pub all: Option<Vec<ConditionDecl>>,
    /// Any of these holds.
    #[serde(default, deserialize_with = "value::parts")]
    pub any: Option<Vec<ConditionDecl>>,
    /// None of these holds.
    #[serde(default, deserialize_with = "value::parts")]
    pub none: Option<Vec<ConditionDecl>>,
    /// A named count lies within bounds.
    pub count: Option<Spanned<String>>,
    /// With `count`: at least so many.
    #[serde(default, deserialize_with = "value::at_least")]
    pub at_least: Option<u64>,
    /// With `count`: at most so many; where the signal cannot be observed, this does not hold.
    pub at_most: Option<u64>,
    /// With `count` and `at-least`: within a sliding window on one node.
    pub within: Option<Spanned<String>>,
    /// With `count` and `at-least`: on at least so many nodes, `1` by default with `within`; else over all.
    #[serde(default, deserialize_with = "value::at_least")]
    pub on_nodes: Option<u64>,
    /// A named stall lasted: with `at-least` repetitions, over at least `lasting`.
    pub stall: Option<Spanned<String>>,
    /// With `stall`: how long at least.
    pub lasting: Option<Spanned<String>>,
    /// On every node whose log covers it, at least two, a count occurs within `within` of the others' occurrences.
    pub together: Option<Spanned<String>>,
    /// One node alone has any of these counts, while another one's log, which has none, covers its first occurrence.
    #[serde(default, deserialize_with = "value::parts")]
    pub alone: Option<Vec<Spanned<String>>>,
    /// These counts occur in this order within `within`, each at or after the one before.
    pub sequence: Option<Vec<Spanned<String>>>,
    /// With `sequence`: the occurrences may stand on different nodes, whose clocks differ by at most this.
    pub skew: Option<Spanned<String>>,
    /// A node's log has no record for at least this long, and then, within `within`, the count `then`.
    pub silence: Option<Spanned<String>>,
    /// With `silence`: what follows.
    pub then: Option<Spanned<String>>,
    /// With `silence`: what must not occur between.
    pub without: Option<Spanned<String>>,
    /// The share of one count in the sum of several.
    pub share: Option<Spanned<String>>,
    /// With `share`: the counts that make up the whole.
    pub of: Option<Vec<Spanned<String>>>,
    /// With `share`: at least this.
    #[serde(default, deserialize_with = "value::share")]
    pub share_at_least: Option<f64>,
    /// With `share`: below this.
    #[serde(default, deserialize_with = "value::share")]
    pub share_below: Option<f64>,
    /// All of these parts, which did not come at first, came in the end.
    pub arrived: Option<Spanned<String>>,
    /// A named count's signal could have been observed on every node.
    pub observable: Option<Spanned<String>>,
}

/// A rule.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RuleDecl {
    /// Its id, in kebab case: the pattern found, not the remedy.
    pub id: Spanned<String>,
    /// What it finds, in a few words.
    pub title: String,
    /// What kind of fault.
    pub category: String,
    /// Where a fix goes, in a few words.
    pub fix_goes_in: Option<String>,
    /// The step of a diagnosis that its findings answer.
    pub step: Option<Spanned<String>>,
    /// The model of the reference engine in which its findings can be run again.
    pub replay: Option<EngineModel>,
    /// What that model reads beside the rule's counts, by the name under which it asks for it.
    #[serde(default)]
    pub replay_reads: BTreeMap<String, ReadDecl>,
    /// `run` (one finding per run, the default) or `node` (one per node).
    #[serde(default)]
    pub per: Scope,
    /// Whom it accuses: those that `accused` names, or whoever reports.
    #[serde(default)]
    pub accuses: Accuses,
    /// Named counts.
    pub counts: BTreeMap<String, CountDecl>,
    /// Named stalls.
    #[serde(default)]
    pub stalls: BTreeMap<String, StallDecl>,
    /// Named parts that did not come at first.
    #[serde(default)]
    pub arrivals: BTreeMap<String, ArrivalDecl>,
    /// What every verdict's title ends in: what became of it.
    pub outcome: Option<Spanned<String>>,
    /// Single values that a title may name and the finding carries: from a stall.
    #[serde(default)]
    pub facts: BTreeMap<String, FactDecl>,
    /// When it fires.
    pub when: ConditionDecl,
    /// Verdicts; the first that holds is given.
    pub verdict: Vec<VerdictDecl>,
    /// Counts whose records accuse: whoever logs them reports.
    #[serde(default)]
    pub reported_by: Vec<Spanned<String>>,
    /// Where the accused are named: count and field.
    #[serde(default)]
    pub accused: Vec<FieldRef>,
    /// What it is about: name, count and field.
    #[serde(default)]
    pub subjects: BTreeMap<String, FieldRef>,
    /// Shares to print: name, count and whole.
    #[serde(default)]
    pub shares: BTreeMap<String, ShareDecl>,
    /// Counts whose records are shown; all unless said.
    #[serde(default)]
    pub evidence: Vec<Spanned<String>>,
    /// How it comes about.
    pub mechanism: String,
    /// What the evidence does not rule out.
    #[serde(default)]
    pub not_excluded: Vec<Spanned<String>>,
    /// What it is not.
    #[serde(default)]
    pub not_this: Vec<Spanned<String>>,
    /// What to do next.
    #[serde(default)]
    pub next_steps: Vec<String>,
    /// Issues that know it.
    #[serde(default)]
    pub known: Vec<KnownDecl>,
    /// Rules whose findings explain this one on the same run.
    #[serde(default)]
    pub caused_by: Vec<Spanned<String>>,
    /// Rules whose findings on other nodes of the same run explain this one.
    #[serde(default)]
    pub caused_elsewhere_by: Vec<Spanned<String>>,
    /// Rules whose problems of WALs explain this one by position.
    #[serde(default)]
    pub cause: Vec<CauseDecl>,
    /// Versions and eras, in words.
    pub versions: Option<String>,
    /// The first record of each node is what the others are compared with: the window begins at the second.
    #[serde(default)]
    pub after_first: bool,
    /// Samples: at least one that fires and one that is silent.
    #[serde(default)]
    pub sample: Vec<RuleSampleDecl>,
}

/// Whom a finding accuses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Accuses {
    /// Those that the fields under `accused` name.
    #[default]
    Named,
    /// The nodes that report: what they log is their own fault.
    Reporters,
    /// Nobody: what is here does not tell.
    Nobody,
}

/// Over what a rule is evaluated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// All nodes of a run together.
    #[default]
    Run,
    /// Each node alone.
    Node,
}

/// A field of a named count's signal.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FieldRef {
    /// The named count.
    pub count: Spanned<String>,
    /// The field of its signal.
    pub field: Spanned<String>,
}

/// A share to print.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ShareDecl {
    /// The named count.
    pub count: Spanned<String>,
    /// The counts that make up the whole.
    pub of: Vec<Spanned<String>>,
}

/// A verdict.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct VerdictDecl {
    /// When it holds; the last one needs none.
    pub when: Option<ConditionDecl>,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// The category, if not the rule's.
    pub category: Option<String>,
    /// Whom it accuses, if not whom the rule says.
    pub accuses: Option<Accuses>,
    /// One sentence; `{name}` is a count, a share, `nodes`, `reporters` or `accused`.
    pub title: Spanned<String>,
}

/// A known issue.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct KnownDecl {
    /// The issue.
    #[serde(rename = "ref")]
    pub reference: String,
    /// The first version without the fault.
    pub fixed_in: Option<String>,
}
