//! The records behind a signal's count, and why a plain search counts differently.

use std::collections::BTreeSet;
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
    let keys: BTreeSet<String> = declared
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
    let (records, are) = if unique == 1 {
        ("record", "is")
    } else {
        ("records", "are")
    };
    writeln!(out, "{unique} {records} {are} {}", declared.id)?;
    if keys.is_empty() {
        return Ok(());
    }
    let keys: Vec<String> = keys.into_iter().collect();
    writeln!(
        out,
        "{} lines: what a plain search finds, zgrep -F {}",
        grep.total(),
        keys.join(" ")
    )?;
    let parts = [
        (
            grep.records.saturating_sub(unique),
            "repeats a record in the err.log, or is beyond a bound",
            "repeat a record in the err.log, or are beyond a bound",
        ),
        (
            grep.quoted,
            "quotes it in the text of a query",
            "quote it in the text of a query",
        ),
        (
            grep.other,
            "stands in a record of another level, logger or wording, or echoes an earlier error",
            "stand in records of another level, logger or wording, or echo an earlier error",
        ),
        (
            grep.continuation,
            "continues another record",
            "continue another record",
        ),
    ];
    for (count, one, many) in parts.into_iter().filter(|(count, ..)| *count > 0) {
        writeln!(
            out,
            "  {count} of them {}",
            if count == 1 { one } else { many }
        )?;
    }
    Ok(())
}
