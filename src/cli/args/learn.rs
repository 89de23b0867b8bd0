//! What can be typed to learn about kb itself: schema.

use std::path::PathBuf;

use clap::Args;

/// Print the JSON Schema of what a command prints
#[derive(Debug, Args)]
#[command(after_help = "\
Without a name it lists the schemas there are.")]
pub(in crate::cli) struct Schema {
    /// The command: search, skill list; or error
    #[arg(value_name = "SCHEMA")]
    pub(in crate::cli) name: Vec<String>,
    /// Write all of them into this directory, NAME.json each
    #[arg(long, value_name = "DIR", conflicts_with = "name")]
    pub(in crate::cli) dir: Option<PathBuf>,
}
