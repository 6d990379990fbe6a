//! Listings of WAL folders among the inputs: read, and the holes between the names in them handed to the rules as problems of their
//! nodes.

use std::collections::BTreeMap;
use std::io::Read;

use super::inputs::Looked;
use super::wal::{evidence_of, place_in};
use crate::analysis::InputFault;
use crate::layout::{Absence, Severity, absences};
use crate::parsers::wal::Listing;
use crate::record::Locator;
use crate::rules::WalProblem;
use crate::scan::ProblemKind;

/// The largest listing that is read: some 150,000 files.
const LISTING_BYTES_MAX: u64 = 16 << 20;

/// What listings of WAL folders show.
#[derive(Default)]
pub(super) struct ListedWals {
    /// Holes between names, by run and node.
    pub(super) problems: Vec<((String, String), WalProblem)>,
    /// How many lines each listing has, by artifact.
    pub(super) lines: Vec<(usize, u64)>,
    /// What was not read, by artifact.
    pub(super) faults: Vec<(usize, InputFault)>,
}

impl ListedWals {
    /// Reads all listings, those of one node together: its log may lie in several folders.
    pub(super) fn read(looked: &Looked) -> Self {
        let mut listed = Self::default();
        let mut nodes: BTreeMap<(String, String), Vec<(usize, Listing)>> = BTreeMap::new();
        for (at, place) in looked.listings() {
            let text = whole(looked, at);
            let listing = text.as_deref().map(Listing::read).unwrap_or_default();
            let unread = text.err().or_else(|| unread(&listing));
            listed.lines.push((at, listing.lines));
            listed.note(at, unread);
            let node = (place.run.clone(), place.node.clone());
            nodes.entry(node).or_default().push((at, listing));
        }
        for (node, of) in nodes {
            let listings: Vec<&Listing> = of.iter().map(|(_, listing)| listing).collect();
            let found = absences(&listings);
            for absence in found.absences {
                let artifact = of[absence.listing].0;
                let problem = problem(absence, artifact);
                listed.problems.push((node.clone(), problem));
            }
            if found.is_cut {
                let why = "so many holes between names: only the first ones are told";
                listed.note(of[0].0, Some(why.to_owned()));
            }
        }
        listed
    }

    fn note(&mut self, artifact: usize, why: Option<String>) {
        let fault = why.map(|why| InputFault::of(ProblemKind::Unreadable, why));
        self.faults.extend(fault.map(|it| (artifact, it)));
    }
}

/// What a listing holds beside files, if that is more than what is typed and printed with them.
fn unread(listing: &Listing) -> Option<String> {
    let foreign = listing.foreign;
    listing.is_mixed().then(|| {
        format!(
            "{} lines are of no listing and were not read, the first is line {}",
            foreign.count, foreign.first
        )
    })
}

fn whole(looked: &Looked, artifact: usize) -> Result<Vec<u8>, String> {
    let mut text = Vec::new();
    let reader = looked.open_tests(artifact)?;
    let read = reader.take(LISTING_BYTES_MAX + 1).read_to_end(&mut text);
    read.map_err(|error| error.to_string())?;
    if u64::try_from(text.len()).is_ok_and(|length| length <= LISTING_BYTES_MAX) {
        Ok(text)
    } else {
        Err(format!(
            "a listing of more than {LISTING_BYTES_MAX} bytes is not read"
        ))
    }
}

/// A hole between names as rules count it. What a reader gets of the log is not known, so nothing is tied to it by a position.
fn problem(absence: Absence, artifact: usize) -> WalProblem {
    let at = Locator {
        line: absence.line,
        ..place_in(Some(artifact), 0)
    };
    WalProblem {
        layout: absence.layout.to_owned(),
        notation: absence.notation,
        kind: absence.kind,
        severity: Severity::Damage,
        segment: absence.segment,
        range: absence.range,
        withheld: None,
        belongs_in: None,
        listed: true,
        evidence: evidence_of(at, absence.detail),
    }
}
