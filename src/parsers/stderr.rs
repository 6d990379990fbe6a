//! What a server process wrote to its standard error: the two lines of a start, sanitizer reports, allocator complaints.
//!
//! ```text
//! Logging errors to /var/log/clickhouse-server/clickhouse-server.err.log
//! ==4711==ERROR: AddressSanitizer: heap-use-after-free on address 0x...
//! clickhouse-1 exited with code 137
//! ```
//!
//! The last is what compose prints where a container's output ends. Lines have neither a stamp nor a level; each is read as a record of its own so that signals may match it, but none
//! enters `records.total`.

use super::{Absence, Spec, line_record, sample_lines};

/// The standard error of a server.
pub(super) static SPEC: Spec = Spec {
    beside: Some("clickhouse"),
    absence: Absence::OfFile("the server's standard error is not here"),
    sample_path: "node/stderr.log",
    ..Spec::lines("server-stderr", is_head, line_record, claims)
};

/// Beginnings that only a server's standard error has.
const BEGINNINGS: &[&[u8]] = &[
    b"Logging trace to ",
    b"Logging debug to ",
    b"Logging information to ",
    b"Logging warning to ",
    b"Logging error to ",
    b"Logging errors to ",
    b"Processing configuration file '",
    b"WARNING: ThreadSanitizer: ",
    b"WARNING: MemorySanitizer: ",
];

fn is_head(line: &[u8]) -> bool {
    !line.is_empty()
}

/// The lines that only a standard error has, if they are not a mere preface to something else.
pub(super) fn claims(sample: &[u8]) -> usize {
    let known =
        |line: &&[u8]| BEGINNINGS.iter().any(|start| line.starts_with(start)) || is_sanitizer(line);
    let lines = || sample_lines(sample).filter(|line| !line.is_empty());
    // A console shows the same two lines and then the log itself, in whatever form.
    let is_console = lines().any(|line| line.starts_with(b"{"));
    if is_console {
        0
    } else if lines().all(is_end) {
        // Among other lines it is anyone's.
        lines().count()
    } else {
        lines().filter(known).count()
    }
}

/// `NAME exited with code N`.
fn is_end(line: &[u8]) -> bool {
    let Some(blank) = memchr::memchr(b' ', line) else {
        return false;
    };
    let code = line[blank..].strip_prefix(b" exited with code ");
    code.is_some_and(|code| !code.is_empty() && code.iter().all(u8::is_ascii_digit))
}

/// `==PID==ERROR: AddressSanitizer: ...` and the like.
fn is_sanitizer(line: &[u8]) -> bool {
    line.strip_prefix(b"==").is_some_and(|rest| {
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        digits > 0 && rest[digits..].starts_with(b"==")
    })
}
