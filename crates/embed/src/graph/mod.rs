//! Finds or builds the optimised graph of a model.
//!
//! Graphs are in `<cache>/graphs/<fingerprint>/`. The weights are in a separate file, so that the
//! system maps them into memory: such a graph loads in some 20 ms where the original takes 150. A
//! graph is built once per model, precision, runtime and processor; `identity` distinguishes them.
//! A graph with a changed file is built again.

pub(crate) mod export;
pub(crate) mod identity;
pub(crate) mod int8;
mod modern;
pub(crate) mod nodes;

use std::path::{Path, PathBuf};

use super::cache::{self, CacheManifest, CachedFileState, ExpectedContent, Workspace};
use super::facts::Family;
use super::fault::{model_error, unsupported};
use super::graph::identity::GraphCacheKey;
use super::model_files::{WEIGHTS, weights};
use super::names::{NativeWeights, TensorNames};
use super::single::weights::{Int8Matrix, Weights};
use super::tokenize::{self, wordpiece::ready};
use super::{InstalledModel, ModelEvent, processor};
use crate::document::Precision;
use crate::error::{Error, Result};
use crate::files::{folder, private, write};
use ort::environment::Environment;
use ort::session::Session;
use ort::session::builder::{GraphOptimizationLevel, SessionBuilder};

/// The graph's file in its directory.
const GRAPH_FILE: &str = "model.onnx";

/// The weights' file in its directory; the graph names it.
const WEIGHTS_FILE: &str = "model.bin";

/// 8-bit weights by row, for a few texts that are not worth loading the graph.
const ROWS_FILE: &str = "rows.safetensors";

/// The tokenizer as it is in memory, for the same texts and in any precision.
const WORDS_FILE: &str = "words.bin";

/// All files loaded from its directory.
const FILES: [&str; 4] = [GRAPH_FILE, WEIGHTS_FILE, ROWS_FILE, WORDS_FILE];

/// Smaller tensors stay in the graph's file: the runtime opens and maps the weights' file again for
/// each of the others, in some 27 system calls.
const SMALLEST_EXTERNAL_BYTES: &str = "16384";

/// The source of a graph.
enum GraphSource {
    /// safetensors of a family whose graph kb builds, and its tensor names.
    Weights(PathBuf, &'static TensorNames),
    /// The model's own ONNX file.
    Onnx(PathBuf),
}

fn source(installed: &InstalledModel) -> Result<GraphSource> {
    let dir = &installed.model_dir;
    let family = &installed.facts.family;
    let found = weights(dir);
    if let (Some(names), Some(own)) =
        (TensorNames::of(family), found.clone().filter(|path| !is_onnx(path)))
    {
        return Ok(GraphSource::Weights(own, names));
    }
    let onnx = found.filter(|path| is_onnx(path)).or_else(|| onnx_file(dir));
    match (onnx, family) {
        (Some(path), _) => Ok(GraphSource::Onnx(path)),
        (None, Family::Unsupported(reason)) => {
            let reason = format!("{reason} is not supported, and there is no onnx/model.onnx");
            Err(unsupported(dir, reason))
        }
        (None, _) => Err(model_error(dir, "there is no model.safetensors in it")),
    }
}

/// Returns the ONNX file in a model's directory.
fn onnx_file(dir: &Path) -> Option<PathBuf> {
    let mut paths = WEIGHTS.iter().map(|name| dir.join(name));
    paths.find(|path| is_onnx(path) && path.is_file())
}

fn is_onnx(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "onnx")
}

/// Returns the precision that passages are computed in: an ONNX file runs unchanged.
pub(super) fn usable_precision(installed: &InstalledModel, wanted: Precision) -> Precision {
    match source(installed) {
        _ if matches!(installed.facts.family, Family::Static { .. }) => Precision::Fp32,
        Ok(GraphSource::Onnx(_)) => Precision::Fp32,
        Ok(GraphSource::Weights(..)) | Err(_) => wanted,
    }
}

/// Whether the graph returns token vectors that still have to be pooled.
pub(super) fn gives_token_vectors(installed: &InstalledModel) -> bool {
    let is_foreign = matches!(source(installed), Ok(GraphSource::Onnx(_)));
    is_foreign || installed.facts.pooling_in_graph().is_none()
}

/// Returns the weights of a model that kb can also compute without the runtime.
pub(super) fn own_weights(installed: &InstalledModel) -> Option<NativeWeights> {
    match source(installed) {
        Ok(GraphSource::Weights(path, names)) if names.is_native() => {
            Some(NativeWeights { path, names })
        }
        _ => None,
    }
}

/// Returns the directory of the graph, if it exists.
pub(super) fn find(installed: &InstalledModel, precision: Precision) -> Result<Option<PathBuf>> {
    let (_, place) = key_and_directory(installed, &source(installed)?, precision)?;
    Ok(place.join(GRAPH_FILE).is_file().then_some(place))
}

/// Returns the 8-bit weights by row next to an 8-bit graph.
pub(super) fn rows_file(place: &Path) -> PathBuf {
    place.join(ROWS_FILE)
}

/// Returns the tokenizer next to a graph that kb can also compute without the runtime.
pub(super) fn words_file(place: &Path) -> PathBuf {
    place.join(WORDS_FILE)
}

/// Returns the graph's identity and its directory.
fn key_and_directory(
    installed: &InstalledModel,
    source: &GraphSource,
    precision: Precision,
) -> Result<(GraphCacheKey, PathBuf)> {
    let (path, kind) = match source {
        GraphSource::Weights(path, names) => (path, names.family),
        GraphSource::Onnx(path) => (path, "onnx"),
    };
    let identity = GraphCacheKey::of(installed, path, kind, precision)?;
    let place = identity.directory(&installed.cache_dir);
    Ok((identity, place))
}

/// A graph to load.
pub(super) enum Graph {
    /// An optimised one in the cache.
    Cached(PathBuf),
    /// One that is built in memory each time, because the cache cannot be written.
    InMemory(Box<InstalledModel>, Precision),
}

impl Graph {
    /// Returns the file to name in an error.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Cached(path) => path,
            Self::InMemory(installed, _) => &installed.model_dir,
        }
    }
}

/// Finds the graph, building it if it is missing.
pub(super) fn prepare(
    installed: &InstalledModel,
    precision: Precision,
    environment: &Environment,
    on_event: &mut dyn FnMut(ModelEvent),
) -> Result<Graph> {
    let source = source(installed)?;
    let (identity, place) = key_and_directory(installed, &source, precision)?;
    let graph = place.join(GRAPH_FILE);
    let mut manifest = CacheManifest::read(&installed.cache_dir);
    if is_intact(&mut manifest, &place, &FILES, &mut |_| {})? {
        manifest.keep();
        return Ok(Graph::Cached(graph));
    }
    if !cache::is_writable(&installed.cache_dir) {
        return Ok(Graph::InMemory(Box::new(installed.clone()), precision));
    }
    let workspace = Workspace::open(&installed.cache_dir, on_event)?;
    // Another process may have built it in the meantime.
    if is_intact(&mut CacheManifest::read(&installed.cache_dir), &place, &FILES, on_event)? {
        return Ok(Graph::Cached(graph));
    }
    on_event(ModelEvent::Optimising);
    let made = workspace.folder("graph")?;
    build(installed, &source, precision, environment, &made)?;
    identity.write(&made)?;
    workspace.publish(&made, &place)?;
    identity.remove_replaced(&installed.cache_dir);
    Ok(Graph::Cached(graph))
}

/// Whether some of a graph's files are intact. Reports a changed one to `on_event`.
fn is_intact(
    manifest: &mut CacheManifest,
    place: &Path,
    names: &[&str],
    on_event: &mut dyn FnMut(ModelEvent),
) -> Result<bool> {
    for name in names {
        let path = place.join(name);
        match manifest.confirm(&path, &ExpectedContent::Recorded)? {
            CachedFileState::Intact => {}
            // Not every model has every file: a small one has no separate weights, only an 8-bit graph has a table of
            // rows, and only a WordPiece tokenizer has a table of words.
            CachedFileState::Missing if *name != GRAPH_FILE && !manifest.knows(&path) => {}
            CachedFileState::Changed { .. } => {
                on_event(ModelEvent::Changed(path));
                return Ok(false);
            }
            CachedFileState::Missing | CachedFileState::Unknown => return Ok(false),
        }
    }
    Ok(true)
}

/// Whether the 8-bit weights by row next to a graph and the tokenizer there are intact.
pub(super) fn has_intact_rows(manifest: &mut CacheManifest, place: &Path) -> Result<bool> {
    is_intact(manifest, place, &[ROWS_FILE, WORDS_FILE], &mut |_| {})
}

/// Removes an unusable graph, so that [`prepare`] builds it again.
pub(super) fn discard(graph: &Path) {
    if let Some(place) = graph.parent() {
        let _ = folder::remove_all(place);
    }
}

/// Builds the graph, lets the runtime optimise it, and writes the result to `made`.
fn build(
    installed: &InstalledModel,
    source: &GraphSource,
    precision: Precision,
    environment: &Environment,
    made: &Path,
) -> Result<()> {
    let builder = saving_builder(environment, &made.join(GRAPH_FILE));
    session(installed, source, precision, builder)?;
    if let Some(NativeWeights { path, names }) = own_weights(installed) {
        ready::prepare(&installed.model_dir.join(tokenize::FILE), &words_file(made))?;
        if precision == Precision::Int8 {
            let matrices = matrices(installed, names, &Weights::open(&path)?)?;
            super::single::weights::write(&rows_file(made), &matrices)?;
        }
    }
    // The runtime does not sync its files; without this a power cut could leave zeros.
    for path in FILES.map(|name| made.join(name)).into_iter().filter(|path| path.is_file()) {
        let settled = write::sync_file(&path).and_then(|()| private::close(&path));
        settled.map_err(|error| Error::of_file(&path, error))?;
    }
    Ok(())
}

/// Loads a graph from the model's own files.
fn session(
    installed: &InstalledModel,
    source: &GraphSource,
    precision: Precision,
    builder: ort::Result<SessionBuilder>,
) -> Result<Session> {
    match source {
        GraphSource::Onnx(path) => {
            let session = builder.and_then(|mut builder| builder.commit_from_file(path));
            session.map_err(|error| model_error(path, error))
        }
        GraphSource::Weights(path, names) => {
            let weights = Weights::open(path)?;
            let model = export::export(&installed.facts, names, &weights, precision)?;
            let session = builder.and_then(|builder| model.into_session(&builder));
            session.map_err(|error| model_error(path, error))
        }
    }
}

/// Builds and optimises a graph in memory; `builder` has the settings for running it.
pub(super) fn in_memory(
    installed: &InstalledModel,
    precision: Precision,
    builder: ort::Result<SessionBuilder>,
) -> Result<Session> {
    session(installed, &source(installed)?, precision, builder.and_then(optimising))
}

/// Makes the 8-bit weights by row in memory.
pub(super) fn rows(
    installed: &InstalledModel,
    names: &TensorNames,
    path: &Path,
) -> Result<Weights> {
    let matrices = matrices(installed, names, &Weights::open(path)?)?;
    Weights::in_memory(path, &matrices)
}

/// Returns the linear maps of all layers in 8 bits, by row.
fn matrices(
    installed: &InstalledModel,
    names: &TensorNames,
    weights: &Weights,
) -> Result<Vec<Int8Matrix>> {
    let layers = 0..installed.facts.num_layers;
    let maps =
        layers.flat_map(|idx| names.linear().map(|map| format!("{}.{idx}.{map}", names.layer)));
    maps.map(|name| {
        let weight = weights.get(&format!("{name}.weight"), &[0, 0])?;
        Ok(int8::by_row(name, &weight))
    })
    .collect()
}

/// Returns a builder whose session writes the optimised graph to `path`.
fn saving_builder(environment: &Environment, path: &Path) -> ort::Result<SessionBuilder> {
    let external = "session.optimized_model_external_initializers_file_name";
    let smallest = "session.optimized_model_external_initializers_min_size_in_bytes";
    Ok(optimising(Session::builder(environment)?.with_intra_threads(1)?)?
        .with_config_entry(external, WEIGHTS_FILE)?
        .with_config_entry(smallest, SMALLEST_EXTERNAL_BYTES)?
        .with_optimized_model_path(path)?)
}

/// Lets the runtime optimise the graph.
fn optimising(builder: SessionBuilder) -> ort::Result<SessionBuilder> {
    Ok(builder
        .with_optimization_level(GraphOptimizationLevel::Level2)?
        // The fused operator takes three times as long as the Add and LayerNormalization it
        // replaces.
        .with_disabled_optimizers("SkipLayerNormFusion")?
        .with_config_entry(
            "session.x64quantprecision",
            if processor::overflows_int8() { "1" } else { "0" },
        )?)
}
