//! Any text as a rules file: it loads, or a fault names a place in it; and what loads can be told and tried.
#![no_main]

use casdiag::rules;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match rules::load_alone(&[("mine.toml".to_owned(), text.to_owned())]) {
        Ok(base) => drop(rules::lint(&base)),
        Err(fault) => assert!(fault.to_string().contains("mine.toml")),
    }
});
