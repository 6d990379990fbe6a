//! Where in the rules files signals and rules stand, so that a sample that fails is found.

use std::ops::Range;

/// The files of a base, and which of them each signal and rule is declared in.
#[derive(Debug, Default)]
pub struct Places {
    pub(super) files: Vec<Lines>,
    pub(super) signals: Vec<usize>,
    pub(super) rules: Vec<usize>,
}

/// A rules file's name, and where its lines end.
#[derive(Debug)]
pub(super) struct Lines {
    name: String,
    ends: Vec<usize>,
}

impl Lines {
    pub(super) fn new(name: &str, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            ends: memchr::memchr_iter(b'\n', text.as_bytes()).collect(),
        }
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

    fn place(&self, file: Option<&usize>, span: &Range<usize>) -> String {
        let lines = file.and_then(|&file| self.files.get(file));
        lines.map_or_else(String::new, |lines| {
            let before = lines.ends.partition_point(|&end| end < span.start);
            format!("{}:{}", lines.name, before + 1)
        })
    }
}
