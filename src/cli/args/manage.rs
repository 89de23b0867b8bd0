//! What can be typed to look after the database: remove, tag, status, backup, export, doctor, reindex,
//! config.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::app::values::tag;
use crate::cli::args::Format;
use crate::cli::args::values::directory;

/// Remove documents
#[derive(Debug, Args)]
pub(in crate::cli) struct Remove {
    /// Ids of the documents, as `kb list` shows them; or files and folders that were added, with all
    /// that is below them
    #[arg(value_name = "ID|PATH", required = true, allow_negative_numbers = true)]
    pub(in crate::cli) documents: Vec<String>,
    /// Do not ask
    #[arg(long, short)]
    pub(in crate::cli) yes: bool,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// Add tags to a document or remove them
#[derive(Debug, Args)]
pub(in crate::cli) struct Tag {
    /// Id of the document, as `kb list` shows it
    #[arg(value_name = "ID", allow_negative_numbers = true)]
    pub(in crate::cli) id: String,
    /// Tags to add, separated by commas
    #[arg(long, value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    #[arg(required_unless_present = "remove")]
    pub(in crate::cli) add: Vec<String>,
    /// Tags to remove, separated by commas
    #[arg(long, value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    pub(in crate::cli) remove: Vec<String>,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// Show what the database holds and what it was built with
#[derive(Debug, Args)]
pub(in crate::cli) struct Status {
    /// Look at the files, too: how many are new, changed or missing
    #[arg(long)]
    pub(in crate::cli) scan: bool,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// Copy the database while it is in use, or examine a copy
#[derive(Debug, Args)]
#[command(
    after_help = "To restore a backup while nothing runs, remove kb.db-wal and kb.db-shm and copy it over kb.db."
)]
pub(in crate::cli) struct Backup {
    /// File to write, or with --verify to examine
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: PathBuf,
    /// Examine FILE and change nothing
    #[arg(long, conflicts_with = "force")]
    pub(in crate::cli) verify: bool,
    /// Replace FILE where there is one
    #[arg(long, short)]
    pub(in crate::cli) force: bool,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// Write everything as lines of JSON
#[derive(Debug, Args)]
#[command(after_help = "\
The first line says what the database was built with; every other is a document with its paths, tags and
chunks. `kb import` takes it into another database, other programs can read it.")]
pub(in crate::cli) struct Export {
    /// File to make; stdout if none is named
    #[arg(value_name = "FILE")]
    pub(in crate::cli) file: Option<PathBuf>,
    /// Write the vectors too: then nothing has to be computed again
    #[arg(long)]
    pub(in crate::cli) vectors: bool,
    /// Lines of JSON are all there is
    #[arg(long, value_parser = ["jsonl"], value_name = "FORMAT", default_value = "jsonl")]
    pub(in crate::cli) format: String,
}

/// Examine the database and what kb needs, and say what to do
#[derive(Debug, Args)]
#[command(after_help = "\
Compares every file of the cache with its checksum before it loads anything; `--fix` fetches or makes again
what has changed.

Status 0: sound, notes or not; 1: something is wrong that can be mended; 2: the database is damaged
beyond that.")]
pub(in crate::cli) struct Doctor {
    /// Mend what is wrong: make indexes anew, embed what lacks vectors, drop what refers to nothing,
    /// close permissions, give free space back
    #[arg(long)]
    pub(in crate::cli) fix: bool,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// Compute all vectors anew, with the same model or another
#[derive(Debug, Args)]
pub(in crate::cli) struct Reindex {
    /// Model to switch to [default: the one the database uses]
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) model: Option<String>,
    /// Take the model's files from this directory instead of fetching them
    #[arg(long, value_name = "DIR", value_parser = directory)]
    pub(in crate::cli) model_dir: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// Show what lies in the cache, or remove it
#[derive(Debug, Args)]
#[command(after_help = "\
The cache holds ONNX Runtime, models that came from Python packages, and models made ready for this machine.
All of it can be fetched or made again. Models from the hub are in a cache of their own, shared with other
programs, and are left alone.

The file manifest.txt has the SHA-256 of every file that kb put there, with its size, time and inode. Each
command compares size, time and inode of what it is about to load; `kb doctor` compares all bytes.")]
pub(in crate::cli) struct Cache {
    /// What to do; without it what lies there is shown.
    #[command(subcommand)]
    pub(in crate::cli) action: Option<CacheAction>,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// What to do with the cache.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum CacheAction {
    /// Remove what the database's model does not need
    Clean(CacheClean),
}

/// Remove what the database's model does not need
#[derive(Debug, Args)]
pub(in crate::cli) struct CacheClean {
    /// Remove what it needs, too: it is fetched and made again when it is
    #[arg(long)]
    pub(in crate::cli) all: bool,
    /// Say what would go, and remove nothing
    #[arg(long)]
    pub(in crate::cli) dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(in crate::cli) yes: bool,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// Show or change settings
#[derive(Debug, Args)]
pub(in crate::cli) struct ConfigArgs {
    /// What to do; without it every setting is shown with its origin.
    #[command(subcommand)]
    pub(in crate::cli) action: Option<ConfigAction>,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// What to do with the settings.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ConfigAction {
    /// Write a setting to config.yaml
    Set {
        /// Dotted name, as `kb config` shows it
        #[arg(value_name = "KEY")]
        key: String,
        /// New value
        #[arg(value_name = "VALUE", allow_hyphen_values = true)]
        value: String,
    },
}
