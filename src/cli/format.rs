//! Finds the output format of a command, from its arguments or the settings.

use std::ffi::OsString;

use clap::ValueEnum;

use crate::cli::{args, streams};
use crate::config::{DefaultFormat, OutputFormat, ResolvedConfig};

/// Returns what `search.default_format` means here, or its default if the settings cannot be read.
pub(super) fn default_format(settings: Option<&ResolvedConfig>) -> OutputFormat {
    let default =
        settings.map_or(DefaultFormat::Json, |resolved| resolved.config.search.default_format);
    default.format(streams::is_stdout_terminal())
}

/// Returns the output format requested by a command line that clap rejected.
pub(super) fn format_of(args: &[OsString]) -> Option<OutputFormat> {
    let at =
        args.iter().position(|arg| arg == "-o" || arg.to_string_lossy().starts_with("--format"))?;
    let arg = args[at].to_string_lossy();
    let word = match arg.strip_prefix("--format=") {
        Some(word) => word.to_owned(),
        None => args.get(at + 1)?.to_string_lossy().into_owned(),
    };
    OutputFormat::from_str(&word, false)
        .or_else(|_| args::SearchFormat::from_str(&word, false).map(args::errors))
        .ok()
}
