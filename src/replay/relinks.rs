//! A storm of refused relinks, as a scenario of the content-addressed pool.

use std::collections::{BTreeMap, BTreeSet};

use super::fit::{Found, search};
use super::{Compared, Fact, Fitted, FixRow, Replayed, Verdict, fact, verdict};
use crate::engine::cas::{Note, Run, Scenario, Sink, Tally, Variant, What, World, host};
use crate::report::model::{Applies, Finding, Report, Role};
use crate::time::Timestamp;

/// The model's name in a rule.
pub(super) const MODEL: &str = "relinks";

/// The counts of a rule that the model predicts, by what the engine calls them.
const COUNTS: [(&str, &[What]); 3] = [
    ("refused", &[What::Refused]),
    ("finished", &[What::Finished]),
    ("unproven", &[What::Unknown, What::No]),
];

/// The parts that were refused, each counted once.
const PARTS: &str = "parts refused";

/// The time between two inserts of a server, in microseconds: from 50 a second to one in 10 seconds.
const EVERY: (u64, u64) = (20_000, 10_000_000);
/// A write to the store, in microseconds.
const WRITE: (u64, u64) = (2_000, 200_000);
/// A storm that lasted longer is not run again: a search runs it some seventy times.
const LENGTH_MAX: u64 = 1800;
/// Counts below this say nothing by their shares.
const HANDFUL: u64 = 20;
/// What an incident may count and still be run as often as a search does.
const REFUSED_MAX: u64 = 400_000;

/// A storm as the records have it.
struct Storm<'a> {
    finding: &'a Finding,
    /// The servers: those with records first.
    nodes: Vec<String>,
    /// How many of them have records.
    seen: usize,
    seconds: u64,
    variant: Variant,
    /// Whether the sources' answers can be compared.
    balances: bool,
    /// By server with records: how many parts were refused to it, each counted once; nothing where that was not kept.
    parts: Vec<Option<u64>>,
}

/// What a run counted.
struct Counted {
    tally: Tally,
    /// By server: how many parts were refused to it, each counted once.
    parts: Vec<u64>,
}

/// Runs a storm again.
pub(super) fn replay(report: &Report, finding: &Finding) -> Option<Replayed> {
    let mut read = Vec::new();
    let unbalanced = unbalanced(report, finding);
    let storm = storm(report, finding, unbalanced.is_empty(), &mut read)?;
    let counts = |run: Option<&Counted>, of: fn(&Compared) -> u64| -> Vec<u64> {
        let rows = storm.compare(run).into_iter();
        rows.filter(|it| it.observed.is_some())
            .map(|it| of(&it))
            .collect()
    };
    let observed = counts(None, |it| it.observed.unwrap_or(0));
    let found = search([EVERY, WRITE], 6, &observed, |point, seed| {
        let run = storm.run(point, storm.variant, seed)?;
        Some(counts(Some(&run), |it| it.predicted))
    });
    let run = storm.run(found.best, storm.variant, 1);
    let compared = storm.compare(run.as_ref());
    let told: Vec<Compared> = compared
        .iter()
        .filter(|it| it.predicted >= HANDFUL || it.observed.is_some_and(|n| n >= HANDFUL))
        .cloned()
        .collect();
    let verdict = verdict(&told);
    Some(Replayed {
        finding: finding.id.clone(),
        model: MODEL,
        verdict,
        summary: storm.summary(verdict, &compared),
        read,
        assumed: assumed(),
        fitted: fitted(&found),
        compared,
        unbalanced,
        fixes: storm.fixes(found.best),
        trace: storm.trace(found.best),
    })
}

fn storm<'a>(
    report: &Report,
    finding: &'a Finding,
    balances: bool,
    read: &mut Vec<Fact>,
) -> Option<Storm<'a>> {
    let refused = finding.counts.get("refused").copied().unwrap_or(0);
    if refused == 0 || refused > REFUSED_MAX {
        return None;
    }
    let mine = report.nodes.iter().filter(|it| it.run == finding.run);
    let has_records: BTreeMap<&str, bool> = mine
        .map(|it| (it.id.as_str(), it.role == Role::Reporter && it.records > 0))
        .collect();
    let is_seen = |name: &&String| has_records.get(name.as_str()).copied().unwrap_or(false);
    let mut nodes: Vec<String> = finding.nodes.iter().filter(is_seen).cloned().collect();
    let seen = nodes.len();
    nodes.extend(finding.nodes.iter().filter(|it| !is_seen(it)).cloned());
    if seen == 0 || nodes.len() < 2 || nodes.len() > 16 {
        return None;
    }
    let stamp = |text: &Option<String>| Timestamp::from_iso(text.as_deref()?);
    let (first, last) = (stamp(&finding.window.first)?, stamp(&finding.window.last)?);
    let micros = u64::try_from(last.0 - first.0).ok()?;
    let seconds = micros.div_ceil(1_000_000).max(10);
    if seconds > LENGTH_MAX {
        return None;
    }
    let versions: Vec<&str> = report
        .environment
        .iter()
        .filter(|it| it.run == finding.run)
        .filter_map(|it| it.version.as_deref())
        .collect();
    let is_new = finding.known.iter().any(|it| it.applies == Applies::No);
    let variant = Variant::parse(if is_new { "v2" } else { "v1" }).ok()?;
    read.push(fact("servers", nodes.join(", "), "the finding"));
    if seen < nodes.len() {
        let withheld = nodes[seen..].join(", ");
        read.push(fact("without records here", withheld, "the inputs"));
    }
    read.push(fact("length, s", seconds, "the first and the last refusal"));
    let versions = if versions.is_empty() {
        "none named".to_owned()
    } else {
        versions.join(", ")
    };
    let from = format!("version: {versions}, and the fixes that it has");
    read.push(fact("protocol", variant.name(), &from));
    let parts = nodes[..seen]
        .iter()
        .map(|node| refused_parts(report, finding, node));
    Some(Storm {
        finding,
        parts: parts.collect(),
        nodes,
        seen,
        seconds,
        variant,
        balances,
    })
}

/// How many parts were refused to a server, each counted once: what says how many there were to fetch.
fn refused_parts(report: &Report, finding: &Finding, node: &str) -> Option<u64> {
    let signal = finding.replay.as_ref()?["counts"]["refused"].as_str()?;
    let row = report
        .signals
        .iter()
        .find(|it| it.run == finding.run && it.node == node && it.signal == signal)?;
    let (field, _) = row.holds.iter().find(|it| it.1 == "part")?;
    let is_whole = row.beyond_cap.get(field).is_none_or(|left| *left == 0);
    row.distinct.get(field).copied().filter(|_| is_whole)
}

/// Sums that do not close: what is missing there is not made up for by any number that is fitted.
fn unbalanced(report: &Report, finding: &Finding) -> Vec<Fact> {
    let mine = report.balances.iter().filter(|it| it.run == finding.run);
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

fn assumed() -> Vec<Fact> {
    let why = "not in the records";
    vec![
        fact("tables", 1, why),
        fact("fetches at once", 16, "the servers' default"),
        fact(
            "writers",
            "every server, at one rate, for the whole time",
            why,
        ),
        fact("ledgers", "warm, none evicted", why),
    ]
}

fn fitted(found: &Found) -> Vec<Fitted> {
    let words = [
        "time between two inserts of a server, us",
        "a write to the store, us",
    ];
    let each = words.iter().zip(found.best).zip(found.ranges);
    each.map(|((what, value), (least, most))| Fitted {
        what: (*what).to_owned(),
        value,
        least,
        most,
    })
    .collect()
}

impl Storm<'_> {
    /// The scenario with what is fitted.
    fn scenario(&self, [every, write]: [u64; 2], rest: u64) -> Option<Scenario> {
        let nodes = self.nodes.len();
        let writers: Vec<String> = (0..nodes).map(|it| it.to_string()).collect();
        let text = format!(
            "what = \"An incident again.\"\nnodes = {nodes}\nuntil-s = {}\n\
             [latency]\nlog = {{ uniform = [{low}, {high}] }}\nfrontier = {{ uniform = [{low}, {high}] }}\n\
             [[load]]\nkind = \"insert\"\nnodes = [{}]\nevery = {{ exponential = {every} }}\nto-s = {}\n",
            self.seconds + rest,
            writers.join(", "),
            self.seconds,
            low = write / 2,
            high = write + write / 2,
        );
        Scenario::read("replay", &text).ok()
    }

    fn run(&self, point: [u64; 2], variant: Variant, seed: u64) -> Option<Counted> {
        let scenario = self.scenario(point, 0)?;
        let mut parts = vec![BTreeSet::new(); self.nodes.len()];
        let mut keep = |_, note: &Note, _: &World| {
            if note.what == What::Refused {
                parts[note.node].insert(note.part);
            }
        };
        let mut run = Run::new(&scenario, variant, seed, Some(&mut keep));
        // Hopeless candidates are storms of their own: nobody waits for their end.
        let refused = self.finding.counts.get("refused").copied().unwrap_or(0);
        let enough = (refused / self.seen.max(1) as u64 + HANDFUL) * self.nodes.len() as u64 * 4;
        for second in (0..=self.seconds).step_by(10) {
            run.run_until(second * 1_000_000);
            if run.tally.total(What::Refused, None) > enough {
                return None;
            }
        }
        run.finish();
        let tally = run.tally.clone();
        drop(run);
        let parts = parts.iter().map(|it| it.len() as u64).collect();
        Some(Counted { tally, parts })
    }

    fn compare(&self, run: Option<&Counted>) -> Vec<Compared> {
        let mut compared = Vec::new();
        for (place, node) in self.nodes.iter().enumerate() {
            for (count, whats) in COUNTS {
                if count == "unproven" && !self.balances {
                    continue;
                }
                let total = |run: &Counted| -> u64 {
                    whats
                        .iter()
                        .map(|it| run.tally.total(*it, Some(place)))
                        .sum()
                };
                let predicted = run.map_or(0, total);
                let counts = self.finding.counts_by_node.get(node);
                let observed = counts.and_then(|it| it.get(count)).copied().unwrap_or(0);
                let observed = (place < self.seen).then_some(observed);
                compared.push(Compared::of(count, node, observed, predicted));
            }
            let observed = self.parts.get(place).copied().flatten();
            if observed.is_some() || place >= self.seen {
                let predicted = run.map_or(0, |it| it.parts[place]);
                compared.push(Compared::of(PARTS, node, observed, predicted));
            }
        }
        compared
    }

    fn summary(&self, verdict: Verdict, compared: &[Compared]) -> String {
        let sum = |of: fn(&Compared) -> u64| -> u64 {
            let refused = compared.iter().filter(|it| it.what == "refused");
            refused.filter(|it| it.observed.is_some()).map(of).sum()
        };
        let observed = sum(|it| it.observed.unwrap_or(0));
        let predicted = sum(|it| it.predicted);
        let word = match verdict {
            Verdict::Reproduced => "is what an even load alone can make",
            Verdict::Partly => "is in part what an even load alone can make",
            Verdict::Not => "is not what an even load makes",
        };
        format!(
            "{} under {} {word}, with two numbers fitted: {observed} refusals observed, {predicted} predicted",
            self.finding.id,
            self.variant.name()
        )
    }

    /// The same load under each protocol, and a rest of two minutes for what is left.
    fn fixes(&self, point: [u64; 2]) -> Vec<FixRow> {
        let own = self.variant.name();
        let mut names = vec![own.clone()];
        for fix in ["A", "B", "D", "E"] {
            names.push(format!("{own}+{fix}"));
        }
        if own != "v2" {
            names.push("v2".to_owned());
        }
        let mut rows = Vec::new();
        for (place, name) in names.iter().enumerate() {
            let variant = Variant::parse(name);
            let (Ok(variant), Some(scenario)) = (variant, self.scenario(point, 120)) else {
                continue;
            };
            let mut run = Run::new(&scenario, variant, 1, None);
            run.finish();
            let refused = run.tally.total(What::Refused, None);
            let finished = run.tally.total(What::Finished, None);
            let converged = run.world.has_converged();
            let end = if converged {
                "everything arrives"
            } else {
                "parts are missing"
            };
            rows.push(FixRow {
                fix: if place == 0 {
                    format!("as it was ({name})")
                } else {
                    name.clone()
                },
                cures: converged,
                outcome: format!("{refused} refused, {finished} finished; two minutes later {end}"),
            });
        }
        rows
    }

    /// The first refusal, from the request to the next try.
    fn trace(&self, point: [u64; 2]) -> Vec<String> {
        let Some(scenario) = self.scenario(point, 0) else {
            return Vec::new();
        };
        let mut notes: Vec<(u64, Note)> = Vec::new();
        let mut refused = None;
        let mut keep = |now, note: &Note, _: &World| {
            if refused.is_none() && notes.len() < 100_000 {
                notes.push((now, *note));
                if note.what == What::Refused {
                    refused = Some(note.part);
                }
            }
        };
        let sink: Sink<'_> = &mut keep;
        let mut run = Run::new(&scenario, self.variant, 1, Some(sink));
        run.run_until(60_000_000);
        drop(run);
        let Some(part) = refused else {
            return Vec::new();
        };
        let told = notes.iter().filter(|it| it.1.part == part);
        let told = told.filter_map(|(at, note)| {
            let (node, ms) = (host(note.node), at / 1000);
            let what = words(note.what)?;
            Some(format!("{ms} ms, {node}: {what}"))
        });
        told.collect()
    }
}

/// What happens to a part, in words.
fn words(what: What) -> Option<&'static str> {
    let known = [
        (What::Written, "the part is written"),
        (What::Queued, "an entry asks for the part"),
        (What::Fetching, "it asks another server for the part"),
        (What::Offered, "the source offers a relink"),
        (What::Relinking, "its own reference is written"),
        (
            What::Unknown,
            "the source is asked to confirm and says `unknown`: a write of the same table is under way there",
        ),
        (What::No, "the source is asked to confirm and says `no`"),
        (
            What::Refused,
            "the relink is given up, its reference removed, and the entry waits for another try",
        ),
    ];
    known.iter().find(|it| it.0 == what).map(|it| it.1)
}
