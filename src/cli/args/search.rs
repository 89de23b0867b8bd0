//! Defines the arguments of search, grep, why, similar, eval and embed, and the filters.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::app::session::typed_dates::TypedDate;
use crate::app::session::values::tag;
use crate::cli::args::ReportFormat;
use crate::cli::args::values::{budget, errors, kind, language, queries, recent, threshold, top};
use crate::config::OutputFormat;
use crate::document::{DocumentKind, Language};
use crate::store::ChunkId;

#[derive(Debug, Args)]
#[command(after_help = "\
Results match any of the words, and the best result comes first. \"Quoted phrases\" must match exactly (kb reports a \
phrase that no passage has), -word excludes a word, and prefix* matches any word that starts with it. If the query is \
the name or path of a file, that file comes first; if it is a date, documents named after the date do. Put -- before a \
query that starts with a hyphen. `kb help query` has the details.

Examples:
  kb search \"how is the gauge read\" --type pdf
  kb search '\"stilling well\" frozen' --format human
  kb search -- '-draft release plan'")]
pub(crate) struct SearchArgs {
    /// Words and phrases to search for
    #[arg(value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// Add another phrasing of the query; may be repeated
    #[arg(long, value_name = "QUERY", requires = "query")]
    pub(crate) also: Vec<String>,
    /// Answer the queries in this file (- is standard input). Each line is a query, or a JSON object with a query and
    /// options. Prints one line of JSON per query, or text with --format agent
    #[arg(long, value_name = "FILE", conflicts_with = "query")]
    pub(crate) batch: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) how: SearchModeArgs,
    /// Show for each result which terms matched and how much each contributed
    #[arg(long)]
    pub(crate) explain: bool,
    /// Return the best passages that fit into this many tokens
    #[arg(long, value_name = "TOKENS", value_parser = budget, allow_negative_numbers = true)]
    pub(crate) budget: Option<u32>,
    /// Extend the text of each result by the N chunks before it and the N chunks after it
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) context: u32,
    /// Re-index changed files among the results, and repeat the search
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Open result N in your editor or viewer instead of printing results
    #[arg(long, value_name = "N", value_parser = top, conflicts_with_all = ["batch", "format"], hide = true)]
    pub(crate) open: Option<u32>,
    /// Search the copy that `kb push TARGET` made, instead of the database
    #[arg(long, value_name = "TARGET", conflicts_with_all = ["fresh", "open"])]
    pub(crate) from: Option<String>,
    /// With --format paths: list each file once, followed by a zero byte, for xargs -0
    #[arg(long, short = '0')]
    pub(crate) null: bool,
    /// json, human, jsonl (one result per line), paths (path:line), md (Markdown with citations), agent (compact)
    /// [default: search.default_format, json]
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub(crate) format: Option<SearchFormat>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Results update as you type. Enter opens the selected passage in your editor (VISUAL, EDITOR) or viewer (KB_VIEWER), \
Esc leaves, and Ctrl-G shows all keys. `kb` without a command is `kb find`. The screen is drawn on standard error.

kb restores the terminal on exit. After SIGKILL, run `reset`.

--print prints PATH:LINE, or only PATH if the file has no lines. Its exit status is 130 if nothing was chosen. \
`kb completions --keys SHELL` prints a key binding for bash, zsh or fish: Alt-K starts `kb find`, and puts the chosen \
path on the command line.

Examples:
  kb find QUERY
  # Open the chosen passage in vim, at its line if it has one
  at=$(kb find --print) && n=${at##*:} && vim \"+0${n##*[!0-9]*}\" \"${at%:*}\"")]
pub(crate) struct FindArgs {
    /// Query to start with
    #[arg(value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// Print the path and line of the chosen passage instead of opening it
    #[arg(long)]
    pub(crate) print: bool,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Prefer newer documents in near ties, as `kb search` does
    #[arg(long, value_name = "DAYS", value_parser = recent, num_args = 0..=1, require_equals = true)]
    pub(crate) recent: Option<Option<u32>>,
    /// Start with keyword search only; needs no model
    #[arg(long, conflicts_with = "vec_only")]
    pub(crate) fts_only: bool,
    /// Start with semantic search only
    #[arg(long, hide = true)]
    pub(crate) vec_only: bool,
}

/// Where to look, and how much to return.
#[derive(Debug, Clone, Args)]
pub(crate) struct SearchModeArgs {
    /// At most N results [default: search.default_top, 10]
    #[arg(long, value_name = "N", value_parser = top, allow_negative_numbers = true)]
    pub(crate) top: Option<u32>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// At most N results per document
    #[arg(long, value_name = "N", value_parser = top, allow_negative_numbers = true)]
    pub(crate) per_doc: Option<u32>,
    /// Prefer newer documents in near ties; DAYS is the half-life of their boost, and 0 turns it off
    /// [default without =DAYS: the setting search.half_life_days, or 30 if that setting is 0]
    #[arg(long, value_name = "DAYS", value_parser = recent, num_args = 0..=1, require_equals = true)]
    pub(crate) recent: Option<Option<u32>>,
    /// Also show near copies of better results
    #[arg(long)]
    pub(crate) copies: bool,
    /// Leave out results below this score
    #[arg(long, value_name = "SCORE", value_parser = threshold, allow_negative_numbers = true)]
    pub(crate) threshold: Option<f64>,
    /// Search by keywords only; needs no model
    #[arg(long, conflicts_with = "vec_only")]
    pub(crate) fts_only: bool,
    /// Search by meaning only
    #[arg(long)]
    pub(crate) vec_only: bool,
}

/// The output formats of `kb search`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SearchFormat {
    Json,
    Human,
    Jsonl,
    Paths,
    Md,
    Agent,
}

impl SearchArgs {
    pub(super) fn wanted_format(&self) -> Option<OutputFormat> {
        match (&self.batch, &self.open) {
            (Some(_), _) if self.format != Some(SearchFormat::Agent) => Some(OutputFormat::Json),
            (_, Some(_)) => Some(OutputFormat::Human),
            (_, None) => self.format.map(errors),
        }
    }
}

impl From<OutputFormat> for SearchFormat {
    fn from(format: OutputFormat) -> Self {
        match format {
            OutputFormat::Json => Self::Json,
            OutputFormat::Human => Self::Human,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Follows the document through the search: its words, both rankings, the filters and the cut-offs.

Examples:
  kb why \"frozen gauge\" DOC
  kb why \"frozen gauge\" \"Tide station handbook\" --top 3")]
pub(crate) struct WhyArgs {
    /// Query as one argument; quote several words
    #[arg(value_name = "QUERY")]
    pub(crate) query: String,
    /// Document: id, path, or a unique part of its title or path
    #[arg(value_name = "DOC")]
    pub(crate) document: String,
    #[command(flatten)]
    pub(crate) how: SearchModeArgs,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kb similar DOC
  kb similar --chunk 17 --top 5")]
pub(crate) struct SimilarArgs {
    /// Document: id, path, or a unique part of its title or path
    #[arg(value_name = "DOC", required_unless_present = "chunk")]
    pub(crate) document: Option<String>,
    /// Id of a chunk, as in search results
    #[arg(long, value_name = "ID", conflicts_with = "document")]
    pub(crate) chunk: Option<ChunkId>,
    /// At most N results [default: search.default_top, 10]
    #[arg(long, value_name = "N", value_parser = top, allow_negative_numbers = true)]
    pub(crate) top: Option<u32>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

/// Selects the documents to search.
#[derive(Debug, Clone, Args)]
pub(crate) struct FilterArgs {
    /// Only this type or format: pdf, mail, docx
    ///
    /// A type (pdf, markdown, code, note), a group of formats (mail, sheet, slides, book, web, image) or a format as
    /// `kb list` shows it (docx, html, epub, ...)
    #[arg(long = "type", value_name = "TYPE", value_parser = kind(), hide_possible_values = true)]
    pub(crate) kind: Option<DocumentKind>,
    /// Only documents with all these tags, separated by commas
    #[arg(long, value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    pub(crate) tags: Vec<String>,
    /// Only documents with none of these tags, separated by commas
    #[arg(long = "exclude-tag", value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    pub(crate) excluded_tags: Vec<String>,
    /// Only source code in this language (`kb add --help` lists them)
    #[arg(long, value_name = "LANGUAGE", value_parser = language(), hide_possible_values = true)]
    pub(crate) language: Option<Language>,
    /// Only documents of this date or later: 2026-05-17, 7d
    ///
    /// Other forms: 2026, 2026-05, 17.5.2026, 2w, 3m, 1y, today, yesterday, 'last week', 'last month', 'last year'.
    #[arg(long, value_name = "DATE", value_parser = TypedDate::now)]
    pub(crate) since: Option<TypedDate>,
    /// Only documents of this date or earlier; a month or year includes its last day
    #[arg(long, value_name = "DATE", value_parser = TypedDate::now)]
    pub(crate) until: Option<TypedDate>,
    /// Only documents added on this date or later (UTC)
    #[arg(long, value_name = "DATE", value_parser = TypedDate::now)]
    pub(crate) added_since: Option<TypedDate>,
    /// Only documents at or below this path or with this id
    ///
    /// May be repeated; documents below any of the paths pass. A number such as 4 is the document with that id, if
    /// there is one; ./4 is always a file or folder with the name 4.
    #[arg(long = "path", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
}

/// Chooses documents by what they are, instead of by name.
#[derive(Debug, Clone, Args)]
pub(crate) struct SelectionCriteriaArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Only documents among the results of this search
    #[arg(long, value_name = "TEXT")]
    pub(crate) query: Option<String>,
    /// With --query: at most N results [default: search.default_top, 10]
    #[arg(long, value_name = "N", value_parser = top, requires = "query")]
    pub(crate) top: Option<u32>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without a folder, kb asks for headings and rare words of your documents; the right answer is the document that they \
come from.

Examples:
  kb eval --queries 50
  kb eval FOLDER")]
pub(crate) struct EvalArgs {
    /// Folder with corpus.jsonl, queries.jsonl and qrels.tsv (the layout of BEIR)
    #[arg(value_name = "FOLDER")]
    pub(crate) folder: Option<PathBuf>,
    /// Ask at most N questions
    #[arg(long, value_name = "N", value_parser = queries, default_value = "400")]
    pub(crate) queries: u32,
    /// Directory for the folder's documents and their database [default: data_dir/eval/NAME]
    #[arg(long, value_name = "DIR", requires = "folder")]
    pub(crate) work: Option<PathBuf>,
    /// File name extension of the folder's documents, which decides how they are read
    #[arg(long, value_name = "EXTENSION", default_value = "md", requires = "folder")]
    pub(crate) extension: String,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Prints one JSON array of numbers per line, in the order of the texts. Vectors have unit length: their dot product \
is the cosine that `kb search` uses.

Examples:
  kb embed \"a text\"
  kb embed --stdin < FILE")]
pub(crate) struct EmbedArgs {
    /// Text to embed
    #[arg(value_name = "TEXT", required_unless_present = "stdin", conflicts_with = "stdin")]
    pub(crate) text: Option<String>,
    /// Read texts from standard input, one per line
    #[arg(long)]
    pub(crate) stdin: bool,
    /// Embed as queries instead of passages; some models distinguish them
    #[arg(long)]
    pub(crate) query: bool,
    /// The only format; accepted because every other command has it
    #[arg(long, hide = true, value_parser = ["json"], value_name = "FORMAT")]
    pub(crate) format: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Searches the stored text of every document, including PDFs, scans, office files and notes, and prints every matching \
line with its line number, page or section. Regular expressions, -i, -w and -F work as in ripgrep.

For text files and source code, kb grep matches the same lines as grep. Markdown is stored without comments and with \
its link references resolved. For web pages and office documents, kb searches the extracted text, not the raw file. \
Blank lines between passages, and white space around a passage of prose, are not stored.

Use `kb search` to find other wordings of the same thing. Put -- before a pattern that starts with a hyphen.

Examples:
  kb grep -i \"frozen|thaw\" --type markdown
  kb grep -F \"retry(\" -c")]
pub(crate) struct GrepArgs {
    /// Regular expression, which matches within one line
    #[arg(value_name = "PATTERN")]
    pub(crate) pattern: String,
    /// Ignore the difference between upper and lower case
    #[arg(long, short)]
    pub(crate) ignore_case: bool,
    /// Match only whole words
    #[arg(long, short)]
    pub(crate) word_regexp: bool,
    /// Treat the pattern as literal text
    #[arg(long, short = 'F')]
    pub(crate) fixed_strings: bool,
    /// List only the documents that have a match
    #[arg(long, short = 'l', conflicts_with = "context")]
    pub(crate) files_with_matches: bool,
    /// Print only the number of matching lines of each document
    #[arg(long, short, conflicts_with_all = ["context", "files_with_matches"])]
    pub(crate) count: bool,
    /// Print N lines before and after each matching line
    #[arg(long, short = 'C', value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(crate) context: usize,
    /// With human and agent: print at most N tokens, and report how much is left out [default with agent: 1000]
    #[arg(long, value_name = "N", value_parser = budget, hide_short_help = true)]
    pub(crate) budget: Option<u32>,
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Output for people (human), for models (agent), for programs (json), or one line of JSON per match (jsonl)
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    #[arg(hide_possible_values = true)]
    pub(crate) format: LineFormat,
}

/// The output formats of `kb grep`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LineFormat {
    Human,
    Agent,
    Json,
    Jsonl,
}
