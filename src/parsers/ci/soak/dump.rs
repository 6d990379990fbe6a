//! `failure.json` of the soak harness: which operation ended it, what the model expected, what the check of the storage found.

use std::io::{BufRead, Read};

use serde::Deserialize;
use serde_json::Value;

use super::super::case::note;
use super::super::model::{
    Check, Event, Incomplete, NAME_BYTES_MAX, Place, RemarkKind, TestRun, bounded,
};
use super::super::{Form, Reading};
use super::text::{event_kind, leaf};
use super::{failure, node_of_target};

/// Bytes of such a document that are read. Its longest part is a list of keys.
pub(crate) const DUMP_BYTES_MAX: usize = 16 << 20;

/// What the operation that a failure names is, and is not.
pub(crate) const STARTED_LAST: &str = "the operation named is the last operation that was started; inserts run beside each other, so another may have failed";

pub(crate) fn claims(sample: &[u8]) -> bool {
    let start = sample.trim_ascii_start();
    let has = |key: &[u8]| memchr::memmem::find(start, key).is_some();
    start.starts_with(b"{") && has(b"\"op_id\"") && has(b"\"last_op\"") && has(b"\"fsck")
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Dump {
    schema_version: Value,
    seed: Value,
    chaos_seed: Value,
    base_time: Value,
    op_id: Value,
    phase: Value,
    until_op: Value,
    error: Option<String>,
    last_fault: Value,
    last_op: Option<Op>,
    fsck: Value,
    fsck_status: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Op {
    #[serde(rename = "op_id")]
    id: Value,
    r#type: Value,
    target: Value,
    param: Value,
}

pub(crate) fn read(reader: &mut dyn BufRead) -> Reading {
    let mut limited = Read::take(reader, DUMP_BYTES_MAX as u64);
    let mut json = serde_json::Deserializer::from_reader(std::io::BufReader::new(&mut limited));
    let mut run = TestRun::new(Form::SoakFailure);
    "soak".clone_into(&mut run.name);
    let mut reading = Reading::default();
    match Dump::deserialize(&mut json) {
        Ok(found) => fill(&mut run, found, &mut reading),
        Err(error) => {
            let why = if error.is_io() {
                Incomplete::Torn
            } else {
                Incomplete::CutLine
            };
            note(&mut run, why);
            let place = Place {
                line: u64::try_from(error.line()).unwrap_or(0),
                offset: 0,
            };
            run.remark(RemarkKind::Unreadable, error.to_string(), place);
            reading.error = error.is_io().then(|| error.to_string());
        }
    }
    reading.runs.push(run);
    reading
}

/// Reads a dump that stands in the output, which may be followed by anything.
pub(crate) fn read_dump(text: &str, run: &mut TestRun) {
    let Some(start) = text.find('{') else { return };
    let mut all = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Dump>();
    if let Some(Ok(found)) = all.next() {
        attributes(run, &found);
        checks(run, &found);
    }
}

fn fill(run: &mut TestRun, found: Dump, reading: &mut Reading) {
    attributes(run, &found);
    checks(run, &found);
    let error = found.error.unwrap_or_default();
    let (word, text) = error
        .split_once(": ")
        .unwrap_or(("FAILURE", error.as_str()));
    run.result = Some(bounded(word, NAME_BYTES_MAX));
    run.exit_code = Some(1);
    let name = run
        .attributes
        .get("last_op")
        .cloned()
        .unwrap_or_else(|| "workload".to_owned());
    let kind = failure(text);
    if word == "TRANSPORT FAILURE" {
        run.attributes
            .insert("transport".to_owned(), kind.word().to_owned());
    }
    run.remark(RemarkKind::Reading, STARTED_LAST, Place::default());
    leaf(run, &name, word, text, Place { line: 1, offset: 0 }, None);
    if let (Some(kind), true) = (event_kind(kind), word == "TRANSPORT FAILURE") {
        reading.events.push(Event {
            kind,
            subject: run.attributes.get("target").cloned().unwrap_or_default(),
            at: None,
            text: bounded(&error, NAME_BYTES_MAX),
            place: Place { line: 1, offset: 0 },
        });
    }
}

fn attributes(run: &mut TestRun, found: &Dump) {
    let values = [
        ("schema_version", &found.schema_version),
        ("seed", &found.seed),
        ("chaos_seed", &found.chaos_seed),
        ("base_time", &found.base_time),
        ("op_id", &found.op_id),
        ("phase", &found.phase),
        ("until_op", &found.until_op),
    ];
    for (name, value) in values {
        if let Some(text) = plain(value) {
            run.attributes.insert(name.to_owned(), text);
        }
    }
    if !found.last_fault.is_null() {
        run.attributes.insert(
            "last_fault".to_owned(),
            bounded(&found.last_fault.to_string(), NAME_BYTES_MAX),
        );
    }
    if let Some(op) = &found.last_op {
        // `OpType.INSERT` appears where the harness writes its own type as text.
        let kind = plain(&op.r#type).unwrap_or_default().to_ascii_lowercase();
        let kind = kind.rsplit('.').next().unwrap_or_default().to_owned();
        let part = |name: &str, value: &Value| {
            plain(value).map_or_else(String::new, |it| format!(" {name} {it}"))
        };
        let id = plain(&op.id).unwrap_or_default();
        let name = format!(
            "op {id} {kind}{}{}",
            part("target", &op.target),
            part("param", &op.param)
        );
        run.attributes
            .insert("last_op".to_owned(), bounded(&name, NAME_BYTES_MAX));
        if let Some(node) = op.target.as_u64().and_then(node_of_target) {
            run.attributes.insert("target".to_owned(), node.to_owned());
        }
    }
}

/// What the check of the storage found, told as a check.
fn checks(run: &mut TestRun, found: &Dump) {
    let number = |name: &str| found.fsck.get(name).and_then(Value::as_u64);
    let status = found.fsck_status.as_deref().unwrap_or_default();
    let is_made = number("dangling").is_some() && !matches!(status, "skipped" | "not-run");
    let counts = [
        "reachable",
        "unreachable",
        "dangling",
        "stale_edge",
        "exit_code",
    ];
    let detail: Vec<String> = counts
        .iter()
        .filter_map(|name| Some(format!("{name}={}", number(name)?)))
        .collect();
    let is_clean = number("dangling") == Some(0)
        && number("stale_edge").unwrap_or(0) == 0
        && number("exit_code").unwrap_or(0) == 0;
    let outcome = match (is_made, is_clean) {
        (false, _) => "not-run",
        (true, true) => "OK",
        (true, false) => "FAIL",
    };
    run.checks.push(Check {
        name: "fsck".to_owned(),
        outcome: outcome.to_owned(),
        detail: format!("{} {status}", detail.join(" ")).trim().to_owned(),
        place: Place::default(),
    });
}

/// A number or a text, if it is one.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(bounded(text, NAME_BYTES_MAX)),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
