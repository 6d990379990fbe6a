//! What a fold counts, and the bounds on it.

use crate::search::Literal;
use crate::signals::SignalSet;
use crate::signals::tally::{AwaitedSide, Counter, NodeTally, PairedSide, StallWatch, Uses, Watch};

/// What is counted, and the bounds on it.
#[derive(Debug, Clone, Copy)]
pub struct FoldRules<'s> {
    /// The declared signals.
    pub signals: &'s SignalSet,
    /// The counts that rules ask for.
    pub counters: &'s [Counter],
    /// What counts the records of each signal.
    pub uses: &'s [Uses],
    /// The stalls that rules ask for.
    pub stalls: &'s [StallWatch],
    /// The sides of pairs by which clocks are compared.
    pub paired: &'s [PairedSide],
    /// The signals that open or close what a node awaits.
    pub awaited: &'s [AwaitedSide],
    /// How many different values of a field are counted apart.
    pub subjects_max: usize,
    /// The signal of a process's start.
    pub start: Option<u16>,
    /// A signal of which more records than usual are kept as evidence, and how many.
    pub listed: Option<(u16, usize)>,
    /// Names that failing tests ask about.
    pub watch: Option<&'s Watch>,
    /// Texts of which it is noted which Error and Fatal records hold them.
    pub texts: &'s [Literal],
}

impl FoldRules<'_> {
    /// Empty tallies of a node.
    pub fn tally(&self, run: &str, node: &str) -> NodeTally {
        NodeTally::new(
            run,
            node,
            self.signals.signals(),
            self.counters.len(),
            self.stalls.len(),
        )
    }
}
