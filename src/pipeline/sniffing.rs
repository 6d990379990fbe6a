//! What the first bytes of an artifact tell.

use super::wrapped::{self, Wrapped};
use crate::analysis::InputFault;
use crate::intake::{Artifact, Encoding};
use crate::layout::Choice;
use crate::parsers::{Format, sniff};
use crate::rules::RuleBase;
use crate::scan::ProblemKind;

/// What the first bytes of an artifact tell.
pub(super) struct Sniffed {
    pub(super) format: Option<Format>,
    /// The node that its lines name, if they name one.
    pub(super) node: Option<String>,
    /// The logs in it, if they are wrapped.
    pub(super) logs: Vec<Wrapped>,
    pub(super) encoding: Encoding,
    /// The first few bytes, to know the same piece packed and unpacked.
    pub(super) start: Vec<u8>,
    pub(super) unreadable: Option<InputFault>,
}

/// How many bytes tell whether two artifacts are the same piece.
const START_BYTES: usize = 512;

/// Endings of files that may quote a log.
const DOCUMENTS: &[&str] = &[
    "md", "markdown", "rst", "html", "htm", "json", "xml", "csv", "tsv", "yaml", "yml", "toml",
    "sql", "py", "sh", "rs", "cpp",
];

pub(super) fn sniffed(artifact: &Artifact, rules: &RuleBase) -> Sniffed {
    match artifact.sample() {
        Ok((sample, encoding)) => {
            let is_document = is_document(&artifact.path);
            let logs = wrapped::logs(artifact, &sample, is_document, &rules.formats);
            let turned = || {
                sniff(&sample, &rules.formats)
                    .filter(|_| !is_document)
                    .and_then(|it| wrapped::turned(it, &sample))
            };
            let logs = if logs.is_empty() {
                turned().into_iter().collect()
            } else {
                logs
            };
            let format = match logs.first() {
                Some(log) => Some(log.format),
                None => sniff(&sample, &rules.formats)
                    .filter(|_| !is_document)
                    .or_else(|| empty_log(artifact, &sample)),
            };
            Sniffed {
                format,
                node: format.and_then(|format| format.only_node(&sample)),
                logs,
                encoding,
                unreadable: illegible(artifact, format),
                start: sample[..sample.len().min(START_BYTES)].to_vec(),
            }
        }
        Err(error) => Sniffed {
            format: None,
            node: None,
            logs: Vec::new(),
            encoding: Encoding::Plain,
            start: Vec::new(),
            unreadable: Some(fault(ProblemKind::Unreadable, &error)),
        },
    }
}

/// How many bytes of something of that name that begins like this are ever read.
pub(super) fn useful(name: &str, start: &[u8], choice: &Choice, rules: &RuleBase) -> u64 {
    if choice.names_segment(name.rsplit('/').next().unwrap_or_default()) {
        return u64::MAX;
    }
    if wrapped::is_wrapped(start, &rules.formats) {
        return u64::MAX;
    }
    sniff(start, &rules.formats).map_or(0, |format| format.spec().head_bytes.unwrap_or(u64::MAX))
}

/// Whether a file quotes logs and is none: a ticket, a report, a table.
fn is_document(path: &str) -> bool {
    let (_, ending) = path.rsplit_once('.').unwrap_or_default();
    DOCUMENTS.iter().any(|it| ending.eq_ignore_ascii_case(it))
}

/// A file that is named like a server's log and does not begin like one.
fn illegible(artifact: &Artifact, format: Option<Format>) -> Option<InputFault> {
    let name = artifact.path.rsplit('/').next().unwrap_or_default();
    let is_named = name.starts_with("clickhouse-server") && name.contains(".log");
    (format.is_none() && is_named).then(|| {
        let detail = "named like a server's log, but no record begins in its first 64 KiB";
        InputFault::of(ProblemKind::Unreadable, detail.to_owned())
    })
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
