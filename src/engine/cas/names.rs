//! What things are called: nodes, tables, parts, manifests, and the note of something that happened.

/// A server, by its number from 0.
pub type NodeId = usize;

/// A replicated table, by its number from 0.
pub type TableId = usize;

/// A part, by its number in the order of creation.
pub type PartId = usize;

/// A manifest: the writer epoch of its server, and the build of that server which wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Manifest {
    /// The server.
    pub node: NodeId,
    /// Goes up with each mount.
    pub epoch: u32,
    /// Goes up with each build of the server.
    pub build: u32,
}

/// A part as all replicas know it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PartInfo {
    /// Its table.
    pub table: TableId,
    /// Its partition.
    pub partition: u32,
    /// First and last block.
    pub blocks: (u32, u32),
    /// How often it was merged.
    pub level: u32,
    /// Whether it is the whole of `sources` after a mutation: the block of the mutation, 0 if not.
    pub mutation: u32,
    /// The blob that holds its data; a part attached from another shares it.
    pub blob: usize,
    /// The parts that it was made of.
    pub sources: Vec<PartId>,
    /// The part that it was made into.
    pub into: Option<PartId>,
    /// Operations of the soak whose rows it holds.
    pub inserts: Vec<u64>,
}

impl PartInfo {
    /// A part as an insert makes it.
    pub fn fresh(table: TableId, partition: u32, block: u32, blob: usize) -> Self {
        Self {
            table,
            partition,
            blocks: (block, block),
            level: 0,
            mutation: 0,
            blob,
            sources: Vec::new(),
            into: None,
            inserts: Vec::new(),
        }
    }

    /// Its name: partition, blocks, level, and the mutation if there was one. Partitions of two numbers are written
    /// with the first in the upper half.
    pub fn name(&self) -> String {
        let partition = match (self.partition >> 16, self.partition & 0xFFFF) {
            (0, 0) => "all".to_owned(),
            (0, day) => format!("202608{day:02}"),
            (a, b) => format!("{a}-{b}"),
        };
        let (first, last) = self.blocks;
        let mut name = format!("{partition}_{first}_{last}_{}", self.level);
        if self.mutation > 0 {
            name = format!("{name}_{}", self.mutation);
        }
        name
    }
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum What {
    /// A part was written by its own server; `a` is 1 if a merge or a mutation wrote it.
    Written,
    /// An entry came into the queue.
    Queued,
    /// A fetch began.
    Fetching,
    /// A source offered a relink.
    Offered,
    /// A receiver staged its own reference.
    Relinking,
    /// A source answered a confirm with yes.
    Proven,
    /// A source answered `unknown`; `a` is the [`super::Why`].
    Unknown,
    /// A source answered `no`; `a` is the [`super::Why`].
    No,
    /// A confirm was not delivered, or its answer was not.
    ConfirmLost,
    /// A receiver gave the relink up.
    Refused,
    /// A relink was promoted.
    Finished,
    /// A promotion is neither done nor refused.
    Unresolved,
    /// A receiver takes the bytes instead; `a` is the row of the receiver's taxonomy.
    FellBack,
    /// Bytes begin to flow.
    Downloading,
    /// Bytes have arrived and are published; `a` is their number.
    Downloaded,
    /// A source does not have the part that it was asked for.
    NotThere,
    /// A source could not be reached.
    Unreachable,
    /// No replica has the part or one that covers it.
    NoReplica,
    /// An entry waits; `a` is for how many milliseconds, `b` how often it failed.
    Postponed,
    /// An entry was selected while its pool was full: it counts as tried and was not.
    PoolFull,
    /// A batch of a ledger became durable; `a` is how many mutations it holds.
    Appended,
    /// An append was refused before anything was sent.
    AppendRefused,
    /// An append's outcome is open.
    Wedged,
    /// A wedge was resolved.
    Unwedged,
    /// What is durable could not be installed.
    NeedsRecovery,
    /// A ledger was recovered.
    Recovered,
    /// A recovery was given up.
    RecoveryFailed,
    /// A ledger was evicted.
    Evicted,
    /// A request to the store failed once; `a` is the [`super::Object`].
    StoreError,
    /// A mutation was refused because the mount lease does not hold.
    Fenced,
    /// A mount was lost.
    LeaseLost,
    /// A mount expired without anyone noticing.
    LeaseExpired,
    /// A server mounted the pool again; `a` is its new writer epoch.
    Remounted,
    /// The collector fenced a server out.
    FencedOut,
    /// A server stopped.
    Stopped,
    /// A server started.
    Started,
    /// A request found no handler and no room to wait: its connection was reset.
    ConnectionReset,
    /// A round of the collector: `a` blobs condemned, `b` deleted.
    GcRound,
    /// A part's reference was removed.
    Removed,
    /// A dying epoch's append lost against the seal of its successor.
    SealRejected,
    /// A dying epoch's append was adopted by its successor.
    StragglerAdopted,
    /// A foreign object stands where a ledger's next log belongs.
    Faulted,
    /// The kernel killed a server for its memory.
    OutOfMemory,
    /// A change of the catalog came second and was refused.
    CatalogConflict,
    /// A table was made; `a` is after how many attempts, `b` after how many microseconds.
    TableMade,
    /// A table was not made; `a` and `b` as for one that was.
    TableNotMade,
    /// A server's process stands still.
    Paused,
    /// It goes on.
    Resumed,
}

impl What {
    /// How many there are.
    pub const COUNT: usize = Self::Resumed as usize + 1;

    /// Its name in words.
    pub fn words(self) -> String {
        let mut words = String::new();
        for c in format!("{self:?}").chars() {
            if c.is_ascii_uppercase() && !words.is_empty() {
                words.push(' ');
            }
            words.push(c.to_ascii_lowercase());
        }
        words
    }
}

/// Something that happened, with the numbers that belong to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Note {
    /// What it is.
    pub what: What,
    /// The server that would log it.
    pub node: NodeId,
    /// The table, if it has one.
    pub table: TableId,
    /// The part, if it has one.
    pub part: PartId,
    /// The other server, if there is one.
    pub peer: NodeId,
    /// See [`What`].
    pub a: u64,
    /// See [`What`].
    pub b: u64,
    /// The manifest of an offer.
    pub manifest: Option<Manifest>,
}

/// Stands where a note has no part or no table.
pub const NONE: usize = usize::MAX;

impl Note {
    /// A note of a server.
    pub fn of(what: What, node: NodeId) -> Self {
        Self {
            what,
            node,
            table: NONE,
            part: NONE,
            peer: node,
            a: 0,
            b: 0,
            manifest: None,
        }
    }

    /// As words for a trace.
    pub fn words(&self) -> [u64; 7] {
        let number = |it: usize| u64::try_from(it).unwrap_or(u64::MAX);
        [
            self.what as u64,
            number(self.node),
            number(self.table),
            number(self.part),
            number(self.peer),
            self.a,
            self.b,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_called_as_the_servers_call_them() {
        let mut part = PartInfo::fresh(0, 0, 3, 0);
        assert_eq!(part.name(), "all_3_3_0");
        part.partition = 18;
        part.blocks = (3, 7);
        part.level = 2;
        assert_eq!(part.name(), "20260818_3_7_2");
        part.partition = (6 << 16) | 9;
        part.mutation = 12;
        assert_eq!(part.name(), "6-9_3_7_2_12");
    }
}
