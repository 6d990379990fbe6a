//! What each system holds true of its segments, and what it does where that is broken: damage in one is legal in another.

use crate::parsers::wal::{Format, Step};

/// The log of Kafka's own cluster, which is a Raft log: never compacted, and cut off in front only behind a snapshot.
const KAFKA_RAFT_LOG: &str = "__cluster_metadata-0";

/// The invariants of one layout.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each says one thing of a system, and none follows from another"
)]
pub struct Rules {
    /// Whether a segment's first record has to be the one it is called after.
    pub naming: Naming,
    /// What may follow a position.
    pub positions: Positions,
    /// When a position may be written again.
    pub rewrite: Rewrite,
    /// Where zero bytes may follow the last record.
    pub zero_tail: Where,
    /// Whether a segment loses its zero bytes when it is closed, so that some left over are worth a note.
    pub is_tail_cut: bool,
    /// Where a torn record is what a crash leaves and the system repairs.
    pub torn_tail: Where,
    /// Whether a wrong checksum is taken for a tear, so that it is legal in the same places.
    pub is_bad_record_torn: bool,
    /// What a last segment without bytes is.
    pub empty_last: Residue,
    /// What a last segment with half a header is.
    pub torn_header: Residue,
    /// What bytes behind the zero bytes of the last segment are.
    pub data_after_zeros: Residue,
    /// Whether a jump in the last segment means that the rest belongs in a segment of its own.
    pub is_jump_misfiled: bool,
    /// Which snapshots explain a hole.
    pub snapshots: Snapshots,
    /// The lowest position of a log that nothing was purged from.
    pub origin: u64,
    /// Whether the numbers of the segments may leave some out.
    pub is_sparse: bool,
    /// What a segment without bytes is before others.
    pub empty_middle: Residue,
    /// Whether a record has all positions up to the next one.
    pub is_wide: bool,
    /// Whether segments are in the order of terms first, and a later term's first one repeats what it shares with the one before.
    pub is_by_term: bool,
    /// Whether positions may be left out inside a segment all of whose records verify: they were given away and never written.
    pub is_jump_legal: bool,
    /// Whether segments are made ahead and old ones are used again, so that those behind the end of the log say nothing.
    pub is_made_ahead: bool,
}

/// What the name of a segment promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// Its first position.
    First,
    /// Its first position, unless a rewrite or a snapshot stands between.
    FirstAsPlanned,
    /// No position below its first.
    Lowest,
    /// No position.
    Nothing,
}

/// What may follow a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Positions {
    /// The next one.
    Dense,
    /// Any higher one.
    Rising,
    /// The next one in the low half, or 1 there and a higher number in the high half.
    Epochs,
    /// Records have no positions.
    Nowhere,
}

/// When a position may be written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rewrite {
    /// Never.
    Never,
    /// Under a higher term.
    HigherTerm,
    /// Always: the last one counts.
    LastWins,
}

/// Where something is legal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    /// Nowhere.
    Never,
    /// In the last segment.
    Last,
    /// In the last segment, and in any other whose successor goes on with the next position.
    IfNextContinues,
    /// Everywhere.
    Always,
}

/// What an unfinished end is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Residue {
    /// Damage.
    Damage,
    /// What a crash leaves and the system repairs.
    Crash,
    /// Nothing to repair.
    Legal,
}

/// Which snapshots explain a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Snapshots {
    /// None.
    None,
    /// Records in the log itself.
    Records,
    /// Files that end right before the hole does.
    Bridging,
    /// Files that cover the hole.
    Covering,
}

impl Rules {
    /// The invariants of a layout that is known, or of a described one before its description says otherwise.
    pub fn of(format: &Format) -> Self {
        match format {
            Format::Known(layout) => match layout.id {
                "etcd" => Self::etcd(),
                "zookeeper" => Self::zookeeper(),
                "clickhouse-keeper" => Self::keeper(),
                "postgresql" => Self::postgresql(),
                "raft-wal" => Self::raft_wal(),
                "rocksdb" => Self::rocksdb(),
                "prometheus" => Self::prometheus(),
                "nats-raft" => Self::nats(Positions::Dense),
                "nats-stream" => Self::nats(Positions::Rising),
                "kafka" => Self::kafka(),
                _ => Self::reference(),
            },
            Format::Declared(declaration) => {
                let is_named = declaration.name_for(crate::vocab::Lsn(0)).is_some();
                Self {
                    naming: if is_named {
                        Naming::First
                    } else {
                        Naming::Nothing
                    },
                    positions: match declaration.step {
                        Step::By(_) | Step::Bytes | Step::Count => Positions::Dense,
                        Step::Epoch => Positions::Epochs,
                        Step::Increasing => Positions::Rising,
                    },
                    rewrite: Rewrite::Never,
                    empty_last: if declaration.header.is_empty() {
                        Residue::Legal
                    } else {
                        Residue::Crash
                    },
                    ..Self::reference()
                }
            }
        }
    }

    /// As [`of`](Self::of), for a log of which the path tells the name.
    pub fn of_log(format: &Format, log: Option<&str>) -> Self {
        let rules = Self::of(format);
        if matches!(format, Format::Known(layout) if layout.id == "kafka")
            && log == Some(KAFKA_RAFT_LOG)
        {
            return Self {
                positions: Positions::Dense,
                snapshots: Snapshots::Covering,
                ..rules
            };
        }
        rules
    }

    fn reference() -> Self {
        Self {
            naming: Naming::First,
            positions: Positions::Dense,
            rewrite: Rewrite::Never,
            zero_tail: Where::Always,
            is_tail_cut: false,
            torn_tail: Where::Last,
            is_bad_record_torn: false,
            empty_last: Residue::Crash,
            torn_header: Residue::Crash,
            data_after_zeros: Residue::Crash,
            is_jump_misfiled: true,
            snapshots: Snapshots::None,
            origin: 1,
            is_sparse: false,
            empty_middle: Residue::Damage,
            is_wide: false,
            is_by_term: false,
            is_jump_legal: false,
            is_made_ahead: false,
        }
    }

    fn etcd() -> Self {
        Self {
            naming: Naming::FirstAsPlanned,
            rewrite: Rewrite::HigherTerm,
            is_tail_cut: true,
            // A last file without its first frames starts, and what it held is gone without a word.
            empty_last: Residue::Damage,
            data_after_zeros: Residue::Legal,
            is_jump_misfiled: false,
            snapshots: Snapshots::Records,
            ..Self::reference()
        }
    }

    fn zookeeper() -> Self {
        Self {
            positions: Positions::Epochs,
            torn_tail: Where::IfNextContinues,
            torn_header: Residue::Damage,
            data_after_zeros: Residue::Legal,
            is_jump_misfiled: false,
            snapshots: Snapshots::Bridging,
            ..Self::reference()
        }
    }

    fn keeper() -> Self {
        Self {
            rewrite: Rewrite::HigherTerm,
            // Space is reserved without growing the file, so a healthy one never ends in zero bytes.
            zero_tail: Where::Never,
            torn_tail: Where::IfNextContinues,
            is_bad_record_torn: true,
            empty_last: Residue::Legal,
            is_jump_misfiled: false,
            snapshots: Snapshots::Covering,
            ..Self::reference()
        }
    }

    fn postgresql() -> Self {
        Self {
            naming: Naming::Nothing,
            rewrite: Rewrite::HigherTerm,
            torn_header: Residue::Damage,
            empty_last: Residue::Damage,
            is_jump_misfiled: false,
            // Every log is recycled from its beginning on, so that is not worth a note.
            origin: u64::MAX,
            is_wide: true,
            is_by_term: true,
            is_made_ahead: true,
            ..Self::reference()
        }
    }

    fn raft_wal() -> Self {
        Self {
            rewrite: Rewrite::HigherTerm,
            torn_header: Residue::Damage,
            empty_last: Residue::Damage,
            is_jump_misfiled: false,
            // A truncation removes whole files and never uses their numbers again.
            is_sparse: true,
            ..Self::reference()
        }
    }

    fn rocksdb() -> Self {
        Self {
            naming: Naming::Nothing,
            torn_header: Residue::Legal,
            empty_last: Residue::Legal,
            empty_middle: Residue::Legal,
            is_jump_misfiled: false,
            // Tables and manifests take their numbers from the same counter.
            is_sparse: true,
            is_wide: true,
            // Writes without the log and tables taken in from outside take sequence numbers too.
            is_jump_legal: true,
            ..Self::reference()
        }
    }

    fn prometheus() -> Self {
        Self {
            naming: Naming::Nothing,
            positions: Positions::Nowhere,
            empty_last: Residue::Legal,
            // Every start begins a new segment, and one that was killed early leaves it empty.
            empty_middle: Residue::Legal,
            is_jump_misfiled: false,
            ..Self::reference()
        }
    }

    fn nats(positions: Positions) -> Self {
        Self {
            naming: Naming::Nothing,
            positions,
            zero_tail: Where::Never,
            empty_last: Residue::Legal,
            is_jump_misfiled: false,
            is_sparse: true,
            ..Self::reference()
        }
    }

    fn kafka() -> Self {
        Self {
            naming: Naming::Lowest,
            positions: Positions::Rising,
            empty_last: Residue::Legal,
            is_jump_misfiled: false,
            origin: 0,
            is_wide: true,
            ..Self::reference()
        }
    }
}
