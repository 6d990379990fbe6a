//! The models of the reference engine, as rules name them.

use serde::{Deserialize, Serialize};

/// A model in which a finding can be run again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EngineModel {
    /// Servers that relink parts of a content-addressed pool. A rule that names it has the counts `refused`, `finished`
    /// and `unproven`.
    Relinks,
    /// Controllers with a replicated log. A rule that names it has the facts `primary`, `standby`, `match_lsn`,
    /// `join_lsn`, `ceiling_lsn`, `committed_lsn`, `repeats`, `period_s` and `duration_s`.
    Controllers,
}
