//! The whole system as a value, and the one function that changes it.
//!
//! A [`World`] has no clock and draws no number. [`World::apply`] takes a [`Step`] and its [`Outcome`] and says which
//! steps follow, and what each of them waits for. A simulation turns waits into times; a check tries every order.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ddl::Catalog;
use super::gc::{Blob, Collector};
use super::ledger::{Act, Answer, Item, Lane};
use super::names::{NONE, NodeId, Note, PartId, PartInfo, TableId, What};
use super::replica::Node;
pub use super::step::{Delay, Out, Outcome, Phase, Step, Ticket, Trouble, Waiter};
use super::variant::Variant;

/// What does not change during a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Setup {
    /// Servers.
    pub nodes: usize,
    /// Replicated tables.
    pub tables: usize,
    /// The protocol.
    pub variant: Variant,
    /// Fetches that a server runs at once (`background_fetches_pool_size`).
    pub fetch_slots: usize,
    /// Other entries that a server runs at once (`background_pool_size`, tasks of the common pool).
    pub common_slots: usize,
    /// The longest wait of a fetch that failed, in milliseconds (`max_postpone_time_for_failed_replicated_fetches_ms`).
    pub fetch_cap_ms: u64,
    /// The longest wait of another entry that failed, in milliseconds.
    pub task_cap_ms: u64,
    /// How long a part that was merged or dropped keeps its reference, in microseconds (`old_parts_lifetime`).
    pub old_parts_us: u64,
    /// Servers that do not know the confirm.
    pub without_confirm: Vec<NodeId>,
    /// Whether a task counts as tried when its pool is full.
    pub counts_full_pool: bool,
    /// HTTP handlers of a server and connections that may wait for one; `None` for as many as wanted.
    pub handlers: Option<(usize, usize)>,
    /// How long a handler is busy with an offer, in microseconds.
    pub offer_us: u64,
    /// Whether the store grants tokens for `_ckpt`, so that a batch waits for one before it is carved.
    pub limits_ckpt: bool,
    /// The longest that a source waits before it answers (fix E), in microseconds.
    pub answer_within_us: u64,
    /// Refusals in a row after which a receiver pauses a source (fix D).
    pub breaker_streak: u32,
    /// Whether mounts live by renewals that go to the store.
    pub leases: bool,
    /// Memory that a request takes while a handler works on it, and what a server may take for all of them, in
    /// megabytes; `None` for as much as wanted.
    pub memory: Option<(usize, usize)>,
    /// The distance of two mutations of the catalog, in microseconds; 0 without a limit.
    pub catalog_us: u64,
}

impl Setup {
    /// Two servers, one table, 16 fetches at once, the servers' own caps.
    pub fn new(variant: Variant) -> Self {
        Self {
            nodes: 2,
            tables: 1,
            variant,
            fetch_slots: 16,
            common_slots: 8,
            fetch_cap_ms: 60_000,
            task_cap_ms: 300_000,
            old_parts_us: 480_000_000,
            without_confirm: Vec::new(),
            counts_full_pool: false,
            handlers: None,
            offer_us: 500,
            limits_ckpt: false,
            answer_within_us: 500_000,
            breaker_streak: 4,
            leases: false,
            memory: None,
            catalog_us: 0,
        }
    }

    /// The lane of a table on a server.
    pub fn lane(&self, node: NodeId, table: TableId) -> usize {
        node * self.tables + table
    }

    /// The server and the table of a lane.
    pub fn place(&self, lane: usize) -> (NodeId, TableId) {
        (lane / self.tables, lane % self.tables)
    }
}

/// A promise of the protocol that was broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Violation {
    /// Yes was answered although the durable row is gone or another, or the mount does not hold.
    YesWithoutRow,
    /// A confirm was sent before the receiver's own reference was durable.
    ConfirmBeforePlusOne,
    /// A part was promoted whose blob is deleted, or a blob was deleted under a committed reference.
    PromotedOverDeleted,
    /// Bytes were taken while a promotion of the same part was open.
    BytesWhileOpen,
    /// A committed reference was bound to a second manifest.
    Rebound,
    /// A refused attempt did not cost exactly two appends.
    OddCost,
}

impl Violation {
    /// All, with what they mean.
    pub const ALL: [(Self, &'static str); 6] = [
        (
            Self::YesWithoutRow,
            "yes only for a row that durably names the offered manifest under a mount that holds",
        ),
        (
            Self::ConfirmBeforePlusOne,
            "a confirm is sent only after the receiver's own reference is durable",
        ),
        (
            Self::PromotedOverDeleted,
            "no committed reference to a deleted blob",
        ),
        (
            Self::BytesWhileOpen,
            "no bytes while a promotion of the part is open",
        ),
        (Self::Rebound, "a committed reference keeps its manifest"),
        (
            Self::OddCost,
            "a refused relink costs its receiver exactly two appends",
        ),
    ];
}

/// The system.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct World {
    /// What does not change.
    pub setup: Arc<Setup>,
    /// The time, for what compares times; a check leaves it at 0.
    pub now: u64,
    /// All parts that ever were.
    pub parts: Vec<PartInfo>,
    /// Blobs.
    pub blobs: Vec<Blob>,
    /// The ledger of each table on each server.
    pub lanes: Vec<Lane>,
    /// The servers.
    pub nodes: Vec<Node>,
    /// The garbage collector.
    pub gc: Collector,
    /// The catalog of all tables, as far as tables are made while it runs.
    pub catalog: Catalog,
    /// Promises that were broken.
    pub broken: BTreeSet<Violation>,
}

impl World {
    /// Servers with empty tables.
    pub fn new(setup: Setup) -> Self {
        let slots = setup.fetch_slots + setup.common_slots;
        let lanes = setup.nodes * setup.tables;
        Self {
            now: 0,
            parts: Vec::new(),
            blobs: Vec::new(),
            lanes: vec![Lane::default(); lanes],
            nodes: vec![Node::new(setup.nodes, slots); setup.nodes],
            gc: Collector::default(),
            catalog: Catalog::default(),
            broken: BTreeSet::new(),
            setup: Arc::new(setup),
        }
    }

    /// Lets a step happen.
    pub fn apply(&mut self, step: Step, outcome: Outcome, out: &mut Out) {
        match step {
            Step::Carve { lane, epoch } => self.carve(lane, epoch, out),
            Step::LogAnswered { lane, epoch } => self.log_answered(lane, epoch, outcome, out),
            Step::FrontierAnswered { lane, epoch } => {
                self.frontier_answered(lane, epoch, outcome, out);
            }
            Step::Resolved { lane, epoch } => self.wedge_resolved(lane, epoch, outcome, out),
            Step::Recovered { lane, epoch } => self.recovery_ended(lane, epoch, outcome, out),
            Step::Offer(ticket) => self.offer(ticket, outcome, out),
            Step::HandlerFree { node } => self.handler_free(node, out),
            Step::Offered(ticket) => self.offered(ticket, outcome, out),
            Step::Confirm(ticket) => self.confirm_arrives(ticket, outcome, out),
            Step::Confirmed(ticket) => self.confirmed(ticket, outcome, out),
            Step::BytesAsked(ticket) => self.bytes_asked(ticket, outcome, out),
            Step::BytesArrived(ticket) => self.bytes_arrived(ticket, outcome, out),
            Step::Merged(ticket) => self.merged(ticket, out),
            Step::Pull {
                node,
                kind,
                first,
                count,
            } => self.pull(node, kind, first, count, out),
            Step::Due { node, entry } => self.due(node, entry, out),
            Step::Rescan { node } => self.rescan(node, out),
            Step::Clean { node, part } => self.clean(node, part, out),
            Step::Reopen { node, source } => self.reopen(node, source, out),
            Step::GcRead { lane } => self.gc_read(lane, out),
            Step::GcDecide => self.gc_decide(out),
            Step::GcDelete => self.gc_delete(out),
            Step::Renew { node, epoch } => self.renew(node, epoch, out),
            Step::Renewed { node, epoch, begun } => self.renewed(node, epoch, begun, outcome, out),
            Step::Claim { node, epoch } => self.claim(node, epoch, out),
            Step::Claimed { node, epoch } => self.claimed(node, epoch, outcome, out),
            Step::CatalogRead { ddl } => self.catalog_read(ddl, outcome, out),
            Step::CatalogWrite { ddl } => self.catalog_write(ddl, outcome, out),
            Step::CatalogAgain { ddl } => self.read_catalog(ddl, out),
        }
    }

    pub(super) fn break_promise(&mut self, violation: Violation) {
        self.broken.insert(violation);
    }

    /// Whether a server may change anything in the pool.
    pub fn may_mutate(&self, node: NodeId) -> bool {
        self.nodes
            .get(node)
            .is_some_and(|it| it.is_up && !it.is_fenced && self.lease_holds(it))
    }

    /// A note of a server about a part.
    pub(super) fn note(&self, what: What, node: NodeId, part: PartId) -> Note {
        Note {
            table: self.parts.get(part).map_or(NONE, |it| it.table),
            part,
            ..Note::of(what, node)
        }
    }

    /// A note of a server about a lane.
    pub(super) fn lane_note(&self, what: What, lane: usize) -> Note {
        let (node, table) = self.setup.place(lane);
        Note {
            table,
            ..Note::of(what, node)
        }
    }

    /// Tells whoever waits for a change of a reference.
    pub(super) fn complete(&mut self, item: Item, result: Result<(), Trouble>, out: &mut Out) {
        match item.waiter {
            Waiter::Fetch(ticket, _) if self.task(ticket).is_none() => {
                self.sweep(item, result, out);
            }
            Waiter::Fetch(ticket, phase) => self.appended(ticket, phase, result, out),
            Waiter::Writer(node, number) => {
                if result.is_ok() {
                    self.activate(node, item.part, out);
                    let note = self.note(What::Written, node, item.part);
                    out.notes.push(note);
                }
                out.written.push((number, result));
            }
            Waiter::Cleanup(node) => self.cleaned(node, item.part, result, out),
            Waiter::Nobody => {}
        }
    }

    /// What a task has left behind that was dropped while it worked goes away.
    fn sweep(&mut self, item: Item, result: Result<(), Trouble>, out: &mut Out) {
        let act = match item.act {
            Act::Stage(_) => Act::Unstage,
            Act::Promote => Act::Remove,
            Act::Create(_) | Act::Unstage | Act::Remove => return,
        };
        let Waiter::Fetch(ticket, _) = item.waiter else {
            return;
        };
        if result.is_ok() && self.nodes.get(ticket.node).is_some_and(|it| it.is_up) {
            let table = self.parts.get(item.part).map_or(0, |it| it.table);
            let item = Item {
                act,
                waiter: Waiter::Nobody,
                ..item
            };
            self.submit(self.setup.lane(ticket.node, table), item, out);
        }
    }

    /// The answer of a source to a confirm: gate 0, then gate 1.
    pub fn answer(&self, source: NodeId, part: PartId, manifest: super::Manifest) -> Answer {
        let Some(node) = self.nodes.get(source) else {
            return Answer::No(super::Why::PartGone);
        };
        if !node.holds(part) {
            return Answer::No(super::Why::PartGone);
        }
        let table = self.parts.get(part).map_or(0, |it| it.table);
        let lane = self.setup.lane(source, table);
        self.lanes
            .get(lane)
            .map_or(Answer::Unknown(super::Why::NotResident), |it| {
                it.confirm(part, manifest, self.setup.variant, self.may_mutate(source))
            })
    }
}
