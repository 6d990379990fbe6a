//! Bytes into records, WAL layouts and test results. A parser knows one format and nothing of incidents.

pub mod wal;
