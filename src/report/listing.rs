//! The records behind a signal's count, and why a plain search counts differently.

use std::io::{self, Write};

use super::escape;
use crate::analysis::Analysis;
use crate::rules::RuleBase;
use crate::scan::GrepCounts;

/// Prints the records of `signal`, of one node or of all, and then the sums.
pub fn write(
    analysis: &Analysis,
    base: &RuleBase,
    signal: u16,
    node: Option<&str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let index = usize::from(signal);
    let mut unique = 0;
    for facts in &analysis.nodes {
        let tally = &facts.tally;
        if node.is_some_and(|wanted| wanted != tally.node) {
            continue;
        }
        let found = &tally.signals[index];
        unique += found.all.count;
        for one in &found.evidence {
            let path = analysis
                .inputs
                .get(one.at.artifact as usize)
                .map_or("", |input| input.path.as_str());
            writeln!(
                out,
                "{}:{}: {}",
                escape::terminal(path),
                one.at.line,
                escape::terminal(&one.text)
            )?;
        }
        let listed = u64::try_from(found.evidence.len()).unwrap_or(u64::MAX);
        if listed < found.all.count {
            writeln!(
                out,
                "... {} more of {}, see --limit",
                found.all.count - listed,
                escape::terminal(&tally.node)
            )?;
        }
    }
    let mut grep = GrepCounts::default();
    for input in &analysis.inputs {
        if input.counts_records && node.is_none_or(|wanted| wanted == input.node) {
            grep.add(input.grep);
        }
    }
    sums(base, signal, unique, grep, out)
}

fn sums(
    base: &RuleBase,
    signal: u16,
    unique: u64,
    grep: GrepCounts,
    out: &mut dyn Write,
) -> io::Result<()> {
    let declared = base.signals.signal(signal);
    let keys: Vec<String> = declared
        .templates
        .iter()
        .filter_map(|t| t.key())
        .map(|key| {
            format!(
                "-e '{}'",
                String::from_utf8_lossy(key).replace('\'', "'\\''")
            )
        })
        .collect();
    writeln!(out)?;
    writeln!(out, "{unique} records are {}", declared.id)?;
    if keys.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "{} lines: what a plain search finds, zgrep -F {}",
        grep.total(),
        keys.join(" ")
    )?;
    let parts = [
        (
            grep.records.saturating_sub(unique),
            "repeat a record in the err.log, or are beyond a bound",
        ),
        (grep.quoted, "quote it in the text of a query"),
        (
            grep.other,
            "stand in records of another level, logger or wording, or echo an earlier error",
        ),
        (grep.continuation, "continue another record"),
    ];
    for (count, why) in parts.into_iter().filter(|(count, _)| *count > 0) {
        writeln!(out, "  {count} of them {why}")?;
    }
    Ok(())
}
