//! Replaces all vectors with those of another model.

use std::sync::atomic::Ordering;

use rayon::prelude::*;

use crate::app::observer::Event;
use crate::app::{Observer, Session, erase, model};
use crate::document::{Binding, Chunk, ChunkId};
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::store::{Store, Unembedded};

/// Chunks embedded between two commits: one or two seconds of work, which is the most that an
/// interruption loses.
const BATCH: u32 = 128;

/// The result of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reindexed {
    /// Embedded chunks.
    pub num_chunks: u64,
    /// The new binding of the database.
    pub binding: Binding,
}

/// Replaces all vectors with those of the model in the settings. A model given by flag is written to the
/// settings file.
///
/// # Errors
///
/// [`Error::Cancelled`] if the observer cancels it; the next run continues from there. Errors of the
/// model and the database.
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

/// Stores new vectors of every chunk next to those in use, then switches in one transaction. Continues
/// where an interrupted run with the same model stopped.
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
        // Another process may have added chunks meanwhile; the next round embeds them.
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
