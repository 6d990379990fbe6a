//! Writes a folder in the shape of report 001 and knows, without reading it back, every count in it.
//!
//! Three nodes, main log and err.log each, rotated and compressed pieces, and every trap that makes people miscount. At scale 1 the
//! counts are those that the report prints. What a node's folder holds:
//!
//! | node | main log | err.log |
//! |---|---|---|
//! | clickhouse1 | `.log.1.gz`, `.log.0.gz`, `.log`, cut in the message of its last record | `.err.log.0.gz`, `.err.log`, whole |
//! | clickhouse2 | `.log.0.gz`, `.log`; the pieces before are gone | `.err.log.0.gz` from before the main log, `.err.log` with CR LF |
//! | clickhouse3 | `.log.0.gz`, `.log` | `.err.log.0.gz`, `.err.log`, cut in the stack trace of its last record |
//!
//! How two rows of the report relate: a catalog error is a Warning-or-worse record that names a key `.../ref_catalog`. It is either one
//! attempt of `WriteBufferFromS3` (Code 1000) or an exception with Code 499; an S3 error is any exception with Code 499, two thirds of
//! which (rounded down) are on `ref_catalog`. So `ref_catalog_errors = ref_catalog_attempts + ref_catalog_exceptions`.
//!
//! In the new era (`Plan::new_era`) the refusal is Code 234 at Information without a stack trace and never in the err.log; the records
//! that are cut are then ordinary network errors. No line is forged: a line that looks like a head is one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

/// Says how large the folder is and which of the two eras it shows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// The report's counts are divided by this, rounding down; at least 1. Traps keep a minimum of two per node.
    pub(crate) scale: u32,
    pub(crate) seed: u64,
    /// Refusals are Code 234 at Information, as from 26.6.4 on.
    pub(crate) new_era: bool,
}

/// The counts of everything that [`write`] wrote, in the order of the nodes' names.
#[derive(Debug)]
pub(crate) struct Truth {
    pub(crate) nodes: Vec<NodeTruth>,
}

/// Counts of one node; a record that is in the main log and in the err.log counts once, except in `files`.
#[derive(Debug, Default)]
pub(crate) struct NodeTruth {
    pub(crate) name: &'static str,
    pub(crate) records: u64,
    /// Lines without a head, empty ones included, of the whole copy where the other one is cut.
    pub(crate) continuation_lines: u64,
    /// Records that only the err.log has, for its main log does not reach back so far.
    pub(crate) err_only: u64,
    /// Keys as in `records.by_level` of the report: `error`, `warning`, `info` (with Notice), `debug`, `trace`.
    pub(crate) levels: BTreeMap<&'static str, u64>,
    /// First code of each record that is an exception.
    pub(crate) codes: BTreeMap<u32, u64>,
    /// Codes that such a record mentions after the first.
    pub(crate) codes_nested: BTreeMap<u32, u64>,
    pub(crate) refusals: u64,
    /// Refusals by the host that they accuse.
    pub(crate) refusals_by_source: BTreeMap<&'static str, u64>,
    pub(crate) refusals_by_part: BTreeMap<String, u64>,
    pub(crate) unproven_unknown: u64,
    pub(crate) unproven_no: u64,
    pub(crate) finished: u64,
    pub(crate) ref_catalog_errors: u64,
    pub(crate) ref_catalog_attempts: u64,
    pub(crate) ref_catalog_exceptions: u64,
    /// Code 499, whatever the key.
    pub(crate) s3_errors: u64,
    pub(crate) empty_multipart: u64,
    /// Code 210, `CAS write could not be committed (...); retrying later`.
    pub(crate) write_not_committed: u64,
    /// Code 210, `...; TRANSIENT unavailability, not damage`.
    pub(crate) transient_unavailable: u64,
    /// Code 210, the ordinary network error.
    pub(crate) network_errors: u64,
    /// Code 234 that is not a refusal.
    pub(crate) no_active_replica: u64,
    /// Code 1000 of the HTTP server, not of an object store.
    pub(crate) http_resets: u64,
    /// Debug and Information records of the queue that repeat the last exception; no occurrences.
    pub(crate) echoes: u64,
    /// Debug records of `executeQuery` whose query quotes the refusal; no occurrences.
    pub(crate) monitoring_queries: u64,
    /// Error records with Code 62 whose query quotes the refusal; errors, but no refusals.
    pub(crate) quoting_errors: u64,
    /// Warnings of `CasWriteRetryLater`: the text of a write that was not committed, without a code.
    pub(crate) retry_warnings: u64,
    /// Warnings of `CasRefLedger` that say `(code 499: ...)`; no exceptions.
    pub(crate) ledger_warnings: u64,
    pub(crate) notices: u64,
    /// Smallest and largest stamp, `2026-09-01T21:12:03.000000`.
    pub(crate) first: String,
    pub(crate) last: String,
    /// Raw counts, by path below the folder with `/`.
    pub(crate) files: BTreeMap<String, FileTruth>,
}

/// What one file holds, repeats and cut records included.
#[derive(Debug, Default)]
pub(crate) struct FileTruth {
    pub(crate) records: u64,
    pub(crate) continuation_lines: u64,
    /// Unpacked.
    pub(crate) bytes: u64,
    /// Lines with the text `did not prove it still holds the manifest`, what a plain grep finds once unpacked.
    pub(crate) grep_lines: u64,
    /// The last record is cut.
    pub(crate) torn: bool,
}

impl Truth {
    /// Finds a node; panics for a name that the generator does not write.
    pub(crate) fn node(&self, name: &str) -> &NodeTruth {
        self.nodes
            .iter()
            .find(|node| node.name == name)
            .expect("one of clickhouse1 to clickhouse3")
    }
}

/// Writes `clickhouse1` to `clickhouse3` below `folder`, streaming: memory does not grow with the counts.
pub(crate) fn write(plan: &Plan, folder: &Path) -> Truth {
    assert!(
        plan.scale > 0,
        "a scale of 1 writes the report's counts, 0 has no meaning"
    );
    Truth {
        nodes: (0..NODES.len())
            .map(|index| Node::new(plan, folder, index).run())
            .collect(),
    }
}

const NODES: [&str; 3] = ["clickhouse1", "clickhouse2", "clickhouse3"];
const REFUSALS: [u64; 3] = [45_294, 67_280, 58_355];
const UNPROVEN: [u64; 3] = [31_541, 6_135, 0];
const FINISHED: [u64; 3] = [9_201, 6_344, 5_494];
const REF_CATALOG: [u64; 3] = [468, 126, 117];
const S3: [u64; 3] = [304, 74, 70];

/// Pieces of a stream in order of time: suffix, and the per mille of the records at which it ends.
type Pieces = &'static [(&'static str, u64)];
const MAIN: [Pieces; 3] = [
    &[(".1.gz", 450), (".0.gz", 860), ("", 1001)],
    &[(".0.gz", 880), ("", 1001)],
    &[(".0.gz", 850), ("", 1001)],
];
const ERR: [Pieces; 3] = [
    &[(".0.gz", 830), ("", 1001)],
    &[(".0.gz", 910), ("", 1001)],
    &[(".0.gz", 890), ("", 1001)],
];
/// Microseconds since 2026-09-01 00:00, between which the records of a node lie.
const SPAN: [(u64, u64); 3] = [
    (76_323_000_000, 93_401_000_000),
    (76_334_500_000, 93_397_200_000),
    (76_341_250_000, 93_399_900_000),
];
/// Share of records, share of time, both per 1000: a quiet start, a storm in the middle, a tail.
const PACE: [(u64, u64); 4] = [(0, 0), (150, 420), (850, 740), (1000, 1000)];

const NEEDLE: &str = "did not prove it still holds the manifest";
const STACK: &str = "Stack trace (when copying this message, always include the lines below):";
const PARTS: [&str; 16] = [
    "5-8_3_3_0",
    "6-9_1_1_0",
    "6-9_2_2_0",
    "8_1_1_0",
    "6-9_3_3_0",
    "5-8_1_1_0",
    "5-8_2_2_0",
    "5-9_1_1_0",
    "5-9_2_2_0",
    "6-8_1_1_0",
    "6-8_4_4_0",
    "7_1_1_0",
    "8_2_2_0",
    "20260801_1_1_0",
    "all_0_0_0",
    "1_1_1_0_3",
];
/// Suffix of a table's name and its uuid; the first is the table of the report.
const TABLES: [(&str, &str); 8] = [
    (
        "e3b71c02_a64b_11f1_acc8_92000910a29a",
        "4511104e-7c52-4d1b-9a7e-2f1d0c6b8e93",
    ),
    (
        "bcd4d357_a64c_11f1_9d0e_92000910a29a",
        "0d7a5f31-41c6-4f0b-8b67-6a2e9f10c7d4",
    ),
    (
        "1c09be44_a64a_11f1_b3f5_92000910a29a",
        "9b3e2c70-58aa-4e19-b1d2-c44f7a60e5b8",
    ),
    (
        "77aa10f6_a64d_11f1_8c21_92000910a29a",
        "c18f4d92-0b75-4a63-93e8-15d6b2f7a041",
    ),
    (
        "2be5c8d0_a64d_11f1_a7b4_92000910a29a",
        "e6207a1b-f394-4cd8-8a05-7b9c3d42f16e",
    ),
    (
        "90f1d3ab_a64e_11f1_bb60_92000910a29a",
        "3fa9c6e5-2d81-47b0-a5c3-08e14b7d92f6",
    ),
    (
        "c4419e7d_a64e_11f1_9a3c_92000910a29a",
        "7d52b0f8-96e3-4b1c-8f27-d3a06c5e4b19",
    ),
    (
        "05d86b29_a64f_11f1_8e95_92000910a29a",
        "a84c1e37-6f0d-4295-bc48-f21e7d90a3c5",
    ),
];

/// What one step of the plan writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Refusal,
    /// The same refusal twice, to the byte.
    RefusalTwice,
    Unproven,
    UnprovenTwice,
    Finished,
    CatalogAttempt,
    CatalogException,
    OtherS3,
    EmptyMultipart,
    WriteNotCommitted,
    Transient,
    Network,
    NoActiveReplica,
    HttpReset,
    Echo,
    MonitoringQuery,
    QuotingError,
    RetryWarning,
    LedgerWarning,
    Notice,
    Filler,
}

/// Steele, Lea and Flood's generator: a few lines, and the same bytes on every machine.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        let n = u64::try_from(of.len()).expect("a length fits");
        of[usize::try_from(self.below(n)).expect("an index fits")]
    }

    fn uuid(&mut self) -> String {
        let (a, b) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
            a >> 32,
            (a >> 16) & 0xffff,
            a & 0xfff,
            b >> 52,
            b & 0xffff_ffff_ffff
        )
    }
}

/// A record before it has a stamp.
struct Draft {
    thread: u64,
    query: String,
    level: &'static str,
    logger: String,
    /// Continuation lines after line feeds; no line feed at the end.
    message: String,
    code: Option<u32>,
    nested: Option<u32>,
    grep_lines: u64,
    /// Source and part of a refusal.
    refusal: Option<(&'static str, &'static str)>,
}

impl Draft {
    fn new(thread: u64, level: &'static str, logger: impl Into<String>, message: String) -> Self {
        Self {
            thread,
            query: String::new(),
            level,
            logger: logger.into(),
            message,
            code: None,
            nested: None,
            grep_lines: 0,
            refusal: None,
        }
    }

    fn query(mut self, query: String) -> Self {
        self.query = query;
        self
    }

    fn code(mut self, code: u32) -> Self {
        self.code = Some(code);
        self
    }

    fn nested(mut self, code: u32) -> Self {
        self.nested = Some(code);
        self
    }

    fn grep_lines(mut self, lines: u64) -> Self {
        self.grep_lines = lines;
        self
    }

    fn in_err_log(&self) -> bool {
        matches!(self.level, "Error" | "Warning" | "Notice")
    }

    fn text(&self, stamp: u64) -> String {
        let Self {
            thread,
            query,
            level,
            logger,
            message,
            ..
        } = self;
        format!(
            "{} [ {thread} ] {{{query}}} <{level}> {logger}: {message}",
            head_time(stamp)
        )
    }
}

fn head_time(stamp: u64) -> String {
    let (day, time) = (1 + stamp / 86_400_000_000, stamp % 86_400_000_000);
    let (seconds, micros) = (time / 1_000_000, time % 1_000_000);
    format!(
        "2026.09.{day:02} {:02}:{:02}:{:02}.{micros:06}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

fn iso_time(stamp: u64) -> String {
    head_time(stamp).replacen('.', "-", 2).replacen(' ', "T", 1)
}

enum Out {
    Plain(BufWriter<File>),
    Packed(Box<GzEncoder<BufWriter<File>>>),
}

impl Out {
    fn create(path: &Path) -> Self {
        let file = BufWriter::new(File::create(path).expect("the folder is writable"));
        if path.extension().is_some_and(|extension| extension == "gz") {
            Self::Packed(Box::new(GzEncoder::new(file, Compression::new(5))))
        } else {
            Self::Plain(file)
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        match self {
            Self::Plain(file) => file.write_all(bytes),
            Self::Packed(file) => file.write_all(bytes),
        }
        .expect("the disk has room");
    }

    fn close(self) {
        match self {
            Self::Plain(mut file) => file.flush(),
            Self::Packed(file) => file.finish().and_then(|mut file| file.flush()),
        }
        .expect("the disk has room");
    }
}

/// One log of a node: its pieces are opened in order of time.
struct Stream {
    folder: PathBuf,
    path: String,
    pieces: Pieces,
    at: usize,
    /// The lines of the last piece end in CR LF.
    last_is_crlf: bool,
    out: Option<Out>,
    truths: BTreeMap<String, FileTruth>,
}

impl Stream {
    fn new(folder: &Path, path: String, pieces: Pieces, last_is_crlf: bool) -> Self {
        let mut stream = Self {
            folder: folder.to_path_buf(),
            path,
            pieces,
            at: 0,
            last_is_crlf,
            out: None,
            truths: BTreeMap::new(),
        };
        stream.open();
        stream
    }

    fn piece(&self) -> String {
        format!("{}{}", self.path, self.pieces[self.at].0)
    }

    fn open(&mut self) {
        let piece = self.piece();
        if let Some(out) = self.out.replace(Out::create(&self.folder.join(&piece))) {
            out.close();
        }
        self.truths.insert(piece, FileTruth::default());
    }

    /// Goes to the next piece where the plan says so; always between two records.
    fn rotate(&mut self, per_mille: u64) {
        while per_mille >= self.pieces[self.at].1 {
            self.at += 1;
            self.open();
        }
    }

    fn put(&mut self, text: &str, grep_lines: u64, torn: bool) {
        let mut bytes = if torn {
            text.to_owned()
        } else {
            format!("{text}\n")
        };
        if self.last_is_crlf && self.at + 1 == self.pieces.len() {
            bytes = bytes.replace('\n', "\r\n");
        }
        let piece = self.piece();
        let truth = self.truths.get_mut(&piece).expect("opened before");
        truth.records += 1;
        truth.continuation_lines += line_feeds(text);
        truth.bytes += u64::try_from(bytes.len()).expect("a length fits");
        truth.grep_lines += grep_lines;
        truth.torn |= torn;
        self.out
            .as_mut()
            .expect("opened before")
            .put(bytes.as_bytes());
    }

    fn finish(mut self) -> BTreeMap<String, FileTruth> {
        if let Some(out) = self.out.take() {
            out.close();
        }
        self.truths
    }
}

fn line_feeds(text: &str) -> u64 {
    u64::try_from(text.matches('\n').count()).expect("a count fits")
}

/// Where the copy of a record in one of the two logs ends early.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    None,
    MainInMessage,
    ErrInStack,
}

struct Node {
    index: usize,
    new_era: bool,
    version: &'static str,
    rng: SplitMix64,
    truth: NodeTruth,
    main: Stream,
    err: Stream,
    stamp: u64,
    stamp_range: (u64, u64),
    build: u64,
    queue: u64,
    steps: Steps,
}

/// What a node writes, beside the lines of its start.
struct Steps {
    quotas: Vec<(Kind, u64)>,
    /// Refusals that only the err.log has, before its main log begins.
    refusals_before: u64,
    /// The last exception, cut in one of the two logs.
    cut: Option<Kind>,
}

impl Node {
    fn new(plan: &Plan, folder: &Path, index: usize) -> Self {
        let name = NODES[index];
        std::fs::create_dir_all(folder.join(name)).expect("the folder is writable");
        let scale = u64::from(plan.scale);
        Self {
            index,
            new_era: plan.new_era,
            version: if plan.new_era {
                "26.6.4.20001.altinityantalya"
            } else {
                "26.6.2.20001.altinityantalya"
            },
            rng: SplitMix64(plan.seed ^ (u64::try_from(index).expect("a small number") << 56)),
            truth: NodeTruth {
                name,
                ..NodeTruth::default()
            },
            main: Stream::new(
                folder,
                format!("{name}/clickhouse-server.log"),
                MAIN[index],
                false,
            ),
            err: Stream::new(
                folder,
                format!("{name}/clickhouse-server.err.log"),
                ERR[index],
                index == 1,
            ),
            stamp: SPAN[index].0,
            stamp_range: (u64::MAX, 0),
            build: 1000,
            queue: 100,
            steps: steps(index, scale, plan.new_era),
        }
    }

    fn run(mut self) -> NodeTruth {
        if self.index == 1 {
            self.run_before_main_log();
        } else {
            self.start();
        }
        let total: u64 = self.steps.quotas.iter().map(|&(_, n)| n).sum();
        let (from, to) = (self.stamp, SPAN[self.index].1);
        let from = if self.index == 1 {
            from + 900_000
        } else {
            from
        };
        for step in 0..total {
            self.main.rotate(step * 1000 / total);
            self.err.rotate(step * 1000 / total);
            self.advance(from, to, step, total);
            let kind = self.draw(total - step);
            self.record(kind, Cut::None);
        }
        self.main.rotate(1000);
        self.err.rotate(1000);
        self.end();
        let Self {
            mut truth,
            main,
            err,
            stamp_range,
            ..
        } = self;
        (truth.first, truth.last) = (iso_time(stamp_range.0), iso_time(stamp_range.1));
        truth.files = main.finish();
        truth.files.extend(err.finish());
        truth
    }

    /// The err.log of this node reaches further back than its main log, whose older pieces are gone.
    fn run_before_main_log(&mut self) {
        let from = self.stamp;
        let kinds = [Kind::Network, Kind::Transient, Kind::LedgerWarning];
        let count = self.steps.refusals_before + 3;
        for step in 0..count {
            self.advance(from, from + 2_460_000_000, step, count);
            // In the new era a refusal is not in the err.log, so none is placed here.
            let kind = usize::try_from(step)
                .ok()
                .and_then(|step| kinds.get(step))
                .copied()
                .unwrap_or(Kind::Refusal);
            let draft = self.draft(kind);
            self.count(kind, &draft);
            self.truth.err_only += 1;
            self.err
                .put(&draft.text(self.stamp), draft.grep_lines, false);
        }
    }

    fn start(&mut self) {
        let version = self.version;
        let lines = [
            (
                "Information",
                "Application",
                format!(
                    "Starting ClickHouse {version} (revision: 54510, git hash: 1f0c6f7a2b94e8d35f0a7c16b2e4d9835a7710ce, build id: 6D1E40C2B7F98A3355E0), PID 1"
                ),
            ),
            ("Information", "Application", "starting up".to_owned()),
            (
                "Trace",
                "Application",
                "Initialized DateLUT with time zone 'UTC'.".to_owned(),
            ),
            (
                "Information",
                "Application",
                "Ready for connections.".to_owned(),
            ),
        ];
        for (level, logger, message) in lines {
            self.stamp += 1000 + self.rng.below(90_000);
            self.emit(&Draft::new(1, level, logger, message), Cut::None);
        }
    }

    fn end(&mut self) {
        let Some(kind) = self.steps.cut else { return };
        self.stamp += 5000;
        if self.index == 0 {
            self.record(kind, Cut::MainInMessage);
            return;
        }
        self.record(kind, Cut::ErrInStack);
        for _ in 0..3 {
            self.stamp += 1 + self.rng.below(70_000);
            self.record(Kind::Filler, Cut::None);
        }
    }

    fn advance(&mut self, from: u64, to: u64, step: u64, total: u64) {
        const FINE: u64 = 1_000_000_000;
        let share = (step * FINE + self.rng.below(FINE)) / total;
        let segment = PACE
            .windows(2)
            .find(|pair| share < pair[1].0 * (FINE / 1000))
            .expect("a share is below one");
        let [(x0, y0), (x1, y1)] = [segment[0], segment[1]];
        let within =
            u128::from(share - x0 * (FINE / 1000)) * u128::from(y1 - y0) / u128::from(x1 - x0);
        let time = u128::from(y0 * (FINE / 1000)) + within;
        let offset = u64::try_from(u128::from(to - from) * time / u128::from(FINE))
            .expect("within the span");
        if self.rng.below(113) == 0 && step > 0 {
            // The time is taken before the lock of the file: small steps back are normal.
            self.stamp -= 1 + self.rng.below(900);
        } else {
            self.stamp = from + offset;
        }
    }

    /// Draws without replacement, so that every quota is met exactly at the end.
    fn draw(&mut self, left: u64) -> Kind {
        let mut ticket = self.rng.below(left);
        for (kind, quota) in &mut self.steps.quotas {
            if ticket < *quota {
                *quota -= 1;
                return *kind;
            }
            ticket -= *quota;
        }
        unreachable!("tickets are as many as quotas")
    }

    fn record(&mut self, kind: Kind, cut: Cut) {
        let draft = self.draft(kind);
        let times = if matches!(kind, Kind::RefusalTwice | Kind::UnprovenTwice) {
            2
        } else {
            1
        };
        for _ in 0..times {
            self.count(kind, &draft);
            self.write_out(&draft, cut);
        }
    }

    fn emit(&mut self, draft: &Draft, cut: Cut) {
        self.count(Kind::Filler, draft);
        self.write_out(draft, cut);
    }

    fn write_out(&mut self, draft: &Draft, cut: Cut) {
        let text = draft.text(self.stamp);
        let whole = draft.grep_lines;
        match cut {
            Cut::MainInMessage => {
                let end = text
                    .find("Code: ")
                    .expect("the record that is cut is an exception")
                    + 38;
                self.main.put(&text[..end], 0, true);
            }
            Cut::None | Cut::ErrInStack => self.main.put(&text, whole, false),
        }
        if draft.in_err_log() {
            match cut {
                Cut::ErrInStack => {
                    let end = text
                        .find("\n5. ")
                        .expect("the record that is cut has a stack trace")
                        + 24;
                    self.err.put(&text[..end], whole, true);
                }
                Cut::None | Cut::MainInMessage => self.err.put(&text, whole, false),
            }
        }
    }
}

fn steps(index: usize, scale: u64, new_era: bool) -> Steps {
    let few = |n: u64| (n / scale).max(2);
    let all = REFUSALS[index] / scale;
    let refusals_before = if index == 1 && !new_era { all / 16 } else { 0 };
    let cut = match index {
        1 => None,
        _ if new_era => Some(Kind::Network),
        _ => (all > 0).then_some(Kind::Refusal),
    };
    let refusals = all - refusals_before - u64::from(cut == Some(Kind::Refusal));
    let (unproven, s3) = (UNPROVEN[index] / scale, S3[index] / scale);
    let exceptions = s3 * 2 / 3;
    let (twice, unproven_twice) = (u64::from(refusals > 1), u64::from(unproven > 1));
    let quotas = vec![
        (Kind::Refusal, refusals - 2 * twice),
        (Kind::RefusalTwice, twice),
        (Kind::Unproven, unproven - 2 * unproven_twice),
        (Kind::UnprovenTwice, unproven_twice),
        (Kind::Finished, FINISHED[index] / scale),
        (
            Kind::CatalogAttempt,
            REF_CATALOG[index] / scale - exceptions,
        ),
        (Kind::CatalogException, exceptions),
        (Kind::OtherS3, s3 - exceptions),
        (Kind::EmptyMultipart, u64::from(index == 0)),
        (Kind::WriteNotCommitted, few(REFUSALS[index] / 60)),
        (Kind::Transient, few(REFUSALS[index] / 150)),
        (Kind::Network, few(REFUSALS[index] / 90)),
        (Kind::NoActiveReplica, few(REFUSALS[index] / 45)),
        (Kind::HttpReset, few(300)),
        (Kind::Echo, few(REFUSALS[index] / 30)),
        (Kind::MonitoringQuery, few(REFUSALS[index] / 120)),
        (Kind::QuotingError, 2),
        (Kind::RetryWarning, few(500)),
        (Kind::LedgerWarning, few(400)),
        (Kind::Notice, few(200)),
        (Kind::Filler, few(REFUSALS[index] * 3 / 2)),
    ];
    Steps {
        quotas,
        refusals_before,
        cut,
    }
}

impl Node {
    fn count(&mut self, kind: Kind, draft: &Draft) {
        let truth = &mut self.truth;
        truth.records += 1;
        truth.continuation_lines += line_feeds(&draft.message);
        let level = match draft.level {
            "Error" => "error",
            "Warning" => "warning",
            "Notice" | "Information" => "info",
            "Debug" => "debug",
            _ => "trace",
        };
        *truth.levels.entry(level).or_default() += 1;
        if let Some(code) = draft.code {
            *truth.codes.entry(code).or_default() += 1;
        }
        if let Some(code) = draft.nested {
            *truth.codes_nested.entry(code).or_default() += 1;
        }
        self.stamp_range = (
            self.stamp_range.0.min(self.stamp),
            self.stamp_range.1.max(self.stamp),
        );
        let tally = match kind {
            Kind::Refusal | Kind::RefusalTwice => &mut truth.refusals,
            Kind::Unproven | Kind::UnprovenTwice => &mut truth.unproven_unknown,
            Kind::Finished => &mut truth.finished,
            Kind::CatalogAttempt => &mut truth.ref_catalog_attempts,
            Kind::CatalogException => &mut truth.ref_catalog_exceptions,
            Kind::OtherS3 => &mut truth.s3_errors,
            Kind::EmptyMultipart => &mut truth.empty_multipart,
            Kind::WriteNotCommitted => &mut truth.write_not_committed,
            Kind::Transient => &mut truth.transient_unavailable,
            Kind::Network => &mut truth.network_errors,
            Kind::NoActiveReplica => &mut truth.no_active_replica,
            Kind::HttpReset => &mut truth.http_resets,
            Kind::Echo => &mut truth.echoes,
            Kind::MonitoringQuery => &mut truth.monitoring_queries,
            Kind::QuotingError => &mut truth.quoting_errors,
            Kind::RetryWarning => &mut truth.retry_warnings,
            Kind::LedgerWarning => &mut truth.ledger_warnings,
            Kind::Notice => &mut truth.notices,
            Kind::Filler => return,
        };
        *tally += 1;
        if matches!(kind, Kind::CatalogAttempt | Kind::CatalogException) {
            truth.ref_catalog_errors += 1;
        }
        if kind == Kind::CatalogException {
            truth.s3_errors += 1;
        }
        if let Some((source, part)) = draft.refusal {
            *truth.refusals_by_source.entry(source).or_default() += 1;
            *truth.refusals_by_part.entry(part.to_owned()).or_default() += 1;
        }
    }

    fn draft(&mut self, kind: Kind) -> Draft {
        match kind {
            Kind::Refusal | Kind::RefusalTwice => self.refusal(),
            Kind::Unproven | Kind::UnprovenTwice => self.unproven(),
            Kind::Finished => {
                let (logger, part) = (self.logger(" (Fetcher)"), self.rng.pick(&PARTS));
                let message =
                    format!("Relink of part {part} onto disk cas finished (no bytes transferred).");
                Draft::new(self.worker(), "Debug", logger, message)
            }
            Kind::CatalogAttempt => self.catalog_attempt(),
            Kind::CatalogException => self.s3_error("data/cas/ref_catalog"),
            Kind::OtherS3 => {
                let key = self.rng.pick(&[
                    "data/cas/gc/state",
                    "data/cas/ns/state/00000000000004d1/_ckpt",
                    "data/blobs/3f/3fa1c09b77d2",
                ]);
                self.s3_error(key)
            }
            Kind::EmptyMultipart => self.empty_multipart(),
            Kind::WriteNotCommitted => self.write_not_committed(),
            Kind::Transient => self.transient(),
            Kind::Network => self.network(),
            Kind::NoActiveReplica => self.no_active_replica(),
            Kind::HttpReset => self.http_reset(),
            Kind::Echo => self.echo(),
            Kind::MonitoringQuery => self.monitoring_query(),
            Kind::QuotingError => self.quoting_error(),
            Kind::RetryWarning => {
                let why = "CAS mount lost / lease expired — refusing to append ref-log transactions for server_root 'alter-cas'";
                let message = format!("CAS write could not be committed ({why}); retrying later");
                Draft::new(self.worker(), "Warning", "CasWriteRetryLater", message)
            }
            Kind::LedgerWarning => {
                let (namespace, retry) = (self.namespace(), 1 + self.rng.below(6));
                let message = format!(
                    "CAS ref-table recovery for namespace '{namespace}' hit a transient object-store error (code 499: Timeout); \
                     retry #{retry} after {}ms backoff (elapsed {}ms / budget 90000ms)",
                    200 << retry,
                    500 * retry,
                );
                Draft::new(self.worker(), "Warning", "CasRefLedger", message)
            }
            Kind::Notice => {
                let message = format!(
                    "Thread pool queue is {} tasks deep, new fetches wait",
                    8 + self.rng.below(60)
                );
                Draft::new(self.worker(), "Notice", "BackgroundExecutor", message)
            }
            Kind::Filler => self.filler(),
        }
    }

    fn worker(&mut self) -> u64 {
        640 + self.rng.below(96)
    }

    fn peer(&mut self) -> &'static str {
        NODES[(self.index + 1 + usize::from(self.rng.below(3) == 0)) % NODES.len()]
    }

    fn table(&mut self) -> (&'static str, &'static str) {
        self.rng.pick(&TABLES)
    }

    fn logger(&mut self, component: &str) -> String {
        let (suffix, uuid) = self.table();
        format!("default.destination_{suffix} ({uuid}){component}")
    }

    fn namespace(&mut self) -> String {
        let (_, uuid) = self.table();
        format!(
            "alter-cas-{}/store/{}/{uuid}@cas@",
            NODES[self.index],
            &uuid[..3]
        )
    }

    fn queue_entry(&mut self) -> String {
        self.queue += self.rng.below(3);
        format!("queue-{:010}", self.queue)
    }

    /// An exception of the replication queue: `text` ends with the error's name in brackets.
    fn queue_exception(&mut self, level: &'static str, code: u32, text: &str) -> Draft {
        let logger = self.logger("");
        let mut message = format!("{QUEUE_LAMBDA}: Code: {code}. DB::{text}");
        self.close(
            &mut message,
            if level == "Error" { QUEUE_FRAMES } else { &[] },
        );
        Draft::new(self.worker(), level, logger, message).code(code)
    }

    fn close(&self, message: &mut String, frames: &[&str]) {
        if !frames.is_empty() {
            write!(message, ", {STACK}\n\n{}\n", frames.join("\n")).expect("a string takes all");
        }
        write!(message, " (version {} (altinity build))", self.version)
            .expect("a string takes all");
    }

    fn refusal_text(&mut self) -> (String, &'static str, &'static str) {
        let (source, part) = (self.peer(), self.rng.pick(&PARTS));
        let text = format!(
            "Source {source} {NEEDLE} it offered for part {part} by relink; the relink is abandoned and the fetch will be retried later"
        );
        (text, source, part)
    }

    fn refusal(&mut self) -> Draft {
        let (text, source, part) = self.refusal_text();
        let (level, code, name) = if self.new_era {
            ("Information", 234, "NO_REPLICA_HAS_PART")
        } else {
            ("Error", 210, "NETWORK_ERROR")
        };
        let mut draft = self
            .queue_exception(level, code, &format!("Exception: {text}. ({name})"))
            .grep_lines(1);
        draft.refusal = Some((source, part));
        draft
    }

    fn unproven(&mut self) -> Draft {
        self.build += 1 + self.rng.below(13);
        let (suffix, uuid) = self.table();
        let logger = format!("default.destination_{suffix} ({uuid}) (Replicated PartsService)");
        let part = self.rng.pick(&PARTS);
        let message = format!(
            "Relink confirm is unproven (unknown) for ref '{part}' (part {part}, manifest 1:{}:1) in namespace \
             'alter-cas-{}/store/{}/{uuid}@cas@'",
            self.build,
            NODES[self.index],
            &uuid[..3],
        );
        Draft::new(300 + self.rng.below(40), "Debug", logger, message)
    }

    fn catalog_attempt(&mut self) -> Draft {
        let message = format!(
            "S3Exception name , Message: Poco::Exception. Code: 1000, e.code() = 0, Timeout (version {} (altinity build)), \
             bucket cas-pool, key data/cas/ref_catalog, object size {}",
            self.version,
            2200 + self.rng.below(400),
        );
        Draft::new(self.worker(), "Error", "WriteBufferFromS3", message).code(1000)
    }

    fn s3_error(&mut self, key: &str) -> Draft {
        let text = format!(
            "Message: Poco::Exception. Code: 1000, e.code() = 0, Timeout (version {v} (altinity build)), bucket cas-pool, key {key}, \
             this error happened for S3 disk. (S3_ERROR)",
            v = self.version,
        );
        if self.rng.below(3) == 0 {
            return self
                .queue_exception("Error", 499, &format!("Exception: {text}"))
                .nested(1000);
        }
        let (suffix, _) = self.table();
        let query = format!(
            "CREATE TABLE default.source_{suffix} (a UInt16, b UInt16, extra UInt64) ENGINE = MergeTree PARTITION BY a ORDER BY tuple() \
             SETTINGS storage_policy = 'cas_policy'"
        );
        self.query_exception(499, &text, &query).nested(1000)
    }

    fn query_exception(&mut self, code: u32, text: &str, query: &str) -> Draft {
        let message = format!(
            "Code: {code}. DB::Exception: {text} (version {} (altinity build)) (from 172.18.0.1:{}) (in query: {query}), {STACK}\n\n{}\n",
            self.version,
            32_768 + self.rng.below(28_000),
            QUERY_FRAMES.join("\n"),
        );
        let id = self.rng.uuid();
        Draft::new(60 + self.rng.below(20), "Error", "executeQuery", message)
            .query(id)
            .code(code)
    }

    fn empty_multipart(&mut self) -> Draft {
        let text =
            "Chosen multipart upload for an empty file. This must not happen. (LOGICAL_ERROR)";
        let query = "ALTER TABLE destination_bcd4d357_a64c_11f1_9d0e_92000910a29a ATTACH PARTITION 1 FROM \
                     source_bcd4d58d_a64c_11f1_9d0e_92000910a29a";
        self.query_exception(49, text, query)
    }

    fn write_not_committed(&mut self) -> Draft {
        let namespace = self.namespace();
        let why = self.rng.pick(&[
            "CAS mount lost / lease expired — refusing to append ref-log transactions for server_root 'alter-cas'",
            "CAS ref-log append was refused BEFORE any request was sent — the append lane is NOT wedged",
            "the write is unresolved (sent, resolve read found nothing observed)",
        ]);
        let text = format!(
            "CAS write could not be committed ({why}, namespace '{namespace}'); retrying later. (NETWORK_ERROR)"
        );
        if self.rng.below(4) == 0 {
            let (suffix, _) = self.table();
            return self.query_exception(
                210,
                &text,
                &format!("INSERT INTO default.source_{suffix} VALUES"),
            );
        }
        self.queue_exception("Error", 210, &format!("Exception: {text}"))
    }

    fn transient(&mut self) -> Draft {
        let text = format!(
            "Exception: content-addressed pool 'alter-cas-{}' -- stageManifest: the operation is no longer admitted -- the mount lease \
             has too little time left for another request, or this table's runtime was detached; TRANSIENT unavailability, not damage. \
             (NETWORK_ERROR)",
            NODES[self.index],
        );
        self.queue_exception("Error", 210, &text)
    }

    fn network(&mut self) -> Draft {
        let peer = self.peer();
        let what = self.rng.pick(&[
            "Connection reset by peer",
            "Connection refused",
            "I/O error: Broken pipe",
        ]);
        self.queue_exception("Error", 210, &format!("NetException: {what}, while reading from socket (peer: {peer}:9009). (NETWORK_ERROR)"))
    }

    fn no_active_replica(&mut self) -> Draft {
        let (entry, part) = (self.queue_entry(), self.rng.pick(&PARTS));
        let text = format!(
            "Exception: No active replica has part {part} or covering part (cannot execute {entry}: MERGE_PARTS with virtual parts \
             [{part}]). (NO_REPLICA_HAS_PART)"
        );
        self.queue_exception("Information", 234, &text)
    }

    fn http_reset(&mut self) -> Draft {
        let mut message =
            "Poco::Exception. Code: 1000, e.code() = 104, Connection reset by peer".to_owned();
        self.close(&mut message, SERVER_FRAMES);
        Draft::new(
            40 + self.rng.below(25),
            "Error",
            "ServerErrorHandler",
            message,
        )
        .code(1000)
    }

    fn echo(&mut self) -> Draft {
        let (text, ..) = self.refusal_text();
        let (code, name) = if self.new_era {
            (234, "NO_REPLICA_HAS_PART")
        } else {
            (210, "NETWORK_ERROR")
        };
        let exception = format!(
            "Code: {code}. DB::Exception: {text}. ({name}) (version {} (altinity build))",
            self.version
        );
        let (entry, tries) = (self.queue_entry(), 2 + self.rng.below(20));
        let (level, component, message) = match self.rng.below(3) {
            0 => (
                "Information",
                "",
                format!("Log entry {entry} failed {tries} times, last exception: {exception}"),
            ),
            1 => (
                "Debug",
                " (ReplicatedMergeTreeQueue)",
                format!("{entry}: num_tries: {tries}, last_exception: {exception}"),
            ),
            _ => (
                "Debug",
                "",
                format!(
                    "Queue entry {entry} of type REPLACE_RANGE, num_tries: {tries}, last_exception: '{exception}'"
                ),
            ),
        };
        let logger = self.logger(component);
        Draft::new(self.worker(), level, logger, message).grep_lines(1)
    }

    fn monitoring_query(&mut self) -> Draft {
        let (text, ..) = self.refusal_text();
        let from = format!(
            "(from 172.18.0.1:{}, user: default)",
            32_768 + self.rng.below(28_000)
        );
        let message = match self.rng.below(3) {
            0 => format!(
                "{from} SELECT count() FROM system.text_log WHERE level = 'Error' AND message LIKE '%Code: 210. DB::Exception: {text}%' (stage: Complete)"
            ),
            1 => format!(
                "{from} -- größer als gestern? 何件\nSELECT hostName(), count()\nFROM clusterAllReplicas('all', system.text_log)\nWHERE message LIKE '%{text}%'\nGROUP BY 1 (stage: Complete)"
            ),
            _ => format!(
                "{from} SELECT last_exception, count()\nFROM system.replication_queue\n\nWHERE last_exception = 'Code: 210. DB::Exception: {text}. (NETWORK_ERROR)' GROUP BY 1 (stage: Complete)"
            ),
        };
        let id = self.rng.uuid();
        Draft::new(60 + self.rng.below(20), "Debug", "executeQuery", message)
            .query(id)
            .grep_lines(1)
    }

    fn quoting_error(&mut self) -> Draft {
        let (text, ..) = self.refusal_text();
        let query = format!("SELECT count() FROM system.text_log WERE message LIKE '%{text}%'");
        self.query_exception(62, "Syntax error: failed at position 37 (message): message LIKE. Expected end of query. (SYNTAX_ERROR)", &query)
            .grep_lines(1)
    }

    /// An ordinary record, in the proportions of a busy replica at Trace.
    fn filler(&mut self) -> Draft {
        match self.rng.below(12) {
            0..=6 => self.table_filler(),
            7 | 8 => self.query_filler(),
            9 => {
                let (peer, part) = (self.peer(), self.rng.pick(&PARTS));
                let message = format!(
                    "Request URI: /?endpoint=DataPartsExchange%3A%2Fclickhouse%2Ftables%2Fdestination%2Freplicas%2F{peer}&part={part}\
                     &client_protocol_version=11&compress=false"
                );
                Draft::new(self.worker(), "Trace", "InterserverIOHTTPHandler", message)
            }
            10 => {
                let message = format!(
                    "Query peak memory usage: {}.{:02} KiB.",
                    100 + self.rng.below(900),
                    self.rng.below(100)
                );
                let id = self.rng.uuid();
                Draft::new(self.worker(), "Debug", "MemoryTracker", message).query(id)
            }
            _ => Draft::new(
                self.worker(),
                "Information",
                "InterserverIOHTTPHandler",
                "Done processing query".to_owned(),
            ),
        }
    }

    fn table_filler(&mut self) -> Draft {
        let (part, peer, entry, size) = (
            self.rng.pick(&PARTS),
            self.peer(),
            self.queue_entry(),
            700 + self.rng.below(600),
        );
        let (level, component, message) = match self.rng.below(7) {
            0 => (
                "Debug",
                "",
                format!(
                    "Fetching part {part} from default:/clickhouse/tables/destination/replicas/{peer}"
                ),
            ),
            1 => (
                "Debug",
                " (Fetcher)",
                format!(
                    "Relinking part {part} (staged as tmp-fetch_{part}) onto content-addressed disk cas from a {size}-byte transferred manifest."
                ),
            ),
            2 => (
                "Debug",
                " (Replicated PartsService)",
                format!(
                    "Sending part {part} by relink (content-addressed, shared pool 36eafa28-9a1f-438c-bab8-7c4749dc9b34), manifest payload \
                 {size} bytes"
                ),
            ),
            3 => (
                "Trace",
                " (Replicated PartsService)",
                format!("Sending part {part}"),
            ),
            4 => (
                "Debug",
                " (ReplicatedMergeTreeQueue)",
                format!(
                    "Not executing log entry {entry} of type REPLACE_RANGE because recently it has failed. According to exponential backoff \
                 policy, put aside this log entry for {} ms.",
                    1 << self.rng.below(16),
                ),
            ),
            5 => (
                "Debug",
                " (ReplicatedMergeTreeQueue)",
                "Pulled 1 entries to queue.".to_owned(),
            ),
            _ => (
                "Debug",
                "",
                format!(
                    "No active replica has part {part} which needs to be written with quorum. Will try to mark that quorum as failed."
                ),
            ),
        };
        let logger = self.logger(component);
        Draft::new(self.worker(), level, logger, message)
    }

    /// A query in the log, some over several lines, some not in ASCII.
    fn query_filler(&mut self) -> Draft {
        let ((suffix, _), id) = (self.table(), self.rng.uuid());
        let from = "(from 172.18.0.1:40122, user: default)";
        let message = if self.rng.below(2) == 0 {
            format!(
                "{from} INSERT INTO default.source_{suffix} VALUES ('naïve — Ω №{}') (stage: Complete)",
                self.rng.below(999)
            )
        } else {
            format!(
                "{from} ALTER TABLE default.destination_{suffix}\n    ATTACH PARTITION 1\n    FROM default.source_{suffix} (stage: Complete)"
            )
        };
        Draft::new(60 + self.rng.below(20), "Debug", "executeQuery", message).query(id)
    }
}

const QUEUE_LAMBDA: &str = "auto DB::StorageReplicatedMergeTree::processQueueEntry(ReplicatedMergeTreeQueue::SelectedEntryPtr)::\
                            (anonymous class)::operator()(LogEntryPtr &) const";
/// Report 001's order: `executeReplaceRange` is frame 6.
const QUEUE_FRAMES: &[&str] = &[
    "0. DB::Exception::Exception(DB::Exception::MessageMasked&&, int, bool) @ 0x000000001b9da388",
    "1. DB::Exception::Exception(PreformattedMessage&&, int) @ 0x000000000eaea6e2",
    "2. DB::Exception::Exception<String const&, String const&>(int, FormatStringHelperImpl<std::type_identity<String const&>::type, std::type_identity<String const&>::type>, String const&, String const&) @ 0x000000000f1d7604",
    "3. DB::DataPartsExchange::(anonymous namespace)::throwRetryLater(String const&, String const&) @ 0x000000001a38520c",
    "4. DB::DataPartsExchange::Fetcher::relinkPartToDisk(String const&, String const&, std::shared_ptr<DB::IDisk>, bool, Poco::URI const&) @ 0x00000000196c335a",
    "5. DB::DataPartsExchange::Fetcher::fetchSelectedPart(std::shared_ptr<DB::StorageInMemoryMetadata const> const&, String const&) @ 0x0000000019bc919e",
    "6. DB::StorageReplicatedMergeTree::executeReplaceRange(DB::ReplicatedMergeTreeLogEntry&) @ 0x0000000019487a3b",
    "7. DB::StorageReplicatedMergeTree::executeLogEntry(DB::ReplicatedMergeTreeLogEntry&) @ 0x00000000194ea271",
    "8. bool std::__function::__policy_func<bool (std::shared_ptr<DB::ReplicatedMergeTreeLogEntry>&)>::__call_func[abi:ne210105]<DB::StorageReplicatedMergeTree::processQueueEntry(std::shared_ptr<DB::ReplicatedMergeTreeQueue::SelectedEntry>)::$_0> @ 0x000000001951f0c2",
    "9. DB::ReplicatedMergeTreeQueue::processEntry(std::function<std::shared_ptr<zkutil::ZooKeeper> ()>, std::shared_ptr<DB::ReplicatedMergeTreeLogEntry>&) @ 0x000000001a2be6f9",
    "10. DB::StorageReplicatedMergeTree::processQueueEntry(std::shared_ptr<DB::ReplicatedMergeTreeQueue::SelectedEntry>) @ 0x0000000019522d44",
    "11. DB::ExecutableLambdaAdapter::executeStep() @ 0x00000000195c1a6e",
];
const QUERY_FRAMES: &[&str] = &[
    "0. DB::Exception::Exception(DB::Exception::MessageMasked&&, int, bool) @ 0x000000001b9da388",
    "1. DB::Exception::Exception(PreformattedMessage&&, int) @ 0x000000000eaea6e2",
    "2. DB::InterpreterFactory::executeQueryImpl(char const*, char const*, std::shared_ptr<DB::Context>) @ 0x0000000017a0c4d1",
    "3. DB::executeQuery(String const&, std::shared_ptr<DB::Context>, DB::QueryFlags) @ 0x0000000017a11e80",
    "4. DB::TCPHandler::runImpl() @ 0x000000001982c4f7",
];
const SERVER_FRAMES: &[&str] = &[
    "0. Poco::Net::SocketImpl::error(int, String const&) @ 0x000000001ab30909",
    "1. Poco::Net::SocketImpl::peerAddress() @ 0x000000001897ba82",
    "2. DB::HTTPServerRequest::HTTPServerRequest(std::shared_ptr<DB::IHTTPContext>, Poco::Net::HTTPServerSession&) @ 0x000000001dfbb17f",
    "3. DB::HTTPServerConnection::run() @ 0x000000001c47b167",
    "4. Poco::Net::TCPServerConnection::start() @ 0x0000000019388955",
];

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read as _;

    use super::{BTreeMap, NODES, NodeTruth, Path, Plan, REFUSALS, Truth, write};

    fn bytes(path: &Path) -> Vec<u8> {
        let mut bytes = Vec::new();
        File::open(path).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    }

    /// One file read with nothing but line prefixes and substrings.
    fn records(path: &Path) -> Vec<String> {
        let mut bytes = bytes(path);
        if path.extension().is_some_and(|extension| extension == "gz") {
            let mut unpacked = Vec::new();
            flate2::read::GzDecoder::new(&bytes[..])
                .read_to_end(&mut unpacked)
                .unwrap();
            bytes = unpacked;
        }
        let mut records: Vec<String> = Vec::new();
        for line in String::from_utf8(bytes).unwrap().lines() {
            match records.last_mut() {
                Some(record) if !line.starts_with("2026.09.0") => {
                    record.push('\n');
                    record.push_str(line);
                }
                _ => records.push(line.to_owned()),
            }
        }
        records
    }

    /// The records of a node once each: the larger multiplicity, a cut copy counted as the whole one.
    fn unique(folder: &Path, node: &NodeTruth) -> Vec<String> {
        let mut by_log: [BTreeMap<String, usize>; 2] = [BTreeMap::new(), BTreeMap::new()];
        for (path, file) in &node.files {
            let found = records(&folder.join(path));
            assert_eq!(u64::try_from(found.len()).unwrap(), file.records, "{path}");
            let lines: usize = found
                .iter()
                .map(|record| record.matches('\n').count())
                .sum();
            assert_eq!(
                u64::try_from(lines).unwrap(),
                file.continuation_lines,
                "{path}"
            );
            let hits: usize = found
                .iter()
                .flat_map(|record| record.lines())
                .filter(|line| line.contains(super::NEEDLE))
                .count();
            assert_eq!(u64::try_from(hits).unwrap(), file.grep_lines, "{path}");
            let whole = found.len() - usize::from(file.torn);
            for record in &found[..whole] {
                *by_log[usize::from(path.contains(".err.log"))]
                    .entry(record.clone())
                    .or_default() += 1;
            }
        }
        let [mut main, err] = by_log;
        for (record, times) in err {
            let seen = main.entry(record).or_default();
            *seen = times.max(*seen);
        }
        main.into_iter()
            .flat_map(|(record, times)| std::iter::repeat_n(record, times))
            .collect()
    }

    fn check(folder: &Path, node: &NodeTruth, new_era: bool) {
        let found = unique(folder, node);
        assert_eq!(u64::try_from(found.len()).unwrap(), node.records);
        let lines: usize = found
            .iter()
            .map(|record| record.matches('\n').count())
            .sum();
        assert_eq!(u64::try_from(lines).unwrap(), node.continuation_lines);
        let stamp = |it: &String| it[..26].replacen('.', "-", 2).replacen(' ', "T", 1);
        assert_eq!(found.iter().map(stamp).min().unwrap(), node.first);
        assert_eq!(found.iter().map(stamp).max().unwrap(), node.last);
        check_exceptions(&found, node, new_era);
        check_others(&found, node);
        check_sums(node, new_era);
    }

    fn count(found: &[String], fits: impl Fn(&str) -> bool) -> u64 {
        u64::try_from(found.iter().filter(|it| fits(it)).count()).unwrap()
    }

    fn check_exceptions(found: &[String], node: &NodeTruth, new_era: bool) {
        let refusal = if new_era {
            "234. DB::Exception: Source"
        } else {
            "210. DB::Exception: Source"
        };
        let expected = [
            (refusal, node.refusals),
            (
                "210. DB::Exception: CAS write could",
                node.write_not_committed,
            ),
            (
                "210. DB::Exception: content-addressed",
                node.transient_unavailable,
            ),
            ("210. DB::NetException", node.network_errors),
            ("234. DB::Exception: No active", node.no_active_replica),
            ("499. ", node.s3_errors),
            ("49. ", node.empty_multipart),
            ("62. ", node.quoting_errors),
        ];
        for (text, expected) in expected {
            let text = format!("Code: {text}");
            assert_eq!(
                count(found, |it| it.contains(&text) && is_exception(it)),
                expected,
                "{text}"
            );
        }
    }

    fn check_others(found: &[String], node: &NodeTruth) {
        let expected = [
            (
                "Relink confirm is unproven (unknown)",
                node.unproven_unknown,
            ),
            ("Relink confirm is unproven (no)", node.unproven_no),
            ("finished (no bytes transferred)", node.finished),
            ("<Error> WriteBufferFromS3: ", node.ref_catalog_attempts),
            ("key data/cas/ref_catalog", node.ref_catalog_errors),
            ("<Error> ServerErrorHandler: ", node.http_resets),
            ("<Warning> CasWriteRetryLater: ", node.retry_warnings),
            ("<Warning> CasRefLedger: ", node.ledger_warnings),
            ("<Notice>", node.notices),
            ("<Error>", node.levels["error"]),
            ("<Warning>", node.levels["warning"]),
            ("<Debug>", node.levels["debug"]),
            ("<Trace>", node.levels["trace"]),
        ];
        for (text, expected) in expected {
            assert_eq!(count(found, |it| it.contains(text)), expected, "{text}");
        }
        assert_eq!(
            count(found, |it| it.contains("<Information>")) + node.notices,
            node.levels["info"]
        );
        assert_eq!(
            count(found, |it| it.contains("last exception: ")
                || it.contains("last_exception: ")),
            node.echoes
        );
        let quotes = |it: &str| it.contains("<Debug> executeQuery") && it.contains(super::NEEDLE);
        assert_eq!(count(found, quotes), node.monitoring_queries);
        assert_eq!(
            node.ref_catalog_attempts + node.ref_catalog_exceptions,
            node.ref_catalog_errors
        );
    }

    fn is_exception(record: &str) -> bool {
        let message = record.split_once(">: ").map_or(record, |(_, rest)| rest);
        !message.contains("last exception: ")
            && !message.contains("last_exception: ")
            && !message.contains("<Debug>")
    }

    fn check_sums(node: &NodeTruth, new_era: bool) {
        let network_error =
            node.write_not_committed + node.transient_unavailable + node.network_errors;
        let (old, new) = if new_era {
            (0, node.refusals)
        } else {
            (node.refusals, 0)
        };
        assert_eq!(node.codes[&210], network_error + old);
        assert_eq!(node.codes[&234], node.no_active_replica + new);
        assert_eq!(
            node.codes[&1000],
            node.http_resets + node.ref_catalog_attempts
        );
        assert_eq!(node.codes.get(&499).copied().unwrap_or(0), node.s3_errors);
        assert_eq!(
            node.codes_nested.get(&1000).copied().unwrap_or(0),
            node.s3_errors
        );
        assert_eq!(node.refusals_by_source.values().sum::<u64>(), node.refusals);
        assert_eq!(node.refusals_by_part.values().sum::<u64>(), node.refusals);
        assert!(!node.refusals_by_source.contains_key(node.name));
        assert_eq!(node.levels.values().sum::<u64>(), node.records);
        let main: u64 = node
            .files
            .iter()
            .filter(|(path, _)| !path.contains(".err."))
            .map(|(_, file)| file.records)
            .sum();
        assert_eq!(main + node.err_only, node.records);
        let grep: u64 = node.files.values().map(|file| file.grep_lines).sum();
        assert!(grep > node.refusals || new_era && grep >= node.refusals);
        assert!(node.files.values().all(|file| file.bytes > 0));
    }

    fn generate(plan: &Plan) -> (tempfile::TempDir, Truth) {
        let folder = tempfile::tempdir().unwrap();
        let truth = write(plan, folder.path());
        (folder, truth)
    }

    #[test]
    fn truth_of_a_generated_report_001_is_what_a_plain_search_finds() {
        for new_era in [false, true] {
            for scale in [100, 3000] {
                let (folder, truth) = generate(&Plan {
                    scale,
                    seed: 1,
                    new_era,
                });
                for (index, node) in NODES.iter().enumerate() {
                    let node = truth.node(node);
                    assert_eq!(node.refusals, REFUSALS[index] / u64::from(scale));
                    check(folder.path(), node, new_era);
                }
            }
        }
    }

    #[test]
    fn one_seed_writes_the_same_bytes_twice() {
        let plan = Plan {
            scale: 1000,
            seed: 7,
            new_era: false,
        };
        let ((left, truth), (right, _)) = (generate(&plan), generate(&plan));
        for path in truth.nodes.iter().flat_map(|node| node.files.keys()) {
            assert!(
                bytes(&left.path().join(path)) == bytes(&right.path().join(path)),
                "{path}"
            );
        }
    }
}
