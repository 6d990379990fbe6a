//! Which form a file has, told by its beginning.

use super::known::{Known, hinted, identify};
use super::parquet::MAGIC;
use super::row::Columns;
use super::{Form, delimited, json, pretty, vertical};
use crate::parsers::json::other;
use crate::record::{BOM, split_lines};

/// What a file's beginning tells.
#[derive(Debug, Clone)]
pub struct Sniffed {
    /// The form.
    pub form: Form,
    /// The table, if it is a known one; of a Parquet file its columns tell, which stand at its end.
    pub table: Option<&'static Known>,
    /// The columns, as far as the beginning names them.
    pub columns: Columns,
    /// What the name and the query say of the table.
    pub hint: Option<&'static Known>,
}

/// Keys of a row that say when it was written, and what it says.
const ROW_TIMES: &[&str] = &[
    "@timestamp",
    "date_time",
    "event_time",
    "event_time_microseconds",
    "time",
    "timestamp",
    "ts",
];
const ROW_MESSAGES: &[&str] = &["@message", "line", "log", "message", "msg"];

/// How many lines are looked at for a table that does not begin the file: what a client prints before it.
const PREAMBLE: usize = 60;

/// Tells form and table of a file from its first bytes and its name.
///
/// Names alone claim nothing: what is no table of a known form is none. Of forms that anything could have (lines of
/// JSON, words with blanks between them) only known tables are claimed.
pub fn sniff(sample: &[u8], name: &str) -> Option<Sniffed> {
    let file = name.rsplit('/').next().unwrap_or_default();
    let hint = hinted(file);
    let found = |form, names: Vec<String>, hint: Option<&'static Known>| {
        let columns = Columns::new(names);
        let table = identify(&columns, hint);
        Sniffed {
            form,
            table,
            columns,
            hint,
        }
    };
    if sample.starts_with(MAGIC) {
        return Some(found(Form::Parquet, Vec::new(), hint));
    }
    let sample = sample.strip_prefix(BOM).unwrap_or(sample);
    let lines: Vec<&[u8]> = split_lines(sample)
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line))
        .collect();
    let first = *lines.first()?;
    let second = lines.get(1).copied().unwrap_or_default();
    let begun = sample.trim_ascii_start();
    let told = match begun.first()? {
        b'{' => json_form(begun, &lines),
        b'[' => begun
            .strip_prefix(b"[")
            .map(<[u8]>::trim_ascii_start)
            .filter(|rest| rest.starts_with(b"{"))
            .map(|rest| (Form::JsonEachRow, json::keys(rest)))
            .or_else(|| json::strings(first).map(|names| (Form::JsonCompactEachRow, names))),
        _ => delimited_form(first, second, file),
    };
    if let Some((form, names)) = told {
        let sniffed = found(form, names, hint);
        // Anything may be lines of JSON.
        let is_claimed = sniffed.table.is_some()
            || !matches!(form, Form::JsonEachRow | Form::JsonCompactEachRow);
        return is_claimed.then_some(sniffed);
    }
    drawn_form(&lines).and_then(|(form, names, query)| {
        let hint = query.or(hint);
        let sniffed = found(form, names, hint);
        (form != Form::PrettySpace || sniffed.table.is_some()).then_some(sniffed)
    })
}

/// What a text folds into one line that is read a row a line, and with which filter `jq` unfolds it.
pub fn folded(sample: &[u8]) -> Option<(&'static str, &'static str)> {
    let sample = sample.strip_prefix(BOM).unwrap_or(sample);
    let first = split_lines(sample).next().unwrap_or_default();
    if is_document(first) {
        return Some(("a table", ".data[]"));
    }
    is_array(first).then_some(("an array of log rows", ".[]"))
}

/// Whether a line begins a document with a table, as `FORMAT JSON` writes one.
fn is_document(line: &[u8]) -> bool {
    let begins = line.iter().filter(|byte| !byte.is_ascii_whitespace());
    let document = br#"{"meta":[{"name":""#;
    begins.take(document.len()).eq(document)
}

/// Whether a line begins an array of rows that a log or a table could have, and the array goes on or ends behind the first.
fn is_array(line: &[u8]) -> bool {
    let rows = line.trim_ascii_start().strip_prefix(b"[");
    let Some(rows) = rows.map(<[u8]>::trim_ascii_start) else {
        return false;
    };
    let keys = json::keys(rows);
    let has = |names: &[&str]| keys.iter().any(|key| names.contains(&key.as_str()));
    let is_row = has(ROW_TIMES) && has(ROW_MESSAGES);
    let behind = other(rows).map(|(_, behind)| behind.trim_ascii_start());
    is_row
        && behind.is_some_and(|behind| match behind.strip_prefix(b",") {
            Some(next) => next.trim_ascii_start().starts_with(b"{"),
            None => behind.starts_with(b"]"),
        })
}

fn json_form(begun: &[u8], lines: &[&[u8]]) -> Option<(Form, Vec<String>)> {
    let keys = json::keys(begun);
    if keys.first().is_none_or(|first| first != "meta") {
        return (!keys.is_empty()).then_some((Form::JsonEachRow, keys));
    }
    let names = lines.iter().map(|line| line.trim_ascii());
    let mut lines = names.clone();
    let names: Vec<String> = names
        .take_while(|line| !line.starts_with(b"\"data\":"))
        .filter_map(|line| json::named_string(line, "name"))
        .collect();
    lines.find(|line| line.starts_with(b"\"data\":"))?;
    let row = lines.find(|line| !line.is_empty() && *line != b"[");
    let is_compact = row.is_some_and(|row| row.starts_with(b"["));
    let form = if is_compact {
        Form::JsonCompact
    } else {
        Form::Json
    };
    (!names.is_empty()).then_some((form, names))
}

/// Whether a text can be a column's name.
fn is_name(name: &str) -> bool {
    let first = name.bytes().next();
    first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.'))
}

/// Whether a text is a type, as `WithNamesAndTypes` has it.
fn is_type(text: &str) -> bool {
    const TYPES: &[&str] = &[
        "String",
        "UInt",
        "Int",
        "Float",
        "Decimal",
        "Date",
        "Enum",
        "Array(",
        "Map(",
        "Tuple(",
        "Nullable(",
        "LowCardinality(",
        "UUID",
        "IPv",
        "Bool",
        "FixedString",
        "JSON",
        "Nested(",
        "Variant(",
        "Dynamic",
        "Nothing",
        "Object(",
        "BFloat",
        "SimpleAggregateFunction(",
        "AggregateFunction(",
        "Interval",
        "Time",
    ];
    TYPES.iter().any(|start| text.starts_with(start))
}

fn delimited_form(first: &[u8], second: &[u8], file: &str) -> Option<(Form, Vec<String>)> {
    let tsv = delimited::tsv_names(first);
    let csv = delimited::csv_names(first);
    let ends = |ending: &str| {
        let lower = file.to_ascii_lowercase();
        lower.contains(&format!(".{ending}"))
    };
    for (names, types, forms, ending) in [
        (
            tsv,
            delimited::tsv_names(second),
            [Form::Tsv, Form::TsvTypes],
            "tsv",
        ),
        (
            csv,
            delimited::csv_names(second),
            [Form::Csv, Form::CsvTypes],
            "csv",
        ),
    ] {
        if names.len() < 2 || !names.iter().all(|name| is_name(name)) {
            continue;
        }
        let of_one_width = types.len() == names.len();
        if of_one_width && types.iter().all(|it| is_type(it)) {
            return Some((forms[1], names));
        }
        let columns = Columns::new(names.iter().cloned());
        let is_known = identify(&columns, hinted(file)).is_some();
        // A heading alone says little: the ending must say so too, or the columns be a known table's.
        if is_known || (ends(ending) && (of_one_width || second.is_empty())) {
            return Some((forms[0], names));
        }
    }
    None
}

/// A form, the names of its columns, and the table that a query before it names.
type Found = (Form, Vec<String>, Option<&'static Known>);

/// A table that people read, possibly behind what a client printed before it.
fn drawn_form(lines: &[&[u8]]) -> Option<Found> {
    let mut query = None;
    for (at, line) in lines.iter().enumerate().take(PREAMBLE) {
        let next = lines.get(at + 1).copied().unwrap_or_default();
        if vertical::begins(line, next) {
            let names = vertical::names(lines[at + 2..].iter().copied());
            return (!names.is_empty()).then_some((Form::Vertical, names, query));
        }
        let text = pretty::plain(line);
        if memchr::memmem::find(line, b"system.").is_some() {
            query = hinted(&text).or(query);
        }
        if let Some((form, names)) = framed(&text, next) {
            return Some((form, names, query));
        }
        let spaced = pretty::spaced_names(&text);
        if spaced.len() > 1 && text.starts_with(' ') && next.trim_ascii().is_empty() {
            let names = spaced.into_iter().map(|(name, ..)| name).collect();
            return Some((Form::PrettySpace, names, query));
        }
    }
    None
}

/// A table with bars that begins at a line.
fn framed(text: &str, next: &[u8]) -> Option<(Form, Vec<String>)> {
    let next = pretty::plain(next);
    match pretty::drawn(text) {
        pretty::Drawn::Edge(names) => {
            let all = names.iter().all(|name| is_name(name));
            (all && !names.is_empty()).then_some((Form::Pretty, names))
        }
        pretty::Drawn::Rule => {
            let cells = pretty::between_bars(&next);
            let names: Vec<String> = cells.iter().map(|name| name.trim().to_owned()).collect();
            let all = !names.is_empty() && names.iter().all(|name| is_name(name));
            all.then_some((Form::Pretty, names))
        }
        pretty::Drawn::Cells if pretty::is_markdown_rule(&next) => {
            let cells = pretty::between_bars(text);
            let names: Vec<String> = cells.iter().map(|name| name.trim().to_owned()).collect();
            names
                .iter()
                .all(|name| is_name(name))
                .then_some((Form::Markdown, names))
        }
        pretty::Drawn::Cells | pretty::Drawn::Other => None,
    }
}
