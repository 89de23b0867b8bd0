//! Traces one document through a search.

use crate::app::lookup::shown;
use crate::app::search::SearchRequest;
use crate::app::{Observer, Session, freshness};
use crate::document::Stale;
use crate::error::Result;
use crate::search::{self, Trace};
use crate::store::{DocumentId, StoredDocument};

/// The path of a document through a search.
#[derive(Debug)]
pub struct Why {
    /// The query as it was typed.
    pub query: String,
    /// The document.
    pub document: StoredDocument,
    /// What happened to it.
    pub trace: Trace,
    /// How its file differs from what was indexed.
    pub stale: Option<Stale>,
}

/// Traces one document through a search. Returns the query as typed, the document and its trace.
pub fn why(
    session: &Session,
    request: &SearchRequest,
    document: &str,
    observer: &dyn Observer,
) -> Result<Why> {
    let query = search::parse::parse(&request.query)?;
    let (document, trace, stale) = session.steadily(|| {
        let within = request.filter.path_prefix.as_deref();
        let (store, document) = shown(session, document, within)?;
        let binding = store.binding()?;
        let load = || session.embedder(binding.as_ref(), observer);
        let id: DocumentId = document.id;
        let trace = search::why(&store, &load, &query, id, &request.options(session))?;
        let stale = freshness::of_document(session, &store, &document)?;
        store.close()?;
        Ok((document, trace, stale))
    })?;
    Ok(Why { query: query.typed, document, trace, stale })
}
