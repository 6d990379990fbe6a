//! casdiag: log forensics for replicated storage.
//!
//! Modules in reading order, from the nouns to the outputs. What may import what is in ARCHITECTURE.md and is
//! enforced by `tests/it/tidy.rs`.

pub mod vocab;

pub mod parsers;

pub mod layout;

pub mod report;

pub mod cli;
