//! Why a line counts for a rule, and why the rule fires or keeps silent.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::Texts;
use super::escape::terminal;
use crate::analysis::Analysis;
use crate::rules::schema::Scope;
use crate::rules::{Explained, NodeFacts, Rule, RuleBase, State, Traced, explain};

/// Prints the checks of the line, then the rule's tree for every run and, where it asks for it, every node.
pub fn write(
    line: &str,
    traced: &[Traced],
    base: &RuleBase,
    rule: &Rule,
    analysis: &Analysis,
    texts: &mut Texts,
    out: &mut dyn Write,
) -> io::Result<()> {
    let declared = &base.declared.rule[rule.declared];
    writeln!(
        out,
        "{}: {}\n",
        declared.id.get_ref(),
        terminal(&declared.title)
    )?;
    writeln!(out, "Does {} count for it?\n", terminal(line))?;
    for signal in traced {
        write_traced(signal, texts, out)?;
    }
    let mut runs: BTreeMap<&str, Vec<&NodeFacts>> = BTreeMap::new();
    for facts in &analysis.nodes {
        runs.entry(&facts.tally.run).or_default().push(facts);
    }
    for (run, facts) in runs {
        let scenes: Vec<(String, Vec<&NodeFacts>)> = match declared.per {
            // A single run is called by a dot.
            Scope::Run if run == "." => vec![("the run".to_owned(), facts)],
            Scope::Run => vec![(format!("run {run}"), facts)],
            Scope::Node => facts
                .into_iter()
                .map(|facts| (format!("node {}", facts.tally.node), vec![facts]))
                .collect(),
        };
        for (name, facts) in scenes {
            tree(&name, &explain(base, rule, &facts), texts, out)?;
        }
    }
    Ok(())
}

/// Whether the line counts as one of a rule's signals, and in which of its counts.
fn write_traced(traced: &Traced, texts: &mut Texts, out: &mut dyn Write) -> io::Result<()> {
    let counts = traced.counts();
    let head = if counts { "yes, as" } else { "not as" };
    writeln!(out, "  {head} {}", traced.signal)?;
    for check in &traced.checks {
        let word = if check.passed { "passed" } else { "failed" };
        writeln!(out, "      {word} {}", terminal(&texts.log(&check.text)))?;
    }
    for taken in traced.counts.iter().filter(|it| !it.text.is_empty()) {
        let asked = texts.log(&taken.text);
        // What one count leaves out another one takes: that is no failure.
        let word = match taken.holds {
            Some(false) if !counts => "failed",
            Some(false) => "left out by",
            Some(true) => "passed",
            None => "unknown",
        };
        writeln!(
            out,
            "      {word} where {} (count {})",
            terminal(&asked),
            terminal(&taken.count)
        )?;
    }
    Ok(())
}

fn tree(name: &str, lines: &[Explained], texts: &mut Texts, out: &mut dyn Write) -> io::Result<()> {
    let fires = lines
        .first()
        .is_some_and(|first| first.state == State::Holds);
    writeln!(
        out,
        "\nIt {} over {}\n",
        if fires { "fires" } else { "keeps silent" },
        terminal(&texts.sentence(name))
    )?;
    for line in lines {
        let state = match line.state {
            State::Holds => "passed ",
            State::Fails => "failed ",
            State::Unknown => "unknown",
        };
        writeln!(
            out,
            "  {state} {:indent$}{}",
            "",
            terminal(&texts.sentence(&line.text)),
            indent = 2 * line.depth
        )?;
    }
    Ok(())
}
