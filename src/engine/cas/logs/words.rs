//! What a server writes about a note, in its own words.

use super::super::ledger::Why;
use super::super::names::{NONE, NodeId, Note, PartId, PartInfo, TableId, What};
use super::super::replica::{Entry, EntryKind};
use super::super::timing::Object;
use super::super::variant::Rule;
use super::super::world::World;
use super::{VERSIONS, host};
use crate::engine::sim::{Effect, splitmix64};

/// The pool that all servers share.
const POOL: &str = "36eafa28-9a1f-438c-bab8-7c4749dc9b34";

/// The disk that holds it.
const DISK: &str = "cas";

/// One record.
pub(super) struct Line {
    pub(super) level: &'static str,
    pub(super) logger: String,
    pub(super) message: String,
    /// The lines that follow it.
    pub(super) trace: &'static [&'static str],
}

/// A record of one line.
pub(super) fn plain(level: &'static str, logger: &str, message: String) -> Line {
    Line {
        level,
        logger: logger.to_owned(),
        message,
        trace: &[],
    }
}

/// The frames of a refusal, as far as they tell what was executed.
const FRAMES: [&str; 6] = [
    "0. DB::Exception::Exception(DB::Exception::MessageMasked&&, int, bool) @ 0x0000000013a9d3c4",
    "1. DB::DataPartsExchange::Fetcher::relinkPartToDisk(DB::DataPartsExchange::RelinkOffer const&) @ 0x000000001a0e6f10",
    "2. DB::DataPartsExchange::Fetcher::fetchSelectedPart(std::shared_ptr<DB::StorageInMemoryMetadata const> const&) @ 0x000000001a0dfc2c",
    "3. DB::StorageReplicatedMergeTree::fetchPart(String const&) @ 0x0000000019b4a7f0",
    "4. DB::StorageReplicatedMergeTree::executeFetch(DB::ReplicatedMergeTreeLogEntry&, bool) @ 0x0000000019b42d58",
    "5. DB::StorageReplicatedMergeTree::executeLogEntry(DB::ReplicatedMergeTreeLogEntry&) @ 0x0000000019b31a84",
];

/// The same when an attach is executed.
const RANGE_FRAMES: [&str; 5] = [
    FRAMES[0],
    FRAMES[1],
    FRAMES[2],
    "3. DB::StorageReplicatedMergeTree::executeReplaceRange(DB::ReplicatedMergeTreeLogEntry&) @ 0x0000000019b4f2cc",
    FRAMES[5],
];

/// Puts notes into words.
pub(super) struct Teller<'a> {
    pub(super) world: &'a World,
    pub(super) is_soak: bool,
}

impl Teller<'_> {
    fn uuid(table: TableId) -> String {
        let seed = u64::try_from(table).unwrap_or(0);
        let (a, b) = (
            splitmix64(seed ^ 0x7461_626c),
            splitmix64(seed ^ 0x7575_6964),
        );
        let hex = format!("{a:016x}{b:016x}");
        format!(
            "{}-{}-{}-{}-{}",
            &hex[..8],
            &hex[8..12],
            &hex[12..16],
            &hex[16..20],
            &hex[20..]
        )
    }

    fn table(&self, note: &Note) -> String {
        let table = if note.table == NONE { 0 } else { note.table };
        let name = if self.is_soak {
            "ca_soak.ca_stress".to_owned()
        } else {
            format!("default.destination_{table}")
        };
        format!("{name} ({})", Self::uuid(table))
    }

    fn namespace(node: NodeId, table: TableId) -> String {
        let uuid = Self::uuid(if table == NONE { 0 } else { table });
        format!("cas-{}/store/{}/{uuid}@cas@", host(node), &uuid[..3])
    }

    fn part(&self, part: PartId) -> String {
        self.world
            .parts
            .get(part)
            .map_or_else(String::new, PartInfo::name)
    }

    fn is_range(&self, note: &Note) -> bool {
        let queue = self.world.nodes.get(note.node).map(|it| &it.queue);
        let replaces = |entry: &Entry| {
            entry.kind == EntryKind::Replace
                && (entry.first..entry.first + entry.count).contains(&note.part)
        };
        queue.is_some_and(|it| it.values().any(replaces))
    }

    pub(super) fn lines(&self, note: &Note) -> Vec<Line> {
        let line = match note.what {
            What::Fetching
            | What::Relinking
            | What::ConfirmLost
            | What::Finished
            | What::FellBack
            | What::Downloading
            | What::Downloaded => self.receiver(note),
            // Whoever goes on with the bytes fails no entry: the next record says so.
            What::Refused if note.a == 1 => return Vec::new(),
            What::Refused
            | What::Unresolved
            | What::NotThere
            | What::Unreachable
            | What::NoReplica => self.exception(note),
            What::Postponed => self.postponed(note),
            What::Offered | What::Unknown | What::No => return self.source(note),
            What::Wedged
            | What::NeedsRecovery
            | What::RecoveryFailed
            | What::Fenced
            | What::Faulted => Self::ledger(note),
            What::TableNotMade => self.not_made(),
            What::LeaseLost | What::Remounted | What::FencedOut | What::Started => {
                Self::mount(note)
            }
            What::StoreError => self.store_error(note),
            What::GcRound => self.round(note),
            // The servers log nothing of these, or nothing that tells them apart.
            What::Written
            | What::Queued
            | What::Proven
            | What::PoolFull
            | What::Appended
            | What::AppendRefused
            | What::Unwedged
            | What::Recovered
            | What::Evicted
            | What::LeaseExpired
            | What::Stopped
            | What::ConnectionReset
            | What::Removed
            | What::SealRejected
            | What::StragglerAdopted
            | What::OutOfMemory
            | What::CatalogConflict
            | What::TableMade
            | What::Paused
            | What::Resumed => return Vec::new(),
        };
        vec![line]
    }

    fn source(&self, note: &Note) -> Vec<Line> {
        let service = format!("{} (Replicated PartsService)", self.table(note));
        let part = self.part(note.part);
        if note.what == What::Offered {
            let message = format!(
                "Sending part {part} by relink (content-addressed, shared pool {POOL}), manifest payload 982 bytes"
            );
            return vec![plain("Debug", &service, message)];
        }
        let answer = if note.what == What::No {
            "no"
        } else {
            "unknown"
        };
        let manifest = note
            .manifest
            .map_or_else(String::new, |it| format!("{}:{}:1", it.epoch, it.build));
        let namespace = Self::namespace(note.node, note.table);
        let mut lines = Vec::new();
        if self.world.setup.variant.rule == Rule::V2
            && note.what == What::Unknown
            && let Some(why) = reason(note.a)
        {
            let message = format!(
                "Relink confirm for ref '{part}' in namespace '{namespace}' is unknown: {why}"
            );
            lines.push(plain("Trace", "CasRefLedger", message));
        }
        let message = format!(
            "Relink confirm is unproven ({answer}) for ref '{part}' (part {part}, manifest {manifest}) in namespace '{namespace}'"
        );
        lines.push(plain("Debug", &service, message));
        lines
    }

    fn receiver(&self, note: &Note) -> Line {
        let table = self.table(note);
        let fetcher = format!("{table} (Fetcher)");
        let (part, source) = (self.part(note.part), host(note.peer));
        if note.what == What::Fetching {
            let text = format!("Fetching part {part} from /clickhouse/tables/t/replicas/{source}");
            plain("Debug", &table, text)
        } else if note.what == What::Relinking {
            let text = format!(
                "Relinking part {part} (staged as tmp-fetch_{part}) onto content-addressed disk {DISK} from a 982-byte transferred manifest."
            );
            plain("Debug", &fetcher, text)
        } else if note.what == What::ConfirmLost {
            let text = format!(
                "while confirming the relink offer for part {part} with {source}: Code: 210. DB::NetException: Connection refused ({source}:9009). (NETWORK_ERROR)"
            );
            plain("Information", &fetcher, text)
        } else if note.what == What::Finished {
            let text =
                format!("Relink of part {part} onto disk {DISK} finished (no bytes transferred).");
            plain("Debug", &fetcher, text)
        } else if note.what == What::FellBack && note.a == 1 {
            let text = format!(
                "Part {part} was offered by relink without a source token, so the offer cannot be confirmed (the sender predates the publish-then-confirm handshake); falling back to a byte fetch"
            );
            plain("Information", &fetcher, text)
        } else if note.what == What::FellBack {
            let text = format!(
                "Relink of part {part} is not possible on this pair; falling back to a byte fetch"
            );
            plain("Information", &fetcher, text)
        } else if note.what == What::Downloading {
            plain(
                "Debug",
                &fetcher,
                format!("Downloading part {part} onto disk {DISK}."),
            )
        } else {
            let text = format!("Download of part {part} onto disk {DISK} finished.");
            plain("Debug", &fetcher, text)
        }
    }

    fn postponed(&self, note: &Note) -> Line {
        let kind = if self.is_range(note) {
            EntryKind::Replace
        } else {
            EntryKind::Get
        };
        let text = format!(
            "Not executing log entry queue-{:010} of type {} because recently it has failed. According to exponential backoff policy, put aside this log entry for {} ms.",
            note.part,
            kind.word(),
            note.a
        );
        let logger = format!("{} (ReplicatedMergeTreeQueue)", self.table(note));
        plain("Debug", &logger, text)
    }

    /// What the queue's executor logs of an entry that failed.
    fn exception(&self, note: &Note) -> Line {
        let (part, source) = (self.part(note.part), host(note.peer));
        let is_new = self.world.setup.variant.rule == Rule::V2;
        let version = VERSIONS[usize::from(is_new)];
        let is_relink = matches!(note.what, What::Refused | What::Unresolved);
        let (code, name) = if is_relink && !is_new || note.what == What::Unreachable {
            (210, "NETWORK_ERROR")
        } else if is_relink || note.what == What::NoReplica {
            (234, "NO_REPLICA_HAS_PART")
        } else {
            (86, "RECEIVED_ERROR_FROM_REMOTE_IO_SERVER")
        };
        let text = if note.what == What::Refused {
            format!(
                "Source {source} did not prove it still holds the manifest it offered for part {part} by relink; the relink is abandoned and the fetch will be retried later."
            )
        } else if note.what == What::Unresolved {
            format!(
                "Relink of part {part} from {source} could not be resolved: the promotion may or may not have committed, so the bytes must NOT be fetched; the fetch will be retried later."
            )
        } else if note.what == What::NoReplica {
            format!("No active replica has part {part} or covering part.")
        } else if note.what == What::Unreachable {
            format!("Connection refused ({source}:9009).")
        } else {
            format!(
                "Received error from remote server http://{source}:9009/?endpoint=DataPartsExchange. HTTP status code: 500 'Internal Server Error', body: 'Code: 232. DB::Exception: No part {part} in table. (NO_SUCH_DATA_PART)'."
            )
        };
        let is_traced = is_relink && !is_new;
        let trace: &'static [&'static str] = match (is_traced, self.is_range(note)) {
            (true, true) => &RANGE_FRAMES,
            (true, false) => &FRAMES,
            (false, _) => &[],
        };
        let tail = if is_traced {
            ", Stack trace (when copying this message, always include the lines below):"
        } else {
            ""
        };
        Line {
            level: if code == 234 { "Information" } else { "Error" },
            logger: self.table(note),
            message: format!(
                "auto DB::StorageReplicatedMergeTree::processQueueEntry(ReplicatedMergeTreeQueue::SelectedEntryPtr)::(anonymous class)::operator()(DB::StorageReplicatedMergeTree::LogEntryPtr &) const: Code: {code}. DB::Exception: {text} ({name}) (version {version} (altinity build)){tail}"
            ),
            trace,
        }
    }

    fn ledger(note: &Note) -> Line {
        let namespace = Self::namespace(note.node, note.table);
        if note.what == What::Wedged {
            let text = format!(
                "CAS write could not be committed (CAS ref-log append for namespace '{namespace}' is UNCERTAIN \u{2014} the append lane is wedged until the SAME key resolves durable or a conclusive rejection is observed); retrying later"
            );
            plain("Warning", "CasWriteRetryLater", text)
        } else if note.what == What::Fenced {
            let text = format!(
                "CAS write could not be committed (CAS mount lost / lease expired \u{2014} refusing to append ref-log transactions for server_root 'cas-{}'); retrying later",
                host(note.node)
            );
            plain("Warning", "CasWriteRetryLater", text)
        } else if note.what == What::NeedsRecovery {
            let text = format!(
                "CAS ref table '{namespace}' NEEDS RECOVERY at 1-1: a transaction is known durable but could not be installed in this cached table. New writes, snapshots, and confirmations are fenced until recovery replays the durable log."
            );
            plain("Error", "CasPool", text)
        } else if note.what == What::Faulted {
            let text = format!(
                "Code: 246. DB::Exception: CAS ref-log append for namespace '{namespace}' txn 1-1: impossible foreign interference observed at the key. (CORRUPTED_DATA)"
            );
            plain("Error", "CasPool", text)
        } else {
            let text = format!(
                "CAS ref-table recovery for namespace '{namespace}' hit a transient object-store error (code 499: Timeout); retry #16 after 5000ms backoff (elapsed 90000ms / budget 90000ms)"
            );
            plain("Warning", "CasRefLedger", text)
        }
    }

    /// A `CREATE TABLE` whose change of the catalog was given up.
    fn not_made(&self) -> Line {
        let version = VERSIONS[usize::from(self.world.setup.variant.rule == Rule::V2)];
        let text = format!(
            "Code: 210. DB::Exception: CAS write could not be committed (CAS ref catalog 'cas/ref_catalog' update: gave up at the policy deadline after one or more attempts); retrying later. (NETWORK_ERROR) (version {version} (altinity build))"
        );
        plain("Error", "executeQuery", text)
    }

    fn mount(note: &Note) -> Line {
        let srid = format!("cas-{}", host(note.node));
        if note.what == What::LeaseLost {
            let text = format!(
                "CAS mount renewal '{srid}' fenced after 3 physical attempts in 21000 ms (classification=external_lease_deadline, confirmed_deadline_boot_ms=0)"
            );
            plain("Warning", "CasMountLeaseKeeper", text)
        } else if note.what == What::Remounted {
            let text = format!(
                "CAS self-remount '{srid}': recovered as writer_epoch {} (fresh incarnation; older builds fail closed)",
                note.a
            );
            plain("Information", "CasPool", text)
        } else if note.what == What::FencedOut {
            let text = format!(
                "CAS GC fenced out mount lease for content-addressed server root cas-{} at wall-clock ms 0: its write token held unchanged for >= 41500 ms on the GC leader's own monotonic clock (token-stability observation)",
                host(note.peer)
            );
            plain("Information", "CasHeartbeatFloor", text)
        } else {
            plain(
                "Information",
                "Application",
                "Ready for connections.".to_owned(),
            )
        }
    }

    fn round(&self, note: &Note) -> Line {
        let text = format!(
            "CA GC round {}: candidates={} deleted={} absent=0 replaced=0 spared=0 manifests_deleted=0",
            self.world.gc.round, note.a, note.b
        );
        plain("Debug", "ContentAddressedGC", text)
    }

    fn store_error(&self, note: &Note) -> Line {
        let namespace = Self::namespace(note.node, note.table);
        let object = [
            Object::Catalog,
            Object::Ckpt,
            Object::Log,
            Object::Link,
            Object::Mount,
        ]
        .into_iter()
        .find(|it| *it as u64 == note.a);
        let key = match object {
            Some(Object::Mount) => format!("cas/mounts/cas-{}", host(note.node)),
            Some(Object::Catalog) | None => "cas/ref_catalog".to_owned(),
            Some(it) => format!("{namespace}/{}", it.key()),
        };
        let text = if note.b == Effect::Timeout as u64 {
            "Poco::Exception. Code: 1000, e.code() = 0, Timeout"
        } else if note.b == Effect::Throttled as u64 {
            "SlowDown: please reduce your request rate"
        } else {
            "Poco::Exception. Code: 1000, e.code() = 111, Connection refused"
        };
        let version = VERSIONS[usize::from(self.world.setup.variant.rule == Rule::V2)];
        let message = format!(
            "S3Exception name , Message: {text} (version {version} (altinity build)), bucket test, key ca_soak/{key}, object size 2295"
        );
        plain("Error", "WriteBufferFromS3", message)
    }
}

/// How the server words why an answer is unknown; it has no line for a table that is not resident.
fn reason(why: u64) -> Option<&'static str> {
    let why = Why::ALL.into_iter().find(|it| *it as u64 == why)?;
    match why {
        Why::Unrecovered => {
            Some("the table is unrecovered, recovering, retired or superseded by a remount")
        }
        Why::LaneWedged => Some("the lane holds an unresolved append"),
        Why::LaneBroken => Some("the lane is neither Ready nor Writing"),
        Why::Queued => Some("a queued mutation names this ref"),
        Why::Carved => Some("a carved mutation names this ref"),
        Why::MountLost => Some("this mount no longer holds the namespace's write fence"),
        Why::TableBusy | Why::NotResident | Why::PartGone | Why::RowGone | Why::StateLocked => None,
    }
}
