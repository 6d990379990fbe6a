//! The records of one segment, with offsets.

use std::io::{self, Read, Write};

use crate::parsers::wal::{Body, Context, Format, Frame, Scan};
use crate::vocab::{Lsn, LsnNotation, several};

/// Payload bytes shown of a record.
const PREVIEW: usize = 32;

/// How a dump ended.
pub struct DumpEnd {
    /// What the pass over the segment found.
    pub scan: Scan,
    /// Whether whoever reads the output went away, or it could not be written.
    pub failure: Option<io::Error>,
}

/// Writes the frames of a segment, records of the log only from and up to the given positions.
pub fn dump(
    format: &Format,
    reader: &mut dyn Read,
    context: &Context,
    (from, to): (Option<Lsn>, Option<Lsn>),
    out: &mut dyn Write,
) -> DumpEnd {
    let notation = format.notation();
    let mut failure = writeln!(
        out,
        "{:>12} {:>9} {:>14} {:>6}  what",
        "offset", "bytes", "lsn", "term"
    )
    .err();
    let is_bounded = from.is_some() || to.is_some();
    let scan = format.read(reader, context, &mut |frame| {
        let is_wanted = match frame.body {
            Body::Entry { lsn, .. } => {
                from.is_none_or(|from| lsn >= from) && to.is_none_or(|to| lsn <= to)
            }
            Body::Unplaced { .. }
            | Body::Snapshot { .. }
            | Body::Commit { .. }
            | Body::Metadata
            | Body::Chain { .. } => !is_bounded,
        };
        if is_wanted && failure.is_none() {
            failure = write_frame(frame, notation, out).err();
        }
    });
    if failure.is_none() {
        failure = write_end(&scan, notation, out).err();
    }
    DumpEnd { scan, failure }
}

fn write_frame(frame: &Frame<'_>, notation: LsnNotation, out: &mut dyn Write) -> io::Result<()> {
    let (lsn, term, what) = match frame.body {
        Body::Entry {
            lsn, term, sort, ..
        } => (
            Some(lsn),
            term,
            format!(
                "{sort}, {} {}",
                several(frame.payload.len(), "byte", "bytes"),
                preview(frame.payload)
            ),
        ),
        Body::Unplaced { sort } => (
            None,
            None,
            format!(
                "{sort}, {} {}",
                several(frame.payload.len(), "byte", "bytes"),
                preview(frame.payload)
            ),
        ),
        Body::Snapshot { lsn, term } => (Some(lsn), Some(term), "snapshot up to here".to_owned()),
        Body::Commit { lsn, term } => (
            None,
            Some(term),
            format!("state, committed up to {}", notation.show(lsn)),
        ),
        Body::Metadata => (None, None, format!("metadata {}", preview(frame.payload))),
        Body::Chain { value } => (None, None, format!("checksum goes on with {value:08x}")),
    };
    let lsn = lsn
        .map(|lsn| notation.show(lsn).to_string())
        .unwrap_or_default();
    let term = term.map(|term| term.0.to_string()).unwrap_or_default();
    writeln!(
        out,
        "{:>12} {:>9} {lsn:>14} {term:>6}  {what}",
        frame.offset, frame.size
    )
}

fn write_end(scan: &Scan, notation: LsnNotation, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{:>12} end of {}, {}",
        scan.end_offset,
        several(scan.frames, "record", "records"),
        scan.tail.word()
    )?;
    for fault in &scan.faults {
        writeln!(
            out,
            "{:>12} {}",
            fault.offset,
            crate::report::escape::terminal(&fault.detail)
        )?;
    }
    if let Some(behind) = scan.behind {
        let range = behind.range.map_or_else(String::new, |(first, last)| {
            format!(", {} to {}", notation.show(first), notation.show(last))
        });
        writeln!(
            out,
            "{:>12} {} intact records behind that{range}",
            behind.offset, behind.records
        )?;
    }
    Ok(())
}

/// The beginning of a payload as text; bytes that are none are spelled out.
fn preview(payload: &[u8]) -> String {
    let shown = &payload[..payload.len().min(PREVIEW)];
    let more = if payload.len() > PREVIEW { "..." } else { "" };
    format!("\"{}{more}\"", shown.escape_ascii())
}
