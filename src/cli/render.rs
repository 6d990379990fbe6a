//! `casdiag render`: another output from a kept report, without the logs.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::options::ColorChoice;
use super::output::{self, Format};
use super::{Failure, Outcome};
use crate::report::{self, json};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A report.json; `-` reads the standard input
    report: PathBuf,
    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// Also writes every output into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Overwrites outputs in a folder that is not empty
    #[arg(long, requires = "out")]
    force: bool,
    /// Masks names of hosts and people, addresses, paths, query texts and literals in every output, the same text by the
    /// same mask
    #[arg(long)]
    redact: bool,
    /// Colors the text output
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    color: ColorChoice,
}

pub(super) fn run(arguments: &Arguments, out: &mut dyn Write) -> Result<Outcome, Failure> {
    if let Some(folder) = &arguments.out {
        report::check_folder(folder, arguments.force)?;
    }
    let path = &arguments.report;
    let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let source = open(path).map_err(|error| named(&error))?;
    let mut report = json::read(source).map_err(|error| named(&error))?;
    if arguments.redact {
        report = report::redact(report)?;
    }
    if let Some(folder) = &arguments.out {
        report::write_folder(&report, folder, arguments.force)?;
    }
    output::print(&report, arguments.format, arguments.color, out)?;
    Ok(Outcome::Clean)
}

fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if path == Path::new("-") {
        Ok(Box::new(io::stdin().lock()))
    } else {
        Ok(Box::new(BufReader::new(File::open(path)?)))
    }
}
