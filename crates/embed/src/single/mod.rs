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
use super::names::TensorNames;
use super::runtime::OnnxModel;
use super::single::native::{NativeEncoder, Passages};
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
    let (encoder, tokenizer) = open_parts(installed, options, own, on_event)?;
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
    let (encoder, tokenizer) = open_parts(installed, options, own, on_event)?;
    Ok(Some(Box::new(TokenEmbedder::new(installed, options, tokenizer, Passages::new(encoder)?))))
}

/// Opens the weights and the tokenizer, if possible the one next to the graph.
fn open_parts(
    installed: &InstalledModel,
    options: &ModelOptions,
    (weights, names): (PathBuf, &'static TensorNames),
    on_event: &mut dyn FnMut(ModelEvent),
) -> Result<(NativeEncoder, ModelTokenizer)> {
    let (encoder, place) = open_encoder(installed, options, (&weights, names), on_event)?;
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
    (weights, names): (&Path, &'static TensorNames),
    on_event: &mut dyn FnMut(ModelEvent),
) -> Result<(NativeEncoder, Option<PathBuf>)> {
    let Binding { precision, dim, .. } = installed.binding(options);
    let mut manifest = CacheManifest::read(&installed.cache_dir);
    manifest.require(&trust::model(installed))?;
    // The graph itself is not used, but the rows are made with it.
    let place = match graph::find(installed, precision)? {
        Some(place) if graph::has_intact_rows(&mut manifest, &place)? => Some(place),
        // Made in memory below.
        _ if !cache::is_writable(&installed.cache_dir) => None,
        _ => {
            OnnxModel::open(installed, options, false, on_event)?;
            graph::find(installed, precision)?
        }
    };
    manifest.keep();
    let is_int8 = precision == Precision::Int8;
    let open = |place: Option<&Path>| {
        let rows = match place {
            _ if !is_int8 => None,
            Some(place) => Some(Weights::open_derived(&graph::rows_file(place))?),
            None => Some(graph::rows(installed, names, weights)?),
        };
        let head = EncoderHead::open(&installed.facts, dim)?;
        NativeEncoder::open(weights, rows, (&installed.facts, names), head, options.num_threads)
    };
    match (open(place.as_deref()), place) {
        // Damaged since it was written, or missing: it is made with the graph.
        (Err(_), Some(place)) if is_int8 && cache::is_writable(&installed.cache_dir) => {
            graph::discard(&graph::rows_file(&place));
            OnnxModel::open(installed, options, false, on_event)?;
            let place = graph::find(installed, precision)?;
            Ok((open(place.as_deref())?, place))
        }
        (encoder, place) => Ok((encoder?, place)),
    }
}
