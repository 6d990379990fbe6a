//! Where in the rules files signals and rules stand, so that a sample that fails is found.

use std::ops::Range;

/// The pieces of a base's files, and which of them each signal and rule is declared in.
#[derive(Debug, Default)]
pub struct Places {
    pub(super) pieces: Vec<Lines>,
    pub(super) signals: Vec<usize>,
    pub(super) rules: Vec<usize>,
}

/// The name of a piece's file, how many lines stand before it there, and where its own lines end.
#[derive(Debug)]
pub(super) struct Lines {
    name: String,
    before: usize,
    ends: Vec<usize>,
}

impl Lines {
    pub(super) fn new(name: &str, before: usize, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            before,
            ends: memchr::memchr_iter(b'\n', text.as_bytes()).collect(),
        }
    }

    /// How many they are.
    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }
}

impl Places {
    /// `FILE:LINE` of a stretch of the declaration of the signal at `signal`.
    pub fn in_signal(&self, signal: usize, span: &Range<usize>) -> String {
        self.place(self.signals.get(signal), span)
    }

    /// The same of the rule at `rule`.
    pub fn in_rule(&self, rule: usize, span: &Range<usize>) -> String {
        self.place(self.rules.get(rule), span)
    }

    fn place(&self, piece: Option<&usize>, span: &Range<usize>) -> String {
        let lines = piece.and_then(|&piece| self.pieces.get(piece));
        lines.map_or_else(String::new, |lines| {
            let before = lines.before + lines.ends.partition_point(|&end| end < span.start);
            format!("{}:{}", lines.name, before + 1)
        })
    }
}
