//! What signals and rules cost: for those who write them, and part of no report.

use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, presets};

use super::escape;
use crate::profile::{Cost, Profile};
use crate::rules::RuleBase;

/// Prints what was measured, the most costly first. Times are of all threads together, the measuring included.
pub fn write(profile: &Profile, base: &RuleBase, out: &mut dyn Write) -> io::Result<()> {
    let search = &profile.search;
    writeln!(
        out,
        "search for texts: {} records, {} bytes, {:.3} ms; {} hold one",
        search.tried(),
        search.bytes(),
        milliseconds(search),
        search.found()
    )?;
    let signals = base.signals.signals();
    let named = signals.iter().map(|signal| signal.id.as_str());
    table(
        ["signal", "text found", "matches", "bytes", "ms"],
        named.zip(&profile.signals),
        true,
        out,
    )?;
    let named = base.rules.iter().map(|rule| {
        let declared = &base.declared.rule[rule.declared];
        declared.id.get_ref().as_str()
    });
    table(
        ["rule", "runs", "fires", "", "ms"],
        named.zip(&profile.rules),
        false,
        out,
    )
}

fn table<'a>(
    header: [&str; 5],
    rows: impl Iterator<Item = (&'a str, &'a Cost)>,
    with_bytes: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut rows: Vec<(&str, &Cost)> = rows.filter(|(_, cost)| cost.tried() > 0).collect();
    rows.sort_by(|a, b| b.1.time().cmp(&a.1.time()).then(a.0.cmp(b.0)));
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    for (name, cost) in rows {
        let bytes = if with_bytes {
            cost.bytes().to_string()
        } else {
            String::new()
        };
        table.add_row([
            escape::terminal(name),
            cost.tried().to_string(),
            cost.found().to_string(),
            bytes,
            format!("{:.3}", milliseconds(cost)),
        ]);
    }
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if at == 0 { 0 } else { 2 }, 0));
        if at > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn milliseconds(cost: &Cost) -> f64 {
    cost.time().as_secs_f64() * 1e3
}
