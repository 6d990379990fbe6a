//! What the records of a storm say: servers, length, protocol, tables, kind of entries, and what goes to whom.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::loads::Loads;
use super::{Fact, fact};
use crate::engine::cas::Variant;
use crate::report::model::{Applies, AwaitedRow, Finding, Report, Role, SignalRow};
use crate::time::Timestamp;

/// A storm whose load must be searched for and that lasted longer, in seconds, is not run again: a search runs it some
/// seventy times.
const LENGTH_MAX: u64 = 1_800;
/// The same where the load stands in the records, which is thin if it lasts.
const READ_LENGTH_MAX: u64 = 6 * 3600;
/// What an incident may count and still be run as often as a search does.
const REFUSED_MAX: u64 = 400_000;
/// Servers of a run.
const SERVERS_MAX: usize = 16;
/// Tables of a run.
const TABLES_MAX: u64 = 1_000;

/// A storm as the records have it.
pub(super) struct Storm<'a> {
    pub(super) finding: &'a Finding,
    /// The servers: those with records first.
    pub(super) nodes: Vec<String>,
    /// How many of them have records.
    pub(super) seen: usize,
    pub(super) seconds: u64,
    pub(super) variant: Variant,
    /// Whether the sources' answers can be compared.
    pub(super) balances: bool,
    /// By server with records: how many parts were refused to it, each counted once; nothing where that was not kept.
    pub(super) parts: Vec<Option<u64>>,
    pub(super) tables: u64,
    /// What writes; nothing where that must be searched for.
    pub(super) loads: Option<Loads>,
    /// By candidate: how many of 1,000 requests for the catalog fail on each server.
    pub(super) shares: RefCell<BTreeMap<[u64; 2], Vec<u64>>>,
}

/// Access to a report by the names that a rule's model has.
#[derive(Clone, Copy)]
pub(super) struct Records<'a> {
    pub(super) report: &'a Report,
    pub(super) finding: &'a Finding,
}

impl<'a> Records<'a> {
    /// The signal that the model knows under a name, and the value by field that it counts; all where none is named.
    fn signal(self, name: &str) -> Option<(&'a str, Vec<(&'a str, &'a str)>)> {
        let replay = self.finding.replay.as_ref()?;
        if let Some(signal) = replay["counts"][name].as_str() {
            return Some((signal, Vec::new()));
        }
        let read = &replay["reads"][name];
        let filters = read["where"].as_object()?.iter();
        let filters = filters.filter_map(|(field, it)| Some((field.as_str(), it.as_str()?)));
        Some((read["signal"].as_str()?, filters.collect()))
    }

    pub(super) fn row(self, name: &str, node: &str) -> Option<&'a SignalRow> {
        let (signal, _) = self.signal(name)?;
        let mut rows = self.report.signals.iter();
        rows.find(|it| it.run == self.finding.run && it.node == node && it.signal == signal)
    }

    /// How often it occurred on a server.
    pub(super) fn count(self, name: &str, node: &str) -> u64 {
        let Some((row, (_, filters))) = self.row(name, node).zip(self.signal(name)) else {
            return 0;
        };
        let of = |(field, value): &(&str, &str)| row.by.get(*field)?.get(*value).copied();
        match filters.first() {
            None => row.count,
            Some(filter) => of(filter).unwrap_or(0),
        }
    }

    /// How often it occurred on a server over time: seconds since the time axis begins.
    pub(super) fn points(self, name: &str, node: &str) -> &'a [(i64, u64)] {
        let signal = self.signal(name).map_or("", |it| it.0);
        let mut series = self.report.timeline.series.iter();
        let mine =
            series.find(|it| it.run == self.finding.run && it.node == node && it.signal == signal);
        mine.map_or(&[], |it| &it.points)
    }

    /// What a server was refused and what of it came.
    pub(super) fn awaited(self, node: &str) -> Option<&'a AwaitedRow> {
        let (signal, _) = self.signal("refused")?;
        let mut rows = self.report.awaited.iter();
        rows.find(|it| it.run == self.finding.run && it.node == node && it.signal == signal)
    }

    /// Whether a server's records would show it.
    pub(super) fn shows(self, name: &str, node: &str) -> bool {
        let signal = self.signal(name).map_or("", |it| it.0);
        let mut blind = self.report.not_observable.iter();
        !blind.any(|it| it.run == self.finding.run && it.node == node && it.signal == signal)
    }
}

/// Reads a storm, or says why it cannot be run again.
pub(super) fn storm<'a>(
    records: Records<'a>,
    balances: bool,
    read: &mut Vec<Fact>,
) -> Result<Storm<'a>, String> {
    let finding = records.finding;
    let refused = finding.counts.get("refused").copied().unwrap_or(0);
    if refused == 0 {
        return Err("no refusal is counted".to_owned());
    }
    if refused > REFUSED_MAX {
        return Err(format!(
            "{refused} refusals are too many to run as often as a search does: {REFUSED_MAX} is the limit"
        ));
    }
    let (nodes, seen) = servers(records)?;
    let tables = nodes.iter().filter_map(|it| records.awaited(it));
    let tables = tables.map(|it| it.tables).max().unwrap_or(1).max(1);
    if tables > TABLES_MAX {
        return Err(format!(
            "{tables} tables are too many: {TABLES_MAX} is the limit"
        ));
    }
    let (from, to) = span(records, &nodes[..seen])?;
    let seconds = u64::try_from(to.0 - from.0).unwrap_or(0);
    let seconds = seconds.div_ceil(1_000_000).max(10);
    let loads = Loads::read(records, &nodes, seen, (from, seconds));
    let (limit, why) = match loads {
        Some(_) => (READ_LENGTH_MAX, "it"),
        None => (LENGTH_MAX, "it, whose load must be searched for,"),
    };
    if seconds > limit {
        return Err(format!(
            "{why} lasted {seconds} s, and {limit} s is the limit"
        ));
    }
    read.push(fact("servers", nodes.join(", "), "the finding"));
    if seen < nodes.len() {
        let withheld = nodes[seen..].join(", ");
        read.push(fact("without records here", withheld, "the inputs"));
    }
    let from = "the first and the last refusal or finished relink";
    read.push(fact("length, s", seconds, from));
    let from = "the loggers of the refusals";
    read.push(fact("tables", tables, from));
    let parts = nodes[..seen]
        .iter()
        .map(|node| refused_parts(records, node));
    Ok(Storm {
        finding,
        parts: parts.collect(),
        variant: protocol(records, read)?,
        nodes,
        seen,
        seconds,
        balances,
        tables,
        loads,
        shares: RefCell::default(),
    })
}

/// The servers of a storm, those with records first, and how many these are.
fn servers(records: Records<'_>) -> Result<(Vec<String>, usize), String> {
    let finding = records.finding;
    let mine = records.report.nodes.iter();
    let mine = mine.filter(|it| it.run == finding.run);
    let has_records: BTreeMap<&str, bool> = mine
        .map(|it| (it.id.as_str(), it.role == Role::Reporter && it.records > 0))
        .collect();
    let is_seen = |name: &&String| has_records.get(name.as_str()).copied().unwrap_or(false);
    // A finding that rests on answers names the sources: those that they refused take part too.
    let refused = |node: &&String| {
        let counts = finding.counts_by_node.get(*node);
        counts
            .and_then(|it| it.get("refused"))
            .is_some_and(|it| *it > 0)
    };
    let others = finding.counts_by_node.keys().filter(refused);
    let others = others.filter(|it| !finding.nodes.contains(it));
    let named: Vec<&String> = finding.nodes.iter().chain(others).collect();
    let (with, without): (Vec<&String>, Vec<&String>) = named.into_iter().partition(is_seen);
    let seen = with.len();
    let nodes: Vec<String> = with.into_iter().chain(without).cloned().collect();
    match nodes.len() {
        0 | 1 => Err(format!(
            "{} server is known, and a relink takes two",
            nodes.len()
        )),
        _ if seen == 0 => Err("none of its servers has records here".to_owned()),
        many if many > SERVERS_MAX => Err(format!(
            "{many} servers are too many: {SERVERS_MAX} is the limit"
        )),
        _ => Ok((nodes, seen)),
    }
}

/// From the first to the last refusal or finished relink.
fn span(records: Records<'_>, nodes: &[String]) -> Result<(Timestamp, Timestamp), String> {
    let stamp = |text: &Option<String>| Timestamp::from_iso(text.as_deref()?);
    let names = ["refused", "finished"];
    let rows = names
        .iter()
        .flat_map(|name| nodes.iter().filter_map(|node| records.row(name, node)));
    let mut ends: Vec<Timestamp> = rows
        .flat_map(|it| [stamp(&it.first), stamp(&it.last)])
        .flatten()
        .collect();
    ends.sort_unstable();
    let (first, last) = (ends.first(), ends.last());
    let ends = first.zip(last).map(|(first, last)| (*first, *last));
    ends.ok_or_else(|| "its records have no stamp, so that its length is not known".to_owned())
}

fn protocol(records: Records<'_>, read: &mut Vec<Fact>) -> Result<Variant, String> {
    let finding = records.finding;
    let mut versions: Vec<&str> = records
        .report
        .environment
        .iter()
        .filter(|it| it.run == finding.run)
        .filter_map(|it| it.version.as_deref())
        .collect();
    versions.sort_unstable();
    versions.dedup();
    let is_new = finding.known.iter().any(|it| it.applies == Applies::No);
    let variant = Variant::parse(if is_new { "v2" } else { "v1" });
    let variant = variant.map_err(|error| error.to_string())?;
    let versions = if versions.is_empty() {
        "none named".to_owned()
    } else {
        versions.join(", ")
    };
    let from = format!("version: {versions}, and the fixes that it has");
    read.push(fact("protocol", variant.name(), &from));
    Ok(variant)
}

/// How many parts were refused to a server, each counted once: what says how many there were to fetch.
fn refused_parts(records: Records<'_>, node: &str) -> Option<u64> {
    if let Some(row) = records.awaited(node) {
        return Some(row.things).filter(|_| row.beyond_cap == 0);
    }
    let row = records.row("refused", node)?;
    let (field, _) = row.holds.iter().find(|it| it.1 == "part")?;
    let is_whole = row.beyond_cap.get(field).is_none_or(|left| *left == 0);
    row.distinct.get(field).copied().filter(|_| is_whole)
}

/// Sums that do not close: what is missing there is not made up for by any number that is fitted.
pub(super) fn unbalanced(records: Records<'_>) -> Vec<Fact> {
    let mine = records.report.balances.iter();
    let mine = mine.filter(|it| it.run == records.finding.run);
    let open = mine.filter(|it| {
        let remainder = it.remainder.unsigned_abs();
        remainder * 20 > it.left.count.max(1)
    });
    open.map(|it| {
        let from = it.could_be.join("; ");
        let value = format!("{} of {} {}", it.remainder, it.left.count, it.left.what);
        fact(&it.name, value, &from)
    })
    .collect()
}
