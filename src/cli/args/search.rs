//! What can be typed to find something: search, why, similar, eval, embed; and which documents.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::app::values::{date, tag};
use crate::cli::args::Format;
use crate::cli::args::values::{budget, doc_type, language, queries, threshold, top};
use crate::config::OutputFormat;
use crate::document::{ChunkId, DocType, Language};

/// Search what has been added
#[derive(Debug, Args)]
#[command(after_help = "\
Words are alternatives, ordered by relevance; \"a phrase\" stays together; a leading - excludes;
begin* finds every word that begins so.
A query that begins with - comes after --: kb search -- '-draft release plan'")]
pub(in crate::cli) struct Search {
    /// What to look for; several words are one query
    #[arg(value_name = "QUERY")]
    pub(in crate::cli) query: Vec<String>,
    /// Answer the queries of this file (- is standard input), one a line or JSON objects with
    /// options, by one JSON object a line
    #[arg(long, value_name = "FILE", conflicts_with_all = ["query", "format"])]
    pub(in crate::cli) batch: Option<PathBuf>,
    #[command(flatten)]
    pub(in crate::cli) how: How,
    /// Say of each result which terms of the query it was found by, and what each was worth
    #[arg(long)]
    pub(in crate::cli) explain: bool,
    /// Return the best passages that fit into so many tokens, each text once, neighbours as one
    #[arg(long, value_name = "TOKENS", value_parser = budget, allow_negative_numbers = true)]
    pub(in crate::cli) budget: Option<u32>,
    /// Add so many chunks before and after each result to its text
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub(in crate::cli) context: u32,
    /// Open result N in the editor at its line, a PDF in the viewer, instead of printing results
    #[arg(long, value_name = "N", value_parser = top, conflicts_with_all = ["batch", "format"])]
    pub(in crate::cli) open: Option<u32>,
    /// With --format paths: end each path with a zero byte, for xargs -0; each file once, no line
    #[arg(long, short = '0')]
    pub(in crate::cli) null: bool,
    /// json, human, jsonl (one result a line), paths (path:line), md (to paste, with citations)
    /// [default: search.default_format, json]
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    pub(in crate::cli) format: Option<SearchFormat>,
}

/// Where to look, and how much to return.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct How {
    /// Most results to return [default: search.default_top, 10]
    #[arg(long, value_name = "N", value_parser = top, allow_negative_numbers = true)]
    pub(in crate::cli) top: Option<u32>,
    #[command(flatten)]
    pub(in crate::cli) filter: FilterArgs,
    /// Most results of one document
    #[arg(long, value_name = "N", value_parser = top, allow_negative_numbers = true)]
    pub(in crate::cli) per_doc: Option<u32>,
    /// Show near copies of better results, too
    #[arg(long)]
    pub(in crate::cli) copies: bool,
    /// Leave out results with a fused score below this
    #[arg(long, value_name = "SCORE", value_parser = threshold, allow_negative_numbers = true)]
    pub(in crate::cli) threshold: Option<f64>,
    /// Keyword search only; needs no model
    #[arg(long, conflicts_with = "vec_only")]
    pub(in crate::cli) fts_only: bool,
    /// Vector search only
    #[arg(long)]
    pub(in crate::cli) vec_only: bool,
}

/// How the answer to a query is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum SearchFormat {
    Json,
    Human,
    Jsonl,
    Paths,
    Md,
}

impl SearchFormat {
    /// Returns who reads it, and so in which form an error is told.
    pub(in crate::cli) fn reader(self) -> OutputFormat {
        match self {
            Self::Json | Self::Jsonl => OutputFormat::Json,
            Self::Human | Self::Paths | Self::Md => OutputFormat::Human,
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

/// Follow one document through a search, and say where it fell out
#[derive(Debug, Args)]
pub(in crate::cli) struct Why {
    /// The query; several words in quotation marks
    #[arg(value_name = "QUERY")]
    pub(in crate::cli) query: String,
    /// The document: its id, path or title
    #[arg(value_name = "DOC")]
    pub(in crate::cli) document: String,
    #[command(flatten)]
    pub(in crate::cli) how: How,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// Find what is like a document or a chunk
#[derive(Debug, Args)]
pub(in crate::cli) struct Similar {
    /// Which document: id, path, or a unique part of its title or path
    #[arg(value_name = "DOC", required_unless_present = "chunk")]
    pub(in crate::cli) document: Option<String>,
    /// Which chunk, by its id, as search results name it
    #[arg(long, value_name = "ID", conflicts_with = "document")]
    pub(in crate::cli) chunk: Option<ChunkId>,
    /// Most results to return [default: search.default_top, 10]
    #[arg(long, value_name = "N", value_parser = top, allow_negative_numbers = true)]
    pub(in crate::cli) top: Option<u32>,
    #[command(flatten)]
    pub(in crate::cli) filter: FilterArgs,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// Which documents to look at.
#[derive(Debug, Clone, Args)]
pub(in crate::cli) struct FilterArgs {
    /// Only documents of this type
    #[arg(long = "type", value_name = "TYPE", value_parser = doc_type())]
    pub(in crate::cli) doc_type: Option<DocType>,
    /// Only documents that bear all these tags, separated by commas
    #[arg(long, value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    pub(in crate::cli) tags: Vec<String>,
    /// Only documents that bear none of these tags, separated by commas
    #[arg(long = "exclude-tag", value_name = "TAGS", value_delimiter = ',', value_parser = tag)]
    pub(in crate::cli) excluded_tags: Vec<String>,
    /// Only source code in this language
    #[arg(long, value_name = "LANGUAGE", value_parser = language())]
    pub(in crate::cli) language: Option<Language>,
    /// Only documents of this day or later: 2026, 2026-05 or 2026-05-17
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(in crate::cli) since: Option<String>,
    /// Only documents of this day or earlier, as --since
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(in crate::cli) until: Option<String>,
    /// Only documents at or below this file or folder
    #[arg(long, value_name = "PATH")]
    pub(in crate::cli) path: Option<PathBuf>,
}

/// Measure how well searches find what is there
#[derive(Debug, Args)]
#[command(after_help = "\
Without a folder, headings and rare words of the documents that were added are the questions, and the
document they come from is the answer.")]
pub(in crate::cli) struct Eval {
    /// Folder with corpus.jsonl, queries.jsonl and qrels.tsv (the layout of BEIR)
    #[arg(value_name = "FOLDER")]
    pub(in crate::cli) folder: Option<PathBuf>,
    /// Questions to ask at most
    #[arg(long, value_name = "N", value_parser = queries, default_value = "400")]
    pub(in crate::cli) queries: u32,
    /// Where the folder's documents and their database go and are kept [default: data_dir/eval/NAME]
    #[arg(long, value_name = "DIR", requires = "folder")]
    pub(in crate::cli) work: Option<PathBuf>,
    /// File name extension of the folder's documents, which says how they are read
    #[arg(long, value_name = "EXTENSION", default_value = "md", requires = "folder")]
    pub(in crate::cli) extension: String,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// Print the vectors of texts, for scripts
#[derive(Debug, Args)]
#[command(after_help = "\
Prints one JSON array of numbers a text, each on a line of its own, in the order of the texts.
Vectors have unit length: their dot product is the cosine that `kb search` goes by.")]
pub(in crate::cli) struct Embed {
    /// The text
    #[arg(value_name = "TEXT", required_unless_present = "stdin", conflicts_with = "stdin")]
    pub(in crate::cli) text: Option<String>,
    /// Read texts from standard input, one a line
    #[arg(long)]
    pub(in crate::cli) stdin: bool,
    /// Embed as queries, not as passages; some models make a difference
    #[arg(long)]
    pub(in crate::cli) query: bool,
    /// JSON lines are all there is; accepted because every other command has it
    #[arg(long, hide = true, value_parser = ["json"], value_name = "FORMAT")]
    pub(in crate::cli) format: Option<String>,
}
