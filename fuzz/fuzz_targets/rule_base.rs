//! The rule base that is shipped, compiled once.

use std::sync::OnceLock;

use casdiag::rules::{self, RuleBase};

/// The rule base that is shipped.
pub fn built_in() -> &'static RuleBase {
    static BASE: OnceLock<RuleBase> = OnceLock::new();
    BASE.get_or_init(|| rules::load(&[]).expect("the built-in rules load"))
}
