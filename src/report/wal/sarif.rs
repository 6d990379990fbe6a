//! The check as SARIF 2.1.0: a result per problem, at a byte of a file.

use std::io::{self, Write};
use std::path::Path;

use serde_json::{Value, json};

use super::{counts, file, place};
use crate::layout::{Inspection, Problem, ProblemKind, Severity, Wal};
use crate::report::sarif::{self, Log};

pub(super) fn write(
    inspection: &Inspection,
    is_strict: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let results = inspection.wals.iter().flat_map(|wal| {
        let problems = wal.problems.iter();
        problems.map(move |problem| result(wal, problem, is_strict))
    });
    let unread = inspection
        .wals
        .iter()
        .flat_map(|wal| &wal.unread)
        .chain(&inspection.unread);
    Log {
        rules: ProblemKind::ALL
            .iter()
            .map(
                |kind| json!({ "id": kind.word(), "shortDescription": { "text": kind.meaning() } }),
            )
            .collect(),
        results: results.collect(),
        notifications: unread
            .map(|it| sarif::unread(&it.path, "error", &format!("not read: {}", it.detail)))
            .collect(),
        complete: inspection.is_complete(),
    }
    .write(out)
}

fn result(wal: &Wal, problem: &Problem, is_strict: bool) -> Value {
    let level = match (counts(problem, is_strict), problem.severity) {
        (true, Severity::Damage | Severity::CrashResidue) => "error",
        (false, Severity::Damage | Severity::CrashResidue) => "note",
    };
    let path = Path::new(&wal.path).join(file(wal, problem));
    let text = format!(
        "{}: {}. {}",
        place(wal, problem),
        problem.detail,
        problem.consequence
    );
    json!({
        "ruleId": problem.kind.word(),
        "ruleIndex": ProblemKind::ALL.iter().position(|&kind| kind == problem.kind),
        "level": level,
        "message": sarif::message(&text),
        "locations": [{ "physicalLocation": sarif::place(&path.to_string_lossy(), problem.offset.map(sarif::at_byte)) }],
    })
}
