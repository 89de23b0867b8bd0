//! Opens a model for one text, with a fast start.
//!
//! Weights of a family that kb knows are multiplied here (`native`), without ONNX Runtime; a
//! model's own ONNX file is run by the runtime, loaded in the fastest way.

pub(in crate::embed) mod lanes;
pub(in crate::embed) mod native;
pub(in crate::embed) mod weights;

use std::path::Path;
use std::thread;

use super::cache::Manifest;
use super::facts::model_error;
use super::single::native::Encoder;
use super::tokenized::TokenModel;
use super::{Embedder, Event, Installed, OnnxEmbedder, OpenOptions, Tokenizer, graph, trust};
use crate::document::{Binding, Precision};
use crate::error::Result;

/// A tokenizer and an encoder that embeds one text at a time.
struct SingleEmbedder {
    tokenizer: Tokenizer,
    binding: Binding,
    encoder: Encoder,
}

pub(super) fn open(
    installed: &Installed,
    options: &OpenOptions,
    on_event: &mut dyn FnMut(Event),
) -> Result<Box<dyn Embedder>> {
    let Some((weights, names)) = graph::own_weights(installed) else {
        return Ok(Box::new(OnnxEmbedder::open_single(installed, options, on_event)?));
    };
    let binding = installed.binding(options);
    let mut manifest = Manifest::read(&installed.cache_dir);
    manifest.require(&trust::model(installed))?;
    // The graph itself is not used, but the rows are made with it.
    let place = match graph::find(installed, binding.precision)? {
        Some(place) if graph::has_intact_rows(&mut manifest, &place)? => Some(place),
        _ => {
            OnnxEmbedder::open(installed, options, on_event)?;
            graph::find(installed, binding.precision)?
        }
    };
    manifest.keep();
    let place = place.filter(|_| binding.precision == Precision::Int8);
    let open = |place: Option<&Path>| {
        let rows = place.map(graph::rows_file);
        Encoder::open(&weights, rows.as_deref(), &installed.facts, names, options.num_threads)
    };
    let (tokenizer, encoder) = thread::scope(|scope| {
        let tokenizer = scope.spawn(|| Tokenizer::load(installed, options));
        (tokenizer.join(), open(place.as_deref()))
    });
    let encoder = match (encoder, place) {
        // Damaged since it was written, or missing: it is made with the graph.
        (Err(_), Some(place)) => {
            graph::discard(&graph::rows_file(&place));
            OnnxEmbedder::open(installed, options, on_event)?;
            open(graph::find(installed, binding.precision)?.as_deref())
        }
        (encoder, _) => encoder,
    };
    let tokenizer = tokenizer.map_err(|_| {
        model_error(&installed.model_dir.join("tokenizer.json"), "it cannot be read")
    })??;
    Ok(Box::new(SingleEmbedder { tokenizer, binding, encoder: encoder? }))
}

impl TokenModel for SingleEmbedder {
    fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    fn bound_to(&self) -> &Binding {
        &self.binding
    }

    fn run(&self, ids: &[i64]) -> Result<Vec<f32>> {
        self.encoder.run(ids)
    }
}
