//! Failing leaves that are one failure.

use std::collections::BTreeMap;

use super::cause::Tie;
use super::{Row, Signature, tallied};
use crate::parsers::ci::{Form, Leaf, TestRun, names};

/// Failing leaves with one signature.
#[derive(Debug)]
pub struct Group {
    /// What they have in common.
    pub signature: Signature,
    /// Row and place in its leaves, in the order in which they ended; the first represents the others.
    pub leaves: Vec<(usize, usize)>,
    /// How many lie in each feature, as people write it.
    pub by_feature: BTreeMap<String, u64>,
    /// The same by the first test below the feature.
    pub by_area: BTreeMap<String, u64>,
    /// What the group is among the others.
    pub role: Role,
    /// The finding that explains it.
    pub cause: Option<String>,
    /// How it was tied to findings, the strongest first.
    pub ties: Vec<Tie>,
    /// Why the role was given, in words.
    pub why: String,
}

/// What a group of failures is among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// It shows the fault that most failures go back to.
    Cause,
    /// It failed because that fault was there.
    Collateral,
    /// It is a failure of what the tests run on.
    Infrastructure,
    /// It is another fault.
    Separate,
    /// Nothing says what it goes back to.
    Unknown,
}

impl Role {
    /// Its word in outputs.
    pub fn word(self) -> &'static str {
        match self {
            Self::Cause => "cause",
            Self::Collateral => "collateral",
            Self::Infrastructure => "infrastructure",
            Self::Separate => "separate",
            Self::Unknown => "unknown",
        }
    }
}

/// Groups the leaves of the rows that speak for their runs; the largest group first, of equal ones the one that ended first.
pub(super) fn grouped(rows: &[Row], speakers: &[usize]) -> Vec<Group> {
    let mut by_signature: BTreeMap<Signature, Vec<(usize, usize)>> = BTreeMap::new();
    let mut order: Vec<Signature> = Vec::new();
    for &row in speakers {
        for (at, leaf) in rows[row].run.leaves.iter().enumerate() {
            let signature = Signature::of(leaf);
            if !by_signature.contains_key(&signature) {
                order.push(signature.clone());
            }
            by_signature.entry(signature).or_default().push((row, at));
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    for signature in order {
        let leaves = by_signature.remove(&signature).unwrap_or_default();
        let of = |(row, at): &(usize, usize)| &rows[*row].run.leaves[*at];
        groups.push(Group {
            by_feature: tallied(leaves.iter().map(|at| names::readable(&of(at).feature))),
            by_area: tallied(leaves.iter().map(|at| area(&rows[at.0].run, of(at)))),
            signature,
            leaves,
            role: Role::Unknown,
            cause: None,
            ties: Vec::new(),
            why: String::new(),
        });
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.leaves.len()));
    groups
}

/// The feature and the first test below it, as people write them. Where a source does not tell features from other tests, what
/// stands above the leaf.
fn area(run: &TestRun, leaf: &Leaf) -> String {
    if run.form == Form::TestFlowsText {
        return names::readable(&leaf.feature);
    }
    let Some(rest) = leaf
        .name
        .strip_prefix(leaf.feature.as_str())
        .and_then(|rest| rest.strip_prefix('/'))
    else {
        return leaf.readable.clone();
    };
    let first = rest.split('/').next().unwrap_or(rest);
    names::readable(&format!("{}/{first}", leaf.feature))
}
