//! The architecture as a test: which layer may name which, where each heavy dependency lives, and what no file may hold.
//!
//! One crate means that the compiler does not keep layers apart; ARCHITECTURE.md holds the table, this file holds it too.

mod documents;
mod paths;

use std::fs;
use std::path::Path;

use paths::{Source, sources};

use crate::product::repository;

/// Lines of a file before its tests.
const LINES_MAX: usize = 500;

/// What a layer may name of the crate beside itself. `layer` is all of it, `layer::Item` only that.
///
/// A layer to come is one more row.
const LAYERS: &[(&str, &[&str])] = &[
    ("vocab", &[]),
    ("profile", &[]),
    ("search", &[]),
    ("time", &["search", "vocab"]),
    ("record", &["time", "vocab"]),
    ("intake", &["record", "time", "vocab"]),
    (
        "wrappers",
        &[
            "intake::Block",
            "intake::Limits",
            "intake::Window",
            "parsers::json",
            "parsers::tables",
            "record",
            "time",
        ],
    ),
    ("parsers", &["record", "search", "time", "vocab"]),
    ("layout", &["parsers", "vocab"]),
    (
        "signals",
        &["parsers", "profile", "record", "search", "time", "vocab"],
    ),
    (
        "scan",
        &[
            "parsers", "profile", "signals", "record", "search", "time", "vocab",
        ],
    ),
    (
        "streams",
        &[
            "intake::Block",
            "intake::Place",
            "intake::Role",
            "intake::Rotation",
            "parsers",
            "scan",
            "search",
            "signals",
            "record",
            "time",
            "vocab",
        ],
    ),
    (
        "rules",
        &[
            "layout::ProblemKind",
            "layout::Severity",
            "search",
            "signals",
            "scan",
            "parsers",
            "profile",
            "record",
            "time",
            "vocab",
        ],
    ),
    ("outcome", &["parsers", "rules", "signals", "time", "vocab"]),
    (
        "analysis",
        &["layout", "outcome", "rules", "scan", "signals", "time"],
    ),
    (
        "report",
        &[
            "rules",
            "outcome",
            "analysis",
            "profile",
            "signals",
            "scan",
            "intake::UNNAMED",
            "layout",
            "parsers::ci",
            "parsers::wal",
            "time",
            "vocab",
        ],
    ),
    (
        "pipeline",
        &[
            "vocab", "time", "record", "intake", "parsers", "layout", "profile", "signals", "scan",
            "streams", "rules", "outcome", "wrappers", "analysis",
        ],
    ),
    ("engine", &["time", "vocab"]),
    (
        "replay",
        &["engine", "report::escape", "report::model", "time"],
    ),
    (
        "cli",
        &[
            "engine",
            "pipeline",
            "profile",
            "replay",
            "report",
            "rules",
            "intake",
            "layout",
            "parsers::wal",
            "time",
            "vocab",
        ],
    ),
    ("main", &["cli"]),
    ("lib", &[]),
];

/// The only places that name a dependency: beginnings of paths below `src/`. What is not listed may be named anywhere.
const HOMES: &[(&str, &[&str])] = &[
    ("aho_corasick", &["search/"]),
    ("pulp", &["search/"]),
    ("bzip2", &["intake/"]),
    ("chrono", &["time/"]),
    ("chrono_tz", &["time/"]),
    ("clap", &["cli/"]),
    ("clap_complete", &["cli/"]),
    ("clap_mangen", &["cli/"]),
    ("comfy_table", &["report/"]),
    ("csv", &["report/tables/"]),
    ("deflate64", &["intake/"]),
    ("flate2", &["intake/"]),
    ("globset", &["intake/", "cli/", "layout/"]),
    ("indicatif", &["cli/"]),
    ("liblzma", &["intake/"]),
    ("lz4_flex", &["intake/"]),
    ("bytes", &["parsers/tables/"]),
    ("parquet", &["parsers/tables/", "report/tables/"]),
    ("rayon", &["pipeline/"]),
    ("plotters", &["report/plots/"]),
    ("regex", &["signals/", "rules/load", "parsers/declared"]),
    ("quick_xml", &["parsers/ci/"]),
    ("hashbrown", &["signals/tally/"]),
    ("highway", &["parsers/wal/"]),
    (
        "serde_json",
        &[
            "engine/",
            "parsers/ci/",
            "parsers/wal/",
            "replay/",
            "report/",
        ],
    ),
    ("sha2", &["parsers/wal/", "report/html/"]),
    (
        "stateright",
        &["engine/cas/check/", "engine/ha/check/", "engine/search"],
    ),
    ("tar", &["intake/archives/"]),
    (
        "tempfile",
        &["intake/archives/", "report/", "wrappers/sorting.rs"],
    ),
    ("terminal_size", &["cli/"]),
    ("toml", &["rules/", "layout/", "engine/"]),
    ("walkdir", &["intake/", "layout/"]),
    ("xxhash_rust", &["scan/", "parsers/wal/"]),
    ("zip", &["intake/archives/"]),
    ("zstd", &["intake/", "parsers/wal/"]),
];

const FORBIDDEN_TEXT: &[&str] = &[
    "TODO",
    "FIXME",
    "todo!",
    "unimplemented!",
    "#[ignore",
    "should_panic",
    "thread::sleep",
];

const FORBIDDEN_NAMES: &[&str] = &[
    "utils.rs",
    "helpers.rs",
    "common.rs",
    "types.rs",
    "prelude.rs",
];

/// Every name that `source` may not use, as `file: name`.
fn trespasses(source: &Source) -> Vec<String> {
    let layer = source.layer();
    let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == layer) else {
        return vec![format!(
            "{}: the layer {layer} is not in the table",
            source.path
        )];
    };
    let mut found = Vec::new();
    for path in source.paths() {
        let text = path.join("::");
        match path.split_first() {
            Some((root, inner)) if root == "crate" => {
                let Some(to) = inner.first() else { continue };
                let may = *to == layer
                    || allowed.iter().any(|one| match one.split_once("::") {
                        None => one == to,
                        Some((module, item)) => {
                            module == to && inner.get(1).is_some_and(|it| it == item)
                        }
                    });
                if !may {
                    found.push(format!("{}: {text}", source.path));
                }
            }
            Some((root, _)) => {
                let home = HOMES.iter().find(|(name, _)| name == root);
                if home.is_some_and(|(_, places)| {
                    !places.iter().any(|place| source.path.starts_with(place))
                }) {
                    found.push(format!("{}: {text}", source.path));
                }
            }
            None => {}
        }
    }
    found.sort();
    found.dedup();
    found
}

#[test]
fn imports_go_only_along_the_table() {
    let all: Vec<String> = sources().iter().flat_map(trespasses).collect();
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn every_layer_of_the_crate_is_in_the_table_and_every_row_is_a_layer() {
    let mut layers: Vec<String> = sources()
        .iter()
        .map(|source| source.layer().to_owned())
        .collect();
    layers.sort();
    layers.dedup();
    let mut rows: Vec<String> = LAYERS.iter().map(|(name, _)| (*name).to_owned()).collect();
    rows.sort();
    assert_eq!(layers, rows);
}

#[test]
fn a_forbidden_name_is_found_however_it_is_written() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "vocab/level.rs",
            "use crate::time::Timestamp;",
            &["crate::time::Timestamp"],
        ),
        (
            "parsers/stderr.rs",
            "use crate::{\n    record::Record,\n    intake::{Block, Place as P},\n};",
            &["crate::intake::Block", "crate::intake::Place"],
        ),
        (
            "scan/mod.rs",
            "fn f() { crate::streams::plan(); }",
            &["crate::streams::plan"],
        ),
        (
            "signals/tally.rs",
            "use super::super::rules::Rule;",
            &["crate::rules::Rule"],
        ),
        (
            "time.rs",
            "fn f(x: super::scan::Scan) {}",
            &["crate::scan::Scan"],
        ),
        (
            "streams/plan.rs",
            "use crate::intake::{Role, walk};",
            &["crate::intake::walk"],
        ),
        (
            "streams/plan.rs",
            "use crate::intake::{self, Role};",
            &["crate::intake"],
        ),
        (
            "report/mod.rs",
            "pub use crate::pipeline as p;",
            &["crate::pipeline"],
        ),
        (
            "main.rs",
            "fn main() { casdiag::pipeline::analyze() }",
            &["crate::pipeline::analyze"],
        ),
        (
            "rules/lint.rs",
            "use std::io;\nuse regex::{Regex, bytes};",
            &["regex::Regex", "regex::bytes"],
        ),
        (
            "scan/mod.rs",
            "#[derive(clap::Args)]\nstruct A;",
            &["clap::Args"],
        ),
        ("signals/matcher.rs", "use crate::*;", &["crate::*"]),
        (
            "vocab/mod.rs",
            "use {std::io, crate::cli::main};",
            &["crate::cli::main"],
        ),
    ];
    for (path, code, expected) in cases {
        let expected: Vec<String> = expected
            .iter()
            .map(|name| format!("{path}: {name}"))
            .collect();
        assert_eq!(trespasses(&Source::new(path, code)), expected, "{code}");
    }
}

#[test]
fn an_allowed_name_and_one_in_prose_are_not_found() {
    for (path, code) in [
        ("time.rs", "use crate::vocab::Level;"),
        ("streams/plan.rs", "use crate::intake::{Place, Role};"),
        (
            "vocab/level.rs",
            "//! See [`crate::scan::Scan`].\n/* crate::cli */ const A: &str = \"crate::rules::X\";",
        ),
        (
            "scan/mod.rs",
            "use super::scan::Scan;\nconst B: &[u8] = br#\"crate::cli::\"#;",
        ),
        (
            "intake/mod.rs",
            "fn f<T>(of: T) -> impl Sized + use<T> { a(of); b::c(); }",
        ),
        (
            "cli/mod.rs",
            "fn f<'a>(c: char) -> bool { c == '\"' && std::env::args().count() > 1 }\nuse clap::Parser;",
        ),
    ] {
        assert_eq!(trespasses(&Source::new(path, code)), [""; 0], "{code}");
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for source in sources() {
        assert!(
            source.text.starts_with("//! "),
            "{} does not begin with //!",
            source.path
        );
    }
}

#[test]
fn no_file_is_too_long_to_read() {
    let long: Vec<String> = sources()
        .iter()
        .map(|source| (source.lines_before_tests(), &source.path))
        .filter(|(lines, _)| *lines > LINES_MAX)
        .map(|(lines, path)| format!("{path}: {lines} lines before its tests"))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
    for path in test_files() {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(lines <= LINES_MAX, "{} has {lines} lines", path.display());
    }
}

#[test]
fn nothing_is_left_for_later_and_nothing_waits() {
    let tests = test_files()
        .into_iter()
        .filter(|path| !path.ends_with("tidy/mod.rs"));
    let tests = tests.map(|path| {
        (
            path.display().to_string(),
            fs::read_to_string(&path).unwrap(),
        )
    });
    let product = sources()
        .into_iter()
        .map(|source| (source.path, source.text));
    for (path, text) in product.chain(tests) {
        for mark in FORBIDDEN_TEXT {
            assert!(!text.contains(mark), "{path} holds {mark}");
        }
    }
}

#[test]
fn no_file_is_named_for_holding_anything() {
    for source in sources() {
        let name = source.path.rsplit('/').next().unwrap();
        assert!(!FORBIDDEN_NAMES.contains(&name), "{}", source.path);
    }
}

fn test_files() -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    collect(&repository("tests/it"), &mut files);
    files
}

/// Every Rust file below a folder, in order of its name.
fn collect(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    let mut entries: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn the_imports_that_are_there_are_seen() {
    let seen: std::collections::BTreeSet<(String, String)> = sources()
        .iter()
        .flat_map(|source| {
            let layer = source.layer().to_owned();
            let paths = source.paths().into_iter().filter(|path| path.len() > 1);
            paths
                .map(move |path| (layer.clone(), path[..2].join("::")))
                .collect::<Vec<_>>()
        })
        .collect();
    for (layer, name) in [
        ("pipeline", "crate::intake"),
        ("pipeline", "crate::streams"),
        ("streams", "crate::intake"),
        ("report", "crate::rules"),
        ("cli", "clap::Parser"),
        ("main", "crate::cli"),
    ] {
        assert!(
            seen.contains(&(layer.to_owned(), name.to_owned())),
            "{layer} {name}"
        );
    }
}
