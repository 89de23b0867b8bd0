//! Replaces all vectors by those of another model.

use std::sync::atomic::Ordering;

use rayon::prelude::*;

use crate::app::observer::Event;
use crate::app::{Observer, Session, erase, model};
use crate::document::{Binding, Chunk, ChunkId};
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::store::{Store, Unembedded};

/// Chunks embedded between two commits: a second or two of work, which is what an interruption
/// loses.
const BATCH: u32 = 128;

/// What a run did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reindexed {
    /// Chunks that were embedded.
    pub num_chunks: u64,
    /// What the database is bound to now.
    pub binding: Binding,
}

/// Replaces all vectors by those of the model that the settings name. The settings file follows a model that a flag named.
///
/// # Errors
///
/// [`Error::Cancelled`] if the observer ends it: the next run goes on from there. What the model or the
/// database refuses.
pub fn reindex(session: &Session, observer: &dyn Observer) -> Result<Reindexed> {
    let mut store = session.open_store()?;
    let bound = store.binding()?;
    let selection = model::select_for_reindex(session, bound.as_ref())?;
    let installed = selection.locate_or_install(observer)?;
    let binding = selection.binding(&installed);
    let num_chunks = if bound.is_none() {
        store.bind(&binding)?;
        0
    } else {
        let embedder = selection.open_for_passages(&installed, observer)?;
        replace(&mut store, &embedder, &binding, observer)?
    };
    erase::finish(store, observer)?;
    model::keep_selection(session, observer)?;
    Ok(Reindexed { num_chunks, binding })
}

/// Embeds every chunk next to the vectors in use, then switches in one transaction. Goes on where an
/// interrupted run with the same model stopped.
fn replace(
    store: &mut Store,
    embedder: &dyn Embedder,
    wanted: &Binding,
    observer: &dyn Observer,
) -> Result<u64> {
    let is_cancelled = observer.cancel_flag();
    let mut state = store.begin_reindex(wanted)?;
    loop {
        let num_chunks = u64::from(state.num_chunks);
        let mut num_done = u64::from(state.num_embedded);
        observer.on_event(Event::Reindexed { num_done, num_chunks });
        let mut after = ChunkId(0);
        loop {
            let batch = store.unembedded(after, BATCH)?;
            let Some(last) = batch.last() else { break };
            after = last.chunk_id;
            let vectors = embed(embedder, &batch)?;
            store.store_reindexed(&vectors)?;
            num_done += batch.len() as u64;
            observer.on_event(Event::Reindexed { num_done, num_chunks });
            if is_cancelled.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
        }
        // Another process may have added chunks meanwhile: they are embedded in another round.
        state = store.finish_reindex()?;
        if state.num_embedded == state.num_chunks {
            return Ok(u64::from(state.num_chunks));
        }
    }
}

/// Embeds a batch on all processors.
pub(crate) fn embed(
    embedder: &dyn Embedder,
    batch: &[Unembedded],
) -> Result<Vec<(ChunkId, Vec<f32>)>> {
    let embed = |chunk: &Unembedded| {
        let passage = Chunk::passage(&chunk.context, &chunk.text);
        let vectors = embedder.embed_passages(&[&passage])?;
        let vector = vectors.into_iter().next().expect("one passage gives one vector");
        Ok((chunk.chunk_id, vector))
    };
    // One chunk per job: a few long ones must not wait for each other.
    batch.par_iter().with_max_len(1).map(embed).collect()
}
