//! The command line: arguments into calls, results into exit codes.

mod wal;

use std::io::Write;

use clap::{Parser, Subcommand};

/// Log forensics for replicated storage.
#[derive(Debug, Parser)]
#[command(name = "casdiag", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Is every record of a write-ahead log in the file that a reader choosing by name will open?
    WalLayoutCheck(wal::CheckArguments),
    /// Look into write-ahead log segments
    Wal(wal::WalArguments),
}

/// Runs the command line; returns the exit code.
pub fn run(out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            // Nobody is left to tell if this cannot be printed.
            return error.print().map_or(2, |()| code);
        }
    };
    match arguments.command {
        Command::WalLayoutCheck(arguments) => wal::check(&arguments, out, err),
        Command::Wal(arguments) => wal::run(&arguments, out, err),
    }
}
