//! Computes the vectors of stored chunks, and chooses the model for those of new documents.

use std::sync::atomic::Ordering;
use std::time::Duration;

use rayon::prelude::*;

use crate::app::indexing::ingestion::options;
use crate::app::session::model::{LazyModel, ModelSelection};
use crate::app::session::observer::AppEvent;
use crate::app::session::{absent, model};
use crate::app::{Observer, Session};
use crate::chunk::{ChunkOptions, recut};
use crate::document::{Binding, Chunk, Embedding};
use crate::embed::{Embedder, InstalledModel};
use crate::error::{Error, Result};
use crate::ingest::ChunkingOptions;
use crate::store::{ChunkId, RenewedChunk, Store, UnembeddedChunk};
use crate::wording::Wording;

/// Chunks embedded between two commits: one or two seconds of work, which is the most that an
/// interruption loses.
const BATCH: u32 = 128;

/// Tokens that most models read, and those of them that are not of the text; used where nothing is known of the model.
const USUAL_TOKENS: (usize, usize) = (256, 2);

/// The model for the passages of new documents, if there is one. Without it, documents are found by their words.
pub(crate) struct PassageModel<'a> {
    model: Option<LazyModel<'a>>,
    /// Tokens that the model reads, and those that it adds to a text.
    tokens: (usize, usize),
}

impl<'a> PassageModel<'a> {
    /// Opens the model of a database, fetching missing files, and binds the database to it. A database that has no
    /// vectors yet is used without a model if none is available. Within a time limit, nothing is fetched, and no
    /// vectors are added to stored documents.
    pub(crate) fn open(
        session: &Session,
        store: &mut Store,
        limit: Option<Duration>,
        observer: &'a dyn Observer,
    ) -> Result<Self> {
        let bound = store.binding()?;
        model::check_selection(session, bound.as_ref())?;
        let selection = model::select(session, bound.as_ref())?;
        let installed = match limit {
            None => selection.locate_or_install(observer),
            Some(_) => selection.locate(),
        };
        let spec_tokens = selection.spec().map(|spec| spec.max_tokens as usize);
        let tokens = (spec_tokens.unwrap_or(USUAL_TOKENS.0), USUAL_TOKENS.1);
        let without_model = Self { model: None, tokens };
        let installed = match installed {
            Err(error) if bound.is_none() && is_about_fetching(&error) => {
                say_without_model(&error, observer);
                return Ok(without_model);
            }
            installed => installed?,
        };
        if limit.is_some() && store.lacks_vectors()? {
            return Ok(without_model);
        }
        bind(store, &selection, &installed, observer)?;
        let model = selection.open_for_passages(&installed, observer)?;
        let tokens = (model.tokenizer.max_tokens(), model.tokenizer.num_overhead());
        Ok(Self { model: Some(model), tokens })
    }

    /// Returns how documents are split within the limits of the model.
    pub(crate) fn chunking(&self, session: &Session) -> ChunkingOptions {
        options::chunking(session.config(), self.tokens.0, self.tokens.1)
    }

    /// Returns what embeds passages.
    pub(crate) fn embedder(&self) -> Option<&dyn Embedder> {
        self.model.as_ref().map(|model| model as &dyn Embedder)
    }

    /// Returns the name of the model.
    pub(crate) fn name(&self) -> Option<&str> {
        self.model.as_ref().map(|model| model.binding().model_name.as_str())
    }
}

/// Whether only the network or room on the disk is missing for a model.
fn is_about_fetching(error: &Error) -> bool {
    matches!(error, Error::NotInstalled { .. } | Error::Fetch { .. } | Error::DiskFull { .. })
}

/// Says why there is no model, and what to do. Where fetching was not tried, the caller knows that there is none.
fn say_without_model(error: &Error, observer: &dyn Observer) {
    if matches!(error, Error::NotInstalled { .. }) {
        return;
    }
    observer.warn(error.message());
    if let Some(hint) = error.hint() {
        observer.info(Wording::from("hint: ").then(hint));
    }
    observer.note(absent::words_only());
}

/// Binds a database to a model. One that was filled without a model first gets vectors of all its chunks.
pub(crate) fn bind(
    store: &mut Store,
    selection: &ModelSelection,
    installed: &InstalledModel,
    observer: &dyn Observer,
) -> Result<()> {
    let binding = selection.binding(installed);
    if !store.lacks_vectors()? {
        return store.bind(&binding);
    }
    observer.info("Adding vectors to the documents that were added without a model...");
    let embedder = selection.open_for_passages(installed, observer)?;
    replace(store, &embedder, &binding, observer)?;
    Ok(())
}

/// Embeds every chunk next to the vectors in use, and cuts those again that the model cannot read
/// whole; then switches in one transaction. Continues where an interrupted run with the same model
/// stopped.
pub(crate) fn replace(
    store: &mut Store,
    embedder: &LazyModel<'_>,
    wanted: &Binding,
    observer: &dyn Observer,
) -> Result<u64> {
    let is_cancelled = observer.cancel_flag();
    let mut state = store.begin_reindex(wanted)?;
    loop {
        let (things, total) = ("chunks", u64::from(state.num_chunks));
        let mut num_done = u64::from(state.num_embedded);
        observer.on_event(AppEvent::Counted { things, num_done, total });
        let mut after = ChunkId(0);
        loop {
            let batch = store.unembedded(after, BATCH)?;
            let Some(last) = batch.last() else { break };
            after = last.chunk_id;
            store.store_reindexed(&renew(embedder, &batch)?)?;
            num_done += batch.len() as u64;
            observer.on_event(AppEvent::Counted { things, num_done, total });
            if is_cancelled.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
        }
        // Another process may have added chunks meanwhile; the next round embeds them.
        state = store.finish_reindex()?;
        if state.num_embedded == state.num_chunks {
            return Ok(u64::from(state.num_chunks));
        }
    }
}

/// Returns the chunks for the model: each with its vector, or cut again where it is longer than the model reads.
pub(crate) fn renew(
    embedder: &LazyModel<'_>,
    batch: &[UnembeddedChunk],
) -> Result<Vec<RenewedChunk>> {
    let tokenizer = &embedder.tokenizer;
    let options = ChunkingOptions::new(tokenizer.max_tokens(), tokenizer.num_overhead());
    // Each job has one chunk, so that a few long ones do not wait for each other.
    let batch = batch.par_iter().with_max_len(1);
    batch.map(|found| renew_chunk(embedder, found, &options.markdown)).collect()
}

fn renew_chunk(
    embedder: &LazyModel<'_>,
    found: &UnembeddedChunk,
    options: &ChunkOptions,
) -> Result<RenewedChunk> {
    let tokenizer = &embedder.tokenizer;
    let passage = Chunk::passage(&found.chunk.context, &found.chunk.text);
    let num_tokens_now = tokenizer.num_tokens(&passage) + tokenizer.num_overhead();
    let is_split = num_tokens_now > tokenizer.max_tokens();
    let chunks = if is_split {
        recut(&found.chunk, found.is_code, &|text| tokenizer.num_tokens(text), options)
    } else {
        let token_count = u32::try_from(num_tokens_now).unwrap_or(u32::MAX);
        vec![Chunk { token_count, ..found.chunk.clone() }]
    };
    let mut pieces = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        let passage = Chunk::passage(&chunk.context, &chunk.text);
        pieces.push((chunk, embed_passage(embedder, &passage)?));
    }
    Ok(RenewedChunk { chunk_id: found.chunk_id, pieces, is_split })
}

/// Embeds passages on all processors.
pub(crate) fn embed(
    embedder: &dyn Embedder,
    passages: &[(ChunkId, String)],
) -> Result<Vec<(ChunkId, Embedding)>> {
    let passages = passages.par_iter().with_max_len(1);
    passages.map(|(id, passage)| Ok((*id, embed_passage(embedder, passage)?))).collect()
}

fn embed_passage(embedder: &dyn Embedder, passage: &str) -> Result<Embedding> {
    let embeddings = embedder.embed_passages(&[passage])?;
    Ok(embeddings.into_iter().next().expect("one passage gives one embedding"))
}
