//! Exports of system tables as evidence.

mod forms;
