//! Listings of WAL folders among the inputs: read, and the holes between the names in them handed to the rules as problems of their
//! nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;

use super::inputs::Looked;
use super::wal::{evidence_of, place_in};
use crate::analysis::InputFault;
use crate::intake::{Place, UNNAMED};
use crate::layout::{Absence, Severity, absences};
use crate::parsers::wal::{Listing, owner_of_file};
use crate::record::Locator;
use crate::rules::WalProblem;
use crate::scan::ProblemKind;
use crate::vocab::several;

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
        let mut parts: Vec<Part<'_>> = Vec::new();
        for (at, path, place) in looked.listings() {
            let text = whole(looked, at);
            let listing = text.as_deref().map(Listing::read).unwrap_or_default();
            let unread = text.err().or_else(|| unread(&listing));
            listed.lines.push((at, listing.lines));
            listed.note(at, unread);
            let of = listing.by_owner(owner_of_file(path)).into_iter();
            parts.extend(of.map(|(owner, listing)| Part {
                at,
                place,
                owner,
                listing,
            }));
        }
        let nodes = by_node(parts, &looked.nodes());
        for (node, of) in nodes {
            let listings: Vec<&Listing> = of.iter().map(|(_, listing)| listing).collect();
            let found = absences(&listings);
            for absence in found.absences {
                let artifact = of[absence.listing].0;
                let problem = problem(absence, artifact);
                listed.problems.push((node.clone(), problem));
            }
            if found.is_cut {
                let why = "more holes between names than are looked at: the count is only of the first ones";
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
            "{} of no listing and not read, the first is line {}",
            several(foreign.count, "line is", "lines are"),
            foreign.first
        )
    })
}

/// What a text lists of one node.
struct Part<'l> {
    at: usize,
    place: &'l Place,
    /// The node that the text or its file's name names.
    owner: Option<String>,
    listing: Listing,
}

/// Listings by run and node. Where a text or its name names a node that has a log, or where what lies in one place names several, they
/// are of those: one node's files fill no hole of another's. Otherwise they are of the node in whose folder they lie.
fn by_node(
    parts: Vec<Part<'_>>,
    known: &BTreeSet<(&str, &str)>,
) -> BTreeMap<(String, String), Vec<(usize, Listing)>> {
    let mut owners: BTreeMap<(&str, &str), BTreeSet<String>> = BTreeMap::new();
    for part in &parts {
        let place = (part.place.run.as_str(), part.place.node.as_str());
        owners.entry(place).or_default().extend(part.owner.clone());
    }
    let mut nodes: BTreeMap<(String, String), Vec<(usize, Listing)>> = BTreeMap::new();
    for part in parts {
        let (run, node) = (part.place.run.as_str(), part.place.node.as_str());
        let is_apart = node == UNNAMED || owners[&(run, node)].len() > 1;
        let owner = part
            .owner
            .filter(|it| is_apart || known.contains(&(run, it)));
        let node = owner.unwrap_or_else(|| node.to_owned());
        let of_node = nodes.entry((run.to_owned(), node)).or_default();
        of_node.push((part.at, part.listing));
    }
    nodes
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
        more: absence.more,
        evidence: evidence_of(at, absence.detail),
    }
}
