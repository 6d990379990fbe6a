//! The rule base as text: a list, one entry, and the page in docs/.

use std::fmt::Write as _;
use std::io::{self, Write};

use crate::rules::RuleBase;
use crate::rules::schema::{RuleDecl, SignalDecl, VerdictDecl};

/// Lists rules and signals, a line each.
pub fn list(base: &RuleBase, out: &mut dyn Write) -> io::Result<()> {
    let width = base.declared.rule.iter().map(|rule| rule.id.get_ref().len()).chain(base.declared.signal.iter().map(|s| s.id.get_ref().len())).max();
    let width = width.unwrap_or(0);
    writeln!(out, "Rules")?;
    for rule in &base.declared.rule {
        writeln!(out, "  {:width$}  {}", rule.id.get_ref(), rule.title)?;
    }
    writeln!(out, "\nSignals")?;
    for signal in &base.declared.signal {
        writeln!(out, "  {:width$}  {}", signal.id.get_ref(), signal.what)?;
    }
    Ok(())
}

/// Shows a rule or a signal; whether there is one of that id.
pub fn show(base: &RuleBase, id: &str, out: &mut dyn Write) -> io::Result<bool> {
    let mut known = false;
    if let Some(rule) = base.declared.rule.iter().find(|rule| rule.id.get_ref() == id) {
        out.write_all(rule_text(rule).as_bytes())?;
        known = true;
    }
    if let Some(signal) = base.declared.signal.iter().find(|signal| signal.id.get_ref() == id) {
        if known {
            writeln!(out)?;
        }
        out.write_all(signal_text(signal).as_bytes())?;
        known = true;
    }
    Ok(known)
}

/// The whole base as a Markdown page: `docs/rules.md`.
pub fn page(base: &RuleBase) -> String {
    let mut out = String::from("# What casdiag finds\n\nGenerated from `rules.toml` by `casdiag rules` (see CONTRIBUTING.md); do not edit.\n\n## Rules\n\n");
    out.push_str("| rule | finds | category | severities |\n|---|---|---|---|\n");
    for rule in &base.declared.rule {
        let severities: Vec<&str> = rule.verdict.iter().map(|verdict| verdict.severity.word()).collect();
        let mut shown: Vec<&str> = severities.clone();
        shown.dedup();
        // Writing to a String does not fail.
        let _ = writeln!(out, "| [`{0}`](#{0}) | {1} | {2} | {3} |", rule.id.get_ref(), rule.title, rule.category, shown.join(", "));
    }
    for rule in &base.declared.rule {
        let _ = write!(out, "\n### {}\n\n{}", rule.id.get_ref(), rule_text(rule));
    }
    out.push_str("\n## Signals\n\n| signal | means | fields |\n|---|---|---|\n");
    for (declared, compiled) in base.declared.signal.iter().zip(base.signals.signals()) {
        let fields: Vec<&str> = compiled.fields.iter().map(|field| field.name.as_str()).collect();
        let _ = writeln!(out, "| `{}` | {} | {} |", declared.id.get_ref(), declared.what, fields.join(", "));
    }
    out
}

fn rule_text(rule: &RuleDecl) -> String {
    let mut out = format!("{} ({}, per {}).\n\n", rule.title, rule.category, if rule.per == crate::rules::schema::Scope::Run { "run" } else { "node" });
    out.push_str(rule.mechanism.trim());
    out.push('\n');
    out.push_str("\nVerdicts, first match wins:\n\n");
    for verdict in &rule.verdict {
        out.push_str(&verdict_text(verdict));
    }
    for (head, texts) in [("Not this", &rule.not_this), ("Not excluded", &rule.not_excluded), ("Next", &rule.next_steps)] {
        if !texts.is_empty() {
            let _ = writeln!(out, "\n{head}:\n");
            for text in texts {
                let _ = writeln!(out, "- {text}");
            }
        }
    }
    let signals: Vec<String> = rule.counts.iter().map(|(name, count)| format!("`{name}` counts `{}`", count.signal.get_ref())).collect();
    let _ = writeln!(out, "\nCounts: {}.", signals.join(", "));
    if let Some(versions) = &rule.versions {
        let _ = writeln!(out, "\nVersions: {versions}.");
    }
    for known in &rule.known {
        let fixed = known.fixed_in.as_ref().map_or_else(String::new, |version| format!(", fixed in {version}"));
        let _ = writeln!(out, "\nKnown as {}{fixed}.", known.reference);
    }
    let samples: Vec<&str> = rule.sample.iter().map(|sample| sample.name.as_str()).collect();
    let _ = writeln!(out, "\nSamples: {}.", samples.join("; "));
    out
}

fn verdict_text(verdict: &VerdictDecl) -> String {
    let otherwise = if verdict.when.is_some() { "" } else { "otherwise: " };
    format!("- {otherwise}{} ({}): {}\n", verdict.severity.word(), verdict.confidence.word(), verdict.title.get_ref())
}

fn signal_text(signal: &SignalDecl) -> String {
    let mut out = format!("{}\n\n", signal.what);
    if !signal.levels.is_empty() {
        let levels: Vec<String> = signal.levels.iter().map(|level| format!("{level:?}")).collect();
        let _ = writeln!(out, "Levels: {}", levels.join(", "));
    }
    if !signal.loggers.is_empty() {
        let _ = writeln!(out, "Loggers: {}", signal.loggers.join(", "));
    }
    if !signal.codes.is_empty() {
        let codes: Vec<String> = signal.codes.iter().map(u32::to_string).collect();
        let _ = writeln!(out, "Codes: {}", codes.join(", "));
    }
    out.push_str("\nWordings:\n\n");
    for template in &signal.templates {
        let _ = writeln!(out, "    {}", template.get_ref());
    }
    if !signal.samples.is_empty() {
        out.push_str("\nIs one:\n\n");
        for sample in &signal.samples {
            let _ = writeln!(out, "    {}", sample.line.replace('\n', "\n    "));
        }
    }
    if !signal.not.is_empty() {
        out.push_str("\nIs none:\n\n");
        for line in &signal.not {
            let _ = writeln!(out, "    {}", line.replace('\n', "\n    "));
        }
    }
    out
}
