//! A replay in words.

use std::io::{self, Write};

use super::{Candidate, Compared, Replayed, Verdict};
use crate::report::escape::terminal;
use crate::report::model::replays::{cure, helped};

/// Writes replays for people.
pub fn write(replayed: &[Replayed], out: &mut dyn Write) -> io::Result<()> {
    for one in replayed {
        let verdict = match one.verdict {
            Verdict::Reproduced => "REPRODUCED",
            Verdict::Partly => "PARTLY REPRODUCED",
            Verdict::Not => "NOT REPRODUCED",
            Verdict::NotRun => "NOT RUN AGAIN",
        };
        let (finding, summary) = (terminal(&one.finding), terminal(&one.summary));
        writeln!(out, "{finding}, {verdict}: {summary}")?;
        if one.verdict == Verdict::NotRun {
            writeln!(out)?;
            continue;
        }
        numbers(&one.compared, out)?;
        for (what, facts) in [
            ("read", &one.read),
            ("assumed", &one.assumed),
            ("not balanced, and not fitted", &one.unbalanced),
            ("as in no run of the model", &one.at_odds),
        ] {
            if !facts.is_empty() {
                writeln!(out, "\n{what}:")?;
            }
            for it in facts {
                writeln!(
                    out,
                    "  {}: {} ({})",
                    it.what,
                    terminal(&it.value),
                    terminal(&it.from)
                )?;
            }
        }
        if !one.fitted.is_empty() {
            writeln!(out, "\nfitted, with the range that fits as well:")?;
        }
        for it in &one.fitted {
            writeln!(out, "  {}: {} ({})", it.what, it.value, it.range())?;
        }
        candidates(&one.candidates, out)?;
        let helped = helped(one.untold.as_deref());
        writeln!(out, "\n{helped}:")?;
        for it in &one.fixes {
            writeln!(out, "  {:<32}{:<16}{}", it.fix, cure(it.cures), it.outcome)?;
        }
        if !one.trace.is_empty() {
            writeln!(out, "\nthe shortest way to it:")?;
        }
        for (place, step) in one.trace.iter().enumerate() {
            writeln!(out, "  {:>2}. {step}", place + 1)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn numbers(compared: &[Compared], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nobserved and predicted:")?;
    for it in compared {
        let observed = it
            .observed
            .map_or_else(|| "not here".to_owned(), |n| n.to_string());
        let predicted = it.predicted.map_or_else(String::new, |n| n.to_string());
        let mut error = match it.error {
            Some(e) => format!("  {:+.1} %", sign(it.observed, it.predicted) * e * 100.0),
            None => String::new(),
        };
        if let Some(words) = it.counts.words() {
            error.push_str("  ");
            error.push_str(words);
        }
        writeln!(
            out,
            "  {:<38}{:<16}{observed:>10}{predicted:>10}{error}",
            it.what,
            terminal(&it.node),
        )?;
    }
    Ok(())
}

fn candidates(candidates: &[Candidate], out: &mut dyn Write) -> io::Result<()> {
    if !candidates.is_empty() {
        writeln!(out, "\nsuspected of the connections that broke beside it:")?;
    }
    for it in candidates {
        let (candidate, verdict) = (&it.candidate, it.verdict.word());
        writeln!(out, "  {candidate}: {verdict}: {}", terminal(&it.reason))?;
        for it in &it.read {
            let (what, value) = (terminal(&it.what), terminal(&it.value));
            writeln!(out, "    {what}: {value} ({})", terminal(&it.from))?;
        }
    }
    Ok(())
}

fn sign(observed: Option<u64>, predicted: Option<u64>) -> f64 {
    if observed > predicted { -1.0 } else { 1.0 }
}
