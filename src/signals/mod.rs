//! Signals: named kinds of records with typed fields, matched by multi-literal automata.
//!
//! A signal is declared in `rules.toml`; this stage knows none by name. [`SignalSet::find`] matches one record;
//! [`tally`] holds what is counted.

mod matcher;
mod row;
mod signal;
pub mod tally;
mod template;
mod trace;

pub(crate) use matcher::FIELDS_MAX;
pub use matcher::{Hit, Hits, SignalSet, Subject};
pub use row::{CellTest, RowPattern};
pub use signal::{
    At, Class, Context, Derived, Direction, Field, FieldKind, LoggerPattern, Pattern, Signal,
    TallyKind,
};
pub use template::{Template, TemplateError};
pub use trace::Check;

/// A stretch of bytes: of a record's message, or of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span from positions in a text shorter than 4 GiB, as blocks are.
    pub fn new(start: usize, end: usize) -> Self {
        Self {
            start: u32::try_from(start).unwrap_or(u32::MAX),
            end: u32::try_from(end).unwrap_or(u32::MAX),
        }
    }

    /// The bytes of the span in the text it was made for.
    pub fn of(self, text: &[u8]) -> &[u8] {
        let (start, end) = (self.start as usize, self.end as usize);
        text.get(start..end).unwrap_or_default()
    }

    /// Whether nothing was captured.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }
}
