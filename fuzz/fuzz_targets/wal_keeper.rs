//! Any bytes as a segment of the layout `clickhouse-keeper`.
#![no_main]

mod segment;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    segment::known("clickhouse-keeper", "changelog_1_100000.bin", None, bytes);
    segment::known(
        "clickhouse-keeper",
        "changelog_1_100000.bin.zstd",
        None,
        bytes,
    );
});
