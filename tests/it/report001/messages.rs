//! The text of every kind of record, in the words of the servers of both eras.

use std::fmt::Write as _;

use super::draft::{Draft, Kind};
use super::frames::{QUERY_FRAMES, QUEUE_FRAMES, QUEUE_LAMBDA, SERVER_FRAMES};
use super::node::Node;
use super::{NEEDLE, NODES, PARTS, STACK, TABLES};

impl Node {
    pub(super) fn draft(&mut self, kind: Kind) -> Draft {
        match kind {
            Kind::Refusal | Kind::RefusalTwice => self.refusal(),
            Kind::Unproven | Kind::UnprovenTwice => self.unproven(),
            Kind::Finished => {
                let (logger, part) = (self.logger(" (Fetcher)"), self.rng.pick(&PARTS));
                let message =
                    format!("Relink of part {part} onto disk cas finished (no bytes transferred).");
                let mut draft = Draft::new(self.worker(), "Debug", logger, message);
                draft.finished = Some(part);
                draft
            }
            Kind::CatalogAttempt => self.catalog_attempt(),
            Kind::CatalogException => self.s3_error("data/cas/ref_catalog"),
            Kind::OtherS3 => {
                let key = self.rng.pick(&[
                    "data/cas/gc/state",
                    "data/cas/ns/state/00000000000004d1/_ckpt",
                    "data/blobs/3f/3fa1c09b77d2",
                ]);
                self.s3_error(key)
            }
            Kind::EmptyMultipart => self.empty_multipart(),
            Kind::WriteNotCommitted => self.write_not_committed(),
            Kind::Transient => self.transient(),
            Kind::Network => self.network(),
            Kind::NoActiveReplica => self.no_active_replica(),
            Kind::HttpReset => self.http_reset(),
            Kind::Echo => self.echo(),
            Kind::MonitoringQuery => self.monitoring_query(),
            Kind::QuotingError => self.quoting_error(),
            Kind::RetryWarning => {
                let why = "CAS mount lost / lease expired — refusing to append ref-log transactions for server_root 'alter-cas'";
                let message = format!("CAS write could not be committed ({why}); retrying later");
                Draft::new(self.worker(), "Warning", "CasWriteRetryLater", message)
            }
            Kind::LedgerWarning => {
                let (namespace, retry) = (self.namespace(), 1 + self.rng.below(6));
                let message = format!(
                    "CAS ref-table recovery for namespace '{namespace}' hit a transient object-store error (code 499: Timeout); \
                     retry #{retry} after {}ms backoff (elapsed {}ms / budget 90000ms)",
                    200 << retry,
                    500 * retry,
                );
                Draft::new(self.worker(), "Warning", "CasRefLedger", message)
            }
            Kind::Notice => {
                let message = format!(
                    "Thread pool queue is {} tasks deep, new fetches wait",
                    8 + self.rng.below(60)
                );
                Draft::new(self.worker(), "Notice", "BackgroundExecutor", message)
            }
            Kind::Filler => self.filler(),
        }
    }

    pub(super) fn worker(&mut self) -> u64 {
        640 + self.rng.below(96)
    }

    pub(super) fn peer(&mut self) -> &'static str {
        NODES[(self.index + 1 + usize::from(self.rng.below(3) == 0)) % NODES.len()]
    }

    pub(super) fn table(&mut self) -> (&'static str, &'static str) {
        self.rng.pick(&TABLES)
    }

    pub(super) fn logger(&mut self, component: &str) -> String {
        let (suffix, uuid) = self.table();
        format!("default.destination_{suffix} ({uuid}){component}")
    }

    pub(super) fn namespace(&mut self) -> String {
        let (_, uuid) = self.table();
        format!(
            "alter-cas-{}/store/{}/{uuid}@cas@",
            NODES[self.index],
            &uuid[..3]
        )
    }

    pub(super) fn queue_entry(&mut self) -> String {
        self.queue += self.rng.below(3);
        format!("queue-{:010}", self.queue)
    }

    /// An exception of the replication queue: `text` ends with the error's name in brackets.
    pub(super) fn queue_exception(&mut self, level: &'static str, code: u32, text: &str) -> Draft {
        let logger = self.logger("");
        let mut message = format!("{QUEUE_LAMBDA}: Code: {code}. DB::{text}");
        self.close(
            &mut message,
            if level == "Error" { QUEUE_FRAMES } else { &[] },
        );
        Draft::new(self.worker(), level, logger, message).code(code)
    }

    pub(super) fn close(&self, message: &mut String, frames: &[&str]) {
        if !frames.is_empty() {
            write!(message, ", {STACK}\n\n{}\n", frames.join("\n")).expect("a string takes all");
        }
        write!(message, " (version {} (altinity build))", self.version)
            .expect("a string takes all");
    }

    pub(super) fn refusal_text(&mut self) -> (String, &'static str, &'static str) {
        let (source, part) = (self.peer(), self.rng.pick(&PARTS));
        let text = format!(
            "Source {source} {NEEDLE} it offered for part {part} by relink; the relink is abandoned and the fetch will be retried later"
        );
        (text, source, part)
    }

    pub(super) fn refusal(&mut self) -> Draft {
        let (text, source, part) = self.refusal_text();
        let (level, code, name) = if self.new_era {
            ("Information", 234, "NO_REPLICA_HAS_PART")
        } else {
            ("Error", 210, "NETWORK_ERROR")
        };
        let mut draft = self
            .queue_exception(level, code, &format!("Exception: {text}. ({name})"))
            .grep_lines(1);
        draft.refusal = Some((source, part));
        draft
    }

    pub(super) fn unproven(&mut self) -> Draft {
        self.build += 1 + self.rng.below(13);
        let (suffix, uuid) = self.table();
        let logger = format!("default.destination_{suffix} ({uuid}) (Replicated PartsService)");
        let part = self.rng.pick(&PARTS);
        let message = format!(
            "Relink confirm is unproven (unknown) for ref '{part}' (part {part}, manifest 1:{}:1) in namespace \
             'alter-cas-{}/store/{}/{uuid}@cas@'",
            self.build,
            NODES[self.index],
            &uuid[..3],
        );
        Draft::new(300 + self.rng.below(40), "Debug", logger, message)
    }

    pub(super) fn catalog_attempt(&mut self) -> Draft {
        let message = format!(
            "S3Exception name , Message: Poco::Exception. Code: 1000, e.code() = 0, Timeout (version {} (altinity build)), \
             bucket cas-pool, key data/cas/ref_catalog, object size {}",
            self.version,
            2200 + self.rng.below(400),
        );
        Draft::new(self.worker(), "Error", "WriteBufferFromS3", message).code(1000)
    }

    pub(super) fn s3_error(&mut self, key: &str) -> Draft {
        let text = format!(
            "Message: Poco::Exception. Code: 1000, e.code() = 0, Timeout (version {v} (altinity build)), bucket cas-pool, key {key}, \
             this error happened for S3 disk. (S3_ERROR)",
            v = self.version,
        );
        if self.rng.below(3) == 0 {
            return self
                .queue_exception("Error", 499, &format!("Exception: {text}"))
                .nested(1000);
        }
        let (suffix, _) = self.table();
        let query = format!(
            "CREATE TABLE default.source_{suffix} (a UInt16, b UInt16, extra UInt64) ENGINE = MergeTree PARTITION BY a ORDER BY tuple() \
             SETTINGS storage_policy = 'cas_policy'"
        );
        self.query_exception(499, &text, &query).nested(1000)
    }

    pub(super) fn query_exception(&mut self, code: u32, text: &str, query: &str) -> Draft {
        let message = format!(
            "Code: {code}. DB::Exception: {text} (version {} (altinity build)) (from 172.18.0.1:{}) (in query: {query}), {STACK}\n\n{}\n",
            self.version,
            32_768 + self.rng.below(28_000),
            QUERY_FRAMES.join("\n"),
        );
        let id = self.rng.uuid();
        Draft::new(60 + self.rng.below(20), "Error", "executeQuery", message)
            .query(id)
            .code(code)
    }

    pub(super) fn empty_multipart(&mut self) -> Draft {
        let text =
            "Chosen multipart upload for an empty file. This must not happen. (LOGICAL_ERROR)";
        let query = "ALTER TABLE destination_bcd4d357_a64c_11f1_9d0e_92000910a29a ATTACH PARTITION 1 FROM \
                     source_bcd4d58d_a64c_11f1_9d0e_92000910a29a";
        self.query_exception(49, text, query)
    }

    pub(super) fn write_not_committed(&mut self) -> Draft {
        let namespace = self.namespace();
        let why = self.rng.pick(&[
            "CAS mount lost / lease expired — refusing to append ref-log transactions for server_root 'alter-cas'",
            "CAS ref-log append was refused BEFORE any request was sent — the append lane is NOT wedged",
            "the write is unresolved (sent, resolve read found nothing observed)",
        ]);
        let text = format!(
            "CAS write could not be committed ({why}, namespace '{namespace}'); retrying later. (NETWORK_ERROR)"
        );
        if self.rng.below(4) == 0 {
            let (suffix, _) = self.table();
            return self.query_exception(
                210,
                &text,
                &format!("INSERT INTO default.source_{suffix} VALUES"),
            );
        }
        self.queue_exception("Error", 210, &format!("Exception: {text}"))
    }

    pub(super) fn transient(&mut self) -> Draft {
        let text = format!(
            "Exception: content-addressed pool 'alter-cas-{}' -- stageManifest: the operation is no longer admitted -- the mount lease \
             has too little time left for another request, or this table's runtime was detached; TRANSIENT unavailability, not damage. \
             (NETWORK_ERROR)",
            NODES[self.index],
        );
        self.queue_exception("Error", 210, &text)
    }

    pub(super) fn network(&mut self) -> Draft {
        let peer = self.peer();
        let what = self.rng.pick(&[
            "Connection reset by peer",
            "Connection refused",
            "I/O error: Broken pipe",
        ]);
        self.queue_exception("Error", 210, &format!("NetException: {what}, while reading from socket (peer: {peer}:9009). (NETWORK_ERROR)"))
    }

    pub(super) fn no_active_replica(&mut self) -> Draft {
        let (entry, part) = (self.queue_entry(), self.rng.pick(&PARTS));
        let text = format!(
            "Exception: No active replica has part {part} or covering part (cannot execute {entry}: MERGE_PARTS with virtual parts \
             [{part}]). (NO_REPLICA_HAS_PART)"
        );
        self.queue_exception("Information", 234, &text)
    }

    pub(super) fn http_reset(&mut self) -> Draft {
        let mut message =
            "Poco::Exception. Code: 1000, e.code() = 104, Connection reset by peer".to_owned();
        self.close(&mut message, SERVER_FRAMES);
        Draft::new(
            40 + self.rng.below(25),
            "Error",
            "ServerErrorHandler",
            message,
        )
        .code(1000)
    }

    pub(super) fn echo(&mut self) -> Draft {
        let (text, ..) = self.refusal_text();
        let (code, name) = if self.new_era {
            (234, "NO_REPLICA_HAS_PART")
        } else {
            (210, "NETWORK_ERROR")
        };
        let exception = format!(
            "Code: {code}. DB::Exception: {text}. ({name}) (version {} (altinity build))",
            self.version
        );
        let (entry, tries) = (self.queue_entry(), 2 + self.rng.below(20));
        let (level, component, message) = match self.rng.below(3) {
            0 => (
                "Information",
                "",
                format!("Log entry {entry} failed {tries} times, last exception: {exception}"),
            ),
            1 => (
                "Debug",
                " (ReplicatedMergeTreeQueue)",
                format!("{entry}: num_tries: {tries}, last_exception: {exception}"),
            ),
            _ => (
                "Debug",
                "",
                format!(
                    "Queue entry {entry} of type REPLACE_RANGE, num_tries: {tries}, last_exception: '{exception}'"
                ),
            ),
        };
        let logger = self.logger(component);
        Draft::new(self.worker(), level, logger, message).grep_lines(1)
    }

    pub(super) fn monitoring_query(&mut self) -> Draft {
        let (text, ..) = self.refusal_text();
        let from = format!(
            "(from 172.18.0.1:{}, user: default)",
            32_768 + self.rng.below(28_000)
        );
        let message = match self.rng.below(3) {
            0 => format!(
                "{from} SELECT count() FROM system.text_log WHERE level = 'Error' AND message LIKE '%Code: 210. DB::Exception: {text}%' (stage: Complete)"
            ),
            1 => format!(
                "{from} -- größer als gestern? 何件\nSELECT hostName(), count()\nFROM clusterAllReplicas('all', system.text_log)\nWHERE message LIKE '%{text}%'\nGROUP BY 1 (stage: Complete)"
            ),
            _ => format!(
                "{from} SELECT last_exception, count()\nFROM system.replication_queue\n\nWHERE last_exception = 'Code: 210. DB::Exception: {text}. (NETWORK_ERROR)' GROUP BY 1 (stage: Complete)"
            ),
        };
        let id = self.rng.uuid();
        Draft::new(60 + self.rng.below(20), "Debug", "executeQuery", message)
            .query(id)
            .grep_lines(1)
    }

    pub(super) fn quoting_error(&mut self) -> Draft {
        let (text, ..) = self.refusal_text();
        let query = format!("SELECT count() FROM system.text_log WERE message LIKE '%{text}%'");
        self.query_exception(62, "Syntax error: failed at position 37 (message): message LIKE. Expected end of query. (SYNTAX_ERROR)", &query)
            .grep_lines(1)
    }

    /// An ordinary record, in the proportions of a busy replica at Trace.
    pub(super) fn filler(&mut self) -> Draft {
        match self.rng.below(12) {
            0..=6 => self.table_filler(),
            7 | 8 => self.query_filler(),
            9 => {
                let (peer, part) = (self.peer(), self.rng.pick(&PARTS));
                let message = format!(
                    "Request URI: /?endpoint=DataPartsExchange%3A%2Fclickhouse%2Ftables%2Fdestination%2Freplicas%2F{peer}&part={part}\
                     &client_protocol_version=11&compress=false"
                );
                Draft::new(self.worker(), "Trace", "InterserverIOHTTPHandler", message)
            }
            10 => {
                let message = format!(
                    "Query peak memory usage: {}.{:02} KiB.",
                    100 + self.rng.below(900),
                    self.rng.below(100)
                );
                let id = self.rng.uuid();
                Draft::new(self.worker(), "Debug", "MemoryTracker", message).query(id)
            }
            _ => Draft::new(
                self.worker(),
                "Information",
                "InterserverIOHTTPHandler",
                "Done processing query".to_owned(),
            ),
        }
    }

    pub(super) fn table_filler(&mut self) -> Draft {
        let (part, peer, entry, size) = (
            self.rng.pick(&PARTS),
            self.peer(),
            self.queue_entry(),
            700 + self.rng.below(600),
        );
        let (level, component, message) = match self.rng.below(7) {
            0 => (
                "Debug",
                "",
                format!(
                    "Fetching part {part} from default:/clickhouse/tables/destination/replicas/{peer}"
                ),
            ),
            1 => (
                "Debug",
                " (Fetcher)",
                format!(
                    "Relinking part {part} (staged as tmp-fetch_{part}) onto content-addressed disk cas from a {size}-byte transferred manifest."
                ),
            ),
            2 => (
                "Debug",
                " (Replicated PartsService)",
                format!(
                    "Sending part {part} by relink (content-addressed, shared pool 36eafa28-9a1f-438c-bab8-7c4749dc9b34), manifest payload \
                 {size} bytes"
                ),
            ),
            3 => (
                "Trace",
                " (Replicated PartsService)",
                format!("Sending part {part}"),
            ),
            4 => (
                "Debug",
                " (ReplicatedMergeTreeQueue)",
                format!(
                    "Not executing log entry {entry} of type REPLACE_RANGE because recently it has failed. According to exponential backoff \
                 policy, put aside this log entry for {} ms.",
                    1 << self.rng.below(16),
                ),
            ),
            5 => (
                "Debug",
                " (ReplicatedMergeTreeQueue)",
                "Pulled 1 entries to queue.".to_owned(),
            ),
            _ => (
                "Debug",
                "",
                format!(
                    "No active replica has part {part} which needs to be written with quorum. Will try to mark that quorum as failed."
                ),
            ),
        };
        let logger = self.logger(component);
        Draft::new(self.worker(), level, logger, message)
    }

    /// A query in the log, some over several lines, some not in ASCII.
    pub(super) fn query_filler(&mut self) -> Draft {
        let ((suffix, _), id) = (self.table(), self.rng.uuid());
        let from = "(from 172.18.0.1:40122, user: default)";
        let message = if self.rng.below(2) == 0 {
            format!(
                "{from} INSERT INTO default.source_{suffix} VALUES ('naïve — Ω №{}') (stage: Complete)",
                self.rng.below(999)
            )
        } else {
            format!(
                "{from} ALTER TABLE default.destination_{suffix}\n    ATTACH PARTITION 1\n    FROM default.source_{suffix} (stage: Complete)"
            )
        };
        Draft::new(60 + self.rng.below(20), "Debug", "executeQuery", message).query(id)
    }
}
