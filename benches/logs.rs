//! Speed of `analyze` on logs with known counts, against what the same bytes cost others in the same run.
//!
//! ```text
//! cargo bench --profile dist --bench logs                        plain, gz and zst, both mixes, 1 GB each
//! cargo bench --profile dist --bench logs -- --mb 200            smaller
//! cargo bench --profile dist --bench logs -- generate DIR        the logs alone, for other programs
//! ```
//!
//! `generate` takes `--mb N`, `--error-percent N`, `--err-log` and `--pieces N`.
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

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use aho_corasick::packed;
use casdiag::pipeline::{self, Plan, Progress};
use casdiag::rules::{RuleBase, load, load_alone};
use chlog::Arguments;

const ROUNDS: usize = 5;

/// What a search by hand looks for.
const TEXTS: [&str; 6] = [
    "did not prove it still holds the manifest it offered for part",
    "Relink confirm is unproven (unknown)",
    "finished (no bytes transferred)",
    "ref_catalog",
    "(S3_ERROR)",
    "<Fatal>",
];

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str, otherwise: u64| {
        let at = given.iter().position(|it| it == name);
        at.map_or(otherwise, |at| given[at + 1].parse().unwrap())
    };
    let arguments = Arguments {
        bytes: number("--mb", 1_000) * 1_000_000,
        nodes: 3,
        error_percent: number("--error-percent", 15) as f64,
        minutes: 285,
        decoys: 200,
        fatal: 3,
        err_log: given.iter().any(|it| it == "--err-log"),
        pieces: number("--pieces", 1),
    };
    if given.first().is_some_and(|it| it == "generate") {
        generate(Path::new(&given[1]), &arguments);
        return;
    }
    if given.first().is_some_and(|it| it == "rules") {
        let rules = [("measured.toml".to_owned(), rules(given[2].parse().unwrap()))];
        drop(analyze(
            Path::new(&given[1]),
            1,
            &load_alone(&rules).unwrap(),
        ));
        return;
    }
    let base = load(&[]).unwrap();
    for (mix, error_percent) in [("storm", 15.0), ("quiet", 1.0)] {
        let folder = tempfile::tempdir().unwrap();
        let arguments = Arguments {
            error_percent,
            ..arguments
        };
        let truth = chlog::write(folder.path(), &arguments).unwrap();
        check(folder.path(), &base, &truth);
        println!(
            "{mix}: {} MB, every count as made",
            arguments.bytes / 1_000_000
        );
        for packing in [Packing::Plain, Packing::Gzip, Packing::Zstd] {
            packing.apply(folder.path());
            measure(packing, folder.path(), arguments.bytes, &base);
        }
    }
}

/// Writes logs, and beside them what a reader should count.
fn generate(out: &Path, arguments: &Arguments) {
    let truth = chlog::write(out, arguments).unwrap();
    let mut table = File::create(out.join("truth.tsv")).unwrap();
    writeln!(table, "minute\tnode\tsignal\trecords\tlines_with_the_text").unwrap();
    for ((minute, node, signal), count) in &truth.counts {
        let (records, lines) = (count.records, count.lines);
        writeln!(
            table,
            "{minute}\tclickhouse{node}\t{signal}\t{records}\t{lines}"
        )
        .unwrap();
    }
}

/// So many rules, each with a signal of its own: six that the logs hold, and others that they lack, spread over the levels.
fn rules(count: usize) -> String {
    const LEVELS: [&str; 5] = ["error", "warning", "information", "debug", "trace"];
    let held = [
        (
            "error",
            "did not prove it still holds the manifest it offered for part {part:part}",
        ),
        ("debug", "Relink confirm is unproven ({reason}) for ref"),
        ("debug", "Relink of part {part:part} onto disk"),
        ("error", "key data/cas/ref_catalog, object size {size:int}"),
        ("error", "(S3_ERROR)"),
        ("fatal", "Short fault info"),
    ];
    let held = held
        .iter()
        .map(|(level, text)| (*level, (*text).to_owned()));
    let lacked = (0..count).map(|number| {
        let text = format!(
            "component {:03} failed to renew lease {number} of {{owner:word}}",
            number * 7919 % 1000
        );
        (LEVELS[number % LEVELS.len()], text)
    });
    let mut file = String::new();
    for (number, (level, text)) in held.chain(lacked).take(count).enumerate() {
        write!(
            file,
                "[[signal]]\nid = \"measured-{number}\"\nwhat = \"w\"\nlevels = [\"{level}\"]\ntemplates = [\"{text}\"]\n\
                 [[rule]]\nid = \"measured-rule-{number}\"\ntitle = \"t\"\ncategory = \"c\"\nmechanism = \"m\"\n\
                 counts.all = {{ signal = \"measured-{number}\" }}\nwhen = {{ count = \"all\", at-least = 1 }}\n\
                 [[rule.verdict]]\nseverity = \"info\"\nconfidence = \"certain\"\ntitle = \"t\"\n"
        )
        .unwrap();
    }
    file
}

fn analyze(folder: &Path, threads: usize, base: &RuleBase) -> casdiag::analysis::Analysis {
    let plan = Plan {
        roots: vec![folder.to_owned()],
        threads,
        ..Plan::default()
    };
    pipeline::analyze(&plan, base, &Progress::default()).unwrap()
}

/// Compares every count with what was made, cell by cell.
fn check(folder: &Path, base: &RuleBase, truth: &chlog::Truth) {
    let analysis = analyze(folder, 2, base);
    let mut cells = 0;
    for (at, node) in analysis.nodes.iter().enumerate() {
        for signal in chlog::SIGNALS {
            let index = base.signals.index(signal).unwrap();
            let minutes = &node.tally.signals[usize::from(index)].minutes;
            let made = truth
                .counts
                .iter()
                .filter(|((_, id, of), count)| (*id, *of) == (at + 1, signal) && count.records > 0);
            let made: Vec<(i64, u64)> = made
                .map(|((minute, ..), count)| (*minute, count.records))
                .collect();
            let counted: Vec<(i64, u64)> = minutes.counts().into_iter().collect();
            assert_eq!(counted, made, "{} {signal}", node.tally.node);
            cells += made.len();
        }
        assert_eq!(node.tally.records, truth.totals[at].0);
    }
    assert!(cells > 0);
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packing {
    Plain,
    Gzip,
    Zstd,
}

impl Packing {
    /// Packs the logs of a folder as `gzip -6` and `zstd -3` do.
    fn apply(self, folder: &Path) {
        if self == Self::Plain {
            return;
        }
        for path in logs(folder) {
            let unpacked = self.before().reader(&path);
            let (mut from, to) = (unpacked, path.with_extension(self.extension()));
            let to = File::create(to).unwrap();
            match self {
                Self::Plain => {}
                Self::Gzip => {
                    let mut to = flate2::write::GzEncoder::new(to, flate2::Compression::new(6));
                    io::copy(&mut from, &mut to).unwrap();
                    drop(to.finish().unwrap());
                }
                Self::Zstd => zstd::stream::copy_encode(from, to, 3).unwrap(),
            }
            fs::remove_file(path).unwrap();
        }
    }

    /// What a folder is packed as when this comes next.
    fn before(self) -> Self {
        if self == Self::Zstd {
            Self::Gzip
        } else {
            Self::Plain
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Plain => "log",
            Self::Gzip => "gz",
            Self::Zstd => "zst",
        }
    }

    fn reader(self, path: &Path) -> Box<dyn Read> {
        let file = File::open(path).unwrap();
        match self {
            Self::Plain => Box::new(file),
            Self::Gzip => Box::new(flate2::read::MultiGzDecoder::new(io::BufReader::new(file))),
            Self::Zstd => Box::new(zstd::Decoder::new(file).unwrap()),
        }
    }
}

fn logs(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = Vec::new();
    for node in fs::read_dir(folder).unwrap() {
        for file in fs::read_dir(node.unwrap().path()).unwrap() {
            paths.push(file.unwrap().path());
        }
    }
    paths.sort();
    paths
}

/// Reads all logs, a piece after another.
fn pass(packing: Packing, folder: &Path, mut each: impl FnMut(&[u8])) {
    let mut buffer = vec![0; 1 << 20];
    for path in logs(folder) {
        let mut reader = packing.reader(&path);
        loop {
            let read = reader.read(&mut buffer).unwrap();
            if read == 0 {
                break;
            }
            each(&buffer[..read]);
        }
    }
}

/// Interleaved rounds; the median of each.
fn measure(packing: Packing, folder: &Path, bytes: u64, base: &RuleBase) {
    let searcher = packed::Searcher::new(TEXTS).unwrap();
    let mut sink = 0;
    let mut walls: [Vec<f64>; 5] = Default::default();
    for _ in 0..ROUNDS {
        let mut time = |at: usize, work: &mut dyn FnMut()| {
            let start = Instant::now();
            work();
            walls[at].push(start.elapsed().as_secs_f64());
        };
        time(0, &mut || {
            pass(packing, folder, |piece| sink += piece.len());
        });
        time(1, &mut || {
            pass(packing, folder, |piece| {
                sink += memchr::memchr_iter(b'\n', piece).count();
            });
        });
        time(2, &mut || {
            pass(packing, folder, |piece| {
                sink += searcher.find_iter(piece).count();
            });
        });
        time(3, &mut || drop(analyze(folder, 1, base)));
        time(4, &mut || drop(analyze(folder, 2, base)));
    }
    assert!(sink > 0);
    let [unpacking, newlines, search, one, two] = walls.map(|mut walls| {
        walls.sort_by(f64::total_cmp);
        walls[ROUNDS / 2]
    });
    let speed = |wall: f64| bytes as f64 / 1e6 / wall;
    println!(
        "  {packing:?}: analyze {:.0} MB/s on one thread, {:.0} on two ({:.2} times)",
        speed(one),
        speed(two),
        one / two
    );
    for (name, wall) in [
        ("reading and unpacking alone", unpacking),
        ("a newline count", newlines),
        ("a search for six texts", search),
    ] {
        println!(
            "    {name:<28} {:>6.0} MB/s; analyze takes {:.2} times as long on one thread, {:.2} times on two",
            speed(wall),
            one / wall,
            two / wall
        );
    }
}
