//! Where a message of the server stops being the server's own: a query that looks for a message in a table of logs, or
//! whose data hold one, is no news of the server.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::exception::Exception;
use crate::record::Record;

/// What servers write in front of the text of a query or of its data.
///
/// ```text
/// Code: 60. DB::Exception: Table a.b does not exist. (UNKNOWN_TABLE) (version 26.6) (from [::1]:1) (in query: SELECT ...)
/// Code: 62. DB::Exception: Syntax error: failed at position 8 (x): x y z. Expected one of: ...
/// Code: 47. DB::Exception: Unknown expression identifier `a` in scope SELECT a FROM b
/// Code: 27. DB::Exception: Cannot parse input: expected ',' before: 'a\tb\n'
/// Code: 53. DB::Exception: Type mismatch in VALUES section here: ...
/// DDLWorker: Processing task query-0000000001 (query: ALTER TABLE ...)
/// HTTPHandler: Request URI: /?query=SELECT ...
/// AsynchronousInsertQueue: Have 1 pending inserts for query 'INSERT INTO a VALUES'
/// ```
const MARKS: [&str; 8] = [
    "(in query: ",
    "query: ",
    "failed at position ",
    " in scope ",
    " before: ",
    " here: ",
    "Request URI: ",
    " query '",
];

static SEARCH: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| AhoCorasick::new(MARKS).ok());

/// Where in the message of a record a query or its data begin, if they do.
///
/// ```text
/// executeQuery: (from 127.0.0.1:35276, user: a) (query 1, line 1) SELECT ... (stage: Complete)
/// AsynchronousInsertQueue: Failed insertion for query 'INSERT INTO a VALUES': Code: 60. DB::Exception: No table
/// ```
///
/// An exception behind a query is the server's own again.
pub(super) fn of(record: &Record<'_>, exception: Option<Exception>) -> Option<usize> {
    let message = record.message;
    if record.logger == b"executeQuery" && message.starts_with(b"(from ") {
        return memchr::memchr(b')', message);
    }
    let from = exception.map_or(0, |it| it.text_at);
    let found = SEARCH.as_ref()?.find(message.get(from..)?)?;
    Some(from + found.end())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsers::{Format, exception};

    fn own(logger_and_message: &str) -> String {
        let line = format!("2026.08.21 09:47:56.948992 [ 60 ] {{}} <Error> {logger_and_message}");
        let record = Format::CLICKHOUSE.parse(line.as_bytes()).unwrap();
        let end = of(&record, exception::of(&record)).unwrap_or(record.message.len());
        String::from_utf8_lossy(&record.message[..end]).into_owned()
    }

    #[test]
    fn what_stands_in_front_of_a_query_is_the_servers() {
        for (message, servers) in [
            (
                "executeQuery: (from [::1]:1, user: a) SELECT 'x' (stage: Complete)",
                "(from [::1]:1, user: a",
            ),
            (
                "executeQuery: Code: 60. DB::Exception: No table. (from [::1]:1) (in query: SELECT 'x')",
                "Code: 60. DB::Exception: No table. (from [::1]:1) (in query: ",
            ),
            (
                "DDLWorker: Processing task query-0000000001 (query: SELECT 'x')",
                "Processing task query-0000000001 (query: ",
            ),
            ("a: (from b) is kept", "(from b) is kept"),
            (
                "AsynchronousInsertQueue: Failed insertion for query 'INSERT INTO a': Code: 60. DB::Exception: No table",
                "Failed insertion for query 'INSERT INTO a': Code: 60. DB::Exception: No table",
            ),
        ] {
            assert_eq!(own(message), servers);
        }
    }
}
