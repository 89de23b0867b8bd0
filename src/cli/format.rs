//! Finds the output format of a command, from its arguments or the settings.

use std::ffi::OsString;

use clap::ValueEnum;

use crate::cli::args::{self, Command, McpAction};
use crate::cli::streams;
use crate::config::{DefaultFormat, Environment, Flags, OutputFormat};

/// Returns the requested output format; `None` if a setting decides.
pub(super) fn wanted_format(command: &Command) -> Option<OutputFormat> {
    match command {
        Command::Search(args) if args.batch.is_some() => Some(OutputFormat::Json),
        Command::Search(args) if args.open.is_some() => Some(OutputFormat::Human),
        Command::Search(args) => args.format.map(args::SearchFormat::errors),
        Command::Embed(_) | Command::Export(_) => Some(OutputFormat::Json),
        Command::Convert(args) => Some(args.format.errors()),
        Command::Grep(args) => Some(args.format.errors()),
        Command::Show(args) => Some(args.format.errors()),
        Command::Init(args::Init { format, .. })
        | Command::Add(args::Add { format, .. })
        | Command::Why(args::Why { format, .. })
        | Command::Eval(args::Eval { format, .. })
        | Command::List(args::List { format, .. })
        | Command::Files(args::Files { format, .. })
        | Command::Info(args::Info { format, .. })
        | Command::Similar(args::Similar { format, .. })
        | Command::Outline(args::Outline { format, .. })
        | Command::Open(args::Open { format, .. })
        | Command::Remove(args::Remove { format, .. })
        | Command::Edit(args::Edit { format, .. })
        | Command::Tag(args::Tag { format, .. })
        | Command::Status(args::Status { format, .. })
        | Command::Backup(args::Backup { format, .. })
        | Command::Restore(args::Restore { format, .. })
        | Command::Push(args::Push { format, .. })
        | Command::Relocate(args::Relocate { format, .. })
        | Command::Import(args::Import { format, .. })
        | Command::Doctor(args::Doctor { format, .. })
        | Command::Update(args::Update { format, .. })
        | Command::Reindex(args::Reindex { format, .. })
        | Command::Config(args::ConfigArgs { format, .. }) => Some(format.format),
        Command::Base(args) => Some(args.format().format),
        Command::Tags(args) => Some(match &args.action {
            Some(args::TagsAction::Rename(rename)) => rename.format.format,
            None => args.format.format,
        }),
        Command::Cache(args) => Some(match &args.action {
            Some(args::CacheAction::Clean(clean)) => clean.format.format,
            None => args.format.format,
        }),
        Command::Skill(args) => Some(args.call.format()),
        Command::Mcp(args::Mcp { action: Some(McpAction::Install(args)), .. }) => {
            Some(args.format.format)
        }
        Command::Mcp(_)
        | Command::Find(_)
        | Command::Watch(_)
        | Command::Help(_)
        | Command::Schema(_)
        | Command::Completions(_)
        | Command::Man(_) => Some(OutputFormat::Human),
    }
}

/// Returns what `search.default_format` means here, or its default if the settings cannot be read.
pub(super) fn default_format(environment: &Environment, flags: &Flags) -> OutputFormat {
    let default = crate::config::load(environment, flags)
        .map_or(DefaultFormat::Json, |resolved| resolved.config.search.default_format);
    default.format(streams::is_stdout_terminal())
}

/// Returns the output format requested by a command line that clap rejected.
pub(super) fn format_of(args: &[OsString]) -> Option<OutputFormat> {
    let is_format = |arg: &OsString| arg == "-o" || arg.to_string_lossy().starts_with("--format");
    let at = args.iter().position(is_format)?;
    let arg = args[at].to_string_lossy();
    let word = match arg.strip_prefix("--format=") {
        Some(word) => word.to_owned(),
        None => args.get(at + 1)?.to_string_lossy().into_owned(),
    };
    let of_search = || args::SearchFormat::from_str(&word, false).map(args::SearchFormat::errors);
    OutputFormat::from_str(&word, false).or_else(|_| of_search()).ok()
}
