//! A storm of refused relinks, as a scenario of the content-addressed pool.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::candidates::candidates;
use super::fit::{Bounds, Found, search};
use super::fixes::judge;
use super::grounds::grounds;
use super::odds::at_odds;
use super::storm::{Records, Storm, storm, unbalanced};
use super::{Compared, Counts, Fact, Fitted, HANDFUL, Replayed, Verdict, fact, verdict};
use crate::engine::cas::{Handlers, Note, Run, STEP_S, Scenario, Tally, Variant, What, World};
use crate::report::model::{Finding, Report};

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
/// The parts that had not come at the end: in the records those that were refused.
const MISSING: &str = "parts missing";
/// What the sum over the servers is listed under.
const ALL: &str = "all servers";

/// The time between two inserts of a server, in microseconds: from 50 a second to one in 10 seconds.
const EVERY: (u64, u64) = (20_000, 10_000_000);
/// A write to the store, in microseconds.
const WRITE: (u64, u64) = (2_000, 200_000);
/// A request to the store where the load was read, in microseconds: up to the time that an attempt is given.
const REQUEST: (u64, u64) = (5_000, 5_000_000);
/// Refused and finished relinks that a search may run through, and as many times those of the incident if that is more.
const BUDGET: (u64, u64) = (5_000_000, 60);
/// What a run counted.
struct Counted {
    tally: Tally,
    /// By server: how many parts were refused to it, each counted once.
    parts: Vec<u64>,
    /// By server: how many that it asked for it did not have at the end.
    missing: Vec<u64>,
}

/// Whether a finding rests on what receivers were refused, and not on what sources answered.
fn is_of_refusals(finding: &Finding) -> bool {
    let replay = finding.replay.as_ref();
    let grounds = replay.and_then(|it| it["grounds"].as_array());
    // A kept report that does not say has no other.
    grounds.is_none_or(|it| it.iter().any(|it| it == "refused"))
}

/// Whether another finding of the same run tells the same relinks, and more of them.
pub(super) fn is_told(report: &Report, finding: &Finding) -> bool {
    let model = |it: &Finding| it.replay.as_ref().is_some_and(|it| it["model"] == MODEL);
    let mut others = report.findings.iter().filter(|it| it.run == finding.run);
    !is_of_refusals(finding) && others.any(|it| model(it) && is_of_refusals(it))
}

/// What is missing to run a finding again that rests on answers alone.
fn answers_alone(finding: &Finding) -> Result<(), String> {
    let count = |name: &str| finding.counts.get(name).copied().unwrap_or(0);
    let (unproven, refused) = (count("unproven"), count("refused"));
    if is_of_refusals(finding) || refused >= HANDFUL {
        return Ok(());
    }
    Err(format!(
        "{unproven} answers of sources are here and {refused} refusals of receivers, and {HANDFUL} are the least: the logs of those who asked are missing, which say of which parts, when, and what came in the end"
    ))
}

/// Runs a storm again, or says why not.
pub(super) fn replay(report: &Report, finding: &Finding) -> Result<Replayed, String> {
    answers_alone(finding)?;
    let (mut read, mut assumed) = (Vec::new(), Vec::new());
    let records = Records { report, finding };
    let unbalanced = unbalanced(records);
    let storm = storm(records, unbalanced.is_empty(), &mut read)?;
    storm.assume(&mut read, &mut assumed);
    let (spent, is_cut) = (Cell::new(0), Cell::new(false));
    let refused = finding.counts.get("refused").copied().unwrap_or(0);
    let budget = BUDGET.0.max(refused * BUDGET.1);
    let counts = |run: Option<&Counted>, of: fn(&Compared) -> u64| -> Vec<u64> {
        let rows = storm.compare(run).into_iter();
        rows.filter(|it| it.observed.is_some() && it.counts == Counts::Yes)
            .map(|it| of(&it))
            .collect()
    };
    let observed = counts(None, |it| it.observed.unwrap_or(0));
    let found = search(storm.bounds(), &observed, |point, seed| {
        if spent.get() > budget {
            is_cut.set(true);
            return None;
        }
        let (run, cost) = storm.run(point, storm.variant, seed);
        spent.set(spent.get() + cost);
        Some(counts(Some(&run?), |it| it.predicted.unwrap_or(0)))
    });
    assumed.push(storm.chance(&found.runs));
    let (run, _) = storm.run(found.best, storm.variant, 1);
    let compared = storm.compare(run.as_ref()).into_iter();
    let compared: Vec<Compared> = compared.map(Compared::sifted).collect();
    let fitted = storm.fitted(&found, is_cut.get());
    let at_odds = storm.at_odds(records);
    let verdict = verdict(&compared, fitted.len());
    let candidates = candidates(records, run.as_ref().map(|it| &it.tally), || {
        storm.handlers(found.best)
    });
    let mut fixes = storm.fixes(&found);
    let untold = judge(verdict, &mut fixes);
    Ok(Replayed {
        finding: finding.id.clone(),
        model: MODEL,
        verdict,
        summary: storm.summary(verdict, &compared, (at_odds.len(), is_cut.get())),
        read,
        assumed,
        fitted,
        compared,
        unbalanced,
        at_odds,
        candidates,
        fixes,
        untold,
        trace: storm.trace(found.best),
    })
}

impl Storm<'_> {
    /// What is searched for, and between what.
    fn bounds(&self) -> Bounds {
        match self.loads {
            None => Bounds {
                ends: [EVERY, WRITE],
                grid: [6, 6],
                starts: 1,
                seeds: 1,
            },
            // Near its threshold a storm begins within a few per cent, and whether it does is chance.
            Some(_) => Bounds {
                ends: [REQUEST, (1, self.tables)],
                grid: [28, 8],
                starts: 3,
                seeds: 3,
            },
        }
    }

    /// Whether only sums are compared: where the answers of the sources do not add up to the refusals, nothing says
    /// which source held whom back.
    fn is_in_total(&self) -> bool {
        self.loads.is_some() && !self.balances
    }

    fn assume(&self, read: &mut Vec<Fact>, assumed: &mut Vec<Fact>) {
        let why = "not in the records";
        if let Some(loads) = &self.loads {
            loads.tell(&self.nodes, read, assumed);
            let store = "one speed for all servers, reads and writes";
            assumed.push(fact("the store", store, why));
        } else {
            let writers = "every server, at one rate, for the whole time";
            assumed.push(fact("writers", writers, why));
            assumed.push(fact("ledgers", "warm, none evicted", why));
        }
        assumed.push(fact("fetches at once", 16, "the servers' default"));
        if self.is_in_total() {
            let from = "the answers of the sources do not add up to the refusals, so nothing says which source held whom back";
            assumed.push(fact("compared", "in total", from));
        }
    }

    /// Between what the counts are of which what is fitted was fitted, over runs that differ by chance alone.
    fn chance(&self, runs: &[Vec<u64>]) -> Fact {
        let rows = self.compare(None).into_iter();
        let rows = rows.filter(|it| it.observed.is_some() && it.counts == Counts::Yes);
        let each = rows.enumerate().filter_map(|(place, row)| {
            let counts = || runs.iter().filter_map(|it| it.get(place));
            let (least, most) = (counts().min()?, counts().max()?);
            Some(format!("{} at {}: {least} to {most}", row.what, row.node))
        });
        let each: Vec<String> = each.collect();
        let from = format!(
            "{} runs of the fitted numbers that differ by chance alone; the first is the one compared",
            runs.len()
        );
        fact("what chance makes of it", each.join(", "), &from)
    }

    /// What in the records no run of the load that they show is like.
    fn at_odds(&self, records: Records<'_>) -> Vec<Fact> {
        let refused = self.nodes.iter().map(|it| records.count("refused", it));
        let refused: Vec<u64> = refused.collect();
        let loads = self.loads.as_ref();
        loads.map_or_else(Vec::new, |it| at_odds(it, &self.nodes, &refused))
    }

    fn fitted(&self, found: &Found, is_cut: bool) -> Vec<Fitted> {
        // Times are searched in microseconds and told in milliseconds, so that the range holds all that fits.
        let words = match self.loads {
            None => [
                "time between two inserts of a server, ms",
                "a write to the store, ms",
            ],
            Some(_) => [
                "a request to the store, ms",
                "ledgers that a server keeps in memory",
            ],
        };
        let ends = self.bounds().ends;
        let each = words.iter().zip(found.best).zip(found.ranges).zip(ends);
        // Of one table there is nothing to evict.
        let free = each.filter(|it| it.1.0 < it.1.1);
        free.map(|(((what, value), (least, most)), _)| {
            let unit = if what.ends_with(", ms") { 1000 } else { 1 };
            Fitted {
                what: (*what).to_owned(),
                value: (value + unit / 2) / unit,
                least: least / unit,
                most: most.div_ceil(unit),
                is_cut,
            }
        })
        .collect()
    }

    /// The scenario with what is fitted.
    pub(super) fn scenario(&self, point: [u64; 2], rest: u64) -> Option<Scenario> {
        let shares = self.shares(point);
        self.scenario_with(point, rest, &shares)
    }

    /// How many of 1,000 requests for the catalog fail on each server so that as many fail as the records say: recoveries
    /// read it, and how many there are depends on what is fitted.
    fn shares(&self, point: [u64; 2]) -> Vec<u64> {
        let Some(loads) = self.loads.as_ref().filter(|it| it.fails()) else {
            return Vec::new();
        };
        if let Some(known) = self.shares.borrow().get(&point) {
            return known.clone();
        }
        let Some(scenario) = self.scenario_with(point, 0, &[]) else {
            return Vec::new();
        };
        let mut run = Run::new(&scenario, self.variant, 1, None);
        run.finish();
        let each = loads.catalog.iter().enumerate().map(|(node, failed)| {
            let read = run.tally.total(What::Recovered, Some(node));
            failed * 1000 / (failed + read).max(1)
        });
        let shares: Vec<u64> = each.collect();
        self.shares.borrow_mut().insert(point, shares.clone());
        shares
    }

    fn scenario_with(&self, point: [u64; 2], rest: u64, shares: &[u64]) -> Option<Scenario> {
        let (nodes, tables, until) = (self.nodes.len(), self.tables, self.seconds + rest);
        let head = format!(
            "what = \"An incident again.\"\nnodes = {nodes}\ntables = {tables}\nuntil-s = {until}\n"
        );
        let text = if let Some(loads) = &self.loads {
            let [request, resident] = point;
            let resident = if resident < tables {
                format!("resident = {resident}\n")
            } else {
                String::new()
            };
            let (low, high) = (request / 2, request + request / 2);
            let time = format!("{{ uniform = [{low}, {high}] }}");
            let (cap, loads) = (loads.cap_ms, loads.text(self.seconds, shares));
            format!(
                "{head}{resident}task-cap-ms = {cap}\n[latency]\nlog = {time}\nfrontier = {time}\nread = {time}\n{loads}"
            )
        } else {
            let [every, write] = point;
            let writers: Vec<String> = (0..nodes).map(|it| it.to_string()).collect();
            let (low, high) = (write / 2, write + write / 2);
            format!(
                "{head}[latency]\nlog = {{ uniform = [{low}, {high}] }}\nfrontier = {{ uniform = [{low}, {high}] }}\n\
                 [[load]]\nkind = \"insert\"\nnodes = [{}]\nevery = {{ exponential = {every} }}\nto-s = {}\n",
                writers.join(", "),
                self.seconds,
            )
        };
        Scenario::read("replay", &text).ok()
    }

    /// A run and what it cost; nothing where it is a storm of its own, for whose end nobody waits.
    fn run(&self, point: [u64; 2], variant: Variant, seed: u64) -> (Option<Counted>, u64) {
        let Some(scenario) = self.scenario(point, 0) else {
            return (None, 0);
        };
        let mut parts = vec![BTreeSet::new(); self.nodes.len()];
        let mut keep = |_, note: &Note, _: &World| {
            if note.what == What::Refused {
                parts[note.node].insert(note.part);
            }
        };
        let mut run = Run::new(&scenario, variant, seed, Some(&mut keep));
        let refused = self.finding.counts.get("refused").copied().unwrap_or(0);
        let enough = if self.loads.is_some() {
            3 * refused + HANDFUL
        } else {
            (refused / self.seen.max(1) as u64 + HANDFUL) * self.nodes.len() as u64 * 4
        };
        let cost = |run: &Run<'_>| {
            run.tally.total(What::Refused, None) + run.tally.total(What::Finished, None)
        };
        for second in (0..=self.seconds).step_by(10) {
            run.run_until(second * 1_000_000);
            if run.tally.total(What::Refused, None) > enough {
                let cost = cost(&run);
                return (None, cost);
            }
        }
        run.finish();
        let (cost, tally) = (cost(&run), run.tally.clone());
        let Run { world, .. } = run;
        let missing = world.nodes.iter().enumerate().map(|(node, it)| {
            let asked = it
                .queue
                .values()
                .flat_map(|it| it.first..it.first + it.count);
            asked.filter(|part| !world.covers(node, *part)).count() as u64
        });
        let counted = Counted {
            missing: missing.collect(),
            parts: parts.iter().map(|it| it.len() as u64).collect(),
            tally,
        };
        (Some(counted), cost)
    }

    /// The most handlers that a server has at work at once, by server, if there are enough of them.
    fn handlers(&self, point: [u64; 2]) -> Vec<u64> {
        let mut most = vec![0; self.nodes.len()];
        let Some(mut scenario) = self.scenario(point, 0) else {
            return most;
        };
        scenario.handlers = Some(Handlers {
            threads: 4096,
            backlog: 4096,
            offer_us: 2_000,
            request_mb: 0,
            memory_mb: 0,
        });
        let mut keep = |_, note: &Note, world: &World| {
            let busy = world.nodes.get(note.node).map_or(0, |it| it.busy as u64);
            if let Some(most) = most.get_mut(note.node) {
                *most = busy.max(*most);
            }
        };
        let mut run = Run::new(&scenario, self.variant, 1, Some(&mut keep));
        run.finish();
        drop(run);
        most
    }

    fn compare(&self, run: Option<&Counted>) -> Vec<Compared> {
        let mut compared = Vec::new();
        let counts = if self.is_in_total() {
            Counts::InTotal
        } else {
            Counts::Yes
        };
        for (place, node) in self.nodes.iter().enumerate() {
            for (count, whats) in COUNTS {
                if count == "unproven" && !self.balances {
                    continue;
                }
                let total = |run: &Counted| -> u64 {
                    let totals = whats.iter();
                    totals.map(|it| run.tally.total(*it, Some(place))).sum()
                };
                let predicted = run.map_or(0, total);
                let observed = self.finding.counts_by_node.get(node);
                let observed = observed.and_then(|it| it.get(count)).copied().unwrap_or(0);
                let observed = (place < self.seen).then_some(observed);
                compared.push(Compared::of(count, node, observed, predicted).but(counts));
            }
            if let Some(loads) = &self.loads {
                let observed = loads.missing.get(place).copied();
                let predicted = run.map_or(0, |it| it.missing[place]);
                compared.push(Compared::of(MISSING, node, observed, predicted).but(counts));
                continue;
            }
            let observed = self.parts.get(place).copied().flatten();
            if observed.is_some() || place >= self.seen {
                let predicted = run.map_or(0, |it| it.parts[place]);
                compared.push(Compared::of(PARTS, node, observed, predicted));
            }
        }
        if self.is_in_total() {
            let sums = ["refused", "finished", MISSING].map(|what| sum(&compared, what));
            compared.extend(sums);
        }
        compared.extend(self.over_time(run));
        compared
    }

    /// What was fitted to nothing: how the refusals are spread over the time; and what went in.
    fn over_time(&self, run: Option<&Counted>) -> Vec<Compared> {
        let Some(loads) = &self.loads else {
            return Vec::new();
        };
        let mut compared = Vec::new();
        let steps = usize::try_from(self.seconds / STEP_S).unwrap_or(0);
        for (third, observed) in loads.thirds.iter().enumerate() {
            let (from, to) = (steps * third / 3, steps * (third + 1) / 3);
            let to = if third == 2 { usize::MAX } else { to };
            let of = |it: &Counted| it.tally.between(What::Refused, None, from, to);
            let what = ["first", "second", "last"][third];
            let what = format!("refused, {what} third of the time");
            let row = Compared::of(&what, ALL, Some(*observed), run.map_or(0, of));
            compared.push(row.but(Counts::Unfitted));
        }
        for (place, node) in self.nodes.iter().enumerate().filter(|_| loads.fails()) {
            let of = |it: &Counted| it.tally.total(What::StoreError, Some(place));
            let observed = loads.catalog.get(place).copied();
            let what = "requests for the catalog that failed";
            compared.push(Compared::of(what, node, observed, run.map_or(0, of)).given());
        }
        compared
    }

    fn summary(
        &self,
        verdict: Verdict,
        compared: &[Compared],
        (odds, is_cut): (usize, bool),
    ) -> String {
        let sum = |of: fn(&Compared) -> u64| -> u64 {
            let refused = compared.iter().filter(|it| it.what == "refused");
            let apart = refused.filter(|it| it.node != ALL && it.observed.is_some());
            apart.map(of).sum()
        };
        let observed = sum(|it| it.observed.unwrap_or(0));
        let predicted = sum(|it| it.predicted.unwrap_or(0));
        let load = match &self.loads {
            Some(loads) if loads.is_paced() => "the load that these records show",
            Some(_) => "the load that these records show, spread evenly,",
            None => "an even load",
        };
        let word = match verdict {
            Verdict::Reproduced => format!("is what {load} alone can make"),
            Verdict::Partly => format!("is in part what {load} alone can make"),
            Verdict::Not | Verdict::NotRun => format!("is not what {load} makes"),
        };
        let fitted = self.bounds().ends.iter().filter(|it| it.0 < it.1).count();
        let grounds = grounds(compared, fitted);
        let fitted = ["no number", "one number", "two numbers"][fitted];
        let total = if self.is_in_total() {
            ", compared in total"
        } else {
            ""
        };
        let odds = match odds {
            0 => String::new(),
            1 => "; one thing that the records show is as in no run of it".to_owned(),
            many => format!("; {many} things that the records show are as in no run of it"),
        };
        let cut = if is_cut {
            "; the search was cut short, so the ranges of what is fitted may be wider"
        } else {
            ""
        };
        format!(
            "{} under {} {word}, with {fitted} fitted{total}: {observed} refusals observed, {predicted} predicted; {grounds}{odds}{cut}",
            self.finding.id,
            self.variant.name()
        )
    }
}

/// The sum of a count over the servers with records.
fn sum(compared: &[Compared], what: &str) -> Compared {
    let rows = compared.iter().filter(|it| it.what == what);
    let (mut observed, mut predicted) = (0, 0);
    for row in rows.filter(|it| it.observed.is_some()) {
        observed += row.observed.unwrap_or(0);
        predicted += row.predicted.unwrap_or(0);
    }
    Compared::of(what, ALL, Some(observed), predicted)
}
