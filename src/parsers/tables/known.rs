//! The system tables that are known: by which columns they are told, and what their rows are.

use super::row::Columns;

/// What the rows of a table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// Log records.
    Records,
    /// Counters: the columns of the name, the code and the value.
    Counters {
        /// The name's column: one of these.
        name: &'static [&'static str],
        /// The code's column, if counters have codes.
        code: Option<&'static str>,
    },
    /// Anything else.
    Facts,
}

/// A known table.
#[derive(Debug, PartialEq, Eq)]
pub struct Known {
    /// Its name without the database.
    pub name: &'static str,
    /// The columns that tell it: it has all of them.
    pub telling: &'static [&'static str],
    /// The columns that say when, the best first.
    pub stamps: &'static [&'static str],
    /// What its rows are.
    pub rows: Rows,
}

const fn facts(
    name: &'static str,
    telling: &'static [&'static str],
    stamps: &'static [&'static str],
) -> Known {
    Known {
        name,
        telling,
        stamps,
        rows: Rows::Facts,
    }
}

const LOGGED: &[&str] = &["event_time_microseconds", "event_time"];

/// Names that a table had in other versions, and the name it goes by here.
const RENAMED: &[(&str, &str)] = &[
    ("content_addressed_garbage_collection_log", "cas_gc_log"),
    ("content_addressed_log", "cas_log"),
    ("content_addressed_mounts", "cas_mounts"),
];

/// Every known table. Where two fit, the one with more telling columns does; of equal ones the one that a name hints at.
pub const TABLES: &[Known] = &[
    Known {
        name: "text_log",
        telling: &["level", "logger_name", "message"],
        stamps: LOGGED,
        rows: Rows::Records,
    },
    Known {
        name: "errors",
        telling: &["name", "code", "value"],
        stamps: &["last_error_time"],
        rows: Rows::Counters {
            name: &["name"],
            code: Some("code"),
        },
    },
    Known {
        name: "events",
        telling: &["event", "value"],
        stamps: &[],
        rows: Rows::Counters {
            name: &["event"],
            code: None,
        },
    },
    Known {
        name: "metrics",
        telling: &["metric", "value"],
        stamps: &[],
        rows: Rows::Counters {
            name: &["metric", "name"],
            code: None,
        },
    },
    Known {
        name: "asynchronous_metrics",
        telling: &["metric", "value"],
        stamps: &[],
        rows: Rows::Counters {
            name: &["metric", "name"],
            code: None,
        },
    },
    facts(
        "error_log",
        &["event_time", "code", "error", "value"],
        LOGGED,
    ),
    facts(
        "asynchronous_metric_log",
        &["event_time", "metric", "value"],
        LOGGED,
    ),
    facts("metric_log", &["event_time", "ProfileEvent_Query"], LOGGED),
    facts(
        "replication_queue",
        &["node_name", "type", "num_tries", "last_exception"],
        &["last_exception_time", "last_attempt_time", "create_time"],
    ),
    facts(
        "part_log",
        &["event_type", "part_name", "duration_ms", "error"],
        LOGGED,
    ),
    facts(
        "cas_gc_log",
        &["event_type", "gc_id", "round", "outcome"],
        LOGGED,
    ),
    facts(
        "cas_log",
        &["event_type", "ref_name", "object_kind", "outcome"],
        LOGGED,
    ),
    facts(
        "cas_mounts",
        &["server_root_id", "writer_epoch", "state"],
        &["lifecycle_since", "started_at"],
    ),
    facts(
        "blob_storage_log",
        &["event_type", "bucket", "remote_path"],
        LOGGED,
    ),
    facts(
        "replicas",
        &[
            "replica_name",
            "is_readonly",
            "queue_size",
            "absolute_delay",
        ],
        &["last_queue_update"],
    ),
    facts(
        "mutations",
        &["mutation_id", "command", "is_done"],
        &["latest_fail_time", "create_time"],
    ),
    facts("merges", &["result_part_name", "progress", "elapsed"], &[]),
    facts(
        "replicated_fetches",
        &["result_part_name", "progress", "source_replica_hostname"],
        &[],
    ),
    facts(
        "parts",
        &["name", "active", "partition", "rows"],
        &["modification_time"],
    ),
    facts(
        "detached_parts",
        &["partition_id", "name", "reason", "level"],
        &["modification_time"],
    ),
    facts(
        "distribution_queue",
        &["is_blocked", "error_count", "data_files"],
        &["last_exception_time"],
    ),
    facts(
        "query_log",
        &["type", "query", "query_start_time", "exception_code"],
        LOGGED,
    ),
    facts(
        "query_thread_log",
        &["query", "thread_name", "query_start_time", "thread_id"],
        LOGGED,
    ),
    facts("crash_log", &["signal", "trace_full", "thread_id"], LOGGED),
    facts("trace_log", &["trace_type", "trace", "thread_id"], LOGGED),
    facts("session_log", &["type", "auth_type", "session_id"], LOGGED),
    facts("zookeeper_log", &["xid", "op_num", "path"], LOGGED),
    facts("processes", &["query_id", "elapsed", "query", "user"], &[]),
    facts(
        "clusters",
        &["cluster", "shard_num", "replica_num", "errors_count"],
        &[],
    ),
    facts("disks", &["name", "path", "free_space", "total_space"], &[]),
    facts("settings", &["name", "value", "changed"], &[]),
];

/// Tells a table by its columns, and by what a file's name or a query says where they leave it open.
pub fn identify(columns: &Columns, hint: Option<&'static Known>) -> Option<&'static Known> {
    let has = |name: &&str| columns.find(name).is_some();
    // A record without a stamp is none: other loggers have levels and messages, too.
    let is_placed = |table: &Known| table.rows != Rows::Records || table.stamps.iter().any(&has);
    let whole = |table: &&Known| table.telling.iter().all(&has) && is_placed(table);
    let fitting: Vec<&'static Known> = TABLES.iter().filter(whole).collect();
    let Some(best) = fitting.iter().map(|table| table.telling.len()).max() else {
        // Somebody selected some columns, and said of which table.
        let some = |hint: &&Known| hint.telling.iter().any(&has) && is_placed(hint);
        return hint.filter(some);
    };
    let best = || fitting.iter().filter(|table| table.telling.len() == best);
    let hinted = best().find(|table| hint.is_some_and(|hint| hint.name == table.name));
    hinted.or_else(|| best().next()).copied()
}

/// The table that a file's name or a query names, if any.
pub fn hinted(text: &str) -> Option<&'static Known> {
    let lower = text.to_ascii_lowercase();
    let renamed = RENAMED
        .iter()
        .filter(|(old, _)| names(&lower, old))
        .map(|(_, new)| *new)
        .next();
    let by_name = |name: &str| TABLES.iter().find(|table| table.name == name);
    // `error_log` names itself and not `errors`; the longest name that stands there is meant.
    renamed.and_then(by_name).or_else(|| {
        TABLES
            .iter()
            .filter(|table| names(&lower, table.name))
            .max_by_key(|table| table.name.len())
    })
}

/// Whether a name stands in a text as a word of its own.
fn names(text: &str, name: &str) -> bool {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    memchr::memmem::find_iter(text.as_bytes(), name).any(|at| {
        let before = at.checked_sub(1).map(|at| text.as_bytes()[at]);
        let after = text.as_bytes().get(at + name.len());
        // `text_log_0` is what became of the table at an upgrade.
        let ends = after.is_none_or(|&byte| !byte.is_ascii_alphanumeric());
        !before.is_some_and(is_word) && ends
    })
}

/// A table by name.
pub fn known(name: &str) -> Option<&'static Known> {
    TABLES.iter().find(|table| table.name == name)
}
