//! Opens a model without ONNX Runtime: for one text, with a fast start, or for many on processors
//! whose instructions the runtime uses badly.
//!
//! Weights of a family that kb knows are multiplied here (`native`). For one text, a model's own ONNX
//! file is run by the runtime, loaded in the fastest way.

pub(crate) mod lanes;
pub(crate) mod native;
pub(crate) mod weights;

use std::path::{Path, PathBuf};

use super::cache::{self, CacheManifest};
use super::head::EncoderHead;
use super::names::NativeWeights;
use super::runtime::OnnxModel;
use super::single::native::{NativeEncoder, PassageEncoder};
use super::single::weights::Weights;
use super::tokenized::TokenEmbedder;
use super::{Embedder, InstalledModel, ModelEvent, ModelOptions, ModelTokenizer, graph, trust};
use crate::document::{Binding, Precision};
use crate::error::Result;

pub(super) fn open(
    installed: &InstalledModel,
    options: &ModelOptions,
    on_event: &mut dyn FnMut(ModelEvent),
) -> Result<Box<dyn Embedder>> {
    let Some(own) = graph::own_weights(installed) else {
        return Ok(Box::new(OnnxModel::open(installed, options, true, on_event)?));
    };
    let (encoder, tokenizer) = open_parts(installed, options, &own, on_event)?;
    Ok(Box::new(TokenEmbedder::new(installed, options, tokenizer, encoder)))
}

/// Opens a model for many texts, if kb is to compute them.
pub(super) fn open_passages(
    installed: &InstalledModel,
    options: &ModelOptions,
    on_event: &mut dyn FnMut(ModelEvent),
) -> Result<Option<Box<dyn Embedder>>> {
    let is_wanted =
        options.computes_passages && installed.binding(options).precision == Precision::Int8;
    let Some(own) = is_wanted.then(|| graph::own_weights(installed)).flatten() else {
        return Ok(None);
    };
    let (encoder, tokenizer) = open_parts(installed, options, &own, on_event)?;
    Ok(Some(Box::new(TokenEmbedder::new(
        installed,
        options,
        tokenizer,
        PassageEncoder::new(encoder)?,
    ))))
}

/// Opens the weights and the tokenizer, if possible the one next to the graph.
fn open_parts(
    installed: &InstalledModel,
    options: &ModelOptions,
    own: &NativeWeights,
    on_event: &mut dyn FnMut(ModelEvent),
) -> Result<(NativeEncoder, ModelTokenizer)> {
    let (encoder, place) = open_encoder(installed, options, own, on_event)?;
    let tokenizer = match place {
        Some(place) => ModelTokenizer::load_ready(&graph::words_file(&place), installed, options)?,
        None => ModelTokenizer::load(installed, options)?,
    };
    Ok((encoder, tokenizer))
}

/// Checks the files of a model and opens its weights. Returns also the directory of its graph.
fn open_encoder(
    installed: &InstalledModel,
    options: &ModelOptions,
    own: &NativeWeights,
    on_event: &mut dyn FnMut(ModelEvent),
) -> Result<(NativeEncoder, Option<PathBuf>)> {
    let binding = installed.binding(options);
    let precision = binding.precision;
    let mut manifest = CacheManifest::read(&installed.cache_dir);
    manifest.require(&trust::model(installed))?;
    // The graph itself is not used, but the rows are made with it.
    let place = match graph::find(installed, precision)? {
        Some(place) if graph::has_intact_rows(&mut manifest, &place)? => Some(place),
        // Without a writable cache, the rows are made in memory below.
        _ if !cache::is_writable(&installed.cache_dir) => None,
        _ => {
            OnnxModel::open(installed, options, false, on_event)?;
            graph::find(installed, precision)?
        }
    };
    manifest.keep();
    let num_threads = options.num_threads;
    let encoder = open_weights(installed, &binding, own, place.as_deref(), num_threads);
    match (encoder, place) {
        // The file of rows is damaged or missing. It is rebuilt with the graph.
        (Err(_), Some(place))
            if precision == Precision::Int8 && cache::is_writable(&installed.cache_dir) =>
        {
            graph::discard(&graph::rows_file(&place));
            OnnxModel::open(installed, options, false, on_event)?;
            let place = graph::find(installed, precision)?;
            let encoder = open_weights(installed, &binding, own, place.as_deref(), num_threads)?;
            Ok((encoder, place))
        }
        (encoder, place) => Ok((encoder?, place)),
    }
}

/// Opens the weights of a model; those in 8 bits from the directory of its graph, or made in memory if it has none.
fn open_weights(
    installed: &InstalledModel,
    binding: &Binding,
    own: &NativeWeights,
    place: Option<&Path>,
    num_threads: usize,
) -> Result<NativeEncoder> {
    let rows = match place {
        _ if binding.precision != Precision::Int8 => None,
        Some(place) => Some(Weights::open_derived(&graph::rows_file(place))?),
        None => Some(graph::rows(installed, own.names, &own.path)?),
    };
    let head = EncoderHead::open(&installed.facts, binding.dim)?;
    NativeEncoder::open(own, rows, &installed.facts, head, num_threads)
}
