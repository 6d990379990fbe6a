//! Test results: what the tools that run tests leave behind, each form read into the same [`TestRun`].
//!
//! A reader knows one form and no incident. It takes unpacked bytes, reads them once from the beginning in bounded memory,
//! and fails on no bytes: what cannot be read becomes a remark with its line, and a source that breaks off gives what stood
//! before. Forms are told by content; a file's name decides nothing.
//!
//! To add a form: a module with a `claims` and a reader, a variant of [`Form`], a row in [`FORMS`].

mod event;
mod leaf;
pub mod lines;
pub mod model;
pub mod names;
pub mod python;
pub mod statements;
pub mod testflows;

use std::io::BufRead;

pub use lines::{Line, Lines};
pub use model::*;

/// A known form of test results, or of what is kept beside them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// The messages of a `TestFlows` run, one JSON object a line.
    TestFlowsRaw,
    /// The reports that `tfs` prints: fails, new fails, classic and nice output.
    TestFlowsText,
    /// The page that `tfs report results` makes.
    TestFlowsPage,
}

/// What is registered of a form.
#[derive(Debug)]
pub struct Spec {
    /// The form.
    pub form: Form,
    /// Its name in `inputs[].format` and `tests.runs[].form`.
    pub name: &'static str,
    /// How much of a run it tells, against other sources of the same run: the one with the greatest speaks for the run.
    pub detail: u8,
    /// Whether the beginning of a file is of this form. The sample may be cut anywhere.
    pub claims: fn(&[u8]) -> bool,
    /// How it is read.
    pub how: How,
}

/// How a form is read.
#[derive(Debug, Clone, Copy)]
pub enum How {
    /// From all bytes.
    Bytes(fn(&mut dyn BufRead) -> Reading),
    /// Line by line; such a form may also stand inside another, as in the log of a job.
    Lines(fn() -> Box<dyn LineReader>),
}

/// Reads a form that is lines of text. Lines of other things may stand between its own.
pub trait LineReader {
    /// Takes the next line.
    fn line(&mut self, line: &Line<'_>);
    /// What was read; no run if no line was of this form.
    fn finish(self: Box<Self>) -> Reading;
}

/// What a reader found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// Runs of tests, in the order in which they begin.
    pub runs: Vec<TestRun>,
    /// What happened beside the tests, in order.
    pub events: Vec<Event>,
    /// Facts that identify the job, such as its name, by name.
    pub attributes: std::collections::BTreeMap<String, String>,
    /// Lines read.
    pub lines: u64,
    /// Why reading stopped before the end.
    pub error: Option<String>,
}

/// Every form. The first that claims a beginning has it, so what wraps other forms stands before them.
pub const FORMS: &[Spec] = &[
    Spec {
        form: Form::TestFlowsRaw,
        name: "testflows-raw",
        detail: 100,
        claims: testflows::raw::claims,
        how: How::Lines(testflows::raw::reader),
    },
    Spec {
        form: Form::TestFlowsText,
        name: "testflows-text",
        detail: 50,
        claims: testflows::text::claims,
        how: How::Lines(testflows::text::reader),
    },
    Spec {
        form: Form::TestFlowsPage,
        name: "testflows-page",
        detail: 20,
        claims: testflows::page::claims,
        how: How::Bytes(testflows::page::read),
    },
];

impl Form {
    /// What is registered of this form.
    pub fn spec(self) -> Option<&'static Spec> {
        FORMS.iter().find(|spec| spec.form == self)
    }

    /// Its name in outputs.
    pub fn name(self) -> &'static str {
        self.spec().map_or("unknown", |spec| spec.name)
    }
}

/// Tells the form of a source from its first bytes.
pub fn sniff(sample: &[u8]) -> Option<&'static Spec> {
    FORMS.iter().find(|spec| (spec.claims)(sample))
}

impl Spec {
    /// Reads a source of this form from its beginning.
    pub fn read(&self, reader: &mut dyn BufRead) -> Reading {
        match self.how {
            How::Bytes(read) => read(reader),
            How::Lines(new) => read_lines(new(), reader),
        }
    }
}

/// Gives every line of a source to a reader of lines.
pub fn read_lines(mut to: Box<dyn LineReader>, reader: &mut dyn BufRead) -> Reading {
    let mut lines = Lines::new(reader);
    while let Some(line) = lines.next_line() {
        to.line(&line);
    }
    let (count, error) = (lines.count, lines.error);
    let mut reading = to.finish();
    reading.lines = count;
    if error.is_some() {
        for run in &mut reading.runs {
            run.incomplete.push(Incomplete::Torn);
        }
    }
    reading.error = error;
    reading
}
