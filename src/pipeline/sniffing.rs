//! What the first bytes of an artifact tell: a format of logs, a table, a form of test results, a node.

use std::ops::Range;

use super::tables::{self, Export};
use super::wrapped::{self, LeftOut, Wrapped};
use crate::analysis::InputFault;
use crate::intake::{Artifact, Encoding, SAMPLE_BYTES};
use crate::layout::Choice;
use crate::parsers::tables::folded;
use crate::parsers::{Format, Sample, ci, wal};
use crate::record::split_lines;
use crate::rules::RuleBase;
use crate::scan::ProblemKind;

/// What the first bytes of an artifact tell.
pub(super) struct Sniffed {
    pub(super) format: Option<Format>,
    /// The form of test results that it is of.
    pub(super) form: Option<&'static ci::Spec>,
    /// The node that its lines name, if they name one.
    pub(super) node: Option<String>,
    /// The logs in it, if they are wrapped.
    pub(super) logs: Vec<Wrapped>,
    /// The system table that it exports.
    pub(super) export: Option<Export>,
    /// Whether it lists a folder with a WAL.
    pub(super) is_listing: bool,
    pub(super) encoding: Encoding,
    /// The first few bytes, to know the same piece packed and unpacked.
    pub(super) start: Vec<u8>,
    pub(super) unreadable: Option<InputFault>,
    /// Whether its records, which no wrapper is around, were found in another log.
    pub(super) is_taken: bool,
}

/// How many bytes tell whether two artifacts are the same piece.
const START_BYTES: usize = 512;

/// Endings of files that may quote a log.
const DOCUMENTS: &[&str] = &[
    "md", "markdown", "rst", "html", "htm", "json", "xml", "csv", "tsv", "yaml", "yml", "toml",
    "sql", "py", "sh", "rs", "cpp",
];

/// Looks at the beginning of an artifact.
///
/// Unless the question is what became of tests, what stands among logs is read as a log alone.
pub(super) fn sniffed(artifact: &Artifact, for_tests: bool, declared: &[Format]) -> Sniffed {
    match artifact.sample() {
        Ok((sample, encoding)) => {
            let sample = Sample::new(&sample, declared);
            let form = ci::sniff_file(&artifact.path, sample.bytes);
            let form = form.filter(|spec| for_tests || !spec.form.stands_in_logs());
            let (form, other) = match form {
                // Results of tests quote logs and tables; what a soak or a dying server prints is both.
                Some(spec) if !spec.form.stands_in_logs() => job_log(artifact, &sample, encoding)
                    .filter(|_| spec.form == ci::Form::ActionsLog)
                    .map_or((form, Sniffed::unknown(encoding)), |log| {
                        (form.filter(|_| for_tests), log)
                    }),
                _ => (form, log_or_table(artifact, &sample, encoding)),
            };
            let start = match other.export {
                Some(_) => Vec::new(),
                None => sample.bytes[..sample.bytes.len().min(START_BYTES)].to_vec(),
            };
            let is_known = form.is_some() || other.format.is_some() || other.export.is_some();
            let is_listing =
                !is_known && !quotes(artifact, &sample) && wal::Listing::claims(sample.bytes);
            Sniffed {
                form,
                is_listing,
                start,
                ..other
            }
        }
        Err(error) => Sniffed {
            unreadable: Some(fault(ProblemKind::Unreadable, &error)),
            ..Sniffed::unknown(Encoding::Plain)
        },
    }
}

/// The log that a job's log or a container's holds, if most of its lines are one's: nothing else tells the two apart.
fn job_log(artifact: &Artifact, sample: &Sample<'_>, encoding: Encoding) -> Option<Sniffed> {
    let is_document = quotes(artifact, sample);
    let logs = wrapped::logs(artifact, sample, is_document);
    let lines = || split_lines(sample.bytes).filter(|line| !line.is_empty());
    // A system's own stamps may be like a job's.
    let is_most = |heads: usize| 2 * heads > lines().count();
    let format = match logs.first() {
        // Colors and blanks tell no more than a plain line does.
        Some(log) if log.is_bare() => {
            let heads = log.heads(sample.bytes.to_vec()).len();
            is_most(heads).then_some(log.format)?
        }
        Some(log) => log.format,
        None if is_document => return None,
        None => {
            let (heads, format) = sample.claimed()?;
            is_most(heads).then_some(format)?
        }
    };
    Some(Sniffed {
        format: Some(format),
        node: format.only_node(sample.bytes),
        logs,
        ..Sniffed::unknown(encoding)
    })
}

/// The log or the table that begins with a sample.
fn log_or_table(artifact: &Artifact, sample: &Sample<'_>, encoding: Encoding) -> Sniffed {
    // Parts of it may look like a table's rows, or like a log in a wrapper.
    if let Some(fault) = in_one_line(sample.bytes) {
        return Sniffed {
            unreadable: Some(fault),
            ..Sniffed::unknown(encoding)
        };
    }
    let is_document = quotes(artifact, sample);
    let export = tables::export(artifact, sample);
    if export.as_ref().is_some_and(Export::is_sure) {
        return exported(export, encoding);
    }
    let logs = wrapped::logs(artifact, sample, is_document);
    if logs.is_empty() && export.as_ref().is_some_and(|it| it.table.is_some()) {
        return exported(export, encoding);
    }
    let turned = || {
        sample
            .format()
            .filter(|_| !is_document)
            .and_then(|it| wrapped::turned(it, sample.bytes))
    };
    let logs = if logs.is_empty() {
        turned().into_iter().collect()
    } else {
        logs
    };
    let format = match logs.first() {
        Some(log) => Some(log.format),
        None => sample
            .format()
            .filter(|_| !is_document)
            .or_else(|| empty_log(artifact, sample.bytes)),
    };
    if format.is_none() && export.is_some() {
        return exported(export, encoding);
    }
    let is_whole = sample.bytes.len() < SAMPLE_BYTES && !sample.bytes.is_empty();
    let quoted = format.filter(|it| is_whole && logs.is_empty() && !it.begins(sample.bytes));
    let format = format.filter(|_| quoted.is_none());
    Sniffed {
        format,
        node: format.and_then(|format| format.only_node(sample.bytes)),
        logs,
        unreadable: illegible(artifact, sample.bytes, format).or_else(|| quoted.map(unbegun)),
        ..Sniffed::unknown(encoding)
    }
}

impl Sniffed {
    /// Has some of its lines, those of a record each, left out as records of other files.
    pub(super) fn leave_out(&mut self, lines: &[Range<u64>], of: &str) {
        let Some(format) = self.format else { return };
        if self.logs.is_empty() {
            self.logs
                .push(Wrapped::unwrapped(format, self.node.clone()));
        }
        let count = lines.len();
        let stand = if count == 1 {
            "record stands"
        } else {
            "records stand"
        };
        let detail = format!("{count} {stand} in {of} too: not read a second time");
        for log in &mut self.logs {
            log.left_out = Some(LeftOut {
                lines: lines.to_vec(),
                detail: detail.clone(),
            });
        }
    }

    /// Nothing known.
    fn unknown(encoding: Encoding) -> Self {
        Self {
            format: None,
            form: None,
            node: None,
            logs: Vec::new(),
            export: None,
            is_listing: false,
            encoding,
            start: Vec::new(),
            unreadable: None,
            is_taken: false,
        }
    }
}

/// A file that exports a table.
fn exported(export: Option<Export>, encoding: Encoding) -> Sniffed {
    Sniffed {
        format: export.as_ref().and_then(Export::format),
        export,
        ..Sniffed::unknown(encoding)
    }
}

/// How many bytes of something of that name that begins like this are ever read.
pub(super) fn useful(name: &str, start: &[u8], choice: &Choice, rules: &RuleBase) -> u64 {
    if choice.names_segment(name.rsplit('/').next().unwrap_or_default()) {
        return u64::MAX;
    }
    let sample = Sample::new(start, &rules.formats);
    let is_known = ci::sniff_file(name, start).is_some()
        || tables::is_table(name, &sample)
        || wrapped::is_wrapped(&sample)
        || wal::Listing::claims(sample.bytes);
    if is_known {
        return u64::MAX;
    }
    sample
        .format()
        .map_or(0, |format| format.spec().head_bytes.unwrap_or(u64::MAX))
}

/// Whether a file quotes logs and is none: a ticket, a report, a table.
fn is_document(path: &str) -> bool {
    let (_, ending) = path.rsplit_once('.').unwrap_or_default();
    DOCUMENTS.iter().any(|it| ending.eq_ignore_ascii_case(it))
}

/// Whether a file quotes logs by its name, and is of no format that a rules file declares: whoever declares one means such files.
fn quotes(artifact: &Artifact, sample: &Sample<'_>) -> bool {
    let is_declared = || sample.format().is_some_and(Format::is_declared);
    is_document(&artifact.path) && !is_declared()
}

/// What a file of no format is known to hold all the same: nothing that is read.
fn illegible(artifact: &Artifact, sample: &[u8], format: Option<Format>) -> Option<InputFault> {
    if format.is_some() {
        return None;
    }
    if let Some(encoding) = wide(sample) {
        let detail = format!(
            "a text in {encoding}, which is not read: turn it into UTF-8, as iconv -f {encoding} -t UTF-8 does"
        );
        return Some(InputFault::of(ProblemKind::Unreadable, detail));
    }
    let name = artifact.path.rsplit('/').next().unwrap_or_default();
    let is_named = name.starts_with("clickhouse-server") && name.contains(".log");
    is_named.then(|| {
        let detail = "named like a server's log, but no record begins in its first 64 KiB";
        InputFault::of(ProblemKind::Unreadable, detail.to_owned())
    })
}

/// Rows in one line of JSON: no row of them could be told apart from the others by its line.
fn in_one_line(sample: &[u8]) -> Option<InputFault> {
    let (what, filter) = folded(sample)?;
    let detail = format!(
        "{what} in one line of JSON, which is not read: write a row a line, as jq -c '{filter}' does"
    );
    Some(InputFault::of(ProblemKind::Unreadable, detail))
}

/// What is said of a file that shows lines of a log where no record begins: a note, and no log of anybody.
fn unbegun(format: Format) -> InputFault {
    let name = format.spec().name;
    let detail = format!("no record begins in it: what looks like records of {name} is indented");
    InputFault {
        line: Some(1),
        ..InputFault::of(ProblemKind::UnparsedLines, detail)
    }
}

/// How many units tell an encoding.
const UNITS: usize = 128;

/// An encoding with more than one byte to each letter.
struct Wide {
    /// Its name, as `iconv` has it.
    name: &'static str,
    /// The mark that a text may begin with, as long as a unit.
    mark: &'static [u8],
    /// Which byte of a unit is a letter of ASCII, beside zeros.
    letter: usize,
}

/// Those that are told: shells of Windows write the first.
const WIDE: &[Wide] = &[
    Wide {
        name: "UTF-16LE",
        mark: &[0xff, 0xfe],
        letter: 0,
    },
    Wide {
        name: "UTF-16BE",
        mark: &[0xfe, 0xff],
        letter: 1,
    },
    Wide {
        name: "UTF-32LE",
        mark: &[0xff, 0xfe, 0, 0],
        letter: 0,
    },
    Wide {
        name: "UTF-32BE",
        mark: &[0, 0, 0xfe, 0xff],
        letter: 3,
    },
];

/// The encoding of a text in UTF-16 or UTF-32: most of its letters are ASCII with zeros beside.
fn wide(sample: &[u8]) -> Option<&'static str> {
    let fits = |it: &&Wide| {
        let text = sample.strip_prefix(it.mark).unwrap_or(sample);
        let units = text.chunks_exact(it.mark.len()).take(UNITS);
        let letters = units.clone().filter(|unit| {
            let mut bytes = unit.iter().enumerate();
            bytes.all(|(at, byte)| {
                let is_letter = byte.is_ascii_graphic() || byte.is_ascii_whitespace();
                if at == it.letter {
                    is_letter
                } else {
                    *byte == 0
                }
            })
        });
        let (letters, units) = (letters.count(), units.len());
        units >= 8 && letters * 10 >= units * 9
    };
    WIDE.iter().find(fits).map(|it| it.name)
}

/// A log's empty file is a log: an empty err.log says that nothing went wrong.
fn empty_log(artifact: &Artifact, sample: &[u8]) -> Option<Format> {
    let name = artifact.path.rsplit('/').next().unwrap_or_default();
    let is_log = name.to_ascii_lowercase().ends_with(".log") && name.contains("clickhouse");
    (sample.is_empty() && is_log).then_some(Format::CLICKHOUSE)
}

pub(super) fn fault(kind: ProblemKind, error: &dyn std::error::Error) -> InputFault {
    let why = error
        .source()
        .map_or_else(String::new, |why| format!(": {why}"));
    InputFault::of(kind, format!("{error}{why}"))
}
