//! Answers a command line that clap does not run: with help, the version, or an error.

use std::ffi::OsString;
use std::io;

use clap::builder::StyledStr;
use clap::error::ErrorKind;

use crate::cli::args::{ColorChoice, first_word};
use crate::cli::exit::{ExitStatus, end, report, report_of_skill};
use crate::cli::format::{default_format, format_of};
use crate::cli::{learn, messages, streams, usage};
use crate::config::{self, Environment, Flags, OutputFormat};
use crate::diagnostic::{Diagnostic, Program};
use crate::error::{Error, Result};
use crate::present::terminal::sheet::CleanWriter;
use crate::skill::commands;

/// Answers `--help` and `--version`, or reports the error in the command line.
pub(super) fn explain(
    error: &clap::Error,
    args: &[OsString],
    environment: &Environment,
) -> ExitStatus {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            end(page(&asked(error, args), environment), OutputFormat::Human)
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let is_terminal = streams::is_stderr_terminal();
            let is_coloured = messages::is_coloured(ColorChoice::Auto, environment, is_terminal);
            let page = match first_word(args) {
                None => learn::root_page(false),
                Some(_) => error.render(),
            };
            // If stderr is closed, the page is lost.
            let _ = streams::text_aside(|out| help_page(&page, is_coloured, out));
            ExitStatus::User
        }
        _ => {
            let format = format_of(args).unwrap_or_else(|| {
                match first_word(args).and_then(|word| word.to_str()) {
                    Some("search") => {
                        default_format(config::load(environment, &Flags::new()).ok().as_ref())
                    }
                    Some("embed") => OutputFormat::Json,
                    _ => OutputFormat::Human,
                }
            });
            report(&usage::explain(error, args), format)
        }
    }
}

/// Returns what `-h`, `--help` or `--version` asks for.
fn asked(error: &clap::Error, args: &[OsString]) -> StyledStr {
    match error.kind() {
        ErrorKind::DisplayHelp if args.iter().any(|arg| arg == "-h") => learn::short_page(args),
        ErrorKind::DisplayHelp if first_word(args).is_none() => learn::root_page(false),
        _ => error.render(),
    }
}

/// Prints a help page in the colours of other output.
fn page(page: &StyledStr, environment: &Environment) -> Result<ExitStatus> {
    let is_terminal = streams::is_stdout_terminal();
    let is_coloured = messages::is_coloured(ColorChoice::Auto, environment, is_terminal);
    streams::text(|out| help_page(page, is_coloured, out))?;
    Ok(ExitStatus::Success)
}

fn help_page(page: &StyledStr, is_coloured: bool, out: &mut CleanWriter<'_>) -> io::Result<()> {
    if is_coloured { out.help(&page.ansi().to_string()) } else { out.text(&page.to_string()) }
}

/// Whether a command line that clap rejected is for a skill command.
pub(super) fn is_skill(args: &[OsString]) -> bool {
    first_word(args).is_some_and(|word| word == "skill")
}

/// Answers `--help` and `--version` of a skill command, or reports the error in the words of the
/// skill protocol.
pub(super) fn explain_skill(
    error: &clap::Error,
    args: &[OsString],
    environment: &Environment,
    program: Program,
) -> ExitStatus {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let page_asked = match program {
            Program::Kb => asked(error, args),
            Program::Skc => error.render(),
        };
        return end(page(&page_asked, environment), OutputFormat::Human);
    }
    let (message, hint) = match usage::explain(error, args) {
        _ if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let names: Vec<&str> = commands::COMMANDS.iter().map(|command| command.name).collect();
            (
                "the command is missing".to_owned(),
                Some(format!("use one of {}", names.join(", ")).into()),
            )
        }
        Error::Usage { message, hint } => (message.to_string(), hint),
        other => (other.to_string(), None),
    };
    let format = format_of(args).unwrap_or(OutputFormat::Human);
    report_of_skill(Diagnostic::InvalidOption { message, hint }.into(), program, format)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_the_first_word_that_belongs_to_no_flag() {
        for (line, expected) in [
            ("kb search x", Some("search")),
            ("kb -v --quiet list", Some("list")),
            ("kb --data-dir /x --base work skill list", Some("skill")),
            ("kb --color never --log-file /l find", Some("find")),
            ("kb --color=never find", Some("find")),
            ("kb --data-dir", None),
            ("kb", None),
        ] {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert_eq!(first_word(&args).and_then(|word| word.to_str()), expected, "{line}");
            assert_eq!(is_skill(&args), expected == Some("skill"), "{line}");
        }
    }
}
