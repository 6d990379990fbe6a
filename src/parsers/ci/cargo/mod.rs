//! What is printed by the tools that run tests of Rust: `cargo test` and `cargo nextest`.

mod binary;
pub(super) mod nextest;
pub(super) mod text;
