//! Defines the arguments of grep.

use clap::{Args, ValueEnum};

use crate::cli::args::FilterArgs;
use crate::config::OutputFormat;

/// Find every line that matches a pattern
#[derive(Debug, Args)]
#[command(after_help = "\
Searches the stored text of every document, also of PDFs, scans, office files and notes, and prints all matching lines \
with line, page or section. Regular expressions, -i, -w and -F mean what they mean in ripgrep. Of text files and source \
code the same lines match as in the file; Markdown is stored without comments and with its link references resolved, \
and the file of a web page or an office document has other text than what is read of it. Blank lines between passages \
and white space around a passage of prose are not stored. kb search finds the same in other words. Put -- before a pattern that starts with a hyphen.")]
pub(in crate::cli) struct Grep {
    /// Regular expression; it never matches more than one line
    #[arg(value_name = "PATTERN")]
    pub(in crate::cli) pattern: String,
    /// Treat upper and lower case as the same
    #[arg(long, short)]
    pub(in crate::cli) ignore_case: bool,
    /// Match only whole words
    #[arg(long, short)]
    pub(in crate::cli) word_regexp: bool,
    /// The pattern is the text itself, not a regular expression
    #[arg(long, short = 'F')]
    pub(in crate::cli) fixed_strings: bool,
    /// Print only the documents with a match
    #[arg(long, short = 'l', conflicts_with = "context")]
    pub(in crate::cli) files_with_matches: bool,
    /// Print only the number of matching lines of each document
    #[arg(long, short, conflicts_with_all = ["context", "files_with_matches"])]
    pub(in crate::cli) count: bool,
    /// Print N lines before and after each matching line
    #[arg(long, short = 'C', value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(in crate::cli) context: usize,
    #[command(flatten)]
    pub(in crate::cli) filter: FilterArgs,
    /// Output for people (human), for programs (json), or one line of JSON for each line (jsonl)
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    #[arg(hide_possible_values = true)]
    pub(in crate::cli) format: LineFormat,
}

/// The output formats of `kb grep`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum LineFormat {
    Human,
    Json,
    Jsonl,
}

impl LineFormat {
    /// Returns the format in which errors are printed.
    pub(in crate::cli) fn errors(self) -> OutputFormat {
        match self {
            Self::Human => OutputFormat::Human,
            Self::Json | Self::Jsonl => OutputFormat::Json,
        }
    }
}
