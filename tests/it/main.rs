//! The integration tests, in one binary: each further one would link every dependency again.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test that cannot go on must fail, and clippy's allow-in-tests does not cover helpers of an integration binary"
)]

mod cases;
mod ci;
mod cli;
mod containers;
mod counting;
mod engine;
mod fresh;
mod hostile;
mod html;
mod machine;
mod product;
mod props;
mod reasoning;
mod report001;
mod tables;
mod tidy;
mod wal;
mod wrappers;
