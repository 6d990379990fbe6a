//! A text log written as an export of `system.text_log`: the test's own writers, from the lines of a log.

use std::fmt::Write as _;
use std::sync::Arc;

use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use serde_json::json;

/// One record of a log, cut by hand: `STAMP [ T ] {Q} <Level> logger: message` and its further lines.
#[derive(Debug, Clone)]
pub(crate) struct Logged {
    /// `2026-08-21 09:47:53.255344`.
    pub(crate) stamp: String,
    pub(crate) thread: String,
    pub(crate) query: String,
    pub(crate) level: String,
    pub(crate) logger: String,
    pub(crate) message: String,
}

/// The records of a log; a line that begins with a year begins one.
pub(crate) fn records(log: &str) -> Vec<Logged> {
    let mut records: Vec<Logged> = Vec::new();
    for line in log.lines() {
        let is_head = line.len() > 30 && line.as_bytes()[..4].iter().all(u8::is_ascii_digit);
        if !is_head {
            let last = records.last_mut().unwrap();
            last.message.push('\n');
            last.message.push_str(line);
            continue;
        }
        let (stamp, rest) = line.split_at(26);
        let rest = rest.strip_prefix(" [ ").unwrap();
        let (thread, rest) = rest.split_once(" ] {").unwrap();
        let (query, rest) = rest.split_once("} <").unwrap();
        let (level, rest) = rest.split_once("> ").unwrap();
        let (logger, message) = rest.split_once(": ").unwrap_or((rest, ""));
        records.push(Logged {
            stamp: format!("{}-{}-{}", &stamp[..4], &stamp[5..7], &stamp[8..]),
            thread: thread.to_owned(),
            query: query.to_owned(),
            level: level.to_owned(),
            logger: logger.to_owned(),
            message: message.to_owned(),
        });
    }
    records
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('\t', "\\t")
        .replace('\n', "\\n")
        .replace('\'', "\\'")
}

/// `TSVWithNamesAndTypes`; `coarse` leaves out the column with microseconds, as old versions do.
pub(crate) fn tsv(records: &[Logged], coarse: bool) -> String {
    let (name, kind) = if coarse {
        ("", "")
    } else {
        ("event_time_microseconds\t", "DateTime64(6)\t")
    };
    let mut out = format!(
        "event_time\t{name}thread_id\tlevel\tquery_id\tlogger_name\tmessage\nDateTime\t{kind}UInt64\tEnum8(\\'Fatal\\' = 1)\tString\tString\tString\n"
    );
    for it in records {
        let cells = [&it.thread, &it.level, &it.query, &it.logger, &it.message];
        let cells: Vec<String> = cells.map(|cell| escaped(cell)).to_vec();
        let micros = if coarse {
            String::new()
        } else {
            format!("{}\t", it.stamp)
        };
        writeln!(out, "{}\t{micros}{}", &it.stamp[..19], cells.join("\t")).unwrap();
    }
    out
}

/// `CSVWithNames`: line ends stand inside quotes.
pub(crate) fn csv(records: &[Logged]) -> String {
    let mut out = String::from(
        "\"event_time_microseconds\",\"thread_id\",\"level\",\"query_id\",\"logger_name\",\"message\"\n",
    );
    for it in records {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let cells = [&it.level, &it.query, &it.logger, &it.message].map(|cell| quoted(cell));
        writeln!(
            out,
            "{},{},{}",
            quoted(&it.stamp),
            it.thread,
            cells.join(",")
        )
        .unwrap();
    }
    out
}

/// `JSONEachRow`, with `/` escaped as the server does.
pub(crate) fn json_each_row(records: &[Logged]) -> String {
    let rows = records.iter().map(|it| {
        let row = json!({
            "event_time": &it.stamp[..19],
            "event_time_microseconds": it.stamp,
            "thread_id": it.thread.parse::<u64>().unwrap(),
            "level": it.level,
            "query_id": it.query,
            "logger_name": it.logger,
            "message": it.message,
        });
        format!("{}\n", row.to_string().replace('/', "\\/"))
    });
    rows.collect()
}

/// `Vertical`.
pub(crate) fn vertical(records: &[Logged]) -> String {
    let mut out = String::new();
    for (at, it) in records.iter().enumerate() {
        let heading = format!("Row {}:", at + 1);
        writeln!(out, "{heading}\n{}", "─".repeat(heading.len())).unwrap();
        for (name, cell) in [
            ("event_time_microseconds", &it.stamp),
            ("level", &it.level),
            ("thread_id", &it.thread),
            ("query_id", &it.query),
            ("logger_name", &it.logger),
            ("message", &it.message),
            ("revision", &"54515".to_owned()),
        ] {
            writeln!(out, "{:<25}{cell}", format!("{name}:")).unwrap();
        }
        out.push('\n');
    }
    out
}

/// Microseconds since 1970 of a stamp of 2026.
fn micros(stamp: &str) -> i64 {
    let number = |from: usize, to: usize| stamp[from..to].parse::<i64>().unwrap();
    assert_eq!(&stamp[..4], "2026");
    let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    // 2026-01-01 is day 20,454 since 1970.
    let day = 20_454 + before[usize::try_from(number(5, 7)).unwrap() - 1] + number(8, 10) - 1;
    let seconds = (day * 24 + number(11, 13)) * 3600 + number(14, 16) * 60 + number(17, 19);
    seconds * 1_000_000 + number(20, 26)
}

/// Parquet, in row groups of 20 rows.
pub(crate) fn parquet(records: &[Logged]) -> Vec<u8> {
    let schema = "message schema {
        REQUIRED INT64 event_time_microseconds (TIMESTAMP(MICROS,true));
        REQUIRED INT64 thread_id (INTEGER(64,false));
        REQUIRED BYTE_ARRAY level (UTF8);
        OPTIONAL BYTE_ARRAY query_id (UTF8);
        REQUIRED BYTE_ARRAY logger_name (UTF8);
        REQUIRED BYTE_ARRAY message (UTF8);
    }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let properties = Arc::new(WriterProperties::builder().build());
    let mut bytes = Vec::new();
    let mut file = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    for records in records.chunks(20) {
        let mut group = file.next_row_group().unwrap();
        for at in 0..6 {
            let mut column = group.next_column().unwrap().unwrap();
            let text = |of: fn(&Logged) -> &String| -> Vec<ByteArray> {
                records
                    .iter()
                    .map(|it| ByteArray::from(of(it).as_str()))
                    .collect()
            };
            let numbers =
                |of: &dyn Fn(&Logged) -> i64| -> Vec<i64> { records.iter().map(of).collect() };
            match at {
                0 => drop(column.typed::<Int64Type>().write_batch(
                    &numbers(&|it| micros(&it.stamp)),
                    None,
                    None,
                )),
                1 => drop(column.typed::<Int64Type>().write_batch(
                    &numbers(&|it| it.thread.parse().unwrap()),
                    None,
                    None,
                )),
                3 => {
                    let given = records.iter().filter(|it| !it.query.is_empty());
                    let values: Vec<ByteArray> =
                        given.map(|it| ByteArray::from(it.query.as_str())).collect();
                    let levels: Vec<i16> = records
                        .iter()
                        .map(|it| i16::from(!it.query.is_empty()))
                        .collect();
                    let typed = column.typed::<ByteArrayType>();
                    typed.write_batch(&values, Some(&levels), None).unwrap();
                }
                _ => {
                    let values = match at {
                        2 => text(|it| &it.level),
                        4 => text(|it| &it.logger),
                        _ => text(|it| &it.message),
                    };
                    let typed = column.typed::<ByteArrayType>();
                    typed.write_batch(&values, None, None).unwrap();
                }
            }
            column.close().unwrap();
        }
        group.close().unwrap();
    }
    file.close().unwrap();
    bytes
}
