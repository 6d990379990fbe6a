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

mod check;
mod counts;
mod draft;
mod files;
mod frames;
mod messages;
mod node;

use std::collections::BTreeMap;
use std::path::Path;

use node::Node;

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
    /// Of each table and part that was refused: the last stamp of a refusal or a finished relink of it, and whether that was
    /// a refusal.
    pub(crate) refused_last: BTreeMap<(String, &'static str), (u64, bool)>,
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

impl NodeTruth {
    /// Parts of tables that were refused and not finished later.
    pub(crate) fn missing(&self) -> u64 {
        let missing = self.refused_last.values().filter(|it| it.1).count();
        u64::try_from(missing).expect("a count fits")
    }
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
