//! Defines the command line. The structs only validate arguments; their doc comments are the help text. The table of
//! commands says what runs each.

#![expect(clippy::doc_markdown, reason = "backticks would show in the help text")]

mod add;
mod base;
#[macro_use]
mod commands;
mod global;
mod learn;
mod manage;
mod read;
mod search;
mod skill;
mod values;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};

use crate::app::ToolSet;
use crate::app::agents::clients::CLIENTS;
use crate::cli;
use crate::cli::args::values::tool_set;
use crate::cli::context::CommandContext;
use crate::cli::exit::ExitStatus;
use crate::config::OutputFormat;

pub(super) use add::{AddArgs, ImportArgs, InitArgs, UpdateArgs, WatchArgs};
pub(super) use base::{BaseAction, BaseArgs};
pub(super) use global::{ColorChoice, Global, first_word};
pub(super) use learn::{Completions, Help, Man, Schema, Shell};
pub(super) use manage::{
    BackupArgs, CacheAction, CacheArgs, ConfigAction, ConfigArgs, DoctorArgs, EditArgs, ExportArgs,
    ModelArgs, PushArgs, ReindexArgs, RelocateArgs, RemoveArgs, RestoreArgs, StatusArgs, TagArgs,
};
pub(super) use read::{
    ConvertArgs, DocumentFormat, FilesArgs, InfoArgs, ListArgs, OpenArgs, OutlineArgs,
    SelectionArgs, ShowArgs, ShowFormat, TagsAction, TagsArgs,
};
pub(super) use search::{
    EmbedArgs, EvalArgs, FilterArgs, FindArgs, SearchArgs, SearchFormat, SearchModeArgs,
    SelectionCriteriaArgs, SimilarArgs, WhyArgs,
};
pub(super) use search::{GrepArgs, LineFormat};
pub(super) use skill::{SkcArgs, SkillArgs, SkillCall};
pub(super) use values::{ReportFormat, errors};

/// A local, offline knowledge base: keyword and semantic search over your documents
#[derive(Debug, Parser)]
#[command(
    name = "kb",
    bin_name = "kb",
    version,
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
#[command(after_help = "\
Start with `kb add DIRECTORY`. Then search with `kb`, which finds as you type, or with \
`kb search \"...\" --format human`. `kb help COMMAND` explains a command. `kb help TOPIC` explains a topic: \
query, config, limits, json or exit.")]
pub(super) struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub(super) global: Global,
    /// The command.
    #[command(subcommand)]
    pub(super) command: Command,
}

/// The formats of commands whose output format is fixed.
const JSON: Option<OutputFormat> = Some(OutputFormat::Json);
const HUMAN: Option<OutputFormat> = Some(OutputFormat::Human);

// The commands are in the order of `kb --help`. `cli::run` runs those without a function before there is a context.
commands! {
    "Find" {
        /// Search your documents
        Search(SearchArgs => cli::search::run, SearchArgs::wanted_format),
        /// Search as you type, in full screen
        Find(FindArgs => cli::find::run, |_| HUMAN),
        /// Find every line that matches a pattern
        Grep(GrepArgs => cli::search::grep, |args| Some(errors(args.format))),
        /// Find passages similar to a document or chunk
        Similar(SimilarArgs => cli::search::similar),
        /// Explain why a search misses a document
        Why(WhyArgs => cli::read::why),
    }

    "Add and update" {
        /// Fetch the model and create the database
        Init(InitArgs => cli::manage::init),
        /// Add files, folders or a note
        Add(AddArgs => cli::add::run),
        /// Index new, changed and moved files
        Update(UpdateArgs => cli::add::update),
        /// Watch added folders and index changes
        Watch(WatchArgs => cli::manage::watch, |_| HUMAN),
        /// List the files kb has seen
        Files(FilesArgs => cli::read::files),
        /// Update the path of a folder that moved
        Relocate(RelocateArgs => cli::manage::relocate),
        /// Remove documents
        Remove(RemoveArgs => cli::edit::remove),
    }

    "Read" {
        /// List documents
        List(ListArgs => cli::read::list),
        /// Show one document and its chunks
        Info(InfoArgs => cli::read::info),
        /// List a document's sections, pages or symbols
        Outline(OutlineArgs => cli::read::outline),
        /// Show a section, page, symbol or chunk
        Show(ShowArgs => cli::read::show, |args| Some(errors(args.format))),
        /// Print or open a document's file
        Open(OpenArgs => cli::read::open),
        /// Convert files to Markdown or JSON
        Convert(ConvertArgs => cli::convert::run, |args| Some(errors(args.format))),
    }

    "Organise" {
        /// Edit title, tags, date or a note's text
        Edit(EditArgs => cli::edit::run),
        /// List or rename tags
        Tags(TagsArgs => cli::edit::tags, TagsArgs::wanted_format),
        /// Add tags to documents, or remove them
        Tag(TagArgs => cli::edit::tag),
    }

    "Maintain" {
        /// Show the state of the database
        Status(StatusArgs => cli::manage::status),
        /// Check the database, and repair it with --fix
        Doctor(DoctorArgs => cli::manage::doctor),
        /// List, create and rename knowledge bases
        Base(BaseArgs => cli::base::run, |args| Some(args.format().format)),
        /// Back up the database or verify a backup
        Backup(BackupArgs => cli::manage::backup),
        /// Replace the database with a backup
        Restore(RestoreArgs => cli::manage::restore),
        /// Export documents, one JSON object per line
        Export(ExportArgs => cli::manage::export, |_| JSON),
        /// Import a file written by `kb export`
        Import(ImportArgs => cli::manage::import),
        /// Create or update a shared copy in PostgreSQL
        Push(PushArgs => cli::manage::push),
        /// Recompute all vectors
        Reindex(ReindexArgs => cli::manage::reindex),
        /// List the models to choose from
        Model(ModelArgs => cli::manage::models, ModelArgs::wanted_format),
        /// Show or change settings
        Config(ConfigArgs => cli::manage::config),
        /// Show or clean the model cache
        Cache(CacheArgs => cli::manage::cache, CacheArgs::wanted_format),
        /// Measure retrieval quality
        Eval(EvalArgs => cli::manage::eval),
        /// Print the vectors of texts
        Embed(EmbedArgs => cli::embed::run, |_| JSON),
    }

    "Agents and skills" {
        /// Serve agents (Model Context Protocol)
        Mcp(Mcp, Mcp::wanted_format),
        /// List, build, search and read agent skills
        Skill(SkillArgs, |args| Some(args.call.format())),
    }

    "Learn more" {
        /// Explain a topic or a command
        Help(Help, |_| HUMAN),
        /// Print the JSON Schema of a command
        Schema(Schema, |_| HUMAN),
        /// Print a shell completion script
        Completions(Completions, |_| HUMAN),
        /// Print or write the manual pages
        Man(Man, |_| HUMAN),
    }
}

impl Command {
    /// Whether people read the answer on a terminal, unless it is JSON.
    pub(super) fn is_read_by_people(&self) -> bool {
        match self {
            Self::Search(args) => {
                use SearchFormat::{Agent, Md, Paths};
                !matches!(args.format, Some(Paths | Md | Agent))
            }
            Self::Mcp(_) => false,
            _ => true,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Agents start the server themselves. `kb mcp install` adds it to the settings of an agent's program. If it does not know \
the program, add the command `kb` with the argument `mcp` to the settings yourself.

Examples:
  kb mcp --watch
  kb mcp install --client NAME")]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Mcp {
    /// Actions instead of serving.
    #[command(subcommand)]
    pub(super) action: Option<McpAction>,
    /// Also offer tools that write: add and replace notes, add files, build and create skills
    #[arg(long)]
    pub(super) allow_write: bool,
    /// Tools to offer: kb (for documents), skills, or all [default: kb; also skills, if there are any]
    #[arg(long, value_name = "SET", value_parser = tool_set(), hide_possible_values = true)]
    pub(super) tools: Option<ToolSet>,
    /// Watch the added folders and index changes, as `kb watch` does
    #[arg(long)]
    pub(super) watch: bool,
    /// Append every call and its outcome to this file, one JSON object per line
    #[arg(long, value_name = "FILE")]
    pub(super) audit_log: Option<PathBuf>,
}

impl Mcp {
    fn wanted_format(&self) -> Option<OutputFormat> {
        match &self.action {
            Some(McpAction::Install(install)) => Some(install.format.format),
            None => HUMAN,
        }
    }
}

/// The actions of `kb mcp` besides serving.
#[derive(Debug, Subcommand)]
pub(super) enum McpAction {
    /// Add the server to the settings of an agent's program
    Install(McpInstall),
}

#[derive(Debug, Args)]
#[command(after_help = "\
The entry `kb` starts this program with the argument `mcp`, and with the data directory (--data-dir, KB_DATA_DIR) and \
the knowledge base (--base) that you give now. kb shows the entry before it writes it, and changes nothing else in the \
settings. The agent's program reads its settings when it starts. `kb doctor` finds entries that no longer work.

Example:
  kb mcp install --client NAME")]
pub(super) struct McpInstall {
    /// Program whose settings to change
    #[arg(long, value_name = "NAME")]
    #[arg(value_parser = PossibleValuesParser::new(CLIENTS.iter().map(|client| client.name)))]
    pub(super) client: String,
    /// Change the settings of the project in the working directory instead of yours
    #[arg(long)]
    pub(super) project: bool,
    /// Remove the entry
    #[arg(long)]
    pub(super) remove: bool,
    /// Also offer tools that write
    #[arg(long, conflicts_with = "remove")]
    pub(super) allow_write: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(super) yes: bool,
    #[command(flatten)]
    pub(super) format: ReportFormat,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    /// Returns the commands below a command that have no example, which is a line that begins as they are typed. Only
    /// commands of a group that have no arguments do not need one.
    fn without_example(command: &clap::Command, typed: &str) -> Vec<String> {
        let is_group = typed != "kb";
        let mut found = Vec::new();
        // clap adds a command `help` to each group.
        for command in command.get_subcommands().filter(|c| !is_group || c.get_name() != "help") {
            let typed = format!("{typed} {}", command.get_name());
            found.extend(without_example(command, &typed));
            let is_own = |arg: &&clap::Arg| {
                !arg.is_global_set() && !["format", "help"].contains(&arg.get_id().as_str())
            };
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let is_example = |line: &str| match line.strip_prefix(&typed) {
                Some(rest) => rest.is_empty() || rest.starts_with(' '),
                None => false,
            };
            let has_example = help.lines().any(|line| {
                let line = line.split_once(": ").map_or(line, |(_, rest)| rest);
                is_example(line.trim_start())
            });
            let needs_example = !is_group || command.get_arguments().any(|arg| is_own(&arg));
            if needs_example && !has_example {
                found.push(typed);
            }
        }
        found
    }

    #[test]
    fn every_command_has_an_example() {
        // The arguments and the help text of a command are there when it is built.
        let mut root = Cli::command();
        root.build();
        let found = without_example(&root, "kb");
        // The pages of `kb skill` are those of `skc`, to which its commands belong.
        let found: Vec<_> = found.iter().filter(|name| !name.starts_with("kb skill ")).collect();
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn the_command_tree_is_consistent() {
        Cli::command().debug_assert();
    }
}
