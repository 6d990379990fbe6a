//! Words that are told from names: what rules say, and what is called so everywhere.

/// Shapes of words that a server of a name with a number at its end would share.
const NOT_HOSTS: &[&str] = &[
    "base64", "crc32", "crc32c", "http1", "http2", "int16", "int32", "int64", "int8", "ipv4",
    "ipv6", "latin-1", "lz4", "md5", "s3", "sha-1", "sha-256", "sha1", "sha256", "sha512", "tls1",
    "uint16", "uint32", "uint64", "uint8", "utf-16", "utf-8", "utf16", "utf8", "v1", "v2", "x86",
    "xxh3",
];

/// What follows one of these is a host, if it looks like one.
const BEFORE_HOST: &[&str] = &[
    "at", "by", "follower", "from", "host", "hostname", "leader", "member", "node", "on", "peer",
    "primary", "replica", "server", "source", "standby", "to", "with",
];

/// Keys whose values are secrets or names of people: `user=x`, `user: x`, `user x`.
const BEFORE_SECRET: &[&str] = &[
    "access_key",
    "access_key_id",
    "api_key",
    "apikey",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "email",
    "initial_query_id",
    "initial_user",
    "login",
    "passwd",
    "password",
    "pwd",
    "query_id",
    "secret",
    "secret_access_key",
    "secret_key",
    "session",
    "token",
    "user",
    "user_name",
    "username",
];

/// Last labels of names of hosts that have two labels and no number.
const DOMAINS: &[&str] = &[
    "cloud",
    "cluster",
    "com",
    "corp",
    "de",
    "dev",
    "edu",
    "eu",
    "gov",
    "home",
    "internal",
    "intra",
    "intranet",
    "io",
    "lan",
    "local",
    "localdomain",
    "net",
    "org",
    "private",
    "ru",
    "svc",
    "uk",
    "us",
];

/// Ends of names of files, which are no hosts though they have dots and a number may follow.
const FILE_ENDS: &[&str] = &[
    "bak", "bin", "bz2", "c", "cc", "conf", "core", "cpp", "csv", "err", "go", "gz", "h", "hpp",
    "html", "idx", "java", "json", "log", "lz4", "md", "mrk", "mrk2", "mrk3", "out", "parquet",
    "proto", "py", "rs", "sh", "snap", "so", "sql", "stderr", "stdout", "svg", "tar", "tgz",
    "toml", "tsv", "txt", "wal", "xml", "xz", "yaml", "yml", "zip", "zst",
];

/// Ends of names of source files, which say nothing of an installation.
const SOURCE_ENDS: &[&str] = &[
    "c", "cc", "cpp", "go", "h", "hpp", "java", "proto", "rs", "so",
];

/// Parts of paths that are called so wherever the software runs.
const FOLDERS: &[&str] = &[
    "backup",
    "backups",
    "base",
    "bin",
    "blocks",
    "boot",
    "build",
    "clickhouse",
    "clickhouse-keeper",
    "clickhouse-server",
    "columns",
    "config",
    "config.d",
    "contrib",
    "coordination",
    "core",
    "cores",
    "data",
    "detached",
    "dev",
    "disks",
    "docker",
    "err",
    "etc",
    "format_version",
    "home",
    "keeper",
    "leader_election",
    "lib",
    "log",
    "logs",
    "media",
    "metadata",
    "metadata_dropped",
    "mnt",
    "mutations",
    "opt",
    "parts",
    "preprocessed_configs",
    "private",
    "proc",
    "queue",
    "raft",
    "replicas",
    "root",
    "run",
    "sbin",
    "shadow",
    "snap",
    "snapshots",
    "src",
    "srv",
    "stderr",
    "stdout",
    "store",
    "sys",
    "system",
    "tables",
    "text_log",
    "tmp",
    "tmpfs",
    "user_files",
    "users",
    "users.d",
    "usr",
    "uuid",
    "var",
    "version-2",
    "wal",
    "zookeeper",
];

fn among(list: &[&str], word: &str) -> bool {
    list.iter().any(|it| it.eq_ignore_ascii_case(word))
}

/// Whether a word with a number at its end is none of a host.
pub(super) fn is_no_host(word: &str) -> bool {
    among(NOT_HOSTS, word)
}

/// Whether a host may follow a word.
pub(super) fn is_before_host(word: &str) -> bool {
    among(BEFORE_HOST, word)
}

/// Whether a secret follows a word.
pub(super) fn is_before_secret(word: &str) -> bool {
    among(BEFORE_SECRET, word)
}

/// Whether names of hosts end so.
pub(super) fn is_domain(label: &str) -> bool {
    among(DOMAINS, label)
}

/// Whether names of files end so.
pub(super) fn is_file_end(end: &str) -> bool {
    among(FILE_ENDS, end)
}

/// Whether a name is one of a source file.
pub(super) fn is_source(name: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, end)| among(SOURCE_ENDS, end))
}

/// Whether a part of a path is called so everywhere.
pub(super) fn is_folder(name: &str) -> bool {
    among(FOLDERS, name)
}
