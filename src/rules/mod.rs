//! The rule base: `rules.toml` read, checked and compiled; conditions evaluated over tallies; findings built.
//!
//! This stage interprets data and knows no rule by name. What it needs counted while logs stream (see
//! [`crate::signals::tally::Counter`]) is compiled from the rules beforehand.

pub mod arrivals;
mod clocks;
mod conclude;
pub mod condition;
mod coverage;
mod environment;
mod explain;
mod finding;
mod ground;
mod ignore;
mod incidents;
mod lint;
mod lives;
mod load;
mod near;
mod observe;
mod places;
mod samples;
pub mod schema;
pub mod stalls;
pub mod times;
mod traced;
mod unseen;
mod versions;
mod wal;
mod words;

pub use clocks::{ClockPair, Skew, SkewKind, skews};
pub use conclude::Conclusions;
pub use coverage::{Coverage, NearMiss, Unexplained};
pub use environment::{Environment, NodeFacts};
pub use explain::{Explained, State, blame, explain};
pub use finding::{Again, Balance, Finding, Incident, Known, NotObservable, Subject};
pub use ignore::{IgnoreRule, Ignored};
pub use lint::{Fault, lint};
pub use load::{BUILT_IN, LoadError, load, load_alone};
pub use near::{Wanted, unknown_name};
pub use observe::{COLLECT, concerns, obstacle};
pub use places::Places;
pub use samples::{Sample, SampleKind, samples};
pub use traced::{Taken, Traced, trace_record, trace_signal};
pub use wal::{WAL_MEASURES, WalProblem};

use crate::parsers::Format;
use crate::scan::Families;
use crate::search::Literal;
use crate::signals::SignalSet;
use crate::signals::tally::{
    ArrivalWatch, AwaitedSide, Counter, NodeTally, PairedSide, StallWatch, Uses,
};
use crate::vocab::{Confidence, Severity};

/// What a fact may be beside a field of the stall's signal.
pub const STALL_MEASURES: &[&str] = &["repeats", "duration-s", "period-s", "ended-at", "node"];

/// What a fact may be of a silence.
pub const SILENCE_MEASURES: &[&str] = &["duration-s", "node"];

/// A compiled rule base.
#[derive(Debug)]
pub struct RuleBase {
    /// The formats that it declares.
    pub formats: Vec<Format>,
    /// The signals, with their automata.
    pub signals: SignalSet,
    /// How codes are split.
    pub families: Families,
    /// The names of codes.
    pub code_names: Vec<(u32, String)>,
    /// The counts that rules ask for.
    pub counters: Vec<Counter>,
    /// What counts the records of each signal.
    pub uses: Vec<Uses>,
    /// The counters that count problems of WALs, and which ones.
    pub wal_counts: Vec<(usize, schema::WalCountDecl)>,
    /// The stalls that rules ask for.
    pub stalls: Vec<StallWatch>,
    /// The sides of the pairs by which clocks are compared, and the pairs.
    pub paired: Vec<PairedSide>,
    /// The signals that open or close what nodes await.
    pub awaited: Vec<AwaitedSide>,
    /// Parts that did not come at first, as rules ask for them.
    pub arrivals: Vec<ArrivalWatch>,
    /// Pairs of them.
    pub clocks: Vec<ClockPair>,
    /// The rules, in the order of declaration.
    pub rules: Vec<Rule>,
    /// The balances.
    pub balances: Vec<BalanceRule>,
    /// The strips.
    pub strips: Vec<StripRule>,
    /// What is left out by request.
    pub ignores: Vec<IgnoreRule>,
    /// The texts of records that are left out.
    pub ignored_texts: Vec<Literal>,
    /// How versions, builds, starts and zones are read.
    pub environment: Environment,
    /// In which file each signal and rule is declared.
    pub places: Places,
    /// As declared, with the prose and the samples.
    pub declared: schema::File,
}

/// A compiled rule.
#[derive(Debug)]
pub struct Rule {
    /// The index of its declaration.
    pub declared: usize,
    /// Its named counts: name and counter.
    pub counts: Vec<(String, usize)>,
    /// Its named stalls, with the bounds of the first condition that asks for them.
    pub stalls: Vec<(String, stalls::StallTest)>,
    /// Its named parts that did not come at first.
    pub arrivals: Vec<(String, arrivals::ArrivalTest)>,
    /// When it fires.
    pub when: condition::Condition,
    /// Its verdicts; the first that holds is given.
    pub verdicts: Vec<Verdict>,
}

/// A compiled verdict.
#[derive(Debug)]
pub struct Verdict {
    /// When it holds; `None` always does.
    pub when: Option<condition::Condition>,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// The category, if not the rule's.
    pub category: Option<String>,
    /// Whom it accuses.
    pub accuses: schema::Accuses,
    /// The title's template.
    pub title: String,
}

/// A compiled balance.
#[derive(Debug)]
pub struct BalanceRule {
    /// The index of its declaration.
    pub declared: usize,
    /// The counter of the left side.
    pub left: usize,
    /// The counters of the right side.
    pub right: Vec<usize>,
}

/// A compiled strip.
#[derive(Debug)]
pub struct StripRule {
    /// The index of its declaration.
    pub declared: usize,
    /// The counters of its rows.
    pub rows: Vec<usize>,
}

impl RuleBase {
    /// The name of a code, if the base knows it.
    pub fn code_name(&self, code: u32) -> Option<&str> {
        self.code_names
            .iter()
            .find(|(known, _)| *known == code)
            .map(|(_, name)| name.as_str())
    }

    /// Empty tallies of a node.
    pub fn tally(&self, run: &str, node: &str) -> NodeTally {
        let (signals, counters) = (self.signals.signals(), self.counters.len());
        NodeTally::new(run, node, signals, counters, self.stalls.len())
    }

    /// The kind of a failing test: the first declared that fits.
    pub fn failure(&self, exception: Option<&str>, message: &str) -> Option<&schema::FailureDecl> {
        let mut kinds = self.declared.failure.iter();
        kinds.find(|kind| kind.fits(exception, message))
    }

    /// A rule by id.
    pub fn rule(&self, id: &str) -> Option<(&Rule, &schema::RuleDecl)> {
        let found = self
            .rules
            .iter()
            .map(|rule| (rule, &self.declared.rule[rule.declared]));
        found
            .into_iter()
            .find(|(_, declared)| declared.id.get_ref() == id)
    }
}
