//! What can be typed: clap structs that validate and never act. Doc comments are the help text.

#![expect(clippy::doc_markdown, reason = "backticks would show in the help text")]

mod add;
mod learn;
mod manage;
mod read;
mod search;
mod skill;
mod values;

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use crate::cli::args::values::directory;
use crate::config::OutputFormat;

pub(super) use add::{Add, Import, Init, Update};
pub(super) use learn::{Completions, Help, Man, Schema, Shell};
pub(super) use manage::{
    Backup, Cache, CacheAction, ConfigAction, ConfigArgs, Doctor, Export, Reindex, Remove, Status,
    Tag,
};
pub(super) use read::{Info, List, Open, Outline, SelectionArgs, Show, Tags};
pub(super) use search::{Embed, Eval, FilterArgs, How, Search, SearchFormat, Similar, Why};
pub(super) use skill::{Skc, Skill, SkillCall};

/// A local, offline knowledge base: keyword and semantic search over your documents
#[derive(Debug, Parser)]
#[command(name = "kb", version, disable_help_subcommand = true, arg_required_else_help = true)]
#[command(
    after_help = "Start with `kb add DIRECTORY`, then `kb search \"...\" --format human`. `kb help query` says what a\nquery can say; more topics: config, limits, json, exit."
)]
pub(super) struct Cli {
    /// What every command understands.
    #[command(flatten)]
    pub(super) global: Global,
    /// What to do.
    #[command(subcommand)]
    pub(super) command: Command,
}

/// What every command understands.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct Global {
    /// Directory that holds kb.db and config.yaml [default: data_dir, ~/.kb]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    #[arg(value_parser = directory)]
    pub(super) data_dir: Option<PathBuf>,
    /// When to colour human output; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    #[arg(help_heading = "Global options")]
    pub(super) color: ColorChoice,
    /// Print long answers at once, not in pages by KB_PAGER, PAGER or less
    #[arg(long, global = true, help_heading = "Global options")]
    pub(super) no_pager: bool,
    /// Draw no progress and say nothing but warnings and failures
    #[arg(long, short, global = true, help_heading = "Global options")]
    #[arg(conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Say more; twice (-vv): how long each stage took, too
    #[arg(long, short, global = true, action = ArgAction::Count, help_heading = "Global options")]
    pub(super) verbose: u8,
    /// Append what is said and how long each stage took to this file
    #[arg(long, global = true, value_name = "FILE", help_heading = "Global options")]
    pub(super) log_file: Option<PathBuf>,
}

/// When output is coloured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorChoice {
    #[default]
    Auto,
    Always,
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Fetch the model and make the database ready
    Init(Init),
    /// Add files, folders or a note
    Add(Add),
    /// Look again at what was added: read what is new or changed, follow what moved
    Update(Update),
    /// Search what has been added
    Search(Search),
    /// Say why a search does not find a document
    Why(Why),
    /// List documents
    List(List),
    /// Show one document and its chunks
    Info(Info),
    /// Find what is like a document or a chunk
    Similar(Similar),
    /// List the sections, pages or symbols of a document
    Outline(Outline),
    /// Show a section, page, symbol or chunk of a document
    Show(Show),
    /// Show the file of a document
    Open(Open),
    /// Remove documents
    Remove(Remove),
    /// List tags
    Tags(Tags),
    /// Add tags to a document or remove them
    Tag(Tag),
    /// Show what the database holds and what it was built with
    Status(Status),
    /// Copy the database while it is in use, or examine a copy
    Backup(Backup),
    /// Write everything as lines of JSON
    Export(Export),
    /// Import what `kb export` wrote
    Import(Import),
    /// Examine the database and what kb needs, and say what to do
    Doctor(Doctor),
    /// Compute all vectors anew, with the same model or another
    Reindex(Reindex),
    /// Print the vectors of texts, for scripts
    Embed(Embed),
    /// Measure how well searches find what is there
    Eval(Eval),
    /// Show what lies in the cache, or remove it
    Cache(Cache),
    /// Show or change settings
    Config(ConfigArgs),
    /// Serve agent skills: list, build, search and read directories with a SKILL.md
    Skill(Skill),
    /// Explain a topic (query, config, limits, json, exit) or a command
    Help(Help),
    /// Print the JSON Schema of what a command prints
    Schema(Schema),
    /// Print what a shell needs to complete commands, flags, documents, tags and models
    Completions(Completions),
    /// Print the man page, or write one for every command
    Man(Man),
    /// Serve agents: all of this as tools, by the Model Context Protocol
    Mcp(Mcp),
}

impl ValueEnum for OutputFormat {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Json, Self::Human]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Json => PossibleValue::new("json").help("Programs: the contract"),
            Self::Human => PossibleValue::new("human").help("People"),
        })
    }
}

/// Who reads the output of a command that is for people by default.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Format {
    /// Output for people (human) or for programs (json)
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    #[arg(hide_possible_values = true)]
    pub(super) format: OutputFormat,
}

/// Serve agents: all of this as tools, by the Model Context Protocol
#[derive(Debug, Args)]
#[command(after_help = "\
Agents start it themselves: their settings name the command `kb` with the argument `mcp`.")]
pub(super) struct Mcp {
    /// Offer tools that change something, too: notes, adding files, building and making skills
    #[arg(long)]
    pub(super) allow_write: bool,
    /// Append what is asked and what comes of it to this file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub(super) audit_log: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_tree_is_consistent() {
        Cli::command().debug_assert();
    }
}
