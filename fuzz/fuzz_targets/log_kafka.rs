//! Any bytes as a log of this format.
#![no_main]

mod log;
mod rule_base;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| log::read("kafka", bytes));
