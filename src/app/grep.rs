//! Finds every line of the stored documents that matches a pattern.

use std::collections::HashMap;

use crate::app::observer::Notes;
use crate::app::{Observer, Session, absent, freshness};
use crate::document::{Filter, Stale};
use crate::error::Result;
use crate::read::grep::{self, Matched, Pattern};
use crate::store::{DocumentId, PassingDocument};
use crate::trace::stage;

pub use crate::read::grep::{Detail, PatternOptions};

/// A request for matching lines.
#[derive(Debug, Clone)]
pub struct GrepRequest {
    /// The pattern as typed.
    pub pattern: String,
    /// How it is read.
    pub options: PatternOptions,
    /// Documents to search.
    pub filter: Filter,
    /// What is returned of each document.
    pub detail: Detail,
}

/// All documents with matching lines.
#[derive(Debug)]
pub struct GrepResults {
    /// The pattern as typed.
    pub typed: String,
    /// What was wanted of each document.
    pub detail: Detail,
    /// Number of documents that were searched.
    pub num_searched: usize,
    /// Those with a match, by id.
    pub documents: Vec<GrepDocument>,
    /// What is worth knowing about the answer, such as a filter that no document passes.
    pub notes: Vec<String>,
}

/// A document with a match.
#[derive(Debug)]
pub struct GrepDocument {
    /// The document.
    pub document: PassingDocument,
    /// Its matching lines.
    pub matched: Matched,
    /// How its file differs from what was searched.
    pub stale: Option<Stale>,
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
    let pattern = Pattern::new(&request.pattern, request.options)?;
    let notes = Notes::new(observer);
    let results = session.steadily(|| {
        let mut results = GrepResults {
            typed: request.pattern.clone(),
            detail: request.detail,
            num_searched: 0,
            documents: Vec::new(),
            notes: Vec::new(),
        };
        let Some(store) = session.store()? else {
            notes.note(absent::NOTHING_ADDED);
            return Ok(results);
        };
        let passing = stage("choose documents", || store.passing_documents(&request.filter))?;
        if passing.is_empty() {
            absent::explain(&store, &request.filter, &notes)?;
        }
        let ids: Vec<DocumentId> = passing.iter().map(|document| document.id).collect();
        let matched = stage("match", || grep::grep(&store, &ids, &pattern, request.detail))?;
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
            .shown_paths(request.filter.path_prefix.as_deref())
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
    Ok(GrepResults { notes: notes.kept(session.notices.clone()), ..results })
}
