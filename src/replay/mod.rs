//! From a finding to a run: what was found is put into a scenario of the reference engine, and what the run predicts is
//! set beside what was observed.
//!
//! What stands in the records is read, what they do not show is assumed or fitted, and which is which is said.

mod candidates;
mod controllers;
mod fit;
mod fixes;
mod grounds;
mod loads;
mod odds;
mod relinks;
mod storm;
mod text;

use serde::Serialize;

pub use text::write;

use grounds::verdict;

use crate::report::model::{Finding, Report};

/// A prediction within this of what was observed agrees with it.
pub const TOLERANCE: f64 = 0.2;

/// Counts below this say nothing by their shares.
pub const HANDFUL: u64 = 20;

/// What became of the attempt to run a finding again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Everything observed is predicted within the tolerance, and every position exactly.
    Reproduced,
    /// At least half of it.
    Partly,
    /// Less.
    Not,
    /// It was not run again; the summary says why.
    NotRun,
}

/// Whether a comparison counts for the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// It does.
    Yes,
    /// It does, and no number was fitted to it.
    Unfitted,
    /// The run was made from what was observed here: such a row shows what went in and supports nothing.
    Given,
    /// Both sides are below [`HANDFUL`] and no further apart than chance makes of so few.
    Handful,
    /// Only the sum over the servers does.
    InTotal,
}

impl Counts {
    /// What is to be said of it beside its numbers, if anything.
    pub fn words(self) -> Option<&'static str> {
        match self {
            Self::Yes => None,
            Self::Unfitted => Some("nothing fitted to it"),
            Self::Given => Some("given"),
            Self::Handful => Some("a handful"),
            Self::InTotal => Some("counts in total"),
        }
    }
}

/// Something that the run rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// What it is.
    pub what: String,
    /// Its value.
    pub value: String,
    /// Where it is from, or why it is assumed.
    pub from: String,
}

/// A number that the records do not show and that was searched for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fitted {
    /// What it is, with its unit.
    pub what: String,
    /// The best value.
    pub value: u64,
    /// It is between this, one step of the search below the smallest value that fits as well as chance allows, whatever the
    /// other numbers are,
    pub least: u64,
    /// and this, one step above the largest.
    pub most: u64,
    /// The search used up what it may run before it had seen all of it: the range may be wider.
    pub is_cut: bool,
}

impl Fitted {
    /// The range, and whether it is whole.
    pub fn range(&self) -> String {
        let cut = if self.is_cut {
            ", cut short by the budget of the search: it may be wider"
        } else {
            ""
        };
        format!("{} to {}{cut}", self.least, self.most)
    }
}

/// An observation and its prediction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Compared {
    /// What was counted or measured.
    pub what: String,
    /// At which node.
    pub node: String,
    /// What the records say; nothing where the node's records are not here.
    pub observed: Option<u64>,
    /// What the run says; nothing where it was made from what was observed here, so that it says nothing of it.
    pub predicted: Option<u64>,
    /// The distance from what was observed, as a share of it; of a position, 0 where it is met and 1 where it is not.
    pub error: Option<f64>,
    /// Whether it counts for the verdict, and if not, why.
    pub counts: Counts,
}

impl Compared {
    fn of(what: &str, node: &str, observed: Option<u64>, predicted: u64) -> Self {
        Self {
            what: what.to_owned(),
            node: node.to_owned(),
            observed,
            predicted: Some(predicted),
            error: observed.map(|it| distance(it, predicted)),
            counts: Counts::Yes,
        }
    }

    /// A position, which is met or not: 340 is not near 300.
    fn exact(what: &str, node: &str, observed: Option<u64>, predicted: u64) -> Self {
        Self {
            error: observed.map(|it| if it == predicted { 0.0 } else { 1.0 }),
            ..Self::of(what, node, observed, predicted)
        }
    }

    /// The same row, of something that the run was made from.
    fn given(self) -> Self {
        Self {
            predicted: None,
            error: None,
            ..self.but(Counts::Given)
        }
    }

    /// The same row, which counts in another way.
    fn but(self, counts: Counts) -> Self {
        Self { counts, ..self }
    }

    /// The same row; if it would count and is of a handful, it does not.
    fn sifted(self) -> Self {
        let predicted = self.predicted.unwrap_or(0);
        let is_few = |it: u64| it < HANDFUL && is_chance(it, predicted);
        let is_handful = predicted < HANDFUL && self.observed.is_none_or(is_few);
        if is_handful && matches!(self.counts, Counts::Yes | Counts::Unfitted) {
            self.but(Counts::Handful)
        } else {
            self
        }
    }
}

/// The distance of a prediction from an observation, as a share of the observation.
#[expect(
    clippy::cast_precision_loss,
    reason = "counts of records are far below 2^53, and a share is rounded anyway"
)]
fn distance(observed: u64, predicted: u64) -> f64 {
    let distance = observed.abs_diff(predicted) as f64 / observed.max(1) as f64;
    (distance * 1000.0).round() / 1000.0
}

/// Whether two counts of one thing are as near as chance leaves them: their difference is within three standard deviations
/// of it, which for counts of single events is the root of their sum.
fn is_chance(one: u64, other: u64) -> bool {
    one.abs_diff(other).pow(2) <= 9 * (one + other)
}

/// What a change would have made of this incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FixRow {
    /// The change; nothing for none.
    pub fix: String,
    /// Whether the incident is gone; nothing where that cannot be told ([`Replayed::untold`]).
    pub cures: Option<bool>,
    /// What comes of it, in a few words.
    pub outcome: String,
}

/// What is suspected beside a finding, and what the records and the run say of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Candidate {
    /// What is suspected.
    pub candidate: String,
    /// What the evidence says.
    pub verdict: Supported,
    /// Why.
    pub reason: String,
    /// What that rests on.
    pub read: Vec<Fact>,
}

/// What the evidence says of a suspicion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Supported {
    /// It supports it.
    Supported,
    /// It speaks against it.
    Against,
    /// It cannot tell.
    CannotTell,
}

impl Supported {
    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::Against => "against",
            Self::CannotTell => "cannot be told",
        }
    }
}

/// A finding that was run again, or the reason why it was not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Replayed {
    /// The finding's id in its report.
    pub finding: String,
    /// The model.
    pub model: &'static str,
    /// What came of it.
    pub verdict: Verdict,
    /// One sentence.
    pub summary: String,
    /// What stands in the records.
    pub read: Vec<Fact>,
    /// What is assumed.
    pub assumed: Vec<Fact>,
    /// What was fitted.
    pub fitted: Vec<Fitted>,
    /// Observed against predicted.
    pub compared: Vec<Compared>,
    /// What the books leave open; nothing is fitted to it.
    pub unbalanced: Vec<Fact>,
    /// What the records show that no run of the model is like, whatever is fitted.
    pub at_odds: Vec<Fact>,
    /// What is suspected beside it, and what can be said of that.
    pub candidates: Vec<Candidate>,
    /// What each change would have made of it.
    pub fixes: Vec<FixRow>,
    /// Why no change can be said to cure, where that is so.
    pub untold: Option<String>,
    /// The shortest way to it, step by step.
    pub trace: Vec<String>,
}

impl Replayed {
    /// A finding that was not run again.
    fn not_run(finding: &Finding, model: &'static str, reason: &str) -> Self {
        Self {
            finding: finding.id.clone(),
            model,
            verdict: Verdict::NotRun,
            summary: format!("{} is not run again: {reason}", finding.id),
            read: Vec::new(),
            assumed: Vec::new(),
            fitted: Vec::new(),
            compared: Vec::new(),
            unbalanced: Vec::new(),
            at_odds: Vec::new(),
            candidates: Vec::new(),
            fixes: Vec::new(),
            untold: None,
            trace: Vec::new(),
        }
    }

    /// As a report holds it.
    pub fn value(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Runs the findings of a report again that say how; of one that cannot be, it is said why.
pub fn replay(report: &Report) -> Vec<Replayed> {
    let mut replayed = Vec::new();
    for finding in &report.findings {
        let model = finding.replay.as_ref().and_then(|it| it["model"].as_str());
        let (model, one) = match model {
            Some(controllers::MODEL) => (controllers::MODEL, controllers::replay(report, finding)),
            // Answers and refusals of one run are two sides of the same relinks: those who were refused know more.
            Some(relinks::MODEL) if relinks::is_told(report, finding) => continue,
            Some(relinks::MODEL) => (relinks::MODEL, relinks::replay(report, finding)),
            _ => continue,
        };
        let one = one.unwrap_or_else(|reason| Replayed::not_run(finding, model, &reason));
        replayed.push(one);
    }
    replayed
}

/// A number among a finding's subjects.
fn number(finding: &Finding, name: &str) -> Option<u64> {
    let value = finding.subjects.get(name)?;
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// A text among a finding's subjects.
fn word(finding: &Finding, name: &str) -> Option<String> {
    let value = finding.subjects.get(name)?;
    value.as_str().map(str::to_owned)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "numbers and texts alike, at the end of their use"
)]
fn fact(what: &str, value: impl ToString, from: &str) -> Fact {
    Fact {
        what: what.to_owned(),
        value: value.to_string(),
        from: from.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(observed: u64, predicted: u64) -> Compared {
        Compared::exact("position", "ctrl-1", Some(observed), predicted)
    }

    #[test]
    fn a_position_is_met_or_not() {
        // 340 is within 20 % of 341, and another position.
        assert_eq!(position(340, 341).error, Some(1.0));
        assert_eq!(position(340, 340).error, Some(0.0));
        assert_eq!(Compared::exact("", "", None, 340).error, None);
        assert_eq!(verdict(&[position(340, 341)], 0), Verdict::Not);
        assert_eq!(
            verdict(&[position(340, 341), position(342, 342)], 0),
            Verdict::Partly
        );
    }

    #[test]
    fn as_few_counts_as_fitted_numbers_reproduce_nothing() {
        let rows = ["refused", "finished", "unproven"];
        let rows = rows.map(|it| Compared::of(it, "ch1", Some(100), 100));
        assert_eq!(verdict(&rows, 2), Verdict::Reproduced);
        assert_eq!(verdict(&rows[..2], 2), Verdict::Partly);
    }

    #[test]
    fn a_handful_is_marked_and_counts_for_nothing() {
        let few = Compared::of("refused", "ch1", Some(19), 8).sifted();
        assert_eq!(few.counts, Counts::Handful);
        assert_eq!(verdict(&[few], 0), Verdict::Not);
        // The difference of 12 and 0 deviates by the root of 12, 3.46, and 12 is 3.46 times that; of 9 and 0 it is 3 times 3.
        let far = Compared::of("refused", "ch1", Some(12), 0).sifted();
        assert_eq!(far.counts, Counts::Yes);
        let near = Compared::of("refused", "ch1", Some(9), 0).sifted();
        assert_eq!(near.counts, Counts::Handful);
        let one_side = Compared::of("refused", "ch1", Some(20), 3).sifted();
        assert_eq!(one_side.counts, Counts::Yes);
        let withheld = Compared::of("refused", "ch2", None, 3).sifted();
        assert_eq!(withheld.counts, Counts::Handful);
    }

    #[test]
    fn what_the_run_was_made_from_supports_nothing() {
        assert_eq!(verdict(&[position(323, 323).given()], 0), Verdict::Not);
        assert_eq!(position(323, 0).given().predicted, None);
        let wrong = [position(323, 323).given(), position(340, 0)];
        assert_eq!(verdict(&wrong, 0), Verdict::Not);
        let right = [position(323, 0).given(), position(340, 340)];
        assert_eq!(verdict(&right, 0), Verdict::Reproduced);
    }
}
