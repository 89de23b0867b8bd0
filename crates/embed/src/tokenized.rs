//! Embeds text with any model that reads tokens.

use std::sync::Arc;

use super::token_codes::{self, QueryTokens};
use super::{QueryEmbedding, Side, Tokenizer};
use crate::document::{Binding, Embedding};
use crate::error::{Error, Result};

/// What a model computes for one text.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoded {
    /// The text's vector, of unit length.
    pub vector: Vec<f32>,
    /// The vectors of its tokens, special ones included, `[tokens, token_dim]`; of any length.
    pub tokens: Vec<f32>,
    /// Width of a token's vector.
    pub token_dim: usize,
}

/// A tokenizer and a model that computes vectors from its tokens: all that an
/// [`Embedder`](super::Embedder) needs.
pub trait TokenModel: Send + Sync {
    /// Returns the tokenizer.
    fn tokenizer(&self) -> &Tokenizer;

    /// Returns the binding of this model's vectors.
    fn bound_to(&self) -> &Binding;

    /// Whether passages are embedded with the codes of their tokens.
    fn keeps_tokens(&self) -> bool;

    /// Computes the vectors of one text, given as tokens.
    ///
    /// # Errors
    ///
    /// [`Error::Inference`] if the model fails, and errors of loading it.
    fn run(&self, ids: &[i64]) -> Result<Encoded>;
}

/// Implements [`Embedder`](super::Embedder) for a [`TokenModel`].
macro_rules! embeds_by_tokens {
    ($model:ty) => {
        impl crate::Embedder for $model {
            fn embed_passages(
                &self,
                passages: &[&str],
            ) -> crate::error::Result<Vec<crate::document::Embedding>> {
                // One by one: without padding no computation is wasted, and a batch gains nothing.
                let ids = |passage: &&str| self.tokenizer().encode_passage(passage);
                passages
                    .iter()
                    .map(|passage| crate::tokenized::embed(self, &ids(passage)?))
                    .collect()
            }

            fn embed_cut(
                &self,
                text: &str,
                side: crate::Side,
            ) -> crate::error::Result<(crate::document::Embedding, bool)> {
                let (ids, is_cut) = self.tokenizer().encode_cut(text, side)?;
                Ok((crate::tokenized::embed(self, &ids)?, is_cut))
            }

            fn embed_query(&self, query: &str) -> crate::error::Result<crate::QueryEmbedding> {
                crate::tokenized::embed_query(self, query)
            }

            fn num_tokens(&self, text: &str) -> usize {
                self.tokenizer().num_tokens(text)
            }

            fn num_unknown(&self, text: &str) -> usize {
                self.tokenizer().num_unknown(text)
            }

            fn binding(&self) -> &crate::document::Binding {
                self.bound_to()
            }
        }
    };
}

pub(crate) use embeds_by_tokens;

/// Embeds a query, cut at the model's limit.
pub(crate) fn embed_query(model: &impl TokenModel, query: &str) -> Result<QueryEmbedding> {
    let (ids, _) = model.tokenizer().encode_cut(query, Side::Query)?;
    let Encoded { vector, tokens, token_dim } = checked(model, &ids)?;
    let tokens = QueryTokens::new(&tokens, token_dim);
    Ok(QueryEmbedding { vector, tokens: Arc::new(tokens) })
}

/// Runs a model and encodes its tokens.
pub(crate) fn embed(model: &impl TokenModel, ids: &[i64]) -> Result<Embedding> {
    let Encoded { vector, tokens, token_dim } = checked(model, ids)?;
    let codes = model.keeps_tokens().then(|| token_codes::encode(&tokens, token_dim));
    Ok(Embedding { vector, codes })
}

/// Runs a model and refuses vectors that cannot be stored.
fn checked(model: &impl TokenModel, ids: &[i64]) -> Result<Encoded> {
    let encoded = model.run(ids)?;
    let Encoded { vector, tokens, token_dim } = &encoded;
    let is_complete = u32::try_from(vector.len()).is_ok_and(|dim| dim == model.bound_to().dim)
        && tokens.len().is_multiple_of(*token_dim);
    if !is_complete || !vector.iter().all(|number| number.is_finite()) {
        return Err(Error::Inference("the model returned an invalid vector".into()));
    }
    Ok(encoded)
}
