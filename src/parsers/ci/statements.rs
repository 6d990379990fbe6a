//! Tables in the statements that a test's log prints, and how those that it creates are partitioned.

use super::model::{Mentions, PartitionKey};

/// Whether a text may hold a statement about a table: one of the words that stand before a table's name.
///
/// Nine of ten lines of a log hold none, so this looks at what stands before each blank and at nothing else.
pub fn may_name_a_table(text: &[u8]) -> bool {
    memchr::memchr2_iter(b' ', b'\\', text).any(|at| {
        // The words end in few letters, which most words do not end in.
        let last = at.checked_sub(1).map(|before| text[before] | 0x20);
        matches!(last, Some(b'e' | b'm' | b'n' | b'o'))
            && BEFORE_TABLES.iter().any(|word| {
                let before = at.checked_sub(word.len()).map(|from| &text[from..at]);
                before.is_some_and(|before| before.eq_ignore_ascii_case(word.as_bytes()))
            })
    })
}

/// Words after which a table may be named.
const BEFORE_TABLES: [&str; 5] = ["TABLE", "FROM", "INTO", "UPDATE", "JOIN"];

/// Bytes of a statement that are looked through for how it partitions its table; one of some hundred columns has some 10 KB.
const STATEMENT_BYTES_MAX: usize = 64 * 1024;

/// Notes the tables that a text's statements name.
pub fn note(text: &str, mentions: &mut Mentions) {
    // Letters of other alphabets keep their places.
    let upper = text.to_ascii_uppercase();
    let (mut reads, mut creates) = (false, None);
    // The table that a statement creates, and where its name ends: the statement ends where the next one begins, so that each
    // byte is looked at once.
    let mut created: Option<(&str, usize)> = None;
    let close = |created: Option<(&str, usize)>, end: usize, mentions: &mut Mentions| {
        let Some((name, begin)) = created else { return };
        // A quoted name may hold the word that begins a statement.
        let end = end.min(begin.saturating_add(STATEMENT_BYTES_MAX));
        let end = text.floor_char_boundary(end).max(begin);
        if mentions.keys.len() < super::MENTIONS_MAX
            && let Some(key) = key(name, &text[begin..end], &upper[begin..end])
        {
            keep(key, mentions);
        }
    };
    for (at, word) in words(&upper) {
        let after = at + word.len();
        match word {
            "SELECT" | "DELETE" | "ALTER" | "EXCHANGE" | "ATTACH" | "REPLACE" | "MOVE" => {
                reads = true;
            }
            "CREATE" => creates = Some(at),
            "TABLE" => {
                if let Some((name, rest)) = table(text, &upper, after) {
                    Mentions::note(&mut mentions.tables, name);
                    if let Some(begin) = creates.take() {
                        close(created.replace((name, rest)), begin, mentions);
                    }
                    reads = true;
                }
            }
            // In prose something is received from a host.
            "FROM" | "JOIN" if reads => {
                if let Some((name, _)) = table(text, &upper, after) {
                    Mentions::note(&mut mentions.tables, name);
                }
            }
            "INTO" | "UPDATE" => {
                if let Some((name, rest)) = table(text, &upper, after)
                    && is_statement(word, &upper[..at], &upper[rest..])
                {
                    Mentions::note(&mut mentions.tables, name);
                }
            }
            _ => {}
        }
    }
    close(created, text.len(), mentions);
}

/// Whether `INSERT` stands before `INTO`, or `SET` behind what is updated.
fn is_statement(word: &str, before: &str, behind: &str) -> bool {
    match word {
        "INTO" => before.trim_end().ends_with("INSERT"),
        _ => behind.trim_start().starts_with("SET "),
    }
}

fn keep(key: PartitionKey, mentions: &mut Mentions) {
    let is_known = mentions.keys.contains(&key);
    if !is_known && mentions.keys.len() < super::MENTIONS_MAX {
        mentions.keys.push(key);
    }
}

/// The words of a text in capitals, with where each begins.
fn words(upper: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        let begin = at + upper[at..].find(is_letter)?;
        let end = upper[begin..]
            .find(|c| !is_letter(c))
            .map_or(upper.len(), |end| begin + end);
        at = end;
        Some((begin, &upper[begin..end]))
    })
}

/// Whether a statement that creates a table is not over: more lines may say how it is partitioned.
pub fn is_open(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    upper.find("CREATE TABLE ").is_some_and(|at| {
        !upper[at..].contains("PARTITION BY ") && !upper[at..].contains("SETTINGS")
    })
}

/// The table's name from `at` on, without a database, and where it ends. `upper` is the text in capitals.
fn table<'t>(text: &'t str, upper: &str, at: usize) -> Option<(&'t str, usize)> {
    let mut at = at;
    let skip = |at: usize| at + (text[at..].len() - text[at..].trim_start_matches(BLANKS).len());
    at = skip(at);
    for word in ["IF ", "NOT ", "EXISTS "] {
        if upper[at..].starts_with(word) {
            at = skip(at + word.len());
        }
    }
    let (first, mut end, mut is_quoted) = part(text, at)?;
    let mut name = first;
    while let Some(rest) = text[end..].strip_prefix('.') {
        let Some((next, next_end, quoted)) = part(text, text.len() - rest.len()) else {
            break;
        };
        if matches!(
            name.to_ascii_lowercase().as_str(),
            "system" | "information_schema"
        ) {
            return None;
        }
        (name, end, is_quoted) = (next, next_end, quoted);
    }
    // A function's name is followed by its arguments, a host's by its port.
    let is_other = !is_quoted && text[end..].starts_with(['(', ':']);
    let is_word = name.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    let is_keyword = !is_quoted
        && (name.bytes().all(|b| b.is_ascii_uppercase())
            || KEYWORDS.iter().any(|it| name.eq_ignore_ascii_case(it)));
    (is_word && !is_keyword && !is_other).then_some((name, end))
}

/// Blanks, as a shell prints them and as JSON escapes them.
const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// What stands in a table's place and is none.
const KEYWORDS: [&str; 10] = [
    "select",
    "function",
    "values",
    "table",
    "set",
    "if",
    "as",
    "on",
    "where",
    "partition",
];

/// A name or its part from `at` on: the name, where it ends, and whether it is quoted. A shell may escape the quotes.
fn part(text: &str, at: usize) -> Option<(&str, usize, bool)> {
    let rest = text.get(at..)?;
    let opened = rest.trim_start_matches('\\');
    if let Some(quote) = opened.chars().next().filter(|c| matches!(c, '`' | '"')) {
        let begin = at + (rest.len() - opened.len()) + 1;
        let length = text[begin..].find(quote)?;
        let name = text[begin..begin + length].trim_end_matches('\\');
        let is_name = !name.is_empty() && name.len() < 256 && !name.contains(['\n', ';']);
        return is_name.then_some((name, begin + length + 1, true));
    }
    let length = rest
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')))
        .unwrap_or(rest.len());
    (length > 0).then(|| (&rest[..length], at + length, false))
}

/// How the table is partitioned that the rest of its statement describes.
fn key(table: &str, rest: &str, upper: &str) -> Option<PartitionKey> {
    let open = rest.find('(')?;
    let length = enclosed(&rest[open..])?;
    let columns = split(&rest[open + 1..open + length - 1]);
    let columns = columns.iter().filter_map(|column| {
        let (name, kind) = column.trim().split_once(char::is_whitespace)?;
        let kind = kind.split_whitespace().next()?;
        Some((name.trim_matches(['`', '"']).to_owned(), kind.to_owned()))
    });
    let tail = open + length;
    let after = tail + upper[tail..].find("PARTITION BY ")? + "PARTITION BY ".len();
    Some(PartitionKey {
        table: table.to_owned(),
        columns: columns.collect(),
        expression: expression(&rest[after..], &upper[after..])?,
    })
}

/// The expression at the start, up to the next clause or the statement's end.
fn expression(text: &str, upper: &str) -> Option<String> {
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
        end = upper[..end].find(clause).unwrap_or(end);
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
    fn tables_are_read_from_statements_in_any_case_quoted_and_with_a_database() {
        let tables = |text: &str| {
            let mut mentions = Mentions::default();
            note(text, &mut mentions);
            assert!(mentions.tables.is_empty() || may_name_a_table(text.as_bytes()));
            mentions.tables
        };
        for text in [
            "SELECT count() FROM db1.t_1 WHERE x",
            "select * from t_1",
            "insert into `t_1` values (1)",
            "INSERT INTO \"db 1\".\"t_1\" SELECT 1",
            "bash# client -q \"SELECT 1 FROM \\`t_1\\` FORMAT TSV\"",
            "alter table db1.t_1 delete where 1",
            "drop table if exists t_1",
            "DELETE FROM t_1 WHERE 1",
            "UPDATE t_1 SET a = 1",
        ] {
            assert_eq!(tables(text), ["t_1"], "{text}");
        }
        assert_eq!(
            tables("SELECT a FROM t_1 JOIN db.t_2 USING a"),
            ["t_1", "t_2"]
        );
        for text in [
            "Code: 210. DB::Exception: Received from clickhouse1:9000.",
            "SELECT number FROM numbers(10)",
            "SELECT * FROM system.parts_1",
            "SELECT 1 from clickhouse1:9000",
            "read 5 rows from table_of_contents",
            "data was put into place_1",
        ] {
            assert_eq!(tables(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn a_key_is_read_in_lower_case_too() {
        let mut mentions = Mentions::default();
        note(
            "create table d.t1 (a UInt16, b UInt16) engine = MergeTree partition by a order by b",
            &mut mentions,
        );
        assert_eq!(mentions.keys[0].expression, "a");
        assert!(is_open("create table t (a UInt8)"));
    }

    #[test]
    fn each_of_many_statements_has_its_own_key() {
        let mut mentions = Mentions::default();
        let columns: Vec<String> = (0..400).map(|at| format!("column_{at} UInt64")).collect();
        let columns = columns.join(", ");
        note(
            &format!(
                "CREATE TABLE t1 (a UInt8, b ( ; CREATE TABLE t2 (a UInt8) ORDER BY a; \
                 CREATE TABLE t3 ({columns}) PARTITION BY column_1 ORDER BY column_0; create table t4 (b UInt8) partition by b"
            ),
            &mut mentions,
        );
        let keys = mentions.keys.iter();
        let keys: Vec<(&str, &str)> = keys
            .map(|key| (key.table.as_str(), key.expression.as_str()))
            .collect();
        assert_eq!(keys, [("t3", "column_1"), ("t4", "b")]);
        assert_eq!(mentions.keys[0].columns.len(), 400);
        assert_eq!(mentions.tables, ["t1", "t2", "t3", "t4"]);
        // What is never closed is looked through once and not from each of its beginnings.
        let mut mentions = Mentions::default();
        note(&"CREATE TABLE a (".repeat(1 << 17), &mut mentions);
        assert_eq!((mentions.tables.len(), mentions.keys.len()), (1, 0));
        let mut mentions = Mentions::default();
        note(
            "CREATE TABLE `CREATE` (a UInt8) TABLE t5 (a UInt8) PARTITION BY a",
            &mut mentions,
        );
        assert_eq!(mentions.tables, ["CREATE", "t5"]);
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
