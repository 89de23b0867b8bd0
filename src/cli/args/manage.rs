//! Defines the arguments of the maintenance commands: remove, tag, status, backup, export, doctor,
//! reindex, model, cache and config.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};

use crate::app::session::values::tag;
use crate::cli::args::values::{Day, day, directory, title};
use crate::cli::args::{ReportFormat, SelectionCriteriaArgs};
use crate::config::OutputFormat;

/// The flags of [`SelectionCriteriaArgs`]: documents are chosen by these or by name.
const CHOOSING: [&str; 9] = [
    "kind", "tags", "excluded_tags", "language", "since", "until", "added_since", "paths", "query",
];

#[derive(Debug, Args)]
#[command(override_usage = "kb remove [OPTIONS] <DOC|DIR>..., or filters such as --query <TEXT>")]
#[command(after_help = "\
Filters select all documents that pass them; with --query, only those among the results. Removed text is erased. \
Notes without a file, and titles and tags that you edited, exist only in the database; --export saves them to a file \
before kb removes them.

Examples:
  kb remove DOC --yes
  kb remove --tags sample --dry-run")]
pub(crate) struct RemoveArgs {
    /// Documents (ids, titles or unique parts of them), or added files and folders with everything below them
    #[arg(value_name = "DOC|DIR", required_unless_present_any = CHOOSING.iter().chain(&["backups"]))]
    #[arg(conflicts_with_all = CHOOSING, allow_negative_numbers = true)]
    pub(crate) documents: Vec<String>,
    #[command(flatten)]
    pub(crate) criteria: SelectionCriteriaArgs,
    /// Also delete kb's own backups, which may still contain the removed text
    #[arg(long)]
    pub(crate) backups: bool,
    /// List what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also add the removed files to .kbignore
    #[arg(long)]
    pub(crate) ignore: bool,
    /// First write the documents to this file, which `kb import` reads
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    pub(crate) export: Option<PathBuf>,
    /// With --export: replace FILE if it exists
    #[arg(long, short, requires = "export")]
    pub(crate) force: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without options, kb opens a page in your editor (VISUAL, EDITOR, else vi). It has the title, tags and date, and the text \
of a note that has no file. kb makes all changes together when you close the editor; an empty or unchanged page changes \
nothing. A title that you edited is kept when the file is read again.

Examples:
  kb edit DOC --title TITLE
  kb edit DOC --date 2026-05-17 --tags work,todo")]
pub(crate) struct EditArgs {
    /// Document: id, path, or a unique part of its title or path
    #[arg(value_name = "DOC", allow_negative_numbers = true)]
    pub(crate) document: String,
    /// Set the title
    #[arg(long, value_name = "TEXT", value_parser = title)]
    pub(crate) title: Option<String>,
    /// Set the date, such as 2026-05-17; an empty date restores that of the document or its file
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub(crate) date: Option<Day>,
    /// Replace all tags with these, separated by commas
    #[arg(long, value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    pub(crate) tags: Vec<String>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(override_usage = "kb tag [--add <TAGS>] [--remove <TAGS>] <DOC>..., or filters")]
#[command(group(ArgGroup::new("change").args(["add", "remove"]).required(true).multiple(true)))]
#[command(after_help = "\
Filters, such as --type and --query, select all documents that pass them; with --query, only those among the results. \
If one of the named documents is not found, no document is changed. `kb tags rename` renames a tag everywhere.

Examples:
  kb tag DOC --add todo
  kb tag --query \"frozen gauge\" --add winter --remove sample")]
pub(crate) struct TagArgs {
    /// Documents: ids, paths, or unique parts of titles or paths
    #[arg(value_name = "DOC", required_unless_present_any = CHOOSING, allow_negative_numbers = true)]
    #[arg(conflicts_with_all = CHOOSING)]
    pub(crate) documents: Vec<String>,
    #[command(flatten)]
    pub(crate) criteria: SelectionCriteriaArgs,
    /// Tags to add, separated by commas
    #[arg(long, value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    pub(crate) add: Vec<String>,
    /// Tags to remove, separated by commas
    #[arg(long, value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    pub(crate) remove: Vec<String>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kb status
  kb status --scan")]
pub(crate) struct StatusArgs {
    /// Also count new, changed and missing files, and show what uses the space in the database
    #[arg(long)]
    pub(crate) scan: bool,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kb backup FILE
  kb backup --verify FILE")]
pub(crate) struct BackupArgs {
    /// File to write, or to check with --verify
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Check FILE, and change nothing
    #[arg(long, conflicts_with = "force")]
    pub(crate) verify: bool,
    /// Replace FILE if it exists
    #[arg(long, short)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
kb checks the backup first and upgrades an older one; FILE itself does not change. The previous database is saved next \
to kb.db as kb-before-restore-TIME.db until you delete it. No other kb process may be using the database.

Example:
  kb restore FILE")]
pub(crate) struct RestoreArgs {
    /// File written by `kb backup`
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
kb compares the files below NEW with those that it remembers below OLD, and then changes all paths at once. Ids, tags, \
titles and waived failures are kept. Changed and missing files are handled by the next `kb update`. If a folder moved \
together with kb.db, `kb update` follows it without this command.

Examples:
  kb relocate OLD NEW --dry-run
  kb relocate OLD NEW")]
pub(crate) struct RelocateArgs {
    /// Old path of the added folder, or of a folder in it
    #[arg(value_name = "OLD")]
    pub(crate) from: PathBuf,
    /// New path of the folder
    #[arg(value_name = "NEW")]
    pub(crate) to: PathBuf,
    /// Compare the files, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Relocate even if no file below NEW has its remembered content
    #[arg(long, short)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
kb sends only documents and chunks that differ, and removes missing ones from the copy. The next push continues an \
interrupted one. `kb search --from TARGET QUERY` searches the copy.

The server needs the extension pgvector. kb encrypts the connection and checks the server's certificate, unless \
`sslmode` in the URL says otherwise. It authenticates only with SCRAM-SHA-256, unless `require_auth` allows other methods.

Example:
  kb push TARGET")]
pub(crate) struct PushArgs {
    /// URL of the copy: postgres://USER@HOST/DATABASE, with the password in PGPASSWORD
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without filters, kb exports everything; with filters, the documents that match them, without the added folders. \
The first line describes the database and its model; every other line is one document with its paths, tags and \
chunks. `kb import` reads the file into another database.

Examples:
  kb export FILE --vectors
  kb export FILE --tags sample")]
pub(crate) struct ExportArgs {
    /// File to create; - is standard output [default: -]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long, short)]
    pub(crate) force: bool,
    /// Include the vectors, so that `kb import` does not have to compute them
    #[arg(long)]
    pub(crate) vectors: bool,
    #[command(flatten)]
    pub(crate) criteria: SelectionCriteriaArgs,
    /// The only format
    #[arg(long, value_parser = ["jsonl"], value_name = "FORMAT", default_value = "jsonl")]
    pub(crate) format: String,
}

#[derive(Debug, Args)]
#[command(after_help = "\
kb compares every cached file with its checksum before it loads anything; --fix fetches or rebuilds changed files.

Exit status 0: no problems; 1: problems that can be repaired; 2: the database is damaged beyond repair.

Examples:
  kb doctor
  kb doctor --fix")]
pub(crate) struct DoctorArgs {
    /// Repair: rebuild indexes, compute missing vectors, remove orphaned rows, restrict permissions,
    /// release free space
    #[arg(long)]
    pub(crate) fix: bool,
    /// List the links between notes that lead to no document
    #[arg(long)]
    pub(crate) links: bool,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kb reindex --dry-run
  kb reindex --model NAME")]
pub(crate) struct ReindexArgs {
    /// Model to switch to [default: the one the database uses]
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Use the model files in this directory instead of fetching them
    #[arg(long, value_name = "DIR", value_parser = directory)]
    pub(crate) model_dir: Option<PathBuf>,
    /// Report how long it would take and how large the vectors would be, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  kb model list")]
pub(crate) struct ModelArgs {
    /// The action.
    #[command(subcommand)]
    pub(crate) action: ModelAction,
}

/// An action on models.
#[derive(Debug, Subcommand)]
pub(crate) enum ModelAction {
    /// List the models that kb knows by name, with cost and scores
    List {
        #[command(flatten)]
        format: ReportFormat,
    },
}

impl ModelArgs {
    pub(super) fn wanted_format(&self) -> Option<OutputFormat> {
        let ModelAction::List { format } = &self.action;
        Some(format.format)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
The cache holds ONNX Runtime, models from Python packages, and models optimised for this machine. kb can fetch or \
rebuild all of it. Models from the hub are in a separate cache, which other programs share and kb does not touch.

manifest.txt lists every file that kb put there with its SHA-256, size, time and inode. Every command compares \
size, time and inode of the files it loads; `kb doctor` compares all bytes.

Examples:
  kb cache
  kb cache clean --dry-run")]
pub(crate) struct CacheArgs {
    /// The action; without one, the contents are shown.
    #[command(subcommand)]
    pub(crate) action: Option<CacheAction>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

impl CacheArgs {
    pub(super) fn wanted_format(&self) -> Option<OutputFormat> {
        Some(match &self.action {
            Some(CacheAction::Clean(clean)) => clean.format.format,
            None => self.format.format,
        })
    }
}

/// An action on the cache.
#[derive(Debug, Subcommand)]
pub(crate) enum CacheAction {
    /// Remove everything that the database's model does not need
    Clean(CacheCleanArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  kb cache clean --dry-run")]
pub(crate) struct CacheCleanArgs {
    /// Also remove the parts that it needs; the next command fetches them again
    #[arg(long)]
    pub(crate) all: bool,
    /// List what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without a command, kb shows all settings and where each comes from.

Examples:
  kb config
  kb config set search.default_top 5")]
pub(crate) struct ConfigArgs {
    /// The action; without one, all settings are shown.
    #[command(subcommand)]
    pub(crate) action: Option<ConfigAction>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

/// An action on the settings.
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Write a setting to config.yaml
    #[command(after_help = "\
Example:
  kb config set search.default_top 5")]
    Set {
        /// Name of the setting, such as search.default_top
        #[arg(value_name = "KEY")]
        key: String,
        /// New value
        #[arg(value_name = "VALUE", allow_hyphen_values = true)]
        value: String,
    },
}
