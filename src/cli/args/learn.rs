//! What can be typed to learn about kb itself: help, schema, completions, man.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Explain a topic (query, config, limits, json, exit) or a command
#[derive(Debug, Args)]
pub(in crate::cli) struct Help {
    /// A topic: query, config, limits, json, exit; or a command
    #[arg(value_name = "TOPIC")]
    pub(in crate::cli) words: Vec<String>,
}

/// Print the JSON Schema of what a command prints
#[derive(Debug, Args)]
#[command(after_help = "\
Without a name it lists the schemas there are. kb help json says what the JSON promises.")]
pub(in crate::cli) struct Schema {
    /// The command: search, skill list; or error
    #[arg(value_name = "SCHEMA")]
    pub(in crate::cli) name: Vec<String>,
    /// Write all of them into this directory, NAME.json each
    #[arg(long, value_name = "DIR", conflicts_with = "name")]
    pub(in crate::cli) dir: Option<PathBuf>,
}

/// Print what a shell needs to complete commands, flags, documents, tags and models
#[derive(Debug, Args)]
#[command(after_help = "\
bash:        kb completions bash > ~/.local/share/bash-completion/completions/kb
zsh:         kb completions zsh > a directory of $fpath, as _kb
fish:        kb completions fish > ~/.config/fish/completions/kb.fish
powershell:  kb completions powershell | Out-String | Invoke-Expression, in $PROFILE
elvish:      eval (kb completions elvish | slurp), in rc.elv")]
pub(in crate::cli) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(in crate::cli) shell: Shell,
}

/// A shell that completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
    Elvish,
}

/// Print the man page, or write one for every command
#[derive(Debug, Args)]
pub(in crate::cli) struct Man {
    /// Write kb.1 and a page for every command into this directory
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) dir: Option<PathBuf>,
}
