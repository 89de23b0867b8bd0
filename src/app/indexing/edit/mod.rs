//! Changes the title, tags and date of a document, and the text of a note.

mod editable;
pub mod kept;

use crate::app::indexing::ingestion::options::{self, walk_options};
use crate::app::indexing::ingestion::request::{AddRequest, DocumentSource};
use crate::app::indexing::vectors::PassageModel;
use crate::app::session::{erase, lookup};
use crate::app::{Observer, Session};
use crate::document::DocType;
use crate::error::{Error, Result};
use crate::ingest::roots::Roots;
use crate::ingest::walk::FoundFile;
use crate::ingest::{self, EditedText, IngestReport, content_hash};
use crate::read::{PartSelection, ShowOptions, show};
use crate::store::{Store, StoredDocument};
use crate::wording::{kb, wording};

pub use editable::{Editable, EditedFields};

/// Finds the document that was typed.
pub fn open(session: &Session, typed: &str) -> Result<Editable> {
    session.require_writable()?;
    let (store, document) = lookup::find(session, typed)?;
    let is_note = document.doc_type == DocType::Note && document.path.is_none();
    let text = if is_note { Some(note_text(&store, &document)?) } else { None };
    store.close()?;
    Ok(Editable { document, text })
}

fn note_text(store: &Store, note: &StoredDocument) -> Result<String> {
    if let Some(text) = store.note_text(note.id)? {
        return Ok(text);
    }
    // An older kb did not keep the text of a note, so it is joined from the chunks.
    let options = ShowOptions { selection: PartSelection::Whole, max_lines: None };
    Ok(show(store, note.clone(), &options)?.text)
}

/// Changes a document in one transaction; returns it.
pub fn apply(
    session: &Session,
    editable: &Editable,
    changes: &EditedFields,
    observer: &dyn Observer,
) -> Result<StoredDocument> {
    let before = &editable.document;
    let mut store = session.open_store()?;
    let is_new_title = changes.title.as_ref().is_some_and(|title| *title != before.title);
    if is_new_title || changes.text.is_some() {
        read_again(session, &mut store, editable, changes, observer)?;
    } else {
        store.edit(before, &changes.document_edit(), None)?;
    }
    let Some(after) = store.document(before.id)? else {
        return Err(Error::UnknownDocument { id: before.id.to_string() });
    };
    erase::finish(store, observer)?;
    Ok(after)
}

/// Stores a document with a new title in the context of its chunks, or a note with a new text.
fn read_again(
    session: &Session,
    store: &mut Store,
    editable: &Editable,
    changes: &EditedFields,
    observer: &dyn Observer,
) -> Result<()> {
    let before = &editable.document;
    let new_title = changes.title.clone();
    let request = AddRequest {
        title: new_title.or_else(|| before.is_title_given.then(|| before.title.clone())),
        ..AddRequest::of(DocumentSource::Paths(Vec::new()))
    };
    let file;
    let text = match (&changes.text, &editable.text) {
        (Some(text), _) => {
            ingest::check_note(text)?;
            Some(EditedText::NewNote(text))
        }
        (None, Some(text)) => Some(EditedText::Note(text)),
        (None, None) => match &before.path {
            Some(path) if store.known_path(path)?.is_some() => {
                file = read_file(session, store, before, path)?;
                Some(EditedText::File(&file.0, &file.1))
            }
            Some(_) | None => None,
        },
    };
    let model = PassageModel::open(session, store, None, observer)?;
    let options = options::ingest_options(session, &request, model.chunking(session), observer)?;
    let mut run = ingest::IngestRun {
        store,
        embedder: model.embedder(),
        options: &options,
        on_event: &mut |_| {},
        report: IngestReport::default(),
    };
    let edit = changes.document_edit();
    match text {
        Some(text) => run.edit(before, &edit, &text),
        None => run.edit_stored(before, &edit),
    }
}

/// Reads the file of a document, which must be as it was indexed.
fn read_file(
    session: &Session,
    store: &Store,
    document: &StoredDocument,
    path: &str,
) -> Result<(FoundFile, Vec<u8>)> {
    let Some(known) = store.known_path(path)? else {
        return Err(Error::UnknownDocument { id: document.id.to_string() });
    };
    let roots = Roots::of(store, session.config().ingestion.follow_links)?;
    let (path, reach) = roots.of_stamp(&known.stamp)?;
    let bytes = reach.read(&path, walk_options(session, false).max_bytes())?;
    if content_hash(&bytes) != document.content_hash {
        return Err(Error::usage(format!("{} has changed since it was indexed", path.display()))
            .with_hint(wording!("`{}` reads it again; then edit the title", kb("update"))));
    }
    let found = FoundFile {
        path,
        stamp: known.stamp.stamp(),
        is_named: true,
        is_included: false,
        reach,
        read_as: None,
    };
    Ok((found, bytes))
}
