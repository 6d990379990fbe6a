//! Tables: what each fix changes, and what each assumption is for.

use std::io::{self, Write};

use super::names::What;
use super::run::Run;
use super::scenario::{Act, Deed, Scenario};
use super::setup::{Defect, Dispatch, Heartbeat, Recovery, Shown, Variant};
use super::summary::{Summary, seconds, summarize};

/// Runs a scenario to its end.
fn of(scenario: &Scenario, variant: Variant) -> (Run, Summary) {
    let mut run = Run::new(scenario, variant, scenario.seed);
    run.finish();
    let summary = summarize("", variant, scenario.seed, &run);
    (run, summary)
}

/// The time from the last election until the primary commits.
fn recovery(summary: &Summary) -> String {
    let last = summary.elections.last().and_then(|it| it.ready_after_ms);
    last.map_or_else(|| "never".to_owned(), seconds)
}

fn sum(summary: &Summary, of: impl Fn(&super::NodeSummary) -> u64) -> u64 {
    summary.nodes.iter().map(of).sum()
}

/// Writes what a scenario comes to under every combination of the four fixes, with the NACK of the live append behind
/// and before the first stream, as a Markdown table.
pub fn write_fixes(scenario: &Scenario, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<&str> = Defect::ALL.iter().map(|it| it.1).collect();
    writeln!(
        out,
        "| {} | layout | stall | commits after, s | commits after, s, NACK first | hidden at the next restart | false ACKs | empty streams, warned |",
        names.join(" | ")
    )?;
    writeln!(out, "|{}", "---|".repeat(names.len() + 7))?;
    for variant in Variant::all() {
        let (_, after) = of(scenario, variant);
        let mut first = scenario.clone();
        first.assume.dispatch = Dispatch::AtTick;
        let (_, before) = of(&first, variant);
        let marks = Defect::ALL
            .iter()
            .map(|it| if variant.has(it.0) { "there" } else { "mended" });
        let marks: Vec<&str> = marks.collect();
        let problems: Vec<&str> = after
            .nodes
            .iter()
            .flat_map(|it| it.problems.iter().map(String::as_str))
            .collect();
        let layout = if problems.is_empty() {
            "clean".to_owned()
        } else {
            problems.join("; ")
        };
        writeln!(
            out,
            "| {} | {layout} | {} | {} | {} | {} | {} | {}, {} |",
            marks.join(" | "),
            if after.stall.is_some() {
                "**yes**"
            } else {
                "no"
            },
            recovery(&after),
            recovery(&before),
            sum(&after, |it| it.hidden),
            sum(&after, |it| it.false_acks),
            after.silent + after.warned,
            after.warned
        )?;
    }
    Ok(())
}

/// An assumption: its number, what it is, and the change that takes it away.
type Assumption = (u8, &'static str, fn(&mut Scenario));

/// What the picture of the report needs and the report leaves unsaid.
const ASSUMPTIONS: [Assumption; 14] = [
    (0, "all as assumed", |_| {}),
    (
        1,
        "a segment begins below the standby's position: it is removed",
        |it| {
            it.act.push(Act {
                at_ms: 40_000,
                deed: Deed::RemoveSegment,
                node: 1,
                count: 235,
            });
        },
    ),
    (
        2,
        "`segment-records`: a segment is one life; 234 close it",
        |it| {
            it.assume.segment_records = 234;
        },
    ),
    (3, "`batches`: one segment a dispatch; two", |it| {
        it.assume.batches = 2;
    }),
    (
        4,
        "`recovery`: the last record by name; the highest position",
        |it| {
            it.assume.recovery = Recovery::Positions;
        },
    ),
    (5, "`shown`: the line shows the start; the report", |it| {
        it.assume.shown = Shown::Report;
    }),
    (6, "`live-at-registration`: 342 is sent live; not", |it| {
        it.assume.live_at_registration = false;
    }),
    (
        7,
        "`suppresses-live`: no live appends in catch-up; they go on",
        |it| {
            it.assume.suppresses_live = false;
        },
    ),
    (
        7,
        "`heartbeat`: it names the report; the entry before the next",
        |it| {
            it.assume.heartbeat = Heartbeat::Next;
        },
    ),
    (8, "`tick`: 3.083 s; 1 s", |it| {
        it.timing.tick = 1_000_000;
    }),
    (
        8,
        "`tells-commit`: heartbeats tell the commit position; not",
        |it| {
            it.assume.tells_commit = false;
        },
    ),
    (8, "ctrl-1 is paused after 323; it is not", |it| {
        it.act.retain(|act| act.deed != Deed::Pause);
    }),
    (
        9,
        "`one-batch`: the next batch waits for the commit; not",
        |it| {
            it.assume.one_batch = false;
        },
    ),
    (
        10,
        "`drops-once`: a line per process (two segments a dispatch, all mended); a line each",
        |it| {
            it.assume.batches = 2;
            "fixed".clone_into(&mut it.variant);
            it.assume.drops_once = false;
        },
    ),
];

/// Writes what changes without each assumption, as a Markdown table.
pub fn write_assumptions(scenario: &Scenario, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "| | assumption; without it | stall | the lines show | commits after, s | ctrl-2's segments | layout | hidden | drop lines |"
    )?;
    writeln!(out, "|{}", "---|".repeat(9))?;
    for (number, what, without) in ASSUMPTIONS {
        let mut changed = scenario.clone();
        without(&mut changed);
        let (run, summary) = of(&changed, changed.protocol());
        let stall = summary.stall.as_ref().map_or_else(
            || "none".to_owned(),
            |it| {
                format!(
                    "{} to {}, {} times, {} committed",
                    it.from, it.ceiling, it.times, it.committed
                )
            },
        );
        let node = summary.nodes.get(1);
        let segments = node.map_or_else(String::new, |it| it.segments.join("; "));
        let problems = node.map_or_else(String::new, |it| it.problems.join("; "));
        let each = !changed.assume.drops_once;
        let drops = run.count(
            None,
            |it| matches!(it, What::Dropped { is_first } if *is_first || each),
        );
        writeln!(
            out,
            "| {} | {what} | {stall} | {} | {} | {} | {} | {} | {drops} |",
            if number == 0 {
                String::new()
            } else {
                number.to_string()
            },
            shown(&run),
            recovery(&summary),
            segments
                .replace("seg-00000000000000", "..")
                .replace("seg-0000000000000", "..."),
            if problems.is_empty() {
                "clean"
            } else {
                problems.as_str()
            },
            node.map_or(0, |it| it.hidden)
        )?;
    }
    Ok(())
}

/// The positions that the lines of the last primary show, each as often as it follows itself; a way down of more than
/// two in single steps by its ends.
fn shown(run: &Run) -> String {
    let last = run.last_election().map_or(0, |it| it.0);
    let streams = run.events.iter().filter(|it| it.0 > last);
    let lsns = streams.filter_map(|(_, note)| {
        if let What::Stream { lsn, .. } = note.what {
            Some(lsn)
        } else {
            None
        }
    });
    told(&lsns.collect::<Vec<u64>>())
}

fn told(lsns: &[u64]) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut runs = lsns.chunk_by(|a, b| a == b).peekable();
    while let Some(first) = runs.next() {
        let mut last = first;
        let mut steps = 0;
        while last.len() == 1
            && let Some(next) = runs.next_if(|next| next[0] + 1 == last[0])
        {
            last = next;
            steps += 1;
        }
        let times = match last.len() {
            1 => String::new(),
            many => format!(" ({many} times)"),
        };
        match steps {
            0 => words.push(format!("{}{times}", last[0])),
            1 => words.extend([first[0].to_string(), format!("{}{times}", last[0])]),
            _ => words.push(format!(
                "{}, then down to {}{times} in {steps} steps",
                first[0], last[0]
            )),
        }
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn a_way_down_has_both_its_ends() {
        assert_eq!(told(&[]), "");
        assert_eq!(told(&[323, 340, 340]), "323, 340 (2 times)");
        assert_eq!(told(&[305, 0, 234]), "305, 0, 234");
        assert_eq!(
            told(&[323, 340, 339, 338, 337]),
            "323, 340, then down to 337 in 3 steps"
        );
        assert_eq!(
            told(&[5, 4, 3, 3, 9, 8]),
            "5, then down to 3 (2 times) in 2 steps, 9, 8"
        );
    }
}
