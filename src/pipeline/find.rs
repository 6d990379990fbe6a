//! The record at a line of a file.

use std::path::Path;

use super::Error;
use super::sniffing::useful;
use super::tables;
use super::wrapped::{self, Wrapped};
use crate::intake::{self, Artifact, Block, BlockReader, Bounds, Limits};
use crate::layout::Choice;
use crate::parsers::{Format, Sample};
use crate::record::Record;
use crate::rules::RuleBase;
use crate::signals::Subject;
use crate::wrappers::{StreamReader, TableReader, holds};

/// A record, its bytes owned.
#[derive(Debug)]
pub struct RecordAt {
    /// Its format.
    pub format: Format,
    /// The line of its head, from 1.
    pub line: u64,
    bytes: Vec<u8>,
}

impl RecordAt {
    /// Gives the record and what is searched in it to `look`.
    pub fn with<T>(&self, look: impl FnOnce(Subject<'_, '_>) -> T) -> Option<T> {
        let record: Record<'_> = self.format.parse(&self.bytes)?;
        let start = record.message_at(&self.bytes);
        let exception = self.format.exception(&record);
        Some(look(Subject {
            record: &record,
            exception,
            whole: &self.bytes[start..],
            ahead: &self.bytes[start..],
        }))
    }
}

/// Finds the record that line `line` of a file, from 1, belongs to.
pub fn record_at(path: &Path, line: u64, rules: &RuleBase) -> Result<RecordAt, Error> {
    let found = intake::walk(&[path.to_path_buf()], Bounds::default(), &|name, start| {
        useful(name, start, &Choice::Detect, rules)
    })?;
    let fault = |why| Error::Line {
        path: path.display().to_string(),
        line,
        why,
    };
    let artifact = match found.artifacts.as_slice() {
        [] => return Err(fault("this is no regular file")),
        [artifact] => artifact,
        _ => return Err(fault("this holds several files; name one as ARCHIVE!/FILE")),
    };
    record_in(artifact, line, rules)
}

/// Finds the record that line `line` of an artifact, from 1, belongs to.
pub(super) fn record_in(
    artifact: &Artifact,
    line: u64,
    rules: &RuleBase,
) -> Result<RecordAt, Error> {
    let fault = |why| Error::Line {
        path: artifact.path.clone(),
        line,
        why,
    };
    let (sample, _) = artifact.sample()?;
    let sample = Sample::new(&sample, &rules.formats);
    if let Some(export) = tables::export(artifact, &sample) {
        return in_table(artifact, &export, line)?
            .ok_or_else(|| fault("the line belongs to no row"));
    }
    let logs = wrapped::logs(artifact, &sample, false);
    if !logs.is_empty() {
        return in_logs(artifact, &logs, line)?
            .ok_or_else(|| fault("the line belongs to no record"));
    }
    let format = sample
        .format()
        .ok_or_else(|| fault("the file is of no known format"))?;
    let (reader, _) = artifact.open()?;
    let mut blocks = BlockReader::new(
        reader,
        move |line: &[u8]| format.is_head(line),
        Limits::default(),
    );
    let mut first = 1;
    while let Some(block) = blocks.next(Vec::new()) {
        let lines =
            u64::try_from(memchr::memchr_iter(b'\n', &block.bytes).count()).unwrap_or(u64::MAX);
        let open_end = u64::from(!block.bytes.ends_with(b"\n"));
        if line < first + lines + open_end {
            let (head, bytes) = in_block(&block.bytes, line - first, format)
                .ok_or_else(|| fault("the line belongs to no record"))?;
            return Ok(RecordAt {
                format,
                line: first + head,
                bytes,
            });
        }
        first += lines;
    }
    Err(fault("the file has no such line"))
}

/// The record of a wrapped log that begins at a line of the file, or else the last one that begins before it.
fn in_logs(artifact: &Artifact, logs: &[Wrapped], line: u64) -> Result<Option<RecordAt>, Error> {
    let mut nearest: Option<RecordAt> = None;
    for log in logs {
        let (reader, _) = artifact.open()?;
        // Of several logs in the file the one that the line is of; the only log may have it in pieces.
        if logs.len() > 1 && !holds(reader, &log.layers, line) {
            continue;
        }
        let (reader, _) = artifact.open()?;
        let mut blocks = StreamReader::new(reader, log.reading(false), Limits::default());
        while let Some(block) = blocks.next(Vec::new()) {
            if !come_nearer(&block, log.format, line, &mut nearest) {
                break;
            }
        }
    }
    Ok(nearest)
}

/// The row of an exported table that begins at a line of the file, or else the last one that begins before it.
fn in_table(
    artifact: &Artifact,
    export: &tables::Export,
    line: u64,
) -> Result<Option<RecordAt>, Error> {
    let (Some(format), Some(table)) = (export.format(), export.table) else {
        return Ok(None);
    };
    let (reader, _) = artifact.open()?;
    let mut nearest = None;
    let mut blocks = TableReader::new(reader, export.form, table, Limits::default());
    // Records of an export are given in the order of their stamps.
    while let Some(block) = blocks.next(Vec::new()) {
        come_nearer(&block, format, line, &mut nearest);
    }
    Ok(nearest)
}

/// Takes the last record of a block that begins at a line or before it, if it is nearer; whether any does.
fn come_nearer(block: &Block, format: Format, line: u64, nearest: &mut Option<RecordAt>) -> bool {
    let starts = block
        .origin
        .as_deref()
        .map_or(&[][..], |origin| &origin.starts);
    // Where the newest line stands first, lines do not grow.
    let before = starts
        .iter()
        .enumerate()
        .filter(|(_, start)| start.line <= line);
    let Some((at, start)) = before.max_by_key(|(_, start)| start.line) else {
        return false;
    };
    let next = starts.get(at + 1);
    let end = next.map_or(block.bytes.len(), |next| next.at as usize);
    if nearest
        .as_ref()
        .is_none_or(|record| record.line < start.line)
    {
        *nearest = Some(RecordAt {
            format,
            line: start.line,
            bytes: block.bytes[start.at as usize..end].to_vec(),
        });
    }
    true
}

/// The record that holds a line of a block, from 0: the line of its head, and its bytes.
fn in_block(bytes: &[u8], line: u64, format: Format) -> Option<(u64, Vec<u8>)> {
    let mut record: Option<(u64, usize)> = None;
    let mut at = 0;
    for number in 0.. {
        let tail = bytes.get(at..).filter(|tail| !tail.is_empty())?;
        if format.is_head(tail) {
            if number > line {
                break;
            }
            record = Some((number, at));
        }
        at += memchr::memchr(b'\n', tail).map_or(tail.len(), |end| end + 1);
        if at == bytes.len() {
            break;
        }
    }
    let (head, start) = record?;
    let mut end = start;
    loop {
        end += memchr::memchr(b'\n', &bytes[end..]).map_or(bytes.len() - end, |at| at + 1);
        if end == bytes.len() || format.is_head(&bytes[end..]) {
            break;
        }
    }
    Some((head, bytes[start..end].to_vec()))
}
