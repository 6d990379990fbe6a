//! Partitions: of rows that are missing, by the key of their table, and of parts, by their names.

use crate::parsers::ci::{PartitionKey, statements};

/// The partition that a part's name begins with: `6-9` of `6-9_1_1_0`.
pub(super) fn of_part(part: &str) -> &str {
    let name = part.rsplit('/').next().unwrap_or(part);
    name.split('_').next().unwrap_or(name)
}

/// The partition that a printed row lies in, if the key can be worked out: numbers and dates, and what is commonly done to
/// them. `None` where it cannot, or where the row has not one value for each column.
pub(super) fn of_row(row: &str, key: &PartitionKey) -> Option<String> {
    let values: Vec<&str> = row.split('\t').collect();
    if values.len() != key.columns.len() {
        return None;
    }
    let terms = terms(&key.expression);
    if terms.is_empty() {
        return Some("all".to_owned());
    }
    let parts: Option<Vec<String>> = terms
        .iter()
        .map(|term| term_of(term, key, &values))
        .collect();
    parts.map(|parts| parts.join("-"))
}

/// The terms of a key: what a tuple holds, or the expression itself.
fn terms(expression: &str) -> Vec<&str> {
    let mut inner = expression.trim();
    if let Some(rest) = inner.strip_prefix("tuple") {
        inner = rest.trim_start();
    }
    if let Some(tuple) = inner
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
        && is_balanced(tuple)
    {
        inner = tuple;
    }
    let terms = statements::split(inner).into_iter().map(str::trim);
    terms.filter(|term| !term.is_empty()).collect()
}

/// Whether every bracket is closed by one after it.
fn is_balanced(text: &str) -> bool {
    let mut depth = 0_i32;
    for byte in text.bytes() {
        depth += match byte {
            b'(' => 1,
            b')' => -1,
            _ => 0,
        };
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}

/// What a term is in a partition's name.
fn term_of(term: &str, key: &PartitionKey, values: &[&str]) -> Option<String> {
    let column = |name: &str| {
        let name = name.trim().trim_matches(['`', '"']);
        let at = key.columns.iter().position(|(known, _)| known == name)?;
        Some((values[at], key.columns[at].1.as_str()))
    };
    let number = |text: &str| match column(text) {
        Some((value, kind)) if kind.contains("Int") => value.trim().parse::<i64>().ok(),
        Some(_) => None,
        None => text.trim().parse::<i64>().ok(),
    };
    if let Some((value, kind)) = column(term) {
        return match kind {
            _ if kind.contains("Int") => value
                .trim()
                .parse::<i64>()
                .ok()
                .map(|number| number.to_string()),
            _ if kind.starts_with("Date") && !kind.starts_with("DateTime") => date(value),
            _ => None,
        };
    }
    if let Some((left, right)) = term.split_once('%')
        && !term.contains('(')
    {
        return Some(number(left)?.checked_rem(number(right)?)?.to_string());
    }
    let (function, arguments) = term.strip_suffix(')')?.split_once('(')?;
    let arguments = statements::split(arguments);
    match (function.trim(), arguments.as_slice()) {
        ("intDiv", [left, right]) => Some(number(left)?.checked_div(number(right)?)?.to_string()),
        ("modulo", [left, right]) => Some(number(left)?.checked_rem(number(right)?)?.to_string()),
        ("toYYYYMM", [time]) => date(column(time)?.0).map(|date| date[..6].to_owned()),
        ("toDate" | "toYYYYMMDD", [time]) => date(column(time)?.0),
        ("toYear", [time]) => date(column(time)?.0).map(|date| date[..4].to_owned()),
        _ => None,
    }
}

/// `YYYYMMDD` of a date, or of a time that begins with one.
fn date(value: &str) -> Option<String> {
    let date = value.get(..10)?;
    let digits = date.replace('-', "");
    let fits = date.as_bytes()[4] == b'-'
        && digits.len() == 8
        && digits.bytes().all(|byte| byte.is_ascii_digit());
    fits.then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(expression: &str) -> PartitionKey {
        let columns = [
            ("a", "UInt16"),
            ("b", "UInt16"),
            ("t", "DateTime"),
            ("s", "String"),
        ];
        PartitionKey {
            table: "t".to_owned(),
            columns: columns
                .map(|(name, kind)| (name.to_owned(), kind.to_owned()))
                .to_vec(),
            expression: expression.to_owned(),
        }
    }

    #[test]
    fn rows_lie_in_the_partitions_that_their_parts_are_named_for() {
        let row = "12\t18\t2026-08-01 01:00:00\tx";
        for (expression, partition) in [
            ("(intDiv(a, 2), intDiv(b,2))", Some("6-9")),
            ("(a%5,b % 2)", Some("2-0")),
            ("intDiv(a,2)", Some("6")),
            ("a", Some("12")),
            ("toYYYYMM(t)", Some("202608")),
            ("toDate(t)", Some("20260801")),
            ("tuple()", Some("all")),
            ("s", None),
            ("cityHash64(a)", None),
            ("intDiv(a, 0)", None),
        ] {
            assert_eq!(
                of_row(row, &key(expression)).as_deref(),
                partition,
                "{expression}"
            );
        }
        assert_eq!(of_row("12\t18", &key("a")), None);
        assert_eq!(
            (
                of_part("6-9_1_1_0"),
                of_part("1_1_1_0_3"),
                of_part("all_0_0_0")
            ),
            ("6-9", "1", "all")
        );
    }
}
