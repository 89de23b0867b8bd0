//! Replaces all vectors with those of another model, and says what that takes.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::indexing::reread::outdated;
use crate::app::indexing::vectors::{renew, replace};
use crate::app::session::model::{LazyModel, ModelSelection};
use crate::app::session::running::{AnnouncedCounts, LongCommand};
use crate::app::session::{copies, erase, model};
use crate::app::{Observer, Session};
use crate::document::Binding;
use crate::error::Result;
use crate::store::{ChunkId, ReindexExtent, Store};
use crate::text::fields;

/// Bytes of a number of a vector.
const FLOAT_BYTES: u64 = 4;

/// Chunks that are embedded to measure the speed of a model.
const SAMPLE: u32 = 32;

/// The cost of a run, for this database on this machine.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ReindexEstimate {
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
pub struct ReindexReport {
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
    /// The copy of the previous database; null if none was made.
    #[serde(rename = "backup", serialize_with = "fields::path_or_null")]
    pub copy: Option<PathBuf>,
}

/// Replaces all vectors with those of the model in the settings. A model given by flag is written to the
/// settings file.
pub fn reindex(session: &Session, observer: &dyn Observer) -> Result<ReindexReport> {
    let mut store = session.open_store()?;
    let bound = store.binding()?;
    let selection = model::select_for_reindex(session, bound.as_ref())?;
    let installed = selection.locate_or_install(observer)?;
    let binding = selection.binding(&installed);
    let (copy, num_chunks) = if bound.is_none() && !store.lacks_vectors()? {
        store.bind(&binding)?;
        (None, 0)
    } else {
        let embedder = selection.open_for_passages(&installed, observer)?;
        let copy = copies::before_reindex(session, &store, observer);
        let announced = AnnouncedCounts::begin(session, LongCommand::Reindex, observer);
        (copy, replace(&mut store, &embedder, &binding, &announced)?)
    };
    let made_differently = outdated(session, &store)?.len();
    erase::finish(store, observer)?;
    model::keep_selection(session, observer)?;
    let Binding { model_name, dim, .. } = binding;
    Ok(ReindexReport { num_chunks, model_name, dim, made_differently, copy })
}

/// Says what a run would take. Fetches nothing, and changes nothing in the database.
pub fn estimate(session: &Session, observer: &dyn Observer) -> Result<ReindexEstimate> {
    let store = session.open_existing()?;
    let bound = store.as_ref().map(Store::binding).transpose()?.flatten();
    let extent = store.as_ref().map(Store::reindex_extent).transpose()?.unwrap_or_default();
    let selection = model::select_for_reindex(session, bound.as_ref())?;
    let (installed, spec) = (selection.locate().ok(), selection.spec());
    let time = match (&installed, &bound, spec.and_then(|spec| spec.cost)) {
        (Some(_), ..) => time_with(store.as_ref(), &selection, extent, observer)?,
        // A model that is not installed is estimated: by the time of the present one, and how much more it costs.
        (None, Some(bound), Some(cost)) => {
            let present = model::select_known(session, bound);
            let base = present.as_ref().and_then(|present| present.spec()?.cost);
            let time = match &present {
                Some(present) => time_with(store.as_ref(), present, extent, observer)?,
                None => None,
            };
            time.zip(base).map(|(time, base)| time.mul_f64(cost / base))
        }
        _ => None,
    };
    let bytes = |dim: u32| extent.num_chunks * u64::from(dim) * FLOAT_BYTES + extent.code_bytes;
    let dim = installed.as_ref().map(|installed| selection.binding(installed).dim);
    Ok(ReindexEstimate {
        model_name: selection.name(),
        is_installed: installed.is_some(),
        download_mb: spec.filter(|_| installed.is_none()).and_then(|spec| spec.download_mb),
        num_chunks: extent.num_chunks,
        seconds: time.map(|time| time.as_secs() + 1),
        vector_bytes: bytes(bound.map_or(0, |bound| bound.dim)),
        vector_bytes_then: dim.or(spec.map(|spec| spec.dim)).map(bytes),
    })
}

/// Returns the time that a model takes for all chunks; `None` if it is not installed, or there is no database.
fn time_with(
    store: Option<&Store>,
    selection: &ModelSelection,
    extent: ReindexExtent,
    observer: &dyn Observer,
) -> Result<Option<Duration>> {
    match (store, selection.locate()) {
        (Some(store), Ok(installed)) => {
            let embedder = selection.open_for_passages(&installed, observer)?;
            measure(store, &embedder, extent).map(Some)
        }
        _ => Ok(None),
    }
}

/// Returns the time for all chunks, from embedding some of them.
fn measure(store: &Store, embedder: &LazyModel<'_>, extent: ReindexExtent) -> Result<Duration> {
    let sample = store.unembedded(ChunkId(0), SAMPLE)?;
    embedder.get()?;
    let start = Instant::now();
    renew(embedder, &sample)?;
    let num_tokens: u32 = sample.iter().map(|found| found.chunk.token_count).sum();
    let num_all = u32::try_from(extent.num_tokens).unwrap_or(u32::MAX);
    Ok(start.elapsed().mul_f64(f64::from(num_all) / f64::from(num_tokens.max(1))))
}
