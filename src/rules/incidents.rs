//! Findings in order, tied by declared causes, and the incidents they make.

use std::collections::{BTreeMap, BTreeSet};

use toml::Spanned;

use super::RuleBase;
use super::finding::{Finding, Incident};
use super::schema::CauseDecl;
use super::wal::Ranges;
use crate::time::{SECOND, Timestamp};
use crate::vocab::{Confidence, Lsn};

/// How much later than its effect a cause may begin: clocks disagree, and the sufferer may log first.
const CLOCKS: i64 = 10 * SECOND;
/// How long after its end a cause may still have effects that begin.
const AFTERMATH: i64 = 120 * SECOND;

/// Ties findings to those that explain them: declared, of the same run, on a common node or declared to be elsewhere, begun
/// before them and not long over.
pub(super) fn tie(base: &RuleBase, findings: &mut [Finding]) {
    let heads: Vec<Head> = findings.iter().map(Head::of).collect();
    for finding in findings {
        let Some((_, declared)) = base.rule(&finding.rule) else {
            continue;
        };
        let is_each = declared.after_first && !finding.moments.is_empty();
        let explains = |head: &&Head| {
            let begun = if is_each {
                finding.moments.iter().any(|moment| head.reaches(*moment))
            } else {
                let windows = head.window.zip(finding.window);
                windows.is_none_or(|(cause, effect)| reaches(cause, effect.0))
            };
            let apart = head.nodes.iter().all(|node| !finding.nodes.contains(node));
            let met = !apart || head.nodes.is_empty() || finding.nodes.is_empty();
            let names = |causes: &[Spanned<String>]| {
                let mut causes = causes.iter();
                causes.any(|cause| *cause.get_ref() == head.rule)
            };
            let named = (met && names(&declared.caused_by))
                || (apart && names(&declared.caused_elsewhere_by));
            let tied = (named && begun) || declared.cause.iter().any(|it| head.holds(it, finding));
            tied && head.run == finding.run && head.id != finding.id
        };
        let causes: Vec<&Head> = heads.iter().filter(explains).collect();
        // What follows from something for a part of its records does not follow from it.
        let is_explained = |moment: &Timestamp| causes.iter().any(|head| head.reaches(*moment));
        if !is_each || finding.moments.iter().all(is_explained) {
            finding.caused_by = causes.iter().map(|head| head.id.clone()).collect();
        }
    }
}

/// Whether something that lasted so long may have had an effect at a time.
fn reaches((first, last): (Timestamp, Timestamp), effect: Timestamp) -> bool {
    first.0 <= effect.0 + CLOCKS && last.0 + AFTERMATH >= effect.0
}

/// What is needed of a finding to be another one's cause.
struct Head {
    id: String,
    rule: String,
    run: String,
    window: Option<(Timestamp, Timestamp)>,
    moments: Vec<Timestamp>,
    nodes: Vec<String>,
    wal: Ranges,
}

impl Head {
    /// Whether any of its occurrences may have had an effect at a time; where they are not kept, whether its window may.
    fn reaches(&self, effect: Timestamp) -> bool {
        let mut moments = self.moments.iter();
        match self.window {
            Some(window) if self.moments.is_empty() => reaches(window, effect),
            Some(_) => moments.any(|at| reaches((*at, *at), effect)),
            None => true,
        }
    }

    /// Whether a position that the finding is about lies where this one's WAL is wrong, on the node that the finding names.
    fn holds(&self, cause: &CauseDecl, finding: &Finding) -> bool {
        let fact = |name: &Spanned<String>| finding.facts.get(name.get_ref());
        let lsn = fact(&cause.lsn).and_then(|text| Lsn::parse(text));
        let lsn = lsn.and_then(|lsn| lsn.0.checked_add(cause.plus));
        let (Some(lsn), Some(node)) = (lsn, fact(&cause.node)) else {
            return false;
        };
        let mut ranges = self.wal.get(cause.wal.get_ref()).into_iter().flatten();
        self.rule == *cause.rule.get_ref()
            && ranges.any(|(of, range)| of == node && (range.first.0..=range.last.0).contains(&lsn))
    }

    fn of(finding: &Finding) -> Self {
        Self {
            id: finding.id.clone(),
            rule: finding.rule.clone(),
            run: finding.run.clone(),
            window: finding.window,
            moments: finding.moments.clone(),
            nodes: finding.nodes.clone(),
            wal: finding.wal.clone(),
        }
    }
}

/// Sorts, numbers, and says in how many runs each rule fired.
pub(super) fn finish(findings: &mut [Finding], runs: usize) {
    findings.sort_by(|a, b| {
        let worst = (b.severity, b.confidence).cmp(&(a.severity, a.confidence));
        worst.then_with(|| {
            (a.window.map(|w| w.0), &a.rule, &a.run, &a.nodes).cmp(&(
                b.window.map(|w| w.0),
                &b.rule,
                &b.run,
                &b.nodes,
            ))
        })
    });
    let mut fired: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for finding in findings.iter() {
        fired
            .entry(finding.rule.clone())
            .or_default()
            .insert(finding.run.clone());
    }
    for (number, finding) in findings.iter_mut().enumerate() {
        finding.id = format!("F{}", number + 1);
        let k = fired.get(&finding.rule).map_or(0, BTreeSet::len);
        finding.runs = (
            u64::try_from(k).unwrap_or(0),
            u64::try_from(runs).unwrap_or(0),
        );
    }
}

/// Findings that share a cause, directly or through others, are one incident.
pub(super) fn incidents(findings: &[Finding]) -> Vec<Incident> {
    let position = |id: &str| findings.iter().position(|finding| finding.id == id);
    let mut group: Vec<usize> = (0..findings.len()).collect();
    for (index, finding) in findings.iter().enumerate() {
        for cause in finding.caused_by.iter().filter_map(|id| position(id)) {
            let (from, to) = (
                group[index].max(group[cause]),
                group[index].min(group[cause]),
            );
            group
                .iter_mut()
                .filter(|g| **g == from)
                .for_each(|g| *g = to);
        }
    }
    let mut incidents: Vec<Incident> = Vec::new();
    for first in 0..findings.len() {
        let members: Vec<&Finding> = findings
            .iter()
            .zip(&group)
            .filter(|(_, g)| **g == first)
            .map(|(f, _)| f)
            .collect();
        let Some(root) = members
            .iter()
            .find(|f| f.caused_by.is_empty())
            .or(members.first())
        else {
            continue;
        };
        let others: Vec<&&Finding> = members.iter().filter(|f| f.id != root.id).collect();
        let summary = summary(root, &others);
        let ids = std::iter::once(root.id.clone())
            .chain(others.iter().map(|f| f.id.clone()))
            .collect();
        incidents.push(Incident {
            id: format!("I{}", incidents.len() + 1),
            root: root.id.clone(),
            findings: ids,
            summary,
        });
    }
    incidents
}

/// A sentence for the chain: its causes, then what follows from them.
fn summary(root: &Finding, others: &[&&Finding]) -> String {
    if others.is_empty() {
        return root.title.clone();
    }
    let named = |finding: &Finding| format!("{} ({})", finding.title, finding.id);
    let list = |causes: bool| {
        let listed = others.iter().filter(|it| it.caused_by.is_empty() == causes);
        listed.map(|it| named(it)).collect::<Vec<_>>().join("; ")
    };
    let (beside, follows) = (list(true), list(false));
    let mut followers = others.iter().filter(|it| !it.caused_by.is_empty());
    let may = if followers.all(|it| it.confidence == Confidence::Possible) {
        "may follow"
    } else {
        "follows"
    };
    if beside.is_empty() {
        format!("{}; what {may} from it: {follows}", named(root))
    } else {
        format!(
            "{}; beside it: {beside}; what {may} from them: {follows}",
            named(root)
        )
    }
}
