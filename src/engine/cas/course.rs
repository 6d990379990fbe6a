//! The course of a run: rates and queues over time, as numbers and as a few characters.

use std::io::{self, Write};

use serde::Serialize;

use super::names::What;
use super::summary::NodeSummary;
use super::tally::{STEP_S, Tally};
use crate::vocab::spark;

/// A server over time, each number for a step of [`STEP_S`] seconds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Course {
    /// Seconds of a step.
    pub step_s: u64,
    /// Relinks that it gave up in the step.
    pub refused: Vec<u64>,
    /// Relinks that it finished in the step.
    pub finished: Vec<u64>,
    /// The length of its queue at the beginning of the step.
    pub queue: Vec<u64>,
}

impl Course {
    /// The course of a server.
    pub fn of(tally: &Tally, node: usize) -> Self {
        let queue = tally.nodes.get(node).map(|it| &it.queue);
        let steps = queue.map_or(0, Vec::len).max(tally.steps());
        let rate = |what| {
            (0..steps)
                .map(|it| tally.between(what, Some(node), it, it + 1))
                .collect()
        };
        Self {
            step_s: STEP_S,
            refused: rate(What::Refused),
            finished: rate(What::Finished),
            queue: queue.map_or_else(Vec::new, |it| it.iter().map(|it| u64::from(*it)).collect()),
        }
    }
}

/// Characters of a line at most.
const WIDTH: usize = 60;

/// Prints rates and queues as lines of bars, each with its highest value; nothing for a run of a moment.
pub(super) fn write(nodes: &[NodeSummary], out: &mut dyn Write) -> io::Result<()> {
    let steps = nodes.iter().map(|it| it.course.queue.len()).max();
    let steps = steps.unwrap_or(0);
    let is_flat = |it: &NodeSummary| {
        let course = &it.course;
        let mut all = course
            .refused
            .iter()
            .chain(&course.finished)
            .chain(&course.queue);
        all.all(|it| *it == 0)
    };
    if steps < 3 || nodes.iter().all(is_flat) {
        return Ok(());
    }
    let joined = steps.div_ceil(WIDTH);
    let seconds = u64::try_from(joined).unwrap_or(1) * STEP_S;
    writeln!(
        out,
        "\nOver time, a column for {seconds} s, each line as high as its own peak:"
    )?;
    for (word, pick) in [
        (
            "refused",
            (|it| (&it.refused, true)) as fn(&Course) -> (&Vec<u64>, bool),
        ),
        ("finished", |it| (&it.finished, true)),
        ("queue", |it| (&it.queue, false)),
    ] {
        for node in nodes {
            let (values, is_rate) = pick(&node.course);
            let columns: Vec<u64> = values
                .chunks(joined)
                .map(|it| {
                    if is_rate {
                        it.iter().sum()
                    } else {
                        it.iter().copied().max().unwrap_or(0)
                    }
                })
                .collect();
            let peak = columns.iter().max().copied().unwrap_or(0);
            if peak > 0 {
                let name = format!("{} {word}", node.node);
                let bars = spark(&columns);
                let width = steps.div_ceil(joined);
                writeln!(out, "  {name:<14} |{bars:<width$}| {peak}")?;
            }
        }
    }
    Ok(())
}
