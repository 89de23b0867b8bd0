//! Defines the arguments of help, schema, completions and man.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "For example: `kb help query`")]
pub(in crate::cli) struct Help {
    /// A topic (query, config, limits, json, exit) or a command
    #[arg(value_name = "TOPIC")]
    pub(in crate::cli) words: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without a name, all schemas are listed. `kb help json` explains what the JSON promises.

For example: `kb schema search`")]
pub(in crate::cli) struct Schema {
    /// A command, such as `search` or `skill list`, or `error`
    #[arg(value_name = "SCHEMA")]
    pub(in crate::cli) name: Vec<String>,
    /// Write all schemas into this directory, as NAME.json
    #[arg(long, value_name = "DIR", conflicts_with = "name")]
    pub(in crate::cli) dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
bash:        kb completions bash > ~/.local/share/bash-completion/completions/kb
zsh:         kb completions zsh > ~/.zfunc/_kb        # or in another directory of $fpath
fish:        kb completions fish > ~/.config/fish/completions/kb.fish
powershell:  kb completions powershell | Out-String | Invoke-Expression    # in $PROFILE
elvish:      eval (kb completions elvish | slurp)     # in rc.elv

--keys makes Alt-K open `kb find` and put the chosen path on the command line:
bash:        eval \"$(kb completions --keys bash)\"     # in ~/.bashrc
zsh:         eval \"$(kb completions --keys zsh)\"      # in ~/.zshrc
fish:        kb completions --keys fish | source      # in config.fish")]
pub(in crate::cli) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub(in crate::cli) shell: Shell,
    /// Print a key binding for `kb find` instead (bash, zsh, fish)
    #[arg(long)]
    pub(in crate::cli) keys: bool,
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

#[derive(Debug, Args)]
#[command(after_help = "For example: `kb man --dir DIR`")]
pub(in crate::cli) struct Man {
    /// Write a page for every command into this directory
    #[arg(long, value_name = "DIR")]
    pub(in crate::cli) dir: Option<PathBuf>,
}
