//! Embeds text with a static model: a table with a vector per token, without layers and without the
//! runtime library.
//!
//! sentence-transformers (`StaticEmbedding`) and `model2vec` write such tables. A text's vector is the
//! mean of its tokens' vectors, each times its weight if there are weights.

use super::cache::CacheManifest;
use super::facts::Family;
use super::head::EncoderHead;
use super::single::weights::Weights;
use super::tokenized::{EncodedText, TokenEmbedder, TokenModel};
use super::{InstalledModel, ModelOptions, ModelTokenizer, trust};
use crate::error::{Error, Result};

/// A weight per token; not every model has them.
const SHARES: &str = "weights";

/// A table of the vectors of tokens.
pub(crate) struct TableModel {
    weights: Weights,
    name: &'static str,
    dim: usize,
    /// Left out of every text.
    unknown: Option<i64>,
    head: EncoderHead,
}

impl TableModel {
    /// Checks the files of a model, and opens its tokenizer and the head of its table.
    pub(crate) fn open(
        installed: &InstalledModel,
        options: &ModelOptions,
    ) -> Result<TokenEmbedder<Self>> {
        let mut manifest = CacheManifest::read(&installed.cache_dir);
        manifest.require(&trust::model(installed))?;
        manifest.keep();
        let (weights, name) = Weights::open_table(&installed.model_dir)?;
        let tokenizer = ModelTokenizer::load(installed, options)?;
        let leaves_out = installed.facts.family == Family::Static { leaves_out_unknown: true };
        let model = Self {
            weights,
            name,
            dim: usize::try_from(installed.facts.dim).unwrap_or(usize::MAX),
            unknown: tokenizer.unknown().filter(|_| leaves_out),
            head: EncoderHead::open(&installed.facts, installed.binding(options).dim)?,
        };
        Ok(TokenEmbedder::new(installed, options, tokenizer, model))
    }
}

impl TokenModel for TableModel {
    fn run(&self, ids: &[i64]) -> Result<EncodedText> {
        let rows = self.weights.rows(self.name, [0, self.dim])?;
        let has_shares = self.weights.has(SHARES);
        let shares = has_shares.then(|| self.weights.vector(SHARES, rows.num_rows)).transpose()?;
        let (mut row, mut tokens) = (Vec::new(), Vec::with_capacity(ids.len() * self.dim));
        for id in ids.iter().filter(|id| Some(**id) != self.unknown) {
            let id = usize::try_from(*id).ok().filter(|id| *id < rows.num_rows);
            let id =
                id.ok_or_else(|| Error::Inference("a token is not in the model's table".into()))?;
            rows.read(id..id + 1, &mut row)?;
            let share = shares.as_ref().map_or(1.0, |shares| shares[id]);
            tokens.extend(row.iter().map(|number| number * share));
        }
        let mut vector = self.head.vector(&tokens, self.dim);
        if vector.iter().all(|number| *number == 0.0) {
            // A text without a known token needs a vector that has an angle to others.
            vector[0] = 1.0;
        }
        Ok(EncodedText { vector, tokens, token_dim: self.dim })
    }
}
