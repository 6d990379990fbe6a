//! Any bytes as a segment of the layout `zookeeper`.
#![no_main]

mod segment;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    segment::known("zookeeper", "log.1", None, bytes);
});
