//! A rules file as text, and faults located in it.

use std::ops::Range;

use toml::Spanned;

use crate::time::SECOND;

/// A fault of a rules file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {message}\n{excerpt}{hint}")]
pub struct LoadError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// The line itself, with a caret below.
    pub excerpt: String,
    /// What to do.
    pub hint: String,
}

/// The hint where nothing better is known.
const REFERENCE: &str = "every key and form is in docs/rules-format.md";

/// A piece of a rules file as text, most often all of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin<'t> {
    pub(super) name: &'t str,
    pub(super) text: &'t str,
    /// How many lines of the file stand before it.
    pub(super) lines_before: usize,
    /// Whether it is of the file that is shipped.
    pub(super) is_built_in: bool,
    /// Which of all pieces it is, in the order given.
    pub(super) number: usize,
}

impl Origin<'_> {
    /// The file's line, from 1, in which a stretch of the text begins.
    pub(super) fn line_of(&self, span: &Range<usize>) -> usize {
        let start = span.start.min(self.text.len());
        self.lines_before + self.text[..start].matches('\n').count() + 1
    }

    pub(super) fn fault(
        &self,
        span: Range<usize>,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> LoadError {
        let start = span.start.min(self.text.len());
        let before = &self.text[..start];
        let line_at = before.rfind('\n').map_or(0, |at| at + 1);
        let line_text = self.text[line_at..].lines().next().unwrap_or_default();
        let line = self.line_of(&span);
        let column = before[line_at..].chars().count() + 1;
        let (shown, caret) = shown(line_text, start - line_at, span.len());
        let gutter = line.to_string();
        let blank = " ".repeat(gutter.len());
        let excerpt = format!("{gutter} | {shown}\n{blank} | {caret}\n");
        let hint = hint.into();
        let hint = if hint.is_empty() {
            REFERENCE.to_owned()
        } else {
            hint
        };
        let hint = format!("hint: {hint}");
        LoadError {
            file: self.name.to_owned(),
            line,
            column,
            message: message.into(),
            excerpt,
            hint,
        }
    }
}

/// How many characters of a line are shown before a fault, and from it on.
const SHOWN: (usize, usize) = (60, 60);

/// What is shown of a line with a fault of so many bytes at a byte, and the carets below.
fn shown(line: &str, at: usize, length: usize) -> (String, String) {
    let at = line.floor_char_boundary(at);
    let end = line.ceil_char_boundary(at.saturating_add(length).min(line.len()));
    let (before, behind) = line.split_at(at);
    let skipped = before.chars().count().saturating_sub(SHOWN.0);
    let mark = if skipped > 0 { "…" } else { "" };
    let before = format!("{mark}{}", before.chars().skip(skipped).collect::<String>());
    let mark = if behind.chars().count() > SHOWN.1 {
        "…"
    } else {
        ""
    };
    let behind: String = behind.chars().take(SHOWN.1).collect();
    let carets = line[at..end].chars().count().clamp(1, SHOWN.1);
    let blank = " ".repeat(before.chars().count());
    (
        format!("{before}{behind}{mark}"),
        format!("{blank}{}", "^".repeat(carets)),
    )
}

pub(super) fn check_id(origin: Origin<'_>, id: &Spanned<String>) -> Result<(), LoadError> {
    let text = id.get_ref();
    let kebab = !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    if kebab {
        return Ok(());
    }
    Err(origin.fault(
        id.span(),
        format!("the id {text:?} is not in kebab case"),
        "use lower-case letters, digits and hyphens",
    ))
}

/// Reads `10s`, `500ms`, `2m`, `1h` as microseconds.
pub(super) fn duration(origin: Origin<'_>, text: &Spanned<String>) -> Result<i64, LoadError> {
    let value = text.get_ref();
    let digits = value.bytes().take_while(u8::is_ascii_digit).count();
    let number: Option<i64> = value[..digits].parse().ok();
    let unit = match &value[digits..] {
        "ms" => Some(SECOND / 1000),
        "s" => Some(SECOND),
        "m" => Some(60 * SECOND),
        "h" => Some(3600 * SECOND),
        _ => None,
    };
    number
        .zip(unit)
        .and_then(|(n, unit)| n.checked_mul(unit))
        .ok_or_else(|| {
            origin.fault(
                text.span(),
                format!("{value:?} is not a duration"),
                "write a number and a unit: 500ms, 10s, 5m or 1h",
            )
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_shown_around_its_fault() {
        let line = format!("{}here{}", "ä".repeat(5_000), "z".repeat(5_000));
        let (text, caret) = shown(&line, 10_000, 4);
        assert_eq!(text, format!("…{}here{}…", "ä".repeat(60), "z".repeat(56)));
        assert_eq!(caret, format!("{}^^^^", " ".repeat(61)));
        assert_eq!(shown("a = é", 4, 2), ("a = é".into(), "    ^".into()));
        assert_eq!(shown("a", 1, 9), ("a".into(), " ^".into()));
    }
}
