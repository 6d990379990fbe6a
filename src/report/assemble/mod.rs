//! From an analysis to the report value: names, times and order, and nothing concluded.

mod conclusions;
mod exported;
mod foreign;
mod rules;
mod steps;
mod tests;
mod timeline;

use std::collections::{BTreeMap, BTreeSet};

use conclusions::{balance, clock, incident, not_observable};

use crate::analysis::{Analysis, InputFacts, InputFault};
use crate::intake::UNNAMED;
use crate::report::model::{
    CodeRow, Environment, Evidence, Finding, Input, InputProblem, Node, Peak, Records, Report,
    Role, SCHEMA, SignalRow, Tool, fails_on,
};
use crate::report::wal::{comparison_rows, rows};
use crate::rules::{NodeFacts, RuleBase, concerns};
use crate::scan::ProblemKind;
use crate::signals::tally::{self, SignalTally, Tally};
use crate::signals::{FieldKind, Signal, TallyKind};
use crate::time::{Timestamp, Zone};
use crate::vocab::{Level, several};

/// How many values of an open field are listed per signal and node.
const TOP_MAX: usize = 20;

/// Builds the report of an analysis.
pub fn report(analysis: &Analysis, base: &RuleBase) -> Report {
    let context = Context { analysis, base };
    let nodes = analysis.nodes.iter();
    let logged = nodes.filter(|facts| !facts.tally.seen.formats.is_empty());
    let found = &analysis.conclusions.findings;
    let findings: Vec<Finding> = found.iter().map(|it| context.finding(it)).collect();
    let signals = context.signals();
    Report {
        schema: SCHEMA.to_owned(),
        tool: Tool {
            name: "casdiag".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        },
        complete: analysis.is_complete(),
        redacted: false,
        since: analysis.period.since.map(bound),
        until: analysis.period.until.map(bound),
        environment: logged.map(environment).collect(),
        inputs: context.inputs(),
        nodes: context.nodes(),
        records: context.records(),
        codes: context.codes(|node| &node.tally.codes),
        codes_nested: context.nested(),
        counters: exported::counters(analysis),
        clocks: analysis.conclusions.skews.iter().map(clock).collect(),
        foreign: context.foreign(&signals),
        signals,
        rules: rules::rules(base),
        fail_on: fails_on(),
        diagnosis: steps::steps(base, &findings),
        findings,
        incidents: analysis
            .conclusions
            .incidents
            .iter()
            .map(incident)
            .collect(),
        wal: rows(&analysis.wals),
        wal_nodes: comparison_rows(&analysis.comparisons),
        tests: context.tests(),
        not_observable: analysis
            .conclusions
            .not_observable
            .iter()
            .map(not_observable)
            .collect(),
        balances: analysis.conclusions.balances.iter().map(balance).collect(),
        awaited: context.awaited(),
        coverage: context.coverage(),
        replays: Vec::new(),
        timeline: context.timeline(),
    }
}

/// An end of the time asked for: of no clock in particular.
fn bound(at: Timestamp) -> String {
    at.iso(Zone::Unknown)
}

struct Context<'a> {
    analysis: &'a Analysis,
    base: &'a RuleBase,
}

impl Context<'_> {
    fn zone(&self, run: &str, node: &str) -> Zone {
        let found = self
            .analysis
            .nodes
            .iter()
            .find(|facts| facts.tally.run == run && facts.tally.node == node);
        found.map(|facts| facts.zone).unwrap_or_default()
    }

    /// The zone that all nodes of a run share.
    pub(super) fn run_zone(&self, run: &str) -> Zone {
        let mut zones = self
            .analysis
            .nodes
            .iter()
            .filter(|facts| facts.tally.run == run && facts.tally.records > 0)
            .map(|facts| facts.zone);
        let first = zones.next().unwrap_or_default();
        if zones.all(|zone| zone == first) {
            first
        } else {
            Zone::Unknown
        }
    }

    fn inputs(&self) -> Vec<Input> {
        let mut inputs: Vec<Input> = self
            .analysis
            .inputs
            .iter()
            .map(|facts| self.input(facts))
            .collect();
        inputs.extend(self.analysis.refused.iter().map(|refused| Input {
            path: refused.path.clone(),
            format: "refused".to_owned(),
            wrapper: None,
            run: ".".to_owned(),
            node: UNNAMED.to_owned(),
            bytes: 0,
            records: 0,
            first: None,
            last: None,
            zone: None,
            table: None,
            problems: vec![InputProblem {
                kind: "refused".to_owned(),
                line: None,
                detail: refused.why.clone(),
            }],
        }));
        inputs.sort_by(|a, b| a.path.cmp(&b.path));
        inputs
    }

    fn input(&self, facts: &InputFacts) -> Input {
        let zone = self.zone(&facts.run, &facts.node);
        Input {
            path: facts.path.clone(),
            format: facts.format.unwrap_or("unknown").to_owned(),
            wrapper: facts.wrapper.clone(),
            run: facts.run.clone(),
            node: facts.node.clone(),
            bytes: facts.bytes,
            records: facts.records,
            first: facts.span.map(|(first, _)| first.iso(zone)),
            last: facts.span.map(|(_, last)| last.iso(zone)),
            zone: if facts.format.is_some() {
                zone.name().map(str::to_owned)
            } else {
                None
            },
            table: facts.table.as_ref().map(exported::table),
            problems: facts.problems.iter().map(problem).collect(),
        }
    }

    /// Reporters, and whoever they name in a field of type node.
    fn nodes(&self) -> Vec<Node> {
        let mut reporters: BTreeSet<(&str, &str)> = BTreeSet::new();
        let mut nodes: Vec<Node> = Vec::new();
        for facts in &self.analysis.nodes {
            let tally = &facts.tally;
            let is_here = tally.seen.is_log() || !tally.exported.rows.is_empty();
            if tally.node != UNNAMED && is_here {
                reporters.insert((&tally.run, &tally.node));
                nodes.push(node(&tally.run, &tally.node, Role::Reporter, tally.records));
            }
        }
        let mut peers: BTreeSet<(String, String)> = BTreeSet::new();
        for facts in &self.analysis.nodes {
            for (signal, tally) in self.base.signals.signals().iter().zip(&facts.tally.signals) {
                for (field, values) in signal
                    .fields
                    .iter()
                    .zip(&tally.values)
                    .filter(|(field, _)| field.kind == FieldKind::Node)
                {
                    debug_assert_ne!(
                        field.tally,
                        TallyKind::Not,
                        "values of an uncounted field are empty"
                    );
                    peers.extend(
                        values
                            .ranked()
                            .into_iter()
                            .map(|(value, _)| (facts.tally.run.clone(), value)),
                    );
                }
            }
        }
        peers.retain(|(run, id)| !reporters.contains(&(run.as_str(), id.as_str())));
        nodes.extend(peers.iter().map(|(run, id)| node(run, id, Role::Peer, 0)));
        nodes.sort_by(|a, b| (&a.run, &a.id).cmp(&(&b.run, &b.id)));
        nodes
    }

    fn records(&self) -> Records {
        let mut records = Records::default();
        let runs: BTreeSet<&str> = self
            .analysis
            .nodes
            .iter()
            .map(|facts| facts.tally.run.as_str())
            .collect();
        let several = runs.len() > 1;
        for facts in &self.analysis.nodes {
            let tally = &facts.tally;
            if tally.records == 0 && !tally.seen.is_log() {
                continue;
            }
            records.total += tally.records;
            records.continuation_lines += tally.continuation_lines;
            records.unparsed_lines += tally.unparsed_lines;
            records.suspect += tally.suspect;
            let key = if several {
                format!("{}/{}", tally.run, tally.node)
            } else {
                tally.node.clone()
            };
            *records.by_node.entry(key).or_default() += tally.records;
            for level in Level::ALL {
                let count = tally.levels[level.index()];
                if count > 0 {
                    *records
                        .by_level
                        .entry(level.class().key().to_owned())
                        .or_default() += count;
                }
            }
        }
        records
    }

    fn codes(
        &self,
        of: impl Fn(&NodeFacts) -> &BTreeMap<(u32, Option<u16>), Tally>,
    ) -> Vec<CodeRow> {
        let mut rows = Vec::new();
        for facts in &self.analysis.nodes {
            for (&(code, family), tally) in of(facts) {
                let family = family.map(|at| self.base.families.all()[usize::from(at)].id.clone());
                rows.push(self.code_row(facts, code, family, *tally));
            }
        }
        rows.sort_by(|a, b| {
            (a.code, &a.family, &a.run, &a.node).cmp(&(b.code, &b.family, &b.run, &b.node))
        });
        rows
    }

    fn nested(&self) -> Vec<CodeRow> {
        let mut rows = Vec::new();
        for facts in &self.analysis.nodes {
            rows.extend(
                facts
                    .tally
                    .nested
                    .iter()
                    .map(|(&code, tally)| self.code_row(facts, code, None, *tally)),
            );
        }
        rows.sort_by(|a, b| (a.code, &a.run, &a.node).cmp(&(b.code, &b.run, &b.node)));
        rows
    }

    fn code_row(
        &self,
        facts: &NodeFacts,
        code: u32,
        family: Option<String>,
        tally: Tally,
    ) -> CodeRow {
        CodeRow {
            code,
            name: self.base.code_name(code).map(str::to_owned),
            family,
            run: facts.tally.run.clone(),
            node: facts.tally.node.clone(),
            count: tally.count,
            first: tally.span.map(|(first, _)| first.iso(facts.zone)),
            last: tally.span.map(|(_, last)| last.iso(facts.zone)),
        }
    }

    fn signals(&self) -> Vec<SignalRow> {
        let mut rows = Vec::new();
        for (index, signal) in self.base.signals.signals().iter().enumerate() {
            for facts in &self.analysis.nodes {
                let tally = &facts.tally.signals[index];
                if tally.all.count > 0 || self.is_zero_worth_a_row(index, facts) {
                    rows.push(self.signal(signal, tally, facts));
                }
            }
        }
        rows
    }

    /// Whether a signal that did not occur is said to be 0: it is always said, and could have been observed.
    fn is_zero_worth_a_row(&self, index: usize, facts: &NodeFacts) -> bool {
        let declared = &self.base.declared.signal[index];
        let tally = &facts.tally;
        let missing = &self.analysis.conclusions.not_observable;
        let signal = &self.base.signals.signals()[index];
        declared.always
            && concerns(signal, tally)
            && !missing.iter().any(|one| {
                one.signal == *declared.id.get_ref()
                    && one.run == tally.run
                    && one.node == tally.node
            })
    }

    fn signal(&self, signal: &Signal, tally: &SignalTally, facts: &NodeFacts) -> SignalRow {
        let mut row = SignalRow {
            signal: signal.id.clone(),
            what: signal.what.clone(),
            run: facts.tally.run.clone(),
            node: facts.tally.node.clone(),
            count: tally.all.count,
            suspect: tally.all.suspect,
            first: tally.all.span.map(|(first, _)| first.iso(facts.zone)),
            last: tally.all.span.map(|(_, last)| last.iso(facts.zone)),
            peak: tally.minutes.peak().map(|(minute, count)| Peak {
                per_minute: count,
                at: Timestamp::from_minute(minute).iso(facts.zone),
            }),
            holds: holds(signal),
            by: BTreeMap::new(),
            top: BTreeMap::new(),
            distinct: BTreeMap::new(),
            beyond_cap: BTreeMap::new(),
            evidence: tally
                .evidence
                .iter()
                .map(|one| self.evidence(one))
                .collect(),
        };
        for (field, values) in signal.fields.iter().zip(&tally.values) {
            match field.tally {
                TallyKind::Not => {}
                TallyKind::By => drop(
                    row.by
                        .insert(field.name.clone(), values.ranked().into_iter().collect()),
                ),
                TallyKind::Top => {
                    row.distinct.insert(
                        field.name.clone(),
                        u64::try_from(values.distinct()).unwrap_or(u64::MAX),
                    );
                    row.top.insert(field.name.clone(), values.top(TOP_MAX));
                }
            }
            if values.beyond_cap > 0 {
                row.beyond_cap.insert(field.name.clone(), values.beyond_cap);
            }
        }
        row
    }

    pub(super) fn evidence(&self, one: &tally::Evidence) -> Evidence {
        let input = self.analysis.inputs.get(one.at.artifact as usize);
        let path = input.map_or_else(String::new, |input| input.path.clone());
        Evidence {
            path,
            line: one.at.line,
            offset: one.at.offset,
            text: one.text.clone(),
            before: Vec::new(),
            after: Vec::new(),
        }
    }

    /// A cited record with the lines beside it.
    pub(super) fn evidence_in_place(&self, one: &tally::Evidence) -> Evidence {
        Evidence {
            before: one.around.before.clone(),
            after: one.around.after.clone(),
            ..self.evidence(one)
        }
    }
}

/// What the counted fields of a signal hold.
fn holds(signal: &Signal) -> BTreeMap<String, String> {
    let counted = signal.fields.iter().enumerate();
    let counted = counted.filter(|(_, field)| field.tally != TallyKind::Not);
    let held = counted.map(|(at, field)| {
        let is_derived = signal.derived.iter().any(|it| it.field == at);
        let kind = if is_derived {
            "class"
        } else {
            field.kind.name()
        };
        (field.name.clone(), kind.to_owned())
    });
    held.collect()
}

fn environment(facts: &NodeFacts) -> Environment {
    Environment {
        run: facts.tally.run.clone(),
        node: facts.tally.node.clone(),
        version: (!facts.versions.is_empty()).then(|| facts.versions.join(", ")),
        build: facts.build.clone(),
        starts: facts.starts.iter().map(|at| at.iso(facts.zone)).collect(),
        log_level: facts.tally.log_level(),
        zone: facts.zone.name().map(str::to_owned),
    }
}

fn node(run: &str, id: &str, role: Role, records: u64) -> Node {
    Node {
        run: run.to_owned(),
        id: id.to_owned(),
        role,
        aliases: Vec::new(),
        records,
    }
}

fn problem(fault: &InputFault) -> InputProblem {
    let kind = serde_json::to_value(fault.kind)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default();
    InputProblem {
        kind,
        line: fault.line,
        detail: detail(fault),
    }
}

/// What a fault is, in words.
fn detail(fault: &InputFault) -> String {
    let n = fault.count;
    let lines = several(n, "line", "lines");
    match fault.kind {
        ProblemKind::Unreadable
        | ProblemKind::ReadError
        | ProblemKind::DuplicatePiece
        | ProblemKind::FurtherView
        | ProblemKind::UncheckedWal => fault.detail.clone(),
        ProblemKind::Truncated => {
            "the file ends inside a line; its last record may be cut".to_owned()
        }
        ProblemKind::RecordTooLong => {
            format!("{n} cut where a record grew beyond the bound on its length")
        }
        ProblemKind::InvalidUtf8 => {
            format!("{lines} with bytes that are no UTF-8; shown replaced, counted as they are")
        }
        ProblemKind::NulBytes => format!("{lines} with NUL bytes"),
        ProblemKind::UnknownLevel => format!(
            "{} with a level that no known version prints, or a head that cannot be read",
            several(n, "record", "records")
        ),
        ProblemKind::UnparsedLines if !fault.detail.is_empty() => fault.detail.clone(),
        ProblemKind::UnparsedLines => {
            several(
                n,
                "line before the first record belongs",
                "lines before the first record belong",
            ) + " to none"
        }
        ProblemKind::RaggedRows => {
            let rows = several(n, "row has", "rows have");
            format!("{rows} more or fewer cells than the table has columns")
        }
        ProblemKind::CrLf => format!("{lines} that end in CR LF; read as if in LF"),
    }
}
