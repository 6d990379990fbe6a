//! `wal-layout-check` and `wal dump`: folders with right answers, logs from a writer of their own, hostile bytes, and WALs beside logs.

mod apart;
mod beside;
mod cases;
mod declared;
mod etcd;
mod folders;
mod histories;
mod hostile;
mod kafka;
mod keeper;
mod listing;
mod nats;
mod nodes;
mod others;
mod outputs;
mod overwritten;
mod postgresql;
mod raft_wal;
mod reference;
mod rocksdb;
mod writer;
mod zookeeper;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use casdiag::layout::{Choice, Declared, Inspection, ProblemKind, Wal, inspect, load};
use casdiag::report::wal::OUTPUTS;
use flate2::read::GzDecoder;
use serde_json::Value;
use tempfile::TempDir;

use writer::{entries, reference};

/// The folder with the kept cases.
fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/wal")
}

/// Unpacks a packed case; the folder goes with the returned value.
fn unpack(archive: &Path) -> TempDir {
    let folder = TempDir::new().unwrap();
    tar::Archive::new(GzDecoder::new(File::open(archive).unwrap()))
        .unpack(folder.path())
        .unwrap();
    folder
}

fn check(path: &Path) -> Inspection {
    inspect(&[path.to_path_buf()], &Choice::Detect)
}

fn check_with(path: &Path, layout: &Path) -> Inspection {
    let choice = Choice::Declared(Box::new(load_layout(layout)));
    inspect(&[path.to_path_buf()], &choice)
}

fn load_layout(path: &Path) -> Declared {
    load(path).unwrap()
}

/// A text of the repository.
#[expect(
    clippy::disallowed_methods,
    reason = "the repository's own files are small"
)]
fn document(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// An output as text.
fn output(name: &str, inspection: &Inspection) -> String {
    let output = OUTPUTS.iter().find(|output| output.name == name).unwrap();
    let mut text = Vec::new();
    (output.write)(inspection, false, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

/// The machine-readable answer, as a script would read it.
fn json(inspection: &Inspection) -> Value {
    serde_json::from_str(&output("json", inspection)).unwrap()
}

/// A folder to write segments into.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn text(&self) -> &str {
        self.path().to_str().unwrap()
    }

    fn write(&self, file: &str, bytes: &[u8]) {
        let path = self.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn remove(&self, file: &str) {
        std::fs::remove_file(self.path().join(file)).unwrap();
    }
}

/// The one WAL that was found.
fn only(inspection: &Inspection) -> &Wal {
    assert_eq!(inspection.wals.len(), 1);
    &inspection.wals[0]
}

fn kinds(wal: &Wal) -> Vec<ProblemKind> {
    wal.problems.iter().map(|problem| problem.kind).collect()
}

/// Runs the program; the exit code and what it wrote to both outputs.
fn casdiag(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_casdiag"))
        .args(arguments)
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (
        output.status.code().unwrap(),
        String::from_utf8(text).unwrap(),
    )
}

/// Segments 1 and 0xeb as a write before recovery leaves them: the second process life's records stand in the first segment.
fn misfiled(folder: &Folder) {
    let first = [entries(1..=234, 20), entries(306..=348, 21)].concat();
    folder.write("ctrl-2/seg-0000000000000001.wal", &reference(1, 7, &first));
    folder.write(
        "ctrl-2/seg-00000000000000eb.wal",
        &reference(235, 7, &entries(235..=305, 20)),
    );
}
