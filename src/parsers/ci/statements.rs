//! Tables in the statements that a test's log prints, and how those that it creates are partitioned.

use super::model::{Mentions, PartitionKey};

/// Whether a text may hold a statement about a table.
pub fn may_name_a_table(text: &[u8]) -> bool {
    memchr::memmem::find(text, b"TABLE ").is_some()
}

/// Notes the tables that a text's statements name.
pub fn note(text: &str, mentions: &mut Mentions) {
    for (at, _) in text.match_indices("TABLE ") {
        let after = &text[at + "TABLE ".len()..];
        let after = after.trim_start();
        let after = after
            .strip_prefix("IF NOT EXISTS ")
            .or_else(|| after.strip_prefix("IF EXISTS "))
            .unwrap_or(after);
        let Some((name, rest)) = table(after) else {
            continue;
        };
        Mentions::note(&mut mentions.tables, &name);
        if text[..at].trim_end().ends_with("CREATE") {
            if let Some(key) = key(&name, rest) {
                let is_known = mentions.keys.iter().any(|known| known == &key);
                if !is_known && mentions.keys.len() < super::MENTIONS_MAX {
                    mentions.keys.push(key);
                }
            }
        } else if let Some((_, other)) = rest.split_once(" FROM ")
            && let Some((name, _)) = table(other.trim_start())
        {
            Mentions::note(&mut mentions.tables, &name);
        }
    }
}

/// Whether a statement that creates a table is not over: more lines may say how it is partitioned.
pub fn is_open(text: &str) -> bool {
    text.find("CREATE TABLE ")
        .is_some_and(|at| !text[at..].contains("PARTITION BY ") && !text[at..].contains("SETTINGS"))
}

/// The table's name at the start, without a database, and what follows.
fn table(text: &str) -> Option<(String, &str)> {
    let end = text
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '`' | '"' | '-')))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let name = name
        .rsplit('.')
        .next()
        .unwrap_or(name)
        .trim_matches(['`', '"']);
    let is_word = name.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let is_keyword = name.bytes().all(|b| b.is_ascii_uppercase());
    (is_word && !is_keyword).then(|| (name.to_owned(), rest))
}

/// How the table is partitioned that the rest of its statement describes.
fn key(table: &str, rest: &str) -> Option<PartitionKey> {
    let open = rest.find('(')?;
    let length = enclosed(&rest[open..])?;
    let columns = split(&rest[open + 1..open + length - 1]);
    let columns = columns.iter().filter_map(|column| {
        let (name, kind) = column.trim().split_once(char::is_whitespace)?;
        let kind = kind.split_whitespace().next()?;
        Some((name.trim_matches(['`', '"']).to_owned(), kind.to_owned()))
    });
    let tail = &rest[open + length..];
    let (_, after) = tail.split_once("PARTITION BY ")?;
    Some(PartitionKey {
        table: table.to_owned(),
        columns: columns.collect(),
        expression: expression(after)?,
    })
}

/// The expression at the start, up to the next clause or the statement's end.
fn expression(text: &str) -> Option<String> {
    const CLAUSES: &[&str] = &[
        "ORDER BY",
        "PRIMARY KEY",
        "SAMPLE BY",
        "SETTINGS",
        "TTL ",
        "ENGINE",
        "COMMENT",
    ];
    let mut end = text.find([';', '\'', '"']).unwrap_or(text.len());
    for clause in CLAUSES {
        end = text[..end].find(clause).unwrap_or(end);
    }
    let flat: Vec<&str> = text[..end].split_whitespace().collect();
    let flat = flat.join(" ").replace("\\n", " ").trim().to_owned();
    (!flat.is_empty()).then_some(flat)
}

/// The length of what a bracket at the start encloses, brackets included.
fn enclosed(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// The parts that commas outside brackets separate.
pub fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_keys_are_read_from_the_statements_of_a_shell() {
        let mut mentions = Mentions::default();
        note(
            "bash# client -q \"CREATE TABLE IF NOT EXISTS default.destination_e3 ON CLUSTER c (a UInt16, b Nullable(UInt16), `c d` DateTime('UTC')) \
             ENGINE = ReplicatedMergeTree('/t', '{r}') PARTITION BY (intDiv(a, 2), intDiv(b, 2)) ORDER BY tuple()\"",
            &mut mentions,
        );
        note(
            "ALTER TABLE destination_e3 ATTACH PARTITION 1 FROM source_e3",
            &mut mentions,
        );
        assert_eq!(mentions.tables, ["destination_e3", "source_e3"]);
        let key = &mentions.keys[0];
        assert_eq!(
            (key.table.as_str(), key.expression.as_str()),
            ("destination_e3", "(intDiv(a, 2), intDiv(b, 2))")
        );
        let names: Vec<&str> = key.columns.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["a", "b", "`c"].map(|name| name.trim_matches('`')));
    }

    #[test]
    fn what_names_no_table_is_left_alone() {
        let mut mentions = Mentions::default();
        note("SHOW CREATE TABLE (", &mut mentions);
        note("ALTER TABLE ", &mut mentions);
        note("CREATE TABLE t (a UInt8, b (", &mut mentions);
        assert_eq!(
            (mentions.tables.as_slice(), mentions.keys.len()),
            (&["t".to_owned()][..], 0)
        );
    }
}
