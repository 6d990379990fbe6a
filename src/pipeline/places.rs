//! Where the inputs belong: the run, the node and the log of each.

use std::collections::BTreeMap;

use super::candidates::LogAt;
use super::sniffing::Sniffed;
use super::tables;
use super::taken::{Taken, taken};
use super::wal::Wals;
use crate::analysis::InputFault;
use crate::intake::{Artifact, Names, Place, Role, UNNAMED, place_all, place_beside};
use crate::scan::ProblemKind;

/// The place of every artifact: segments and files that are no logs are placed by the logs beside them, and name no run or
/// node of a log. Where nothing names a node, the given folder does, if it may.
pub(super) fn places(
    artifacts: &[Artifact],
    wals: &mut Wals,
    is_segment: &[bool],
    sniffed: &mut [Sniffed],
    names: &Names,
    folder: Option<String>,
) -> Vec<Place> {
    let taken = taken(artifacts, is_segment, sniffed, names);
    for (at, of) in &taken.repeated {
        let paths: Vec<&str> = of.iter().map(|&at| artifacts[at].path.as_str()).collect();
        let of = paths.join(", ");
        let detail = format!("all its records stand in {of}: it is not read a second time");
        let fault = InputFault::of(ProblemKind::DuplicatePiece, detail);
        sniffed[*at].unreadable.get_or_insert(fault);
    }
    for (at, (of, lines)) in &taken.partly {
        let paths: Vec<&str> = of.iter().map(|&at| artifacts[at].path.as_str()).collect();
        sniffed[*at].leave_out(lines, &paths.join(", "));
    }
    let (places, is_named) = places_by(artifacts, wals, is_segment, sniffed, &taken, names);
    if is_named || folder.is_none() {
        return places;
    }
    let names = Names {
        folder,
        ..names.clone()
    };
    places_by(artifacts, wals, is_segment, sniffed, &taken, &names).0
}

/// The place of every artifact, and whether any that holds evidence is of a node or a run with a name.
fn places_by(
    artifacts: &[Artifact],
    wals: &mut Wals,
    is_segment: &[bool],
    sniffed: &mut [Sniffed],
    taken: &Taken,
    names: &Names,
) -> (Vec<Place>, bool) {
    let (exports, rest): (Vec<usize>, Vec<usize>) = (0..artifacts.len())
        .filter(|&at| !is_segment[at])
        .partition(|&at| sniffed[at].export.is_some());
    let (logs, others): (Vec<usize>, Vec<usize>) = rest
        .into_iter()
        .partition(|&at| sniffed[at].format.is_some());
    let of = |some: &[usize]| some.iter().map(|&at| &artifacts[at]).collect::<Vec<_>>();
    let streams: Vec<LogAt> = logs
        .iter()
        .flat_map(|&at| match sniffed[at].logs.len() {
            0 => vec![(at, None)],
            count => (0..count).map(|log| (at, Some(log))).collect(),
        })
        .collect();
    let whole = logs.iter().copied();
    let whole = whole.filter(|&at| sniffed[at].logs.iter().all(|log| log.path.is_none()));
    let lies = Lies {
        artifacts,
        sniffed,
        by_path: whole
            .map(|at| (artifacts[at].whole.as_str(), &artifacts[at]))
            .collect(),
        taken,
    };
    let told: Vec<Option<&str>> = streams.iter().map(|of| lies.told(*of)).collect();
    let paths: Vec<&Artifact> = streams.iter().map(|of| lies.path(*of)).collect();
    let all = place_all(&paths, &told, names);
    let mut placed: BTreeMap<usize, Place> = BTreeMap::new();
    for ((at, log), place) in streams.into_iter().zip(all.iter().cloned()) {
        let is_taken = taken.from.contains_key(&(at, log));
        match log {
            Some(log) => {
                sniffed[at].logs[log].put(place.clone());
                sniffed[at].logs[log].is_taken = is_taken;
            }
            None => sniffed[at].is_taken = is_taken,
        }
        placed.entry(at).or_insert(place);
    }
    let beside: Vec<(&Artifact, &Place)> = placed
        .iter()
        .map(|(&at, place)| (&artifacts[at], place))
        .collect();
    let mut places = wals.place(artifacts, &beside, names);
    let exports = exports
        .iter()
        .filter_map(|&at| Some((at, sniffed[at].export.as_ref()?)));
    places.extend(tables::places(artifacts, exports, &beside, names));
    let mut known = placed.values().chain(places.values()).chain(&all);
    let is_named = known.any(|it| it.node != UNNAMED || it.run != ".");
    let unnamed: Vec<(&Artifact, usize)> = of(&others).into_iter().map(|it| (it, 0)).collect();
    let seen = place_beside(&unnamed, &beside, names);
    places.extend(others.into_iter().zip(seen).map(|(at, (run, node))| {
        let place = Place {
            run,
            node,
            log: String::new(),
            role: Role::Main,
            piece: None,
        };
        (at, place)
    }));
    places.extend(placed);
    (places.into_values().collect(), is_named)
}

/// Where logs lie, and what tells whose they are.
struct Lies<'a> {
    artifacts: &'a [Artifact],
    sniffed: &'a [Sniffed],
    by_path: BTreeMap<&'a str, &'a Artifact>,
    taken: &'a Taken,
}

impl<'a> Lies<'a> {
    /// What was taken from a log that is here lies where that does.
    fn source(&self, of: LogAt) -> LogAt {
        let sources = std::iter::successors(Some(of), |of| self.taken.from.get(of).copied());
        sources.take(TRIED_MAX).last().unwrap_or(of)
    }

    /// The node that its lines or its wrapper name.
    fn told(&self, of: LogAt) -> Option<&'a str> {
        match self.source(of) {
            (at, Some(log)) => self.sniffed[at].logs[log].node.as_deref(),
            (at, None) => self.sniffed[at].node.as_deref(),
        }
    }

    /// The file whose path places it.
    fn path(&self, of: LogAt) -> &'a Artifact {
        let (at, log) = self.source(of);
        if let Some(renamed) = self.taken.renamed.get(&(at, log)) {
            return renamed;
        }
        let log = log.map(|log| &self.sniffed[at].logs[log]);
        let named = log.and_then(|log| log.path.as_deref());
        let found =
            named.and_then(|named| named_file(&self.artifacts[at].whole, named, &self.by_path));
        let file = found.or_else(|| log.and_then(|log| log.file.as_ref()));
        file.unwrap_or(&self.artifacts[at])
    }
}

/// How many folders above a file, and how many parts of a path that its lines name, are tried.
const TRIED_MAX: usize = 16;

/// The file that lines in another one name: as its path leads there from that file's folder, or as it ends, from that
/// folder or one above it, as far as a folder and a file of it are left.
fn named_file<'a>(
    excerpt: &str,
    named: &str,
    by_path: &BTreeMap<&str, &'a Artifact>,
) -> Option<&'a Artifact> {
    let mut folder: Vec<&str> = excerpt.split('/').collect();
    folder.pop();
    let mut parts: Vec<&str> = Vec::new();
    let mut from = Some(folder.clone());
    for part in named.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part != ".." {
            parts.push(part);
        } else if parts.pop().is_none() {
            from = from.and_then(|mut folder| folder.pop().map(|_| folder));
        }
    }
    let of = |folder: &[&str], parts: &[&str]| {
        let path = [folder, parts].concat().join("/");
        by_path.get(path.as_str()).copied()
    };
    if let Some(found) = from
        .filter(|_| !named.starts_with('/'))
        .and_then(|from| of(&from, &parts))
    {
        return Some(found);
    }
    let ends = || (2..=parts.len().min(TRIED_MAX)).rev();
    let above = (0..=folder.len()).rev().take(TRIED_MAX);
    let mut tried = above.flat_map(|depth| ends().map(move |length| (depth, length)));
    tried.find_map(|(depth, length)| of(&folder[..depth], &parts[parts.len() - length..]))
}
