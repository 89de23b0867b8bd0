//! Defines the arguments of `kb base`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::args::ReportFormat;

#[derive(Debug, Args)]
#[command(after_help = "\
`kb --base NAME COMMAND` works on the knowledge base NAME, and `kb --base work,default search ...` searches several. \
Without --base, kb uses the knowledge base of the project that contains the working directory (see `kb init --here`), \
or else the default one. A project's knowledge base that someone else created is used after `kb base allow`.

Examples:
  kb base list
  kb base add NAME --description \"reports and papers\"")]
pub(crate) struct BaseArgs {
    /// The action.
    #[command(subcommand)]
    pub(crate) action: BaseAction,
}

/// An action on knowledge bases.
#[derive(Debug, Subcommand)]
pub(crate) enum BaseAction {
    /// List all knowledge bases
    List(BaseList),
    /// Create a knowledge base, or describe one
    Add(BaseAdd),
    /// Remove the name of a knowledge base, or delete it
    Remove(BaseRemove),
    /// Rename a knowledge base
    Rename(BaseRename),
    /// Allow a knowledge base that someone else created
    Allow(BaseAllow),
}

impl BaseArgs {
    /// Returns the requested output format.
    pub(crate) fn format(&self) -> &ReportFormat {
        match &self.action {
            BaseAction::List(args) => &args.format,
            BaseAction::Add(args) => &args.format,
            BaseAction::Remove(args) => &args.format,
            BaseAction::Rename(args) => &args.format,
            BaseAction::Allow(args) => &args.format,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct BaseList {
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The database is bases/NAME/kb.db in the data directory. Adding a removed name lists its knowledge base again.

Example:
  kb base add NAME --description \"reports and papers\"")]
pub(crate) struct BaseAdd {
    /// Name of the knowledge base; `default` describes the default one
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Description of its contents, for people and agents that choose where to search
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without --erase, the files stay, and `kb base add NAME` lists them again.

Example:
  kb base remove NAME")]
pub(crate) struct BaseRemove {
    /// Name of the knowledge base
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Delete its folder with the database, settings and copies in it, after a confirmation
    #[arg(long)]
    pub(crate) erase: bool,
    /// Do not ask for confirmation
    #[arg(long, short, requires = "erase")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  kb base rename OLD NEW")]
pub(crate) struct BaseRename {
    /// Name of the knowledge base
    #[arg(value_name = "OLD")]
    pub(crate) name: String,
    /// New name
    #[arg(value_name = "NEW")]
    pub(crate) new_name: String,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without DIR, the command applies to the knowledge base of the project that contains the working directory, or else to \
the one in use. Once a project's knowledge base is allowed, kb uses it in the project and shows its description. The \
command lists the files and folders that the database names and that you have not added yourself, with their options \
and those that you allowed before. --files follows them: `kb update` then reads them. The permission ends if the folder \
is moved or the database is replaced.

Examples:
  kb base allow DIR --yes
  kb base allow DIR --files --yes")]
pub(crate) struct BaseAllow {
    /// Folder of the database, or of a project with a folder .kb; or a name
    #[arg(value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Also follow the files and folders that the database names
    #[arg(long)]
    pub(crate) files: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}
