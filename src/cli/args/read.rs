//! What can be typed to look at documents: list, info, tags, outline, show, open.

use clap::Args;

use crate::cli::args::values::lines;
use crate::cli::args::{FilterArgs, Format};
use crate::document::ChunkId;

/// List documents
#[derive(Debug, Args)]
pub(in crate::cli) struct List {
    #[command(flatten)]
    pub(in crate::cli) filter: FilterArgs,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// Show one document and its chunks
#[derive(Debug, Args)]
pub(in crate::cli) struct Info {
    /// Which document: id, path, or a unique part of its title or path
    #[arg(value_name = "DOC", allow_negative_numbers = true)]
    pub(in crate::cli) id: String,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// List tags
#[derive(Debug, Args)]
pub(in crate::cli) struct Tags {
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// List the sections, pages or symbols of a document
#[derive(Debug, Args)]
#[command(after_help = DOCUMENT_HELP)]
pub(in crate::cli) struct Outline {
    /// Which document: id, path, or a unique part of its title or path
    #[arg(value_name = "DOC")]
    pub(in crate::cli) document: String,
    /// Deepest level to list
    #[arg(long, value_name = "N")]
    pub(in crate::cli) level: Option<u32>,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// Show a section, page, symbol or chunk of a document
#[derive(Debug, Args)]
#[command(after_help = DOCUMENT_HELP)]
pub(in crate::cli) struct Show {
    /// Which document: id, path, or a unique part of its title or path; without a further flag all
    /// of its text
    #[arg(value_name = "DOC", required_unless_present = "chunk")]
    pub(in crate::cli) document: Option<String>,
    #[command(flatten)]
    pub(in crate::cli) selection: SelectionArgs,
    /// Chunks to show before and after the chunk
    #[arg(long, value_name = "N", requires = "chunk", default_value_t = 0)]
    pub(in crate::cli) around: u32,
    /// Most lines to show
    #[arg(long, value_name = "N")]
    pub(in crate::cli) max_lines: Option<u32>,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// Which part of a document.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(in crate::cli) struct SelectionArgs {
    /// Section with this heading, or this end of its header chain, in whatever case
    #[arg(long, value_name = "HEADING", allow_hyphen_values = true)]
    pub(in crate::cli) section: Option<String>,
    /// Definition with this name, qualified or not
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) symbol: Option<String>,
    /// Page, from 1
    #[arg(long, value_name = "N")]
    pub(in crate::cli) page: Option<u32>,
    /// Chunk with this id, as search results name it
    #[arg(long, value_name = "ID")]
    pub(in crate::cli) chunk: Option<ChunkId>,
}

/// Show the file of a document
#[derive(Debug, Args)]
#[command(after_help = DOCUMENT_HELP)]
pub(in crate::cli) struct Open {
    /// Which document: id, path, or a unique part of its title or path
    #[arg(value_name = "DOC")]
    pub(in crate::cli) document: String,
    /// Only the lines from A to B, both included
    #[arg(long, value_name = "A:B", value_parser = lines)]
    pub(in crate::cli) lines: Option<(u32, u32)>,
    /// Most lines to show
    #[arg(long, value_name = "N")]
    pub(in crate::cli) max_lines: Option<u32>,
    /// Open it in the editor (VISUAL, EDITOR), a PDF in the viewer (KB_VIEWER), instead of printing it
    #[arg(long, conflicts_with_all = ["max_lines", "format"])]
    pub(in crate::cli) editor: bool,
    /// Page to open it at, where the viewer takes one
    #[arg(long, value_name = "N", requires = "editor", conflicts_with = "lines")]
    pub(in crate::cli) page: Option<u32>,
    #[command(flatten)]
    pub(in crate::cli) format: Format,
}

/// What the commands that read on have in common.
const DOCUMENT_HELP: &str = "\
From a hit to all of it: kb search gives ids, kb outline the parts, kb show one of them, kb open the
file. All but open read the database alone, so they work when the file has moved.";
