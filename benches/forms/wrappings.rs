//! The logs of three nodes in wrappers and as exports of `system.text_log`.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// A wrapping: its name, whether all nodes are in one file, and its line of a node's line.
pub(crate) type Wrapping = (&'static str, bool, fn(&str, &str) -> String);

pub(crate) const WRAPPINGS: &[Wrapping] = &[
    ("docker compose", true, |node, line| {
        format!("{node:12}  | {line}\n")
    }),
    ("kubectl", true, |node, line| {
        format!("[pod/{node}/clickhouse] {line}\n")
    }),
    ("grep -H", true, |node, line| {
        format!("logs/{node}/clickhouse-server.log:{line}\n")
    }),
    ("journalctl", true, |node, line| {
        format!("Nov 29 10:00:00 {node} clickhouse-server[670]: {line}\n")
    }),
    ("docker json-file", false, |_, line| {
        format!(
            "{{\"log\":\"{}\\n\",\"stream\":\"stderr\",\"time\":\"2026-11-29T10:00:00.000000001Z\"}}\n",
            json(line)
        )
    }),
    ("CRI", false, |_, line| {
        format!("2026-11-29T10:00:00.000000001Z stderr F {line}\n")
    }),
];

/// A text inside of a JSON text.
fn json(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
        .replace('\t', "\\t")
}

/// A text inside of a TSV cell.
fn tsv(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('\t', "\\t")
        .replace('\n', "\\n")
}

/// The logs of nodes, by name.
fn nodes(plain: &Path) -> Vec<(String, BufReader<File>)> {
    let mut nodes: Vec<_> = fs::read_dir(plain)
        .unwrap()
        .map(|it| it.unwrap().path())
        .filter(|it| it.is_dir())
        .collect();
    nodes.sort();
    let open = |folder: &std::path::PathBuf| {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        (
            name,
            BufReader::new(File::open(folder.join("clickhouse-server.log")).unwrap()),
        )
    };
    nodes.iter().map(open).collect()
}

/// How many lines of a node stand together where all are in one file.
const TURN: usize = 20;

/// Writes the logs in a wrapper.
pub(crate) fn wrap(plain: &Path, out: &Path, (_, together, write): &Wrapping) {
    let mut line = String::new();
    if !together {
        for (node, log) in nodes(plain) {
            fs::create_dir_all(out.join(&node)).unwrap();
            let mut to = BufWriter::new(
                File::create(out.join(&node).join("clickhouse-server.log")).unwrap(),
            );
            for line in log.lines() {
                to.write_all(write(&node, &line.unwrap()).as_bytes())
                    .unwrap();
            }
        }
        return;
    }
    let mut to = BufWriter::new(File::create(out.join("all.log")).unwrap());
    let mut logs = nodes(plain);
    while !logs.is_empty() {
        logs.retain_mut(|(node, log)| {
            for _ in 0..TURN {
                line.clear();
                if log.read_line(&mut line).unwrap() == 0 {
                    return false;
                }
                to.write_all(write(node, line.trim_end_matches('\n')).as_bytes())
                    .unwrap();
            }
            true
        });
    }
}

/// One record, as `system.text_log` and the JSON logger have it.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// `2026-11-29 10:00:00.000000`.
    stamp: String,
    thread: String,
    query: String,
    level: String,
    logger: String,
    message: String,
}

impl Row {
    /// The record that begins with a line, if one does.
    fn of(line: &str) -> Option<Self> {
        let (stamp, rest) = line.split_at_checked(26)?;
        let (thread, rest) = rest.strip_prefix(" [ ")?.split_once(" ] {")?;
        let (query, rest) = rest.split_once("} <")?;
        let (level, rest) = rest.split_once("> ")?;
        let (logger, message) = rest.split_once(": ").unwrap_or(("", rest));
        Some(Self {
            stamp: format!("{}-{}-{}", &stamp[..4], &stamp[5..7], &stamp[8..]),
            thread: thread.to_owned(),
            query: query.to_owned(),
            level: level.to_owned(),
            logger: logger.to_owned(),
            message: message.to_owned(),
        })
    }
}

/// Gives every record of a log.
fn rows(log: BufReader<File>, mut give: impl FnMut(Row)) {
    let mut open: Option<Row> = None;
    for line in log.lines() {
        let line = line.unwrap();
        match (Row::of(&line), &mut open) {
            (Some(row), _) => {
                if let Some(done) = open.replace(row) {
                    give(done);
                }
            }
            (None, Some(row)) => {
                row.message.push('\n');
                row.message.push_str(&line);
            }
            (None, None) => {}
        }
    }
    open.into_iter().for_each(give);
}

/// The forms in which rows stand in text.
pub(crate) const ROWS: &[(&str, &str)] = &[
    ("JSON logger", "clickhouse-server.log"),
    ("text_log, TSV", "text_log.tsv"),
    ("text_log, JSONEachRow", "text_log.jsonl"),
    ("text_log, Parquet", "text_log.parquet"),
];

const COLUMNS: &str = "event_time_microseconds\tthread_id\tlevel\tquery_id\tlogger_name\tmessage\n";

/// Writes the logs as rows.
pub(crate) fn export(plain: &Path, out: &Path, (form, file): (&str, &str)) {
    for (node, log) in nodes(plain) {
        fs::create_dir_all(out.join(&node)).unwrap();
        let path = out.join(&node).join(file);
        if file.ends_with("parquet") {
            parquet(log, &path);
            continue;
        }
        let mut to = BufWriter::new(File::create(path).unwrap());
        if file.ends_with("tsv") {
            to.write_all(COLUMNS.as_bytes()).unwrap();
        }
        rows(log, |row| {
            let Row {
                stamp,
                thread,
                query,
                level,
                logger,
                message,
            } = &row;
            let line = match form {
                "JSON logger" => format!(
                    "{{\"date_time_utc\":\"{}Z\",\"date_time\":\"{}\",\"thread_name\":\"\",\"thread_id\":\"{thread}\",\"level\":\"{level}\",\"query_id\":\"{query}\",\"logger_name\":\"{}\",\"message\":\"{}\",\"source_file\":\"\",\"source_line\":\"0\"}}\n",
                    stamp[..19].replace(' ', "T"),
                    epoch(stamp),
                    json(logger),
                    json(message)
                ),
                "text_log, TSV" => format!(
                    "{stamp}\t{thread}\t{level}\t{query}\t{}\t{}\n",
                    tsv(logger),
                    tsv(message)
                ),
                _ => format!(
                    "{{\"event_time_microseconds\":\"{stamp}\",\"thread_id\":\"{thread}\",\"level\":\"{level}\",\"query_id\":\"{query}\",\"logger_name\":\"{}\",\"message\":\"{}\"}}\n",
                    json(logger),
                    json(message)
                ),
            };
            to.write_all(line.as_bytes()).unwrap();
        });
    }
}

/// Microseconds since 1970 of a stamp of 2026 or later, days by Howard Hinnant's rule.
fn micros(stamp: &str) -> i64 {
    let number = |from: usize, to: usize| stamp[from..to].parse::<i64>().unwrap();
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = year * 365 + year / 4 - year / 100 + year / 400 + of_year - 719_468;
    let seconds = days * 86_400 + number(11, 13) * 3_600 + number(14, 16) * 60 + number(17, 19);
    seconds * 1_000_000 + number(20, 26)
}

/// `1788256800.000000`.
fn epoch(stamp: &str) -> String {
    let micros = micros(stamp);
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

/// How many rows a group of a Parquet file has.
const GROUP: usize = 65_536;

fn parquet(log: BufReader<File>, path: &Path) {
    let schema = "message s { required int64 event_time_microseconds (TIMESTAMP(MICROS,true)); required int64 thread_id; required binary level (UTF8); required binary query_id (UTF8); required binary logger_name (UTF8); required binary message (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer =
        SerializedFileWriter::new(File::create(path).unwrap(), schema, properties).unwrap();
    let mut group: Vec<Row> = Vec::new();
    let mut flush = |group: &mut Vec<Row>| {
        let mut to = writer.next_row_group().unwrap();
        let numbers: [fn(&Row) -> i64; 2] =
            [|row| micros(&row.stamp), |row| row.thread.parse().unwrap()];
        for number in numbers {
            let values: Vec<i64> = group.iter().map(number).collect();
            let mut column = to.next_column().unwrap().unwrap();
            column
                .typed::<Int64Type>()
                .write_batch(&values, None, None)
                .unwrap();
            column.close().unwrap();
        }
        let texts: [fn(&Row) -> &String; 4] = [
            |row| &row.level,
            |row| &row.query,
            |row| &row.logger,
            |row| &row.message,
        ];
        for text in texts {
            let values: Vec<ByteArray> = group
                .iter()
                .map(|row| ByteArray::from(text(row).as_str()))
                .collect();
            let mut column = to.next_column().unwrap().unwrap();
            column
                .typed::<ByteArrayType>()
                .write_batch(&values, None, None)
                .unwrap();
            column.close().unwrap();
        }
        drop(to.close().unwrap());
        group.clear();
    };
    rows(log, |row| {
        group.push(row);
        if group.len() == GROUP {
            flush(&mut group);
        }
    });
    if !group.is_empty() {
        flush(&mut group);
    }
    drop(writer.close().unwrap());
}
