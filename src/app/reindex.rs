//! Replaces all vectors with those of another model.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::model::{LazyModel, ModelSelection};
use crate::app::observer::Event;
use crate::app::reread::outdated;
use crate::app::{Observer, Session, copies, erase, model};
use crate::chunk::recut;
use crate::document::{Binding, Chunk, Embedding};
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::ingest::ChunkingOptions;
use crate::store::{ChunkId, Extent, Renewed, Store, Unembedded};
use crate::text::fields;

/// Chunks embedded between two commits: one or two seconds of work, which is the most that an
/// interruption loses.
const BATCH: u32 = 128;

/// Bytes of a number of a vector.
const FLOAT_BYTES: u64 = 4;

/// Chunks that are embedded to measure the speed of a model.
const SAMPLE: u32 = 32;

/// What a run would take, for this database on this machine.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Estimate {
    /// The model.
    pub model_name: String,
    /// Whether its files are on this machine.
    #[serde(rename = "installed")]
    pub is_installed: bool,
    /// Size of its download in megabytes; null if it is not known, or if there is none.
    pub download_mb: Option<u64>,
    /// Number of chunks.
    #[serde(rename = "chunks")]
    pub num_chunks: u64,
    /// Time to embed them, measured on some of them; null without the model, if its cost is not known either.
    pub seconds: Option<u64>,
    /// Size of all vectors and codes of tokens in bytes.
    pub vector_bytes: u64,
    /// Their size afterwards; null if the width of the model's vectors is not known.
    pub vector_bytes_then: Option<u64>,
}

/// The report of `kb reindex`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Reindexed {
    /// Embedded chunks.
    #[serde(rename = "chunks")]
    pub num_chunks: u64,
    /// The model that the database is now bound to.
    pub model_name: String,
    /// Dimensions of a vector.
    #[serde(rename = "embedding_dim")]
    pub dim: u32,
    /// Documents that would be split differently if they were read again; `kb update --reread` does
    /// that.
    pub made_differently: usize,
    /// The copy of the database from before; null if none was made.
    #[serde(rename = "backup", serialize_with = "fields::path_or_null")]
    pub copy: Option<PathBuf>,
}

/// Replaces all vectors with those of the model in the settings. A model given by flag is written to the
/// settings file.
pub fn reindex(session: &Session, observer: &dyn Observer) -> Result<Reindexed> {
    let mut store = session.open_store()?;
    let bound = store.binding()?;
    let selection = model::select_for_reindex(session, bound.as_ref())?;
    let installed = selection.locate_or_install(observer)?;
    let binding = selection.binding(&installed);
    let (copy, num_chunks) = if bound.is_none() {
        store.bind(&binding)?;
        (None, 0)
    } else {
        let embedder = selection.open_for_passages(&installed, observer)?;
        let copy = copies::before_reindex(session, &store, observer);
        (copy, replace(&mut store, &embedder, &binding, observer)?)
    };
    let made_differently = outdated(session, &store)?.len();
    erase::finish(store, observer)?;
    model::keep_selection(session, observer)?;
    let Binding { model_name, dim, .. } = binding;
    Ok(Reindexed { num_chunks, model_name, dim, made_differently, copy })
}

/// Says what a run would take. Fetches nothing, and changes nothing in the database.
pub fn estimate(session: &Session, observer: &dyn Observer) -> Result<Estimate> {
    let store = session.open_existing()?;
    let bound = store.as_ref().map(Store::binding).transpose()?.flatten();
    let extent = store.as_ref().map(Store::reindex_extent).transpose()?.unwrap_or_default();
    let selection = model::select_for_reindex(session, bound.as_ref())?;
    let (installed, spec) = (selection.locate().ok(), selection.spec());
    let time_with = |selection: &ModelSelection| match (&store, selection.locate()) {
        (Some(store), Ok(installed)) => {
            let embedder = selection.open_for_passages(&installed, observer)?;
            measure(store, &embedder, extent).map(Some)
        }
        _ => Ok(None),
    };
    let time = match (&installed, &bound, spec.and_then(|spec| spec.cost)) {
        (Some(_), ..) => time_with(&selection)?,
        // The time of the present model, and how much more the other one costs.
        (None, Some(bound), Some(cost)) => {
            let present = model::select_known(session, bound);
            let base = present.as_ref().and_then(|present| present.spec()?.cost);
            let time = present.as_ref().map(time_with).transpose()?.flatten();
            time.zip(base).map(|(time, base)| time.mul_f64(cost / base))
        }
        _ => None,
    };
    let bytes = |dim: u32| extent.num_chunks * u64::from(dim) * FLOAT_BYTES + extent.code_bytes;
    let dim = installed.as_ref().map(|installed| selection.binding(installed).dim);
    Ok(Estimate {
        model_name: selection.name(),
        is_installed: installed.is_some(),
        download_mb: spec.filter(|_| installed.is_none()).and_then(|spec| spec.download_mb),
        num_chunks: extent.num_chunks,
        seconds: time.map(|time| time.as_secs() + 1),
        vector_bytes: bytes(bound.map_or(0, |bound| bound.dim)),
        vector_bytes_then: dim.or(spec.map(|spec| spec.dim)).map(bytes),
    })
}

/// Returns the time for all chunks, from embedding some of them.
fn measure(store: &Store, embedder: &LazyModel<'_>, extent: Extent) -> Result<Duration> {
    let sample = store.unembedded(ChunkId(0), SAMPLE)?;
    embedder.get()?;
    let start = Instant::now();
    renew(embedder, &sample)?;
    let num_tokens: u32 = sample.iter().map(|found| found.chunk.token_count).sum();
    let num_all = u32::try_from(extent.num_tokens).unwrap_or(u32::MAX);
    Ok(start.elapsed().mul_f64(f64::from(num_all) / f64::from(num_tokens.max(1))))
}

/// Embeds every chunk next to the vectors in use, and cuts those again that the model cannot read
/// whole; then switches in one transaction. Continues where an interrupted run with the same model
/// stopped.
fn replace(
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
        observer.on_event(Event::Counted { things, num_done, total });
        let mut after = ChunkId(0);
        loop {
            let batch = store.unembedded(after, BATCH)?;
            let Some(last) = batch.last() else { break };
            after = last.chunk_id;
            store.store_reindexed(&renew(embedder, &batch)?)?;
            num_done += batch.len() as u64;
            observer.on_event(Event::Counted { things, num_done, total });
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

/// Returns what the model makes of chunks: each with its vector, or cut again where it is longer
/// than the model reads.
fn renew(embedder: &LazyModel<'_>, batch: &[Unembedded]) -> Result<Vec<Renewed>> {
    let tokenizer = &embedder.tokenizer;
    let num_tokens = |text: &str| tokenizer.num_tokens(text);
    let (model_tokens, overhead) = (tokenizer.max_tokens(), tokenizer.num_overhead());
    let options = ChunkingOptions::new(model_tokens, overhead);
    let renew = |found: &Unembedded| {
        let passage = Chunk::passage(&found.chunk.context, &found.chunk.text);
        let num_tokens_now = num_tokens(&passage) + overhead;
        let is_split = num_tokens_now > model_tokens;
        let chunks = if is_split {
            recut(&found.chunk, found.is_code, &num_tokens, &options.markdown)
        } else {
            let token_count = u32::try_from(num_tokens_now).unwrap_or(u32::MAX);
            vec![Chunk { token_count, ..found.chunk.clone() }]
        };
        let mut pieces = Vec::with_capacity(chunks.len());
        for chunk in chunks {
            let passage = Chunk::passage(&chunk.context, &chunk.text);
            pieces.push((chunk, embed_passage(embedder, &passage)?));
        }
        Ok(Renewed { chunk_id: found.chunk_id, pieces, is_split })
    };
    // One chunk per job: a few long ones must not wait for each other.
    batch.par_iter().with_max_len(1).map(renew).collect()
}

/// Embeds passages on all processors.
pub(in crate::app) fn embed(
    embedder: &dyn Embedder,
    passages: &[(ChunkId, String)],
) -> Result<Vec<(ChunkId, Embedding)>> {
    let embed = |(id, passage): &(ChunkId, String)| Ok((*id, embed_passage(embedder, passage)?));
    passages.par_iter().with_max_len(1).map(embed).collect()
}

fn embed_passage(embedder: &dyn Embedder, passage: &str) -> Result<Embedding> {
    let embeddings = embedder.embed_passages(&[passage])?;
    Ok(embeddings.into_iter().next().expect("one passage gives one embedding"))
}
