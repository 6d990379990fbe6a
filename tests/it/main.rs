//! The one integration binary: each further one would link every dependency again.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod wal;
