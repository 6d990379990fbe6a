//! Any bytes as a changelog of ClickHouse Keeper, plain and compressed.
#![no_main]

mod segment;

use casdiag::parsers::wal::{Format, LAYOUTS};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    segment::read(&Format::Known(&LAYOUTS[3]), bytes, true, false);
    segment::read(&Format::Known(&LAYOUTS[3]), bytes, true, true);
});
