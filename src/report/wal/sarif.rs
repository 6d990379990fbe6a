//! The check as SARIF 2.1.0: a result per problem, at a byte of a file.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use crate::layout::{Inspection, Problem, ProblemKind, Severity, Wal};

use super::{counts, file, place};

pub(super) fn write(
    inspection: &Inspection,
    is_strict: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let rules: Vec<Value> = ProblemKind::ALL
        .iter()
        .map(|kind| json!({ "id": kind.word(), "shortDescription": { "text": kind.meaning() } }))
        .collect();
    let results: Vec<Value> = inspection
        .wals
        .iter()
        .flat_map(|wal| {
            wal.problems
                .iter()
                .map(move |problem| result(wal, problem, is_strict))
        })
        .collect();
    let unread = inspection
        .wals
        .iter()
        .flat_map(|wal| &wal.unread)
        .chain(&inspection.unread);
    let notifications: Vec<Value> = unread
        .map(|unread| {
            json!({
                "level": "error",
                "message": { "text": format!("not read: {}", unread.detail) },
                "locations": [{ "physicalLocation": { "artifactLocation": { "uri": uri(Path::new(&unread.path)) } } }],
            })
        })
        .collect();
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "invocations": [{ "executionSuccessful": inspection.is_complete(), "toolExecutionNotifications": notifications }],
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut *out, &document).map_err(io::Error::from)?;
    writeln!(out)
}

fn result(wal: &Wal, problem: &Problem, is_strict: bool) -> Value {
    let level = match (counts(problem, is_strict), problem.severity) {
        (true, Severity::Damage | Severity::CrashResidue) => "error",
        (false, Severity::Damage | Severity::CrashResidue) => "note",
    };
    let mut location = json!({ "artifactLocation": { "uri": uri(&Path::new(&wal.path).join(file(wal, problem))) } });
    if let (Some(offset), Some(location)) = (problem.offset, location.as_object_mut()) {
        location.insert(
            "region".to_owned(),
            json!({ "byteOffset": offset, "byteLength": 0 }),
        );
    }
    json!({
        "ruleId": problem.kind.word(),
        "ruleIndex": ProblemKind::ALL.iter().position(|&kind| kind == problem.kind),
        "level": level,
        "message": { "text": format!("{}: {}. {}", place(wal, problem), problem.detail, problem.consequence) },
        "locations": [{ "physicalLocation": location }],
    })
}

/// A relative or absolute URI reference: everything but the plain characters of a path is escaped.
fn uri(path: &Path) -> String {
    let scheme = if path.is_absolute() { "file://" } else { "" };
    let text = path.to_string_lossy();
    let escaped = text.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    });
    std::iter::once(scheme.to_owned()).chain(escaped).collect()
}
