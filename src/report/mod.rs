//! Outputs: one report value, rendered into each of them. The scan is over before anything here runs.

pub mod model;
