//! What a table must hold after a list of operations, as the harness's model of whole numbers says it.

use std::collections::BTreeSet;

use serde::Serialize;

use super::ops::{Kind, Op};
use crate::engine::sim::splitmix64;

/// What a checkpoint compares, in the order in which it does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Aggregates {
    /// Rows.
    pub count: u64,
    /// The sum of the rows' fingerprints, modulo 2^64.
    pub sum_fp: u64,
    /// Distinct pairs of bucket and key.
    pub uniq_keys: u64,
    /// The sum of the values.
    pub sum_v: i64,
    /// The sum of the versions: one per row, and one for each update of it.
    pub sum_version: u64,
    /// The first operation that a row comes from, 0 without rows.
    pub min_op: u64,
    /// The last operation that a row comes from, 0 without rows.
    pub max_op: u64,
}

impl Aggregates {
    /// The first difference to what a node has, in the words of the harness.
    pub fn difference(&self, node: &str, got: &Self) -> Option<String> {
        let pairs = [
            ("count", self.count.to_string(), got.count.to_string()),
            ("sum_fp", self.sum_fp.to_string(), got.sum_fp.to_string()),
            (
                "uniq_keys",
                self.uniq_keys.to_string(),
                got.uniq_keys.to_string(),
            ),
            ("sum_v", self.sum_v.to_string(), got.sum_v.to_string()),
            (
                "sum_version",
                self.sum_version.to_string(),
                got.sum_version.to_string(),
            ),
            ("min_op", self.min_op.to_string(), got.min_op.to_string()),
            ("max_op", self.max_op.to_string(), got.max_op.to_string()),
        ];
        let differs = pairs.into_iter().find(|(_, model, got)| model != got);
        differs.map(|(key, model, got)| format!("{node} {key}: model={model} got={got}"))
    }
}

/// Adds up rows.
#[derive(Debug, Default)]
pub struct Sum {
    totals: Aggregates,
    keys: BTreeSet<(u64, u64)>,
}

impl Sum {
    /// Adds the rows of an insert as they are after the `mutations` that a replica has applied to them.
    ///
    /// Mutations change only rows of earlier operations: the harness lets no insert run beside them.
    pub fn add(&mut self, insert: Op, mutations: &[Op]) {
        // Updates of each bucket, and whether its rows are deleted.
        let mut buckets = [(0_u64, false); 64];
        for op in mutations.iter().filter(|it| it.id > insert.id) {
            let place = usize::try_from(op.bucket()).unwrap_or(0);
            if let Some(bucket) = buckets.get_mut(place) {
                bucket.0 += 1;
                bucket.1 |= op.kind == Kind::Delete;
            }
        }
        for j in 0..insert.rows() {
            let rid = insert.id * 1_000_000 + j;
            let bucket = rid % 64;
            let place = usize::try_from(bucket).unwrap_or(0);
            let (updates, is_deleted) = buckets.get(place).copied().unwrap_or_default();
            if is_deleted {
                continue;
            }
            let value = i64::try_from(splitmix64(rid ^ 0x5a5a) % 2001).unwrap_or(0) - 1000;
            let fingerprint = splitmix64(rid);
            let totals = &mut self.totals;
            totals.min_op = if totals.count == 0 {
                insert.id
            } else {
                totals.min_op.min(insert.id)
            };
            totals.max_op = totals.max_op.max(insert.id);
            totals.count += 1;
            totals.sum_fp = totals.sum_fp.wrapping_add(fingerprint);
            totals.sum_v += value + i64::try_from(updates).unwrap_or(i64::MAX);
            totals.sum_version += 1 + updates;
            self.keys.insert((bucket, fingerprint % 1_000_000));
        }
    }

    /// The sums.
    pub fn done(self) -> Aggregates {
        let uniq_keys = u64::try_from(self.keys.len()).unwrap_or(u64::MAX);
        Aggregates {
            uniq_keys,
            ..self.totals
        }
    }
}

/// The operations whose effect a table must show.
#[derive(Debug, Clone, Default)]
pub struct Model {
    inserts: Vec<Op>,
    mutations: Vec<Op>,
}

impl Model {
    /// An operation that was acknowledged.
    pub fn apply(&mut self, op: Op) {
        match op.kind {
            Kind::Insert => self.inserts.push(op),
            Kind::Update | Kind::Delete => self.mutations.push(op),
            Kind::Optimize => {}
            Kind::DropPartition | Kind::Truncate => *self = Self::default(),
        }
    }

    /// What a checkpoint must find so many seconds after the first operation.
    pub fn aggregates(&self, now_s: u64) -> Aggregates {
        self.sum_of(|it| !it.is_expired(now_s))
    }

    /// Forgets rows whose time is over, and says how many.
    pub fn prune(&mut self, now_s: u64) -> u64 {
        let gone = self.sum_of(|it| it.is_expired(now_s)).count;
        self.inserts.retain(|it| !it.is_expired(now_s));
        gone
    }

    fn sum_of(&self, counts: impl Fn(&Op) -> bool) -> Aggregates {
        let mut sum = Sum::default();
        for insert in self.inserts.iter().filter(|it| counts(it)) {
            sum.add(*insert, &self.mutations);
        }
        sum.done()
    }

    /// The updates and deletes so far, in order.
    pub fn mutations(&self) -> &[Op] {
        &self.mutations
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Row {
        op: u64,
        bucket: u64,
        k: u64,
        v: i64,
        version: u64,
        fp: u64,
    }

    /// The same model written the long way, from the recipe: a list of rows, changed in place.
    fn by_rows(ops: &[Op]) -> Aggregates {
        let mut rows: Vec<Row> = Vec::new();
        for op in ops {
            match op.kind {
                Kind::Insert => rows.extend((0..=op.param % 200).map(|j| {
                    let rid = op.id * 1_000_000 + j;
                    Row {
                        op: op.id,
                        bucket: rid % 64,
                        k: splitmix64(rid) % 1_000_000,
                        v: i64::try_from(splitmix64(rid ^ 0x5a5a) % 2001).unwrap() - 1000,
                        version: 1,
                        fp: splitmix64(rid),
                    }
                })),
                Kind::Update => {
                    for row in rows.iter_mut().filter(|row| row.bucket == op.param % 64) {
                        row.v += 1;
                        row.version += 1;
                    }
                }
                Kind::Delete => rows.retain(|row| row.bucket != op.param % 64),
                Kind::Optimize => {}
                Kind::DropPartition | Kind::Truncate => rows.clear(),
            }
        }
        let keys: BTreeSet<(u64, u64)> = rows.iter().map(|row| (row.bucket, row.k)).collect();
        Aggregates {
            count: u64::try_from(rows.len()).unwrap(),
            sum_fp: rows.iter().fold(0, |sum, row| sum.wrapping_add(row.fp)),
            uniq_keys: u64::try_from(keys.len()).unwrap(),
            sum_v: rows.iter().map(|row| row.v).sum(),
            sum_version: rows.iter().map(|row| row.version).sum(),
            min_op: rows.iter().map(|row| row.op).min().unwrap_or(0),
            max_op: rows.iter().map(|row| row.op).max().unwrap_or(0),
        }
    }

    #[test]
    fn the_model_agrees_with_one_that_keeps_rows() {
        for seed in 1..6 {
            let ops = super::super::Ledger::of(seed, 400, 2).ops;
            for end in [0, 1, 50, 100, 250, 400] {
                let mut model = Model::default();
                for op in &ops[..end] {
                    model.apply(*op);
                }
                assert_eq!(
                    model.aggregates(0),
                    by_rows(&ops[..end]),
                    "seed {seed}, {end}"
                );
            }
        }
    }

    #[test]
    fn rows_go_by_their_time() {
        let ops = super::super::Ledger::of(1, 3, 2).ops;
        let mut model = Model::default();
        for op in ops {
            model.apply(op);
        }
        // Operation 0 has 1 + 35074 % 200 = 75 rows, stamped a minute before the first operation: gone after 5340 s.
        let whole = model.aggregates(5339).count;
        assert_eq!(model.aggregates(5340).count, whole - 75);
        assert_eq!((model.prune(5340), model.prune(5340)), (75, 0));
    }

    #[test]
    fn a_difference_is_told_in_the_words_of_the_harness() {
        let model = Aggregates {
            count: 5,
            ..Aggregates::default()
        };
        let got = Aggregates::default();
        assert_eq!(model.difference("node2", &model), None);
        assert_eq!(
            model.difference("node2", &got).as_deref(),
            Some("node2 count: model=5 got=0")
        );
    }
}
