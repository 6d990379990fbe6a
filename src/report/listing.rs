//! The records behind a signal's count, and why a plain search counts differently.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::{Texts, escape};
use crate::analysis::{Analysis, InputFacts};
use crate::rules::{self, NodeFacts, RuleBase};
use crate::scan::GrepCounts;
use crate::vocab::several;

/// Prints the records of `signal`, of one node or of all, and then the sums.
pub fn write(
    analysis: &Analysis,
    base: &RuleBase,
    signal: u16,
    node: Option<&str>,
    texts: &mut Texts,
    out: &mut dyn Write,
) -> io::Result<()> {
    let index = usize::from(signal);
    let (mut unique, mut unseen, mut seen) = (0, Vec::new(), false);
    for facts in &analysis.nodes {
        let tally = &facts.tally;
        if node.is_some_and(|wanted| wanted != tally.node) {
            continue;
        }
        let found = &tally.signals[index];
        unique += found.all.count;
        match not_observable(base, signal, facts) {
            Some(why) if found.all.count == 0 => unseen.push(why),
            _ => seen |= found.all.count > 0 || rules::concerns(base.signals.signal(signal), tally),
        }
        for one in &found.evidence {
            let path = analysis
                .inputs
                .get(one.at.artifact as usize)
                .map_or("", |input| input.path.as_str());
            writeln!(
                out,
                "{}:{}: {}",
                escape::terminal(&texts.path(path)),
                one.at.line,
                escape::terminal(&texts.log(&one.text))
            )?;
        }
        let listed = u64::try_from(found.evidence.len()).unwrap_or(u64::MAX);
        if listed < found.all.count {
            writeln!(
                out,
                "... {} more of {}, see --limit",
                found.all.count - listed,
                escape::terminal(&texts.name(&tally.node))
            )?;
        }
    }
    let mut plain = Plain::default();
    for input in &analysis.inputs {
        if node.is_none_or(|wanted| wanted == input.node) {
            plain.add(input);
        }
    }
    writeln!(out)?;
    unread(analysis, texts, out)?;
    for why in &unseen {
        writeln!(out, "{}", escape::terminal(&texts.sentence(why)))?;
    }
    if !seen && !unseen.is_empty() {
        // Where it could not be seen at all, a nought would be a claim.
        return Ok(());
    }
    sums(base, signal, unique, plain, out)
}

/// The lines that a plain search finds.
#[derive(Debug, Clone, Copy, Default)]
struct Plain {
    /// Those in records.
    records: GrepCounts,
    /// The others.
    elsewhere: u64,
}

impl Plain {
    fn add(&mut self, input: &InputFacts) {
        let in_records = input.grep.total();
        // Rows of tables are searched as they are read; what an escape joins or hides in a file is not told apart either.
        let is_told = input.table.is_none() || input.counts_records;
        if is_told && in_records <= input.found {
            self.records.add(input.grep);
            self.elsewhere += input.found - in_records;
        } else {
            self.elsewhere += input.found;
        }
    }

    fn total(self) -> u64 {
        self.records.total() + self.elsewhere
    }
}

/// How many inputs that were not read whole are named.
const UNREAD_MAX: usize = 10;

/// Says what the counts lack.
fn unread(analysis: &Analysis, texts: &mut Texts, out: &mut dyn Write) -> io::Result<()> {
    if analysis.is_complete() {
        return Ok(());
    }
    let is_cut = |input: &&InputFacts| input.problems.iter().any(|it| it.kind.is_partial());
    let cut = analysis.inputs.iter().filter(is_cut).map(|it| &it.path);
    let refused = analysis.refused.iter().filter(|refused| refused.partial);
    let mut paths: Vec<&String> = cut.chain(refused.map(|it| &it.path)).collect();
    paths.sort_unstable();
    paths.dedup();
    writeln!(
        out,
        "PARTIAL: counted is what could be read. Not read whole:"
    )?;
    for path in paths.iter().take(UNREAD_MAX) {
        writeln!(out, "  {}", escape::terminal(&texts.path(path)))?;
    }
    let more = paths.len().saturating_sub(UNREAD_MAX);
    if more > 0 {
        writeln!(out, "  and {more} more")?;
    }
    Ok(())
}

/// Why the signal could not have been seen on a node that runs what writes it, and what would show it.
fn not_observable(base: &RuleBase, signal: u16, facts: &NodeFacts) -> Option<String> {
    let compiled = base.signals.signal(signal);
    let tally = &facts.tally;
    let why = rules::obstacle(&base.signals, signal, tally);
    let why = why.filter(|_| rules::concerns(compiled, tally))?;
    let declared = &base.declared.signal[usize::from(signal)];
    let collect = declared.collect.as_deref().unwrap_or(rules::COLLECT);
    let (id, node) = (&compiled.id, &tally.node);
    Some(format!(
        "{id} is not observable on {node}: {why}; collect {collect}"
    ))
}

fn sums(
    base: &RuleBase,
    signal: u16,
    unique: u64,
    plain: Plain,
    out: &mut dyn Write,
) -> io::Result<()> {
    let grep = plain.records;
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
        "{}: what a plain search finds, zgrep -F {}",
        several(plain.total(), "line", "lines"),
        keys.join(" ")
    )?;
    let parts = [
        (
            grep.records.saturating_sub(unique),
            "repeats a record that another log or export holds, or is beyond a bound",
            "repeat a record that another log or export holds, or are beyond a bound",
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
        (
            plain.elsewhere,
            "stands in no record that was read: in a table, a copy, results of tests, or out of the time asked for",
            "stand in no record that was read: in tables, copies, results of tests, or out of the time asked for",
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
