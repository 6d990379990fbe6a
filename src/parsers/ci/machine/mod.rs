//! What the machine under the servers says: its kernel, its containers, the standard error of a process.

pub(super) mod containers;
pub(super) mod kernel;
pub(super) mod stderr;
