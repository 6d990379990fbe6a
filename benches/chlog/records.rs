//! The records: errors with their stack traces, and 38 shapes of ordinary lines.

use super::text::Put;
use super::text::{Rng, World, hex, pad, put, readable, uuid_string};
use super::{SIGNALS, START, Truth, minute};

/// Twelve frames for each kind of error; the addresses differ.
#[rustfmt::skip]
const FRAMES_RELINK: [&str; 12] = [
    "DB::Exception::Exception(DB::Exception::MessageMasked&&, int, bool)",
    "DB::Exception::Exception(PreformattedMessage&&, int)",
    "DB::Exception::Exception<String const&, String const&>(int, FormatStringHelperImpl<std::type_identity<String const&>::type, std::type_identity<String const&>::type>, String const&, String const&)",
    "DB::DataPartsExchange::Fetcher::confirmRelinkWithSource(Poco::URI const&, String const&, DB::ConnectionTimeouts const&)",
    "DB::DataPartsExchange::Fetcher::relinkPartToDisk(std::shared_ptr<DB::StorageInMemoryMetadata const> const&, String const&, String const&, bool, std::shared_ptr<DB::IDisk>, DB::ReadWriteBufferFromHTTP&)",
    "DB::DataPartsExchange::Fetcher::fetchSelectedPart(std::shared_ptr<DB::StorageInMemoryMetadata const> const&, std::shared_ptr<DB::Context const>, String const&, String const&, String const&, String const&, int)",
    "DB::StorageReplicatedMergeTree::executeReplaceRange(DB::ReplicatedMergeTreeLogEntry&)",
    "DB::StorageReplicatedMergeTree::executeLogEntry(DB::ReplicatedMergeTreeLogEntry&)",
    "bool std::__function::__policy_invoker<bool (std::shared_ptr<DB::ReplicatedMergeTreeLogEntry>&)>::__call_impl[abi:ne190107]<std::__function::__default_alloc_func<DB::StorageReplicatedMergeTree::processQueueEntry(std::shared_ptr<DB::ReplicatedMergeTreeQueue::SelectedEntry>)::$_0, bool (std::shared_ptr<DB::ReplicatedMergeTreeLogEntry>&)>>(std::__function::__policy_storage const*, std::shared_ptr<DB::ReplicatedMergeTreeLogEntry>&)",
    "DB::ReplicatedMergeTreeQueue::processEntry(std::function<std::shared_ptr<zkutil::ZooKeeper> ()>, std::shared_ptr<DB::ReplicatedMergeTreeLogEntry>&, std::function<bool (std::shared_ptr<DB::ReplicatedMergeTreeLogEntry>&)>)",
    "DB::MergeTreeBackgroundExecutor<DB::RoundRobinRuntimeQueue>::routine(std::shared_ptr<DB::TaskRuntimeData>)",
    "DB::MergeTreeBackgroundExecutor<DB::RoundRobinRuntimeQueue>::threadFunction()",
];
#[rustfmt::skip]
const FRAMES_FETCH: [&str; 12] = [
    "Poco::Net::ConnectionResetException::ConnectionResetException(int)",
    "Poco::Net::SocketImpl::error(int, String const&)",
    "Poco::Net::SocketImpl::receiveBytes(void*, int, int)",
    "Poco::Net::HTTPSession::receive(char*, int)",
    "Poco::Net::HTTPHeaderStreamBuf::readFromDevice(char*, long)",
    "Poco::BasicBufferedStreamBuf<char, std::char_traits<char>, Poco::Net::HTTPBufferAllocator>::underflow()",
    "std::basic_streambuf<char, std::char_traits<char>>::uflow()",
    "Poco::Net::HTTPClientSession::receiveResponse(Poco::Net::HTTPResponse&)",
    "DB::ReadWriteBufferFromHTTP::callImpl(Poco::Net::HTTPResponse&, String const&, std::optional<DB::HTTPRange> const&, bool)",
    "DB::DataPartsExchange::Fetcher::fetchSelectedPart(std::shared_ptr<DB::StorageInMemoryMetadata const> const&, std::shared_ptr<DB::Context const>, String const&, String const&, String const&, String const&, int)",
    "DB::StorageReplicatedMergeTree::fetchPart(String const&, std::shared_ptr<DB::StorageInMemoryMetadata const> const&, String const&, String const&, bool, unsigned long)",
    "DB::StorageReplicatedMergeTree::executeFetch(DB::ReplicatedMergeTreeLogEntry&, bool)",
];
#[rustfmt::skip]
const FRAMES_S3: [&str; 12] = [
    "DB::Exception::Exception(DB::Exception::MessageMasked&&, int, bool)",
    "DB::S3Exception::S3Exception(String const&, Aws::S3::S3Errors)",
    "DB::ReadBufferFromS3::sendRequest(unsigned long, unsigned long, std::optional<unsigned long>) const",
    "DB::ReadBufferFromS3::initialize(unsigned long)",
    "DB::ReadBufferFromS3::nextImpl()",
    "DB::CAS::RefCatalogReader::load(DB::IObjectStorage&, String const&, DB::ReadSettings const&)",
    "DB::CAS::CasRefLedger::recover(DB::CAS::RefTable&, std::unique_lock<std::mutex>&)",
    "DB::ContentAddressedMetadataStorage::openNamespace(String const&, bool)",
    "DB::DiskObjectStorage::createTransaction()",
    "DB::MergeTreeData::initializeDirectoriesAndFormatVersion(String const&, bool, String const&, bool)",
    "DB::StorageReplicatedMergeTree::StorageReplicatedMergeTree(DB::TableZnodeInfo const&, DB::LoadingStrictnessLevel, DB::StorageID const&, String const&)",
    "DB::InterpreterCreateQuery::doCreateTable(DB::ASTCreateQuery&, DB::InterpreterCreateQuery::TableProperties const&, DB::DDLGuardPtr&, DB::LoadingStrictnessLevel)",
];
#[rustfmt::skip]
const FRAMES_QUERY: [&str; 12] = [
    "DB::Exception::Exception(DB::Exception::MessageMasked&&, int, bool)",
    "DB::Exception::Exception<String>(int, FormatStringHelperImpl<std::type_identity<String>::type>, String&&)",
    "DB::DatabaseCatalog::getTableImpl(DB::StorageID const&, std::shared_ptr<DB::Context const>, std::optional<DB::Exception>*) const",
    "DB::DatabaseCatalog::getTable(DB::StorageID const&, std::shared_ptr<DB::Context const>) const",
    "DB::InterpreterAlterQuery::executeToTable(DB::ASTAlterQuery const&)",
    "DB::InterpreterAlterQuery::execute()",
    "DB::executeQueryImpl(char const*, char const*, std::shared_ptr<DB::Context>, DB::QueryFlags, DB::QueryProcessingStage::Enum, std::unique_ptr<DB::ReadBuffer>&)",
    "DB::executeQuery(String const&, std::shared_ptr<DB::Context>, DB::QueryFlags, DB::QueryProcessingStage::Enum)",
    "DB::TCPHandler::runImpl()",
    "DB::TCPHandler::run()",
    "Poco::Net::TCPServerConnection::start()",
    "Poco::Net::TCPServerDispatcher::run()",
];

/// A node that writes its log.
pub(super) struct Node<'a> {
    pub(super) id: usize,
    pub(super) nodes: usize,
    pub(super) w: &'a World,
    pub(super) r: Rng,
    /// Microseconds since the start.
    pub(super) us: u64,
    /// What the main log is still to get.
    pub(super) out: Vec<u8>,
    /// What the err.log is still to get.
    pub(super) err: Vec<u8>,
    pub(super) msg: Vec<u8>,
    pub(super) records: u64,
    pub(super) lines: u64,
}

/// Writes a stamp: `us` microseconds after the start.
fn stamp(b: &mut Vec<u8>, us: u64) {
    let s = START + us / 1_000_000;
    b.extend_from_slice(b"2026.09.");
    pad(b, 1 + s / 86400, 2);
    b.push(b' ');
    pad(b, s / 3600 % 24, 2);
    b.push(b':');
    pad(b, s / 60 % 60, 2);
    b.push(b':');
    pad(b, s % 60, 2);
    b.push(b'.');
    pad(b, us % 1_000_000, 6);
}

impl<'a> Node<'a> {
    pub(super) fn new(id: usize, nodes: usize, w: &'a World, seed: u64) -> Node<'a> {
        Node {
            id,
            nodes,
            w,
            r: Rng::new(seed),
            us: 0,
            out: Vec::with_capacity(1 << 21),
            msg: Vec::new(),
            err: Vec::new(),
            records: 0,
            lines: 0,
        }
    }

    /// the number of another node
    fn peer(&mut self) -> u64 {
        let n = 1 + self.r.below(self.nodes as u64 - 1);
        n + (n >= self.id as u64) as u64
    }

    /// writes one record: level, logger, and self.msg (which may hold newlines)
    fn emit(&mut self, level: &str, logger: &str, query_id: &str) {
        let tid = 600 + self.r.skew(900);
        self.records += 1;
        let from = self.out.len();
        let b = &mut self.out;
        stamp(b, self.us);
        put!(
            b, " [ ", tid, " ] {", query_id, "} <", level, "> ", logger, ": "
        );
        b.extend_from_slice(&self.msg);
        b.push(b'\n');
        if matches!(level, "Fatal" | "Error" | "Warning") {
            self.err.extend_from_slice(&self.out[from..]);
        }
        self.lines += 1 + self.msg.iter().filter(|&&c| c == b'\n').count() as u64;
    }

    fn count(&mut self, t: &mut Truth, signal: usize, record: bool) {
        let count = t
            .counts
            .entry((minute(self.us), self.id, SIGNALS[signal]))
            .or_default();
        count.lines += 1;
        count.records += u64::from(record);
    }

    fn stack(&mut self, frames: &[&str; 12]) {
        let base = 0x0000_0000_0b00_0000u64 + self.r.below(0x0300_0000);
        put!(
            &mut self.msg,
            ", Stack trace (when copying this message, always include the lines below):\n\n"
        );
        for (i, f) in frames.iter().enumerate() {
            put!(&mut self.msg, i as u64, ". ", *f, " @ 0x");
            hex(&mut self.msg, base + i as u64 * 0x0012_3457, 16);
            self.msg.push(b'\n');
        }
        put!(
            &mut self.msg,
            " (version 26.6.2.20001.altinityantalya (altinity build))"
        );
    }

    fn qid(&mut self) -> String {
        uuid_string(&mut self.r)
    }

    /// the key of a blob, below the prefix of the pool
    fn blob(&mut self) {
        let (hi, lo) = (self.r.next(), self.r.next());
        put!(&mut self.msg, "blobs/ch128/");
        hex(&mut self.msg, hi >> 56, 2);
        self.msg.push(b'/');
        hex(&mut self.msg, hi, 16);
        hex(&mut self.msg, lo, 16);
    }

    #[rustfmt::skip]
    pub(super) fn error(&mut self, t: &mut Truth) {
        let ti = self.r.skew(self.w.tables.len() as u64) as usize;
        let table = &self.w.tables[ti];
        let pi = self.r.skew(table.parts.len() as u64) as usize;
        let part = &table.parts[pi];
        let logger = format!("{} ({})", table.name, table.uuid);
        let pq = "auto DB::StorageReplicatedMergeTree::processQueueEntry(ReplicatedMergeTreeQueue::SelectedEntryPtr)::(anonymous class)::operator()(DB::StorageReplicatedMergeTree *) const: ";
        self.msg.clear();
        let k = self.r.below(1000);
        match k {
            0..=799 => {
                put!(&mut self.msg, pq, "Code: 210. DB::Exception: Source clickhouse", self.peer(),
                    " did not prove it still holds the manifest it offered for part ", part,
                    " by relink; the relink is abandoned and the fetch will be retried later. (NETWORK_ERROR)");
                self.count(t, 0, true);
                *t.tables.entry(table.name.clone()).or_default() += 1;
                *t.parts.entry(part.clone()).or_default() += 1;
                self.stack(&FRAMES_RELINK);
                self.emit("Error", &logger, "");
            }
            800..=829 => {
                put!(&mut self.msg, "Code: 499. DB::Exception: Message: Poco::Exception. Code: 1000, e.code() = 0, Timeout, bucket root, key data/cas/ref_catalog, object size ", self.r.below(90000), ": while reading key: data/cas/ref_catalog, from bucket: root. (S3_ERROR)");
                self.count(t, 3, true);
                self.count(t, 4, true);
                self.stack(&FRAMES_S3);
                let q = self.qid();
                self.emit("Error", "ReadBufferFromS3", &q);
            }
            830..=849 => {
                put!(&mut self.msg, "Code: 499. DB::Exception: The specified key does not exist. This error happened for S3 disk: while reading key: data/");
                self.blob();
                put!(&mut self.msg, ", from bucket: root. (S3_ERROR)");
                self.count(t, 4, true);
                self.stack(&FRAMES_S3);
                self.emit("Error", "DiskObjectStorage(cas)", "");
            }
            850..=859 => {
                // a timed-out write of the ref_catalog: no S3_ERROR, no stack
                put!(&mut self.msg, "S3Exception name RequestTimeout, Message: Poco::Exception. Code: 1000, e.code() = 0, Timeout (version 26.6.2.20001.altinityantalya (altinity build)), bucket root, key data/cas/ref_catalog, object size ", self.r.below(90000));
                self.count(t, 3, true);
                self.emit("Error", "WriteBufferFromS3", "");
            }
            860..=909 => {
                put!(&mut self.msg, pq, "Poco::Exception. Code: 1000, e.code() = 104, Connection reset by peer");
                self.stack(&FRAMES_FETCH);
                self.emit("Error", &logger, "");
            }
            910..=939 => {
                put!(&mut self.msg, "Code: 999. Coordination::Exception: Coordination error: Operation timeout, path /clickhouse/tables/", table.uuid, "/replicas/clickhouse", self.id as u64, "/queue. (KEEPER_EXCEPTION)");
                self.stack(&FRAMES_FETCH);
                self.emit("Error", "ZooKeeperClient", "");
            }
            940..=969 => {
                put!(&mut self.msg, "Code: 60. DB::Exception: Table ", table.name, " does not exist. (UNKNOWN_TABLE) (version 26.6.2.20001.altinityantalya (altinity build)) (from 172.18.0.", 2 + self.r.below(9), ":", 32768 + self.r.below(28000), ") (in query: ALTER TABLE ", table.name, " ATTACH PARTITION (", self.r.below(12), ", ", self.r.below(12), ") FROM source_", self.r.below(99999), ")");
                self.stack(&FRAMES_QUERY);
                let q = self.qid();
                self.emit("Error", "executeQuery", &q);
            }
            970..=984 => {
                put!(&mut self.msg, "Code: 286. DB::Exception: Quorum for previous write has not been satisfied yet. Status: version: 1, part_name: ", part, ". (UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE)");
                self.stack(&FRAMES_QUERY);
                let q = self.qid();
                self.emit("Error", "TCPHandler", &q);
            }
            _ => {
                put!(&mut self.msg, "Code: 241. DB::Exception: (total) memory limit exceeded: would use 27.", self.r.below(99), " GiB (attempt to allocate chunk of ", self.r.below(9_000_000), " bytes), maximum: 27.00 GiB. (MEMORY_LIMIT_EXCEEDED)");
                self.stack(&FRAMES_QUERY);
                let q = self.qid();
                self.emit("Error", "DynamicQueryHandler", &q);
            }
        }
    }

    #[rustfmt::skip]
    pub(super) fn decoy(&mut self, t: &mut Truth) {
        self.msg.clear();
        put!(&mut self.msg, "(from 172.18.0.9:51012, user: default) (comment: monitor) SELECT count() FROM system.text_log WHERE message LIKE '%did not prove it still holds the manifest it offered for part%' AND event_time > now() - 60 (stage: Complete)");
        self.count(t, 0, false);
        let q = self.qid();
        self.emit("Debug", "executeQuery", &q);
    }

    pub(super) fn fatal(&mut self, t: &mut Truth) {
        self.msg.clear();
        put!(&mut self.msg, "########## Short fault info ############");
        self.count(t, 5, true);
        self.emit("Fatal", "BaseDaemon", "");
    }

    #[rustfmt::skip]
    pub(super) fn ordinary(&mut self, t: &mut Truth) {
        let ti = self.r.skew(self.w.tables.len() as u64) as usize;
        let tb = &self.w.tables[ti];
        let pi = self.r.skew(tb.parts.len() as u64) as usize;
        let part = &tb.parts[pi];
        let q = match self.r.below(3) {
            0 => String::new(),
            1 => self.qid(),
            _ => format!("{}::{}", tb.uuid, part),
        };
        let tl = || format!("{} ({})", tb.name, tb.uuid);
        self.msg.clear();
        let id = self.id as u64;
        let k = self.r.below(1000);
        macro_rules! m { ($($x:expr),* $(,)?) => { put!(&mut self.msg, $($x),*) } }
        match k {
            0..=39 => {
                m!("Relink confirm is unproven (unknown) for ref '", part, "' (part ", part, ", manifest 1:", 330000 + self.r.below(9000), ":", 1 + self.r.below(3), ") in namespace 'alter-cas-clickhouse", id, "/store/", &tb.uuid[..3], "/", tb.uuid, "@cas@'");
                self.count(t, 1, true);
                let l = format!("{} (Replicated PartsService)", tl());
                self.emit("Debug", &l, &q)
            }
            40..=59 => {
                m!("Relink of part ", part, " onto disk cas finished (no bytes transferred).");
                self.count(t, 2, true);
                let l = format!("{} (Fetcher)", tl());
                self.emit("Debug", &l, &q)
            }
            60..=109 => {
                m!("Fetching part ", part, " from default:/clickhouse/tables/", tb.uuid, "/replicas/clickhouse", self.peer());
                self.emit("Debug", &tl(), &q)
            }
            110..=149 => {
                m!("Request URI: /?endpoint=DataPartsExchange%3A%2Fclickhouse%2Ftables%2F", tb.uuid, "%2Freplicas%2Fclickhouse", id, "&part=", part, "&client_protocol_version=11&compress=false&cas_pool_uuid=", self.w.pool);
                self.emit("Trace", "InterserverIOHTTPHandler", &q)
            }
            150..=179 => {
                m!("Done processing query");
                self.emit("Debug", "InterserverIOHTTPHandler", &q)
            }
            180..=219 => {
                m!("Sending part ", part);
                let l = format!("{} (Replicated PartsService)", tl());
                self.emit("Trace", &l, &q)
            }
            220..=269 => {
                m!("(from 172.18.0.", 2 + self.r.below(8), ":", 32768 + self.r.below(28000), ", user: default) ALTER TABLE ", tb.name, " ATTACH PARTITION (", self.r.below(13), ", ", self.r.below(13), ") FROM ", tb.name, " SETTINGS alter_sync = 2, mutations_sync = 2 (stage: Complete)");
                self.emit("Debug", "executeQuery", &q)
            }
            270..=329 => {
                m!("(from 172.18.0.", 2 + self.r.below(8), ":", 32768 + self.r.below(28000), ", user: default) (comment: /alter/attach partition/part 1/scenario ", self.r.below(90), ") INSERT INTO ", tb.name, " (a, b, c, extra, p, i) FORMAT Values (stage: Complete)");
                self.emit("Debug", "executeQuery", &q)
            }
            330..=349 => {
                m!("(from 172.18.0.", 2 + self.r.below(8), ":", 32768 + self.r.below(28000), ", user: default) SELECT a, b, c, d, p, i, extra FROM ", tb.name, " ORDER BY a, b, c, extra FORMAT TabSeparated (stage: Complete)");
                self.emit("Debug", "executeQuery", &q)
            }
            350..=379 => {
                m!("Access granted: INSERT(a, b, c, extra, p, i) ON ", tb.name);
                self.emit("Trace", "ContextAccess (default)", &q)
            }
            380..=399 => {
                m!("List of all grants: GRANT SHOW, SELECT, INSERT, ALTER, CREATE, DROP, UNDROP TABLE, TRUNCATE, OPTIMIZE, BACKUP, KILL QUERY, KILL TRANSACTION, MOVE PARTITION BETWEEN SHARDS, ACCESS MANAGEMENT, SYSTEM, dictGet, displaySecretsInShowAndSelect, INTROSPECTION, SOURCES, CLUSTER ON *.* WITH GRANT OPTION");
                self.emit("Trace", "ContextAccess (default)", &q)
            }
            400..=429 => {
                m!("Read ", self.r.below(100000), " rows, ");
                readable(&mut self.msg, &mut self.r);
                m!(" in 0.", 1000 + self.r.below(900000), " sec., ", self.r.below(9_000_000), ".", self.r.below(99999), " rows/sec., ");
                readable(&mut self.msg, &mut self.r);
                m!("/sec.");
                self.emit("Debug", "executeQuery", &q)
            }
            430..=459 => {
                m!("Query peak memory usage: ");
                readable(&mut self.msg, &mut self.r);
                m!(".");
                self.emit("Debug", "MemoryTracker", &q)
            }
            460..=479 => {
                m!("Processed in 0.", 1000 + self.r.below(900000), " sec.");
                self.emit("Debug", "TCPHandler", &q)
            }
            480..=519 => {
                m!("Trying to reserve 1.00 MiB using storage policy from min volume index 0");
                self.emit("Trace", &tl(), &q)
            }
            520..=539 => {
                m!("Reserved 1.00 MiB on disk `cas`, unreserved space: 18446744073709551615.");
                self.emit("Trace", "DiskObjectStorage(cas)", &q)
            }
            540..=579 => {
                m!("Renaming temporary part tmp_insert_", part, " to ", part, " with tid (1, 1, 00000000-0000-0000-0000-000000000000).");
                self.emit("Trace", &tl(), &q)
            }
            580..=609 => {
                m!("Wrote block with ID '", &tb.uuid[..8]);
                m!("_", self.r.next(), "_", self.r.next(), "', ", self.r.below(40), " rows");
                let l = format!("{} (Replicated OutputStream)", tl());
                self.emit("Debug", &l, &q)
            }
            610..=639 => {
                m!("filled checksums ", part, " (state Temporary)");
                self.emit("Trace", "MergedBlockOutputStream", &q)
            }
            640..=669 => {
                m!("Merging ", 2 + self.r.below(9), " parts: from ", part, " to ", part, " into Compact with storage Full");
                self.emit("Debug", "MergeTask::PrepareStage", &q)
            }
            670..=689 => {
                m!("Merge sorted ", self.r.below(100), " rows, containing 7 columns (7 merged, 0 gathered) in 0.", self.r.below(999999), " sec., ", self.r.below(9999), ".", self.r.below(9999), " rows/sec., ");
                readable(&mut self.msg, &mut self.r);
                m!("/sec.");
                self.emit("Debug", "MergeTask::MergeProjectionsStage", &q)
            }
            690..=719 => {
                m!("Pulling ", self.r.below(20), " entries to queue: log-", 10_000_000_000 + self.r.below(99999), " - log-", 10_000_000_000 + self.r.below(99999));
                let l = format!("{} (ReplicatedMergeTreeQueue)", tl());
                self.emit("Debug", &l, &q)
            }
            720..=749 => {
                m!("Not executing log entry queue-", 1_000_000_000 + self.r.below(9999999), " of type REPLACE_RANGE for part ", part, " because another log entry of type GET_PART for the same part (", part, ") is being processed. This shouldn't happen often.");
                let l = format!("{} (ReplicatedMergeTreeQueue)", tl());
                self.emit("Debug", &l, &q)
            }
            750..=769 => {
                m!("Will execute REPLACE_RANGE queue-", 1_000_000_000 + self.r.below(9999999), ": executing ", self.r.below(300), " clone descriptions, fetch from clickhouse", self.peer());
                self.emit("Trace", &tl(), &q)
            }
            770..=789 => {
                m!("Key condition: unknown");
                let l = format!("{} (SelectExecutor)", tl());
                self.emit("Debug", &l, &q)
            }
            790..=809 => {
                m!("Selected ", 1 + self.r.below(9), "/", 9 + self.r.below(30), " parts by partition key, ", 1 + self.r.below(9), " parts by primary key, ", 1 + self.r.below(9), "/", 9 + self.r.below(99), " marks by primary key, ", 1 + self.r.below(9), " marks to read from ", 1 + self.r.below(9), " ranges");
                let l = format!("{} (SelectExecutor)", tl());
                self.emit("Debug", &l, &q)
            }
            810..=829 => {
                m!("Spreading mark ranges among streams (default reading)");
                let l = format!("{} (SelectExecutor)", tl());
                self.emit("Trace", &l, &q)
            }
            830..=849 => {
                m!("MemoryTracking: was ");
                readable(&mut self.msg, &mut self.r);
                m!(", peak ");
                readable(&mut self.msg, &mut self.r);
                m!(", free memory in arenas ");
                readable(&mut self.msg, &mut self.r);
                m!(", will set to ");
                readable(&mut self.msg, &mut self.r);
                m!(" (RSS), difference: -");
                readable(&mut self.msg, &mut self.r);
                self.emit("Trace", "AsynchronousMetrics", "")
            }
            850..=859 => {
                m!("Flushing system log, ", self.r.below(99999), " entries to flush up to offset ", self.r.below(99_999_999));
                self.emit("Trace", "SystemLog (system.text_log)", "")
            }
            860..=889 => {
                m!("PutObject succeeded for key data/");
                self.blob();
                m!(", size ", self.r.below(99999), ", attempt 1, ", self.r.below(900), " ms");
                self.emit("Trace", "WriteBufferFromS3", &q)
            }
            890..=909 => {
                // only states that a lane leaves again without a remount: not Closed, not Faulted
                let (lane, pending, leader) = match self.r.below(100) {
                    0..=69 => ("Writing", self.r.below(40), 1),
                    70..=95 => ("Ready", 0, 0),
                    96..=98 => ("Wedged", 1 + self.r.below(40), 1),
                    _ => ("NeedsRecovery", 1 + self.r.below(40), 1),
                };
                m!("appendRefOps: lane ", lane, ", pending ", pending, ", leader_active ", leader, ", committed rows ", self.r.below(99999), ", namespace 'alter-cas-clickhouse", id, "/store/", &tb.uuid[..3], "/", tb.uuid, "@cas@'");
                self.emit("Trace", "CasRefLedger", &q)
            }
            910..=929 => {
                m!("CA GC round ", self.r.below(9999), ": candidates=", self.r.below(9999), " deleted=", self.r.below(900), " absent=0 replaced=0 spared=", self.r.below(99), " manifests_deleted=", self.r.below(900));
                self.emit("Debug", "ContentAddressedGC", "")
            }
            930..=949 => {
                m!("Removed ", 1 + self.r.below(20), " old parts from memory: ", part, ", ", part, ", ", part);
                self.emit("Debug", &tl(), &q)
            }
            950..=964 => {
                m!("Connected ClickHouse client version 26.6.0, revision: 54479, user: default.");
                self.emit("Debug", "TCPHandler", "")
            }
            965..=974 => {
                m!("Authenticated with global context as user 94309d50-4f52-5250-31bd-74fecac179db");
                self.emit("Debug", "TCP-Session-default", "")
            }
            975..=984 => {
                m!("Updating DNS cache");
                self.emit("Debug", "DNSCacheUpdater", "")
            }
            985..=994 => {
                m!("Part ", part, " is covered by ", part, ", will be removed; replica clickhouse", id, " has ", self.r.below(900), " queue entries, absolute delay ", self.r.below(300), " s");
                self.emit("Information", &tl(), &q)
            }
            _ => {
                m!("The client is idle for ", self.r.below(9999), " s; table ", tb.name, " has too many queue entries (", self.r.below(9999), "), inserts will be delayed");
                self.emit("Warning", &tl(), &q)
            }
        }
    }
}
