//! One of the outputs on stdout.

use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;

use super::Failure;
use super::options::ColorChoice;
use crate::report::model::Report;
use crate::report::{REPORTS, Style};

/// Columns where no terminal says how many it has.
const PAGE_WIDTH: usize = 120;

/// Where the user says how wide a line may be.
const COLUMNS: &str = "COLUMNS";

/// An output on stdout.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Format {
    /// A summary that fits a screen.
    Text,
    /// The whole report for machines.
    Json,
    /// A report that pastes into a bug tracker.
    Markdown,
    /// The same with a front matter, for a tracker that keeps bugs as files.
    Bug,
    /// A page for a browser, in one file.
    Html,
    /// Annotations of a GitHub workflow run.
    Github,
    /// A case per rule, for a CI that shows test results.
    Junit,
    /// Results for code scanning.
    Sarif,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Markdown => "markdown",
            Self::Bug => "bug",
            Self::Html => "html",
            Self::Github => "github",
            Self::Junit => "junit",
            Self::Sarif => "sarif",
        }
    }
}

/// Prints a report in a format.
pub(super) fn print(
    report: &Report,
    format: Format,
    color: ColorChoice,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if let Some(output) = REPORTS.iter().find(|it| it.name == format.name()) {
        (output.write)(report, &style(color), out)?;
    }
    // What is said on stderr afterwards comes afterwards.
    out.flush()?;
    Ok(())
}

pub(super) fn style(choice: ColorChoice) -> Style {
    let terminal = io::stdout().is_terminal();
    let color = match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    };
    let of_terminal = || {
        let size = terminal.then(terminal_size::terminal_size).flatten();
        size.map(|(width, _)| usize::from(width.0))
    };
    let width = asked_width().or_else(of_terminal);
    Style {
        color,
        width: width.unwrap_or(PAGE_WIDTH),
    }
}

/// The columns that the user asks for by `COLUMNS`, as other programs take it, whatever stdout is.
fn asked_width() -> Option<usize> {
    let columns = std::env::var_os(COLUMNS)?;
    let columns = columns.to_str()?.trim().parse::<usize>().ok();
    columns.filter(|it| *it > 0)
}
