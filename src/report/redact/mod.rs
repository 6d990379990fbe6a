//! `--redact`: a report that may be handed on. What names an installation or quotes its data is masked in the report
//! value, before any output is made of it, so that no output can forget to.
//!
//! The same text has the same mask everywhere. A text is masked like a log's unless its key is listed here, so a field
//! that is added to the report is masked until somebody decides otherwise. What stays is told in `docs/redact.md`.

mod learn;
mod masks;
mod paths;
mod queries;
mod recognise;
mod texts;
mod words;

use masks::Masks;
use serde_json::{Map, Value};
pub use texts::{Texts, redact_inspection};

use crate::report::model::Report;

/// How the texts below a key are masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Words of casdiag and of the rule base, stamps, positions: not at all.
    Ours,
    /// Ids that other parts refer to: not at all; but under such a key a list of objects may stand as well.
    Ids,
    /// The name of a node, or of a node and its run.
    Name,
    /// A path, or a run, which is one.
    Path,
    /// A sentence of casdiag or of the rule base that is filled in.
    Sentence,
    /// Text of a log: queries and what is quoted as well.
    Log,
    /// A line beside a cited one, of which nobody knows what it belongs to.
    Beside,
    /// Values of fields, by the field's name.
    Fields,
    /// A value of a field.
    Value,
    /// Anything by a node's name.
    ByNode,
}

/// What a line beside a record becomes if it begins no record: it may be any line of a query.
const CONTINUED: &str = "(a line that begins no record, masked)";

fn manner(parent: &str, key: &str) -> Manner {
    match key {
        "schema" | "tool" | "since" | "until" | "version" | "build" | "starts" | "zone"
        | "log_level" | "format" | "role" | "level" | "kind" | "severity" | "confidence"
        | "category" | "fix_goes_in" | "rule" | "rules" | "signal" | "what" | "first" | "last"
        | "at" | "start" | "mechanism" | "counts" | "shares" | "tone" | "layout" | "verdict"
        | "tail" | "fail_on" | "known" | "by_level" | "distinct" | "beyond_cap" | "family"
        | "holds" | "reads" | "field" | "not_before" | "not_after" | "lsn" | "lsn_to" | "expected"
        | "first_lsn" | "last_lsn" | "max_lsn" | "name_lsn" | "name_last" | "end_lsn"
        | "commit" | "step" | "asks" | "expires"
        // Of codes, balances and strips: a word of the rule base.
        | "name" => Manner::Ours,
        "signals" | "shown_by" | "findings" | "caused_by" | "root" => Manner::Ids,
        "id" if parent != "nodes" => Manner::Ids,
        "node" | "against" | "nodes" | "id" | "aliases" | "reported_by" | "accused" | "primary" | "standby" => {
            Manner::Name
        }
        "path" | "run" | "file" | "segment" | "belongs_in" | "held_by" => Manner::Path,
        "text" if parent == "marks" || parent == "unplaced" => Manner::Sentence,
        "identity" => Manner::Value,
        "title" | "summary" | "not_excluded" | "not_this" | "next_steps" | "could_be" | "why"
        | "collect" | "consequence" | "detail" | "titles" | "because" => Manner::Sentence,
        "before" | "after" => Manner::Beside,
        "by" | "top" | "subjects" => Manner::Fields,
        "by_node" | "counts_by_node" => Manner::ByNode,
        _ => Manner::Log,
    }
}

/// The report with everything masked that names an installation or quotes its data; one that is masked stays as it is.
pub fn redact(report: Report) -> serde_json::Result<Report> {
    if report.redacted {
        return Ok(report);
    }
    let (mut masks, value) = texts::learnt(&report)?;
    let mut redacted: Report = serde_json::from_value(masked(&value, "", Manner::Log, &mut masks))?;
    redacted.redacted = true;
    Ok(redacted)
}

/// The manner of what stands below a key of an object that is masked in a manner.
fn below(manner: Manner, parent: &str, key: &str) -> Manner {
    match manner {
        Manner::Ours => Manner::Ours,
        // What casdiag itself says of a WAL.
        Manner::Fields if parent == "subjects" && key == "layout" => Manner::Ours,
        Manner::Fields => Manner::Value,
        Manner::Ids
        | Manner::ByNode
        | Manner::Name
        | Manner::Path
        | Manner::Sentence
        | Manner::Log
        | Manner::Value
        | Manner::Beside => self::manner(parent, key),
    }
}

/// Every text with its manner.
fn visit(value: &Value, parent: &str, manner: Manner, seen: &mut dyn FnMut(Manner, &str)) {
    match value {
        Value::String(text) => seen(manner, text),
        Value::Array(values) => {
            for value in values {
                visit(value, parent, manner, seen);
            }
        }
        Value::Object(object) => {
            for (key, value) in object {
                visit(value, key, below(manner, parent, key), seen);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn masked(value: &Value, parent: &str, manner: Manner, masks: &mut Masks) -> Value {
    match value {
        Value::String(text) => Value::String(text_masked(text, manner, masks)),
        Value::Array(values) => {
            let values = values.iter();
            values.map(|it| masked(it, parent, manner, masks)).collect()
        }
        Value::Object(object) => {
            let mut made = Map::new();
            for (key, value) in object {
                let below = below(manner, parent, key);
                // Counts by value or by node: what is to be masked are the keys.
                let (key, value) = match (manner, value) {
                    (Manner::ByNode, _) => (text_masked(key, Manner::Name, masks), value.clone()),
                    (Manner::Fields, Value::Object(counts)) => {
                        (key.clone(), by_value(counts, masks))
                    }
                    _ => (key.clone(), masked(value, key, below, masks)),
                };
                made.insert(key, value);
            }
            Value::Object(made)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Counts by value; values that one mask stands for are added up.
fn by_value(counts: &Map<String, Value>, masks: &mut Masks) -> Value {
    let mut made = Map::new();
    for (value, count) in counts {
        let mask = text_masked(value, Manner::Value, masks);
        let before = made.get(&mask).and_then(Value::as_u64).unwrap_or(0);
        let count = count
            .as_u64()
            .map_or_else(|| count.clone(), |count| Value::from(before + count));
        made.insert(mask, count);
    }
    Value::Object(made)
}

fn text_masked(text: &str, manner: Manner, masks: &mut Masks) -> String {
    match manner {
        Manner::Ours | Manner::Ids => text.to_owned(),
        Manner::Name => masks.name(text),
        Manner::Path => masks.path(text),
        Manner::Sentence | Manner::ByNode => masks.sentence(text),
        Manner::Value | Manner::Fields => masks.value(text),
        Manner::Log => masks.log(text),
        Manner::Beside if recognise::begins_record(text) => masks.log(text),
        Manner::Beside => CONTINUED.to_owned(),
    }
}
