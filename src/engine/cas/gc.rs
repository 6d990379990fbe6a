//! The garbage collector: what no namespace refers to is condemned in one round, graduates in the next, and is deleted
//! in the one after that, if it is still the same object.

use std::collections::BTreeSet;

use super::names::{Note, PartId, What};
use super::world::{Delay, Out, Step, Violation, World};

/// How far a blob is on its way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Life {
    /// No round has seen a reference to it.
    Unseen,
    /// Something refers to it.
    Live,
    /// Nothing did in one round.
    Condemned,
    /// Nothing did in two; the object that is meant has this token.
    Pending(u32),
    /// It is being deleted if it still has this token.
    Doomed(u32),
}

/// A blob of the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Blob {
    /// Whether the object is there.
    pub present: bool,
    /// Changes when the object is written again.
    pub token: u32,
    /// What the collector makes of it.
    pub life: Life,
}

/// The collector's own state.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Collector {
    /// Rounds that were decided.
    pub round: u32,
    /// Blobs that this round has seen a reference to.
    pub seen: BTreeSet<usize>,
    /// Whether rounds follow each other by themselves, and after how many microseconds.
    pub interval: Option<u64>,
}

impl World {
    /// A blob that was just written.
    pub fn new_blob(&mut self) -> usize {
        self.blobs.push(Blob {
            present: true,
            token: 1,
            life: Life::Unseen,
        });
        self.blobs.len() - 1
    }

    /// Whether the data of a part is in the pool.
    pub(super) fn has_blob(&self, part: PartId) -> bool {
        let blob = self.parts.get(part).map(|it| it.blob);
        blob.and_then(|it| self.blobs.get(it))
            .is_some_and(|it| it.present)
    }

    /// Writes a part's data from its bytes: again if it is gone or on its way out.
    pub(super) fn ensure_blob(&mut self, part: PartId) {
        let Some(blob) = self.parts.get(part).map(|it| it.blob) else {
            return;
        };
        let Some(blob) = self.blobs.get_mut(blob) else {
            return;
        };
        match blob.life {
            Life::Unseen | Life::Live if blob.present => {}
            Life::Unseen | Life::Live | Life::Condemned | Life::Pending(_) | Life::Doomed(_) => {
                blob.present = true;
                blob.token += 1;
                blob.life = Life::Live;
            }
        }
    }

    /// One namespace is folded; the last one leads to the decision.
    pub(super) fn gc_read(&mut self, lane: usize, out: &mut Out) {
        if lane == 0 {
            self.gc.seen.clear();
        }
        let Some(it) = self.lanes.get(lane) else {
            return;
        };
        for part in it.stream.owners.keys() {
            if let Some(part) = self.parts.get(*part) {
                self.gc.seen.insert(part.blob);
            }
        }
        if lane + 1 < self.lanes.len() {
            out.after(Delay::Collect, Step::GcRead { lane: lane + 1 });
        } else {
            out.after(Delay::Collect, Step::GcDecide);
        }
    }

    pub(super) fn gc_decide(&mut self, out: &mut Out) {
        self.gc.round += 1;
        self.fence_the_silent(out);
        let mut condemned = 0;
        for (place, blob) in self.blobs.iter_mut().enumerate() {
            blob.life = match blob.life {
                _ if self.gc.seen.contains(&place) => Life::Live,
                Life::Live => {
                    condemned += 1;
                    Life::Condemned
                }
                Life::Condemned => Life::Pending(blob.token),
                Life::Pending(token) | Life::Doomed(token) => Life::Doomed(token),
                Life::Unseen => Life::Unseen,
            };
        }
        let note = Note {
            a: condemned,
            ..Note::of(What::GcRound, 0)
        };
        out.notes.push(note);
        out.after(Delay::Collect, Step::GcDelete);
    }

    pub(super) fn gc_delete(&mut self, out: &mut Out) {
        let mut deleted = BTreeSet::new();
        for (place, blob) in self.blobs.iter_mut().enumerate() {
            if let Life::Doomed(token) = blob.life {
                if blob.present && blob.token == token {
                    blob.present = false;
                    deleted.insert(place);
                }
                blob.life = Life::Unseen;
            }
        }
        if !deleted.is_empty() {
            let refers = |part: &PartId| {
                let part = self.parts.get(*part);
                part.is_some_and(|it| deleted.contains(&it.blob))
            };
            let committed = self.lanes.iter().any(|lane| {
                let mut owners = lane.stream.owners.iter();
                owners.any(|(part, owned)| owned.committed.is_some() && refers(part))
            });
            if committed {
                self.break_promise(Violation::PromotedOverDeleted);
            }
            let note = Note {
                b: u64::try_from(deleted.len()).unwrap_or(u64::MAX),
                ..Note::of(What::GcRound, 0)
            };
            out.notes.push(note);
        }
        if let Some(interval) = self.gc.interval {
            out.after(Delay::Exact(interval), Step::GcRead { lane: 0 });
        }
    }
}
