//! Lists documents, and returns their parts and files.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::app::indexing::ingestion::options::{password, reading_program, walk_options};
use crate::app::query::freshness;
use crate::app::session::{absent, lookup, running};
use crate::app::{Observer, Session};
use crate::document::{Filter, Format, LineRange, PageRange, StaleReason, join};
use crate::error::{Error, Result};
use crate::extract::protocol::RenderedPage;
use crate::extract::sandbox::ReadOptions;
use crate::extract::{containers, picture};
use crate::read::{
    self, DocumentLinks, DocumentOutline, OpenOptions, OpenedDocument, ShowOptions, ShownPart,
};
use crate::search::Hit;
use crate::store::{
    ChunkId, DocumentId, DocumentName, ListedDocument, Store, StoredChunk, StoredDocument, TagCount,
};
use crate::text::{decode, fields, paths};
use crate::wording::{kb, wording};

pub use crate::read::{PartSelection, TextOrigin};

/// A request for one part of a document.
#[derive(Debug, Clone)]
pub struct ShowRequest {
    /// Id, path, or a unique part of a title or path; `None` if a chunk is selected.
    pub document: Option<String>,
    /// A path under which it is shown, if it has several.
    pub within: Option<String>,
    /// The part.
    pub selection: PartSelection,
    /// Most lines to show.
    pub max_lines: Option<u32>,
}

/// A request for lines of a document's file.
#[derive(Debug, Clone)]
pub struct OpenRequest {
    /// Id, path, or a unique part of a title or path.
    pub document: String,
    /// The lines; `None` for all.
    pub lines: Option<LineRange>,
    /// Most lines to read.
    pub max_lines: Option<u32>,
}

fields::words! {
    /// The sort key of a list of documents; ties are sorted by id.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum SortKey {
        /// Time of adding, oldest first.
        #[default]
        Added = "added",
        /// Alphabetically, ignoring case.
        Title = "title",
        /// Number of chunks, largest first.
        Size = "size",
        /// Type.
        Type = "type",
        /// The document's date, newest first.
        Date = "date",
    }
}

/// A request for a list of documents.
#[derive(Debug, Clone, Default)]
pub struct ListRequest {
    /// Documents to list.
    pub filter: Filter,
    /// The sort key.
    pub sort: SortKey,
    /// Whether the order is reversed.
    pub is_reversed: bool,
    /// Most documents to list, counted after sorting.
    pub limit: Option<u32>,
}

/// Lists documents.
pub fn list(
    session: &Session,
    request: &ListRequest,
    observer: &dyn Observer,
) -> Result<Vec<ListedDocument>> {
    absent::dates(&request.filter, observer);
    running::note(session, observer);
    let mut documents = session.read_with_retry(|| {
        let Some(store) = session.open_existing()? else { return Ok(Vec::new()) };
        let mut documents = store.documents(&request.filter)?;
        // The caller reports an empty database in place of the list.
        if documents.is_empty() && store.has_document(&Filter::default())? {
            absent::note(&store, &request.filter, observer)?;
        }
        let shown = documents.iter_mut().map(|document| (document.id, &mut document.path));
        session.shown_paths(&request.filter.paths).choose(&store, shown)?;
        Ok(documents)
    })?;
    match request.sort {
        SortKey::Added => documents.sort_by_key(|document| document.id),
        SortKey::Title => {
            documents.sort_by_cached_key(|document| (document.title.to_lowercase(), document.id));
        }
        SortKey::Size => {
            documents.sort_by_key(|document| (Reverse(document.chunk_count), document.id));
        }
        SortKey::Type => {
            documents.sort_by_cached_key(|document| {
                (document.doc_type.as_str(), document.format.clone(), document.id)
            });
        }
        SortKey::Date => {
            documents.sort_by_cached_key(|document| (Reverse(document.date.clone()), document.id));
        }
    }
    if request.is_reversed {
        documents.reverse();
    }
    if let Some(limit) = request.limit {
        documents.truncate(limit as usize);
    }
    Ok(documents)
}

/// Returns the ids, titles and paths of all documents.
pub fn names(session: &Session) -> Result<Vec<DocumentName>> {
    session.read_with_retry(|| match session.open_existing()? {
        Some(store) => store.document_names(),
        None => Ok(Vec::new()),
    })
}

/// Lists the tags.
pub fn tags(session: &Session) -> Result<Vec<TagCount>> {
    session.read_with_retry(|| match session.open_existing()? {
        Some(store) => store.tags(),
        None => Ok(Vec::new()),
    })
}

/// A document with its chunks.
#[derive(Clone, Debug)]
pub struct DocumentInfo {
    /// The document.
    pub document: StoredDocument,
    /// Its chunks in order.
    pub chunks: Vec<StoredChunk>,
    /// How its file differs from what was indexed.
    pub stale: Option<StaleReason>,
    /// The links between it and other documents.
    pub links: DocumentLinks,
}

/// Returns a document with its chunks.
pub fn info(session: &Session, typed: &str) -> Result<DocumentInfo> {
    session.read_with_retry(|| {
        let (store, document) = lookup::shown(session, typed, None)?;
        let chunks = store.chunks(document.id)?;
        let stale = freshness::of_document(session, &store, &document)?;
        let links = read::links(&store, &document, None)?;
        Ok(DocumentInfo { document, chunks, stale, links })
    })
}

/// Returns the parts of a document, down to `level`. If it has several paths, it is shown under the one in `within`.
pub fn outline(
    session: &Session,
    typed: &str,
    within: Option<&str>,
    level: Option<u32>,
) -> Result<DocumentOutline> {
    session.read_with_retry(|| {
        let (store, document) = lookup::shown(session, typed, within)?;
        read::outline(&store, document, level)
    })
}

/// Returns a part of a document.
pub fn show(session: &Session, request: &ShowRequest) -> Result<ShownPart> {
    session.read_with_retry(|| {
        let (store, document) = named(session, request)?;
        let (selection, max_lines) = (request.selection.clone(), request.max_lines);
        let stale = freshness::of_document(session, &store, &document)?;
        let shown = read::show(&store, document, &ShowOptions { selection, max_lines })?;
        Ok(ShownPart { stale, ..shown })
    })
}

/// Finds the document of which a part is requested.
fn named(session: &Session, request: &ShowRequest) -> Result<(Store, StoredDocument)> {
    match (&request.document, &request.selection) {
        (Some(typed), _) => lookup::shown(session, typed, request.within.as_deref()),
        (None, PartSelection::Chunk(id, _)) => lookup::of_chunk(session, *id),
        (None, _) => Err(Error::UnknownDocument { id: String::new() }),
    }
}

/// Reads the file of a document.
pub fn open(session: &Session, request: &OpenRequest) -> Result<OpenedDocument> {
    session.read_with_retry(|| {
        let (store, document) = lookup::shown(session, &request.document, None)?;
        let options = OpenOptions {
            lines: request.lines,
            max_lines: request.max_lines,
            ..open_options(session)
        };
        read::open(&store, document, &options, &|path, bytes, name| {
            unpacked(session, path, bytes, name)
        })
    })
}

/// Returns how any file of a document is read.
fn open_options(session: &Session) -> OpenOptions {
    OpenOptions {
        follows_links: session.config().ingestion.follow_links,
        max_bytes: walk_options(session, false).max_bytes(),
        ..OpenOptions::default()
    }
}

/// Returns the text of a document's file, if that is text and has not changed since it was added.
pub(crate) fn unchanged_text(
    session: &Session,
    store: &Store,
    document: &StoredDocument,
) -> Option<String> {
    let options = open_options(session);
    let bytes = read::unchanged(store, document, &options, &|path, bytes, name| {
        unpacked(session, path, bytes, name)
    });
    let bytes = bytes.ok()?;
    // The encoding was found when the file was indexed, and is not guessed again.
    let known = document.metadata.encoding.as_ref().map(|encoding| encoding.name.as_bytes());
    decode::decode_as(&bytes, known)
}

/// Unpacks a file as [`read::Unpack`] says.
fn unpacked(
    session: &Session,
    path: &Path,
    bytes: &[u8],
    name: Option<&str>,
) -> Result<Option<Vec<u8>>> {
    let options = ReadOptions::new(reading_program(session)?);
    let Some(name) = name else {
        let content = containers::content(path, bytes, &options)?;
        return Ok(matches!(content, Cow::Owned(_)).then(|| content.into_owned()));
    };
    containers::unpack_one(path, bytes, name, &options)
}

/// Returns the path of a document's file for another program; of several, the one in `within`. If a link has replaced
/// the file, it is refused.
pub fn file(session: &Session, typed: &str, within: Option<&str>) -> Result<PathBuf> {
    session.read_with_retry(|| {
        let (store, document) = lookup::shown(session, typed, within)?;
        let path = reachable(session, &store, document.id, document.path.as_deref())?;
        store.close()?;
        Ok(path)
    })
}

/// Returns the path of the file of a hit, as [`file()`] does.
pub fn file_of_hit(session: &Session, hit: &Hit) -> Result<PathBuf> {
    let id = hit.stored.document_id;
    session.read_with_retry(|| {
        let Some(store) = session.open_existing()? else {
            return Err(Error::UnknownDocument { id: id.to_string() });
        };
        let path = reachable(session, &store, id, hit.stored.path.as_deref())?;
        store.close()?;
        Ok(path)
    })
}

fn reachable(
    session: &Session,
    store: &Store,
    id: DocumentId,
    path: Option<&str>,
) -> Result<PathBuf> {
    let text = path.ok_or_else(|| read::no_file(id))?;
    let path = paths::path_of(text);
    read::reach(store, text, session.config().ingestion.follow_links)?.open(&path)?;
    Ok(path)
}

/// The text of a chunk's neighbours, without what they share with the chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NeighbourText {
    /// The text of the chunk before it; empty for the first chunk.
    pub before: String,
    /// The text of the chunk after it; empty for the last chunk.
    pub after: String,
}

/// Returns the text of the chunks before and after a chunk. The session keeps the connection.
pub fn around(session: &Session, id: ChunkId) -> Result<NeighbourText> {
    let unknown = || Error::UnknownChunk { id: id.0 };
    session.read_with_retry(|| {
        let store = session.store()?.ok_or_else(unknown)?;
        let document_id = store.hits(&[id])?.first().ok_or_else(unknown)?.document_id;
        let chunks = store.chunks(document_id)?;
        let at = chunks.iter().position(|stored| stored.id == id).ok_or_else(unknown)?;
        session.give_back(store);
        let first = at.saturating_sub(1);
        let near = chunks[first..].iter().take(at - first + 2);
        let joined = join::join(near.map(|stored| &stored.chunk));
        let span = &joined.spans[at - first];
        Ok(NeighbourText {
            before: joined.text[..span.start].trim_matches('\n').to_owned(),
            after: joined.text[span.end..].trim_matches('\n').to_owned(),
        })
    })
}

/// A page as a picture.
#[derive(Debug)]
pub struct PagePicture {
    /// The document.
    pub document: StoredDocument,
    /// Physical page, from 1.
    pub page: u32,
    /// Whether words were to be marked.
    pub is_marked: bool,
    /// The picture.
    pub picture: RenderedPage,
}

/// Draws the page that is selected, or the first page of the selected part, with `mark` marked, or the part.
///
/// The file is read as `kb open` reads it, and must be the one that was indexed.
pub fn picture(
    session: &Session,
    request: &ShowRequest,
    mark: Option<&str>,
) -> Result<PagePicture> {
    session.read_with_retry(|| {
        let (store, document) = named(session, request)?;
        let format = Format::named(&document.format).filter(|format| picture::is_drawn(*format));
        let format = format.ok_or_else(|| {
            Error::usage(format!(
                "document {} is neither a PDF nor a picture, so it has no pages",
                document.id
            ))
            .with_hint(wording!("`{}` prints its text", kb("show").arg(document.id.0)))
        })?;
        let (page, passage) = match &request.selection {
            PartSelection::Whole => (1, None),
            PartSelection::Pages(pages) if pages.is_single() => (pages.first(), None),
            PartSelection::Pages(_) => return Err(Error::usage("an image shows only one page")),
            selection => {
                let options = ShowOptions { selection: selection.clone(), max_lines: None };
                let shown = read::show(&store, document.clone(), &options)?;
                (shown.part.pages.map_or(1, PageRange::first), Some(shown.text))
            }
        };
        let bytes =
            read::unchanged(&store, &document, &open_options(session), &|path, bytes, name| {
                unpacked(session, path, bytes, name)
            })?;
        let marked = mark.or(passage.as_deref()).unwrap_or_default();
        let mut options = ReadOptions::new(reading_program(session)?);
        options.password = password(session, None)?;
        let drawn = picture::draw(&bytes, format, page, marked, &options)?;
        let picture = drawn.ok_or_else(|| Error::UnknownPart {
            what: format!("page {page}"),
            document: document.id.0,
            similar: Vec::new(),
        })?;
        Ok(PagePicture { is_marked: !marked.is_empty(), document, page, picture })
    })
}
