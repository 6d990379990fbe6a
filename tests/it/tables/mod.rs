//! Exports of system tables as evidence.

mod evidence;
mod forms;
mod hostile;
mod views;
mod write;
