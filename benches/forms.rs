//! Speed of `analyze` on every form that a log comes in, against the plain text log of `ClickHouse` in the same run.
//!
//! ```text
//! cargo bench --profile dist --bench forms                   every form, 100 MB each
//! cargo bench --profile dist --bench forms -- --mb 20        smaller
//! cargo bench --profile dist --bench forms -- list           the names of the forms
//! cargo bench --profile dist --bench forms -- generate FORM DIR --mb N
//! cargo bench --profile dist --bench forms -- analyze DIR
//! ```
#![expect(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::disallowed_types, reason = "a bench measures time")]
#![expect(clippy::cast_precision_loss, reason = "ratios need no more digits")]

#[expect(
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a generator: small numbers, and text of its own"
)]
mod chlog;
#[path = "forms/dialects.rs"]
mod dialects;
#[path = "forms/wrappings.rs"]
mod wrappings;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::Instant;

use casdiag::pipeline::{self, Plan, Progress};
use casdiag::rules::{RuleBase, load};
use chlog::Arguments;
use dialects::DIALECTS;
use wrappings::{ROWS, WRAPPINGS};

const ROUNDS: usize = 5;

/// The form that the others are compared with.
const PLAIN: &str = "ClickHouse, text";

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let at = given.iter().position(|it| it == "--mb");
    let megabytes = at.map_or(100, |at| given[at + 1].parse().unwrap());
    match given.first().map(String::as_str) {
        Some("list") => {
            for name in names() {
                println!("{name}");
            }
        }
        Some("analyze") => {
            let records = analyze(Path::new(&given[1]), &load(&[]).unwrap());
            println!("{records} records");
        }
        Some("generate") => generate(&given[1], Path::new(&given[2]), megabytes),
        _ => compare(megabytes),
    }
}

fn names() -> Vec<&'static str> {
    let wrapped = WRAPPINGS.iter().map(|it| it.0);
    let rows = ROWS.iter().map(|it| it.0);
    let dialects = DIALECTS.iter().map(|it| it.0);
    [PLAIN]
        .into_iter()
        .chain(wrapped)
        .chain(rows)
        .chain(dialects)
        .collect()
}

/// Writes so many megabytes of a form.
fn generate(form: &str, out: &Path, megabytes: u64) {
    fs::create_dir_all(out).unwrap();
    if let Some((_, file, line)) = DIALECTS.iter().find(|it| it.0 == form) {
        let mut to = BufWriter::new(File::create(out.join(file)).unwrap());
        let (mut number, mut bytes) = (0, 0);
        while bytes < megabytes * 1_000_000 {
            let line = line(number) + "\n";
            to.write_all(line.as_bytes()).unwrap();
            bytes += line.len() as u64;
            number += 1;
        }
        return;
    }
    let arguments = Arguments {
        bytes: megabytes * 1_000_000,
        nodes: 3,
        error_percent: 1.0,
        minutes: 285,
        decoys: 20,
        fatal: 3,
        err_log: false,
        pieces: 1,
    };
    if form == PLAIN {
        drop(chlog::write(out, &arguments).unwrap());
        return;
    }
    let plain = tempfile::tempdir().unwrap();
    drop(chlog::write(plain.path(), &arguments).unwrap());
    let wrapping = WRAPPINGS.iter().find(|it| it.0 == form);
    let rows = ROWS.iter().find(|it| it.0 == form);
    match (wrapping, rows) {
        (Some(wrapping), _) => wrappings::wrap(plain.path(), out, wrapping),
        (None, Some(rows)) => wrappings::export(plain.path(), out, *rows),
        (None, None) => println!("no such form: {form}"),
    }
}

fn bytes_in(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(|it| it.unwrap());
    let bytes = entries.map(|entry| {
        let is_folder = entry.file_type().unwrap().is_dir();
        if is_folder {
            bytes_in(&entry.path())
        } else {
            entry.metadata().unwrap().len()
        }
    });
    bytes.sum()
}

/// Interleaved rounds over all forms; of each the median.
fn compare(megabytes: u64) {
    let base = load(&[]).unwrap();
    let made: Vec<_> = names()
        .into_iter()
        .map(|name| {
            let folder = tempfile::tempdir().unwrap();
            generate(name, folder.path(), megabytes);
            (name, folder)
        })
        .collect();
    let mut walls: Vec<Vec<f64>> = vec![Vec::new(); made.len()];
    for _ in 0..ROUNDS {
        for ((name, folder), walls) in made.iter().zip(&mut walls) {
            let start = Instant::now();
            let records = analyze(folder.path(), &base);
            walls.push(start.elapsed().as_secs_f64());
            assert!(records > 0, "{name}");
        }
    }
    let speeds: Vec<f64> = made
        .iter()
        .zip(walls)
        .map(|((_, folder), mut walls)| {
            walls.sort_by(f64::total_cmp);
            bytes_in(folder.path()) as f64 / 1e6 / walls[ROUNDS / 2]
        })
        .collect();
    for ((name, _), speed) in made.iter().zip(&speeds) {
        println!(
            "{name:<24} {speed:>6.0} MB/s, {:.2} times the text log",
            speed / speeds[0]
        );
    }
}

/// Analyses a folder on one thread; how many records it holds.
fn analyze(folder: &Path, base: &RuleBase) -> u64 {
    let plan = Plan {
        roots: vec![folder.to_owned()],
        threads: 1,
        ..Plan::default()
    };
    let analysis = pipeline::analyze(&plan, base, &Progress::default()).unwrap();
    analysis.nodes.iter().map(|node| node.tally.records).sum()
}
