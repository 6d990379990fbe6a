//! What fsck and the collector's dry-run say of a pool.

use std::collections::BTreeSet;

use super::gc::Life;
use super::world::World;

/// The counts of a summary that this model can have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Summary {
    /// Blobs that are referred to and there.
    pub reachable: u64,
    /// Blobs that are referred to and not there: loss.
    pub dangling: u64,
    /// Blobs that are there and not referred to.
    pub unreachable: u64,
    /// Of those, what a round has marked for deletion.
    pub pending_gc: u64,
    /// Of those, what no round has marked yet.
    pub awaiting_gc: u64,
    /// What a dry-run of the collector would delete.
    pub dryrun: u64,
}

/// Looks at the whole pool.
pub fn check(world: &World) -> Summary {
    let mut referred = BTreeSet::new();
    let mut staged = BTreeSet::new();
    for lane in &world.lanes {
        for (part, owned) in &lane.stream.owners {
            let Some(part) = world.parts.get(*part) else {
                continue;
            };
            if owned.committed.is_some() {
                referred.insert(part.blob);
            } else {
                staged.insert(part.blob);
            }
        }
    }
    let mut summary = Summary::default();
    for (place, blob) in world.blobs.iter().enumerate() {
        match (referred.contains(&place), blob.present) {
            (true, true) => summary.reachable += 1,
            (true, false) => summary.dangling += 1,
            (false, true) if staged.contains(&place) => summary.reachable += 1,
            (false, true) => {
                summary.unreachable += 1;
                match blob.life {
                    Life::Pending(_) | Life::Doomed(_) => {
                        summary.pending_gc += 1;
                        summary.dryrun += 1;
                    }
                    Life::Condemned | Life::Live | Life::Unseen => summary.awaiting_gc += 1,
                }
            }
            (false, false) => {}
        }
    }
    summary
}
