//! Defines the arguments of help, schema, completions and man.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "For example: `kb help query`")]
pub(crate) struct Help {
    /// A topic (query, config, limits, json, exit) or a command
    #[arg(value_name = "TOPIC")]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without a name, all schemas are listed. `kb help json` explains what the JSON promises.

For example: `kb schema search`")]
pub(crate) struct Schema {
    /// A command, such as `search` or `skill list`, or `error`
    #[arg(value_name = "SCHEMA")]
    pub(crate) name: Vec<String>,
    /// Write all schemas into this directory, as NAME.json
    #[arg(long, value_name = "DIR", conflicts_with = "name")]
    pub(crate) dir: Option<PathBuf>,
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
#[command(after_help = "For example: `kb man --dir DIR`")]
pub(crate) struct Man {
    /// Write a page for every command into this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}
