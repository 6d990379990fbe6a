//! Any bytes as every form of test results, whole and inside the log of a job.
#![no_main]

use std::io::BufReader;

use casdiag::parsers::ci::{FORMS, sniff};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _form = sniff(bytes);
    for spec in FORMS {
        let reading = spec.read(&mut BufReader::with_capacity(64, bytes));
        for run in &reading.runs {
            let counted: u64 = run.totals.iter().flat_map(|total| total.by.values()).sum();
            let units: u64 = run.totals.iter().map(|total| total.units).sum();
            assert_eq!(counted, units, "{}", spec.name);
        }
    }
    let stamped: Vec<u8> = bytes
        .split(|&byte| byte == b'\n')
        .flat_map(|line| [b"2026-03-14T23:18:02.0001237Z ", line, b"\n"].concat())
        .collect();
    let _reading = FORMS[0].read(&mut BufReader::new(&stamped[..]));
});
