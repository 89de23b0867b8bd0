//! Defines the arguments of init, add, update and import.

use std::path::PathBuf;

use clap::Args;

use crate::app::session::values::tag;
use crate::cli::args::ReportFormat;
use crate::cli::args::values::{directory, doc_type, kind, language, note};
use crate::document::{DocType, DocumentKind, Language};
use crate::store::DocumentId;

#[derive(Debug, Args)]
#[command(after_help = "For example: `kb init --status`")]
pub(crate) struct InitArgs {
    /// Model to use [default: embedding.model]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Use the model files in this directory instead of fetching them
    #[arg(long, value_name = "DIR", value_parser = directory)]
    pub(crate) model_dir: Option<PathBuf>,
    /// Make a knowledge base for this project: .kb in the working directory
    #[arg(long, conflicts_with_all = ["status", "data_dir", "base"])]
    pub(crate) here: bool,
    /// Report what is installed, and fetch nothing
    #[arg(long)]
    pub(crate) status: bool,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(override_usage = "kb add [OPTIONS] <PATH>..., or --note <TEXT>")]
#[command(
    after_help = "For example: `kb add DIRECTORY --tags work` and `kb add --note \"Call the bank\" --tags todo`"
)]
pub(crate) struct AddArgs {
    /// Files, and folders with everything below them; - reads one document from standard input
    #[arg(value_name = "PATH", required_unless_present = "note")]
    pub(crate) paths: Vec<PathBuf>,
    /// Add this text as a note
    #[arg(long, value_name = "TEXT", conflicts_with = "paths", value_parser = note)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) note: Option<String>,
    /// Replace note ID with this text; its id and creation time stay
    #[arg(long, value_name = "ID", requires = "note", conflicts_with = "paths")]
    pub(crate) replace: Option<DocumentId>,
    /// Title, instead of the one found in the document
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Tags for every document of this run, separated by commas (can be repeated)
    #[arg(long, value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    pub(crate) tags: Vec<String>,
    /// Type of the files, instead of the one their names suggest
    #[arg(long = "type", value_name = "TYPE", value_parser = doc_type())]
    pub(crate) doc_type: Option<DocType>,
    /// Programming language of the files
    #[arg(long, value_name = "LANGUAGE", value_parser = language())]
    pub(crate) language: Option<Language>,
    /// Report what would be done with each kind of file, and change nothing
    #[arg(long, conflicts_with = "note")]
    pub(crate) dry_run: bool,
    /// Follow symbolic links inside folders, as ingestion.follow_links does
    #[arg(long)]
    pub(crate) follow: bool,
    /// Also read what programs generated, such as node_modules, as ingestion.include_ignored does
    #[arg(long)]
    pub(crate) include_ignored: bool,
    /// Keep all text that a file shows, menus and running heads too, as ingestion.keep_all does
    #[arg(long)]
    pub(crate) keep_all: bool,
    /// Password of encrypted documents. Visible to other users; prefer KB_PASSWORD
    #[arg(long, value_name = "PASSWORD", allow_hyphen_values = true)]
    pub(crate) password: Option<String>,
    /// Folders are always read with everything below them; accepted for old scripts
    #[arg(long, short, hide = true)]
    pub(crate) recursive: bool,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Unchanged files are skipped, changed files are re-indexed, moved files are recognised by their content. \
Missing files are reported; --prune removes them. An added folder that is missing or empty, such as a disk \
that is not mounted, never counts as deleted, nor does a disk that was mounted in one.

For example: `kb update --prune`")]
pub(crate) struct UpdateArgs {
    /// Folders and files to update [default: everything that was added]
    #[arg(value_name = "ROOT")]
    pub(crate) roots: Vec<PathBuf>,
    /// Also make documents again that other settings, another model or an older kb made. With names
    /// or ids instead of ROOT, with --type or --path: only these documents, and nothing else
    #[arg(long, conflicts_with = "prune")]
    pub(crate) reread: bool,
    /// With --reread: only documents of this type or format
    #[arg(long = "type", value_name = "TYPE", requires = "reread")]
    #[arg(value_parser = kind(), hide_possible_values = true)]
    pub(crate) kind: Option<DocumentKind>,
    /// With --reread: only documents at or below this path
    #[arg(long, value_name = "PATH", requires = "reread")]
    pub(crate) path: Option<PathBuf>,
    /// Remove the documents of missing files
    #[arg(long)]
    pub(crate) prune: bool,
    /// With --prune: first write the documents that are removed to this new file, which `kb import` reads
    #[arg(long, value_name = "FILE", requires = "prune", conflicts_with = "dry_run")]
    pub(crate) export: Option<PathBuf>,
    /// With --prune: even if that removes more than 30 % of a folder's documents
    #[arg(long, requires = "prune")]
    pub(crate) force: bool,
    /// Report what would be done, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Password of encrypted documents. Visible to other users; prefer KB_PASSWORD
    #[arg(long, value_name = "PASSWORD", allow_hyphen_values = true)]
    pub(crate) password: Option<String>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A document with the same content as one here is merged with it: it gets the tags of both, the newer edit of a title, \
a date or a note wins, and conflicts are listed. A file here with another content at the same path stays. Missing \
vectors, and those of another model, are computed. A bad line is reported, and the others are imported. The model named in the file \
is used if it is installed or if --model also names it.

For example: `kb import FILE --trust-paths`")]
pub(crate) struct ImportArgs {
    /// File to read; - reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Also import paths and added folders, which `kb open` and `kb update` will read; without it,
    /// documents are imported as text
    #[arg(long)]
    pub(crate) trust_paths: bool,
    /// Model to use [default: the one the database uses, else the file's]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Updates everything once, then each file half a second after it was last written, until Ctrl-C, \
which ends it with status 0. Prints one line per change. Missing files are reported and stay in the database, as with `kb update`. Other commands are not \
blocked.

For example: `kb watch --summary`")]
pub(crate) struct WatchArgs {
    /// Added folders and files, and folders in them [default: everything that was added]
    #[arg(value_name = "PATH")]
    pub(crate) roots: Vec<PathBuf>,
    /// Also print a line every hour that counts what was indexed, moved, missing and failed
    #[arg(long)]
    pub(crate) summary: bool,
}
