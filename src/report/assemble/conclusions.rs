//! Findings, incidents, balances and coverage as rows of the report.

use std::collections::BTreeSet;

use super::Context;
use crate::report::model::{
    Applies, AwaitedRow, Balance, BalanceSide, ClockRow, Coverage, Finding, FindingWindow,
    Incident, Known, NearMiss, NotObservable, Runs, SkewKind, Unexplained,
};
use crate::rules;
use crate::rules::{Again, Skew};
use crate::signals::tally;
use crate::vocab::MarkKind;

impl Context<'_> {
    pub(super) fn finding(&self, finding: &rules::Finding) -> Finding {
        let zone = self.run_zone(&finding.run);
        let named = finding.subjects.iter();
        let named = named.filter(|(_, values)| !values.is_empty());
        let subjects = named.map(|(name, values)| {
            let pairs = values
                .iter()
                .map(|subject| serde_json::json!([subject.value, subject.count]))
                .collect();
            (name.clone(), serde_json::Value::Array(pairs))
        });
        Finding {
            id: finding.id.clone(),
            rule: finding.rule.clone(),
            severity: finding.severity,
            confidence: finding.confidence,
            category: finding.category.clone(),
            fix_goes_in: finding.fix_goes_in.clone(),
            title: finding.title.clone(),
            run: finding.run.clone(),
            nodes: finding.nodes.clone(),
            reported_by: finding.reported_by.clone(),
            accused: finding.accused.clone(),
            window: FindingWindow {
                of_counters: self.is_of_counters(finding),
                first: finding.window.map(|(first, _)| first.iso(zone)),
                last: finding.window.map(|(_, last)| last.iso(zone)),
            },
            counts: finding.counts.clone(),
            counts_by_node: finding.counts_by_node.clone(),
            shares: finding.shares.clone(),
            healing: finding.healing,
            subjects: subjects.chain(finding.facts.iter().map(fact)).collect(),
            evidence: finding
                .evidence
                .iter()
                .map(|(_, one)| self.evidence_in_place(one))
                .collect(),
            mechanism: finding.mechanism.clone(),
            not_excluded: finding.not_excluded.clone(),
            not_this: finding.not_this.clone(),
            not_observable: finding.not_observable.iter().map(not_observable).collect(),
            signals: finding.signals.clone(),
            shown_by: self.shown_by(finding),
            known: finding.known.iter().map(known).collect(),
            next_steps: finding.next_steps.clone(),
            caused_by: finding.caused_by.clone(),
            runs: Runs {
                k: finding.runs.0,
                n: finding.runs.1,
            },
            replay: finding.replay.as_ref().map(again),
        }
    }

    /// Whether only counters show a finding, which say when they last grew.
    fn is_of_counters(&self, finding: &rules::Finding) -> bool {
        let mut grounds = finding.grounds.iter();
        let rows = |at: &u16| self.base.signals.signal(*at).row.as_ref();
        !finding.grounds.is_empty() && grounds.all(|at| rows(at).is_some_and(|row| row.is_counter))
    }

    /// The signals whose records show a finding: of the counts that its rule reports by or cites, without starts, stops and
    /// checks that passed.
    fn shown_by(&self, finding: &rules::Finding) -> Vec<String> {
        let Some((_, rule)) = self.base.rule(&finding.rule) else {
            return Vec::new();
        };
        let names = rule.reported_by.iter().chain(&rule.evidence);
        let names: BTreeSet<&str> = names.map(|it| it.get_ref().as_str()).collect();
        let is_named = |name: &str| rule.evidence.is_empty() || names.contains(name);
        let counts = rule.counts.iter().filter(|(name, _)| is_named(name));
        let shows: BTreeSet<&str> = counts
            .filter_map(|(_, count)| count.signal.as_ref())
            .map(|signal| signal.get_ref().as_str())
            .collect();
        let is_fault = |signal: &&String| {
            let mark = self.base.signals.signals().iter();
            let mark = mark.filter(|it| it.id == **signal).find_map(|it| it.mark);
            !matches!(
                mark,
                Some(MarkKind::Start | MarkKind::Stop | MarkKind::Checkpoint)
            )
        };
        let signals = finding.signals.iter();
        let shown = signals.filter(|it| shows.contains(it.as_str()));
        shown.filter(is_fault).cloned().collect()
    }

    /// What nodes asked for, in the order of declaration.
    pub(super) fn awaited(&self) -> Vec<AwaitedRow> {
        let mut rows = Vec::new();
        let whole = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let opens = self.base.awaited.iter().filter(|it| it.opens);
        for (side, declared) in opens.zip(&self.base.declared.awaited) {
            for facts in &self.analysis.nodes {
                let Some(tally) = facts.tally.awaited.get(&side.awaited) else {
                    continue;
                };
                let (came, brought) = tally.closed();
                rows.push(AwaitedRow {
                    name: declared.name.get_ref().clone(),
                    run: facts.tally.run.clone(),
                    node: facts.tally.node.clone(),
                    signal: declared.opens.get_ref().clone(),
                    tables: whole(tally.tables()),
                    things: whole(tally.things()),
                    open: whole(tally.open()),
                    came: whole(came),
                    brought,
                    families: whole(tally.families()),
                    beyond_cap: tally.beyond_cap,
                });
            }
        }
        rows
    }

    pub(super) fn coverage(&self) -> Coverage {
        let found = &self.analysis.conclusions.coverage;
        let example = |one: &Option<tally::Evidence>| one.as_ref().map(|one| self.evidence(one));
        let unexplained = found.unexplained.iter();
        let near_misses = found.near_misses.iter();
        Coverage {
            error_records: found.error_records,
            explained: found.explained,
            unexplained: unexplained
                .map(|one| Unexplained {
                    template: one.template.clone(),
                    level: one.level,
                    count: one.count,
                    example: example(&one.example),
                })
                .collect(),
            near_misses: near_misses
                .map(|one| NearMiss {
                    signal: one.signal.clone(),
                    count: one.count,
                    example: example(&one.example),
                })
                .collect(),
            ignored: found.ignored.iter().map(super::steps::ignored).collect(),
        }
    }
}

/// A fact as a number where it is one.
fn fact((name, value): (&String, &String)) -> (String, serde_json::Value) {
    let number = value
        .parse::<serde_json::Number>()
        .map(serde_json::Value::Number);
    (
        name.clone(),
        number.unwrap_or_else(|_| serde_json::Value::String(value.clone())),
    )
}

pub(super) fn not_observable(one: &rules::NotObservable) -> NotObservable {
    NotObservable {
        signal: one.signal.clone(),
        run: one.run.clone(),
        node: one.node.clone(),
        why: one.why.clone(),
        collect: one.collect.clone(),
    }
}

fn known(one: &rules::Known) -> Known {
    let applies = match one.applies {
        Some(true) => Applies::Yes,
        Some(false) => Applies::No,
        None => Applies::Unknown,
    };
    Known {
        reference: one.reference.clone(),
        fixed_in: one.fixed_in.clone(),
        applies,
    }
}

pub(super) fn incident(one: &rules::Incident) -> Incident {
    Incident {
        id: one.id.clone(),
        root: one.root.clone(),
        findings: one.findings.clone(),
        summary: one.summary.clone(),
    }
}

/// How a finding can be run again, as a report holds it.
fn again(one: &Again) -> serde_json::Value {
    let reads = one.reads.iter().map(|(name, (signal, filters))| {
        let read = serde_json::json!({ "signal": signal, "where": filters });
        (name.clone(), read)
    });
    let reads: serde_json::Map<String, serde_json::Value> = reads.collect();
    serde_json::json!({ "model": one.model, "counts": one.counts, "reads": reads, "grounds": one.grounds })
}

pub(super) fn balance(one: &rules::Balance) -> Balance {
    let side = |(what, count): &(String, u64)| BalanceSide {
        what: what.clone(),
        count: *count,
    };
    Balance {
        name: one.name.clone(),
        run: one.run.clone(),
        left: side(&one.left),
        right: one.right.iter().map(side).collect(),
        remainder: one.remainder(),
        could_be: one.could_be.clone(),
    }
}

pub(super) fn clock(skew: &Skew) -> ClockRow {
    // Microseconds below 2^53.
    #[expect(clippy::cast_precision_loss, reason = "a distance of clocks")]
    let seconds = |micros: i64| micros as f64 / 1e6;
    ClockRow {
        run: skew.run.clone(),
        node: skew.node.clone(),
        against: skew.against.clone(),
        ahead_s: seconds(skew.ahead),
        spread_s: seconds(skew.spread),
        pairs: skew.pairs,
        kind: match skew.kind {
            rules::SkewKind::Between => SkewKind::Between,
            rules::SkewKind::AtMost => SkewKind::AtMost,
            rules::SkewKind::AtLeast => SkewKind::AtLeast,
        },
    }
}
