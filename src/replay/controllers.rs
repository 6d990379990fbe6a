//! A catch-up that stands still, as a scenario of the controllers.

use super::fixes::judge;
use super::grounds::grounds;
use super::{Compared, Fact, FixRow, Replayed, Verdict, fact, number, verdict, word};
use crate::engine::ha::check::{Bounds, shortest_way};
use crate::engine::ha::{
    Act, Assumptions, Deed, Old, Run, SYSTEM, Scenario, Summary, Timing, Variant, Violation,
    summarize,
};
use crate::engine::search::Limits;
use crate::engine::sim::Latency;
use crate::report::model::{Finding, Report};

/// The model's name in a rule.
pub(super) const MODEL: &str = "controllers";

/// Steps of the search for the shortest way at most; it takes a fraction of them.
const STATES_MAX: usize = 2_000_000;

/// The position that a log may not reach.
const CEILING_MAX: u64 = 1_000_000;

/// The places of the three controllers in the scenario.
const STANDBY: usize = 0;
const PRIMARY: usize = 1;
const KILLED: usize = 2;

/// The positions of an incident.
#[derive(Debug, Clone, Copy)]
struct Positions {
    matched: u64,
    join: u64,
    ceiling: u64,
    committed: u64,
    repeats: u64,
    /// The last position in the first segment before the misfiled ones.
    first_end: u64,
    /// The first misfiled position.
    misfiled: u64,
}

/// The period of the pair in microseconds, and how long it went on in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Times {
    period: u64,
    lasts_ms: u64,
}

/// Runs a stall again, or says why not.
pub(super) fn replay(report: &Report, finding: &Finding) -> Result<Replayed, String> {
    let primary = word(finding, "primary").ok_or("the finding names no primary")?;
    let standby = word(finding, "standby").unwrap_or_else(|| "the standby".to_owned());
    let mut read = Vec::new();
    let mut assumed = Vec::new();
    let positions = positions(report, finding, &primary, &mut read, &mut assumed)?;
    let times = times(finding, &mut read, &mut assumed);
    let scenario = scenario(positions, times);
    let (run, summary) = ran(&scenario, Variant::REPORTED);
    let compared = compare(positions, &summary, &primary, &standby);
    let compared = with_segments(compared, report, &run, &primary);
    assumed.extend(unsaid(&primary));
    let verdict = verdict(&compared, 0);
    let stall = summary.stall.as_ref();
    let summary = match (verdict, stall) {
        (Verdict::Not, _) | (_, None) => format!(
            "the engine does not get {} to where these logs have it: {}",
            finding.id,
            grounds(&compared, 0)
        ),
        (_, Some(stall)) => format!(
            "a stream taken in before recovery reproduces {}{}: records from {} on are filed where no reader by name looks, and {primary} streams from {} up to {} in vain",
            finding.id,
            if verdict == Verdict::Partly {
                format!(" in part ({})", grounds(&compared, 0))
            } else {
                String::new()
            },
            positions.misfiled,
            stall.from,
            stall.ceiling
        ),
    };
    let mut fixes = fixes(&scenario);
    let untold = judge(verdict, &mut fixes);
    Ok(Replayed {
        finding: finding.id.clone(),
        model: MODEL,
        verdict,
        summary,
        read,
        assumed,
        fitted: Vec::new(),
        compared,
        unbalanced: Vec::new(),
        at_odds: Vec::new(),
        candidates: Vec::new(),
        fixes,
        untold,
        trace: shortest_way(
            Variant::REPORTED,
            Bounds::KILL,
            Violation::Misfiled,
            Limits::new(STATES_MAX, 1),
        ),
    })
}

fn positions(
    report: &Report,
    finding: &Finding,
    primary: &str,
    read: &mut Vec<Fact>,
    assumed: &mut Vec<Fact>,
) -> Result<Positions, String> {
    let of = |name: &str| {
        let found = number(finding, name);
        found.ok_or_else(|| format!("the finding has no position {name}"))
    };
    let (matched, join) = (of("match_lsn")?, of("join_lsn")?);
    let (ceiling, committed) = (of("ceiling_lsn")?, of("committed_lsn")?);
    let repeats = number(finding, "repeats").unwrap_or(0);
    for (what, value) in [
        ("the standby stays at", matched),
        ("the primary streams from", join),
        ("it streams up to", ceiling),
        ("commits stand at", committed),
    ] {
        read.push(fact(what, value, "the lines of the pair"));
    }
    let known = misfiled(report, &finding.run, primary);
    let (misfiled, first_end) = if let Some((segment, first, before)) = known {
        let text = format!("{first} on, behind {before}");
        read.push(fact("misfiled positions", text, &segment));
        (first, before)
    } else {
        // Somewhere at or below what the standby needs next.
        let first = matched.saturating_sub(matched / 20).max(2);
        let why = "the primary's segments are not here; any position up to the one that the standby needs gives the same stall";
        assumed.push(fact("misfiled positions", format!("{first} on"), why));
        (first, (first / 2).max(1))
    };
    let fits = first_end >= 1
        && first_end + 1 < misfiled
        && misfiled < matched
        && matched < committed
        && ceiling > committed;
    if !fits {
        return Err(format!(
            "its positions are not those of this mechanism: misfiled from {misfiled} behind {first_end}, the standby at {matched}, commits at {committed}, the stream up to {ceiling}"
        ));
    }
    if ceiling >= CEILING_MAX {
        return Err(format!(
            "its log reaches {ceiling}, and the run writes every record up to there: {CEILING_MAX} is the limit"
        ));
    }
    Ok(Positions {
        matched,
        join,
        ceiling,
        committed,
        repeats,
        first_end,
        misfiled,
    })
}

/// The segment of a node with misfiled records, the first of them, and the last position before them in the segment.
fn misfiled(report: &Report, run: &str, node: &str) -> Option<(String, u64, u64)> {
    let mut wals = report.wal.iter();
    let wal = wals.find(|it| it.node == node && it.run == run && !it.misfiled.is_empty())?;
    let row = wal.misfiled.first()?;
    let first = row.range[0].as_number()?;
    let before = wal.found.iter().filter(|it| it.segment == row.segment);
    let before = before.filter_map(|it| it.range[1].as_number()).max()?;
    Some((row.segment.clone(), first, before))
}

fn times(finding: &Finding, read: &mut Vec<Fact>, assumed: &mut Vec<Fact>) -> Times {
    let seconds = |name: &str| {
        finding
            .subjects
            .get(name)
            .and_then(serde_json::Value::as_f64)
    };
    let micros = |seconds: f64| {
        let micros = (seconds * 1_000_000.0).round();
        let is_sane = (100_000.0..600_000_000.0).contains(&micros);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "taken only if it is a positive number below an hour"
        )]
        let whole = micros as u64;
        is_sane.then_some(whole)
    };
    let period = seconds("period_s").and_then(micros);
    if let Some(period) = period {
        let text = format!("{} ms", period / 1000);
        read.push(fact("tick of the primary", text, "the period of the pair"));
    } else {
        assumed.push(fact(
            "tick of the primary",
            "3083 ms",
            "no period was measured",
        ));
    }
    let lasts = seconds("duration_s").and_then(micros).unwrap_or(60_000_000);
    Times {
        period: period.unwrap_or(3_083_000),
        lasts_ms: lasts / 1000,
    }
}

/// What the lines do not show.
fn unsaid(primary: &str) -> Vec<Fact> {
    let why = "not in the logs; without it the picture is another one, see docs/engine.md";
    vec![
        fact("a segment", "one life of the process", why),
        fact("streams before recovery", "one segment", why),
        fact("end of the log", "the last record by name", why),
        fact("live appends in catch-up", "none", why),
        fact(
            "a third controller",
            format!("primary before {primary}, killed"),
            "a majority of three stands still if two are left and one lags",
        ),
    ]
}

fn act(at_ms: u64, deed: Deed, node: usize, count: u64) -> Act {
    Act {
        at_ms,
        deed,
        node,
        count,
    }
}

/// Report 003's course with an incident's positions and times.
fn scenario(positions: Positions, times: Times) -> Scenario {
    let tick_ms = times.period / 1000;
    let mut disk = Vec::new();
    for node in 0..3 {
        disk.push(Old {
            node,
            first: 1,
            last: positions.first_end,
            term: 1,
        });
        disk.push(Old {
            node,
            first: positions.first_end + 1,
            last: positions.misfiled - 1,
            term: 2,
        });
    }
    // The third node's second turn finds the next primary in its start delay.
    let elected = 1_000;
    let hello = elected + 2 * tick_ms;
    let killed = hello + 6 * tick_ms;
    let election = 3 * tick_ms + 500;
    let resumed = killed + election / 2;
    // Its first stream starts from the report, the next one from the join position.
    let leads = killed + election + tick_ms;
    let mut acts = vec![
        act(0, Deed::Start, STANDBY, 0),
        act(0, Deed::Start, KILLED, 0),
        act(elected, Deed::Elect, KILLED, 0),
        act(hello - 20, Deed::Start, PRIMARY, 0),
    ];
    // The entry of the new primary is the first misfiled position.
    let before = positions.matched - positions.misfiled;
    let after = positions.committed - positions.matched;
    let written = hello + 2 * tick_ms;
    if before > 0 {
        acts.push(act(written, Deed::Write, 0, before));
    }
    acts.push(act(written + tick_ms / 2, Deed::Pause, STANDBY, 0));
    acts.push(act(written + tick_ms / 2 + 100, Deed::Write, 0, after));
    acts.push(act(killed, Deed::Kill, KILLED, 0));
    acts.push(act(resumed, Deed::Resume, STANDBY, 0));
    Scenario {
        system: SYSTEM.to_owned(),
        what: "An incident again.".to_owned(),
        variant: "reported".to_owned(),
        nodes: 3,
        seed: 1,
        until_ms: leads + times.lasts_ms + tick_ms / 2,
        begins: "00:00:00".to_owned(),
        assume: Assumptions::default(),
        timing: Timing {
            tick: times.period,
            start: Latency::Fixed((tick_ms / 2).clamp(100, 668) * 1000),
            election: Latency::Fixed(election * 1000),
            ..Timing::default()
        },
        disk,
        act: acts,
        client: None,
    }
}

fn ran(scenario: &Scenario, variant: Variant) -> (Run, Summary) {
    let mut run = Run::new(scenario, variant, scenario.seed);
    run.finish();
    let summary = summarize("", variant, scenario.seed, &run);
    (run, summary)
}

fn compare(positions: Positions, summary: &Summary, primary: &str, standby: &str) -> Vec<Compared> {
    let stall = summary.stall.as_ref();
    let of = |what: fn(&crate::engine::ha::Stalled) -> u64| stall.map_or(0, what);
    // The scenario pauses the standby behind one position, writes up to another, and lasts as long as the pair went on.
    vec![
        Compared::exact(
            "stays at LSN",
            standby,
            Some(positions.matched),
            of(|it| it.matched.unwrap_or(0)),
        )
        .given(),
        Compared::exact(
            "streams from LSN",
            primary,
            Some(positions.join),
            of(|it| it.from),
        ),
        Compared::exact(
            "streams up to LSN",
            primary,
            Some(positions.ceiling),
            of(|it| it.ceiling),
        ),
        Compared::exact(
            "has committed LSN",
            primary,
            Some(positions.committed),
            of(|it| it.committed),
        )
        .given(),
        Compared::of(
            "rounds in vain",
            primary,
            Some(positions.repeats),
            of(|it| it.times),
        )
        .given(),
    ]
}

/// The misfiled records beside those of the checked segments; nothing is said of segments that are not here.
fn with_segments(
    mut compared: Vec<Compared>,
    report: &Report,
    run: &Run,
    primary: &str,
) -> Vec<Compared> {
    let misfiled = run.world.layout(PRIMARY);
    let predicted = misfiled.first().map_or(0, |it| it.first);
    let observed = report
        .wal
        .iter()
        .filter(|it| it.node == primary)
        .find_map(|it| it.misfiled.first()?.range[0].as_number());
    let row = Compared::exact("first misfiled LSN", primary, observed, predicted);
    // It is read from those segments, if they are here.
    compared.push(if observed.is_some() { row.given() } else { row });
    compared
}

/// Each fix alone, the two that are needed, and all.
fn fixes(scenario: &Scenario) -> Vec<FixRow> {
    let mut rows = Vec::new();
    for fix in [
        "",
        "pre-recovery-write",
        "pre-recovery-intake",
        "join-overrides-report",
        "silent-empty-stream",
        "pre-recovery-write+pre-recovery-intake+join-overrides-report+silent-empty-stream",
    ] {
        let variant = Variant::REPORTED.mended(fix).unwrap_or(Variant::REPORTED);
        let (_, summary) = ran(scenario, variant);
        let problems: usize = summary.nodes.iter().map(|it| it.problems.len()).sum();
        let layout = if problems == 0 { "clean" } else { "misfiled" };
        let ready = summary.elections.last().and_then(|it| it.ready_after_ms);
        let outcome = match (&summary.stall, ready) {
            (Some(stall), _) => format!(
                "segments {layout}; streams from {} in vain{}",
                stall.from,
                if summary.warned > 0 {
                    ", and says so"
                } else {
                    ""
                }
            ),
            (None, Some(ms)) => format!("segments {layout}; commits {ms} ms after the election"),
            (None, None) => format!("segments {layout}; nothing is committed"),
        };
        rows.push(FixRow {
            fix: match fix {
                "" => "as it was".to_owned(),
                it if it.matches('+').count() == 3 => "all four".to_owned(),
                it => format!("{it} mended"),
            },
            cures: Some(summary.stall.is_none() && problems == 0),
            outcome,
        });
    }
    rows
}
