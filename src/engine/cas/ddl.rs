//! The catalog of all tables: one object that every `CREATE TABLE` of every server changes by token compare-and-swap.
//!
//! Whoever comes second is refused (412), reads again and waits; where the store limits the mutations of an object
//! (429), all of them wait for the same token.

use std::collections::BTreeMap;

use super::names::{NodeId, Note, What};
use super::timing::Object;
use super::world::{Delay, Out, Outcome, Step, World};
use crate::engine::sim::Effect;

/// A table that is not in the catalog after this is not made, in microseconds.
const DEADLINE_US: u64 = 90_000_000;

/// The catalog, and who is changing it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Catalog {
    /// Its token: one more with each change.
    pub generation: u64,
    /// When the store takes the next change, where it limits them.
    pub free_at: u64,
    /// Tables that are being made, by number.
    pub making: BTreeMap<u64, Making>,
    /// Numbers given so far.
    pub begun: u64,
}

/// A table that is being made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Making {
    /// On which server.
    pub node: NodeId,
    /// Since when.
    pub since: u64,
    /// The token that it has read.
    pub seen: u64,
    /// Attempts so far.
    pub attempts: u32,
}

impl World {
    /// A server begins to make a table.
    pub fn create_table(&mut self, node: NodeId, out: &mut Out) {
        let ddl = self.catalog.begun;
        self.catalog.begun += 1;
        let making = Making {
            node,
            since: self.now,
            seen: 0,
            attempts: 0,
        };
        self.catalog.making.insert(ddl, making);
        self.read_catalog(ddl, out);
    }

    pub(super) fn read_catalog(&mut self, ddl: u64, out: &mut Out) {
        if let Some(it) = self.catalog.making.get_mut(&ddl) {
            it.attempts += 1;
            let read = Delay::CatalogRead(it.node);
            out.after(read, Step::CatalogRead { ddl });
        }
    }

    pub(super) fn catalog_read(&mut self, ddl: u64, outcome: Outcome, out: &mut Out) {
        let generation = self.catalog.generation;
        let Some(it) = self.catalog.making.get_mut(&ddl) else {
            return;
        };
        if outcome == Outcome::Done {
            it.seen = generation;
            let write = Delay::CatalogWrite(it.node);
            out.after(write, Step::CatalogWrite { ddl });
        } else {
            self.not_made(ddl, out);
        }
    }

    pub(super) fn catalog_write(&mut self, ddl: u64, outcome: Outcome, out: &mut Out) {
        let (now, limit) = (self.now, self.setup.catalog_us);
        let Some(it) = self.catalog.making.get(&ddl).copied() else {
            return;
        };
        let is_limited = limit > 0 && now < self.catalog.free_at;
        let refusal = if outcome != Outcome::Done {
            self.not_made(ddl, out);
            return;
        } else if is_limited {
            Note {
                a: Object::Catalog as u64,
                b: Effect::Throttled as u64,
                ..Note::of(What::StoreError, it.node)
            }
        } else if it.seen != self.catalog.generation {
            Note::of(What::CatalogConflict, it.node)
        } else {
            self.catalog.generation += 1;
            self.catalog.free_at = now + limit;
            self.catalog.making.remove(&ddl);
            let note = Note {
                a: it.attempts.into(),
                b: now - it.since,
                ..Note::of(What::TableMade, it.node)
            };
            out.notes.push(note);
            return;
        };
        out.notes.push(refusal);
        if now - it.since >= DEADLINE_US {
            self.not_made(ddl, out);
        } else {
            out.after(Delay::Jitter(it.attempts), Step::CatalogAgain { ddl });
        }
    }

    fn not_made(&mut self, ddl: u64, out: &mut Out) {
        if let Some(it) = self.catalog.making.remove(&ddl) {
            let note = Note {
                a: it.attempts.into(),
                b: self.now - it.since,
                ..Note::of(What::TableNotMade, it.node)
            };
            out.notes.push(note);
        }
    }
}
