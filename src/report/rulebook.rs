//! The rule base as text: a list, one entry, and the page in docs/. A rules file may be a stranger's: all of its text is
//! made inert, line by line, and what is markup in it stays markup.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::escape::terminal;
use crate::rules::RuleBase;
use crate::rules::schema::{CountDecl, RuleDecl, Scope, SignalDecl, VerdictDecl};
use crate::signals::{Field, TallyKind};
use crate::vocab::Severity;

/// Lists rules and signals, a line each.
pub fn list(base: &RuleBase, out: &mut dyn Write) -> io::Result<()> {
    let rules = base
        .declared
        .rule
        .iter()
        .map(|rule| (rule.id.get_ref(), &rule.title));
    let signals = base
        .declared
        .signal
        .iter()
        .map(|signal| (signal.id.get_ref(), &signal.what));
    let width = rules
        .clone()
        .chain(signals.clone())
        .map(|(id, _)| id.len())
        .max()
        .unwrap_or(0);
    writeln!(out, "Rules")?;
    for (id, title) in rules {
        writeln!(out, "  {id:width$}  {}", terminal(title))?;
    }
    writeln!(out, "\nSignals")?;
    for (id, what) in signals {
        writeln!(out, "  {id:width$}  {}", terminal(what))?;
    }
    Ok(())
}

/// Shows a rule or a signal; whether there is one of that id.
pub fn show(base: &RuleBase, id: &str, out: &mut dyn Write) -> io::Result<bool> {
    let rule = base
        .declared
        .rule
        .iter()
        .find(|rule| rule.id.get_ref() == id);
    let signal = base
        .declared
        .signal
        .iter()
        .find(|signal| signal.id.get_ref() == id);
    if let Some(rule) = rule {
        write_rule(rule, out)?;
    }
    if rule.is_some() && signal.is_some() {
        writeln!(out, "\nThe signal of the same name:\n")?;
    }
    if let Some(signal) = signal {
        write_signal(signal, out)?;
    }
    Ok(rule.is_some() || signal.is_some())
}

/// The whole base as a Markdown page: `docs/rules.md`.
pub fn page(base: &RuleBase, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "# What casdiag finds\n")?;
    writeln!(
        out,
        "Generated from `rules.toml` by `scripts/refresh`; do not edit.\n"
    )?;
    writeln!(out, "## Rules\n")?;
    table(base, "", out)?;
    for rule in &base.declared.rule {
        writeln!(out, "\n### {}\n", rule.id.get_ref())?;
        write_rule(rule, out)?;
    }
    writeln!(
        out,
        "\n## Signals\n\nOf the fields, those in bold are counted by value, so a rule may accuse them or be about them; what stands behind a colon are all the values that a\nderived one has. A rule's `where` may name any field.\n\n| signal | means | fields |\n|---|---|---|"
    )?;
    for (declared, compiled) in base.declared.signal.iter().zip(base.signals.signals()) {
        let fields: Vec<String> = compiled
            .fields
            .iter()
            .map(|field| field_words(declared, field))
            .collect();
        writeln!(
            out,
            "| `{}` | {} | {} |",
            declared.id.get_ref(),
            inert(&declared.what),
            fields.join("; ")
        )?;
    }
    Ok(())
}

/// A field as the page has it: bold if it is counted, with its values if they are few and known.
fn field_words(declared: &SignalDecl, field: &Field) -> String {
    let name = inert(&field.name);
    let name = match field.tally {
        TallyKind::Not => name,
        TallyKind::By | TallyKind::Top => format!("**{name}**"),
    };
    let derived = declared.derived.iter().find(|it| it.field == field.name);
    let Some(derived) = derived else {
        return name;
    };
    let classes = derived.classes.iter().map(|(value, _)| value.as_str());
    let otherwise = derived.otherwise.as_deref().unwrap_or("other");
    let values = classes.chain(std::iter::once(otherwise));
    let mut listed: Vec<String> = Vec::new();
    for value in values.map(inert) {
        if !listed.contains(&value) {
            listed.push(value);
        }
    }
    format!("{name}: {}", listed.join(", "))
}

/// The rules as a Markdown table, a row each; `page` is where their entries are, from the table.
pub fn table(base: &RuleBase, page: &str, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "| rule | finds | category | severities |\n|---|---|---|---|"
    )?;
    for rule in &base.declared.rule {
        let severities: BTreeSet<Severity> = rule
            .verdict
            .iter()
            .map(|verdict| verdict.severity)
            .collect();
        let severities: Vec<&str> = severities.iter().rev().map(|it| it.word()).collect();
        let id = rule.id.get_ref();
        writeln!(
            out,
            "| [`{id}`]({page}#{id}) | {} | {} | {} |",
            inert(&rule.title),
            inert(&rule.category),
            severities.join(", ")
        )?;
    }
    Ok(())
}

fn write_rule(rule: &RuleDecl, out: &mut dyn Write) -> io::Result<()> {
    let per = match rule.per {
        Scope::Run => "run",
        Scope::Node => "node",
    };
    let step = rule.step.as_ref();
    let step = step.map_or_else(String::new, |it| format!(", step {}", it.get_ref()));
    writeln!(
        out,
        "{} ({}, per {per}{step}).\n\n{}",
        inert(&rule.title),
        inert(&rule.category),
        inert(rule.mechanism.trim())
    )?;
    if let Some(place) = &rule.fix_goes_in {
        writeln!(out, "\nA fix goes in: {}.", inert(place))?;
    }
    writeln!(out, "\nVerdicts, first match wins:\n")?;
    for verdict in &rule.verdict {
        write_verdict(verdict, out)?;
    }
    if let Some(outcome) = &rule.outcome {
        writeln!(out, "\nEach ends in: {}", inert(outcome.get_ref()))?;
    }
    let not_this = rule.not_this.iter().map(|text| text.get_ref().as_str());
    let not_excluded = rule.not_excluded.iter().map(|text| text.get_ref().as_str());
    let texts: [(&str, Vec<&str>); 3] = [
        ("Not this", not_this.collect()),
        ("Not excluded", not_excluded.collect()),
        ("Next", rule.next_steps.iter().map(String::as_str).collect()),
    ];
    for (head, texts) in texts {
        if !texts.is_empty() {
            writeln!(out, "\n{head}:\n")?;
        }
        for text in texts {
            writeln!(out, "- {}", inert(text))?;
        }
    }
    let counts = rule
        .counts
        .iter()
        .map(|(name, count)| format!("`{name}` counts {}", counted(count)));
    writeln!(out, "\nCounts: {}.", counts.collect::<Vec<_>>().join(", "))?;
    if let Some(versions) = &rule.versions {
        writeln!(out, "\nVersions: {}.", inert(versions))?;
    }
    for known in &rule.known {
        let fixed = known
            .fixed_in
            .as_ref()
            .map_or_else(String::new, |version| format!(", fixed in {version}"));
        let text = format!("Known as {}{fixed}.", known.reference);
        writeln!(out, "\n{}", inert(&text))?;
    }
    let samples: Vec<&str> = rule
        .sample
        .iter()
        .map(|sample| sample.name.get_ref().as_str())
        .collect();
    writeln!(out, "\nSamples: {}.", inert(&samples.join("; ")))
}

/// What a count counts.
fn counted(count: &CountDecl) -> String {
    let wal = || {
        let wal = count.wal.iter();
        let kinds = wal
            .flat_map(|wal| &wal.problems)
            .map(|kind| format!(" `{}`", kind.word()));
        let kinds: Vec<String> = kinds.collect();
        format!(
            "problems of WALs:{}",
            if kinds.is_empty() {
                " all".to_owned()
            } else {
                kinds.join(" or")
            }
        )
    };
    let signal = count.signal.as_ref();
    signal.map_or_else(wal, |signal| format!("`{}`", signal.get_ref()))
}

fn write_verdict(verdict: &VerdictDecl, out: &mut dyn Write) -> io::Result<()> {
    let otherwise = if verdict.when.is_some() {
        ""
    } else {
        "otherwise: "
    };
    writeln!(
        out,
        "- {otherwise}{} ({}): {}",
        verdict.severity.word(),
        verdict.confidence.word(),
        inert(verdict.title.get_ref())
    )
}

fn write_signal(signal: &SignalDecl, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}\n", inert(&signal.what))?;
    let levels: Vec<String> = signal
        .levels
        .iter()
        .map(|level| format!("{level:?}"))
        .collect();
    let codes: Vec<String> = signal.codes.iter().map(u32::to_string).collect();
    for (head, texts) in [
        ("Levels", &levels),
        ("Loggers", &signal.loggers),
        ("Codes", &codes),
    ] {
        if !texts.is_empty() {
            writeln!(out, "{head}: {}", inert(&texts.join(", ")))?;
        }
    }
    let wordings: Vec<&str> = signal
        .wordings()
        .map(|template| template.get_ref().as_str())
        .collect();
    write_lines("Wordings", wordings.into_iter(), out)?;
    write_lines(
        "Is one",
        signal
            .samples
            .iter()
            .map(|sample| sample.line.get_ref().as_str()),
        out,
    )?;
    let not = signal.not.iter().map(|line| line.get_ref().as_str());
    write_lines("Is none", not, out)
}

/// A text of several lines, each inert.
fn inert(text: &str) -> String {
    text.split('\n')
        .map(terminal)
        .collect::<Vec<_>>()
        .join("\n")
}

fn write_lines<'t>(
    head: &str,
    texts: impl ExactSizeIterator<Item = &'t str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    if texts.len() > 0 {
        writeln!(out, "\n{head}:\n")?;
    }
    for text in texts {
        writeln!(out, "    {}", inert(text).replace('\n', "\n    "))?;
    }
    Ok(())
}
