//! Where a query begins in a line of a log.

/// What begins a statement where it is written in capitals.
const STATEMENTS: &[&str] = &[
    "ALTER ",
    "ATTACH ",
    "BACKUP ",
    "CREATE ",
    "DELETE ",
    "DESCRIBE ",
    "DETACH ",
    "DROP ",
    "EXCHANGE ",
    "EXPLAIN ",
    "GRANT ",
    "INSERT ",
    "KILL ",
    "OPTIMIZE ",
    "RENAME ",
    "RESTORE ",
    "REVOKE ",
    "SELECT ",
    "SET ",
    "SHOW ",
    "SYSTEM ",
    "TRUNCATE ",
    "UNDROP ",
    "UPDATE ",
    "USE ",
    "WITH ",
];

/// The same in small letters, with what must follow: alone they are words of a sentence.
const SMALL: &[(&str, &str)] = &[
    ("alter table ", ""),
    ("create or replace ", ""),
    ("create database ", ""),
    ("create view ", ""),
    ("create table ", ""),
    ("create user ", ""),
    ("delete from ", " where "),
    ("drop table ", ""),
    ("insert into ", ""),
    ("select ", " from "),
    ("select '", ""),
    ("update ", " set "),
    ("with ", " as ("),
];

/// What a query follows.
const BEFORE_QUERY: &[&str] = &[
    "in query: ",
    "Query: ",
    "query: ",
    "query = ",
    "query=",
    "(query ",
];

/// Where a query begins.
pub(super) fn query_start(text: &str) -> Option<usize> {
    let from = text.find("executeQuery: (from ").and_then(|at| {
        let end = at + text[at..].find(") ")? + 2;
        (end < text.len()).then_some(end)
    });
    let begins_word = |at: usize| !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let marked = BEFORE_QUERY.iter().filter_map(|mark| {
        let mut places = text.match_indices(mark).map(|(at, _)| at);
        let at = places.find(|&at| begins_word(at))? + mark.len();
        (at < text.len()).then_some(at)
    });
    let capitals = STATEMENTS.iter().filter_map(|word| {
        let mut places = text.match_indices(word).map(|(at, _)| at);
        places.find(|&at| begins_word(at))
    });
    let lower = text.to_ascii_lowercase();
    let small = SMALL.iter().filter_map(|(word, then)| {
        let mut places = lower.match_indices(word).map(|(at, _)| at);
        places.find(|&at| begins_word(at) && lower[at + word.len() - 1..].contains(then))
    });
    marked.chain(from).chain(capitals).chain(small).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_begins_at_its_statement_or_behind_its_mark() {
        for (text, query) in [
            (
                "<Debug> executeQuery: (from [::1]:1) select 1",
                Some("select 1"),
            ),
            (
                "x (in query: INSERT INTO t VALUES ('a'))",
                Some("INSERT INTO t VALUES ('a'))"),
            ),
            ("while executing SELECT 1", Some("SELECT 1")),
            ("selected parts from a PRESELECT x", None),
            ("select name from t", Some("select name from t")),
            (
                "x: with v as (select 1) select v",
                Some("with v as (select 1) select v"),
            ),
            ("Cannot create the table of parts", None),
        ] {
            assert_eq!(query_start(text).map(|at| &text[at..]), query, "{text}");
        }
    }
}
