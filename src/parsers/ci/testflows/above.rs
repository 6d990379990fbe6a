//! What stands above tests, by ids or by names: which tests are leaves, and what a parent says for those that say nothing.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use crate::parsers::ci::model::{Above as Said, Leaf, MESSAGE_BYTES_MAX, bounded};

/// The id or the name that this one is a child of.
pub(super) fn parent(id: &[u8]) -> Option<&[u8]> {
    let at = memchr::memrchr(b'/', id)?;
    (at > 0).then(|| &id[..at])
}

/// What stands above an id or a name, the nearest first.
pub(super) fn parents(id: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(parent(id), |above| parent(above))
}

/// All that stands above any of these. Where one is known, so is what stands above it: each is looked at once.
pub(super) fn all_above<'i>(ids: impl Iterator<Item = &'i [u8]>) -> FxHashSet<&'i [u8]> {
    let mut above = FxHashSet::default();
    for id in ids {
        for next in parents(id) {
            if !above.insert(next) {
                break;
            }
        }
    }
    above
}

/// Names above failing tests, as hashes: a test ends before the tests that hold it.
#[derive(Debug, Default)]
pub(super) struct Above {
    seen: FxHashSet<u64>,
}

/// Names that are kept: a run has some tens of thousands of failing tests at worst, in a dozen levels.
const SEEN_MAX: usize = 1_000_000;

impl Above {
    /// Whether no failing test stood below this one so far; those above it are noted.
    pub(super) fn is_leaf(&mut self, name: &str) -> bool {
        let hash = |name: &[u8]| {
            let mut hasher = FxHasher::default();
            name.hash(&mut hasher);
            hasher.finish()
        };
        let is_leaf = !self.seen.contains(&hash(name.as_bytes()));
        for parent in parents(name.as_bytes()) {
            if self.seen.len() >= SEEN_MAX || !self.seen.insert(hash(parent)) {
                break;
            }
        }
        is_leaf
    }
}

/// Gives leaves that say nothing but a class what the nearest test above says that has the same result and class.
///
/// A parent repeats one of its failing children, so it is said of one of them: it stays beside the leaf and is not its message.
pub(super) fn repeated(leaves: &mut [Leaf], failing: &[Leaf]) {
    let telling = failing.iter().filter(|parent| says(parent));
    let telling: BTreeMap<&[u8], &Leaf> = telling.map(|it| (it.name.as_bytes(), it)).collect();
    for leaf in leaves.iter_mut().filter(|leaf| !says(leaf)) {
        let nearest = parents(leaf.name.as_bytes()).find_map(|name| {
            let parent = telling.get(name)?;
            let is_alike = parent.outcome == leaf.outcome && parent.exception == leaf.exception;
            is_alike.then_some(*parent)
        });
        leaf.above = nearest.map(said);
    }
}

fn said(parent: &Leaf) -> Said {
    let message = match (&parent.assertion, parent.message.is_empty()) {
        (Some(assertion), true) => assertion.clone(),
        (Some(assertion), false) => format!("{assertion}\n{}", parent.message),
        (None, _) => parent.message.clone(),
    };
    Said {
        name: parent.name.clone(),
        message: bounded(&message, MESSAGE_BYTES_MAX),
        place: parent.place,
    }
}

/// Whether a test says more than a class.
fn says(leaf: &Leaf) -> bool {
    leaf.assertion.is_some() || !leaf.message.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_above_is_every_prefix_at_a_slash_once() {
        let ids = ["/r/1/2", "/r/1/3", "/r/12", "r"];
        let mut above: Vec<&[u8]> = all_above(ids.iter().map(|id| id.as_bytes()))
            .into_iter()
            .collect();
        above.sort_unstable();
        assert_eq!(above, [b"/r".as_slice(), b"/r/1"]);
    }

    #[test]
    fn a_test_is_a_leaf_if_none_below_it_failed_before() {
        let mut above = Above::default();
        let names = ["/a/b/c", "/a/b/d", "/a/b", "/a", "/e"];
        assert_eq!(
            names.map(|name| above.is_leaf(name)),
            [true, true, false, false, true]
        );
    }

    #[test]
    fn what_a_parent_says_stays_beside_the_leaves_that_say_nothing() {
        let leaf = |name: &str, outcome: &str, message: &str| {
            let mut leaf = Leaf::new(name, outcome);
            leaf.exception = Some("AssertionError".to_owned());
            message.clone_into(&mut leaf.message);
            leaf
        };
        let mut leaves = [
            leaf("/a/b/c", "Fail", ""),
            leaf("/a/b/d", "Fail", "own"),
            leaf("/a/b/e", "Error", ""),
            leaf("/ab/c", "Fail", ""),
        ];
        repeated(
            &mut leaves,
            &[
                leaf("/a", "Fail", "far"),
                leaf("/a/b", "Fail", "Code: 210."),
            ],
        );
        let said = leaves.map(|leaf| (leaf.message, leaf.above.map(|it| it.message)));
        assert_eq!(
            said,
            [
                (String::new(), Some("Code: 210.".to_owned())),
                ("own".to_owned(), None),
                (String::new(), None),
                (String::new(), None),
            ]
        );
    }
}
