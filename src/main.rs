//! The `casdiag` command.

use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(casdiag::cli::run(
        &mut io::stdout().lock(),
        &mut io::stderr().lock(),
    ))
}
