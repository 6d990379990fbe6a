//! One report value into every output.

pub mod wal;
