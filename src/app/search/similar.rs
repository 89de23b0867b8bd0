//! Finds passages similar to a document or a chunk.

use crate::app::freshness::{self, Freshness};
use crate::app::lookup::{find, of_chunk};
use crate::app::observer::{Notes, Silent};
use crate::app::{Observer, Session, absent, refresh};
use crate::document::Filter;
use crate::error::Result;
use crate::search::Hit;
use crate::search::similar::{self, Seed, SimilarOptions};
use crate::store::ChunkId;

/// A request for similar passages.
#[derive(Debug, Clone, Default)]
pub struct SimilarRequest {
    /// Id, path, or a unique part of a title or path; ignored if a chunk is given.
    pub document: Option<String>,
    /// A chunk by its id.
    pub chunk: Option<ChunkId>,
    /// Hits to return; by default `search.default_top`.
    pub limit: Option<u32>,
    /// Documents to search.
    pub filter: Filter,
}

/// Passages similar to a document or a chunk.
#[derive(Debug)]
pub struct Similar {
    /// What they are similar to.
    pub seed: Seed,
    /// Most similar first.
    pub hits: Vec<Hit>,
    /// What is worth knowing about the answer, such as a filter that no document passes.
    pub notes: Vec<String>,
}

/// Finds passages similar to a document or a chunk.
pub fn similar(
    session: &Session,
    request: &SimilarRequest,
    observer: &dyn Observer,
) -> Result<Similar> {
    let notes = Notes::new(observer);
    let (mut seed, mut hits) = session.steadily(|| alike(session, request, &notes))?;
    if session.freshness(None) == Freshness::Refresh && refresh::refresh(session, &hits, &Silent) {
        (seed, hits) = alike(session, request, &Silent).unwrap_or((seed, hits));
    }
    Ok(Similar { seed, hits, notes: notes.kept(session.notices.clone()) })
}

/// Finds what is like a document without reading files again.
fn alike(
    session: &Session,
    request: &SimilarRequest,
    observer: &dyn Observer,
) -> Result<(Seed, Vec<Hit>)> {
    let (store, seed) = match (request.chunk, &request.document) {
        (Some(id), _) => (of_chunk(session, id)?.0, Seed::Chunk(id)),
        (None, typed) => {
            let (store, document) = find(session, typed.as_deref().unwrap_or_default())?;
            (store, Seed::Document(document.id))
        }
    };
    let settings = &session.config().search;
    let options = SimilarOptions {
        limit: request.limit.unwrap_or(settings.default_top) as usize,
        filter: request.filter.clone(),
        rrf_k: settings.rrf_k,
    };
    let mut hits = similar::similar(&store, seed, &options)?;
    if hits.is_empty() {
        absent::explain(&store, &options.filter, observer)?;
    }
    let documents = hits.iter_mut().map(|hit| (hit.stored.document_id, &mut hit.stored.path));
    session.shown_paths(options.filter.path_prefix.as_deref()).choose(&store, documents)?;
    if settings.freshness != Freshness::Off {
        freshness::mark(session, &store, &mut hits)?;
    }
    store.close()?;
    Ok((seed, hits))
}
