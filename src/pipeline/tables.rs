//! The exported system tables among the inputs: which there are, of which form, and whose.

use std::collections::BTreeMap;

use crate::intake::{Artifact, Names, Place, Role, place_tables};
use crate::parsers::tables::{Form, Known, Rows, Sniffed, Table, identify, sniff};
use crate::parsers::{Format, Sample};
use crate::wrappers::WHOLE_BYTES_MAX;

/// An exported table.
#[derive(Debug)]
pub(super) struct Export {
    /// How it is written.
    pub(super) form: Form,
    /// Which it is, if it is a known one.
    pub(super) table: Option<&'static Known>,
    /// Its columns.
    pub(super) columns: Vec<String>,
    /// Whether its stamps name the second alone.
    pub(super) coarse: bool,
}

/// How many lines of a log make a file a log that has a table among its first lines: a value may hold some.
const LOG_LINES: usize = 4;

/// Endings that say how a table is written or packed, and not what it is called.
const ENDINGS: &[&str] = &[
    "tsv", "csv", "tab", "txt", "json", "jsonl", "ndjson", "parquet", "pq", "md", "out", "log",
    "gz", "zst", "zstd", "lz4", "xz", "bz2", "vertical", "pretty",
];

/// Whether a file of that name that begins like this is a table.
pub(super) fn is_table(name: &str, sample: &Sample<'_>) -> bool {
    told(name, sample).is_some()
}

fn told(name: &str, sample: &Sample<'_>) -> Option<Sniffed> {
    let told = sniff(sample.bytes, name)?;
    let is_log = is_drawn(told.form)
        && sample
            .claimed()
            .is_some_and(|(lines, _)| lines >= LOG_LINES);
    (!is_log).then_some(told)
}

/// The table that a file is.
pub(super) fn export(artifact: &Artifact, sample: &Sample<'_>) -> Option<Export> {
    let told = told(&artifact.path, sample)?;
    let (mut table, mut columns) = (told.table, told.columns);
    if told.form == Form::Parquet {
        // Its columns are named at its end.
        let (reader, _) = artifact.open().ok()?;
        let whole = Table::open(told.form, reader, 0, WHOLE_BYTES_MAX);
        columns = whole.columns().clone();
        table = identify(&columns, told.hint);
    }
    Some(Export {
        form: told.form,
        table,
        coarse: columns.find("event_time_microseconds").is_none(),
        columns: columns.names().to_vec(),
    })
}

/// Whether people read such tables, so that logs and documents hold some.
fn is_drawn(form: Form) -> bool {
    matches!(
        form,
        Form::Vertical | Form::Pretty | Form::PrettySpace | Form::Markdown
    )
}

impl Export {
    /// Whether the file is nothing else, whatever its lines look like.
    pub(super) fn is_sure(&self) -> bool {
        self.table.is_some() && !is_drawn(self.form)
    }

    /// What its rows are read as; nothing where nobody knows the table.
    pub(super) fn format(&self) -> Option<Format> {
        Some(match self.table?.rows {
            Rows::Records => Format::CLICKHOUSE,
            Rows::Counters { .. } | Rows::Facts => Format::TABLE,
        })
    }
}

/// A file's name without what says how it is written.
fn stem(path: &str) -> &str {
    let mut name = path.rsplit('/').next().unwrap_or_default();
    while let Some((head, ending)) = name.rsplit_once('.') {
        if head.is_empty() || !ENDINGS.iter().any(|it| ending.eq_ignore_ascii_case(it)) {
            break;
        }
        name = head;
    }
    name
}

/// The node that a file's name names beside its table, or alone in a folder that the table names: the `wren-1` of
/// `wren-1.errors.txt`, `errors.wren-1.txt` and `errors/wren-1.txt`.
fn node_in_name<'p>(path: &'p str, table: &Known) -> Option<&'p str> {
    const JOINTS: [char; 4] = ['.', '_', '-', ' '];
    let is_name = |text: &&str| text.chars().any(|c| c.is_ascii_alphabetic());
    // What stands behind a table may say when, unless it is called like a host.
    let is_host = |text: &&str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.ends_with(|c: char| c.is_ascii_digit())
    };
    let bare = |text: &'p str| text.strip_suffix("system").unwrap_or(text);
    let bare = |text: &'p str| bare(text.trim_end_matches(JOINTS)).trim_matches(JOINTS);
    let stem = stem(path);
    if let Some((before, after)) = stem.split_once(table.name) {
        let before = Some(bare(before)).filter(is_name);
        return before.or_else(|| Some(after.trim_matches(JOINTS)).filter(is_host));
    }
    let mut folders = path.rsplit('/').skip(1);
    let (before, after) = folders.next()?.split_once(table.name)?;
    let is_of_table = after.is_empty() && bare(before).is_empty();
    Some(stem).filter(|_| is_of_table).filter(is_host)
}

/// The places of exported tables: a text log is a view of the log of its node, the others are read one after another.
pub(super) fn places<'e>(
    artifacts: &[Artifact],
    exports: impl Iterator<Item = (usize, &'e Export)>,
    beside: &[(&Artifact, &Place)],
    names: &Names,
) -> Vec<(usize, Place)> {
    let (at, exports): (Vec<usize>, Vec<&Export>) = exports.unzip();
    let named = at.iter().zip(&exports).map(|(&at, export)| {
        let artifact = &artifacts[at];
        let node = |table| node_in_name(&artifact.relative, table);
        (artifact, export.table.and_then(node))
    });
    let named: Vec<(&Artifact, Option<&str>)> = named.collect();
    let placed = place_tables(&named, beside, names);
    let place = |(export, (run, node)): (&Export, (String, String))| Place {
        run,
        node,
        log: "system".to_owned(),
        role: if export.format() == Some(Format::CLICKHOUSE) {
            Role::View
        } else {
            Role::Main
        },
        piece: None,
    };
    let places = exports.into_iter().zip(placed).map(place);
    at.into_iter().zip(places).collect()
}

/// Files that hold a table which another file beside them holds in another form: each, and the one that is read.
pub(super) fn copies<'e>(
    exports: impl Iterator<Item = (usize, &'e str, &'e Export)>,
) -> Vec<(usize, usize)> {
    let mut kept: BTreeMap<(&str, &str, Option<&str>), (Form, usize)> = BTreeMap::new();
    let mut left = Vec::new();
    for (at, path, export) in exports {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let key = (folder, stem(path), export.table.map(|table| table.name));
        let Some((form, other)) = kept.get_mut(&key) else {
            kept.insert(key, (export.form, at));
            continue;
        };
        if export.form < *form {
            left.push((*other, at));
            (*form, *other) = (export.form, at);
        } else {
            left.push((at, *other));
        }
    }
    // What was kept for a while and then left for a better one is left for the last.
    let last: BTreeMap<usize, usize> = left.iter().copied().collect();
    for (_, whole) in &mut left {
        while let Some(better) = last.get(whole) {
            *whole = *better;
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsers::tables::known;

    #[test]
    fn a_name_says_whose_table_it_is() {
        for (path, table, node) in [
            ("input/wren-1.errors.txt", "errors", Some("wren-1")),
            ("x/ch1_system.errors.tsv.gz", "errors", Some("ch1")),
            ("text_log.tsv", "text_log", None),
            ("system.text_log_0.jsonl", "text_log", None),
            // What stands behind it may say when.
            ("errors.before.csv", "errors", None),
            ("errors_2026-11-29.csv", "errors", None),
            ("system.errors.wren-5.tsv", "errors", Some("wren-5")),
            ("errors/wren-2.tsv", "errors", Some("wren-2")),
            ("x/system.errors/wren-2.tsv", "errors", Some("wren-2")),
            ("errors-2026/wren-2.tsv", "errors", None),
            ("wren-2/errors/before.tsv", "errors", None),
            ("queue.tsv", "replication_queue", None),
        ] {
            let table = known(table).unwrap();
            assert_eq!(node_in_name(path, table), node, "{path}");
        }
    }

    #[test]
    fn one_form_of_a_table_is_read() {
        let export = |form| Export {
            form,
            table: known("errors"),
            columns: Vec::new(),
            coarse: true,
        };
        let forms = [Form::Parquet, Form::JsonEachRow, Form::TsvTypes, Form::Tsv];
        let exports: Vec<Export> = forms.map(export).into();
        let paths = [
            "a/errors.parquet",
            "a/errors.jsonl",
            "a/errors.tsv",
            "b/errors.tsv",
        ];
        let all = (0..4).map(|at| (at, paths[at], &exports[at]));
        assert_eq!(copies(all), [(0, 2), (1, 2)]);
    }
}
