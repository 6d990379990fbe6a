//! Any bytes as a segment of the layout `postgresql`.
#![no_main]

mod segment;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    segment::known("postgresql", "00000001000000000000000B", None, bytes);
});
