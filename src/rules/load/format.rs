//! Declared formats compiled, and their samples read.

use super::origin::{LoadError, Origin, check_id};
use crate::parsers::declared::{Declaration, declare};
use crate::parsers::{FORMATS, Format};
use crate::record::Record;
use crate::rules::schema::{FormatDecl, FormatSampleDecl};
use crate::time::{Timestamp, Zone};

/// How many formats one base may declare: each is matched against every file's first lines.
const DECLARED_MAX: usize = 32;

/// Compiles the declared formats, and checks that they read their samples as those say.
pub(super) fn compile_formats<'d, 't: 'd>(
    declared: impl Iterator<Item = (&'d FormatDecl, &'d Origin<'t>)>,
) -> Result<Vec<Format>, LoadError> {
    let mut formats = Vec::new();
    for (given, origin) in declared {
        check_id(*origin, &given.name)?;
        if formats.len() == DECLARED_MAX {
            let message = format!("more than {DECLARED_MAX} formats are declared");
            return Err(origin.fault(
                given.name.span(),
                message,
                "leave out those that no file has",
            ));
        }
        formats.push(compile_format(given, *origin)?);
    }
    Ok(formats)
}

fn compile_format(given: &FormatDecl, origin: Origin<'_>) -> Result<Format, LoadError> {
    let levels = given.levels.iter();
    let declaration = Declaration {
        name: given.name.get_ref().clone(),
        pattern: given.pattern.get_ref().clone(),
        holds: given.holds.clone(),
        time: given.time.as_ref().map(|time| time.get_ref().clone()),
        levels: levels.map(|(word, level)| (word.clone(), *level)).collect(),
    };
    let format = declare(&declaration)
        .map_err(|error| origin.fault(given.pattern.span(), error.to_string(), ""))?;
    if given.samples.is_empty() {
        let message = "the format has no sample";
        return Err(origin.fault(given.name.span(), message, "add a line that it must read"));
    }
    for sample in &given.samples {
        if let Some(fault) = sample_fault(format, sample.get_ref()) {
            let hint = "correct the pattern, or the sample";
            return Err(origin.fault(sample.span(), fault, hint));
        }
    }
    for line in &given.not {
        if format.is_head(line.get_ref().as_bytes()) {
            let message = "the pattern fits this line, and must not";
            return Err(origin.fault(line.span(), message, ""));
        }
    }
    Ok(format)
}

/// What a sample gives otherwise than it says.
fn sample_fault(format: Format, sample: &FormatSampleDecl) -> Option<String> {
    let line = sample.line.trim_end();
    let Some(record) = format.parse(line.as_bytes()) else {
        return Some("the pattern does not fit this line".to_owned());
    };
    if let Some(fault) = sample
        .time
        .as_ref()
        .and_then(|it| time_fault(format, &record, it))
    {
        return Some(fault);
    }
    if let Some(level) = sample.level.filter(|level| *level != record.level) {
        return Some(format!(
            "its level is {:?}, and must be {level:?}",
            record.level
        ));
    }
    let texts = [
        ("logger", &sample.logger, record.logger),
        ("node", &sample.node, record.node),
        ("query", &sample.query, record.query_id),
        ("message", &sample.message, record.message),
    ];
    texts.into_iter().find_map(|(what, wanted, found)| {
        let wanted = wanted.as_ref()?;
        let found = String::from_utf8_lossy(found);
        (found != wanted.as_str())
            .then(|| format!("its {what} is {found:?}, and must be {wanted:?}"))
    })
}

fn time_fault(format: Format, record: &Record<'_>, wanted: &str) -> Option<String> {
    let stamp = if format.spec().dateless {
        Timestamp::from_iso(wanted).map(|time| (time, false))
    } else {
        Timestamp::read_zoned(wanted.as_bytes()).map(|(time, utc, _)| (time, utc))
    };
    let zone = match (record.utc, format.spec().dateless) {
        (true, _) => Zone::utc(),
        (false, true) => Zone::Dateless,
        (false, false) => Zone::Unknown,
    };
    if stamp.is_some() && stamp == record.time.map(|time| (time, record.utc)) {
        return None;
    }
    let found = record
        .time
        .map_or_else(|| "none".to_owned(), |time| time.iso(zone));
    Some(format!("its time is {found}, and must be {wanted}"))
}

/// The format registered or declared under a name.
pub(super) fn named(name: &str, declared: &[Format]) -> Option<Format> {
    let mut all = declared.iter().chain(FORMATS).copied();
    all.find(|format| format.spec().name == name)
}

/// The names of all formats.
pub(super) fn names(declared: &[Format]) -> String {
    let all = FORMATS.iter().chain(declared);
    let names: Vec<&str> = all.map(|format| format.spec().name).collect();
    names.join(", ")
}
