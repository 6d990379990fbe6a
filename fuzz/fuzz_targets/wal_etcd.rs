//! Any bytes as a segment of the layout `etcd`.
#![no_main]

mod segment;

use casdiag::parsers::wal::{Format, LAYOUTS};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    segment::read(&Format::Known(&LAYOUTS[1]), bytes, true, false);
    segment::read(&Format::Known(&LAYOUTS[1]), bytes, false, false);
});
