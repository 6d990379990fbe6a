//! Makes server logs with known counts, shaped like a storm of refused relinks.
//!
//! Errors come in waves, each a head, a blank line, twelve frames and a version line; the rest are ordinary one-line records.
//! Decoys are queries that quote the text of the refusal: a plain search counts them, and they are no refusals. The same
//! arguments give the same bytes.

mod records;
mod text;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use records::Node;
use text::{World, world};

/// What to make.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arguments {
    /// Of all main logs together.
    pub(crate) bytes: u64,
    /// How many nodes: two or more, since a part comes from another one.
    pub(crate) nodes: usize,
    /// How many of a hundred records are errors.
    pub(crate) error_percent: f64,
    /// How long the logs are.
    pub(crate) minutes: u64,
    /// How many queries quote the refusal.
    pub(crate) decoys: u64,
    /// How many Fatal records the first node has, all after half of the time.
    pub(crate) fatal: u64,
    /// Whether an err.log repeats what is Warning or worse.
    pub(crate) err_log: bool,
    /// In how many pieces each main log is.
    pub(crate) pieces: u64,
}

/// The signals that are counted, by their ids in the rule base.
pub(crate) const SIGNALS: [&str; 6] = [
    "relink-refused",
    "relink-unproven",
    "relink-finished",
    "ref-catalog-error",
    "s3-error",
    "fatal-record",
];

/// What stands in the logs.
#[derive(Debug, Default)]
pub(crate) struct Truth {
    /// By minute since 1970, number of the node from 1, and signal.
    pub(crate) counts: BTreeMap<(i64, usize, &'static str), Count>,
    /// By table: refusals.
    pub(crate) tables: BTreeMap<String, u64>,
    /// By part's name: refusals.
    pub(crate) parts: BTreeMap<String, u64>,
    /// By node: records and lines of the main log.
    pub(crate) totals: Vec<(u64, u64)>,
}

/// A count in two ways.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count {
    /// Records that are the signal.
    pub(crate) records: u64,
    /// Lines that hold its text.
    pub(crate) lines: u64,
}

/// 2026-09-01 21:12:00, in seconds of that month.
const START: u64 = 21 * 3600 + 12 * 60;
/// 2026-09-01 00:00 in minutes since 1970.
const MONTH: i64 = 29_803_680;
/// In microseconds.
const MINUTE: u64 = 60_000_000;

/// The minute since 1970 that lies `us` microseconds after the start.
fn minute(us: u64) -> i64 {
    MONTH + ((START * 1_000_000 + us) / MINUTE) as i64
}

/// The share of errors in a minute, relative to others.
fn wave(minute: u64) -> f64 {
    match minute % 30 {
        4..=9 => 2.4,
        17..=19 => 1.9,
        _ => 0.56,
    }
}

/// How many bytes records have on average, and how errors are spread.
struct Shares {
    ordinary: f64,
    error: f64,
    percent: f64,
    mean_wave: f64,
}

impl Shares {
    fn new(arguments: &Arguments, world: &World) -> Self {
        let mut sink = Truth::default();
        let mut mean = |record: fn(&mut Node<'_>, &mut Truth)| {
            let mut probe = Node::new(1, arguments.nodes, world, 7);
            (0..20_000).for_each(|_| record(&mut probe, &mut sink));
            probe.out.len() as f64 / 20_000.0
        };
        let ordinary = mean(|node, truth| node.ordinary(truth));
        let error = mean(|node, truth| node.error(truth));
        Self {
            ordinary,
            error,
            percent: arguments.error_percent,
            mean_wave: (0..arguments.minutes).map(wave).sum::<f64>() / arguments.minutes as f64,
        }
    }

    /// The share of errors in a minute.
    fn errors(&self, minute: u64) -> f64 {
        (self.percent / 100.0 * wave(minute) / self.mean_wave).min(1.0)
    }

    /// The mean bytes of a record of a minute.
    fn size(&self, minute: u64) -> f64 {
        self.ordinary + self.errors(minute) * (self.error - self.ordinary)
    }
}

/// Writes `out/clickhouseN/clickhouse-server.log` for each node, and what belongs to it.
pub(crate) fn write(out: &Path, arguments: &Arguments) -> io::Result<Truth> {
    let world = world(1, 400);
    let shares = Shares::new(arguments, &world);
    let mut truth = Truth::default();
    for id in 1..=arguments.nodes {
        let folder = out.join(format!("clickhouse{id}"));
        fs::create_dir_all(&folder)?;
        let files = Files::create(&folder, arguments)?;
        node(id, &world, &shares, arguments, files, &mut truth)?;
    }
    Ok(truth)
}

/// The files of one node.
struct Files<'f> {
    folder: &'f Path,
    main: BufWriter<File>,
    err: Option<BufWriter<File>>,
    budget: u64,
    written: u64,
    /// The piece that is written; the last one is number 0.
    piece: u64,
    pieces: u64,
}

impl<'f> Files<'f> {
    fn create(folder: &'f Path, arguments: &Arguments) -> io::Result<Self> {
        let open = |name: String| File::create(folder.join(name)).map(BufWriter::new);
        let piece = arguments.pieces.saturating_sub(1);
        Ok(Self {
            folder,
            main: open(name_of(piece))?,
            err: arguments
                .err_log
                .then(|| open("clickhouse-server.err.log".to_owned()))
                .transpose()?,
            budget: arguments.bytes / arguments.nodes as u64,
            written: 0,
            piece,
            pieces: arguments.pieces,
        })
    }

    /// Writes what a node has ready, and begins the next piece when its share is full.
    fn take(&mut self, node: &mut Node<'_>) -> io::Result<()> {
        self.main.write_all(&node.out)?;
        if let Some(err) = &mut self.err {
            err.write_all(&node.err)?;
        }
        self.written += node.out.len() as u64;
        node.out.clear();
        node.err.clear();
        let full = (self.pieces - self.piece) * self.budget / self.pieces;
        if self.piece > 0 && self.written >= full {
            self.piece -= 1;
            self.main.flush()?;
            let path = self.folder.join(name_of(self.piece));
            self.main = BufWriter::new(File::create(path)?);
        }
        Ok(())
    }
}

/// The name of a piece: the newest has none of the numbers that `.log.0`, the next one, begins with.
fn name_of(piece: u64) -> String {
    match piece.checked_sub(1) {
        None => "clickhouse-server.log".to_owned(),
        Some(number) => format!("clickhouse-server.log.{number}"),
    }
}

/// One node's log. Each minute gets its share of the bytes that are left, the last one in halves of what is left of it, so
/// that time and bytes end together. In such a stretch each record has a slot of its own, and a stamp at random in it.
fn node(
    id: usize,
    world: &World,
    shares: &Shares,
    arguments: &Arguments,
    mut files: Files<'_>,
    truth: &mut Truth,
) -> io::Result<()> {
    let (budget, minutes) = (files.budget, arguments.minutes);
    let nodes = arguments.nodes as u64;
    let decoys = arguments.decoys / nodes + u64::from(id as u64 <= arguments.decoys % nodes);
    let mut decoys_done = 0;
    let mut fatal = if id == 1 { arguments.fatal } else { 0 };
    let mut node = Node::new(id, arguments.nodes, world, 1000 + id as u64);
    let end = minutes * MINUTE;
    let mut sizes: f64 = (0..minutes).map(|minute| shares.size(minute)).sum();
    let (mut from, mut owed) = (0, 0.5);
    while from < end && files.written + (node.out.len() as u64) < budget {
        let minute = from / MINUTE;
        let last = minute + 1 == minutes;
        let (to, part) = if last {
            (from + (end - from).div_ceil(2), 0.5)
        } else {
            (from + MINUTE, shares.size(minute) / sizes)
        };
        sizes -= shares.size(minute);
        let left = budget - files.written - node.out.len() as u64;
        owed += left as f64 * part / shares.size(minute);
        let records = (owed as u64).max(u64::from(last));
        owed -= records as f64;
        for number in 0..records {
            let at = (number as f64 + node.r.unit()) / records as f64;
            node.us = (from + (at * (to - from) as f64) as u64).min(to - 1);
            let written = files.written + node.out.len() as u64;
            if decoys_done < decoys && written * (decoys + 1) >= budget * (decoys_done + 1) {
                node.decoy(truth);
                decoys_done += 1;
            } else if fatal > 0 && node.us > end / 2 {
                node.fatal(truth);
                fatal -= 1;
            } else if node.r.unit() < shares.errors(minute) {
                node.error(truth);
            } else {
                node.ordinary(truth);
            }
            if node.out.len() > 1 << 20 {
                files.take(&mut node)?;
            }
        }
        from = to;
    }
    files.take(&mut node)?;
    files.main.flush()?;
    files.err.iter_mut().try_for_each(Write::flush)?;
    truth.totals.push((node.records, node.lines));
    Ok(())
}
