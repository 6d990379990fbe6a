//! WAL folders: found, read in one pass, and judged against what each system holds true of its segments.

mod again;
mod check;
mod compare;
mod consequence;
mod declared;
mod ends;
mod folder;
mod holes;
mod layout_file;
mod listed;
mod log;
mod model;
mod numbers;
mod order;
mod rules;
mod scan;
mod settle;
mod single;
mod source;

use std::path::PathBuf;

pub use check::check;
pub use compare::{Comparison, Forecast, Reach, compare};
pub use declared::{Declared, LayoutError, load};
pub use folder::{Choice, Folder, Found, Listed, SegmentFile, Unknown, among, find};
pub use listed::{Absence, Absences, absences};
pub use model::{
    Note, NoteKind, Problem, ProblemKind, Segment, Severity, Stretch, Unread, Verdict, Wal,
};
pub use rules::{Naming, Positions, Residue, Rewrite, Rules, Snapshots, Where};

pub use single::{Single, SingleError, single};
pub use source::{Opened, Source};

/// Everything that a check of some paths found.
#[derive(Debug, Default)]
pub struct Inspection {
    /// The WALs, in the order of their paths.
    pub wals: Vec<Wal>,
    /// Folders without one.
    pub unknown: Vec<Unknown>,
    /// What could not be listed, beside what the WALs themselves could not read.
    pub unread: Vec<Unread>,
    /// The nodes of each log side by side.
    pub comparisons: Vec<Comparison>,
}

impl Inspection {
    /// The worst that was found in any WAL.
    pub fn verdict(&self) -> Verdict {
        self.wals
            .iter()
            .map(Wal::verdict)
            .max()
            .unwrap_or(Verdict::Clean)
    }

    /// Whether everything that was recognized could be read whole.
    pub fn is_complete(&self) -> bool {
        self.unread.is_empty() && self.wals.iter().all(|wal| wal.unread.is_empty())
    }
}

/// Finds and checks every WAL under the paths.
pub fn inspect(paths: &[PathBuf], choice: &Choice) -> Inspection {
    let found = find(paths, choice);
    let wals: Vec<Wal> = found.folders.iter().map(check).collect();
    let comparisons = compare(&wals);
    Inspection {
        wals,
        unknown: found.unknown,
        unread: found.unread,
        comparisons,
    }
}
