//! Exports of system tables as evidence.

mod encodings;
mod evidence;
mod forms;
mod hostile;
mod views;
pub(crate) mod write;
