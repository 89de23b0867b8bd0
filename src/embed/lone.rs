//! An installed model in, an embedder out that is ready at once.
//!
//! 32-bit weights of a family kb knows are computed with here (`native`), without ONNX Runtime; for
//! everything else the runtime is loaded in the way that takes least time.

use std::path::Path;
use std::thread;

use super::facts::{Family, model_error};
use super::native::Encoder;
use super::{Embedder, Event, Installed, OnnxEmbedder, OpenOptions, Side, Tokenizer, graph};
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
    let binding = installed.binding(options);
    match graph::own_weights(installed) {
        Some((weights, family)) if binding.precision == Precision::Fp32 => {
            // The graph is not used, but what it was made from has been verified.
            if !graph::is_prepared(installed, binding.precision)? {
                OnnxEmbedder::open(installed, options, on_event)?;
            }
            Ok(Box::new(LoneEmbedder::open(installed, options, binding, &weights, family)?))
        }
        _ => Ok(Box::new(OnnxEmbedder::open_lone(installed, options, on_event)?)),
    }
}

impl LoneEmbedder {
    fn open(
        installed: &Installed,
        options: &OpenOptions,
        binding: Binding,
        weights: &Path,
        family: Family,
    ) -> Result<Self> {
        let (tokenizer, encoder) = thread::scope(|scope| {
            let tokenizer = scope.spawn(|| Tokenizer::load(installed, options));
            let encoder = Encoder::open(weights, &installed.facts, family, options.num_threads);
            (tokenizer.join(), encoder)
        });
        let tokenizer = tokenizer.map_err(|_| {
            model_error(&installed.model_dir.join("tokenizer.json"), "it cannot be read")
        })??;
        Ok(Self { tokenizer, binding, encoder: encoder? })
    }

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
