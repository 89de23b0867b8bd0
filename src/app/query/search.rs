//! Answers queries, and finds passages similar to a document or a chunk.

mod merging;
mod program;
mod request;
mod rerank;
mod several;

use rerank::Reranker;

use crate::app::indexing::refresh;
use crate::app::query::freshness::{self, Freshness};
use crate::app::query::push;
use crate::app::session::lookup::{find, of_chunk, shown};
use crate::app::session::observer::{NoteKeeper, SilentObserver};
use crate::app::session::{absent, model, running};
use crate::app::{Observer, Session};
use crate::document::{Filter, StaleReason};
use crate::error::{Error, Result};
use crate::limits;
use crate::search::evidence::{EvidenceOptions, gather, keep_within};
use crate::search::similar::{self, Seed, SimilarOptions};
use crate::search::{self, EvidenceSummary, Hit, NoBasis, Query, Searchable, Trace};
use crate::store::{ChunkId, DocumentId, Store, StoredDocument};
use crate::trace::stage;
use crate::wording::{option, wording};

pub use crate::search::{LegSelection, SearchAnswer};
pub use request::SearchRequest;
pub use several::search_several;

/// Hits considered for a budget. Down to this rank, the order of hits does not depend on the requested
/// number.
const BUDGET_DEPTH: u32 = 100;

/// Marks the hits that are stale, and lowers the confidence if the best one is. The marks count toward the budget.
fn mark(
    answer: &mut SearchAnswer,
    session: &Session,
    request: &SearchRequest,
    store: &Store,
) -> Result<()> {
    freshness::mark(session, store, &mut answer.hits)?;
    if answer.hits.first().is_some_and(|hit| hit.stale.is_some()) {
        answer.distrust();
    }
    let is_stale = answer.hits.iter().any(|hit| hit.stale.is_some());
    if let (Some(budget), true) = (request.budget, is_stale) {
        keep_within(budget as usize, request.form, answer);
    }
    Ok(())
}

/// Answers a query. The session keeps the connection and the model for the next one.
pub fn search(
    session: &Session,
    request: &SearchRequest,
    observer: &dyn Observer,
) -> Result<SearchAnswer> {
    let notes = NoteKeeper::new(observer);
    absent::dates(&request.filter, &notes);
    let found = search_by(Reranker::of(session).as_ref(), session, request, &notes)?;
    let first = absent::phrases(&found, &notes);
    let notes = notes.kept([first, session.notices().to_vec()].concat());
    Ok(SearchAnswer { notes, ..found })
}

/// Answers a query; `reranker` orders the first hits.
fn search_by(
    reranker: Option<&Reranker<'_>>,
    session: &Session,
    request: &SearchRequest,
    observer: &dyn Observer,
) -> Result<SearchAnswer> {
    if let Some(target) = &request.from {
        return elsewhere(session, request, target, reranker, observer);
    }
    let freshness = session.freshness(request.freshness);
    let found =
        session.read_with_retry(|| answer(session, request, freshness, reranker, observer))?;
    let is_refreshed = freshness == Freshness::Refresh
        && stage("read changed files", || refresh::refresh(session, &found.hits, observer));
    if !is_refreshed {
        return Ok(found);
    }
    // The first search has already reported its notes.
    Ok(answer(session, request, freshness, reranker, &SilentObserver).unwrap_or(found))
}

/// Answers a query without reading files again.
fn answer(
    session: &Session,
    request: &SearchRequest,
    freshness: Freshness,
    reranker: Option<&Reranker<'_>>,
    observer: &dyn Observer,
) -> Result<SearchAnswer> {
    let phrasings = parsed(request, observer)?;
    running::note(session, observer);
    let Some(store) = session.store()? else {
        observer.info(absent::no_documents());
        let budget = request.budget.map(|budget| budget as usize);
        let gathered = request.gathers().then_some(EvidenceSummary { budget, num_tokens: 0 });
        return Ok(SearchAnswer {
            gathered,
            ..unjudged(SearchAnswer::empty(&phrasings), NoBasis::Nothing)
        });
    };
    if store.is_read_only() && store.is_of_older_schema()? {
        observer.note(format!(
            "an older kb made the database {}, which cannot be changed: {}",
            session.database().display(),
            absent::OLDER
        ));
    }
    let search = ChunkSearch { session, request, phrasings: &phrasings, reranker, observer };
    let mut found = search.of(&store, &|| absent::explain(&store, &request.filter, observer))?;
    if freshness != Freshness::Off {
        stage("look at files", || mark(&mut found, session, request, &store))?;
    }
    session.give_back(store);
    Ok(found)
}

/// Returns an empty answer that does not say whether the answer is there: nothing was searched.
fn unjudged(empty: SearchAnswer, reason: NoBasis) -> SearchAnswer {
    let unmet = Vec::new();
    SearchAnswer { confidence: None, no_basis: Some(reason), unmet, is_unmet: false, ..empty }
}

/// Searches a copy in PostgreSQL. Its files may be on another machine, so they are not looked at.
fn elsewhere(
    session: &Session,
    request: &SearchRequest,
    target: &str,
    reranker: Option<&Reranker<'_>>,
    observer: &dyn Observer,
) -> Result<SearchAnswer> {
    let phrasings = parsed(request, observer)?;
    let remote = stage("connect", || push::open(session, target, observer))?;
    let search = ChunkSearch { session, request, phrasings: &phrasings, reranker, observer };
    let found = search.of(&remote, &|| absent::explain(&remote, &request.filter, observer))?;
    push::keep(session, target, remote);
    Ok(found)
}

/// Parses the phrasings of a request, and checks its options.
fn parsed(request: &SearchRequest, observer: &dyn Observer) -> Result<Vec<Query>> {
    let phrasings = request.phrasings()?;
    if phrasings.iter().any(|query| query.is_cut) {
        observer.warn(format!(
            "only the first {} distinct words of the query are used as keywords",
            limits::QUERY_TERMS
        ));
    }
    if request.gathers() {
        check_limit(request.limit)?;
    }
    Ok(phrasings)
}

/// A question to chunks, wherever they are.
struct ChunkSearch<'a> {
    session: &'a Session,
    request: &'a SearchRequest,
    phrasings: &'a [Query],
    reranker: Option<&'a Reranker<'a>>,
    observer: &'a dyn Observer,
}

impl ChunkSearch<'_> {
    /// Searches chunks, and returns the answer in the requested form; asks `explain` for the reason if there is no hit.
    fn of<S: Searchable>(
        &self,
        store: &S,
        explain: &dyn Fn() -> Result<Option<NoBasis>>,
    ) -> Result<SearchAnswer> {
        let Self { session, request, phrasings, reranker, observer } = *self;
        let mut options = request.options(session);
        let budget = request.budget.map(|budget| budget as usize);
        if budget.is_some() {
            options.limit = options.limit.max(BUDGET_DEPTH);
        }
        let limit = options.limit as usize;
        if reranker.is_some() {
            options.limit = options.limit.max(rerank::DEPTH);
        }
        let binding = store.binding()?;
        // A wrong model is reported before anything is loaded, and even if the answer is empty.
        if options.legs != LegSelection::Keyword {
            model::check_selection(session, binding.as_ref())?;
        }
        let load = || session.embedder(binding.as_ref(), observer);
        let mut results = match search::search(store, &load, phrasings, &options) {
            Err(Error::NotInstalled { .. }) if options.legs == LegSelection::Both => {
                observer.note(absent::not_installed());
                options.legs = LegSelection::Keyword;
                search::search(store, &load, phrasings, &options)?
            }
            found => found?,
        };
        let documents = results.hits.iter_mut().map(|hit| &mut hit.stored);
        let documents = documents.map(|stored| (stored.document_id, &mut stored.path));
        session.shown_paths(&request.filter.paths).choose(store, documents)?;
        if let Some(reranker) = reranker {
            reranker.rerank(&mut results, observer);
            results.hits.truncate(limit);
        }
        if results.hits.is_empty()
            && let Some(reason) = explain()?
        {
            results = unjudged(results, reason);
        } else if binding.is_none() && options.legs != LegSelection::Keyword {
            absent::meanings(options.legs, observer)?;
        }
        if !request.gathers() {
            results.cite();
            return Ok(results);
        }
        // The notes are set before passages are chosen, because they count towards the budget.
        results.notes = [absent::notes_on(&results), session.notices().to_vec()].concat();
        let limit = request.limit.map(|limit| limit as usize);
        let context = request.context;
        gather(store, results, EvidenceOptions { context, budget, limit, form: request.form })
    }
}

/// Refuses to build passages from more results than can be compared with each other in a short time.
fn check_limit(limit: Option<u32>) -> Result<()> {
    let most = limits::TOP_OF_PASSAGES;
    match limit.filter(|limit| *limit > most) {
        Some(limit) => Err(Error::usage(wording!(
            "with `{}` or `{}`, `{}` must be at most {}, not {}",
            option("--context"),
            option("--budget"),
            option("--top"),
            most.to_string(),
            limit.to_string()
        ))),
        None => Ok(()),
    }
}

/// The path of a document through a search.
#[derive(Debug)]
pub struct WhyReport {
    /// The query as it was typed.
    pub query: String,
    /// The document.
    pub document: StoredDocument,
    /// Its path through the search.
    pub trace: Trace,
    /// How its file differs from what was indexed.
    pub stale: Option<StaleReason>,
}

/// Traces one document through a search. Returns the query as typed, the document and its trace.
pub fn why(
    session: &Session,
    request: &SearchRequest,
    document: &str,
    observer: &dyn Observer,
) -> Result<WhyReport> {
    let query = search::parse::parse(&request.query)?;
    absent::dates(&request.filter, observer);
    let (document, trace, stale) = session.read_with_retry(|| {
        let within = request.filter.paths.first().map(String::as_str);
        let (store, document) = shown(session, document, within)?;
        let binding = store.binding()?;
        let id: DocumentId = document.id;
        let options = request.options(session);
        let trace = search::why(
            &store,
            &|| session.embedder(binding.as_ref(), observer),
            &query,
            id,
            &options,
        )?;
        if let Some(unmet) = &trace.unmet {
            observer.note(absent::phrase(unmet, trace.is_without_quotes));
        }
        for completed in &trace.completed {
            observer.note(absent::completed(completed));
        }
        let stale = freshness::of_document(session, &store, &document)?;
        store.close()?;
        Ok((document, trace, stale))
    })?;
    Ok(WhyReport { query: query.typed, document, trace, stale })
}

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
pub struct SimilarPassages {
    /// The document or chunk that they are similar to.
    pub seed: Seed,
    /// Most similar first.
    pub hits: Vec<Hit>,
    /// Notes about the answer, such as a filter that no document passes.
    pub notes: Vec<String>,
}

/// Finds passages similar to a document or a chunk.
pub fn similar(
    session: &Session,
    request: &SimilarRequest,
    observer: &dyn Observer,
) -> Result<SimilarPassages> {
    let notes = NoteKeeper::new(observer);
    absent::dates(&request.filter, &notes);
    running::note(session, &notes);
    let (mut seed, mut hits) = session.read_with_retry(|| alike(session, request, &notes))?;
    if session.freshness(None) == Freshness::Refresh
        && refresh::refresh(session, &hits, &SilentObserver)
    {
        (seed, hits) = alike(session, request, &SilentObserver).unwrap_or((seed, hits));
    }
    Ok(SimilarPassages { seed, hits, notes: notes.kept(session.notices().to_vec()) })
}

/// Finds passages that are similar to a document or a chunk without reading files again.
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
    if store.lacks_vectors()? {
        absent::meanings(LegSelection::Vector, observer)?;
    }
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
    session.shown_paths(&options.filter.paths).choose(&store, documents)?;
    if settings.freshness != Freshness::Off {
        freshness::mark(session, &store, &mut hits)?;
    }
    store.close()?;
    Ok((seed, hits))
}
