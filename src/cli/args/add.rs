//! Defines the arguments of init, add, update and import.

use std::path::PathBuf;

use clap::Args;

use crate::app::session::values::tag;
use crate::cli::args::ReportFormat;
use crate::cli::args::values::{directory, doc_type, kind, language, note};
use crate::document::{DocType, DocumentKind, Language};
use crate::store::DocumentId;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kb init
  kb init --status
  kb init --here")]
pub(crate) struct InitArgs {
    /// Model to use [default: embedding.model]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Use the model files in this directory instead of fetching them
    #[arg(long, value_name = "DIR", value_parser = directory)]
    pub(crate) model_dir: Option<PathBuf>,
    /// Create a knowledge base for this project: .kb in the working directory
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
#[command(after_help = "\
Unchanged files are skipped, so you can add the same folder again.

Examples:
  kb add DIRECTORY --tags work
  kb add report.pdf --title \"Annual report\"
  kb add --note \"Call the bank\" --tags todo")]
pub(crate) struct AddArgs {
    /// Files, and folders with everything below them; the argument - reads one document from standard input
    #[arg(value_name = "PATH", required_unless_present = "note")]
    pub(crate) paths: Vec<PathBuf>,
    /// Add this text as a note
    #[arg(long, value_name = "TEXT", conflicts_with = "paths", value_parser = note)]
    #[arg(allow_hyphen_values = true)]
    pub(crate) note: Option<String>,
    /// With --note: replace the text of note ID by TEXT; the note keeps its id and creation time
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
    /// Report what would happen to each kind of file, and change nothing
    #[arg(long, conflicts_with = "note")]
    pub(crate) dry_run: bool,
    /// Follow symbolic links inside folders, as the setting ingestion.follow_links does
    #[arg(long)]
    pub(crate) follow: bool,
    /// Also read generated files, such as node_modules, as the setting ingestion.include_ignored does
    #[arg(long)]
    pub(crate) include_ignored: bool,
    /// Keep all visible text, including menus and page headers, as the setting ingestion.keep_all does
    #[arg(long)]
    pub(crate) keep_all: bool,
    /// Password for encrypted documents; other users of the machine can see this option, so prefer the environment
    /// variable KB_PASSWORD
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
kb skips unchanged files, re-indexes changed files, and recognises moved files by their content. It reports missing \
files; --prune removes their documents. If an added folder is missing or empty, for example because its disk is not \
mounted, kb never treats it as deleted. The same applies to a mount point inside an added folder.

Examples:
  kb update
  kb update --prune
  kb update --reread --type pdf")]
pub(crate) struct UpdateArgs {
    /// Folders and files to update [default: everything that was added]
    #[arg(value_name = "ROOT")]
    pub(crate) roots: Vec<PathBuf>,
    /// Also re-read documents that were indexed with other settings, another model or an older kb. To re-read only
    /// some of them and do nothing else, give ids, titles or paths of documents instead of ROOT, or --type or --path
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
    /// With --prune: first write the documents to remove to this new file, which `kb import` reads
    #[arg(long, value_name = "FILE", requires = "prune", conflicts_with = "dry_run")]
    pub(crate) export: Option<PathBuf>,
    /// With --prune: remove them even if they are more than 30 % of the documents of an added folder
    #[arg(long, requires = "prune")]
    pub(crate) force: bool,
    /// Report what would happen, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Password for encrypted documents; other users of the machine can see this option, so prefer the environment
    /// variable KB_PASSWORD
    #[arg(long, value_name = "PASSWORD", allow_hyphen_values = true)]
    pub(crate) password: Option<String>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
kb merges a document with an existing one of the same content: the result has the tags of both, the newer edit of a \
title, a date or a note wins, and conflicts are listed. An existing document with other content at the same path is \
kept. kb computes missing vectors, and those of another model. It reports bad lines, and imports the others. It uses \
the model that the file names if that model is installed or if --model also names it.

Examples:
  kb import FILE
  kb import FILE --trust-paths")]
pub(crate) struct ImportArgs {
    /// File to read; - reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Also import paths and added folders, which `kb open` and `kb update` will read; without this option, documents
    /// are imported without paths
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
kb updates everything once, then each file half a second after it was last written, until interrupted (Ctrl-C exits \
with status 0). It prints one line per change. As with `kb update`, missing files are reported and their documents \
kept. Other commands are not blocked.

Examples:
  kb watch
  kb watch --summary")]
pub(crate) struct WatchArgs {
    /// Added files and folders, or folders in them [default: everything that was added]
    #[arg(value_name = "PATH")]
    pub(crate) roots: Vec<PathBuf>,
    /// Also print an hourly count of indexed, moved, missing and failed files
    #[arg(long)]
    pub(crate) summary: bool,
}
