//! Properties: whatever the bytes, nothing panics, records tile the input, and neighbours change no finding.

use std::collections::BTreeMap;
use std::fs;

use casdiag::intake::Limits;
use casdiag::parsers::{FORMATS, sniff};
use casdiag::pipeline::Plan;
use casdiag::report::model::Report;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::product::{self, Folder, record, repository};

/// Pieces of which a log or its wreck may consist.
const PIECES: &[&str] = &[
    "2026.09.01 10:00:01.000000 [ 7 ] {} <Debug> a: b\n",
    "2026.09.01 10:00:02.000000 [ 8 ] {q-1} <Error> executeQuery: Code: 60. DB::Exception: x. (UNKNOWN_TABLE), Stack trace:\n\n0. f @ 0x1\n",
    "2026.09.01 10:00:02.500000 [ 8 ] {} <Error> t: Code: 210. DB::Exception: Source n2 did not prove it still holds the manifest it offered for part all_1_1_0 by relink; the relink is abandoned and the fetch will be retried later. (NETWORK_ERROR)\n",
    "2026.09.01 10:00:03.000000 [ 1 ] {} <Fatal> BaseDaemon: (version 1) Received signal Segmentation fault (11)\n",
    "2026.09.01 10:00:03.1",
    "2026.09.01 10:00:03 [ 99999999999999999999999 ] {} <Loud> : \n",
    "a line of text\n",
    " (version 26.6.2)\n",
    "\n",
    "\r\n",
    "\0\0\0\0",
    "Code: 99999999999999999999. DB::Exception: ",
    "{\"date\":1}\n",
    "==1==ERROR: AddressSanitizer: x\n",
    "\u{202e}\u{feff}ключ ",
];

/// A line of each form of each format.
const LINES: &[&str] = &[
    "2022-11-15T22:41:23Z [WARN]  agent: rejected\n",
    "2026.09.01 10:00:02.000000 [ 8 ] {q-1} <Error> executeQuery: Code: 60. DB::Exception: x. (UNKNOWN_TABLE)\n",
    "07:06:45,520 ctrl-2 HA repl: standby[0] lsn=323 < stream_ceiling_lsn=342\n",
    "2026-11-29 16:20:33,996 [myid:2] - WARN  [QuorumPeer[myid=2](plain=[0:0:0:0:0:0:0:0]:2181)(secure=disabled):Follower@129] - Got zxid\r\n",
    "2015-08-19 07:02:55.942018 W | raft: c4d81f07be92a6e3 became leader at term 4\n340211\n",
    "raft2026/11/29 16:03:07 INFO: found conflict at index 416 [existing term: 3]\n",
    "2026-11-29T16:03:07.123Z\tinfo\traft\tetcdserver/zap_raft.go:77\t8211 became leader\t{\"a\": 1}\n",
    "{\"level\":\"warn\",\"ts\":\"2026-11-29T16:03:07.123+0100\",\"caller\":\"wal/wal.go:805\",\"msg\":\"slow \\\"x\\\"\",\"took\":\"1.5s\"}\n",
    "I230808 00:14:22.026821 312 [nuraft_w_0] src/handle_vote.cxx:134  request_prevote()  [PRE-VOTE INIT] my id 1\n",
    "2022-11-15T14:41:23.546-0800 [WARN]  agent.server.raft: rejected: next=7\n  | more\n",
    "{\"@level\":\"error\",\"@message\":\"failed to contact\",\"@module\":\"raft\",\"@timestamp\":\"2022-11-15T22:41:23.546000Z\",\"time\":\"5s\"}\n",
    "    2017/05/12 13:54:42 [ERR] raft: Failed to take snapshot: x\n",
    "[7] 2024/10/11 06:18:20.512209 [WRN] RAFT [Q7kTzWbe - _meta_] Falling behind\n",
    "2019-01-02T15:04:05.123+0100 I  NETWORK  [listener] connection accepted from 10.0.0.7:40012\n",
    "{\"t\":{\"$date\":\"2019-01-02T14:04:05.123+00:00\"},\"s\":\"D2\",  \"c\":\"REPL\",     \"id\":21764,   \"ctx\":\"conn12\",\"msg\":\"behind\",\"attr\":{\"by\":7}}\n",
    "I210116 21:49:17.083093 14 1@cli/start.go:690 ⋮ [n1,s2] 23  node startup completed:\n",
    "[2026/06/08 09:12:26.417 +08:00] [WARN] [raftlog_gc.rs:123] [\"gc raft log\"] [end_index=8830172] [thread_id=16]\n",
];

fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        8 => prop::sample::select(PIECES).prop_map(|it| it.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 0..40),
    ]
}

/// A log or its wreck: bytes that are mostly log.
fn wreck() -> impl Strategy<Value = Vec<u8>> {
    vec(piece(), 0..40).prop_map(|pieces| pieces.concat())
}

/// A sound record; the stamps stay within a minute of each other.
fn sound() -> impl Strategy<Value = String> {
    (0..50u32, 0..5usize, "[a-zé ]{0,30}", 0..3usize).prop_map(|(second, level, text, more)| {
        let level = ["Error", "Warning", "Information", "Debug", "Trace"][level];
        record(&format!("10:00:{second:02}.000000"), level, "logger", &text)
            + &"0. frame @ 0x1\n".repeat(more)
    })
}

fn report(bytes: &[u8], block_bytes: usize, record_bytes: usize) -> Report {
    let folder = Folder::with("n1/clickhouse-server.log", bytes);
    folder.put("n1/clickhouse-server.err.log", &bytes[bytes.len() / 2..]);
    product::report_of(&Plan {
        limits: Limits {
            block_bytes,
            record_bytes,
        },
        threads: 2,
        ..product::plan(folder.path())
    })
}

fn is_worse(record: &str) -> bool {
    record.contains("<Error>") || record.contains("<Warning>")
}

/// A log and the err.log that repeats its worse records.
fn pair(records: &[String], block_bytes: usize) -> Report {
    let folder = Folder::with("n1/clickhouse-server.log", records.concat());
    let repeated: String = records.iter().filter(|it| is_worse(it)).cloned().collect();
    folder.put("n1/clickhouse-server.err.log", repeated);
    product::report_of(&Plan {
        limits: Limits {
            block_bytes,
            ..Limits::default()
        },
        ..product::plan(folder.path())
    })
}

/// Lines as an editor counts them: a last one without an end is one too.
fn lines(bytes: &[u8]) -> u64 {
    let ends = bytes.split(|byte| *byte == b'\n').count() - 1;
    u64::try_from(ends + usize::from(!bytes.is_empty() && !bytes.ends_with(b"\n"))).unwrap()
}

/// What a report counts and concludes: totals, codes, signals, titles.
type Counts = (
    String,
    BTreeMap<u32, u64>,
    Vec<(String, u64)>,
    Vec<(String, String)>,
);

fn counts(report: &Report) -> Counts {
    let signals = report
        .signals
        .iter()
        .map(|row| (row.signal.clone(), row.count));
    let findings = report
        .findings
        .iter()
        .map(|it| (it.rule.clone(), it.title.clone()));
    (
        serde_json::to_string(&report.records).unwrap(),
        product::codes(report),
        signals.collect(),
        findings.collect(),
    )
}

#[test]
fn a_line_cut_anywhere_is_a_head_where_it_is_a_record() {
    for line in LINES {
        for cut in 0..=line.len() {
            for end in ["", "\n", "\r\n", "\nmore\n"] {
                let bytes = [&line.as_bytes()[..cut], end.as_bytes()].concat();
                for format in FORMATS {
                    let is_record = format.parse(&bytes).is_some();
                    assert_eq!(
                        format.is_head(&bytes),
                        is_record,
                        "{format:?} {}",
                        bytes.escape_ascii()
                    );
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_a_parser_panic(bytes in vec(any::<u8>(), 0..400)) {
        sniff(&bytes, &[]);
        for format in FORMATS {
            for start in 0..bytes.len().min(8) {
                if format.is_head(&bytes[start..]) {
                    prop_assert!(format.parse(&bytes[start..]).is_some(), "a head is a record");
                }
                format.parse(&bytes[start..]);
            }
        }
    }

    #[test]
    fn no_wreck_of_a_line_makes_a_parser_panic(
        line in prop::sample::select(LINES),
        at in 0..200usize,
        junk in vec(any::<u8>(), 0..6),
        cut in 0..20usize,
        end in 0..300usize,
    ) {
        let mut bytes = line.as_bytes().to_vec();
        let at = at % (bytes.len() + 1);
        let over = (at + cut).min(bytes.len());
        bytes.splice(at..over, junk);
        bytes.truncate(end);
        for format in FORMATS {
            let (is_head, record) = (format.is_head(&bytes), format.parse(&bytes));
            prop_assert_eq!(is_head, record.is_some(), "{:?}", format);
            if let Some(record) = record {
                prop_assert!(record.message_at(&bytes) + record.message.len() <= bytes.len());
                prop_assert_eq!(record.time, format.stamp(&bytes), "{:?}", format);
            }
        }
    }

    #[test]
    fn no_wreck_of_a_log_makes_the_pipeline_panic(bytes in wreck(), block in 1..300usize) {
        report(&bytes, block, block.max(64));
    }

    #[test]
    fn records_tile_the_input(bytes in wreck(), block in 1..2000usize) {
        let folder = Folder::with("n1/clickhouse-server.log", &bytes);
        let limits = Limits { block_bytes: block, ..Limits::default() };
        let report = product::report_of(&Plan { limits, ..product::plan(folder.path()) });
        let input = product::input(&report, "clickhouse-server.log");
        if input.format == "clickhouse" {
            let sum = input.records + report.records.continuation_lines + report.records.unparsed_lines;
            prop_assert_eq!(sum, lines(&bytes));
            prop_assert_eq!(input.records, report.records.total);
            prop_assert_eq!(report.records.by_level.values().sum::<u64>(), report.records.total);
        }
    }

    #[test]
    fn reading_in_blocks_is_reading_the_whole(mut records in vec(sound(), 0..60), block in 1..3000usize) {
        // Logs are in the order of time, but for milliseconds.
        records.sort_by(|a, b| a[..26].cmp(&b[..26]));
        let whole = pair(&records, 1 << 20);
        let cut = pair(&records, block);
        prop_assert_eq!(counts(&cut), counts(&whole));
        prop_assert_eq!(whole.records.total, u64::try_from(records.len()).unwrap());
    }

    #[test]
    fn unrelated_records_remove_no_finding(records in vec(sound(), 0..40), at in vec(0..1000usize, 12)) {
        let refusal = PIECES[2];
        let mut all: Vec<&str> = records.iter().map(String::as_str).collect();
        for place in at {
            all.insert(place % (all.len() + 1), refusal);
        }
        let report = Folder::with("n1/clickhouse-server.log", all.concat()).report();
        prop_assert_eq!(product::total(&report, "relink-refused"), 12);
        prop_assert_eq!(product::findings(&report, "code-210-storm").len(), 1);
    }

    #[test]
    fn an_err_log_that_repeats_its_main_log_changes_nothing(records in vec(sound(), 1..60), crlf in any::<bool>()) {
        let mut repeated: String = records.iter().filter(|it| is_worse(it)).cloned().collect();
        if crlf {
            repeated = repeated.replace('\n', "\r\n");
        }
        let alone = Folder::with("n1/clickhouse-server.log", records.concat());
        let both = Folder::with("n1/clickhouse-server.log", records.concat());
        both.put("n1/clickhouse-server.err.log", repeated);
        prop_assert_eq!(counts(&both.report()), counts(&alone.report()));
    }
}

/// A file that a format claims is not claimed by another one.
#[test]
fn no_format_claims_what_is_anothers() {
    let cases = repository("tests/cases/clickhouse/02-fetch-refused");
    let core = {
        let mut header = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x04\0\x3e\0".to_vec();
        header.extend([0; 100]);
        header
    };
    let samples: &[(Vec<u8>, Option<&str>)] = &[
        (
            fs::read(cases.join("n2/clickhouse-server.log")).unwrap(),
            Some("clickhouse"),
        ),
        (
            fs::read(cases.join("n2/clickhouse-server.err.log")).unwrap(),
            Some("clickhouse"),
        ),
        (
            fs::read(cases.join("n2/stderr.log")).unwrap(),
            Some("server-stderr"),
        ),
        (fs::read(cases.join("truth/events.tsv")).unwrap(), None),
        (fs::read(cases.join("truth/scenario.sql")).unwrap(), None),
        (
            fs::read(cases.join("zk/zookeeper.log")).unwrap(),
            Some("zookeeper"),
        ),
        (fs::read(cases.join("expected.json")).unwrap(), None),
        (core, Some("core-dump")),
        (b"# a readme\n\nwith `code`\n".to_vec(), None),
        (Vec::new(), None),
    ];
    for (sample, format) in samples {
        assert_eq!(
            sniff(sample, &[]).map(|it| it.spec().name),
            *format,
            "{:?}",
            String::from_utf8_lossy(&sample[..sample.len().min(80)])
        );
    }
}
