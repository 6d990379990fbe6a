//! Test results: readers against what the tools that wrote the sources say themselves.

mod actions;
mod codes;
mod command;
mod compare;
mod flow;
mod green;
mod hostile;
mod junit;
mod machine;
mod printed;
mod pytest;
mod report001;
mod runners;
mod said;
mod soak;
mod testflows;
mod ties;
mod whole;

use std::io::BufReader;
use std::path::{Path, PathBuf};

use casdiag::intake::{Bounds, walk};
use casdiag::parsers::ci::{Reading, TestRun, sniff};
use serde_json::Value;

use crate::product::{Ran, casdiag, repository};

/// A case's folder.
pub(super) fn case(name: &str) -> PathBuf {
    repository("tests/cases/ci").join(name)
}

/// Runs `casdiag ci` on a path.
pub(super) fn ci(path: &Path, arguments: &[&str]) -> Ran {
    let path = path.display().to_string();
    let all: Vec<&str> = ["ci", path.as_str()]
        .into_iter()
        .chain(arguments.iter().copied())
        .collect();
    casdiag(&all)
}

/// What the reader of a file's form reads in it, packed or not.
pub(super) fn read(path: &Path) -> Reading {
    let found = walk(&[path.to_path_buf()], Bounds::default(), &|_, _| u64::MAX).unwrap();
    let artifact = &found.artifacts[0];
    let (sample, _) = artifact.sample().unwrap();
    let form = sniff(&sample).unwrap_or_else(|| panic!("{} is of no form", path.display()));
    let (reader, _) = artifact.open().unwrap();
    form.read(&mut BufReader::new(reader))
}

/// The only run of a file.
pub(super) fn run(path: &Path) -> TestRun {
    let mut reading = read(path);
    assert_eq!(reading.runs.len(), 1, "{}", path.display());
    reading.runs.remove(0)
}

/// The right values of a case.
pub(super) fn expected(name: &str) -> Value {
    let text = std::fs::read_to_string(case(name).join("expected.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}
