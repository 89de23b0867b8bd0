//! What can be typed after `kb doctor` and `kb update`. Doc comments are the help text.

#![expect(clippy::doc_markdown, reason = "backticks would show in the help text")]

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::Format;

/// Examine the database and what kb needs, and say what to do
#[derive(Debug, Args)]
#[command(after_help = "\
Status 0: sound, notes or not; 1: something is wrong that can be mended; 2: the database is damaged
beyond that.")]
pub(super) struct Doctor {
    /// Mend what is wrong: make indexes anew, embed what lacks vectors, drop what refers to nothing,
    /// close permissions, give free space back
    #[arg(long)]
    pub(super) fix: bool,
    #[command(flatten)]
    pub(super) format: Format,
}

/// Look again at what was added: read what is new or changed, follow what moved
#[derive(Debug, Args)]
#[command(after_help = "\
What is gone is told, and removed only with --prune. A folder that is gone or empty, as a disk that is
not mounted leaves it, is never taken for a deletion.")]
pub(super) struct Update {
    /// Folders and files to look at; all that were added, where none is named
    #[arg(value_name = "ROOT")]
    pub(super) roots: Vec<PathBuf>,
    /// Remove the documents of files that are gone
    #[arg(long)]
    pub(super) prune: bool,
    /// With --prune: also where more than 30 % of a folder's documents would go
    #[arg(long, requires = "prune")]
    pub(super) force: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Opens encrypted documents; other users can see it, so better set KB_PASSWORD
    #[arg(long, value_name = "PASSWORD", allow_hyphen_values = true)]
    pub(super) password: Option<String>,
    #[command(flatten)]
    pub(super) format: Format,
}
