//! The one integration binary: each further one would link every dependency again.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod wal;
