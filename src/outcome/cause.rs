//! Groups tied to findings: leaf by leaf, through what both sides name, and then what each group is among the others.

use std::collections::{BTreeMap, BTreeSet};

use super::clocks::NodeClock;
use super::deaths::Death;
use super::groups::{Group, Role};
use super::{Row, partition};
use crate::parsers::ci::{Event, EventKind, Leaf};
use crate::rules::schema::FailureKind;
use crate::rules::{Conclusions, Finding, NodeFacts, RuleBase};
use crate::signals::tally::Evidence;
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
    /// The finding's records name the leaf's tables.
    Table,
    /// The leaf's error carries the code of the finding's records.
    Code,
}

impl How {
    /// Its word in outputs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Parts => "parts",
            Self::Record => "record",
            Self::Death => "death",
            Self::Table => "table",
            Self::Code => "code",
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
    /// Parts of missing partitions, with how often records name them for the leaves' tables.
    pub parts: BTreeMap<String, u64>,
    /// Records of the finding that name the leaves' tables.
    pub records: u64,
    /// Codes that both carry.
    pub codes: BTreeSet<u32>,
    /// A record that shows it.
    pub evidence: Option<Evidence>,
}

/// A tie of one leaf.
#[derive(Debug)]
struct Candidate {
    /// The index of the finding.
    finding: usize,
    how: How,
    parts: BTreeMap<String, u64>,
    records: u64,
    codes: BTreeSet<u32>,
    evidence: Option<Evidence>,
}

/// How much later than a leaf's end, or earlier than its beginning, a record may be that still belongs to it.
const SLACK: i64 = MINUTE;

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
            .filter_map(|of| root(scene, of, |_| true, main))
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
    let codes = codes(&leaf.message);
    let findings = scene.conclusions.findings.iter().enumerate();
    let findings = findings.filter(|(_, finding)| is_in_scope(scene, &row.place, &finding.run));
    let mut found: Vec<Candidate> = findings
        .filter_map(|(at, finding)| candidate(scene, leaf, finding, at, &missing, &codes))
        .collect();
    if let Some(death) = death_during(scene, row, leaf) {
        let grounded =
            |finding: &Finding| finding.grounds.contains(&death.signal) && finding.run == death.run;
        if let Some(at) = scene.conclusions.findings.iter().position(grounded) {
            found.retain(|candidate| candidate.finding != at);
            found.push(Candidate {
                finding: at,
                how: How::Death,
                parts: BTreeMap::new(),
                records: 0,
                codes: BTreeSet::new(),
                evidence: scene.conclusions.findings[at]
                    .evidence
                    .first()
                    .map(|(_, evidence)| evidence.clone()),
            });
        }
    }
    found
}

fn candidate(
    scene: &Scene<'_>,
    leaf: &Leaf,
    finding: &Finding,
    at: usize,
    missing: &BTreeSet<String>,
    codes: &BTreeSet<u32>,
) -> Option<Candidate> {
    let mut parts: BTreeMap<String, u64> = BTreeMap::new();
    let (mut records, mut evidence) = (0, None);
    let nodes = scene
        .nodes
        .iter()
        .filter(|facts| facts.tally.run == finding.run);
    for facts in nodes {
        for table in &leaf.mentions.tables {
            for &signal in &finding.grounds {
                let Some(tally) = facts.tally.watched.get(&(table.clone(), signal)) else {
                    continue;
                };
                if !overlaps(scene, facts, leaf, tally.all.span) {
                    continue;
                }
                records += tally.all.count;
                if evidence.is_none() {
                    evidence.clone_from(&tally.evidence);
                }
                for (part, count) in &tally.parts {
                    if missing.contains(partition::of_part(part)) {
                        *parts.entry(part.clone()).or_default() += count;
                    }
                }
            }
        }
    }
    let carried = finding
        .grounds
        .iter()
        .flat_map(|signal| &scene.base.signals.signal(*signal).codes);
    let shared: BTreeSet<u32> = carried
        .filter(|code| codes.contains(code))
        .copied()
        .collect();
    let how = match (parts.is_empty(), shared.is_empty(), records) {
        (false, ..) => How::Parts,
        (true, false, 1..) => How::Record,
        (true, false, 0) => How::Code,
        (true, true, 1..) => How::Table,
        (true, true, 0) => return None,
    };
    Some(Candidate {
        finding: at,
        how,
        parts,
        records,
        codes: shared,
        evidence: evidence.or_else(|| {
            finding
                .evidence
                .first()
                .map(|(_, evidence)| evidence.clone())
        }),
    })
}

/// Whether records of a node may lie in a leaf's time: where the clocks cannot be compared, they may.
fn overlaps(
    scene: &Scene<'_>,
    facts: &NodeFacts,
    leaf: &Leaf,
    span: Option<(Timestamp, Timestamp)>,
) -> bool {
    let clock = clock_of(scene, &facts.tally.run, &facts.tally.node);
    let local = |at: Option<crate::parsers::ci::Moment>| clock?.local(at?);
    let (Some(began), Some(ended), Some((first, last))) =
        (local(leaf.began), local(leaf.ended), span)
    else {
        return true;
    };
    first.0 <= ended.0 + SLACK && last.0 >= began.0 - SLACK
}

fn clock_of<'s>(scene: &'s Scene<'_>, run: &str, node: &str) -> Option<&'s NodeClock> {
    scene
        .clocks
        .iter()
        .find(|clock| clock.run == run && clock.node == node)
}

/// A death of a server that a leaf waited for: it ended while the server was gone.
fn death_during<'s>(scene: &'s Scene<'_>, row: &Row, leaf: &Leaf) -> Option<&'s Death> {
    let kind = kind_of(scene, leaf);
    if !matches!(kind, Some(FailureKind::Timeout | FailureKind::Connection)) {
        return None;
    }
    let deaths = scene
        .deaths
        .iter()
        .filter(|death| is_in_scope(scene, &row.place, &death.run));
    deaths.into_iter().find(|death| {
        let local = |at: Option<crate::parsers::ci::Moment>| {
            clock_of(scene, &death.run, &death.node)?.local(at?)
        };
        let (Some(began), Some(ended)) = (local(leaf.began), local(leaf.ended)) else {
            return false;
        };
        ended >= death.at && death.until.is_none_or(|until| began.0 <= until.0 + SLACK)
    })
}

fn kind_of(scene: &Scene<'_>, leaf: &Leaf) -> Option<FailureKind> {
    let kind = scene.base.failure(leaf.exception.as_deref(), &leaf.message);
    kind.map(|kind| kind.kind)
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

/// The codes of server errors in a message: `Code: N` followed by `.` or `,`.
fn codes(message: &str) -> BTreeSet<u32> {
    let mut codes = BTreeSet::new();
    for (at, found) in message.match_indices("Code: ") {
        let rest = &message[at + found.len()..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if matches!(rest.as_bytes().get(digits), Some(b'.' | b',')) {
            codes.extend(rest[..digits].parse::<u32>().ok());
        }
    }
    codes
}

/// The finding that a leaf goes back to: the strongest tie that counts, of weak ones one to the incident that is the main one,
/// and from there along declared causes while those are tied too.
fn root(
    scene: &Scene<'_>,
    candidates: &[Candidate],
    counts: impl Fn(&Candidate) -> bool,
    main: Option<usize>,
) -> Option<usize> {
    let findings = &scene.conclusions.findings;
    let is_elsewhere = |at: usize| main.is_some_and(|main| !is_one_incident(scene, at, main));
    let key = |candidate: &&Candidate| {
        let is_weak = candidate.how > How::Death;
        (
            candidate.how,
            is_weak && is_elsewhere(candidate.finding),
            candidate.finding,
        )
    };
    let best = candidates
        .iter()
        .filter(|candidate| counts(candidate))
        .min_by_key(key)?;
    let mut root = best.finding;
    for _ in 0..findings.len() {
        let causes = &findings[root].caused_by;
        let tied = candidates
            .iter()
            .find(|candidate| causes.contains(&findings[candidate.finding].id));
        match tied {
            Some(candidate) if candidate.finding != root => root = candidate.finding,
            _ => break,
        }
    }
    Some(root)
}

/// Adds a leaf's tie to those of its group.
fn add(scene: &Scene<'_>, ties: &mut Vec<Tie>, candidate: Candidate) {
    let finding = &scene.conclusions.findings[candidate.finding].id;
    let known = ties
        .iter_mut()
        .find(|tie| tie.finding == *finding && tie.how == candidate.how);
    if let Some(tie) = known {
        tie.leaves += 1;
        tie.records += candidate.records;
        tie.codes.extend(candidate.codes);
        for (part, count) in candidate.parts {
            *tie.parts.entry(part).or_default() += count;
        }
    } else {
        ties.push(Tie {
            finding: finding.clone(),
            how: candidate.how,
            leaves: 1,
            parts: candidate.parts,
            records: candidate.records,
            codes: candidate.codes,
            evidence: candidate.evidence,
        });
    }
}

/// Says what a group is among the others.
fn settle(scene: &Scene<'_>, group: &mut Group, cause: Option<usize>, primary: Option<usize>) {
    let Some(leaf) = group
        .leaves
        .first()
        .map(|(row, at)| &scene.rows[*row].run.leaves[*at])
    else {
        return;
    };
    let kind = scene.base.failure(leaf.exception.as_deref(), &leaf.message);
    let fate = kind.map(|kind| kind.kind);
    let what = kind.map(|kind| kind.what.trim_end_matches('.'));
    let is_waiting = matches!(fate, Some(FailureKind::Timeout | FailureKind::Connection));
    let Some(at) = cause else {
        let stopped = is_waiting.then(|| stop_before(scene, leaf)).flatten();
        group.role = match fate {
            _ if stopped.is_some() => Role::Collateral,
            Some(FailureKind::Infrastructure) => Role::Infrastructure,
            Some(FailureKind::Defect) => Role::Separate,
            Some(FailureKind::Timeout | FailureKind::Connection) | None => Role::Unknown,
        };
        group.why = untied(scene, what, stopped);
        return;
    };
    let finding = &scene.conclusions.findings[at];
    let is_main = primary.is_some_and(|primary| is_one_incident(scene, at, primary));
    let tie = group.ties.iter().find(|tie| tie.finding == finding.id);
    let how = tie.map(|tie| tie.how);
    let is_ground = matches!(finding.category.as_str(), "infrastructure" | "resources");
    group.role = match (is_ground, is_main, how) {
        (true, ..) => Role::Infrastructure,
        (false, true, Some(How::Parts)) => Role::Cause,
        (false, true, Some(How::Death)) => Role::Collateral,
        (false, true, _) if is_waiting => Role::Collateral,
        (false, true, _) => Role::Cause,
        (false, false, _) => Role::Separate,
    };
    let tied = tie.map_or_else(String::new, |tie| tied(tie, group.leaves.len()));
    let what = what.map_or_else(String::new, |what| format!("{what}. "));
    group.why = format!("{what}{tied}");
}

/// Whether two findings belong to one incident.
fn is_one_incident(scene: &Scene<'_>, a: usize, b: usize) -> bool {
    let findings = &scene.conclusions.findings;
    let both = |ids: &[String]| ids.contains(&findings[a].id) && ids.contains(&findings[b].id);
    a == b
        || scene
            .conclusions
            .incidents
            .iter()
            .any(|incident| both(&incident.findings))
}

/// What a source beside the tests says happened before a leaf ended and ends servers.
fn stop_before<'s>(scene: &'s Scene<'_>, leaf: &Leaf) -> Option<&'s Event> {
    let is_stop = |event: &Event| {
        matches!(
            event.kind,
            EventKind::ServerDied | EventKind::OutOfMemory | EventKind::Unreachable
        )
    };
    let mut events = scene
        .events
        .iter()
        .map(|(_, event)| event)
        .filter(|event| is_stop(event));
    events.find(|event| match (event.at, leaf.ended) {
        (Some(at), Some(ended)) => at.clock == ended.clock && at.at <= ended.at,
        _ => false,
    })
}

/// Why a group without a finding is what it is.
fn untied(scene: &Scene<'_>, what: Option<&str>, stopped: Option<&Event>) -> String {
    let what = what.map_or_else(String::new, |what| format!("{what}. "));
    if let Some(event) = stopped {
        return format!(
            "{what}Before it ended: {} ({})",
            event.text,
            event.kind.word()
        );
    }
    if scene.nodes.iter().all(|facts| facts.tally.records == 0) {
        return format!(
            "{what}No server's log is here, so what the servers did meanwhile is not known"
        );
    }
    format!("{what}No finding names its tables, its parts or its error's code")
}

/// What ties the leaves of a group to a finding, in words.
fn tied(tie: &Tie, leaves: usize) -> String {
    let (id, of) = (&tie.finding, format!("{} of {leaves}", tie.leaves));
    let codes: Vec<String> = tie.codes.iter().map(u32::to_string).collect();
    let codes = codes.join(", ");
    match tie.how {
        How::Parts => {
            let mut parts: Vec<(&String, &u64)> = tie.parts.iter().collect();
            parts.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
            let named: Vec<String> = parts
                .iter()
                .take(4)
                .map(|(part, count)| format!("{part} {count} times"))
                .collect();
            let more = parts.len().saturating_sub(4);
            let more = if more > 0 {
                format!(", {more} more parts")
            } else {
                String::new()
            };
            format!(
                "The rows missing in {of} leaves lie in partitions whose parts records of {id} name for these leaves' own tables: {}{more}",
                named.join(", ")
            )
        }
        How::Record => format!(
            "Records of {id} with Code {codes} name the tables of {of} leaves ({} records)",
            tie.records
        ),
        How::Death => format!("{id}: the server died before {of} leaves ended, and was gone"),
        How::Table => format!(
            "Records of {id} name the tables of {of} leaves while they ran ({} records)",
            tie.records
        ),
        How::Code => format!(
            "The error of {of} leaves has the Code {codes} of {id}; no record names their tables"
        ),
    }
}
