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
Filters choose all documents that pass them; with --query, of those only the documents of the results. Removed \
text is erased. Notes, and titles and tags that you edited, are in no file: --export keeps them.

For example: `kb remove DOC --yes`")]
pub(crate) struct RemoveArgs {
    /// Documents: ids, titles or unique parts of them; or added files and folders with everything below them
    #[arg(value_name = "DOC|DIR", required_unless_present_any = CHOOSING.iter().chain(&["backups"]))]
    #[arg(conflicts_with_all = CHOOSING, allow_negative_numbers = true)]
    pub(crate) documents: Vec<String>,
    #[command(flatten)]
    pub(crate) criteria: SelectionCriteriaArgs,
    /// Also delete the copies of the database that kb made itself, which may have what was removed
    #[arg(long)]
    pub(crate) backups: bool,
    /// Report what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also list them in .kbignore, so that they stay away
    #[arg(long)]
    pub(crate) ignore: bool,
    /// First write what is removed to this file, which `kb import` reads
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
Without flags, your editor (VISUAL, EDITOR, else vi) opens a page with title, tags and date, and the text of a note \
that has no file. All changes are made together when the editor ends; an empty or unchanged page changes nothing. \
A title that you edit stays when the file is read again.

For example: `kb edit DOC --title TITLE`")]
pub(crate) struct EditArgs {
    /// Document: id, path, or a unique part of its title or path
    #[arg(value_name = "DOC", allow_negative_numbers = true)]
    pub(crate) document: String,
    /// Set the title
    #[arg(long, value_name = "TEXT", value_parser = title)]
    pub(crate) title: Option<String>,
    /// Set the date, as in 2026-05-17; an empty one goes back to what the document or its file states
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub(crate) date: Option<Day>,
    /// Set all tags, separated by commas
    #[arg(long, value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    pub(crate) tags: Vec<String>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(
    override_usage = "kb tag [--add <TAGS>] [--remove <TAGS>] <DOC>..., or filters such as --query <TEXT>"
)]
#[command(group(ArgGroup::new("change").args(["add", "remove"]).required(true).multiple(true)))]
#[command(after_help = "\
Filters select all documents that pass them; with --query, only those among the results. If one of the documents \
is not found, no document is changed. `kb tags rename` renames a tag everywhere.

For example: `kb tag DOC --add todo`")]
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
#[command(after_help = "For example: `kb status --scan`")]
pub(crate) struct StatusArgs {
    /// Also count new, changed and missing files, and what takes the room in the database
    #[arg(long)]
    pub(crate) scan: bool,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "For example: `kb backup FILE`")]
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
The backup is checked first, and an older one is brought up to date; FILE itself does not change. The database \
that is replaced stays next to kb.db as kb-before-restore-TIME.db until you delete it. No other kb process may be \
using the database.

For example: `kb restore FILE`")]
pub(crate) struct RestoreArgs {
    /// A file that `kb backup` wrote
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The files below NEW are compared with what is remembered of OLD, then all paths change at once; ids, tags, titles and \
closed cases stay. Changed files are left to `kb update`, and so are missing ones. If a folder moved together with \
kb.db, `kb update` follows it without this command.

For example: `kb relocate OLD NEW`")]
pub(crate) struct RelocateArgs {
    /// The folder as it was added, or a folder in it
    #[arg(value_name = "OLD")]
    pub(crate) from: PathBuf,
    /// The folder that has its files now
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
Only documents and chunks that differ are sent, and missing ones are removed there; a push that was interrupted is \
continued by the next one. The server needs the extension pgvector. The connection is encrypted and \
the server's certificate checked, unless `sslmode` in the URL says otherwise; only SCRAM-SHA-256 is answered, unless \
`require_auth` does. `kb search --from TARGET QUERY` searches the copy.

For example: `kb push TARGET`")]
pub(crate) struct PushArgs {
    /// The copy: postgres://USER@HOST/DATABASE, with the password in PGPASSWORD
    #[arg(value_name = "TARGET")]
    pub(crate) target: String,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without filters, everything is exported; with filters, the documents that match them, without the added folders. \
The first line describes the database and its model; every other line is one document with its paths, tags and \
chunks. `kb import` reads the file into another database.

For example: `kb export FILE --vectors`")]
pub(crate) struct ExportArgs {
    /// File to create; - is standard output [default: -]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Replace FILE if it exists
    #[arg(long, short)]
    pub(crate) force: bool,
    /// Include vectors, so that importing computes nothing
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
Every cached file is compared with its checksum before anything is loaded; --fix fetches or rebuilds changed \
files.

Exit status 0: no problems; 1: problems that can be repaired; 2: the database is damaged beyond repair.

For example: `kb doctor --fix`")]
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
#[command(after_help = "For example: `kb reindex --dry-run`")]
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
The cache holds ONNX Runtime, models from Python packages, and models optimised for this machine. All of it can \
be fetched or rebuilt. Models from the hub are in a separate cache, shared with other programs, and are not \
touched.

manifest.txt lists every file that kb put there with its SHA-256, size, time and inode. Every command compares \
size, time and inode of the files it loads; `kb doctor` compares all bytes.")]
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
    /// Remove what the database's model does not need
    Clean(CacheCleanArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "For example: `kb cache clean --dry-run`")]
pub(crate) struct CacheCleanArgs {
    /// Also remove what it needs, which the next command fetches again
    #[arg(long)]
    pub(crate) all: bool,
    /// Report what would be removed, and remove nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
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
    #[command(after_help = "For example: `kb config set search.default_top 5`")]
    Set {
        /// Dotted name, as `kb config` shows it
        #[arg(value_name = "KEY")]
        key: String,
        /// New value
        #[arg(value_name = "VALUE", allow_hyphen_values = true)]
        value: String,
    },
}
