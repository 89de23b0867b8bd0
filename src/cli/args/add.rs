//! What can be typed to bring something in: init, add, update, import.

use std::path::PathBuf;

use clap::Args;

use crate::app::values::tag;
use crate::cli::args::Format;
use crate::cli::args::values::{directory, doc_type, language, note};
use crate::document::{DocType, DocumentId, Language};

/// Fetch the model and make the database ready
#[derive(Debug, Args)]
pub(in crate::cli) struct Init {
    /// Model to use [default: embedding.model]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) model: Option<String>,
    /// Take the model's files from this directory instead of fetching them
    #[arg(long, value_name = "DIR", value_parser = directory)]
    pub(in crate::cli) model_dir: Option<PathBuf>,
    /// Report what is there and fetch nothing
    #[arg(long)]
    pub(in crate::cli) status: bool,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// Add files, folders or a note
#[derive(Debug, Args)]
pub(in crate::cli) struct Add {
    /// Files and folders; folders with all that is below them; - reads one document from standard
    /// input
    #[arg(value_name = "PATH", required_unless_present = "note")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Add this text as a note
    #[arg(long, value_name = "TEXT", conflicts_with = "paths", value_parser = note)]
    #[arg(allow_hyphen_values = true)]
    pub(in crate::cli) note: Option<String>,
    /// Put the text of the note in the place of this one's; id and time of creation stay
    #[arg(long, value_name = "ID", requires = "note", conflicts_with = "paths")]
    pub(in crate::cli) replace: Option<DocumentId>,
    /// Title, instead of what the document says of itself
    #[arg(long, value_name = "TEXT")]
    pub(in crate::cli) title: Option<String>,
    /// Tags for every document of this run, separated by commas (can be repeated)
    #[arg(long, value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    pub(in crate::cli) tags: Vec<String>,
    /// What the files are, whatever their names say
    #[arg(long = "type", value_name = "TYPE", value_parser = doc_type())]
    pub(in crate::cli) doc_type: Option<DocType>,
    /// Programming language of the files
    #[arg(long, value_name = "LANGUAGE", value_parser = language())]
    pub(in crate::cli) language: Option<Language>,
    /// Follow links that lie in folders, as ingestion.follow_links does
    #[arg(long)]
    pub(in crate::cli) follow: bool,
    /// Opens encrypted documents; other users can see it, so better set KB_PASSWORD
    #[arg(long, value_name = "PASSWORD", allow_hyphen_values = true)]
    pub(in crate::cli) password: Option<String>,
    /// Folders are always read with all that is below them; accepted for old scripts
    #[arg(long, short, hide = true)]
    pub(in crate::cli) recursive: bool,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// Look again at what was added: read what is new or changed, follow what moved
#[derive(Debug, Args)]
#[command(after_help = "\
What is gone is told, and removed only with --prune. A folder that is gone or empty, as a disk that is
not mounted leaves it, is never taken for a deletion.")]
pub(in crate::cli) struct Update {
    /// Folders and files to look at; all that were added, where none is named
    #[arg(value_name = "ROOT")]
    pub(in crate::cli) roots: Vec<PathBuf>,
    /// Remove the documents of files that are gone
    #[arg(long)]
    pub(in crate::cli) prune: bool,
    /// With --prune: also where more than 30 % of a folder's documents would go
    #[arg(long, requires = "prune")]
    pub(in crate::cli) force: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Opens encrypted documents; other users can see it, so better set KB_PASSWORD
    #[arg(long, value_name = "PASSWORD", allow_hyphen_values = true)]
    pub(in crate::cli) password: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// Import what `kb export` wrote
#[derive(Debug, Args)]
#[command(after_help = "\
Documents that are here already, and those whose path another one has, are skipped: what is here stays.
Vectors of another model, and missing ones, are computed. Every line is checked; a bad one is reported and
costs no other. A model that a file names is used if it is installed, or if --model names it, too.")]
pub(in crate::cli) struct Import {
    /// File to read; - is standard input
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// Take over where documents lie and which folders were added: `kb open` and `kb update` read
    /// there. Without it documents are imported as text
    #[arg(long)]
    pub(in crate::cli) trust_paths: bool,
    /// Model to use [default: the one the database uses, else the file's]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) model: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}
