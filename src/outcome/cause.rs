//! Groups tied to findings: leaf by leaf, through what both sides name, and from there along declared causes.

use std::collections::{BTreeMap, BTreeSet};

use super::clocks::NodeClock;
use super::code::{Kinship, code, kinship};
use super::deaths::Death;
use super::groups::Group;
use super::settle::settle;
use super::when::{LeafTime, SLACK, clock_of, time_of};
use super::{Row, partition};
use crate::parsers::ci::{Event, Leaf, Moment};
use crate::rules::schema::FailureKind;
use crate::rules::{Conclusions, Finding, NodeFacts, RuleBase};
use crate::signals::tally::{Evidence, WatchTally};
use crate::time::{MINUTE, Timestamp};

/// What the leaves are held against.
pub(super) struct Scene<'s> {
    pub(super) rows: &'s [Row],
    pub(super) nodes: &'s [NodeFacts],
    pub(super) conclusions: &'s Conclusions,
    pub(super) base: &'s RuleBase,
    pub(super) clocks: &'s [NodeClock],
    pub(super) deaths: &'s [Death],
    pub(super) events: &'s [(String, Event)],
    /// Whether the logs are of one run, to which all tests then belong.
    pub(super) is_one_run: bool,
}

/// Through what a leaf is tied to a finding; the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum How {
    /// Rows are missing in partitions whose parts the finding's records name for the leaf's own tables.
    Parts,
    /// The finding's records name the leaf's tables, and the leaf's error carries their code.
    Record,
    /// A server died while it ran.
    Death,
    /// The leaf's error carries the code of the finding's records.
    Code,
    /// The finding's records name the leaf's tables.
    Table,
}

impl How {
    /// Its word in outputs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Parts => "parts",
            Self::Record => "record",
            Self::Death => "death",
            Self::Code => "code",
            Self::Table => "table",
        }
    }
}

/// Leaves of a group tied to one finding in one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tie {
    /// The finding's id.
    pub finding: String,
    /// Through what.
    pub how: How,
    /// How many leaves.
    pub leaves: u64,
    /// By table and part of a missing partition: how often records name both while a leaf of the table ran.
    pub parts: BTreeMap<(String, String), u64>,
    /// The most records of the finding that name the tables of one leaf while it ran.
    pub records: u64,
    /// The code that both carry.
    pub code: Option<u32>,
    /// Whether the error of every leaf has the text of the finding's records, or is of the same family of the code.
    pub is_same_text: bool,
    /// Whether it is known of every leaf that it ran when the records were logged; else its time is not observable.
    pub is_timed: bool,
    /// A record that shows it.
    pub evidence: Option<Evidence>,
}

impl Tie {
    /// Whether it is too weak to name a cause: a code alone, at no known time.
    pub(super) fn is_weak(&self) -> bool {
        self.how == How::Code && !self.is_timed
    }
}

/// How often records name a table and a part.
type Parts = BTreeMap<(String, String), u64>;

/// A tie of one leaf.
#[derive(Debug)]
struct Candidate {
    /// The index of the finding.
    finding: usize,
    how: How,
    parts: Parts,
    records: u64,
    code: Option<u32>,
    is_same_text: bool,
    is_timed: bool,
    evidence: Option<Evidence>,
}

/// Ties every group; the finding that most leaves go back to.
pub(super) fn tie(scene: &Scene<'_>, groups: &mut [Group]) -> Option<String> {
    let of_leaf = |(row, at): &(usize, usize)| {
        let row = &scene.rows[*row];
        candidates(scene, row, &row.run.leaves[*at])
    };
    let candidates: Vec<Vec<Vec<Candidate>>> = groups
        .iter()
        .map(|group| group.leaves.iter().map(of_leaf).collect())
        .collect();
    // What names parts or dies outweighs what names a table or a code, which many findings may.
    let strong = |candidate: &&Candidate| candidate.how <= How::Death;
    let roots = candidates
        .iter()
        .flatten()
        .filter_map(|of| root(scene, of, |it| strong(&it), None));
    let main = most(roots);
    let mut causes: Vec<Option<usize>> = Vec::new();
    let mut all = Vec::new();
    for (group, of_group) in groups.iter_mut().zip(candidates) {
        let roots: Vec<usize> = of_group
            .iter()
            .filter_map(|of| root(scene, of, |it| it.how != How::Code || it.is_timed, main))
            .collect();
        causes.push(most(roots.iter().copied()));
        all.extend(roots);
        of_group
            .into_iter()
            .flatten()
            .for_each(|candidate| add(scene, &mut group.ties, candidate));
        group.ties.sort_by(|a, b| {
            let key = |tie: &Tie| (tie.how, std::cmp::Reverse(tie.leaves), tie.finding.clone());
            key(a).cmp(&key(b))
        });
    }
    let primary = main.or_else(|| most(all.into_iter()));
    let findings = &scene.conclusions.findings;
    for (group, cause) in groups.iter_mut().zip(causes) {
        group.cause = cause.map(|at| findings[at].id.clone());
        settle(scene, group, cause, primary);
    }
    primary.map(|at| findings[at].id.clone())
}

/// The finding that occurs most often; of equal ones the first, which is the worst.
fn most(findings: impl Iterator<Item = usize>) -> Option<usize> {
    let counts = super::tallied(findings);
    let best = counts
        .into_iter()
        .max_by_key(|(at, count)| (*count, std::cmp::Reverse(*at)));
    best.map(|(at, _)| at)
}

/// Whether a node's logs belong to where the tests' results lie.
fn is_in_scope(scene: &Scene<'_>, place: &str, run: &str) -> bool {
    place == run || scene.is_one_run || run.starts_with(place) || place.starts_with(run)
}

/// What a leaf can be tied to.
fn candidates(scene: &Scene<'_>, row: &Row, leaf: &Leaf) -> Vec<Candidate> {
    let missing = missing_partitions(leaf);
    let code = code(&leaf.message);
    let findings = scene.conclusions.findings.iter().enumerate();
    let findings = findings.filter(|(_, finding)| is_in_scope(scene, &row.place, &finding.run));
    let mut found: Vec<Candidate> = findings
        .filter_map(|(at, finding)| candidate(scene, (row, leaf), (at, finding), &missing, code))
        .collect();
    if let Some(death) = death_during(scene, row, leaf) {
        let grounded =
            |finding: &Finding| finding.grounds.contains(&death.signal) && finding.run == death.run;
        if let Some(at) = scene.conclusions.findings.iter().position(grounded) {
            found.retain(|candidate| candidate.finding != at);
            found.push(Candidate {
                finding: at,
                how: How::Death,
                parts: Parts::new(),
                records: 0,
                code: None,
                is_same_text: false,
                is_timed: true,
                evidence: first_evidence(&scene.conclusions.findings[at]),
            });
        }
    }
    found
}

fn first_evidence(finding: &Finding) -> Option<Evidence> {
    finding
        .evidence
        .first()
        .map(|(_, evidence)| evidence.clone())
}

fn candidate(
    scene: &Scene<'_>,
    (row, leaf): (&Row, &Leaf),
    (at, finding): (usize, &Finding),
    missing: &BTreeSet<String>,
    code: Option<u32>,
) -> Option<Candidate> {
    let mut parts = Parts::new();
    let (mut records, mut evidence, mut is_timed) = (0, None, true);
    for (facts, table, tally) in watched(scene, leaf, finding) {
        let time = time_of(scene, facts, (row, leaf));
        let during = time.during(tally);
        if during == 0 {
            continue;
        }
        is_timed &= matches!(time, LeafTime::Between(..));
        records += during;
        evidence = evidence.or_else(|| tally.evidence.clone());
        for (part, of_part) in &tally.parts {
            if missing.contains(partition::of_part(part)) && time.meets(of_part.span) {
                let key = (table.to_owned(), part.clone());
                *parts.entry(key).or_default() += of_part.count;
            }
        }
    }
    let kin = code.and_then(|code| kinship(scene.base, finding, code, &leaf.message));
    let nearby = kin.and_then(|_| nearby(scene, (row, leaf), finding));
    let how = match (parts.is_empty(), kin.is_some(), records) {
        (false, ..) => How::Parts,
        (true, true, 1..) => How::Record,
        (true, true, 0) => {
            is_timed = nearby?;
            How::Code
        }
        (true, false, 1..) => How::Table,
        (true, false, 0) => return None,
    };
    Some(Candidate {
        finding: at,
        how,
        parts,
        records,
        code: code.filter(|_| kin.is_some()),
        is_same_text: kin == Some(Kinship::Text),
        is_timed,
        evidence: evidence.or_else(|| first_evidence(finding)),
    })
}

/// How far an error that only a code ties to a finding may be from its window: a client can be told of it late, and a
/// server can have met it before the test did.
const CODE_SLACK: i64 = 60 * MINUTE;

/// Whether a finding's window is known to come near a leaf's time by the clock of a node of it; nothing if it does not.
fn nearby(scene: &Scene<'_>, of: (&Row, &Leaf), finding: &Finding) -> Option<bool> {
    let nodes = scene
        .nodes
        .iter()
        .filter(|facts| facts.tally.run == finding.run);
    let near = |(first, last): (Timestamp, Timestamp)| {
        (
            Timestamp(first.0 - CODE_SLACK),
            Timestamp(last.0 + CODE_SLACK),
        )
    };
    let window = finding.window.map(near);
    let times = nodes.map(|facts| time_of(scene, facts, of));
    let met = times.filter(|time| time.meets(window));
    met.map(|time| window.is_some() && matches!(time, LeafTime::Between(..)))
        .reduce(|a, b| a || b)
}

/// What records that are the grounds of a finding say of a leaf's tables, by node and table.
fn watched<'s>(
    scene: &'s Scene<'_>,
    leaf: &'s Leaf,
    finding: &'s Finding,
) -> Vec<(&'s NodeFacts, &'s str, &'s WatchTally)> {
    let mut found = Vec::new();
    for facts in scene.nodes {
        if facts.tally.run != finding.run || facts.tally.watched.is_empty() {
            continue;
        }
        for table in &leaf.mentions.tables {
            let of = |signal: &u16| facts.tally.watched.get(&(table.clone(), *signal));
            let tallies = finding.grounds.iter().filter_map(of);
            found.extend(tallies.map(|tally| (facts, table.as_str(), tally)));
        }
    }
    found
}

/// A death of a server that a leaf waited for: it ended while the server was gone.
fn death_during<'s>(scene: &'s Scene<'_>, row: &Row, leaf: &Leaf) -> Option<&'s Death> {
    let kind = scene
        .base
        .failure(leaf.exception.as_deref(), &leaf.message)
        .map(|kind| kind.kind);
    if !matches!(kind, Some(FailureKind::Timeout | FailureKind::Connection)) {
        return None;
    }
    let mut deaths = scene
        .deaths
        .iter()
        .filter(|death| is_in_scope(scene, &row.place, &death.run));
    deaths.find(|death| {
        let local = |at: Option<Moment>| clock_of(scene, &death.run, &death.node)?.local(at?);
        let (Some(began), Some(ended)) = (local(leaf.began), local(leaf.ended)) else {
            return false;
        };
        ended >= death.at && death.until.is_none_or(|until| began.0 <= until.0 + SLACK)
    })
}

/// The partitions in which a leaf misses rows, by the keys of the tables that it created.
fn missing_partitions(leaf: &Leaf) -> BTreeSet<String> {
    let mentions = &leaf.mentions;
    let rows = mentions.rows.iter();
    rows.flat_map(|row| {
        mentions
            .keys
            .iter()
            .filter_map(|key| partition::of_row(row, key))
    })
    .collect()
}

/// The finding that a leaf goes back to: the strongest tie that counts, of weak ones one to the main finding, and from there along
/// causes that the rules declare, as long as the leaf is tied to them as well or their records name the same parts.
fn root(
    scene: &Scene<'_>,
    candidates: &[Candidate],
    counts: impl Fn(&Candidate) -> bool,
    main: Option<usize>,
) -> Option<usize> {
    let key = |candidate: &&Candidate| {
        let is_weak = candidate.how > How::Death;
        (
            candidate.how,
            is_weak && main != Some(candidate.finding),
            candidate.finding,
        )
    };
    let best = candidates
        .iter()
        .filter(|candidate| counts(candidate))
        .min_by_key(key)?;
    let mut root = best.finding;
    for _ in 0..scene.conclusions.findings.len() {
        let is_tied = |at: usize| {
            main == Some(at)
                || candidates.iter().any(|candidate| candidate.finding == at)
                || names_parts(scene, at, &best.parts)
        };
        let above = causes(scene, root).into_iter().find(|at| is_tied(*at));
        match above {
            Some(above) if above != root => root = above,
            _ => break,
        }
    }
    Some(root)
}

/// The findings of a finding's run that explain it, by what is known of their times, or by what the rules declare.
pub(super) fn causes(scene: &Scene<'_>, at: usize) -> Vec<usize> {
    let findings = &scene.conclusions.findings;
    let effect = &findings[at];
    let declared = scene
        .base
        .rule(&effect.rule)
        .map_or(&[][..], |(_, rule)| &rule.caused_by);
    let explains = |cause: &Finding| {
        let is_declared = declared.iter().any(|rule| *rule.get_ref() == cause.rule);
        effect.caused_by.contains(&cause.id) || is_declared && cause.run == effect.run
    };
    (0..findings.len())
        .filter(|other| explains(&findings[*other]))
        .collect()
}

/// Whether records that are the grounds of a finding name any of these parts, for whatever table.
fn names_parts(scene: &Scene<'_>, at: usize, parts: &Parts) -> bool {
    let finding = &scene.conclusions.findings[at];
    let nodes = || {
        scene
            .nodes
            .iter()
            .filter(|facts| facts.tally.run == finding.run)
    };
    let names = |signal: u16, part: &str| {
        nodes().any(|facts| {
            let tally = &facts.tally.signals[usize::from(signal)];
            tally.values.iter().any(|values| values.count(part) > 0)
        })
    };
    parts
        .keys()
        .any(|(_, part)| finding.grounds.iter().any(|signal| names(*signal, part)))
}

/// Adds a leaf's tie to those of its group.
fn add(scene: &Scene<'_>, ties: &mut Vec<Tie>, candidate: Candidate) {
    let finding = &scene.conclusions.findings[candidate.finding].id;
    let known = ties
        .iter_mut()
        .find(|tie| tie.finding == *finding && tie.how == candidate.how);
    if let Some(tie) = known {
        tie.leaves += 1;
        tie.is_same_text &= candidate.is_same_text;
        tie.is_timed &= candidate.is_timed;
        tie.records = tie.records.max(candidate.records);
        // Leaves may share a table: what its records say is counted once.
        for (key, count) in candidate.parts {
            let known = tie.parts.entry(key).or_default();
            *known = count.max(*known);
        }
    } else {
        ties.push(Tie {
            finding: finding.clone(),
            how: candidate.how,
            leaves: 1,
            parts: candidate.parts,
            records: candidate.records,
            code: candidate.code,
            is_same_text: candidate.is_same_text,
            is_timed: candidate.is_timed,
            evidence: candidate.evidence,
        });
    }
}

impl Tie {
    /// How often records name each part, over all tables; most often first.
    pub fn by_part(&self) -> Vec<(&str, u64)> {
        let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
        for ((_, part), count) in &self.parts {
            *sums.entry(part).or_default() += count;
        }
        let mut parts: Vec<(&str, u64)> = sums.into_iter().collect();
        parts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        parts
    }
}
