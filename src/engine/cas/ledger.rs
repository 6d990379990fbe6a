//! The ref ledger of one table on one server: a lane of appends, what is durable of it, and what the process holds.

use std::collections::{BTreeMap, VecDeque};

use super::names::{Manifest, PartId};
use super::variant::{Broken, Rule, Variant};
use super::world::Waiter;

/// Mutations of one batch at most.
pub const BATCH_MAX: usize = 64;

/// What a lane is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LaneState {
    /// Nothing is in flight.
    Ready,
    /// A batch is on its way to the store.
    Writing,
    /// It is open whether the last batch is durable.
    Wedged,
    /// Something durable could not be installed.
    NeedsRecovery,
    /// A successor's seal has closed the epoch.
    Closed,
    /// A foreign object stands where its next log belongs.
    Faulted,
}

/// A change of one reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Act {
    /// A committed reference to a manifest of its own.
    Create(Manifest),
    /// A precommit: the receiver's +1.
    Stage(Manifest),
    /// The precommit becomes the committed reference.
    Promote,
    /// The precommit goes away.
    Unstage,
    /// The committed reference goes away.
    Remove,
}

/// A change that waits for its batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Item {
    /// The reference, by its part.
    pub part: PartId,
    /// What becomes of it.
    pub act: Act,
    /// Who is told.
    pub waiter: Waiter,
}

/// What a namespace says of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Owned {
    /// The committed reference.
    pub committed: Option<Manifest>,
    /// The precommit.
    pub staged: Option<Manifest>,
}

/// A namespace as the store holds it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Stream {
    /// References after all durable logs.
    pub owners: BTreeMap<PartId, Owned>,
    /// Logs of the current epoch.
    pub logs: u32,
    /// A batch that is on its way, with the epoch that wrote it.
    pub flight: Option<(u32, Vec<Item>)>,
    /// Epochs below this are sealed: what they still send is rejected.
    pub sealed_below: u32,
    /// Whether something foreign has taken the key of the next log.
    pub is_foreign: bool,
}

impl Stream {
    /// Takes a batch up as durable. Gives the parts whose committed reference would be bound to a second manifest.
    pub fn apply(&mut self, items: &[Item]) -> Vec<PartId> {
        self.logs += 1;
        let mut rebound = Vec::new();
        for item in items {
            let owned = self.owners.entry(item.part).or_default();
            match item.act {
                Act::Create(manifest) => {
                    if owned.committed.is_some_and(|it| it != manifest) {
                        rebound.push(item.part);
                    }
                    owned.committed = Some(manifest);
                }
                Act::Stage(manifest) => owned.staged = Some(manifest),
                Act::Promote => {
                    if let Some(manifest) = owned.staged.take() {
                        if owned.committed.is_some_and(|it| it != manifest) {
                            rebound.push(item.part);
                        }
                        owned.committed = Some(manifest);
                    }
                }
                Act::Unstage => owned.staged = None,
                Act::Remove => owned.committed = None,
            }
            if *owned == Owned::default() {
                self.owners.remove(&item.part);
            }
        }
        rebound
    }
}

/// The answer of a source to a confirm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Answer {
    /// The offered manifest is held.
    Yes,
    /// It is gone.
    No(Why),
    /// Not decidable now.
    Unknown(Why),
}

/// Why an answer is not yes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Why {
    /// The part is not among the parts of the table (gate 0).
    PartGone,
    /// The table's runtime is not in memory.
    NotResident,
    /// The table is not recovered, or being recovered.
    Unrecovered,
    /// Something of the table is pending or being written (rules v0 and v1).
    TableBusy,
    /// The lane holds an unresolved append.
    LaneWedged,
    /// The lane needs recovery or is closed.
    LaneBroken,
    /// A mutation that is queued names the reference.
    Queued,
    /// A mutation that is being written names the reference.
    Carved,
    /// The committed row is gone or names another manifest.
    RowGone,
    /// The mount lease does not hold.
    MountLost,
    /// The lock of the table's state is held: the oldest rule holds it as long as a recovery replays.
    StateLocked,
}

impl Why {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::PartGone,
        Self::NotResident,
        Self::Unrecovered,
        Self::TableBusy,
        Self::LaneWedged,
        Self::LaneBroken,
        Self::Queued,
        Self::Carved,
        Self::RowGone,
        Self::MountLost,
        Self::StateLocked,
    ];

    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Self::PartGone => "the part is gone",
            Self::NotResident => "the table is not resident",
            Self::Unrecovered => "the table is not recovered",
            Self::TableBusy => "the table's lane is busy",
            Self::LaneWedged => "the lane holds an unresolved append",
            Self::LaneBroken => "the lane needs recovery or is closed",
            Self::Queued => "a queued mutation names the reference",
            Self::Carved => "a carved mutation names the reference",
            Self::RowGone => "the committed row is gone",
            Self::MountLost => "the mount lease does not hold",
            Self::StateLocked => "the lock of the table's state is held",
        }
    }
}

/// The runtime of a namespace in its process, over its stream.
#[expect(
    clippy::struct_excessive_bools,
    reason = "the flags of the real runtime, each set and cleared on its own"
)]
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Lane {
    /// What the store holds.
    pub stream: Stream,
    /// What it is doing.
    pub state: LaneState,
    /// Changes that wait.
    pub pending: VecDeque<Item>,
    /// Changes that are being written.
    pub carved: Vec<Item>,
    /// Whether someone drains it.
    pub leader: bool,
    /// Whether the runtime exists.
    pub resident: bool,
    /// Whether its rows are those of the stream.
    pub recovered: bool,
    /// Whether a recovery runs.
    pub recovering: bool,
    /// How many attaches keep it resident (fix C1).
    pub pins: u32,
    /// Committed rows as the process knows them.
    pub rows: BTreeMap<PartId, Manifest>,
    /// Whether the unresolved append has landed; the process does not know.
    pub landed: bool,
    /// When it was used last.
    pub used: u64,
}

impl Default for Lane {
    fn default() -> Self {
        Self {
            stream: Stream::default(),
            state: LaneState::Ready,
            pending: VecDeque::new(),
            carved: Vec::new(),
            leader: false,
            resident: true,
            recovered: true,
            recovering: false,
            pins: 0,
            rows: BTreeMap::new(),
            landed: false,
            used: 0,
        }
    }
}

impl Lane {
    /// The runtime is gone, as after a restart, a remount or an eviction; what is durable stays.
    pub fn forget(&mut self) {
        let stream = std::mem::take(&mut self.stream);
        let (pins, used) = (self.pins, self.used);
        *self = Self {
            stream,
            pins,
            used,
            resident: false,
            recovered: false,
            ..Self::default()
        };
    }

    /// Takes the next batch out of what is pending: distinct references, up to the limit.
    pub fn carve(&mut self) {
        self.carved.clear();
        while self.carved.len() < BATCH_MAX {
            let Some(next) = self.pending.front() else {
                break;
            };
            if self.carved.iter().any(|it| it.part == next.part) {
                break;
            }
            self.carved.extend(self.pending.pop_front());
        }
        self.state = LaneState::Writing;
    }

    /// Takes what was carved over into the rows.
    pub fn install(&mut self) -> Vec<Item> {
        for item in &self.carved {
            let committed = self
                .stream
                .owners
                .get(&item.part)
                .and_then(|it| it.committed);
            match committed {
                Some(manifest) => self.rows.insert(item.part, manifest),
                None => self.rows.remove(&item.part),
            };
        }
        self.state = LaneState::Ready;
        std::mem::take(&mut self.carved)
    }

    /// Reads everything from the stream.
    pub fn recover(&mut self) {
        let committed = |(part, owned): (&PartId, &Owned)| owned.committed.map(|it| (*part, it));
        self.rows = self.stream.owners.iter().filter_map(committed).collect();
        self.carved.clear();
        self.resident = true;
        self.recovered = true;
        self.recovering = false;
        self.landed = false;
        self.state = LaneState::Ready;
    }

    /// Whether nothing waits and nothing is written.
    pub fn is_quiet(&self) -> bool {
        self.state == LaneState::Ready && self.pending.is_empty() && !self.leader
    }

    /// Whether it may be evicted.
    pub fn is_idle(&self) -> bool {
        self.resident && self.recovered && self.is_quiet() && self.pins == 0
    }

    /// Gate 1: the answer to a confirm of `part` at `manifest`, without any request to the store.
    pub fn confirm(
        &self,
        part: PartId,
        manifest: Manifest,
        variant: Variant,
        fence_holds: bool,
    ) -> Answer {
        if !self.resident {
            return Answer::Unknown(Why::NotResident);
        }
        if self.recovering && variant.rule == Rule::V0 {
            return Answer::Unknown(Why::StateLocked);
        }
        if !self.recovered || self.recovering {
            return Answer::Unknown(Why::Unrecovered);
        }
        let names = |item: &Item| item.part == part;
        match variant.rule {
            Rule::V0 | Rule::V1 => match self.state {
                LaneState::Wedged => return Answer::Unknown(Why::LaneWedged),
                LaneState::NeedsRecovery | LaneState::Closed | LaneState::Faulted => {
                    return Answer::Unknown(Why::LaneBroken);
                }
                LaneState::Ready | LaneState::Writing => {
                    if variant.broken != Some(Broken::NaiveYes) && !self.is_quiet() {
                        return Answer::Unknown(Why::TableBusy);
                    }
                }
            },
            Rule::V2 => match self.state {
                LaneState::Wedged => return Answer::Unknown(Why::LaneWedged),
                LaneState::NeedsRecovery | LaneState::Closed | LaneState::Faulted => {
                    return Answer::Unknown(Why::LaneBroken);
                }
                LaneState::Ready | LaneState::Writing
                    if variant.broken == Some(Broken::NaiveYes) => {}
                LaneState::Ready | LaneState::Writing => {
                    if self.pending.iter().any(names) {
                        return Answer::Unknown(Why::Queued);
                    }
                    if self.carved.iter().any(names) {
                        return Answer::Unknown(Why::Carved);
                    }
                }
            },
        }
        if self.rows.get(&part) != Some(&manifest) {
            return Answer::No(Why::RowGone);
        }
        // Last: a server that lost its mount may still say no, never yes.
        if !fence_holds {
            return Answer::Unknown(Why::MountLost);
        }
        Answer::Yes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINE: Manifest = Manifest {
        node: 0,
        epoch: 1,
        build: 7,
    };

    fn item(part: PartId) -> Item {
        Item {
            part,
            act: Act::Remove,
            waiter: Waiter::Nobody,
        }
    }

    /// A recovered lane that holds part 3.
    fn lane() -> Lane {
        let mut lane = Lane::default();
        lane.rows.insert(3, MINE);
        lane
    }

    fn answer(lane: &Lane, rule: Rule) -> Answer {
        lane.confirm(3, MINE, Variant::of(rule), true)
    }

    /// Each rule's answer to a lane in some state, from the table of the protocol.
    #[test]
    #[expect(clippy::too_many_lines, reason = "a table, row by row")]
    fn every_guard_has_its_answer() {
        type Change = fn(&mut Lane);
        let table = Answer::Unknown(Why::TableBusy);
        let cases: [(&str, Change, Answer, Answer); 11] = [
            ("quiet", |_| {}, Answer::Yes, Answer::Yes),
            (
                "evicted",
                |it| it.resident = false,
                Answer::Unknown(Why::NotResident),
                Answer::Unknown(Why::NotResident),
            ),
            (
                "recovering",
                |it| it.recovering = true,
                Answer::Unknown(Why::Unrecovered),
                Answer::Unknown(Why::Unrecovered),
            ),
            (
                "wedged",
                |it| it.state = LaneState::Wedged,
                Answer::Unknown(Why::LaneWedged),
                Answer::Unknown(Why::LaneWedged),
            ),
            (
                "closed",
                |it| it.state = LaneState::Closed,
                Answer::Unknown(Why::LaneBroken),
                Answer::Unknown(Why::LaneBroken),
            ),
            (
                "faulted",
                |it| it.state = LaneState::Faulted,
                Answer::Unknown(Why::LaneBroken),
                Answer::Unknown(Why::LaneBroken),
            ),
            ("led", |it| it.leader = true, table, Answer::Yes),
            (
                "another reference queued",
                |it| it.pending.push_back(item(4)),
                table,
                Answer::Yes,
            ),
            (
                "this reference queued",
                |it| it.pending.push_back(item(3)),
                table,
                Answer::Unknown(Why::Queued),
            ),
            (
                "this reference written",
                |it| {
                    it.state = LaneState::Writing;
                    it.carved.push(item(3));
                },
                table,
                Answer::Unknown(Why::Carved),
            ),
            (
                "another manifest",
                |it| {
                    let other = Manifest { build: 8, ..MINE };
                    it.rows.insert(3, other);
                },
                Answer::No(Why::RowGone),
                Answer::No(Why::RowGone),
            ),
        ];
        for (name, change, v1, v2) in cases {
            let mut lane = lane();
            change(&mut lane);
            // The oldest rule held the lock of the state while a recovery replayed.
            let v0 = if lane.recovering {
                Answer::Unknown(Why::StateLocked)
            } else {
                v1
            };
            assert_eq!(answer(&lane, Rule::V0), v0, "{name}");
            assert_eq!(answer(&lane, Rule::V1), v1, "{name}");
            assert_eq!(answer(&lane, Rule::V2), v2, "{name}");
        }
    }

    #[test]
    fn the_fence_is_looked_at_last() {
        let lane = lane();
        let variant = Variant::of(Rule::V2);
        let lost = Answer::Unknown(Why::MountLost);
        assert_eq!(lane.confirm(3, MINE, variant, false), lost);
        let gone = Answer::No(Why::RowGone);
        assert_eq!(lane.confirm(5, MINE, variant, false), gone);
    }

    #[test]
    fn a_batch_ends_at_the_limit_or_at_a_reference_that_it_has() {
        let mut lane = lane();
        lane.pending.extend((0..100).map(item));
        lane.carve();
        assert_eq!((lane.carved.len(), lane.pending.len()), (BATCH_MAX, 36));
        lane.pending = [1, 2, 1, 3].map(item).into();
        lane.carve();
        let parts: Vec<PartId> = lane.carved.iter().map(|it| it.part).collect();
        assert_eq!((parts, lane.pending.len()), (vec![1, 2], 2));
    }
}
