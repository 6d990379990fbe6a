//! `casdiag wal-layout-check` and `casdiag wal dump`.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};

use super::{Failure, Outcome};
use crate::layout::{self, Choice, Residue, Rules, SingleError, Unknown, Verdict};
use crate::parsers::wal::{Fault, FaultKind, LAYOUTS, Listing};
use crate::report::redact_inspection;
use crate::report::wal::{OUTPUTS, dump};
use crate::vocab::Lsn;

/// How much of a file tells whether it lists a folder.
const LISTING_SAMPLE: u64 = 64 << 10;

#[derive(Debug, Args)]
pub(super) struct CheckArguments {
    /// Folders to look through, and single segment files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Read everything with this layout: the name of a known one, or a file that describes one
    #[arg(long, value_name = "NAME|FILE")]
    layout: Option<String>,
    /// How to write the answer
    #[arg(long, default_value = "text", value_name = "FORMAT", value_parser = PossibleValuesParser::new(OUTPUTS.iter().map(|output| output.name)))]
    format: String,
    /// Fail on crash residue too
    #[arg(long)]
    strict: bool,
    /// Masks names of hosts, paths and files; positions, sizes and words of the check stay
    #[arg(long)]
    redact: bool,
}

#[derive(Debug, Args)]
pub(super) struct WalArguments {
    #[command(subcommand)]
    command: WalCommand,
}

#[derive(Debug, Subcommand)]
enum WalCommand {
    /// Print the records of one segment with their offsets
    Dump(DumpArguments),
}

#[derive(Debug, Args)]
struct DumpArguments {
    /// The segment
    file: PathBuf,
    /// First position to print, decimal or hexadecimal with 0x
    #[arg(long, value_name = "LSN", value_parser = lsn)]
    from: Option<Lsn>,
    /// Last position to print
    #[arg(long, value_name = "LSN", value_parser = lsn)]
    to: Option<Lsn>,
    /// Read it with this layout: the name of a known one, or a file that describes one
    #[arg(long, value_name = "NAME|FILE")]
    layout: Option<String>,
}

fn lsn(text: &str) -> Result<Lsn, String> {
    Lsn::parse(text)
        .ok_or_else(|| "neither a decimal number nor a hexadecimal one behind 0x".to_owned())
}

/// Checks whatever lies under the paths; what is damaged, or with `--strict` left over from a crash, is found.
pub(super) fn check(arguments: &CheckArguments, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let choice = choice(arguments.layout.as_deref())?;
    if let Some(path) = arguments
        .paths
        .iter()
        .find(|path| path.symlink_metadata().is_err())
    {
        return Err(format!("{} does not exist or cannot be looked at", path.display()).into());
    }
    let output = OUTPUTS
        .iter()
        .find(|output| output.name == arguments.format)
        .ok_or_else(|| format!("no format is called {}", arguments.format))?;
    let mut inspection = layout::inspect(&arguments.paths, &choice);
    let others: Vec<&str> = inspection
        .unknown
        .iter()
        .filter_map(read_elsewhere)
        .collect();
    if arguments.redact {
        redact_inspection(&mut inspection);
    }
    let mut out = BufWriter::new(out);
    (output.write)(&inspection, arguments.strict, &mut out)?;
    out.flush()?;
    if let Some(what) = others.first() {
        super::complain_of(&format!(
            "{what} is not read here, only folders and segments are: casdiag analyze reads it"
        ));
    }
    Ok(match inspection.verdict() {
        Verdict::Damaged => Outcome::Found,
        Verdict::CrashResidue if arguments.strict => Outcome::Found,
        Verdict::Clean | Verdict::CrashResidue
            if inspection.wals.is_empty() || !inspection.is_complete() =>
        {
            Outcome::Partial
        }
        Verdict::Clean | Verdict::CrashResidue => Outcome::Clean,
    })
}

/// Endings of archives and packed files.
const PACKED: &[&str] = &[
    "tar", "tgz", "tbz2", "txz", "zip", "gz", "bz2", "xz", "zst", "lz4",
];

/// What a file without a WAL's name is called, if it may have one in it that another command reads.
fn read_elsewhere(unknown: &Unknown) -> Option<&'static str> {
    let file = Path::new(&unknown.path).join(&unknown.example);
    let ending = file.extension().unwrap_or_default();
    if PACKED.iter().any(|it| ending.eq_ignore_ascii_case(it)) {
        return Some("an archive or a packed file");
    }
    let mut sample = Vec::new();
    let read = File::open(&file).and_then(|it| it.take(LISTING_SAMPLE).read_to_end(&mut sample));
    (read.is_ok() && Listing::claims(&sample)).then_some("a listing of a folder")
}

pub(super) fn run(arguments: &WalArguments, out: &mut dyn Write) -> Result<Outcome, Failure> {
    match &arguments.command {
        WalCommand::Dump(arguments) => dump_file(arguments, out),
    }
}

fn dump_file(arguments: &DumpArguments, out: &mut dyn Write) -> Result<Outcome, Failure> {
    let choice = choice(arguments.layout.as_deref())?;
    let mut segment = match layout::single(&arguments.file, &choice) {
        Ok(segment) => segment,
        Err(error @ SingleError::Open { .. }) => return Err(error.into()),
        Err(error @ SingleError::Unknown { .. }) => {
            super::complain(&error);
            return Ok(Outcome::Partial);
        }
    };
    let mut out = BufWriter::new(out);
    let range = (arguments.from, arguments.to);
    let end = dump(
        &segment.format,
        &mut segment.reader,
        &segment.context,
        range,
        &mut out,
    );
    if let Some(error) = end.failure {
        return Err(error.into());
    }
    out.flush()?;
    let may_be_empty = Rules::of(&segment.format).empty_middle == Residue::Legal;
    let is_legal = |fault: &Fault| fault.kind == FaultKind::Empty && may_be_empty;
    Ok(if end.scan.faults.iter().all(is_legal) {
        Outcome::Clean
    } else {
        Outcome::Found
    })
}

pub(super) fn choice(layout: Option<&str>) -> Result<Choice, Failure> {
    let Some(layout) = layout else {
        return Ok(Choice::Detect);
    };
    if let Some(known) = LAYOUTS.iter().find(|known| known.id == layout) {
        return Ok(Choice::Known(known));
    }
    let path = Path::new(layout);
    if !path.exists() {
        let known: Vec<&str> = LAYOUTS.iter().map(|known| known.id).collect();
        return Err(format!(
            "--layout {layout}: no such file, and the known layouts are {}",
            known.join(", ")
        )
        .into());
    }
    Ok(Choice::Declared(Box::new(layout::load(path)?)))
}
