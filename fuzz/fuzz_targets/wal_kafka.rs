//! Any bytes as a segment of the layout `kafka`.
#![no_main]

mod segment;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    segment::known("kafka", "00000000000000000000.log", None, bytes);
});
