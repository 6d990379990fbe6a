//! The command line: arguments become a plan, an outcome becomes an exit code. Opens no input and concludes nothing.

mod again;
mod analyze;
mod ci;
mod controllers;
mod diff;
mod explain;
mod lines;
mod manual;
mod options;
mod orders;
mod output;
mod pictures;
mod progress;
mod render;
mod replay;
mod rules;
mod soak;
mod wal;

use std::error::Error as StdError;
use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::report::{escape, json};

/// What happened in a replicated cluster: read its logs, count, conclude, cite.
#[derive(Debug, Parser)]
#[command(name = "casdiag", version, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Analyses everything found under the paths and prints what happened.
    Analyze(analyze::Arguments),
    /// Says of a CI job which failing tests are one failure, which are collateral, and what the cause is.
    Ci(analyze::Arguments),
    /// Lists the records behind a signal's count, and why a plain grep counts differently.
    Lines(lines::Arguments),
    /// Says of a line whether and why it counts for a rule, and why the rule fires or keeps silent.
    Explain(explain::Arguments),
    /// Prints another output from a kept report.json.
    Render(render::Arguments),
    /// Says what is new, gone, more and less in a run against another.
    Diff(diff::Arguments),
    /// Shows, tests and checks the rule base.
    #[command(subcommand)]
    Rules(rules::Command),
    /// Is every record of a write-ahead log in the file that a reader choosing by name will open?
    WalLayoutCheck(wal::CheckArguments),
    /// Looks into write-ahead log segments.
    Wal(wal::WalArguments),
    /// Runs an incident again in the reference engine, under any protocol and fix.
    Replay(replay::ReplayArguments),
    /// Runs a soak of the reference engine, with the operations of the real harness.
    #[command(subcommand)]
    Soak(soak::SoakCommand),
    /// Prints completions for a shell.
    Completions(manual::CompletionsArguments),
    /// Prints the manual page, for `man`.
    Man,
    /// Prints the JSON Schema of report.json.
    #[command(hide = true)]
    Schema,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Nothing at or above `--fail-on`, nothing that failed.
    Clean,
    /// Something at or above `--fail-on`, or a failed test.
    Found,
    /// Nothing was recognised, or something recognised could not be read or run whole.
    Partial,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Clean => 0,
            Outcome::Found => 1,
            Outcome::Partial => 3,
        })
    }
}

/// What stops a command; its exit code is 2.
type Failure = Box<dyn StdError + Send + Sync>;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut out = Answer::over(io::stdout().lock());
    let result = match arguments.command {
        Command::Analyze(arguments) => analyze::run(&arguments, &mut out),
        Command::Ci(arguments) => ci::run(&arguments, &mut out),
        Command::Lines(arguments) => lines::run(&arguments, &mut out),
        Command::Explain(arguments) => explain::run(&arguments, &mut out),
        Command::Render(arguments) => render::run(&arguments, &mut out),
        Command::Diff(arguments) => diff::run(&arguments, &mut out),
        Command::Rules(command) => rules::run(&command, &mut out),
        Command::WalLayoutCheck(arguments) => wal::check(&arguments, &mut out),
        Command::Wal(arguments) => wal::run(&arguments, &mut out),
        Command::Replay(arguments) => replay::replay(&arguments, &mut out),
        Command::Soak(command) => soak::soak(&command, &mut out),
        Command::Completions(arguments) => manual::completions(&arguments, &mut out),
        Command::Man => manual::man(&mut out),
        Command::Schema => schema(&mut out),
    };
    let result = result.and_then(|outcome| {
        out.flush()?;
        Ok(outcome)
    });
    match result {
        Ok(outcome) => outcome.into(),
        Err(failure) => {
            complain(failure.as_ref());
            ExitCode::from(2)
        }
    }
}

/// Bytes written at once.
const PIECE_BYTES: usize = 1 << 16;

fn schema(out: &mut dyn Write) -> Result<Outcome, Failure> {
    out.write_all(json::schema().as_bytes())?;
    Ok(Outcome::Clean)
}

/// What is printed. When whoever reads it has seen enough, the rest is dropped and the command goes on: its exit code is
/// the outcome's, so that `casdiag ... | head` passes no gate that `casdiag ...` fails.
///
/// It goes out in large pieces: the standard output would write each line by itself.
struct Answer<W: Write> {
    out: BufWriter<W>,
    unwanted: bool,
}

impl<W: Write> Answer<W> {
    fn over(out: W) -> Self {
        Self {
            out: BufWriter::with_capacity(PIECE_BYTES, out),
            unwanted: false,
        }
    }

    fn unless_closed<T>(&mut self, result: io::Result<T>, dropped: T) -> io::Result<T> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.unwanted = true;
                Ok(dropped)
            }
            result => result,
        }
    }
}

impl<W: Write> Write for Answer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.unwanted {
            return Ok(bytes.len());
        }
        let written = self.out.write(bytes);
        self.unless_closed(written, bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.unwanted {
            return Ok(());
        }
        let flushed = self.out.flush();
        self.unless_closed(flushed, ())
    }
}

/// Prints a failure and its causes on stderr.
fn complain(failure: &dyn StdError) {
    let mut text = format!("casdiag: {failure}");
    let mut cause = failure.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    print_on_stderr(&text);
}

/// Says on stderr what the exit code alone would leave unclear.
fn complain_of(what: &str) {
    print_on_stderr(&format!("casdiag: {what}"));
}

fn print_on_stderr(text: &str) {
    // Nobody can be told that stderr is closed.
    // Paths and the text of rules files are foreign; a message of several lines stays one.
    for line in text.lines() {
        drop(writeln!(io::stderr(), "{}", escape::terminal(line)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts what is written into it, and fails from some piece on.
    #[derive(Default)]
    struct Pipe {
        writes: usize,
        bytes: usize,
        closes_after: Option<usize>,
    }

    impl Write for &mut Pipe {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.closes_after.is_some_and(|it| self.writes >= it) {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            self.writes += 1;
            self.bytes += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn lines_go_out_in_large_pieces() {
        let mut pipe = Pipe::default();
        let mut answer = Answer::over(&mut pipe);
        for _ in 0..20_000 {
            answer.write_all(b"  \"count\": 12345\n").unwrap();
        }
        answer.flush().unwrap();
        drop(answer);
        assert_eq!(pipe.bytes, 20_000 * 17);
        assert!(pipe.writes <= 20_000 * 17 / 60_000 + 1, "{}", pipe.writes);
    }

    #[test]
    fn what_nobody_reads_is_dropped() {
        let mut pipe = Pipe {
            closes_after: Some(1),
            ..Pipe::default()
        };
        let mut answer = Answer::over(&mut pipe);
        for _ in 0..20_000 {
            answer.write_all(b"  \"count\": 12345\n").unwrap();
        }
        answer.flush().unwrap();
        assert!(answer.unwanted);
    }
}
