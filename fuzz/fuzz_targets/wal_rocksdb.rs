//! Any bytes as a segment of the layout `rocksdb`.
#![no_main]

mod segment;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    segment::known("rocksdb", "000004.log", None, bytes);
});
