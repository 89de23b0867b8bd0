//! Defines the arguments of list, info, tags, outline, show, open and convert.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::app::query::read::SortKey;
use crate::app::session::values::{pages as cited, tag};
use crate::cli::args::values::{directory, doc_type, language, lines, pages, sort, top};
use crate::cli::args::{FilterArgs, ReportFormat};
use crate::config::OutputFormat;
use crate::document::{DocType, Language, LineRange, PageRange};
use crate::store::ChunkId;

#[derive(Debug, Args)]
#[command(after_help = "For example: `kb list --type markdown --sort date`")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) filter: FilterArgs,
    /// Sort by added (oldest first), title, size (most chunks first), type or date (newest first)
    #[arg(long, value_name = "KEY", value_parser = sort(), default_value = "added")]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    pub(crate) sort: SortKey,
    /// Reverse the order
    #[arg(long)]
    pub(crate) reverse: bool,
    /// List at most this many documents
    #[arg(long, value_name = "N", value_parser = top)]
    pub(crate) limit: Option<u32>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A file is indexed, ignored (by which rule), failed (why) or waived. A failed file is read again when it, kb or the \
settings have changed, or when `kb add` names it. A folder that is not entered is one line.

For example: `kb files --failed`")]
pub(crate) struct FilesArgs {
    /// A file or folder, with everything below it [default: all]
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// List only files that are indexed
    #[arg(long, group = "state")]
    pub(crate) indexed: bool,
    /// List only files and folders that are left out
    #[arg(long, group = "state")]
    pub(crate) ignored: bool,
    /// List only files that could not be read
    #[arg(long, group = "state")]
    pub(crate) failed: bool,
    /// List only failed files that were waived
    #[arg(long, group = "state")]
    pub(crate) waived: bool,
    /// List only files of whose words more than a tenth was left out, or whose encoding is uncertain
    #[arg(long, group = "state")]
    pub(crate) quality: bool,
    /// Waive failed files: they are not counted or read again until `kb add` names them
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with_all = ["path", "state"])]
    pub(crate) waive: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "For example: `kb info DOC`")]
pub(crate) struct InfoArgs {
    /// Document: id, path, or a unique part of its title or path
    #[arg(value_name = "DOC", allow_negative_numbers = true)]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
pub(crate) struct TagsArgs {
    /// The action; without one, all tags are listed.
    #[command(subcommand)]
    pub(crate) action: Option<TagsAction>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

impl TagsArgs {
    pub(super) fn wanted_format(&self) -> Option<OutputFormat> {
        Some(match &self.action {
            Some(TagsAction::Rename(rename)) => rename.format.format,
            None => self.format.format,
        })
    }
}

/// An action on all tags.
#[derive(Debug, Subcommand)]
pub(crate) enum TagsAction {
    /// Rename a tag
    Rename(TagsRenameArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
If a tag NEW exists, the two are merged. Added folders that tag new files with OLD tag them with NEW.

For example: `kb tags rename OLD NEW`")]
pub(crate) struct TagsRenameArgs {
    /// The tag
    #[arg(value_name = "OLD", value_parser = tag)]
    pub(crate) old: String,
    /// Its new name
    #[arg(value_name = "NEW", value_parser = tag)]
    pub(crate) new: String,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = document_help("kb outline DOC --level 2"))]
pub(crate) struct OutlineArgs {
    /// Document: id, path, or a unique part of its title or path
    #[arg(value_name = "DOC")]
    pub(crate) document: String,
    /// Deepest level to list
    #[arg(long, value_name = "N")]
    pub(crate) level: Option<u32>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = document_help("kb show DOC --max-lines 40"))]
pub(crate) struct ShowArgs {
    /// Document: id, path, or a unique part of its title or path
    #[arg(value_name = "DOC", required_unless_present = "chunk")]
    pub(crate) document: Option<String>,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Also show N chunks before and after the chunk
    #[arg(long, value_name = "N", requires = "chunk", default_value_t = 0)]
    pub(crate) around: u32,
    /// Show at most N lines
    #[arg(long, value_name = "N", conflicts_with = "image")]
    pub(crate) max_lines: Option<u32>,
    /// Write the page of a PDF or picture to this file, as PNG
    #[arg(long, value_name = "FILE", conflicts_with = "symbol")]
    pub(crate) image: Option<PathBuf>,
    /// Mark these words on the picture [default: the chunk or section]
    #[arg(long, value_name = "WORDS", requires = "image", allow_hyphen_values = true)]
    pub(crate) mark: Option<String>,
    /// Replace the file if it exists
    #[arg(long, requires = "image")]
    pub(crate) force: bool,
    /// Output for people (human), as Markdown (md) or for programs (json)
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human")]
    #[arg(hide_possible_values = true)]
    pub(crate) format: ShowFormat,
}

/// The format of a part of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShowFormat {
    /// People
    Human,
    /// Markdown
    Md,
    /// Programs: the contract
    Json,
}

/// Selects a part of a document.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct SelectionArgs {
    /// Section with this heading or end of a header chain, in any case
    #[arg(long, value_name = "HEADING", allow_hyphen_values = true)]
    pub(crate) section: Option<String>,
    /// Definition with this name, qualified or not
    #[arg(long, value_name = "NAME")]
    pub(crate) symbol: Option<String>,
    /// Page number, from 1, or pages such as 3-4
    #[arg(long, value_name = "N", value_parser = cited)]
    pub(crate) page: Option<PageRange>,
    /// Chunk with this id, as in search results
    #[arg(long, value_name = "ID")]
    pub(crate) chunk: Option<ChunkId>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Needs no database and no model, and changes none. One document is printed; several are written to DIR, each as \
FILE.md or FILE.json; with --force, other files of that name are replaced. With --format json and --output, the report is printed as JSON.

With --format jsonl, any number of documents is printed, one per line, and a file that fails has a line with path, code and \
error. With --chunks, the lines are those of `kb export`, which `kb import` reads; that needs the model (`kb init`), but no database.

For example: `kb convert FILE --format json`")]
pub(crate) struct ConvertArgs {
    /// Files, and folders with everything below them; - reads one document from standard input
    #[arg(value_name = "PATH", required_unless_present = "files_from")]
    pub(crate) paths: Vec<PathBuf>,
    /// Also convert the files and folders that this file lists, one per line; - is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) files_from: Option<PathBuf>,
    /// Write Markdown (md), blocks as JSON (json), or one document per line (jsonl)
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "md")]
    #[arg(hide_possible_values = true)]
    pub(crate) format: DocumentFormat,
    /// Print chunks instead of blocks, as `kb export` does (--format jsonl)
    #[arg(long, conflicts_with_all = ["pages", "page_marks"])]
    pub(crate) chunks: bool,
    /// Print the vector of each chunk
    #[arg(long, requires = "chunks")]
    pub(crate) vectors: bool,
    /// Model that counts tokens and computes vectors [default: embedding.model]
    #[arg(long, value_name = "NAME", requires = "chunks")]
    pub(crate) model: Option<String>,
    /// Write the results to this folder
    #[arg(long, value_name = "DIR", value_parser = directory)]
    pub(crate) output: Option<PathBuf>,
    /// Replace other files in the folder that have the name of a result
    #[arg(long, short, requires = "output")]
    pub(crate) force: bool,
    /// Convert only pages A to B
    #[arg(long, value_name = "A:B", value_parser = pages)]
    pub(crate) pages: Option<PageRange>,
    /// Mark the beginning of each page with a comment, <!-- page N -->
    #[arg(long)]
    pub(crate) page_marks: bool,
    /// Type of the files, instead of the one their names suggest
    #[arg(long = "type", value_name = "TYPE", value_parser = doc_type())]
    pub(crate) doc_type: Option<DocType>,
    /// Programming language of the files (`kb add --help` lists them)
    #[arg(long, value_name = "LANGUAGE", value_parser = language(), hide_possible_values = true)]
    pub(crate) language: Option<Language>,
    /// Keep all text that a file shows, menus and running heads too, as ingestion.keep_all does
    #[arg(long)]
    pub(crate) keep_all: bool,
    /// Password of encrypted documents. Visible to other users; prefer KB_PASSWORD
    #[arg(long, value_name = "PASSWORD", allow_hyphen_values = true)]
    pub(crate) password: Option<String>,
}

/// The format of a converted document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DocumentFormat {
    /// Markdown
    Md,
    /// Blocks with kind, headings and page
    Json,
    /// One document per line: blocks, or chunks
    Jsonl,
}

#[derive(Debug, Args)]
#[command(after_help = document_help("kb open DOC"))]
pub(crate) struct OpenArgs {
    /// Document: id, path, or a unique part of its title or path
    #[arg(value_name = "DOC")]
    pub(crate) document: String,
    /// Show only lines A to B
    #[arg(long, value_name = "A:B", value_parser = lines)]
    pub(crate) lines: Option<LineRange>,
    /// Show at most N lines
    #[arg(long, value_name = "N")]
    pub(crate) max_lines: Option<u32>,
    /// Open it in your editor (VISUAL, EDITOR) or viewer (KB_VIEWER) instead of printing it
    #[arg(long, conflicts_with_all = ["max_lines", "format"])]
    pub(crate) editor: bool,
    /// Open it at this page, if the viewer can
    #[arg(long, value_name = "N", requires = "editor", conflicts_with = "lines")]
    pub(crate) page: Option<u32>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

/// Explains how the reading commands work together.
fn document_help(example: &str) -> String {
    format!(
        "`kb search` prints ids, `kb outline` lists the parts of a document, `kb show` prints one part, and `kb open` \
         prints the file. Only `kb open` reads the file; the others read the database, so they also work when the file \
         has moved.\n\nFor example: `{example}`"
    )
}
