//! `casdiag wal-layout-check` and `casdiag wal dump`.

use std::error::Error;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};

use crate::layout::{self, Choice, SingleError, Verdict};
use crate::parsers::wal::LAYOUTS;
use crate::report::wal::{OUTPUTS, dump};
use crate::vocab::Lsn;

/// Nothing wrong, or crash residue that the server repairs.
const CLEAN: u8 = 0;
/// Damage; with `--strict`, residue too.
const DAMAGED: u8 = 1;
/// The command line, a path or a layout file cannot be used.
const USAGE: u8 = 2;
/// Nothing was recognized, or something recognized could not be read whole.
const PARTIAL: u8 = 3;

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

pub(super) fn check(arguments: &CheckArguments, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let choice = match choice(arguments.layout.as_deref()) {
        Ok(choice) => choice,
        Err(message) => return usage(err, &message),
    };
    if let Some(path) = arguments
        .paths
        .iter()
        .find(|path| path.symlink_metadata().is_err())
    {
        return usage(
            err,
            &format!("{} does not exist or cannot be looked at", path.display()),
        );
    }
    let Some(output) = OUTPUTS
        .iter()
        .find(|output| output.name == arguments.format)
    else {
        return usage(err, &format!("no format is called {}", arguments.format));
    };
    let inspection = layout::inspect(&arguments.paths, &choice);
    let mut out = BufWriter::new(out);
    let written =
        (output.write)(&inspection, arguments.strict, &mut out).and_then(|()| out.flush());
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        return usage(err, &format!("cannot write the answer: {error}"));
    }
    match inspection.verdict() {
        Verdict::Damaged => DAMAGED,
        Verdict::CrashResidue if arguments.strict => DAMAGED,
        Verdict::Clean | Verdict::CrashResidue
            if inspection.wals.is_empty() || !inspection.is_complete() =>
        {
            PARTIAL
        }
        Verdict::Clean | Verdict::CrashResidue => CLEAN,
    }
}

pub(super) fn run(arguments: &WalArguments, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    match &arguments.command {
        WalCommand::Dump(arguments) => dump_file(arguments, out, err),
    }
}

fn dump_file(arguments: &DumpArguments, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let choice = match choice(arguments.layout.as_deref()) {
        Ok(choice) => choice,
        Err(message) => return usage(err, &message),
    };
    let mut segment = match layout::single(&arguments.file, &choice) {
        Ok(segment) => segment,
        Err(error @ SingleError::Open { .. }) => return usage(err, &chain(&error)),
        Err(error @ SingleError::Unknown { .. }) => {
            usage(err, &chain(&error));
            return PARTIAL;
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
    let failure = end
        .failure
        .or_else(|| out.flush().err())
        .filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
    match failure {
        Some(error) => usage(err, &format!("cannot write the records: {error}")),
        None if end.scan.faults.is_empty() => CLEAN,
        None => DAMAGED,
    }
}

fn choice(layout: Option<&str>) -> Result<Choice, String> {
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
        ));
    }
    match layout::load(path) {
        Ok(declared) => Ok(Choice::Declared(Box::new(declared))),
        Err(error) => Err(chain(&error)),
    }
}

/// An error and what caused it, in one line.
fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

fn usage(err: &mut dyn Write, message: &str) -> u8 {
    // Without a standard error the exit code alone has to tell.
    match writeln!(err, "casdiag: {message}") {
        Ok(()) | Err(_) => USAGE,
    }
}
