//! From a finding to a run: what was found is put into a scenario of the reference engine, and what the run predicts is
//! set beside what was observed.
//!
//! What stands in the records is read, what they do not show is assumed or fitted, and which is which is said.

mod controllers;
mod fit;
mod relinks;
mod text;

use serde::Serialize;

pub use text::write;

use crate::report::model::{Finding, Report};

/// A prediction within this of what was observed agrees with it.
pub const TOLERANCE: f64 = 0.2;

/// What became of the attempt to run a finding again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Everything observed is predicted within the tolerance, and every position exactly.
    Reproduced,
    /// At least half of it.
    Partly,
    /// Less.
    Not,
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
    /// What the run says.
    pub predicted: u64,
    /// The distance from what was observed, as a share of it; of a position, 0 where it is met and 1 where it is not.
    pub error: Option<f64>,
    /// Whether the run was made from what was observed here: such a row shows what went in and supports nothing.
    pub given: bool,
}

impl Compared {
    fn of(what: &str, node: &str, observed: Option<u64>, predicted: u64) -> Self {
        Self {
            what: what.to_owned(),
            node: node.to_owned(),
            observed,
            predicted,
            error: observed.map(|it| distance(it, predicted)),
            given: false,
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
            given: true,
            ..self
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

/// What a change would have made of this incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FixRow {
    /// The change; nothing for none.
    pub fix: String,
    /// Whether the incident is gone.
    pub cures: bool,
    /// What comes of it, in a few words.
    pub outcome: String,
}

/// A finding that was run again.
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
    /// What each change would have made of it.
    pub fixes: Vec<FixRow>,
    /// The shortest way to it, step by step.
    pub trace: Vec<String>,
}

impl Replayed {
    /// As a report holds it.
    pub fn value(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Runs the findings of a report again that say how.
pub fn replay(report: &Report) -> Vec<Replayed> {
    let mut replayed = Vec::new();
    for finding in &report.findings {
        let model = finding.replay.as_ref().and_then(|it| it["model"].as_str());
        let one = match model {
            Some(controllers::MODEL) => controllers::replay(report, finding),
            Some(relinks::MODEL) => relinks::replay(report, finding),
            _ => None,
        };
        replayed.extend(one);
    }
    replayed
}

/// What the comparisons come to; what the run was made from counts for nothing.
fn verdict(compared: &[Compared]) -> Verdict {
    let predicted = compared.iter().filter(|it| !it.given);
    let errors: Vec<f64> = predicted.filter_map(|it| it.error).collect();
    let near = errors.iter().filter(|it| **it <= TOLERANCE).count();
    if near == errors.len() && near > 0 {
        Verdict::Reproduced
    } else if near * 2 >= errors.len() && near > 0 {
        Verdict::Partly
    } else {
        Verdict::Not
    }
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
        assert_eq!(verdict(&[position(340, 341)]), Verdict::Not);
        assert_eq!(
            verdict(&[position(340, 341), position(342, 342)]),
            Verdict::Partly
        );
    }

    #[test]
    fn what_the_run_was_made_from_supports_nothing() {
        assert_eq!(verdict(&[position(323, 323).given()]), Verdict::Not);
        let wrong = [position(323, 323).given(), position(340, 0)];
        assert_eq!(verdict(&wrong), Verdict::Not);
        let right = [position(323, 0).given(), position(340, 340)];
        assert_eq!(verdict(&right), Verdict::Reproduced);
    }
}
