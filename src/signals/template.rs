//! Message templates: literal text with typed holes.
//!
//! ```text
//! Source {source:host} did not prove it still holds the manifest it offered for part {part:part} by relink
//! ```
//!
//! A hole reaches to the literal after it, or, at the end, as far as its kind allows. `{:kind}` is a hole without a
//! name, `{{` a brace. Text after the template's end is free.

use super::{FieldKind, Span};
use crate::parsers::Format;
use crate::search::{Literal, begins_with};

/// A compiled template.
#[derive(Debug, Clone)]
pub struct Template {
    pieces: Vec<Piece>,
    source: String,
    /// The formats whose words it is in; none where those of all its signal's formats are.
    formats: Vec<Format>,
}

#[derive(Debug, Clone)]
enum Piece {
    Literal(Box<Literal>),
    Hole {
        field: Option<usize>,
        kind: FieldKind,
    },
}

/// Why a template cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// `{` without `}`.
    #[error("the hole that begins with {0:?} is not closed by `}}`")]
    Open(String),
    /// A hole of an unknown kind.
    #[error("unknown hole kind {0:?}; expected one of {kinds}", kinds = FieldKind::names())]
    Kind(String),
    /// Two holes without text between them.
    #[error("two holes stand side by side before {0:?}: nothing says where the first one ends")]
    Adjacent(String),
    /// Nothing to search for.
    #[error("the template has no literal text of at least {min} bytes to search for", min = Template::KEY_BYTES_MIN)]
    NoLiteral,
}

impl Piece {
    /// A literal, prepared for searching.
    fn literal(text: &[u8]) -> Self {
        Self::Literal(Box::new(Literal::new(text)))
    }
}

impl Template {
    /// The shortest literal that is worth searching for.
    pub const KEY_BYTES_MIN: usize = 4;

    /// Compiles `source`. `field` gives each named hole its place among the signal's fields.
    pub fn compile(
        source: &str,
        mut field: impl FnMut(&str, FieldKind) -> usize,
    ) -> Result<Self, TemplateError> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut literal = Vec::new();
        let mut rest = source;
        while let Some(at) = rest.find(['{', '}']) {
            literal.extend_from_slice(&rest.as_bytes()[..at]);
            let tail = &rest[at..];
            if tail.starts_with("{{") || tail.starts_with('}') {
                literal.push(tail.as_bytes()[0]);
                rest = tail
                    .strip_prefix("{{")
                    .or_else(|| tail.strip_prefix("}}"))
                    .unwrap_or(&tail[1..]);
                continue;
            }
            let end = tail
                .find('}')
                .ok_or_else(|| TemplateError::Open(tail.chars().take(20).collect()))?;
            let (name, kind) = tail[1..end]
                .split_once(':')
                .unwrap_or((&tail[1..end], "text"));
            let kind =
                FieldKind::from_name(kind).ok_or_else(|| TemplateError::Kind(kind.to_owned()))?;
            if !literal.is_empty() {
                pieces.push(Piece::literal(&std::mem::take(&mut literal)));
            } else if matches!(pieces.last(), Some(Piece::Hole { .. })) {
                return Err(TemplateError::Adjacent(tail.to_owned()));
            }
            pieces.push(Piece::Hole {
                field: (!name.is_empty()).then(|| field(name, kind)),
                kind,
            });
            rest = &tail[end + 1..];
        }
        literal.extend_from_slice(rest.as_bytes());
        if !literal.is_empty() {
            pieces.push(Piece::literal(&literal));
        }
        let template = Self {
            pieces,
            source: source.to_owned(),
            formats: Vec::new(),
        };
        let long_enough = template
            .key()
            .is_some_and(|key| key.len() >= Self::KEY_BYTES_MIN);
        if long_enough {
            Ok(template)
        } else {
            Err(TemplateError::NoLiteral)
        }
    }

    /// The same, for the records of these formats alone; of all where none is given.
    #[must_use]
    pub fn only_in(self, formats: &[Format]) -> Self {
        Self {
            formats: formats.to_vec(),
            ..self
        }
    }

    /// Whether records of a format may be in its words.
    pub fn is_of(&self, format: Format) -> bool {
        self.formats.is_empty() || self.formats.contains(&format)
    }

    /// The template as written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The longest literal: what the automaton looks for.
    pub fn key(&self) -> Option<&[u8]> {
        let literals = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Literal(literal) => Some(literal.text()),
            Piece::Hole { .. } => None,
        });
        literals.max_by_key(|text| text.len())
    }

    /// Whether it is a text without holes.
    pub fn is_text(&self) -> bool {
        matches!(self.pieces.as_slice(), [Piece::Literal(_)])
    }

    /// How many of its pieces can be found one after another from `start` on, and the first that cannot: a literal, or
    /// a hole's kind.
    pub fn first_missing(&self, text: &[u8], start: usize) -> (usize, String) {
        let mut at = start;
        for (matched, piece) in self.pieces.iter().enumerate() {
            let Piece::Literal(literal) = piece else {
                continue;
            };
            match text.get(at..).and_then(|tail| literal.find(tail)) {
                Some(found) => at += found + literal.text().len(),
                None => {
                    return (
                        matched,
                        String::from_utf8_lossy(literal.text()).into_owned(),
                    );
                }
            }
        }
        (
            self.pieces.len(),
            "a hole's value of the right kind".to_owned(),
        )
    }

    /// Matches from `start` on, filling `fields` with spans of `text`; the spans are undefined after a mismatch.
    pub fn match_at(&self, text: &[u8], start: usize, fields: &mut [Span]) -> bool {
        match_pieces(&self.pieces, text, start, fields, &mut { TRIES_MAX })
    }

    /// Matches wherever the first literal stands; for a template that begins with a hole, from `start` on.
    pub fn match_anywhere(&self, text: &[u8], start: usize, fields: &mut [Span]) -> bool {
        let Some(Piece::Literal(first)) = self.pieces.first() else {
            return self.match_at(text, start, fields);
        };
        let mut from = start;
        while let Some(found) = text.get(from..).and_then(|tail| first.find(tail)) {
            if self.match_at(text, from + found, fields) {
                return true;
            }
            from += found + 1;
        }
        false
    }
}

/// How many ends are tried for one hole, and how many holes' ends for a whole template: a hostile line must not cost more.
const TRIES_PER_HOLE: usize = 64;
const TRIES_MAX: u32 = 256;

/// Matches `pieces` from `at` on. A hole ends at the first place of the literal after it from which the rest fits.
fn match_pieces(
    pieces: &[Piece],
    text: &[u8],
    at: usize,
    fields: &mut [Span],
    tries: &mut u32,
) -> bool {
    let Some(tail) = text.get(at..) else {
        return false;
    };
    match pieces {
        [] => true,
        [Piece::Literal(literal), rest @ ..] => {
            begins_with(tail, literal.text())
                && match_pieces(rest, text, at + literal.text().len(), fields, tries)
        }
        [Piece::Hole { field, kind }, rest @ ..] => {
            // A literal behind the hole is compared where the hole's end is sought, and not again.
            let (next, rest) = match rest {
                [Piece::Literal(next), rest @ ..] => (Some(next), rest),
                [Piece::Hole { .. }, ..] | [] => (None, rest),
            };
            let skipped = next.map_or(0, |next| next.text().len());
            let mut fits = |length: usize, is_value: bool| {
                *tries = tries.saturating_sub(1);
                let goes_on = *tries > 0 && is_value;
                let behind = at + length + skipped;
                let fits = goes_on && match_pieces(rest, text, behind, fields, tries);
                if let (true, Some(field)) = (fits, field) {
                    fields[*field] = Span::new(at, at + length);
                }
                fits
            };
            match next {
                // A literal that no value can begin to hold stands right behind the value, or nowhere.
                Some(next) if !kind.may_hold(next.text()) => {
                    let length = kind.admitted(tail);
                    let (value, after) = tail.split_at(length);
                    begins_with(after, next.text()) && fits(length, kind.has_shape(value))
                }
                Some(next) => {
                    let mut lengths = next.places(tail).take(TRIES_PER_HOLE);
                    lengths.any(|length| fits(length, kind.accepts(&tail[..length])))
                }
                None => {
                    let length = kind.extent(tail);
                    fits(length, kind.has_shape(&tail[..length]))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captures(template: &str, text: &str) -> Option<Vec<String>> {
        let mut names = Vec::new();
        let compiled = Template::compile(template, |name, _| {
            names.push(name.to_owned());
            names.len() - 1
        });
        let mut spans = vec![Span::default(); names.len()];
        let fits = compiled
            .unwrap()
            .match_anywhere(text.as_bytes(), 0, &mut spans);
        fits.then(|| {
            spans
                .iter()
                .map(|s| String::from_utf8_lossy(s.of(text.as_bytes())).into_owned())
                .collect()
        })
    }

    #[test]
    fn holes_are_cut_between_literals_and_by_kind_at_the_end() {
        assert_eq!(
            captures(
                "part {part:part} by {how:word}",
                "the part a_1_1_0 by relink, and"
            ),
            Some(vec!["a_1_1_0".into(), "relink,".into()])
        );
        assert_eq!(
            captures("errno: {n:int}", "errno: 28, strerror"),
            Some(vec!["28".into()])
        );
        assert_eq!(
            captures("said {what}", "he said a, b"),
            Some(vec!["a, b".into()])
        );
    }

    #[test]
    fn a_hole_of_the_wrong_kind_is_a_mismatch_and_the_next_place_is_tried() {
        assert_eq!(
            captures("code {n:int} end", "code x end, code 7 end"),
            Some(vec!["7".into()])
        );
        assert_eq!(captures("code {n:int} end", "code x end"), None);
    }

    #[test]
    fn what_cannot_be_searched_for_is_refused() {
        let compile = |source: &str| Template::compile(source, |_, _| 0).map(|_| ()).unwrap_err();
        assert_eq!(
            compile("{a}{b} text"),
            TemplateError::Adjacent("{b} text".into())
        );
        assert_eq!(compile("{a} x"), TemplateError::NoLiteral);
        assert_eq!(compile("text {a"), TemplateError::Open("{a".into()));
        assert_eq!(compile("text {a:size}"), TemplateError::Kind("size".into()));
    }
}
