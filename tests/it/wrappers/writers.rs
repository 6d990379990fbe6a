//! Writers of wrapped logs: each knows only what the wrapper's own documentation says of its form.

use std::fmt::Write as _;

/// A node's log.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) lines: Vec<String>,
}

/// Whether a line begins a record: `2026.` and a bracket behind the stamp.
pub(super) fn is_head(line: &str) -> bool {
    line.starts_with("20") && line.get(26..29) == Some(" [ ")
}

/// The records of a node: each with the lines that continue it.
pub(super) fn records(node: &Node) -> Vec<Vec<&str>> {
    let mut records: Vec<Vec<&str>> = Vec::new();
    for line in &node.lines {
        if is_head(line) {
            records.push(Vec::new());
        }
        records.last_mut().unwrap().push(line);
    }
    records
}

/// The lines of all nodes, one to five of each in turn.
pub(super) fn interleaved(nodes: &[Node], write: impl Fn(&Node, &str) -> String) -> String {
    let mut left: Vec<_> = nodes.iter().map(|node| (node, node.lines.iter())).collect();
    let mut text = String::new();
    let mut turn = 0;
    while !left.is_empty() {
        turn += 1;
        let at = turn % left.len();
        for _ in 0..=(turn * 7) % 5 {
            let (node, lines) = &mut left[at];
            if let Some(line) = lines.next() {
                text += &write(node, line);
            } else {
                drop(left.remove(at));
                break;
            }
        }
    }
    text
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// Seconds since 1970 of `2026.09.01 23:28:23.217753`: days by counting, a year after the other.
fn epoch(stamp: &str) -> String {
    let number = |from: usize, to: usize| stamp[from..to].parse::<u64>().unwrap();
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let lengths = [
        31,
        28 + u64::from(leap(year)),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let years: u64 = (1970..year).map(|year| 365 + u64::from(leap(year))).sum();
    let months: u64 = lengths
        .iter()
        .take(usize::try_from(month).unwrap() - 1)
        .sum();
    let days = years + months + day - 1;
    let seconds = ((days * 24 + number(11, 13)) * 60 + number(14, 16)) * 60 + number(17, 19);
    format!("{seconds}.{}", &stamp[20..26])
}

pub(super) fn json_logger(node: &Node) -> String {
    let mut text = String::new();
    for record in records(node) {
        let head = record[0];
        let (thread, rest) = head[29..].split_once(" ] {").unwrap();
        let (query, rest) = rest.split_once("} <").unwrap();
        let (level, rest) = rest.split_once("> ").unwrap();
        let (logger, message) = rest.split_once(": ").unwrap();
        let message = [&[message], &record[1..]].concat().join("\n");
        writeln!(
            text,
            "{{\"date_time\":\"{}\",\"thread_name\":\"\",\"thread_id\":\"{thread}\",\"level\":\"{level}\",\"query_id\":{},\
             \"logger_name\":{},\"message\":{},\"source_file\":\"a.cpp; f()\",\"source_line\":\"1\"}}",
            epoch(&head[..26]),
            quoted(query),
            quoted(logger).replace('/', "\\/"),
            quoted(&message).replace('/', "\\/"),
        )
        .unwrap();
    }
    text
}

/// The pieces of a line, as a runtime with small buffers cuts it.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while rest.len() > 200 {
        let end = (150..200)
            .rev()
            .find(|at| rest.is_char_boundary(*at))
            .unwrap();
        pieces.push(&rest[..end]);
        rest = &rest[end..];
    }
    pieces.push(rest);
    pieces
}

pub(super) fn docker_json(node: &Node) -> String {
    let mut text = String::new();
    for line in &node.lines {
        let pieces = pieces(line);
        for (at, piece) in pieces.iter().enumerate() {
            let end = if at + 1 == pieces.len() { "\n" } else { "" };
            let log = quoted(&format!("{piece}{end}"));
            writeln!(text, "{{\"log\":{log},\"stream\":\"stderr\",\"time\":\"2026-09-02T01:00:00.123456789Z\"}}").unwrap();
        }
    }
    text
}

pub(super) fn cri(node: &Node) -> String {
    let mut text = String::new();
    for line in &node.lines {
        let pieces = pieces(line);
        for (at, piece) in pieces.iter().enumerate() {
            let tag = if at + 1 == pieces.len() { "F" } else { "P" };
            writeln!(text, "2026-09-02T01:00:00.123456789Z stderr {tag} {piece}").unwrap();
        }
    }
    text
}

/// A record a line, control characters as `#` and octal digits.
pub(super) fn rsyslog(node: &Node) -> String {
    let line = |record: &Vec<&str>| {
        format!(
            "Sep  1 23:28:23 {} clickhouse-server[670]: {}\n",
            node.name,
            record.join("#012")
        )
    };
    records(node).iter().map(line).collect()
}

/// Entries of several lines are indented as far as their first line's text.
pub(super) fn journal_short(node: &Node) -> String {
    let prefix = format!(
        "Sep 01 23:28:23.217753 {} clickhouse-server[670]: ",
        node.name
    );
    let indent = format!("\n{}", " ".repeat(prefix.len()));
    let entry = |record: &Vec<&str>| format!("{prefix}{}\n", record.join(&indent));
    let entries: String = records(node).iter().map(entry).collect();
    format!("-- Journal begins at Mon 2026-08-31 00:00:00 UTC. --\n{entries}")
}

/// An object an entry; one that is no text would be a list of its bytes, and the first is written so.
pub(super) fn journal_json(node: &Node) -> String {
    let mut text = String::new();
    for (at, record) in records(node).iter().enumerate() {
        let message = record.join("\n");
        let message = if at == 0 {
            format!("{:?}", message.as_bytes())
        } else {
            quoted(&message)
        };
        writeln!(
            text,
            "{{\"_HOSTNAME\":\"{}\",\"__REALTIME_TIMESTAMP\":\"1788305303217753\",\"PRIORITY\":\"3\",\
             \"SYSLOG_IDENTIFIER\":\"clickhouse-server\",\"MESSAGE\":{message},\"_PID\":\"670\"}}",
            node.name
        )
        .unwrap();
    }
    text
}
