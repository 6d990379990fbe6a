//! Any bytes as a segment of the layout `etcd`.
#![no_main]

mod segment;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    segment::known("etcd", "0000000000000000-0000000000000000.wal", None, bytes);
});
