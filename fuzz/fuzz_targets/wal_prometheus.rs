//! Any bytes as a segment of the layout `prometheus`.
#![no_main]

mod segment;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    segment::known("prometheus", "00000000", None, bytes);
});
