//! Where a message of the server stops being the server's own: a query that looks for a message in a table of logs, or
//! whose data hold one, is no news of the server.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::exception::Exception;
use crate::record::Record;
use crate::search::Literals;

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
/// MergeTreeWhereOptimizer: condition "a = 'x'" moved to PREWHERE
/// a.b (SelectExecutor): Key condition: (column 0 in ['x', 'x'])
/// a.b: Adding mutation 0000000001 (commands: UPDATE a = 'x' WHERE 1)
/// ```
const MARKS: [&str; 11] = [
    "(in query: ",
    "query: ",
    "failed at position ",
    " in scope ",
    " before: ",
    " here: ",
    "Request URI: ",
    " query '",
    "condition \"",
    "Key condition: ",
    "(commands: ",
];

/// What stands in front of the query that an exception came of.
pub(super) static IN_QUERY: LazyLock<Finder<'static>> =
    LazyLock::new(|| Finder::new("(in query: "));

/// Finds them: it is asked for every record that holds the text of a signal.
static SEARCH: LazyLock<Literals> = LazyLock::new(|| Literals::new(&MARKS.map(str::as_bytes)));

/// Where the first of the marks ends in a text.
fn first_mark(text: &[u8]) -> Option<usize> {
    let mut first: Option<(usize, usize)> = None;
    SEARCH.find(text, text.len(), |mark, at| {
        if first.is_none_or(|(_, before)| at < before) {
            first = Some((mark, at));
        }
    });
    first.map(|(mark, at)| at + MARKS[mark].len())
}

/// Where in the message of a record a query or its data begin, if they do.
///
/// ```text
/// executeQuery: (from 127.0.0.1:35276, user: a) (query 1, line 1) SELECT ... (stage: Complete)
/// executeQuery: (internal) SELECT ... (stage: Complete)
/// DDLWorker: Processing task query-0000000001 (INSERT INTO a ...)
/// AsynchronousInsertQueue: Failed insertion for query 'INSERT INTO a VALUES': Code: 60. DB::Exception: No table
/// ```
///
/// An exception behind a query is the server's own again. So is all of a crash report, which names the query in its midst:
///
/// ```text
/// BaseDaemon: (version 26.6) (from thread 7) (query_id: a) (query: SELECT 1) Received signal Segmentation fault (11)
/// ```
pub(super) fn of(record: &Record<'_>, exception: Option<Exception>) -> Option<usize> {
    let message = record.message;
    let behind = |opens: &str, mark: u8| {
        let is_so = message.starts_with(opens.as_bytes());
        is_so.then(|| memchr::memchr(mark, message)).flatten()
    };
    let echo = match record.logger {
        b"BaseDaemon" => return None,
        b"executeQuery" => behind("(from ", b')').or_else(|| behind("(internal)", b')')),
        b"DDLWorker" => behind("Processing task ", b'('),
        _ => None,
    };
    if echo.is_some() {
        return echo;
    }
    let from = exception.map_or(0, |it| it.text_at);
    Some(from + first_mark(message.get(from..)?)?)
}

/// A text of several lines without the query at its end.
///
/// ```text
/// Code: 279. DB::Exception: All connection tries failed. Log:
///
/// Code: 209. DB::NetException: Timeout (shard2-r1:9440). (SOCKET_TIMEOUT)
/// . (ALL_CONNECTION_TRIES_FAILED) (version 26.6) (from [::1]:1) (in query: SELECT ...)
/// ```
pub(crate) fn without_query(text: &[u8]) -> &[u8] {
    match IN_QUERY.find(text) {
        Some(at) => &text[..at],
        None => text,
    }
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
                "Processing task query-0000000001 ",
            ),
            ("a: (from b) is kept", "(from b) is kept"),
            ("executeQuery: (internal) SELECT 'x'", "(internal"),
            (
                "DDLWorker: Processing task query-1 (INSERT INTO a SELECT 'x')",
                "Processing task query-1 ",
            ),
            (
                "BaseDaemon: (from thread 7) (query: SELECT 1) Received signal Aborted (6)",
                "(from thread 7) (query: SELECT 1) Received signal Aborted (6)",
            ),
            (
                "AsynchronousInsertQueue: Failed insertion for query 'INSERT INTO a': Code: 60. DB::Exception: No table",
                "Failed insertion for query 'INSERT INTO a': Code: 60. DB::Exception: No table",
            ),
        ] {
            assert_eq!(own(message), servers);
        }
    }
}
