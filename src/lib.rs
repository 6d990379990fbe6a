//! casdiag: log forensics for replicated storage.
//!
//! Modules in reading order, from the nouns to the outputs. What may import what is in ARCHITECTURE.md and is
//! enforced by `tests/it/tidy/mod.rs`.

pub mod vocab;

pub mod profile;

pub mod search;

pub mod time;

pub mod record;

pub mod intake;

pub mod wrappers;

pub mod parsers;

pub mod layout;

pub mod signals;

pub mod scan;

pub mod streams;

pub mod rules;

pub mod outcome;

pub mod analysis;

pub mod pipeline;

pub mod report;

pub mod engine;

pub mod replay;

pub mod cli;
