//! Opens a model for one text, ready at once.
//!
//! Weights of a family kb knows are computed with here (`native`), without ONNX Runtime; an ONNX file
//! of the model's own is run by the runtime, loaded in the way that takes least time.

pub(in crate::embed) mod lanes;
pub(in crate::embed) mod native;
pub(in crate::embed) mod weights;

use std::path::Path;
use std::thread;

use super::cache::Manifest;
use super::facts::model_error;
use super::single::native::Encoder;
use super::{Embedder, Event, Installed, OnnxEmbedder, OpenOptions, Side, Tokenizer, graph, trust};
use crate::document::{Binding, Precision};
use crate::error::{Error, Result};

/// A tokenizer and an encoder that computes one text at a time.
struct LoneEmbedder {
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
        return Ok(Box::new(OnnxEmbedder::open_lone(installed, options, on_event)?));
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
        // Damaged since it was written, or gone: it is made with the graph.
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
    Ok(Box::new(LoneEmbedder { tokenizer, binding, encoder: encoder? }))
}

impl LoneEmbedder {
    fn run(&self, ids: &[i64]) -> Result<Vec<f32>> {
        let vector = self.encoder.run(ids)?;
        if vector.iter().all(|it| it.is_finite()) {
            return Ok(vector);
        }
        Err(Error::Inference("the model gave no vector of finite numbers".into()))
    }
}

impl Embedder for LoneEmbedder {
    fn embed_passages(&self, passages: &[&str]) -> Result<Vec<Vec<f32>>> {
        passages.iter().map(|it| self.run(&self.tokenizer.encode_passage(it)?)).collect()
    }

    fn embed_cut(&self, text: &str, side: Side) -> Result<(Vec<f32>, bool)> {
        let (ids, is_cut) = self.tokenizer.encode_cut(text, side)?;
        Ok((self.run(&ids)?, is_cut))
    }

    fn num_tokens(&self, text: &str) -> usize {
        self.tokenizer.num_tokens(text)
    }

    fn num_unknown(&self, text: &str) -> usize {
        self.tokenizer.num_unknown(text)
    }

    fn binding(&self) -> &Binding {
        &self.binding
    }
}
