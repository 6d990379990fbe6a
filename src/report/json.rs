//! `report.json`: the machine contract as text, and its JSON Schema.
//!
//! Values are exact. What a terminal or a runner might obey is written with JSON's own escapes, so the file may be
//! printed as it is.

use std::io::{self, BufWriter, Read, Write};

use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter, PrettyFormatter, Serializer};

use crate::report::Style;
use crate::report::escape;
use crate::report::model::{Report, SCHEMA, Timeline};

/// Writes the report as indented JSON with a final newline.
pub fn write(report: &Report, _style: &Style, out: &mut dyn Write) -> io::Result<()> {
    write_inert(report, out)
}

/// Writes any value as this file writes a report.
pub fn write_inert(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    // Every blank of an indentation is a write of its own.
    let mut out = BufWriter::new(out);
    value.serialize(&mut Serializer::with_formatter(
        &mut out,
        Inert(PrettyFormatter::new()),
    ))?;
    out.write_all(b"\n")?;
    out.flush()
}

/// A text as a string of JSON, in one line.
pub(super) fn quoted(text: &str) -> io::Result<String> {
    let mut bytes = Vec::new();
    let formatter = Inert(PrettyFormatter::new());
    text.serialize(&mut Serializer::with_formatter(&mut bytes, formatter))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// Why a text is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is no JSON, or lacks what a report has.
    #[error("not a report of casdiag: {0}")]
    Shape(#[from] serde_json::Error),
    /// It has a number that no report has.
    #[error("not a report of casdiag: {field} is {value}, which no clock can show")]
    Range {
        /// Where it stands.
        field: String,
        /// The number.
        value: String,
    },
    /// It is a report of another kind.
    #[error("a report of the schema {0:?}, and not of {SCHEMA:?}")]
    Schema(String),
}

/// Reads a report back.
pub fn read(source: impl Read) -> Result<Report, ReadError> {
    let report: Report = serde_json::from_reader(source)?;
    if report.schema != SCHEMA {
        return Err(ReadError::Schema(report.schema));
    }
    check(&report.timeline)?;
    Ok(report)
}

/// Seconds in all years of four digits: no two stamps are further apart, and time is reckoned without overflow.
const SECONDS_MAX: u64 = 10_000 * 366 * 86_400;

fn check(timeline: &Timeline) -> Result<(), ReadError> {
    let refused = |field: String, value: String| Err(ReadError::Range { field, value });
    if timeline.step_seconds > SECONDS_MAX {
        let value = timeline.step_seconds.to_string();
        return refused("timeline.step_seconds".to_owned(), value);
    }
    let beyond = |points: &[(i64, u64)]| {
        let mut seconds = points.iter().map(|(at, _)| *at);
        seconds.find(|at| at.unsigned_abs() > SECONDS_MAX)
    };
    for (at, series) in timeline.series.iter().enumerate() {
        if let Some(value) = beyond(&series.points) {
            return refused(format!("timeline.series[{at}].points"), value.to_string());
        }
    }
    for (at, strip) in timeline.strips.iter().enumerate() {
        for (nth, row) in strip.rows.iter().enumerate() {
            if let Some(value) = beyond(&row.points) {
                let field = format!("timeline.strips[{at}].rows[{nth}].points");
                return refused(field, value.to_string());
            }
        }
    }
    Ok(())
}

/// The JSON Schema of a report, indented, with a final newline: the text of `docs/report.schema.json`.
pub fn schema() -> String {
    format!("{:#}\n", schemars::schema_for!(Report).as_value())
}

/// Indents, and escapes invisible characters and `##[` inside strings.
struct Inert(PrettyFormatter<'static>);

impl Formatter for Inert {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        // Nearly every text is printable ASCII without a runner's command.
        let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'#';
        if fragment.bytes().all(is_plain) {
            return out.write_all(fragment.as_bytes());
        }
        let mut written = 0;
        for (at, c) in fragment.char_indices() {
            let rest = fragment.get(at..).unwrap_or_default();
            if !escape::is_hidden(c) && !rest.starts_with("##[") {
                continue;
            }
            out.write_all(fragment.get(written..at).unwrap_or_default().as_bytes())?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            written = at + c.len_utf8();
        }
        out.write_all(fragment.get(written..).unwrap_or_default().as_bytes())
    }

    fn write_char_escape<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        self.0.write_char_escape(out, escape)
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(out, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped_and_keep_their_value() {
        let value = [
            "\u{202e}a\u{9b}",
            "::error ##[group]",
            "\x1b\"\\\n",
            "\u{e0041}é",
        ];
        let mut bytes = Vec::new();
        value
            .serialize(&mut Serializer::with_formatter(
                &mut bytes,
                Inert(PrettyFormatter::new()),
            ))
            .unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let expected = [
            "[",
            r#"  "\u202ea\u009b","#,
            r#"  "::error \u0023#[group]","#,
            r#"  "\u001b\"\\\n","#,
            r#"  "\udb40\udc41é""#,
            "]",
        ];
        assert_eq!(text, expected.join("\n"));
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), value);
    }
}
