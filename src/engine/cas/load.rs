//! What writes: inserts, attaches, merges, each a job until its parts are there.

use super::ledger::{Act, Item};
use super::names::{NodeId, PartId, PartInfo, TableId};
use super::replica::EntryKind;
use super::run::{Event, LOOK, Run};
use super::scenario::{Load, LoadKind};
use super::variant::Fix;
use super::world::{Delay, Step, Trouble, Waiter};
use crate::engine::sim::SECOND;

/// Parts that are being written for one purpose.
#[derive(Debug, Clone)]
pub(super) struct Job {
    /// What for.
    pub(super) kind: LoadKind,
    /// On which server.
    pub(super) node: NodeId,
    /// The first part.
    pub(super) first: PartId,
    /// How many.
    pub(super) count: usize,
    /// How many are not there yet.
    pub(super) left: usize,
    /// Whether one of them failed.
    pub(super) failed: bool,
}

/// What the coordination service knows of the tables.
#[derive(Debug, Clone, Default)]
pub(super) struct Tables {
    /// The next block of each table.
    blocks: Vec<u32>,
    /// Parts of each table that are not merged away, in the order of their blocks.
    pub(super) current: Vec<Vec<PartId>>,
}

impl Tables {
    pub(super) fn new(tables: usize) -> Self {
        Self {
            blocks: vec![0; tables],
            current: vec![Vec::new(); tables],
        }
    }

    pub(super) fn next_block(&mut self, table: TableId) -> u32 {
        let Some(block) = self.blocks.get_mut(table) else {
            return 0;
        };
        *block += 1;
        *block
    }
}

impl Run<'_> {
    pub(super) fn load_turn(&mut self, place: usize, node: NodeId) {
        let Some(load) = self.scenario.load.get(place).cloned() else {
            return;
        };
        if self.now() >= load.to_s * SECOND {
            return;
        }
        let Some(stream) = self.load_streams.get_mut(&(place, node)) else {
            return;
        };
        let choices = if load.tables.is_empty() {
            self.scenario.tables
        } else {
            load.tables.len()
        };
        let choice = stream.below(u64::try_from(choices).unwrap_or(1));
        let choice = usize::try_from(choice).unwrap_or(0);
        let table = load.tables.get(choice).copied().unwrap_or(choice);
        let wait = load.every.draw(stream);
        self.later(wait, Event::Load { load: place, node });
        let is_up = self.world.nodes.get(node).is_some_and(|it| it.is_up);
        if is_up {
            self.begin_job(&load, node, table);
        }
    }

    fn begin_job(&mut self, load: &Load, node: NodeId, table: TableId) {
        match load.kind {
            LoadKind::Insert => {
                self.write(LoadKind::Insert, node, table, 1, 0, &[]);
            }
            LoadKind::Attach => {
                let turn = u32::try_from(self.next_job % 5).unwrap_or(0);
                let partition = ((5 + turn) << 16) | (8 + turn);
                self.write(
                    LoadKind::Attach,
                    node,
                    table,
                    load.parts.max(1),
                    partition,
                    &[],
                );
            }
            LoadKind::Merge => self.merge(table, load.parts, 2),
            LoadKind::Create => self.world.create_table(node, &mut self.out),
        }
    }

    /// Writes parts on a server. Gives the job's number.
    pub(super) fn write(
        &mut self,
        kind: LoadKind,
        node: NodeId,
        table: TableId,
        count: usize,
        partition: u32,
        inserts: &[u64],
    ) -> u64 {
        let first = self.world.parts.len();
        let number = self.next_job;
        self.next_job += 1;
        let job = Job {
            kind,
            node,
            first,
            count,
            left: count,
            failed: false,
        };
        self.jobs.insert(number, job);
        let lane = self.world.setup.lane(node, table);
        if kind == LoadKind::Attach && self.world.setup.variant.has(Fix::C1) {
            self.pin(table);
        }
        for _ in 0..count {
            let blob = self.world.new_blob();
            let block = self.tables.next_block(table);
            let mut info = PartInfo::fresh(table, partition, block, blob);
            info.inserts.extend(inserts);
            self.world.parts.push(info);
        }
        for part in first..first + count {
            let Some(manifest) = self.world.nodes.get_mut(node).map(|it| it.build(node)) else {
                return number;
            };
            let item = Item {
                part,
                act: Act::Create(manifest),
                waiter: Waiter::Writer(node, number),
            };
            self.world.submit(lane, item, &mut self.out);
        }
        number
    }

    /// Every runtime of a table stays resident until each other server has what is attached.
    fn pin(&mut self, table: TableId) {
        let others = u32::try_from(self.scenario.nodes.saturating_sub(1)).unwrap_or(0);
        for node in 0..self.scenario.nodes {
            let lane = self.world.setup.lane(node, table);
            if let Some(lane) = self.world.lanes.get_mut(lane) {
                lane.pins += others;
            }
        }
    }

    /// The oldest parts of a table become one, on every server.
    pub(super) fn merge(&mut self, table: TableId, most: usize, least: usize) {
        let Some(current) = self.tables.current.get_mut(table) else {
            return;
        };
        let sources: Vec<PartId> = current.iter().copied().take(most).collect();
        if sources.len() < least {
            return;
        }
        current.drain(..sources.len());
        let mutation = self.mutation_of(&sources);
        let merged = self.derive(table, &sources, mutation);
        if let Some(current) = self.tables.current.get_mut(table) {
            current.insert(0, merged);
        }
    }

    pub(super) fn mutation_of(&self, sources: &[PartId]) -> u32 {
        let parts = sources.iter().filter_map(|it| self.world.parts.get(*it));
        parts.map(|it| it.mutation).max().unwrap_or(0)
    }

    /// A part that is made of others, with an entry for everyone.
    pub(super) fn derive(&mut self, table: TableId, sources: &[PartId], mutation: u32) -> PartId {
        let merged = self.world.parts.len();
        let blob = self.world.new_blob();
        if let Some(blob) = self.world.blobs.get_mut(blob) {
            // It is there when the first server has written it.
            blob.present = false;
        }
        let mut info = PartInfo::fresh(table, 0, 0, blob);
        info.sources = sources.to_vec();
        info.mutation = mutation;
        for (place, source) in sources.iter().enumerate() {
            if let Some(source) = self.world.parts.get_mut(*source) {
                source.into = Some(merged);
                info.partition = source.partition;
                if place == 0 {
                    info.blocks.0 = source.blocks.0;
                }
                info.blocks.1 = source.blocks.1;
                info.level = info.level.max(source.level);
                info.inserts.extend(&source.inserts);
            }
        }
        if sources.len() > 1 {
            info.level += 1;
        }
        self.world.parts.push(info);
        for node in 0..self.scenario.nodes {
            self.entry_for(node, EntryKind::Merge, merged, 1);
        }
        merged
    }

    /// An entry of the replication log on its way to a server.
    pub(super) fn entry_for(&mut self, node: NodeId, kind: EntryKind, first: PartId, count: usize) {
        let step = Step::Pull {
            node,
            kind,
            first,
            count,
        };
        self.announced += 1;
        self.out.after(Delay::Keeper, step);
    }

    /// One part of a job is there, or failed.
    pub(super) fn part_written(&mut self, number: u64, result: Result<(), Trouble>) {
        let Some(job) = self.jobs.get_mut(&number) else {
            return;
        };
        job.left -= 1;
        job.failed |= result.is_err();
        if job.left > 0 {
            return;
        }
        if job.kind == LoadKind::Attach && self.world.setup.variant.has(Fix::C3) {
            self.later(0, Event::Quiet { job: number });
        } else {
            self.announce_now(number);
        }
    }

    /// The initiator of an attach announces it when its lane is quiet.
    pub(super) fn announce(&mut self, number: u64) {
        let Some(job) = self.jobs.get(&number) else {
            return;
        };
        let table = self.world.parts.get(job.first).map_or(0, |it| it.table);
        let lane = self.world.setup.lane(job.node, table);
        let lane = self.world.lanes.get(lane);
        if lane.is_none_or(super::ledger::Lane::is_quiet) {
            self.announce_now(number);
        } else {
            self.later(LOOK, Event::Quiet { job: number });
        }
    }

    /// Those parts of a job that are there come to the others.
    fn announce_now(&mut self, number: u64) {
        let Some(job) = self.jobs.remove(&number) else {
            return;
        };
        if self.scenario.soak.is_some() {
            self.world.handler_free(job.node, &mut self.out);
            self.finished.push((number, job.failed));
        }
        let table = self.world.parts.get(job.first).map_or(0, |it| it.table);
        if job.failed {
            // An insert or an attach is whole or not at all: what there is of it goes away again.
            for part in job.first..job.first + job.count {
                self.world.outdate(job.node, part, &mut self.out);
            }
            return;
        }
        if let Some(current) = self.tables.current.get_mut(table) {
            let parts = &self.world.parts;
            let blocks = |part: PartId| parts.get(part).map(|it| it.blocks);
            for part in job.first..job.first + job.count {
                // Nearly always the end: to sort them all again would cost a long run most of its time.
                let place = current.partition_point(|it| blocks(*it) <= blocks(part));
                current.insert(place, part);
            }
        }
        let kind = match job.kind {
            LoadKind::Attach => EntryKind::Replace,
            LoadKind::Insert | LoadKind::Merge | LoadKind::Create => EntryKind::Get,
        };
        for node in (0..self.scenario.nodes).filter(|it| *it != job.node) {
            self.entry_for(node, kind, job.first, job.count);
        }
    }
}
