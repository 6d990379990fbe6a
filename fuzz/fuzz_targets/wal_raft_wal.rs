//! Any bytes as a segment of the layout `raft-wal`.
#![no_main]

mod segment;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    segment::known(
        "raft-wal",
        "00000000000000000001-0000000000000000.wal",
        None,
        bytes,
    );
});
