//! Defines the options of every command.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};

use crate::cli::args::values::directory;

/// Options of every command.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct Global {
    /// Directory of kb.db and config.yaml [default: the setting data_dir, else ~/.kb]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    #[arg(value_parser = directory)]
    pub(crate) data_dir: Option<PathBuf>,
    /// Use this knowledge base (see `kb base list`); `kb search` takes several, separated by commas
    #[arg(long, global = true, value_name = "NAME", help_heading = "Global options")]
    pub(crate) base: Option<String>,
    /// Colour human output: always, never, or auto (on a terminal, unless NO_COLOR is set)
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    #[arg(help_heading = "Global options")]
    pub(crate) color: ColorChoice,
    /// Do not show long output in a pager (the variable KB_PAGER, else PAGER, else less)
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) no_pager: bool,
    /// Show no progress and print only warnings and errors
    #[arg(long, short, global = true, help_heading = "Global options")]
    #[arg(conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Print more details; -vv also prints how long each stage took
    #[arg(long, short, global = true, action = ArgAction::Count, help_heading = "Global options")]
    pub(crate) verbose: u8,
    /// Append messages and the time of each stage to this file
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub(crate) log_file: Option<PathBuf>,
}

/// When output is coloured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}

/// Returns the command of a command line: the first word that is neither a flag nor the value of one.
pub(crate) fn first_word(args: &[OsString]) -> Option<&OsString> {
    let mut words = args.iter().skip(1);
    while let Some(word) = words.next() {
        if ["--data-dir", "--base", "--color", "--log-file"].iter().any(|flag| word == flag) {
            words.next();
        } else if !word.to_string_lossy().starts_with('-') {
            return Some(word);
        }
    }
    None
}
