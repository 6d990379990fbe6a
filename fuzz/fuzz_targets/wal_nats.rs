//! Any bytes as a segment of the layout `nats-stream` or `nats-raft`.
#![no_main]

mod segment;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    segment::known("nats-stream", "1.blk", Some("ORDERS"), bytes);
    segment::known("nats-raft", "1.blk", Some("_meta_"), bytes);
});
