//! Logs of other systems: ordinary lines with one in some that a rule knows, as those systems write them.

use std::fmt::Write as _;

/// A dialect: its name, its file, and its line of a number, without its end.
pub(crate) type Dialect = (&'static str, &'static str, fn(u64) -> String);

pub(crate) const DIALECTS: &[Dialect] = &[
    ("etcd, capnslog", "etcd.log", capnslog),
    ("etcd, zap as JSON", "etcd.log", zap),
    ("ZooKeeper", "zookeeper.log", zookeeper),
    ("NuRaft alone", "nuraft.log", nuraft),
    ("Keeper", "clickhouse-keeper.log", keeper),
    ("hashicorp raft", "consul.log", hashicorp),
    ("hashicorp raft as JSON", "consul.log", hashicorp_json),
    ("NATS", "nats.log", nats),
    ("MongoDB, text", "mongod.log", mongo_text),
    ("MongoDB, JSON", "mongod.log", mongo_json),
    ("CockroachDB", "cockroach.log", cockroach),
    ("TiKV", "tikv.log", tikv),
];

/// The time of day of a record, five milliseconds after the one before.
struct Clock {
    hour: u64,
    minute: u64,
    second: u64,
    micros: u64,
}

fn clock(number: u64) -> Clock {
    let micros = number * 5_000;
    let seconds = micros / 1_000_000;
    Clock {
        hour: seconds / 3_600 % 24,
        minute: seconds / 60 % 60,
        second: seconds % 60,
        micros: micros % 1_000_000,
    }
}

/// `10:00:00.000000`.
fn time(number: u64, separator: char, digits: usize) -> String {
    let Clock {
        hour,
        minute,
        second,
        micros,
    } = clock(number);
    let fraction = format!("{micros:06}");
    format!(
        "{hour:02}:{minute:02}:{second:02}{separator}{}",
        &fraction[..digits]
    )
}

/// Whether a line is one that a rule knows.
fn is_known(number: u64) -> bool {
    number % 50 == 7
}

fn capnslog(number: u64) -> String {
    let stamp = format!("2026-11-29 {}", time(number, '.', 6));
    match number % 4 {
        _ if is_known(number) => format!(
            "{stamp} W | etcdserver: failed to send out heartbeat on time (exceeded the 100ms timeout for 1.05{number}s, to 91bc3c398fb3c146)"
        ),
        0 => format!("{stamp} I | etcdserver: saved snapshot at index {number}"),
        1 => format!(
            "{stamp} I | wal: segmented wal file /var/lib/etcd/member/wal/{number:016x}-{number:016x}.wal is created"
        ),
        2 => format!(
            "{stamp} D | raft: 8211f1d0f64f3269 received MsgHeartbeatResp from 91bc3c398fb3c146 [term: 3, index: {number}]"
        ),
        _ => format!(
            "raft2026/11/29 {} INFO: 8211f1d0f64f3269 became candidate at term {number}",
            time(number, '.', 0).trim_end_matches('.')
        ),
    }
}

fn zap(number: u64) -> String {
    let stamp = format!("2026-11-29T{}Z", time(number, '.', 3));
    match number % 3 {
        _ if is_known(number) => format!(
            r#"{{"level":"warn","ts":"{stamp}","caller":"wal/wal.go:805","msg":"slow fdatasync","took":"1.{number}s","expected-duration":"1s"}}"#
        ),
        0 => format!(
            r#"{{"level":"info","ts":"{stamp}","caller":"mvcc/index.go:214","msg":"compact tree index","revision":{number}}}"#
        ),
        1 => format!(
            r#"{{"level":"info","ts":"{stamp}","caller":"mvcc/kvstore_compaction.go:66","msg":"finished scheduled compaction","compact-revision":{number},"took":"1.2ms","hash":{number}}}"#
        ),
        _ => format!(
            r#"{{"level":"debug","ts":"{stamp}","logger":"raft","caller":"etcdserver/zap_raft.go:77","msg":"8211f1d0f64f3269 received MsgAppResp from 91bc3c398fb3c146 [term: 3, index: {number}]"}}"#
        ),
    }
}

fn zookeeper(number: u64) -> String {
    let stamp = format!("2026-11-29 {}", time(number, ',', 3));
    match number % 3 {
        _ if is_known(number) => format!(
            "{stamp} [myid:1] - WARN  [SyncThread:1:FileTxnLog@398] - fsync-ing the write ahead log in SyncThread:1 took {number}ms which will adversely effect operation latency.File size is 67108880 bytes. See the ZooKeeper troubleshooting guide"
        ),
        0 => format!(
            "{stamp} [myid:1] - INFO  [NIOWorkerThread-1:ZooKeeperServer@1032] - Established session 0x1000{number:08x} with negotiated timeout 30000 for client /10.0.0.7:40012"
        ),
        1 => format!(
            "{stamp} [myid:1] - DEBUG [CommitProcessor:1:FinalRequestProcessor@90] - Processing request:: sessionid:0x1000{number:08x} type:create cxid:0x{number:x} zxid:0x{number:x} txntype:1 reqpath:n/a"
        ),
        _ => format!(
            "{stamp} [myid:1] - INFO  [SyncThread:1:FileTxnLog@284] - Creating new log file: log.{number:x}"
        ),
    }
}

fn nuraft(number: u64) -> String {
    let stamp = format!("T261129 {} 312 [nuraft_w_0]", time(number, '.', 6));
    let info = stamp.replacen('T', "I", 1);
    match number % 2 {
        _ if is_known(number) => format!(
            "{info} src/handle_commit.cxx:212  request_vote()  Election timeout, initiate leader election"
        ),
        0 => format!(
            "{stamp} src/raft_server.cxx:501  process_req()  Receive a append_entries_request message from 2 with LastLogIndex={number}, LastLogTerm 12, EntriesLength=1, CommitIndex={number} and Term=12"
        ),
        _ => format!(
            "{stamp} src/handle_append_entries.cxx:300  handle_append_entries()  from peer 2, req type: 3, req term: 12, req l idx: {number} (1), req c idx: {number}, my term: 12, my role: 1"
        ),
    }
}

fn keeper(number: u64) -> String {
    let head = format!("2026.11.29 {} [ 22 ] {{}}", time(number, '.', 6));
    match number % 2 {
        _ if is_known(number) => {
            format!("{head} <Warning> RaftInstance: Election timeout, initiate leader election")
        }
        0 => {
            format!("{head} <Trace> RaftInstance: append at log_idx {number}, term 12, timestamp 0")
        }
        _ => format!(
            "{head} <Debug> KeeperStateMachine: Commit request for session 0x{number:x} with type Create, log id {number}"
        ),
    }
}

fn hashicorp(number: u64) -> String {
    let stamp = format!("2026-11-29T{}Z", time(number, '.', 3));
    match number % 3 {
        _ if is_known(number) => format!(
            "{stamp} [WARN]  agent.server.raft: appendEntries rejected, sending older logs: peer=\"{{Voter 7f01 10.0.0.7:8300}}\" next={number}"
        ),
        0 => format!(
            "{stamp} [DEBUG] agent.http: Request finished: method=GET url=/v1/kv/service/{number} from=10.0.0.7:40012 latency=1.5ms"
        ),
        1 => {
            format!("{stamp} [INFO]  agent.server.serf.lan: serf: EventMemberUpdate: node-{number}")
        }
        _ => format!(
            "{stamp} [TRACE] agent.server: rpc_server_call: method=KVS.Apply errored=false request_type=write rpc_type=net/rpc leader=true"
        ),
    }
}

fn hashicorp_json(number: u64) -> String {
    let stamp = format!("2026-11-29T{}Z", time(number, '.', 6));
    match number % 2 {
        _ if is_known(number) => format!(
            r#"{{"@level":"warn","@message":"appendEntries rejected, sending older logs","@module":"agent.server.raft","@timestamp":"{stamp}","next":{number},"peer":"10.0.0.7:8300"}}"#
        ),
        0 => format!(
            r#"{{"@level":"debug","@message":"Request finished","@module":"agent.http","@timestamp":"{stamp}","from":"10.0.0.7:40012","latency":"1.5ms","method":"GET","url":"/v1/kv/service/{number}"}}"#
        ),
        _ => format!(
            r#"{{"@level":"info","@message":"serf: EventMemberUpdate: node-{number}","@module":"agent.server.serf.lan","@timestamp":"{stamp}"}}"#
        ),
    }
}

fn nats(number: u64) -> String {
    let head = format!("[3192] 2026/11/29 {}", time(number, '.', 6));
    match number % 3 {
        _ if is_known(number) => format!(
            "{head} [WRN] RAFT [44jzkV9D - S-R3F-fOpYuTPe] Falling behind in health check, commit {number} != applied 1"
        ),
        0 => {
            format!("{head} [DBG] RAFT [44jzkV9D - S-R3F-fOpYuTPe] Processing appendEntry {number}")
        }
        1 => format!("{head} [TRC] 10.0.0.7:40012 - cid:{number} - <<- [PUB orders.{number} 128]"),
        _ => format!(
            "{head} [DBG] 10.0.0.7:40012 - cid:{number} - \"v1.31.0:go\" - Client connection created"
        ),
    }
}

fn mongo_text(number: u64) -> String {
    let stamp = format!("2026-11-29T{}+0000", time(number, '.', 3));
    match number % 2 {
        0 => format!(
            "{stamp} I  NETWORK  [listener] connection accepted from 10.0.0.7:40012 #{number} (2 connections now open)"
        ),
        _ => format!(
            "{stamp} I  COMMAND  [conn{number}] command shop.orders command: find {{ find: \"orders\", filter: {{ id: {number} }} }} planSummary: IXSCAN keysExamined:1 docsExamined:1 numYields:0 reslen:512 protocol:op_msg 120ms"
        ),
    }
}

fn mongo_json(number: u64) -> String {
    let stamp = format!("2026-11-29T{}+00:00", time(number, '.', 3));
    match number % 2 {
        0 => format!(
            r#"{{"t":{{"$date":"{stamp}"}},"s":"I",  "c":"NETWORK",  "id":22943,   "ctx":"listener","msg":"Connection accepted","attr":{{"remote":"10.0.0.7:40012","connectionId":{number},"connectionCount":2}}}}"#
        ),
        _ => format!(
            r#"{{"t":{{"$date":"{stamp}"}},"s":"I",  "c":"COMMAND",  "id":51803,   "ctx":"conn{number}","msg":"Slow query","attr":{{"type":"command","ns":"shop.orders","command":{{"find":"orders","filter":{{"id":{number}}}}},"planSummary":"IXSCAN","keysExamined":1,"durationMillis":120}}}}"#
        ),
    }
}

fn cockroach(number: u64) -> String {
    let stamp = format!("I261129 {} 14", time(number, '.', 6));
    match number % 2 {
        0 => format!(
            "{stamp} kv/kvserver/replica_raft.go:1204 ⋮ [n1,s1,r{number}/1:‹/Table/53›] {number} raft log truncated to index {number}"
        ),
        _ => format!(
            "{stamp} 1@server/status/runtime.go:558 ⋮ [n1] {number} runtime stats: 1.2 GiB RSS, 312 goroutines, 10 MiB/20 MiB/30 MiB GO alloc/idle/total, 12 MiB/24 MiB CGO alloc/total"
        ),
    }
}

fn tikv(number: u64) -> String {
    let stamp = format!("[2026/06/08 {} +00:00]", time(number, '.', 3));
    let mut line = match number % 2 {
        _ if is_known(number) => {
            format!("{stamp} [WARN] [raftlog_gc.rs:123] [\"gc raft log with a large range\"]")
        }
        0 => format!("{stamp} [INFO] [peer.rs:2601] [\"no need to compact log\"]"),
        _ => format!(
            "{stamp} [INFO] [raft.rs:1120] [\"received a message with higher term from 6120934\"]"
        ),
    };
    write!(
        line,
        " [end_index={number}] [region_id=70418] [peer_id=6120925]"
    )
    .unwrap();
    line
}
