//! Logs of CI jobs, which hold the output of whatever ran in them.

pub(super) mod actions;
mod course;
pub mod files;
pub(in crate::parsers) mod unstamp;
