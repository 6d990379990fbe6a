//! What a system installs beside a program: completions of shells, and the manual page.

use std::io::Write;

use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

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

/// Prints the manual: one page with every command, so that it stands alone wherever it is put.
pub(super) fn man(out: &mut dyn Write) -> Result<Outcome, Failure> {
    let mut command = super::Arguments::command();
    // Options keep their order in the page as in `--help`.
    command.build();
    let page = Man::new(command.clone());
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    commands(&command, &mut text)?;
    let mut rest = Roff::default();
    for (heading, items) in SECTIONS {
        rest.control("SH", [*heading]);
        for (name, meaning) in *items {
            rest.control("TP", []);
            rest.text([bold(*name)]);
            rest.text([roman(*meaning)]);
        }
    }
    rest.to_writer(&mut text)?;
    page.render_version_section(&mut text)?;
    out.write_all(&text)?;
    Ok(Outcome::Clean)
}

/// What no flag says.
const SECTIONS: &[(&str, &[(&str, &str)])] = &[
    (
        "EXIT STATUS",
        &[
            (
                "0",
                "Nothing at or above --fail-on, nothing damaged, nothing that failed.",
            ),
            (
                "1",
                "A finding at or above --fail-on; a damaged write-ahead log; a failed test or a fault of a rule base.",
            ),
            (
                "2",
                "Wrong usage, a path that is not there, or a broken rules file.",
            ),
            (
                "3",
                "No such finding, and nothing was recognised, or something recognised could not be read whole.",
            ),
        ],
    ),
    (
        "ENVIRONMENT",
        &[
            (
                "NO_COLOR",
                "If it is set and not empty, nothing is colored unless --color always says so.",
            ),
            ("TMPDIR", "Where packed archives are unpacked."),
        ],
    ),
];

/// A section per command, those inside others behind them.
fn commands(parent: &Command, text: &mut Vec<u8>) -> Result<(), Failure> {
    let shown = parent
        .get_subcommands()
        .filter(|it| !it.is_hide_set() && it.get_name() != "help");
    for command in shown {
        let name = command
            .get_bin_name()
            .unwrap_or_else(|| command.get_name())
            .to_owned();
        let mut heading = Roff::default();
        heading.control("SH", [name.to_uppercase().as_str()]);
        heading.to_writer(text)?;
        let page = Man::new(command.clone().bin_name(name));
        let mut body = Vec::new();
        page.render_synopsis_section(&mut body)?;
        page.render_description_section(&mut body)?;
        if command.get_arguments().any(|it| !it.is_hide_set()) {
            page.render_options_section(&mut body)?;
        }
        // They are parts of the command's section.
        for line in body.split_inclusive(|byte| *byte == b'\n') {
            let is_heading = line.starts_with(b".SH ");
            text.extend_from_slice(if is_heading { b".PP\n" } else { line });
        }
        commands(command, text)?;
    }
    Ok(())
}
