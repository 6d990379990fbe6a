//! What follows from a problem, for whom, in one plain sentence: who will miss which positions.

use crate::vocab::{Lsn, LsnNotation, LsnRange};

use super::model::{Problem, ProblemKind, Segment, Severity};

/// The sentence for one problem.
pub(super) fn of(
    problem: &Problem,
    layout: &str,
    notation: LsnNotation,
    segments: &[Segment],
) -> String {
    let about = About {
        problem,
        layout,
        notation,
        segments,
    };
    match problem.kind {
        ProblemKind::Misfiled => about.misfiled(),
        ProblemKind::NameMismatch => about.name_mismatch(),
        ProblemKind::Jump | ProblemKind::Gap | ProblemKind::MissingRange | ProblemKind::MissingSegment => about.missing(),
        ProblemKind::Duplicate | ProblemKind::Backward => about.twice(),
        ProblemKind::Checksum | ProblemKind::CorruptRecord => about.wrong_record(),
        ProblemKind::ChainBreak => {
            format!("{} stops here with a checksum mismatch: a segment before this one is missing, foreign or changed.", about.reader())
        }
        ProblemKind::TornTail => about.torn_tail(),
        ProblemKind::TornMiddle => format!("What the segment held from {} on is lost, and what follows does not go on there.", about.from()),
        ProblemKind::EmptySegment => format!("Everything that the segment held is lost; its name promised {} and on.", about.from()),
        ProblemKind::EmptyLastSegment => about.empty_last(),
        ProblemKind::BadHeader => about.bad_header(),
        ProblemKind::MetadataConflict => {
            "The statements cannot both be true: a file was put here from elsewhere, or records that had been acknowledged are gone.".to_owned()
        }
        ProblemKind::PastNameEnd => format!("A reader that asks the names who has {} does not open this segment.", about.range()),
        ProblemKind::ZeroTail => about.zero_tail(),
    }
}

struct About<'a> {
    problem: &'a Problem,
    layout: &'a str,
    notation: LsnNotation,
    segments: &'a [Segment],
}

impl About<'_> {
    fn show(&self, lsn: Lsn) -> String {
        self.notation.show(lsn).to_string()
    }

    fn from(&self) -> String {
        self.problem
            .lsn
            .map_or("its beginning".to_owned(), |lsn| self.show(lsn))
    }

    fn range(&self) -> String {
        let Some(first) = self.problem.lsn else {
            return "its records".to_owned();
        };
        let last = self.problem.lsn_to.unwrap_or(first).max(first);
        self.notation.show_range(LsnRange { first, last })
    }

    fn file(&self) -> &str {
        self.segments
            .get(self.problem.segment)
            .map_or("the segment", |segment| segment.file.as_str())
    }

    /// The last position of the whole log.
    fn tip(&self) -> Option<Lsn> {
        self.segments
            .iter()
            .filter_map(|segment| segment.max_lsn)
            .max()
    }

    fn reader(&self) -> &'static str {
        match self.layout {
            "etcd" => "etcd",
            "zookeeper" => "ZooKeeper",
            "clickhouse-keeper" => "ClickHouse Keeper",
            "postgresql" => "PostgreSQL",
            "raft-wal" => "raft-wal",
            "rocksdb" => "RocksDB",
            "prometheus" => "Prometheus",
            "nats-raft" | "nats-stream" => "the NATS server",
            "kafka" => "the broker",
            "reference" => "recovery",
            _ => "a reader",
        }
    }

    fn misfiled(&self) -> String {
        let from = self.from();
        let place = match &self.problem.belongs_in {
            Some(file) => format!("they belong in {file}"),
            None => "they belong in a segment of their own".to_owned(),
        };
        let last = self.problem.lsn.zip(self.problem.expected);
        let below = match last {
            Some((lsn, _)) => format!(
                "A streamer that chooses segments by name finds nothing from {from} on once it has passed the records below {}",
                self.show(lsn)
            ),
            None => "A streamer that chooses segments by name finds none of them".to_owned(),
        };
        format!(
            "{below}: {} exist only in {}, and {place}.",
            self.range(),
            self.file()
        )
    }

    fn name_mismatch(&self) -> String {
        let (Some(first), Some(name)) = (self.problem.lsn, self.problem.expected) else {
            return String::new();
        };
        if first < name {
            let hidden = LsnRange {
                first,
                last: name.before(),
            };
            format!(
                "A reader that chooses by name does not open {} for {}, which it holds.",
                self.file(),
                self.notation.show_range(hidden)
            )
        } else {
            let absent = LsnRange {
                first: name,
                last: first.before(),
            };
            format!(
                "A reader that chooses by name opens {} for {} and does not find them.",
                self.file(),
                self.notation.show_range(absent)
            )
        }
    }

    fn missing(&self) -> String {
        match self.layout {
            "etcd" => "etcd refuses to start, or replays past the hole without a word if a later snapshot covers it; no member can be caught up through it from this log.".to_owned(),
            "zookeeper" => "ZooKeeper replays past the hole without a word, and this server's data differs from the others' from there on.".to_owned(),
            "clickhouse-keeper" if self.problem.kind == ProblemKind::Jump => {
                "ClickHouse Keeper does not notice at start; a replica that asks this one for these entries does not get them.".to_owned()
            }
            "clickhouse-keeper" => "ClickHouse Keeper refuses to start unless its snapshot reaches beyond the hole; with what was given nothing explains it.".to_owned(),
            "postgresql" => "PostgreSQL ends its recovery in front of the hole, and a standby below it cannot be caught up from this folder; the segment may still be in an archive.".to_owned(),
            "raft-wal" => "The log cannot be read past the hole: the store does not open, and no follower can be caught up through it from this one.".to_owned(),
            "rocksdb" => "RocksDB replays past the hole or stops there, as its recovery mode says. It leaves numbers out by itself only for writes made without the log and for tables taken in from outside.".to_owned(),
            "prometheus" => "Prometheus does not open a log whose segments are not in sequence; what the missing ones held is lost.".to_owned(),
            "nats-raft" => "The group's log cannot be read past the hole: the server takes what is left, resets it or catches up from another one.".to_owned(),
            _ => "A standby below the hole cannot be caught up from this log, and recovery ends or goes wrong there; with what was given nothing explains it.".to_owned(),
        }
    }

    fn twice(&self) -> String {
        let range = self.range();
        match self.layout {
            "etcd" => format!(
                "etcd accepts {range} a second time in silence and drops what it had read from there on."
            ),
            "zookeeper" => format!("ZooKeeper applies {range} a second time in silence."),
            _ => format!("Which of the two writings of {range} counts depends on the reader."),
        }
    }

    fn wrong_record(&self) -> String {
        let tip = self
            .tip()
            .max(self.problem.lsn_to)
            .filter(|&tip| Some(tip) > self.problem.lsn)
            .map(|tip| format!(", up to {}", self.show(tip)));
        let rest = tip.unwrap_or_default();
        let from = self.from();
        match self.layout {
            "etcd" => format!(
                "etcd does not start with this log: everything from {from} on{rest} is out of its reach."
            ),
            "zookeeper" => format!(
                "ZooKeeper stops reading here, with an error or in silence: {from} and what follows in this file are lost to it."
            ),
            "clickhouse-keeper" => format!(
                "ClickHouse Keeper ends this file before {from} and moves all later files away: everything from there on{rest} is lost to it."
            ),
            "postgresql" => format!(
                "PostgreSQL takes this for the end of its log: everything from {from} on{rest} is lost to it."
            ),
            "raft-wal" => format!(
                "The store does not open, or serves the entry without a word: nothing checks it in a segment that is sealed. From {from} on{rest} nothing is sure."
            ),
            "rocksdb" => format!(
                "RocksDB stops before {from} or passes over the rest of the block, as its recovery mode says; everything from there on{rest} is in doubt."
            ),
            "prometheus" => "Prometheus cuts this segment off here at its next start, and removes all newer segments.".to_owned(),
            "nats-raft" | "nats-stream" => format!(
                "The server ends this block before {from}: what follows in it{rest} is lost to it."
            ),
            "kafka" => format!(
                "The broker fails reads of this batch; recovery cuts the segment off before {from}, and what follows{rest} is lost to it."
            ),
            _ => format!(
                "Recovery ends before {from}: everything from there on{rest} is lost to it."
            ),
        }
    }

    fn torn_tail(&self) -> String {
        let end = self.problem.lsn.map_or("nothing".to_owned(), |lsn| {
            self.show(self.notation.end(lsn.before()))
        });
        if self.problem.severity == Severity::Damage {
            return format!("The log ends at {end}, and nothing repairs that.");
        }
        let deed = match self.layout {
            "etcd" => "etcd cuts the unfinished record off at its next start",
            "zookeeper" => "ZooKeeper ends this file before it and begins a new one",
            "clickhouse-keeper" => {
                "ClickHouse Keeper ends this file before it and begins a new one"
            }
            "postgresql" => "PostgreSQL writes over the unfinished record at its next start",
            "prometheus" => "Prometheus cuts the unfinished record off at its next start",
            "nats-raft" | "nats-stream" => {
                "The server cuts the unfinished record off at its next start"
            }
            "kafka" => "The broker cuts the unfinished batch off at its next start",
            _ => "The next recovery cuts the unfinished record off",
        };
        format!(
            "{deed}; the log ends at {end}. A record that was never whole was never acknowledged."
        )
    }

    fn empty_last(&self) -> String {
        match (self.layout, self.problem.severity) {
            ("etcd", _) => "etcd starts with it in silence, and every entry that was in the file is gone.".to_owned(),
            ("zookeeper", _) => "ZooKeeper before 3.9.3 does not start with it; later versions delete the file. Nothing was in it.".to_owned(),
            ("postgresql" | "raft-wal", _) => "The system makes its segments at their full size, so what was in this one is lost.".to_owned(),
            (_, Severity::CrashResidue) => "It was created and never written to; the next recovery replaces it.".to_owned(),
            (_, Severity::Damage) => "What the segment held is lost.".to_owned(),
        }
    }

    fn bad_header(&self) -> String {
        match self.layout {
            "zookeeper" => "ZooKeeper does not start with this file; what is in it counts as lost here.".to_owned(),
            _ => "A reader refuses the segment; what is in it counts as lost where it could not be read.".to_owned(),
        }
    }

    fn zero_tail(&self) -> String {
        let end = self.problem.lsn.map_or("nothing".to_owned(), |lsn| {
            self.show(self.notation.end(lsn.before()))
        });
        match self.problem.severity {
            Severity::CrashResidue => format!(
                "The zero bytes read as a record that is wrong; the server ends the file there and goes on, the log ends at {end}."
            ),
            Severity::Damage => format!(
                "The zero bytes read as a record that is wrong, and what follows does not go on behind {end}."
            ),
        }
    }
}
