//! Speed and memory of reading a `TestFlows` log.
//!
//! `cargo bench --profile dist --bench ci -- [--mb=N]` makes a log of so many megabytes (1000 unless said) in the proportions of
//! a real one, nine of ten messages what shells printed, and compares on one core, in interleaved rounds:
//! reading it line by line and taking the fields that are used of every line with `serde_json`, against the reader; and unpacking
//! it as xz, against unpacking and reading.
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::disallowed_types, reason = "a bench measures time")]
#![expect(clippy::disallowed_methods, reason = "a file of /proc is small")]

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use casdiag::intake::{Artifact, Bounds, walk};
use casdiag::parsers::ci::{Form, Reading};
use serde::Deserialize;

/// What the reader uses of a message.
#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "as the framework writes them")]
struct Message<'a> {
    message_keyword: &'a str,
    message_num: u64,
    message_stream: Option<&'a str>,
    message_time: f64,
    message_rtime: f64,
    test_type: &'a str,
    test_subtype: Option<&'a str>,
    test_id: &'a str,
    test_flags: u64,
    test_cflags: u64,
}

const ROUNDS: usize = 3;

/// Messages of one scenario that shells printed.
const PRINTED: u64 = 60;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mb = arguments.iter().find_map(|it| it.strip_prefix("--mb="));
    let mb: u64 = mb.map_or(1000, |mb| mb.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let (plain, packed) = (
        folder.path().join("raw.log"),
        folder.path().join("raw.log.xz"),
    );
    let lines = make(&plain, mb * 1_000_000);
    pack(&plain, &packed);
    let bytes = std::fs::metadata(&plain).unwrap().len();
    #[expect(
        clippy::cast_precision_loss,
        reason = "megabytes per second need no more digits"
    )]
    let speed = |seconds: f64| bytes as f64 / 1e6 / seconds;
    let [mut bare, mut read, mut unpack, mut both] = [f64::MAX; 4];
    for _ in 0..ROUNDS {
        bare = bare.min(timed(|| assert_eq!(parse(&plain), lines)));
        read = read.min(timed(|| check(&read_with_reader(&plain), lines)));
        unpack = unpack.min(timed(|| assert_eq!(unpacked(&packed), bytes)));
        both = both.min(timed(|| check(&read_with_reader(&packed), lines)));
    }
    println!(
        "{mb} MB, {lines} lines; serde_json {:.0} MB/s, reader {:.0} MB/s, ratio {:.2}",
        speed(bare),
        speed(read),
        bare / read
    );
    println!(
        "as xz: unpacking {:.0} MB/s, unpacking and reading {:.0} MB/s, ratio {:.2}",
        speed(unpack),
        speed(both),
        unpack / both
    );
    println!("peak memory {} MB", peak_kilobytes() / 1000);
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// Whether the reader found what was written: every line a message, and each eighth scenario failed.
fn check(reading: &Reading, lines: u64) {
    assert_eq!((reading.lines, reading.error.as_deref()), (lines, None));
    let run = &reading.runs[0];
    assert!(run.is_complete());
    let scenarios = run
        .totals
        .iter()
        .find(|total| total.level == "scenario")
        .unwrap();
    assert_eq!(scenarios.by["Fail"], scenarios.units.div_ceil(8));
    let first = format!("{lines} messages: ");
    assert!(
        run.remarks[0].text.starts_with(&first),
        "{}",
        run.remarks[0].text
    );
}

fn artifact(path: &Path) -> Artifact {
    let found = walk(&[PathBuf::from(path)], Bounds::default(), &|_, _| u64::MAX).unwrap();
    found.artifacts.into_iter().next().unwrap()
}

fn read_with_reader(path: &Path) -> Reading {
    let (reader, _) = artifact(path).open().unwrap();
    let spec = Form::TestFlowsRaw.spec().unwrap();
    spec.read(&mut BufReader::with_capacity(256 * 1024, reader))
}

/// One pass of `serde_json` over all lines.
fn parse(path: &Path) -> u64 {
    let mut reader = BufReader::with_capacity(256 * 1024, File::open(path).unwrap());
    let mut line = Vec::new();
    let mut lines = 0;
    while reader.read_until(b'\n', &mut line).unwrap() > 0 {
        let message: Message<'_> = serde_json::from_slice(&line).unwrap();
        std::hint::black_box((
            message.message_keyword,
            message.message_num,
            message.message_stream,
            message.message_time,
        ));
        std::hint::black_box((
            message.message_rtime,
            message.test_type,
            message.test_subtype,
            message.test_id,
        ));
        std::hint::black_box((message.test_flags, message.test_cflags));
        line.clear();
        lines += 1;
    }
    lines
}

fn unpacked(path: &Path) -> u64 {
    let mut reader = liblzma::read::XzDecoder::new_multi_decoder(File::open(path).unwrap());
    let mut buffer = vec![0; 256 * 1024];
    let mut bytes = 0;
    loop {
        let count = reader.read(&mut buffer).unwrap();
        if count == 0 {
            return bytes;
        }
        bytes += u64::try_from(count).unwrap();
    }
}

/// The most memory that this process has had, in kilobytes.
fn peak_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|it| it.split_whitespace().next()?.parse().ok())
        .unwrap_or(0)
}

/// Packs a file in many streams of some megabytes, as a run that flushes does.
fn pack(plain: &Path, packed: &Path) {
    let mut reader = File::open(plain).unwrap();
    let mut out = BufWriter::new(File::create(packed).unwrap());
    loop {
        let mut part = Vec::new();
        Read::by_ref(&mut reader)
            .take(4 << 20)
            .read_to_end(&mut part)
            .unwrap();
        if part.is_empty() {
            break;
        }
        let mut packer = liblzma::write::XzEncoder::new(&mut out, 1);
        packer.write_all(&part).unwrap();
        packer.finish().unwrap();
    }
    out.flush().unwrap();
}

/// Writes a log of at least so many bytes; how many lines it has.
fn make(path: &Path, bytes: u64) -> u64 {
    let mut log = Log {
        out: BufWriter::new(File::create(path).unwrap()),
        bytes: 0,
        lines: 0,
        random: 7,
    };
    let root = "/15687618-ec0f-11f1-a1b2-02fc00000001";
    log.message("TEST", root, "/suite", ("Module", "null"), 0, "");
    for scenario in 0.. {
        if log.bytes >= bytes {
            break;
        }
        let id = format!("{root}/{scenario}");
        let name = format!("/suite/scenario number {scenario}");
        log.message("TEST", &id, &name, ("Test", "\"Scenario\""), 0, "");
        for printed in 1..=PRINTED {
            let text = log.text(scenario, printed);
            log.message(
                "NONE",
                &id,
                &name,
                ("Test", "\"Scenario\""),
                printed,
                &format!(",\"message\":\"{text}\""),
            );
        }
        let result = if scenario % 8 == 0 { "Fail" } else { "OK" };
        let rest = format!(
            ",\"result_message\":\"AssertionError: rows differ\",\"result_reason\":null,\"result_type\":\"{result}\",\"result_test\":\"{name}\""
        );
        log.message(
            "RESULT",
            &id,
            &name,
            ("Test", "\"Scenario\""),
            PRINTED + 1,
            &rest,
        );
    }
    log.message("RESULT", root, "/suite", ("Module", "null"), 1, ",\"result_message\":null,\"result_reason\":null,\"result_type\":\"Fail\",\"result_test\":\"/suite\"");
    log.message("STOP", root, "/suite", ("Module", "null"), 2, "");
    log.out.flush().unwrap();
    log.lines
}

struct Log {
    out: BufWriter<File>,
    bytes: u64,
    lines: u64,
    random: u64,
}

impl Log {
    fn number(&mut self) -> u64 {
        self.random = self
            .random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.random >> 33
    }

    fn text(&mut self, scenario: u64, printed: u64) -> String {
        match printed {
            1 => format!(
                "bash# client -q \\\"CREATE TABLE destination_{scenario} (a UInt16, b UInt16) ENGINE = MergeTree PARTITION BY a ORDER BY tuple()\\\""
            ),
            printed if printed % 20 == 0 => format!(
                "bash# client -q \\\"ALTER TABLE destination_{scenario} ATTACH PARTITION 1 FROM source_{scenario}\\\""
            ),
            _ => {
                let numbers: Vec<String> = (0..12).map(|_| self.number().to_string()).collect();
                numbers.join("\\t")
            }
        }
    }

    fn message(
        &mut self,
        keyword: &str,
        id: &str,
        name: &str,
        (kind, subtype): (&str, &str),
        number: u64,
        rest: &str,
    ) {
        let hash = self.number();
        let level = id.matches('/').count();
        let line = format!(
            "{{\"message_keyword\":\"{keyword}\",\"message_hash\":\"{hash:08x}\",\"message_object\":0,\"message_num\":{number},\
             \"message_stream\":\"clickhouse1\",\"message_level\":{level},\"message_time\":17735311{:02}.967999,\"message_rtime\":0.344753,\
             \"test_type\":\"{kind}\",\"test_subtype\":{subtype},\"test_id\":\"{id}\",\"test_name\":\"{name}\",\"test_flags\":0,\
             \"test_cflags\":1099780063232,\"test_level\":{level},\"test_parent_type\":\"Module\"{rest}}}\n",
            self.lines / 1_000_000 % 100,
        );
        self.out.write_all(line.as_bytes()).unwrap();
        self.bytes += u64::try_from(line.len()).unwrap();
        self.lines += 1;
    }
}
