//! Defines the arguments of help, schema, completions and man.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kb help query
  kb help search")]
pub(crate) struct Help {
    /// Topic (query, config, limits, json, exit) or command
    #[arg(value_name = "TOPIC")]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without a name, kb lists all schemas. `kb help json` explains which parts of the JSON output are stable.

Examples:
  kb schema
  kb schema search")]
pub(crate) struct Schema {
    /// Command, such as `search` or `skill list`, or `error`
    #[arg(value_name = "SCHEMA")]
    pub(crate) name: Vec<String>,
    /// Write all schemas into this directory, as NAME.json
    #[arg(long, value_name = "DIR", conflicts_with = "name")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Run the line of your shell once. The lines for PowerShell and elvish belong in $PROFILE and rc.elv.
bash:        kb completions bash > ~/.local/share/bash-completion/completions/kb
zsh:         kb completions zsh > ~/.zfunc/_kb  # or elsewhere in $fpath
fish:        kb completions fish > ~/.config/fish/completions/kb.fish
powershell:  kb completions powershell | Out-String | Invoke-Expression
elvish:      eval (kb completions elvish | slurp)

--keys binds Alt-K to `kb find` and puts the chosen path on the command line:
bash:        eval \"$(kb completions --keys bash)\"     # in ~/.bashrc
zsh:         eval \"$(kb completions --keys zsh)\"      # in ~/.zshrc
fish:        kb completions --keys fish | source      # in config.fish")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
    /// Print a key binding for `kb find` instead (bash, zsh, fish)
    #[arg(long)]
    pub(crate) keys: bool,
}

/// A shell that completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    Bash,
    Zsh,
    Fish,
    Powershell,
    Elvish,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without --dir, kb prints the page of kb itself.

Example:
  kb man --dir DIR")]
pub(crate) struct Man {
    /// Write a page for every command into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}
