//! Any bytes as a segment of the layout `reference`.
#![no_main]

mod segment;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    segment::known("reference", "seg-0000000000000001.wal", None, bytes);
});
