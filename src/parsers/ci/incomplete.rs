//! Why a run of tests is not told whole.

/// Why a run is not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Incomplete {
    /// The message, line or element that ends a run is not there.
    NoEnd,
    /// The whole has no result.
    NoResult,
    /// Tests began and have no result.
    TestsRunning,
    /// The source is cut in its packing.
    Torn,
    /// Its last line or element is cut.
    CutLine,
    /// What ran the tests was killed, cancelled, or lost.
    Stopped,
    /// It counts more tests than it lists.
    Unlisted,
}

impl Incomplete {
    /// In words, after `incomplete: `.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoEnd => "nothing says that the run ended",
            Self::NoResult => "the whole has no result",
            Self::TestsRunning => "tests began and have no result",
            Self::Torn => "the file is cut in its packing",
            Self::CutLine => "the last line is cut",
            Self::Stopped => "what ran the tests was stopped",
            Self::Unlisted => "it counts more tests than it lists",
        }
    }
}
