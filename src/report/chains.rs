//! How the findings of an incident hang together: each below what it follows from.

use std::collections::{BTreeMap, BTreeSet};

use super::figures::in_a_row;
use super::model::{Finding, Incident};
use crate::vocab::Confidence;

/// How many findings of an incident are looked at: a kept report may name any number.
const FINDINGS_MAX: usize = 500;

/// Causes, whether what follows from them only may, and what does.
type Clause<'c> = ((&'c [&'c str], bool), Vec<&'c str>);

/// The findings of an incident, and for each of them its nearest causes.
pub(super) struct Chain<'r> {
    incident: &'r Incident,
    /// In the order of the incident, its root first.
    pub(super) findings: Vec<&'r Finding>,
    /// What it follows from, but for what one of these follows from itself. By id; those without one are not there.
    causes: BTreeMap<&'r str, Vec<&'r str>>,
    /// How many findings are not looked at.
    pub(super) left: usize,
}

impl<'r> Chain<'r> {
    pub(super) fn of(all: &'r [Finding], incident: &'r Incident) -> Self {
        let found = |id: &String| all.iter().find(|it| it.id == *id);
        let listed = incident.findings.iter().take(FINDINGS_MAX);
        let findings: Vec<&Finding> = listed.filter_map(found).collect();
        let ids: BTreeSet<&str> = findings.iter().map(|it| it.id.as_str()).collect();
        let told: BTreeMap<&str, Vec<&str>> = findings
            .iter()
            .map(|it| {
                let causes = it.caused_by.iter().map(String::as_str);
                (
                    it.id.as_str(),
                    causes.filter(|id| ids.contains(id)).collect(),
                )
            })
            .collect();
        let above: BTreeMap<&str, BTreeSet<&str>> =
            told.keys().map(|id| (*id, all_above(id, &told))).collect();
        let others = told.iter().filter(|(id, _)| **id != incident.root);
        let causes =
            others.map(|(id, causes)| (*id, own(id, nearest(id, causes, &above), &findings)));
        let causes = causes.filter(|(_, causes)| !causes.is_empty()).collect();
        Self {
            incident,
            findings,
            causes,
            left: incident.findings.len().saturating_sub(FINDINGS_MAX),
        }
    }

    /// What begins a chain of its own: the root, and what stands beside it.
    pub(super) fn roots(&self) -> impl Iterator<Item = &'r Finding> {
        let findings = self.findings.iter().copied();
        findings.filter(|it| !self.causes.contains_key(it.id.as_str()))
    }

    /// What stands below a finding: what follows from several stands below the first of them.
    pub(super) fn below(&self, cause: &Finding) -> Vec<&'r Finding> {
        let first = |it: &&&Finding| self.causes.get(it.id.as_str())?.first().copied();
        let findings = self.findings.iter();
        let below = findings.filter(|it| first(it) == Some(cause.id.as_str()));
        below.copied().collect()
    }

    /// Which finding follows from which: `I1: F1 and F3 follow from F2, F4 from F1`.
    pub(super) fn words(&self) -> String {
        let mut clauses: Vec<Clause<'_>> = Vec::new();
        for finding in &self.findings {
            let id = finding.id.as_str();
            let Some(causes) = self.causes.get(id) else {
                continue;
            };
            // What is only possible itself follows from nothing for sure.
            let key = (
                causes.as_slice(),
                finding.confidence == Confidence::Possible,
            );
            match clauses.iter_mut().find(|(known, _)| *known == key) {
                Some((_, followers)) => followers.push(id),
                None => clauses.push((key, vec![id])),
            }
        }
        // What follows from the root is told first.
        clauses.sort_by_key(|((causes, _), _)| !causes.contains(&self.incident.root.as_str()));
        let mut words = Vec::new();
        let mut said = None;
        for ((causes, is_possible), followers) in &clauses {
            let verb = match (is_possible, followers.len()) {
                _ if said == Some(is_possible) => "",
                (true, _) => " may follow",
                (false, 1) => " follows",
                (false, _) => " follow",
            };
            said = Some(is_possible);
            let (followers, causes) = (in_a_row(followers), in_a_row(causes));
            words.push(format!("{followers}{verb} from {causes}"));
        }
        if words.is_empty() {
            words.push(self.incident.root.clone());
        }
        if self.left > 0 {
            words.push(format!("and {} more", self.left));
        }
        format!("{}: {}", self.incident.id, words.join(", "))
    }
}

/// All that a finding follows from, directly or through others.
fn all_above<'r>(id: &str, told: &BTreeMap<&'r str, Vec<&'r str>>) -> BTreeSet<&'r str> {
    let of = |id: &str| told.get(id).into_iter().flatten().copied();
    let mut above = BTreeSet::new();
    let mut open: Vec<&str> = of(id).collect();
    while let Some(cause) = open.pop() {
        if above.insert(cause) {
            open.extend(of(cause));
        }
    }
    above
}

/// The causes of a finding without those that another of them follows from. Of two that follow from each other neither is
/// the nearer one, unless there is nothing else.
fn nearest<'r>(
    id: &str,
    causes: &[&'r str],
    above: &BTreeMap<&'r str, BTreeSet<&'r str>>,
) -> Vec<&'r str> {
    let follows = |one: &str, other: &str| above.get(one).is_some_and(|it| it.contains(other));
    let forward = causes.iter().filter(|cause| !follows(cause, id));
    let forward: Vec<&str> = forward.copied().collect();
    let known = if forward.is_empty() { causes } else { &forward };
    let is_far = |far: &str| known.iter().any(|near| *near != far && follows(near, far));
    known
        .iter()
        .filter(|cause| !is_far(cause))
        .copied()
        .collect()
}

/// Causes without those that other nodes reported, where the finding's own node reported the same of itself.
fn own<'r>(id: &str, mut causes: Vec<&'r str>, findings: &[&Finding]) -> Vec<&'r str> {
    let found = |id: &str| findings.iter().find(|it| it.id == id);
    let Some(finding) = found(id) else {
        return causes;
    };
    let is_own = |cause: &Finding| {
        let mut reporters = cause.reported_by.iter();
        reporters.any(|node| finding.reported_by.contains(node))
    };
    let by_itself: BTreeSet<&str> = causes
        .iter()
        .filter_map(|id| found(id))
        .filter(|cause| is_own(cause))
        .map(|cause| cause.rule.as_str())
        .collect();
    causes.retain(|id| {
        found(id).is_none_or(|it| is_own(it) || !by_itself.contains(it.rule.as_str()))
    });
    causes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Findings and what each follows from, and the incident of all of them with this root.
    fn incident(root: &str, findings: &[(&str, &[&str])]) -> (Vec<Finding>, Incident) {
        let ids: Vec<&str> = std::iter::once(root)
            .chain(findings.iter().map(|it| it.0).filter(|id| *id != root))
            .collect();
        let finding = |(id, causes): &(&str, &[&str])| {
            serde_json::json!({
                "id": id, "rule": "r", "severity": "high", "confidence": "likely", "category": "", "title": "", "run": ".",
                "nodes": [], "reported_by": [], "accused": [], "window": {"first": null, "last": null}, "counts": {},
                "counts_by_node": {}, "shares": {}, "subjects": {}, "evidence": [], "mechanism": "", "not_excluded": [],
                "not_this": [], "not_observable": [], "signals": [], "known": [], "next_steps": [], "caused_by": causes,
                "runs": {"k": 1, "n": 1}, "replay": null,
            })
        };
        let findings: Vec<_> = findings.iter().map(finding).collect();
        let incident =
            serde_json::json!({"id": "I1", "root": root, "findings": ids, "summary": ""});
        (
            serde_json::from_value(findings.into()).unwrap(),
            serde_json::from_value(incident).unwrap(),
        )
    }

    fn words(root: &str, findings: &[(&str, &[&str])]) -> String {
        let (findings, incident) = incident(root, findings);
        Chain::of(&findings, &incident).words()
    }

    #[test]
    fn what_follows_from_a_follower_is_told_of_that_one() {
        assert_eq!(words("F1", &[("F1", &[])]), "I1: F1");
        assert_eq!(
            words("F2", &[("F1", &["F2"]), ("F2", &[])]),
            "I1: F1 follows from F2"
        );
        assert_eq!(
            words("F2", &[("F1", &["F2"]), ("F2", &[]), ("F3", &["F2"])]),
            "I1: F1 and F3 follow from F2"
        );
        // F8 follows from F2, and F2 from F1: that F8 follows from F1 needs no word.
        assert_eq!(
            words("F1", &[("F1", &[]), ("F2", &["F1"]), ("F8", &["F1", "F2"])]),
            "I1: F2 follows from F1, F8 from F2"
        );
        assert_eq!(
            words("F3", &[("F1", &["F2"]), ("F2", &["F3"]), ("F3", &[])]),
            "I1: F2 follows from F3, F1 from F2"
        );
    }

    #[test]
    fn what_is_only_possible_may_follow() {
        let told: &[(&str, &[&str])] = &[
            ("F1", &[]),
            ("F2", &["F1"]),
            ("F3", &["F1"]),
            ("F4", &["F2"]),
        ];
        let (mut findings, incident) = incident("F1", told);
        findings[2].confidence = Confidence::Possible;
        let words = Chain::of(&findings, &incident).words();
        assert_eq!(
            words,
            "I1: F2 follows from F1, F3 may follow from F1, F4 follows from F2"
        );
    }

    #[test]
    fn of_several_causes_all_are_told_and_none_follows_from_what_stands_beside_it() {
        let beside: &[(&str, &[&str])] = &[
            ("F1", &[]),
            ("F2", &[]),
            ("F3", &["F1", "F2"]),
            ("F4", &["F2"]),
        ];
        assert_eq!(
            words("F1", beside),
            "I1: F3 follows from F1 and F2, F4 from F2"
        );
        let (findings, incident) = incident("F1", beside);
        let chain = Chain::of(&findings, &incident);
        let ids = |found: Vec<&Finding>| -> Vec<String> {
            found.into_iter().map(|it| it.id.clone()).collect()
        };
        assert_eq!(ids(chain.roots().collect()), ["F1", "F2"]);
        assert_eq!(ids(chain.below(&findings[0])), ["F3"]);
        assert_eq!(ids(chain.below(&findings[1])), ["F4"]);
    }

    #[test]
    fn what_a_node_reports_follows_from_what_it_reported_itself() {
        let told: &[(&str, &[&str])] = &[
            ("F1", &[]),
            ("F2", &[]),
            ("F3", &["F1", "F2"]),
            ("F4", &["F1", "F2"]),
            ("F5", &["F1", "F2"]),
        ];
        let (mut findings, incident) = incident("F1", told);
        for (finding, node) in findings.iter_mut().zip(["n2", "n3", "n2", "n3", "n4"]) {
            finding.reported_by = vec![node.to_owned()];
        }
        let words = Chain::of(&findings, &incident).words();
        assert_eq!(
            words,
            "I1: F3 follows from F1, F5 from F1 and F2, F4 from F2"
        );
        // Of another kind it may be a cause all the same.
        findings[1].rule = "other".to_owned();
        let words = Chain::of(&findings, &incident).words();
        assert_eq!(words, "I1: F3, F4 and F5 follow from F1 and F2");
    }

    #[test]
    fn findings_that_follow_from_each_other_stand_below_the_root() {
        let circle: &[(&str, &[&str])] = &[("F1", &[]), ("F3", &["F1", "F4"]), ("F4", &["F3"])];
        assert_eq!(words("F1", circle), "I1: F3 follows from F1, F4 from F3");
        assert_eq!(
            words("F1", &[("F1", &["F2"]), ("F2", &["F1"])]),
            "I1: F2 follows from F1"
        );
    }
}
