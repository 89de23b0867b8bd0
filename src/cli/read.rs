//! `kb outline`, `kb show` and `kb open`: reading on from a hit.

use std::path::{Path, PathBuf};

use crate::cli::args::SelectionArgs;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::launch::Place;
use crate::cli::{add, args, context, launch, voice};
use crate::config::OutputFormat;
use crate::document::DocumentId;
use crate::error::{Error, Result};
use crate::present::json::read as read_json;
use crate::present::text::read as read_text;
use crate::read;
use crate::read::{OpenOptions, Opened, Origin, Outline, Selection, ShowOptions, Shown};
use crate::store::{Store, StoredDocument};
use crate::text::paths;

pub(super) fn outline(context: &Context, args: &args::Outline) -> Result<ExitStatus> {
    let outline = outline_of(context, args)?;
    context.present(
        args.format.format,
        |out| read_json::outline(&outline, out),
        |_, out| read_text::outline(&outline, out),
    )?;
    Ok(ExitStatus::Success)
}

pub(super) fn show(context: &Context, args: &args::Show) -> Result<ExitStatus> {
    let shown = part_of(context, args)?;
    if shown.num_matches > 1 {
        voice::warn(&format!("{} parts bear this name; showing the first", shown.num_matches));
    }
    context.present(
        args.format.format,
        |out| read_json::show(&shown, out),
        |_, out| read_text::show(&shown, out),
    )?;
    Ok(ExitStatus::Success)
}

pub(super) fn open(context: &Context, args: &args::Open) -> Result<ExitStatus> {
    if args.editor {
        let (store, document) = find(context, &args.document)?;
        let path = file(context, &store, document.id, document.path.as_deref())?;
        store.close()?;
        let (line, page) = (args.lines.map(|it| it.0), args.page);
        launch::open(context, Place { path: &path, line, page })?;
        return Ok(ExitStatus::Success);
    }
    let opened = file_of(context, args)?;
    match (opened.origin, opened.has_changed, &opened.file_error) {
        (_, Some(true), _) => voice::warn("the file has changed since it was added"),
        (Origin::Database, None, Some(error)) => {
            voice::warn(&format!("{error}: this is the text in the database"));
        }
        _ => {}
    }
    match args.format.format {
        OutputFormat::Json => context::print_json(|out| read_json::open(&opened, out)),
        OutputFormat::Human => context.show_bytes(&read_text::open(&opened)),
    }?;
    Ok(ExitStatus::Success)
}

pub(super) fn outline_of(context: &Context, args: &args::Outline) -> Result<Outline> {
    let (store, document) = find(context, &args.document)?;
    read::outline(&store, document, args.level)
}

pub(super) fn part_of(context: &Context, args: &args::Show) -> Result<Shown> {
    let selection = selection(&args.selection, args.around);
    let (store, document) = match (&args.document, &selection) {
        (Some(typed), _) => find(context, typed)?,
        (None, Selection::Chunk(id, _)) => of_chunk(context, *id)?,
        (None, _) => return Err(Error::UnknownDocument { id: String::new() }),
    };
    read::show(&store, document, &ShowOptions { selection, max_lines: args.max_lines })
}

pub(super) fn file_of(context: &Context, args: &args::Open) -> Result<Opened> {
    let (store, document) = find(context, &args.document)?;
    let options = OpenOptions {
        lines: args.lines,
        max_lines: args.max_lines,
        follows_links: context.config().ingestion.follow_links,
        max_bytes: add::walk_options(context, false).max_bytes(),
    };
    read::open(&store, document, &options)
}

/// Returns the path of a document's file, for another program: a link that was put in its place is
/// refused.
pub(super) fn file(
    context: &Context,
    store: &Store,
    id: DocumentId,
    path: Option<&str>,
) -> Result<PathBuf> {
    let text = path.ok_or_else(|| Error::Usage {
        message: format!("document {id} has no file"),
        hint: Some(format!("`kb show {id}` prints it")),
    })?;
    let path = paths::path_of(text);
    read::reach(store, text, context.config().ingestion.follow_links)?.open(&path)?;
    Ok(path)
}

/// Finds the document that was typed.
pub(super) fn find(context: &Context, typed: &str) -> Result<(Store, StoredDocument)> {
    let unknown = || Error::UnknownDocument { id: typed.to_owned() };
    let store = context.open_existing()?.ok_or_else(unknown)?;
    let path = if typed.is_empty() { "." } else { typed };
    let path = paths::typed_text(&context::absolute(Path::new(path))?);
    let document = read::find(&store, typed, &path)?;
    Ok((store, document))
}

/// Finds the document of a chunk.
pub(super) fn of_chunk(context: &Context, id: i64) -> Result<(Store, StoredDocument)> {
    let unknown = || Error::UnknownChunk { id };
    let store = context.open_existing()?.ok_or_else(unknown)?;
    let hits = store.hits(&[id])?;
    let document_id = hits.first().ok_or_else(unknown)?.document_id;
    let document = store.document(document_id)?.ok_or_else(unknown)?;
    Ok((store, document))
}

fn selection(args: &SelectionArgs, around: u32) -> Selection {
    if let Some(heading) = &args.section {
        Selection::Section(heading.clone())
    } else if let Some(name) = &args.symbol {
        Selection::Symbol(name.clone())
    } else if let Some(page) = args.page {
        Selection::Page(page)
    } else if let Some(id) = args.chunk {
        Selection::Chunk(id, around)
    } else {
        Selection::Whole
    }
}
