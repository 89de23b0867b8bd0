//! Finds every line of the stored documents that matches a pattern.

use std::collections::HashMap;

use crate::app::query::{freshness, read};
use crate::app::session::observer::NoteKeeper;
use crate::app::session::{absent, running};
use crate::app::{Observer, Session};
use crate::document::{Filter, Format, StaleReason};
use crate::error::Result;
use crate::read::grep::{self, LinePattern, MatchedDocument, in_file};
use crate::store::{DocumentId, PassingDocument, Store};
use crate::trace::stage;

pub use crate::read::grep::{GrepDetail, PatternOptions};

/// Tokens of matching lines that a model is shown if it does not say how many: as many as a search is usually asked for.
pub const GREP_BUDGET: u32 = 1_000;

/// A request for matching lines.
#[derive(Debug, Clone)]
pub struct GrepRequest {
    /// The pattern as typed.
    pub pattern: String,
    /// How it is read.
    pub options: PatternOptions,
    /// Documents to search.
    pub filter: Filter,
    /// The detail to return for each document.
    pub detail: GrepDetail,
}

/// All documents with matching lines.
#[derive(Debug)]
pub struct GrepResults {
    /// The pattern as typed.
    pub typed: String,
    /// The detail that was requested for each document.
    pub detail: GrepDetail,
    /// Number of documents that were searched.
    pub num_searched: usize,
    /// Those with a match, by id.
    pub documents: Vec<GrepDocument>,
    /// Notes about the answer, such as a filter that no document passes.
    pub notes: Vec<String>,
}

/// A document with a match.
#[derive(Debug)]
pub struct GrepDocument {
    /// The document.
    pub document: PassingDocument,
    /// Its matching lines.
    pub matched: MatchedDocument,
    /// How its file differs from what was searched.
    pub stale: Option<StaleReason>,
}

impl GrepResults {
    /// Returns the number of all matching lines; of documents, if only their names were wanted.
    pub fn num_lines(&self) -> usize {
        self.documents.iter().map(|found| found.matched.num_lines).sum()
    }
}

/// Searches the stored text of all documents that pass the filter.
pub fn grep(
    session: &Session,
    request: &GrepRequest,
    observer: &dyn Observer,
) -> Result<GrepResults> {
    let pattern = LinePattern::new(&request.pattern, request.options)?;
    let notes = NoteKeeper::new(observer);
    absent::dates(&request.filter, &notes);
    running::note(session, &notes);
    let results = session.read_with_retry(|| {
        let mut results = GrepResults {
            typed: request.pattern.clone(),
            detail: request.detail,
            num_searched: 0,
            documents: Vec::new(),
            notes: Vec::new(),
        };
        let Some(store) = session.store()? else {
            (&notes as &dyn Observer).info(absent::no_documents());
            return Ok(results);
        };
        let passing = stage("choose documents", || store.passing_documents(&request.filter))?;
        if passing.is_empty() {
            absent::explain(&store, &request.filter, &notes)?;
        }
        let ids: Vec<DocumentId> = passing.iter().map(|document| document.id).collect();
        let mut matched = stage("match", || grep::grep(&store, &ids, &pattern, request.detail))?;
        if in_file::may_be_escaped(&request.pattern, request.options.is_fixed) {
            let without: Vec<DocumentId> = without_match(&passing, &matched);
            matched.extend(stage("match files", || {
                in_files(session, &store, &without, &pattern, request.detail)
            })?);
            matched.sort_by_key(|matched| matched.document_id);
        }
        results.num_searched = passing.len();
        let mut passing: HashMap<DocumentId, PassingDocument> =
            passing.into_iter().map(|document| (document.id, document)).collect();
        let found = matched.into_iter().filter_map(|matched| {
            let document = passing.remove(&matched.document_id)?;
            Some(GrepDocument { document, matched, stale: None })
        });
        results.documents = found.collect();
        let documents = results.documents.iter_mut().map(|found| &mut found.document);
        session
            .shown_paths(&request.filter.paths)
            .choose(&store, documents.map(|document| (document.id, &mut document.path)))?;
        let stale = stage("look at files", || {
            let documents = results.documents.iter();
            let shown =
                documents.map(|found| (found.matched.first_chunk, found.document.path.as_deref()));
            freshness::of_chunks(session, &store, &shown.collect())
        })?;
        for found in &mut results.documents {
            found.stale = stale.get(&found.matched.first_chunk).copied().flatten();
        }
        session.give_back(store);
        Ok(results)
    })?;
    Ok(GrepResults { notes: notes.kept(session.notices().to_vec()), ..results })
}

/// Returns the documents without a match whose names are those of data.
fn without_match(passing: &[PassingDocument], matched: &[MatchedDocument]) -> Vec<DocumentId> {
    let data = passing.iter().filter(|document| is_data(document)).map(|document| document.id);
    let without =
        data.filter(|id| matched.binary_search_by_key(id, |matched| matched.document_id).is_err());
    without.collect()
}

/// Whether the name of a document is that of data.
fn is_data(document: &PassingDocument) -> bool {
    let extension = document.path.as_deref().and_then(|path| path.rsplit_once('.'));
    let extension = extension.map(|(_, extension)| extension.to_ascii_lowercase());
    let format = extension.and_then(|extension| Format::with_extension(&extension));
    matches!(format, Some(Format::Data(_)))
}

/// Searches the files of data, which have escapes where the stored text has letters. Files that have changed, or cannot
/// be read, have no lines that can be cited.
fn in_files(
    session: &Session,
    store: &Store,
    ids: &[DocumentId],
    pattern: &LinePattern,
    detail: GrepDetail,
) -> Result<Vec<MatchedDocument>> {
    let mut found = Vec::new();
    for id in ids {
        let document = store.document(*id)?.filter(|found| in_file::has_escapes(&found.format));
        let text = document.and_then(|document| read::unchanged_text(session, store, &document));
        if let Some(text) = text {
            found.extend(in_file::in_file(store, *id, &text, pattern, detail)?);
        }
    }
    Ok(found)
}
