//! Defines the arguments of `kb base`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::cli::args::ReportFormat;

#[derive(Debug, Args)]
#[command(after_help = "\
`kb --base NAME COMMAND` works on the knowledge base NAME, `kb --base work,default search ...` searches \
several. Without --base, kb uses the default one, or that of the project around the working directory \
(made by `kb init --here`) once `kb base allow` has allowed it.")]
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
    /// Make a knowledge base, or describe one
    Add(BaseAdd),
    /// Forget the name of a knowledge base, or delete it
    Remove(BaseRemove),
    /// Give a knowledge base another name
    Rename(BaseRename),
    /// Allow a knowledge base that someone else made
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
Its database is bases/NAME/kb.db in the data directory. A name that was removed is listed again.

For example: `kb base add NAME --description \"reports and papers\"`")]
pub(crate) struct BaseAdd {
    /// Its name; `default` describes the default one
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// What it holds, for people and agents that choose where to search
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "For example: `kb base remove NAME`")]
pub(crate) struct BaseRemove {
    /// Its name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    /// Delete its folder with the database, settings and copies in it; asks first
    #[arg(long)]
    pub(crate) erase: bool,
    /// Do not ask
    #[arg(long, short, requires = "erase")]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "For example: `kb base rename OLD NEW`")]
pub(crate) struct BaseRename {
    /// Its name
    #[arg(value_name = "OLD")]
    pub(crate) name: String,
    /// Its new name
    #[arg(value_name = "NEW")]
    pub(crate) new_name: String,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without DIR, this is about the knowledge base of the project around the working directory, or about the \
one in use. Allowed, a project's knowledge base is used in the project, and its description is shown. \
Files and folders that its database names, and that you have not named yourself, are listed with their \
options and what you allowed before. They are followed only with --files: then `kb update` reads them. \
The permission ends if the folder is moved or another database takes its place.

For example: `kb base allow DIR --yes`")]
pub(crate) struct BaseAllow {
    /// The folder of the database, or of a project with a folder .kb; or a name
    #[arg(value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Also follow the files and folders that the database names
    #[arg(long)]
    pub(crate) files: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}
