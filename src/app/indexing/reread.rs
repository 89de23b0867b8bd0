//! Re-reads documents that were indexed with other settings, another length of the model or an older kb.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::app::indexing::ingestion::options::{chunking, is_claimed};
use crate::app::indexing::ingestion::request::{AddRequest, DocumentSource};
use crate::app::indexing::ingestion::{Walks, ingest};
use crate::app::indexing::{ocr, scope};
use crate::app::session::lookup;
use crate::app::session::running::LongCommand;
use crate::app::{Observer, Session};
use crate::document::{DocumentKind, Format};
use crate::error::{Error, Result};
use crate::ingest::making::IndexingSettings;
use crate::ingest::survey::is_missing;
use crate::store::{DocumentId, MadeDocument, RememberedFile, Store};
use crate::text::paths;

/// Which documents are re-indexed, if they were indexed with other settings than the current ones. All of them
/// by default.
#[derive(Debug, Clone, Default)]
pub struct RereadSelection {
    /// Ids, titles or paths of documents, as typed; all documents if there are none.
    pub documents: Vec<String>,
    /// Only documents of this type or format.
    pub kind: Option<DocumentKind>,
    /// Only documents at or below this absolute path.
    pub below: Option<PathBuf>,
}

impl RereadSelection {
    /// Whether it leaves documents out.
    pub fn is_partial(&self) -> bool {
        !self.documents.is_empty() || self.kind.is_some() || self.below.is_some()
    }
}

/// The result of making documents again.
#[derive(Debug, Default)]
pub struct RereadReport {
    /// Documents that were re-indexed.
    pub num_made: usize,
    /// Files that could not be read; their documents are unchanged.
    pub failed: Vec<(PathBuf, Error)>,
}

/// Returns the documents that today's settings would make differently.
pub fn outdated(session: &Session, store: &Store) -> Result<Vec<MadeDocument>> {
    let Some(bound) = store.binding()? else { return Ok(Vec::new()) };
    let chunking = chunking(session.config(), bound.max_tokens as usize, 0);
    let ocr = ocr::options(session);
    let settings = &session.config().ingestion;
    let today = IndexingSettings {
        chunking: &chunking,
        is_estimated: false,
        ocr: &ocr,
        keeps_all: settings.keep_all,
        omits_remarks: !settings.comments,
        inline_tags: settings.inline_tags,
    };
    let documents = store.made_documents()?;
    // Nearly all documents are made in one of a few ways, so each way is compared once.
    let mut known: HashMap<(&str, Option<&str>), bool> = HashMap::new();
    let is_outdated: Vec<bool> = documents
        .iter()
        .map(|made| {
            let way = (made.format.as_str(), made.making.as_deref());
            !*known.entry(way).or_insert_with(|| match Format::named(&made.format) {
                Some(format) => today.is_same(made.making.as_deref(), format),
                // A document in a format that this kb does not know is not re-indexed by it.
                None => true,
            })
        })
        .collect();
    let outdated = documents.into_iter().zip(is_outdated).filter(|(_, is_outdated)| *is_outdated);
    Ok(outdated.map(|(made, _)| made).collect())
}

/// Reads the files of the selected documents again, and cuts notes given as text again. Each
/// document is replaced in one transaction; its id, tags and title are kept, and chunks that come
/// out equal keep their vectors.
pub fn reread(
    session: &Session,
    selection: &RereadSelection,
    password: Option<&str>,
    observer: &dyn Observer,
) -> Result<RereadReport> {
    let Some(store) = session.open_existing()? else { return Ok(RereadReport::default()) };
    session.require_files(&store)?;
    let selected = select(session, &store, selection)?;
    let scope = scope::read(session, &store, &[])?;
    store.close()?;
    let known: HashMap<&str, &RememberedFile> =
        scope.known.iter().map(|file| (file.stamp.path.as_str(), file)).collect();

    let mut result = RereadReport::default();
    let mut starts = Vec::new();
    let (mut ids, mut notes) = (HashSet::new(), Vec::new());
    for made in &selected {
        let Some(text) = &made.path else {
            notes.push(made.id);
            continue;
        };
        let path = paths::path_of(text);
        let Some(known) = known.get(text.as_str()).filter(|_| !is_missing(&path)) else { continue };
        ids.insert(made.id);
        let language = known.language.as_deref();
        let is_claimed = is_claimed(session, &path);
        match scope.roots.start_of_file(&known.stamp, known.doc_type, language, is_claimed) {
            Ok(start) => starts.push(start),
            Err(error) => result.failed.push((path, error)),
        }
    }
    let ids = Arc::new(ids);
    if !starts.is_empty() {
        let add = request(DocumentSource::Paths(Vec::new()), &ids, password);
        let report = ingest(session, &add, Walks::Known(&starts), observer)?;
        result.num_made += report.updated;
        result.failed.extend(report.failed);
    }
    if !notes.is_empty() {
        let add = request(DocumentSource::StoredNotes(notes), &ids, password);
        let report = ingest(session, &add, Walks::Known(&[]), observer)?;
        result.num_made += report.updated;
    }
    Ok(result)
}

/// Returns the request that reads these documents again.
fn request(
    source: DocumentSource,
    ids: &Arc<HashSet<DocumentId>>,
    password: Option<&str>,
) -> AddRequest {
    AddRequest {
        password: password.map(str::to_owned),
        rereads: Arc::clone(ids),
        command: LongCommand::Update,
        ..AddRequest::of(source)
    }
}

fn select(
    session: &Session,
    store: &Store,
    selection: &RereadSelection,
) -> Result<Vec<MadeDocument>> {
    let mut named: HashSet<DocumentId> = HashSet::new();
    for typed in &selection.documents {
        let (store, document) = lookup::find(session, typed)?;
        store.close()?;
        named.insert(document.id);
    }
    let mut selected = outdated(session, store)?;
    selected.retain(|made| {
        (named.is_empty() || named.contains(&made.id))
            && selection.kind.is_none_or(|kind| kind.includes(made.doc_type, &made.format))
            && selection.below.as_ref().is_none_or(|below| {
                made.path.as_ref().is_some_and(|path| paths::path_of(path).starts_with(below))
            })
    });
    Ok(selected)
}
