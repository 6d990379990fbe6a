//! Test results: what the tools that run tests leave behind, each form read into the same [`TestRun`].
//!
//! A reader knows one form and no incident. It takes unpacked bytes, reads them once from the beginning in bounded memory,
//! and fails on no bytes: what cannot be read becomes a remark with its line, and a source that breaks off gives what stood
//! before. Forms are told by content; a file's name decides nothing, except where the content is a number alone.
//!
//! To add a form: a module with a `claims` and a reader, a variant of [`Form`], a row in [`FORMS`].

mod cargo;
mod case;
mod clickhouse_test;
mod event;
mod exit_code;
mod failure;
mod gtest_json;
mod gtest_text;
mod incomplete;
pub mod jobs;
mod junit;
mod leaf;
pub mod lines;
mod machine;
pub mod model;
mod moments;
pub mod names;
mod praktika;
mod pytest;
pub mod python;
mod soak;
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
    /// `JUnit` XML of any tool.
    JUnit,
    /// What pytest prints.
    PytestText,
    /// The report log of pytest, one JSON object a line.
    PytestLog,
    /// What `cargo nextest` prints.
    NextestText,
    /// What `cargo test` prints.
    CargoText,
    /// What `clickhouse-test` prints.
    ClickHouseTest,
    /// A result file of praktika.
    Praktika,
    /// The JSON of google test.
    GoogleTest,
    /// What google test prints.
    GoogleText,
    /// The log of a GitHub Actions job or step.
    ActionsLog,
    /// What the soak harness of a content-addressed cluster prints.
    SoakText,
    /// The `failure.json` of that harness.
    SoakFailure,
    /// The metrics of a soak.
    SoakMetrics,
    /// Verdicts of the soak of an HA controller.
    HaSoak,
    /// The list of earlier runs of a soak.
    RunHistory,
    /// What was dumped of a server before it went down.
    PredownDump,
    /// What `docker inspect` prints.
    ContainerInspect,
    /// A table of containers.
    ContainerTable,
    /// The kernel's log.
    KernelLog,
    /// A server's standard error.
    ServerStderr,
    /// The exit code of the process that ran the tests, kept in a file of its own.
    ExitCode,
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
    /// What tells whether two files hold the same lines of a job.
    pub digest: Option<Digest>,
    /// Lines read.
    pub lines: u64,
    /// Why reading stopped before the end.
    pub error: Option<String>,
}

/// A sum over the lines of a job's log, whatever their order: equal for two files of the same lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Digest {
    /// Lines with a stamp.
    pub lines: u64,
    /// Lines without one.
    pub unstamped: u64,
    /// The sum of a hash of each line's moment and text.
    pub sum: u64,
    /// The moment of the first line.
    pub first: Option<Moment>,
    /// The moment of the last line.
    pub last: Option<Moment>,
}

/// Every form. The first that claims a beginning has it, so what wraps other forms stands before them.
pub const FORMS: &[Spec] = &[
    Spec {
        form: Form::ActionsLog,
        name: "actions-log",
        detail: 10,
        claims: jobs::actions::claims,
        how: How::Lines(jobs::actions::reader),
    },
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
    Spec {
        form: Form::JUnit,
        name: "junit",
        detail: 60,
        claims: junit::claims,
        how: How::Bytes(junit::read),
    },
    Spec {
        form: Form::PytestLog,
        name: "pytest-report-log",
        detail: 70,
        claims: pytest::log::claims,
        how: How::Lines(pytest::log::reader),
    },
    Spec {
        form: Form::PytestText,
        name: "pytest-text",
        detail: 50,
        claims: pytest::text::claims,
        how: How::Lines(pytest::text::reader),
    },
    Spec {
        form: Form::NextestText,
        name: "nextest",
        detail: 50,
        claims: cargo::nextest::claims,
        how: How::Lines(cargo::nextest::reader),
    },
    Spec {
        form: Form::GoogleText,
        name: "gtest-text",
        detail: 50,
        claims: gtest_text::claims,
        how: How::Lines(gtest_text::reader),
    },
    Spec {
        form: Form::CargoText,
        name: "cargo-test",
        detail: 50,
        claims: cargo::text::claims,
        how: How::Lines(cargo::text::reader),
    },
    Spec {
        form: Form::ClickHouseTest,
        name: "clickhouse-test",
        detail: 50,
        claims: clickhouse_test::claims,
        how: How::Lines(clickhouse_test::reader),
    },
    Spec {
        form: Form::Praktika,
        name: "praktika-result",
        detail: 40,
        claims: praktika::claims,
        how: How::Bytes(praktika::read),
    },
    Spec {
        form: Form::GoogleTest,
        name: "gtest-json",
        detail: 60,
        claims: gtest_json::claims,
        how: How::Bytes(gtest_json::read),
    },
    Spec {
        form: Form::SoakFailure,
        name: "soak-failure",
        detail: 60,
        claims: soak::dump::claims,
        how: How::Bytes(soak::dump::read),
    },
    Spec {
        form: Form::SoakText,
        name: "soak-output",
        detail: 50,
        claims: soak::text::claims,
        how: How::Lines(soak::text::reader),
    },
    Spec {
        form: Form::HaSoak,
        name: "ha-soak",
        detail: 50,
        claims: soak::ha::claims,
        how: How::Lines(soak::ha::reader),
    },
    Spec {
        form: Form::SoakMetrics,
        name: "soak-metrics",
        detail: 20,
        claims: soak::metrics::claims,
        how: How::Bytes(soak::metrics::read),
    },
    Spec {
        form: Form::RunHistory,
        name: "run-history",
        detail: 10,
        claims: soak::history::claims,
        how: How::Lines(soak::history::reader),
    },
    Spec {
        form: Form::PredownDump,
        name: "predown-dump",
        detail: 10,
        claims: soak::predown::claims,
        how: How::Lines(soak::predown::reader),
    },
    Spec {
        form: Form::ContainerInspect,
        name: "container-inspect",
        detail: 0,
        claims: machine::containers::claims_inspect,
        how: How::Bytes(machine::containers::read_inspect),
    },
    Spec {
        form: Form::ContainerTable,
        name: "container-table",
        detail: 0,
        claims: machine::containers::claims_table,
        how: How::Lines(machine::containers::table_reader),
    },
    Spec {
        form: Form::KernelLog,
        name: "kernel-log",
        detail: 0,
        claims: machine::kernel::claims,
        how: How::Lines(machine::kernel::reader),
    },
    Spec {
        form: Form::ServerStderr,
        name: "server-stderr",
        detail: 0,
        claims: machine::stderr::claims,
        how: How::Lines(machine::stderr::reader),
    },
    Spec {
        form: Form::ExitCode,
        name: "exit-code",
        detail: 0,
        claims: |_| false,
        how: How::Bytes(exit_code::read),
    },
];

impl Form {
    /// What is registered of this form.
    pub fn spec(self) -> Option<&'static Spec> {
        FORMS.iter().find(|spec| spec.form == self)
    }

    /// Whether its lines stand among those of logs, which are to be read as such too.
    pub fn stands_in_logs(self) -> bool {
        matches!(self, Self::SoakText | Self::HaSoak | Self::ServerStderr)
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

/// Tells the form of a file from its path too: a number alone says what it is by the name of its file.
pub fn sniff_file(path: &str, sample: &[u8]) -> Option<&'static Spec> {
    let named = || exit_code::is_named(path) && exit_code::may_be(sample);
    sniff(sample).or_else(|| named().then(|| Form::ExitCode.spec()).flatten())
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
