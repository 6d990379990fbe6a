//! Any bytes as a file of any packing: unpacked, told apart, read and concluded from, within small bounds.
#![no_main]

mod rule_base;

use std::fs;
use std::sync::OnceLock;

use casdiag::intake::{Bounds, Limits};
use casdiag::pipeline::{self, Plan, Progress};
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

fn folder() -> &'static TempDir {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| tempfile::tempdir().expect("a temporary folder"))
}

fuzz_target!(|bytes: &[u8]| {
    let path = folder().path().join("clickhouse1");
    fs::write(&path, bytes).expect("a file is written");
    let plan = Plan {
        roots: vec![path],
        threads: 1,
        limits: Limits {
            block_bytes: 4 << 10,
            record_bytes: 64 << 10,
        },
        bounds: Bounds {
            unpacked: 1 << 20,
            ..Bounds::default()
        },
        ..Plan::default()
    };
    let analysis = pipeline::analyze(&plan, rule_base::built_in(), &Progress::default());
    let analysis = analysis.expect("a file can be looked at");
    let records: u64 = analysis.nodes.iter().map(|node| node.tally.records).sum();
    let levels: u64 = analysis.nodes.iter().flat_map(|node| node.tally.levels).sum();
    assert_eq!(records, levels);
});
