//! The product as tests see it: the library for whole reports, the binary for what a shell sees.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use casdiag::pipeline::{self, Plan, Progress};
use casdiag::report::assemble;
use casdiag::report::model::{Finding, Input, Report, SignalRow};
use casdiag::rules::{self, RuleBase};

/// The built-in rule base, compiled once.
pub(crate) fn base() -> &'static RuleBase {
    static BASE: OnceLock<RuleBase> = OnceLock::new();
    BASE.get_or_init(|| rules::load(&[]).unwrap())
}

/// The report of everything below `root`.
pub(crate) fn report(root: &Path) -> Report {
    report_of(&plan(root))
}

/// The plan of an analysis of `root` without options.
pub(crate) fn plan(root: &Path) -> Plan {
    Plan {
        roots: vec![root.to_path_buf()],
        ..Plan::default()
    }
}

/// The report of a plan.
pub(crate) fn report_of(plan: &Plan) -> Report {
    let analysis = pipeline::analyze(plan, base(), &Progress::default()).unwrap();
    assemble::report(&analysis, base())
}

/// What a run of the binary left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Its stdout as a report.
    pub(crate) fn report(&self) -> Report {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// The binary with its arguments, not yet run.
pub(crate) fn binary<S: AsRef<OsStr>>(arguments: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_casdiag"));
    command.args(arguments);
    // How wide the terminal is that the tests run in is no input of theirs.
    command.env_remove("COLUMNS");
    command
}

/// Runs the binary.
pub(crate) fn casdiag<S: AsRef<OsStr>>(arguments: &[S]) -> Ran {
    let output = binary(arguments).output().unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// `casdiag analyze ROOT ARGUMENTS...`.
pub(crate) fn analyze(root: &Path, arguments: &[&str]) -> Ran {
    let mut all = vec![OsStr::new("analyze"), root.as_os_str()];
    all.extend(arguments.iter().map(OsStr::new));
    casdiag(&all)
}

/// A folder of inputs that a test writes itself.
pub(crate) struct Folder {
    folder: tempfile::TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// A folder with one file.
    pub(crate) fn with(path: &str, bytes: impl AsRef<[u8]>) -> Self {
        let folder = Self::new();
        folder.put(path, bytes);
        folder
    }

    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn report(&self) -> Report {
        report(self.path())
    }
}

/// The repository's folder of that name.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A text packed with gzip.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packer, bytes).unwrap();
    packer.finish().unwrap()
}

/// The input whose path ends with `end`.
pub(crate) fn input<'r>(report: &'r Report, end: &str) -> &'r Input {
    let found = report.inputs.iter().find(|input| input.path.ends_with(end));
    found.unwrap_or_else(|| panic!("no input {end} in {:?}", report.inputs))
}

/// The problems of an input as `kind` and line.
pub(crate) fn problems(input: &Input) -> Vec<(&str, Option<u64>)> {
    input
        .problems
        .iter()
        .map(|problem| (problem.kind.as_str(), problem.line))
        .collect()
}

/// A signal on a node.
pub(crate) fn signal<'r>(report: &'r Report, id: &str, node: &str) -> Option<&'r SignalRow> {
    report
        .signals
        .iter()
        .find(|row| row.signal == id && row.node == node)
}

/// How often a signal occurred on a node.
pub(crate) fn count(report: &Report, id: &str, node: &str) -> u64 {
    signal(report, id, node).map_or(0, |row| row.count)
}

/// How often a signal occurred anywhere.
pub(crate) fn total(report: &Report, id: &str) -> u64 {
    let rows = report.signals.iter().filter(|row| row.signal == id);
    rows.map(|row| row.count).sum()
}

/// First codes of all nodes.
pub(crate) fn codes(report: &Report) -> BTreeMap<u32, u64> {
    let mut codes = BTreeMap::new();
    for row in &report.codes {
        *codes.entry(row.code).or_default() += row.count;
    }
    codes
}

/// Families of a code, all nodes.
pub(crate) fn families(report: &Report, code: u32) -> BTreeMap<&str, u64> {
    let mut families = BTreeMap::new();
    for row in report.codes.iter().filter(|row| row.code == code) {
        *families
            .entry(row.family.as_deref().unwrap_or(""))
            .or_default() += row.count;
    }
    families
}

/// The findings of a rule.
pub(crate) fn findings<'r>(report: &'r Report, rule: &str) -> Vec<&'r Finding> {
    let found = report.findings.iter().filter(|it| it.rule == rule);
    found.collect()
}

/// The ids of the rules that fired, in the report's order.
pub(crate) fn fired(report: &Report) -> Vec<&str> {
    report.findings.iter().map(|it| it.rule.as_str()).collect()
}

/// A record's head and message.
pub(crate) fn record(time: &str, level: &str, logger: &str, message: &str) -> String {
    format!("2026.09.01 {time} [ 7 ] {{}} <{level}> {logger}: {message}\n")
}
