//! Where one piece of a log ends and the next one begins, and what is known of a piece between them that is absent.

use super::Scanned;
use crate::signals::tally::NodeTally;
use crate::time::Timestamp;

/// The last stamp of a piece and the first one of the next, of those between which none is known to be absent.
#[derive(Debug, Default)]
pub(super) struct Joints(Vec<(Timestamp, Timestamp)>);

impl Joints {
    /// A block follows one of an artifact, which ended with a stamp.
    pub(super) fn join(
        &mut self,
        tally: &mut NodeTally,
        before: Option<(u32, Timestamp)>,
        scanned: &Scanned,
    ) {
        let before = before.filter(|(artifact, _)| *artifact != scanned.artifact);
        let Some(((_, from), to)) = before.zip(scanned.scan.opened) else {
            return;
        };
        if scanned.source.follows_hole {
            tally.hole(from, to);
        } else {
            self.0.push((from, to));
        }
    }

    /// The err.log has a record that the main log has not: if its time is between two pieces of that, there was another one.
    pub(super) fn lack(&mut self, tally: &mut NodeTally, time: Option<Timestamp>) {
        let Some(time) = time else { return };
        let mut joints = self.0.iter();
        if let Some(at) = joints.position(|&(from, to)| from <= time && time <= to) {
            let (from, to) = self.0.remove(at);
            tally.hole(from, to);
        }
    }
}
