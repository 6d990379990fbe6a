//! What cannot be read as a rules file, in the words of such files instead of those of the program's types.

use std::ops::Range;

use super::origin::{LoadError, Origin};

/// Keys whose values are durations.
const DURATIONS: &[&str] = &["within", "lasting", "pause", "skew", "silence"];

/// The fault of a value that cannot be read, said in what one writes.
pub(super) fn misread(origin: Origin<'_>, span: Range<usize>, message: &str) -> LoadError {
    let wrong = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))
        .or_else(|| message.strip_prefix("invalid length "))
        .and_then(|rest| rest.rsplit_once(", expected "));
    let Some((found, expected)) = wrong else {
        return origin.fault(span, message, hint_for(message));
    };
    let written = origin.text.get(span.clone()).unwrap_or_default();
    let hint = remedy(origin, &span, written, expected);
    let message = format!(
        "expected {}, found {}",
        wanted(expected),
        given(found, written)
    );
    origin.fault(span, message, hint)
}

fn hint_for(message: &str) -> &'static str {
    if message.starts_with("unknown field") || message.starts_with("unknown variant") {
        "check the spelling against the names listed"
    } else if message.contains("missing field") {
        "add the field to this table"
    } else {
        ""
    }
}

/// What must stand there.
fn wanted(expected: &str) -> &str {
    match expected {
        "a string" | "string" | "str" => "a text in quotes",
        "a boolean" | "bool" => "true or false",
        "a map" => "a table in braces",
        "u16" | "u32" | "u64" | "usize" => "a whole number that is not negative",
        "f64" => "a number",
        other if is_list(other) => "a list in brackets",
        other if other.starts_with("struct ") => "a table in braces",
        other => other,
    }
}

fn is_list(expected: &str) -> bool {
    expected == "a sequence"
        || expected.starts_with("a tuple")
        || expected.starts_with("an array")
        || expected.starts_with("tuple")
}

/// What stands there instead.
fn given(found: &str, written: &str) -> String {
    let is_date = found == "map" && written.starts_with(|c: char| c.is_ascii_digit());
    match found {
        "map" if is_date => format!("the date {written}"),
        "map" => "a table".to_owned(),
        "sequence" => "a list".to_owned(),
        other => {
            let other = other.strip_prefix("string ").unwrap_or(other);
            let numbers = ["integer ", "floating point ", "boolean "];
            let value = numbers.iter().find_map(|kind| other.strip_prefix(kind));
            value.unwrap_or(other).trim_matches('`').to_owned()
        }
    }
}

/// What to write instead, where that is plain.
fn remedy(origin: Origin<'_>, span: &Range<usize>, written: &str, expected: &str) -> String {
    let before = origin.text.get(..span.start).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    let key = line.trim_end().strip_suffix('=').map(str::trim_end);
    let key = key.and_then(|key| key.rsplit([' ', ',', '{', '\t']).next());
    let key = key.unwrap_or_default();
    let is_one_word = !written.is_empty() && !written.contains(char::is_whitespace);
    let is_text = written.starts_with(['"', '\'']);
    let is_bare = is_one_word && !is_text && !written.starts_with(['[', '{']);
    let bare = written.trim_matches(['"', '\'']);
    let is_number = bare.parse::<f64>().is_ok();
    if wanted(expected).starts_with("a text in quotes") && is_bare {
        if DURATIONS.contains(&key) && is_number {
            return format!("write a number and a unit in quotes: {key} = \"{written}s\"");
        }
        return format!("write it in quotes: \"{written}\"");
    }
    if is_list(expected) {
        let name = written.trim_start_matches('[');
        let name = name.split(']').next().unwrap_or_default();
        if written.starts_with('[') && line.trim().is_empty() {
            return format!("write [[{name}]]: there may be several");
        }
        if is_text || is_bare {
            return format!("write it in brackets: [{written}]");
        }
    }
    if wanted(expected).contains("number") && is_text && is_number {
        return format!("write it without quotes: {bare}");
    }
    String::new()
}
