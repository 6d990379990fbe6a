//! What a system installs beside a program: completions of shells, and the manual page.

use std::io::Write;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::{Failure, Outcome};

#[derive(Debug, Args)]
pub(super) struct CompletionsArguments {
    /// The shell that is to complete commands and flags
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the completions of a shell.
pub(super) fn completions(
    arguments: &CompletionsArguments,
    out: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let mut command = super::Arguments::command();
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "casdiag", &mut text);
    out.write_all(&text)?;
    Ok(Outcome::Clean)
}

/// Prints the manual page.
pub(super) fn man(out: &mut dyn Write) -> Result<Outcome, Failure> {
    let mut text = Vec::new();
    clap_mangen::Man::new(super::Arguments::command()).render(&mut text)?;
    out.write_all(&text)?;
    Ok(Outcome::Clean)
}
