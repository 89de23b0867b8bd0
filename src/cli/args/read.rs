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
#[command(after_help = "\
Examples:
  kb list --type markdown --sort date
  kb list --path DIRECTORY --since 7d")]
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
    /// List at most N documents
    #[arg(long, value_name = "N", value_parser = top)]
    pub(crate) limit: Option<u32>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Each file is indexed, ignored, failed or waived. The list shows which rule ignored a file and why a file failed. A \
failed file is read again when the file, kb or the settings have changed, or when `kb add` names it. A folder that kb \
does not enter has one line.

Examples:
  kb files --failed
  kb files DIRECTORY --ignored")]
pub(crate) struct FilesArgs {
    /// File, or folder with everything below it [default: all]
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    /// List only indexed files
    #[arg(long, group = "state")]
    pub(crate) indexed: bool,
    /// List only ignored files and folders
    #[arg(long, group = "state")]
    pub(crate) ignored: bool,
    /// List only files that could not be read
    #[arg(long, group = "state")]
    pub(crate) failed: bool,
    /// List only waived files
    #[arg(long, group = "state")]
    pub(crate) waived: bool,
    /// List only files with more than a tenth of their words left out, or with an uncertain encoding
    #[arg(long, group = "state")]
    pub(crate) quality: bool,
    /// Waive failed files: kb does not count or read them again until `kb add` names them
    #[arg(long, value_name = "PATH", num_args = 1.., conflicts_with_all = ["path", "state"])]
    pub(crate) waive: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  kb info DOC
  kb info \"Tide station handbook\"")]
pub(crate) struct InfoArgs {
    /// Document: id, path, or a unique part of its title or path
    #[arg(value_name = "DOC", allow_negative_numbers = true)]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without a command, kb lists all tags and how many documents have each.

Examples:
  kb tags
  kb tags rename OLD NEW")]
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
If the tag NEW exists, kb merges the two. Added folders that tag new files with OLD will tag them with NEW.

Example:
  kb tags rename OLD NEW")]
pub(crate) struct TagsRenameArgs {
    /// Tag to rename
    #[arg(value_name = "OLD", value_parser = tag)]
    pub(crate) old: String,
    /// New name of the tag
    #[arg(value_name = "NEW", value_parser = tag)]
    pub(crate) new: String,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = document_help("kb outline DOC --level 2", "kb outline \"Tide station handbook\""))]
pub(crate) struct OutlineArgs {
    /// Document: id, path, or a unique part of its title or path
    #[arg(value_name = "DOC")]
    pub(crate) document: String,
    /// List only the first N levels
    #[arg(long, value_name = "N")]
    pub(crate) level: Option<u32>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(after_help = document_help("kb show 4 --section Winter", "kb show --chunk 17 --around 1"))]
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
    /// Write the selected or first page of a PDF, or a document that is a picture, to this file as PNG
    #[arg(long, value_name = "FILE", conflicts_with = "symbol")]
    pub(crate) image: Option<PathBuf>,
    /// Mark these words in the image [default: those of the selected section or chunk]
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
    /// Text for people
    Human,
    /// Markdown
    Md,
    /// JSON for programs
    Json,
}

/// Selects a part of a document.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct SelectionArgs {
    /// Section with this heading; A > B is the section B directly below A; case is ignored
    #[arg(long, value_name = "HEADING", allow_hyphen_values = true)]
    pub(crate) section: Option<String>,
    /// Definition with this name, qualified or not
    #[arg(long, value_name = "NAME")]
    pub(crate) symbol: Option<String>,
    /// Page number, counted from 1, or pages such as 3-4
    #[arg(long, value_name = "N", value_parser = cited)]
    pub(crate) page: Option<PageRange>,
    /// Chunk with this id, as in search results
    #[arg(long, value_name = "ID")]
    pub(crate) chunk: Option<ChunkId>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
kb convert needs no database, and no model unless you give --chunks; it changes neither. It prints a single document, \
and writes several to the folder of --output, each as FILE.md or FILE.json. It then reports what it has written; with \
--format json, the report is JSON.

--format jsonl prints any number of documents, one per line. For a file that fails, the line has the path, the code of \
the error and its message. With --chunks, the lines have the form of `kb export`, and `kb import` reads them. --chunks \
needs the model (`kb init`), but no database.

Examples:
  kb convert FILE --format json
  kb convert DIRECTORY --output markdown
  kb convert DIRECTORY --format jsonl --chunks")]
pub(crate) struct ConvertArgs {
    /// Files, and folders with everything below them; the argument - reads one document from standard input
    #[arg(value_name = "PATH", required_unless_present = "files_from")]
    pub(crate) paths: Vec<PathBuf>,
    /// Also convert the files and folders that this file lists, one per line; - is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) files_from: Option<PathBuf>,
    /// Write Markdown (md), blocks as JSON (json), or one document per line (jsonl)
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "md")]
    #[arg(hide_possible_values = true)]
    pub(crate) format: DocumentFormat,
    /// With --format jsonl: print chunks instead of blocks, in the form of `kb export`
    #[arg(long, conflicts_with_all = ["pages", "page_marks"])]
    pub(crate) chunks: bool,
    /// Include the vector of each chunk
    #[arg(long, requires = "chunks")]
    pub(crate) vectors: bool,
    /// Model that counts tokens and computes vectors [default: embedding.model]
    #[arg(long, value_name = "NAME", requires = "chunks")]
    pub(crate) model: Option<String>,
    /// Write the results to this folder
    #[arg(long, value_name = "DIR", value_parser = directory)]
    pub(crate) output: Option<PathBuf>,
    /// With --output: replace existing files whose content differs from the result
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
    /// Keep all visible text, including menus and page headers, as the setting ingestion.keep_all does
    #[arg(long)]
    pub(crate) keep_all: bool,
    /// Password for encrypted documents; other users of the machine can see this option, so prefer the environment
    /// variable KB_PASSWORD
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
#[command(after_help = document_help("kb open DOC", "kb open 4 --lines 20:60"))]
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
    /// Open the file in your editor (VISUAL, EDITOR) or viewer (KB_VIEWER) instead of printing it
    #[arg(long, conflicts_with_all = ["max_lines", "format"])]
    pub(crate) editor: bool,
    /// Open the file at this page, if the viewer can
    #[arg(long, value_name = "N", requires = "editor", conflicts_with = "lines")]
    pub(crate) page: Option<u32>,
    #[command(flatten)]
    pub(crate) format: ReportFormat,
}

/// Explains how the reading commands work together, with two examples.
fn document_help(first: &str, second: &str) -> String {
    format!(
        "`kb search` prints ids, `kb outline` lists the parts of a document, `kb show` prints one part, and `kb open` \
         prints the file. Only `kb open`, and `kb show` with --image, read the file. Otherwise, the commands read the \
         database, so they work even if the file has moved.\n\nExamples:\n  {first}\n  {second}"
    )
}
