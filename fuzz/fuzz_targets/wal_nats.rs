//! Any bytes as a segment of the layout `nats-stream`.
#![no_main]

mod segment;

use casdiag::parsers::wal::{Format, LAYOUTS};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for layout in LAYOUTS.iter().filter(|layout| layout.id == "nats-stream") {
        segment::read(&Format::Known(layout), bytes, true, false);
        segment::read(&Format::Known(layout), bytes, false, false);
    }
});
