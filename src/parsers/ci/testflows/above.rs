//! What stands above failing tests in reports that name tests and no ids: which are leaves, and what a parent says for them.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use crate::parsers::ci::model::{Above as Said, Leaf, MESSAGE_BYTES_MAX, bounded};

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
        let hash = |name: &str| {
            let mut hasher = FxHasher::default();
            name.hash(&mut hasher);
            hasher.finish()
        };
        let is_leaf = !self.seen.contains(&hash(name));
        let mut rest = name;
        while let Some((parent, _)) = rest.rsplit_once('/') {
            if self.seen.len() >= SEEN_MAX || !self.seen.insert(hash(parent)) {
                break;
            }
            rest = parent;
        }
        is_leaf
    }
}

/// Gives leaves that say nothing but a class what the nearest test above says that has the same result and class.
///
/// A parent repeats one of its failing children, so it is said of one of them: it stays beside the leaf and is not its message.
pub(super) fn repeated(leaves: &mut [Leaf], parents: &[Leaf]) {
    let telling = parents.iter().filter(|parent| says(parent));
    let parents: BTreeMap<&str, &Leaf> = telling.map(|it| (it.name.as_str(), it)).collect();
    for leaf in leaves.iter_mut().filter(|leaf| !says(leaf)) {
        let mut rest = leaf.name.as_str();
        let mut above = std::iter::from_fn(|| {
            rest = rest.rsplit_once('/')?.0;
            Some(rest)
        });
        let nearest = above.find_map(|name| {
            let parent = parents.get(name)?;
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
