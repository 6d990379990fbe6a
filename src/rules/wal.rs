//! Problems of WALs: counted like records, but found on a disk, without a time.

use std::collections::BTreeMap;

use super::schema::WalCountDecl;
use super::{NodeFacts, RuleBase};
use crate::layout::{ProblemKind, Severity as Harm};
use crate::signals::tally::Evidence;
use crate::vocab::{Lsn, LsnNotation, LsnRange};

/// What a fact or a subject may be of a WAL's problem.
pub const WAL_MEASURES: &[&str] = &[
    "node",
    "layout",
    "kind",
    "segment",
    "offset",
    "range",
    "first",
    "last",
    "belongs-in",
];

/// Something wrong with a node's WAL.
#[derive(Debug, Clone)]
pub struct WalProblem {
    /// The layout of the WAL.
    pub layout: String,
    /// How its system writes positions.
    pub notation: LsnNotation,
    /// What sort of wrong.
    pub kind: ProblemKind,
    /// Whether a crash explains it.
    pub severity: Harm,
    /// The segment that it shows in.
    pub segment: String,
    /// The positions it is about.
    pub range: Option<LsnRange>,
    /// From the first to the last position that a reader does not get because of it.
    pub withheld: Option<LsnRange>,
    /// The segment that should hold them.
    pub belongs_in: Option<String>,
    /// Whether only a listing of the folder shows it.
    pub listed: bool,
    /// How many further ones of its kind it stands for, which are counted and not told.
    pub more: u64,
    /// Where it shows.
    pub evidence: Evidence,
}

/// The positions that the problems behind a count withhold, with the node.
pub(super) type Ranges = BTreeMap<String, Vec<(String, LsnRange)>>;

impl WalCountDecl {
    fn fits(&self, problem: &WalProblem) -> bool {
        self.listed == problem.listed
            && (self.problems.is_empty() || self.problems.contains(&problem.kind))
            && self.severity.is_none_or(|it| it == problem.severity)
    }
}

impl WalProblem {
    /// A measure of it, one of [`WAL_MEASURES`]; `node` is known to the caller.
    pub(super) fn measure(&self, name: &str, node: &str) -> Option<String> {
        let show = |lsn: Lsn| self.notation.show(lsn).to_string();
        match name {
            "node" => Some(node.to_owned()),
            "layout" => Some(self.layout.clone()),
            "kind" => Some(self.kind.word().to_owned()),
            "segment" => Some(self.segment.clone()),
            "offset" => Some(self.evidence.at.offset.to_string()),
            "range" => self.range.map(|range| self.notation.show_range(range)),
            "first" => self.range.map(|range| show(range.first)),
            "last" => self.range.map(|range| show(range.last)),
            "belongs-in" => self.belongs_in.clone(),
            _ => None,
        }
    }
}

impl RuleBase {
    /// Counts the problems of a node's WALs for the counts that ask for them.
    pub fn count_wal(&self, facts: &mut NodeFacts) {
        for (counter, wanted) in &self.wal_counts {
            for problem in facts.wal.iter().filter(|problem| wanted.fits(problem)) {
                let counted = &mut facts.tally.counters[*counter];
                if counted.add(&self.counters[*counter], None, 1) {
                    counted.evidence.push(problem.evidence.clone());
                }
                counted.all.count += problem.more;
            }
        }
    }

    /// The problems behind a counter, node by node; none where it counts records.
    pub(super) fn wal_problems<'f>(
        &self,
        counter: usize,
        facts: &[&'f NodeFacts],
    ) -> Vec<(&'f str, &'f WalProblem)> {
        let mut counts = self.wal_counts.iter();
        let Some((_, wanted)) = counts.find(|(known, _)| *known == counter) else {
            return Vec::new();
        };
        let of = |node: &&'f NodeFacts| {
            let node: &'f NodeFacts = node;
            let problems = node.wal.iter();
            problems.map(|problem| (node.tally.node.as_str(), problem))
        };
        let all = facts.iter().flat_map(of);
        all.filter(|(_, problem)| wanted.fits(problem)).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, StrDeserializer};

    use super::ProblemKind;

    #[test]
    fn a_kind_is_written_in_a_rules_file_as_in_reports() {
        for kind in ProblemKind::ALL {
            let word: StrDeserializer<'_, Error> = kind.word().into_deserializer();
            assert_eq!(ProblemKind::deserialize(word), Ok(kind));
        }
    }
}
