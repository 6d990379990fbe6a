//! `wal-layout-check` and `wal dump`: folders with right answers, logs from a writer of their own, and hostile bytes.

mod cases;

use std::fs::File;
use std::path::{Path, PathBuf};

use casdiag::layout::{Choice, Inspection, inspect, load};
use casdiag::report::wal::OUTPUTS;
use flate2::read::GzDecoder;
use serde_json::Value;
use tempfile::TempDir;

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
    inspect(
        &[path.to_path_buf()],
        &Choice::Declared(Box::new(load(layout).unwrap())),
    )
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
