//! The answer for a terminal: per WAL its segments, what is wrong and what follows from it, a picture of its positions; then the nodes
//! side by side, and one line that sums up.

use std::collections::BTreeMap;
use std::io::{self, Write};

use comfy_table::{CellAlignment, Table, presets};

use crate::layout::{
    Comparison, Forecast, Inspection, NoteKind, Reach, Segment, Severity, Verdict, Wal,
};
use crate::vocab::{LsnNotation, LsnRange};

use super::picture::{self, Strip};
use super::{count, place};
use crate::report::escape::terminal;

/// Rows of a table of segments; longer ones keep their ends and whatever is not sound.
const ROWS_MAX: usize = 40;
/// Rows kept at either end of a table that is too long.
const ROWS_AT_ENDS: usize = 6;
/// Problems printed per WAL, and notes; JSON has all.
const LINES_MAX: usize = 200;
/// Folders without a WAL that are named.
const UNKNOWN_MAX: usize = 10;

pub(super) fn write(
    inspection: &Inspection,
    is_strict: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let compared: Vec<usize> = inspection
        .comparisons
        .iter()
        .flat_map(|it| it.wals.iter().copied())
        .collect();
    for (n, wal) in inspection.wals.iter().enumerate() {
        // Nodes side by side are drawn over one axis below.
        let is_drawn = !wal.problems.is_empty() || !compared.contains(&n);
        write_wal(wal, is_drawn, out)?;
    }
    for comparison in &inspection.comparisons {
        write_comparison(comparison, &inspection.wals, out)?;
    }
    for unread in &inspection.unread {
        writeln!(
            out,
            "not read: {}: {}",
            terminal(&unread.path),
            terminal(&unread.detail)
        )?;
    }
    if inspection.wals.is_empty() {
        writeln!(out, "no WAL of a known layout found")?;
    }
    for unknown in inspection
        .unknown
        .iter()
        .filter(|unknown| inspection.wals.is_empty() || unknown.resembles.is_some())
        .take(UNKNOWN_MAX)
    {
        let resembles = unknown.resembles.unwrap_or("unknown layout");
        let files = count(usize::try_from(unknown.files).unwrap_or(usize::MAX), "file");
        writeln!(
            out,
            "unknown: {}: {files}, as {}: {resembles}",
            if unknown.path.is_empty() {
                ".".to_owned()
            } else {
                terminal(&unknown.path)
            },
            terminal(&unknown.example)
        )?;
    }
    if !inspection.wals.is_empty() {
        writeln!(out, "{}", summary(inspection, is_strict))?;
    }
    Ok(())
}

/// `25 segments, 0 problems`, and what keeps the answer from being that plain.
fn summary(inspection: &Inspection, is_strict: bool) -> String {
    let segments = inspection.wals.iter().map(|wal| wal.segments.len()).sum();
    let problems = || inspection.wals.iter().flat_map(|wal| &wal.problems);
    let residue = problems()
        .filter(|problem| problem.severity == Severity::CrashResidue)
        .count();
    let mut parts = vec![format!(
        "{}, {}",
        count(segments, "segment"),
        count(problems().count(), "problem")
    )];
    if residue > 0 {
        let verdict = if is_strict {
            "counted as damage"
        } else {
            "repaired at the next start"
        };
        parts.push(format!("{residue} of them crash residue, {verdict}"));
    }
    if !inspection.is_complete() {
        parts.push("not everything could be read, so this is not the whole answer".to_owned());
    }
    parts.join("; ")
}

fn write_wal(wal: &Wal, is_drawn: bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{}: {}, {}",
        terminal(&wal.path),
        terminal(&wal.layout),
        verdict(wal)
    )?;
    if let Some(identity) = &wal.identity {
        writeln!(out, "  {identity}")?;
    }
    writeln!(out)?;
    writeln!(out, "{}", table(wal))?;
    writeln!(out)?;
    for problem in wal.problems.iter().take(LINES_MAX) {
        let severity = if problem.severity == Severity::CrashResidue {
            " (crash residue)"
        } else {
            ""
        };
        writeln!(
            out,
            "  {}{severity}: {}",
            problem.kind.word(),
            place(wal, problem)
        )?;
        writeln!(out, "      {}", terminal(&problem.detail))?;
        writeln!(out, "      {}", terminal(&problem.consequence))?;
    }
    more(wal.problems.len(), "problem", out)?;
    for note in wal.notes.iter().take(LINES_MAX) {
        let segment = note
            .segment
            .as_ref()
            .map(|segment| format!(" {}", terminal(segment)))
            .unwrap_or_default();
        let lsn = note
            .lsn
            .map(|lsn| format!(", LSN {}", wal.notation.show(lsn)))
            .unwrap_or_default();
        writeln!(
            out,
            "  note: {}{segment}{lsn}: {}",
            note.kind.word(),
            terminal(&note.why)
        )?;
    }
    more(wal.notes.len(), "note", out)?;
    for unread in &wal.unread {
        writeln!(
            out,
            "  not read: {}: {}",
            terminal(&unread.path),
            terminal(&unread.detail)
        )?;
    }
    if !(wal.problems.is_empty() && wal.notes.is_empty() && wal.unread.is_empty()) {
        writeln!(out)?;
    }
    if is_drawn {
        draw(&[wal.into()], out)
    } else {
        Ok(())
    }
}

fn draw(strips: &[Strip], out: &mut dyn Write) -> io::Result<()> {
    let lines = picture::lines(strips);
    for line in &lines {
        writeln!(out, "  {line}")?;
    }
    if lines.is_empty() {
        Ok(())
    } else {
        writeln!(out)
    }
}

fn more(count: usize, word: &str, out: &mut dyn Write) -> io::Result<()> {
    match count.checked_sub(LINES_MAX).filter(|&more| more > 0) {
        Some(more) => writeln!(
            out,
            "  and {} more; --format json lists all",
            self::count(more, word)
        ),
        None => Ok(()),
    }
}

fn verdict(wal: &Wal) -> String {
    let end = wal
        .end()
        .map(|end| format!(", ends at {}", wal.notation.show(wal.notation.end(end))))
        .unwrap_or_default();
    let word = match wal.verdict() {
        Verdict::Clean if wal.unread.is_empty() => "clean",
        Verdict::Clean => "nothing wrong in what could be read",
        Verdict::CrashResidue => "crash residue",
        Verdict::Damaged => "damaged",
    };
    format!("{word}{end}")
}

fn table(wal: &Wal) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "segment", "first", "last", "records", "entries", "end", "state",
    ]);
    let states = states(wal);
    let count = wal.segments.len();
    let mut hidden = 0_usize;
    for (n, segment) in wal.segments.iter().enumerate() {
        let is_end = n < ROWS_AT_ENDS || n + ROWS_AT_ENDS >= count;
        let is_told = states.contains_key(&n) && table.row_count() < LINES_MAX;
        let is_shown = count <= ROWS_MAX || is_end || is_told;
        let state = states.get(&n).map_or("sound", String::as_str);
        if !is_shown {
            hidden += 1;
            continue;
        }
        fold(&mut table, &mut hidden);
        table.add_row(row(segment, state, wal.notation));
    }
    fold(&mut table, &mut hidden);
    for n in 1..6 {
        if let Some(column) = table.column_mut(n) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn fold(table: &mut Table, hidden: &mut usize) {
    if *hidden > 0 {
        table.add_row([format!("... {hidden} more")]);
        *hidden = 0;
    }
}

fn row(segment: &Segment, state: &str, notation: LsnNotation) -> [String; 7] {
    let show = |lsn: Option<_>| lsn.map_or("-".to_owned(), |lsn| notation.show(lsn).to_string());
    let number = |number: u64| number.to_string();
    [
        terminal(&segment.file),
        show(segment.first_lsn),
        show(segment.last_lsn),
        number(segment.records),
        number(segment.entries),
        number(segment.end_offset),
        state.to_owned(),
    ]
}

/// What is to say about each segment that is not just sound, by its place.
fn states(wal: &Wal) -> BTreeMap<usize, String> {
    const WORDS_MAX: usize = 3;
    let mut words: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for problem in &wal.problems {
        let range = problem.lsn.zip(problem.lsn_to);
        let range = range.and_then(|(first, last)| LsnRange::new(first, last));
        let word = match range {
            Some(range) => format!("{} {}", problem.kind.word(), wal.notation.show_range(range)),
            None => problem.kind.word().to_owned(),
        };
        words.entry(problem.segment).or_default().push(word);
    }
    let notes = || {
        wal.notes
            .iter()
            .filter(|note| note.kind != NoteKind::IgnoredFile)
    };
    if notes().next().is_some() {
        let segments = wal.segments.iter().enumerate();
        let by_name: BTreeMap<&str, usize> = segments
            .map(|(n, segment)| (segment.file.as_str(), n))
            .collect();
        for note in notes() {
            if let Some(&n) = note.segment.as_deref().and_then(|file| by_name.get(file)) {
                words
                    .entry(n)
                    .or_default()
                    .push(note.kind.word().to_owned());
            }
        }
    }
    let joined = words
        .into_iter()
        .map(|(n, words)| match words.get(..WORDS_MAX) {
            Some(first) if words.len() > WORDS_MAX => (n, format!("{}, ...", first.join(", "))),
            _ => (n, words.join(", ")),
        });
    joined.collect()
}

fn write_comparison(comparison: &Comparison, wals: &[Wal], out: &mut dyn Write) -> io::Result<()> {
    let identity = comparison
        .identity
        .as_ref()
        .map(|identity| format!(" ({})", terminal(identity)))
        .unwrap_or_default();
    writeln!(
        out,
        "{} nodes of {}{identity} side by side",
        comparison.nodes.len(),
        terminal(&comparison.layout)
    )?;
    writeln!(out)?;
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "node",
        "found by name",
        "recovery ends at",
        "highest",
        "brings a standby to the end from",
    ]);
    for node in &comparison.nodes {
        table.add_row(reach_row(node, comparison.notation));
    }
    writeln!(out, "{table}")?;
    writeln!(out)?;
    let strips = comparison.wals.iter().filter_map(|&n| wals.get(n));
    draw(&strips.map(Strip::from).collect::<Vec<_>>(), out)?;
    for forecast in comparison.forecasts.iter().take(LINES_MAX) {
        writeln!(out, "  {}", forecast_line(forecast, comparison.notation))?;
    }
    more(comparison.forecasts.len(), "failover", out)?;
    for (range, left, right) in comparison.differing.iter().take(LINES_MAX) {
        let range = comparison.notation.show_range(*range);
        writeln!(
            out,
            "  note: {range} have other terms on {} than on {}: one of them was never committed",
            terminal(left),
            terminal(right)
        )?;
    }
    if !(comparison.forecasts.is_empty() && comparison.differing.is_empty()) {
        writeln!(out)?;
    }
    Ok(())
}

fn reach_row(node: &Reach, notation: LsnNotation) -> [String; 5] {
    const RANGES_MAX: usize = 4;
    let show = |lsn: Option<_>| lsn.map_or("-".to_owned(), |lsn| notation.show(lsn).to_string());
    let mut found: Vec<String> = node
        .found
        .iter()
        .take(RANGES_MAX)
        .map(|range| notation.show_range(*range))
        .collect();
    if node.found.len() > RANGES_MAX {
        found.push(format!("{} more", node.found.len() - RANGES_MAX));
    }
    let serves = node.serves_from.map_or("nowhere".to_owned(), |lsn| {
        notation.show(notation.end(lsn.before())).to_string()
    });
    [
        terminal(&node.node),
        found.join(", "),
        show(node.end.map(|end| notation.end(end))),
        show(node.tip),
        serves,
    ]
}

fn forecast_line(forecast: &Forecast, notation: LsnNotation) -> String {
    let lacks = notation.show_range(forecast.lacks);
    let held = match &forecast.held_by {
        Some(file) => format!(
            "which only {} holds, where nobody looks for them",
            terminal(file)
        ),
        None => "which it has nowhere".to_owned(),
    };
    let (primary, standby) = (terminal(&forecast.primary), terminal(&forecast.standby));
    format!(
        "if {primary} becomes primary, {standby} (at {}) stalls: it needs {lacks}, {held}",
        notation.show(notation.end(forecast.at))
    )
}
