//! Any bytes as a log of this format.
#![no_main]

mod log;
mod rule_base;

use casdiag::parsers::Format;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| log::read(Format::Soak, bytes));
