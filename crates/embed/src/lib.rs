//! Turns text into unit vectors.
//!
//! ```text
//! once:    install: find or fetch (hub, Python package) → export (weights → optimised graph)
//! always:  locate (files only) → tokenizer ∥ session → passages and queries to vectors
//! ```
//!
//! Only [`install`] uses the network. Settings are passed as values: [`Locations`],
//! [`ModelOptions`].

#![expect(
    clippy::missing_errors_doc,
    reason = "its functions return one `Error`, whose variants say what happened; sections say what a caller can do"
)]

mod binding;
mod cache;
mod choice;
mod event;
mod facts;
mod fault;
mod fetch;
mod graph;
mod head;
mod installed;
mod model_files;
mod modules;
mod names;
mod processor;
mod registry;
pub(crate) mod runtime;
pub(crate) mod single;
mod table;
mod token_codes;
mod tokenize;
mod tokenized;
mod trust;
mod upkeep;

use kb_base::{document, error, files, hash, numeric, text, wording};

use cache::CacheManifest;
use facts::Family;
use runtime::OnnxModel;
use table::TableModel;

use crate::error::Result;

pub use kb_base::embedder::{Embedder, EmbeddingSide, QueryEmbedding, TokenMatcher};

pub use cache::CachedFileState;
pub use choice::ModelChoice;
pub use event::ModelEvent;
pub use facts::ModelProperties;
pub use fetch::{OPTIMISING, install, locate, locate_model};
pub use installed::{InstalledModel, Locations, ModelOptions};
pub use registry::{DEFAULT_MODEL, ModelSpec, Pooling, PublishedScore, model, model_names, models};
pub use token_codes::QueryTokens;
pub use tokenize::ModelTokenizer;
pub use upkeep::{
    CachePart, CachedKind, Examination, ExaminedFile, ManifestMatch, cached, examine,
    remove_cached, remove_wrong,
};

/// Loads only the tokenizer: enough for a chunker, without ONNX Runtime.
///
/// # Errors
///
/// [`Error::CacheChanged`](error::Error::CacheChanged) if a file of the model has changed,
/// [`Error::Model`](error::Error::Model) if `tokenizer.json` cannot be used.
pub fn tokenizer(installed: &InstalledModel, options: &ModelOptions) -> Result<ModelTokenizer> {
    let mut manifest = CacheManifest::read(&installed.cache_dir);
    manifest.require(&trust::model(installed))?;
    manifest.keep();
    ModelTokenizer::load(installed, options)
}

/// Opens the model. Builds its graph first if there is none on this machine.
///
/// A model with only an ONNX file runs that file unchanged, whatever precision is requested; the
/// binding has the actual precision.
///
/// # Errors
///
/// [`Error::CacheChanged`](error::Error::CacheChanged) if a file or the runtime library is not as kb
/// wrote it, [`Error::Model`](error::Error::Model) if it cannot be used.
pub fn open(
    installed: &InstalledModel,
    options: &ModelOptions,
    on_event: &mut dyn FnMut(ModelEvent),
) -> Result<Box<dyn Embedder>> {
    if matches!(installed.facts.family, Family::Static { .. }) {
        return Ok(Box::new(TableModel::open(installed, options)?));
    }
    if let Some(embedder) = single::open_passages(installed, options, on_event)? {
        return Ok(embedder);
    }
    Ok(Box::new(OnnxModel::open(installed, options, false, on_event)?))
}

/// Opens the model for one or a few texts: optimised for a fast start, not for throughput.
pub fn open_single(
    installed: &InstalledModel,
    options: &ModelOptions,
    on_event: &mut dyn FnMut(ModelEvent),
) -> Result<Box<dyn Embedder>> {
    if matches!(installed.facts.family, Family::Static { .. }) {
        return open(installed, options, on_event);
    }
    single::open(installed, options, on_event)
}
