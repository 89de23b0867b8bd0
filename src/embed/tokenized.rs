//! Embeds text with any model that reads tokens.

use super::{Embedder, Side, Tokenizer};
use crate::document::Binding;
use crate::error::{Error, Result};

/// A tokenizer and a model that computes vectors from its tokens: all that an [`Embedder`] needs.
pub trait TokenModel: Send + Sync {
    /// Returns the tokenizer.
    fn tokenizer(&self) -> &Tokenizer;

    /// Returns the binding of this model's vectors.
    fn bound_to(&self) -> &Binding;

    /// Computes the vector of one text, given as tokens.
    ///
    /// # Errors
    ///
    /// [`Error::Inference`] if the model fails, and errors of loading it.
    fn run(&self, ids: &[i64]) -> Result<Vec<f32>>;
}

impl<M: TokenModel> Embedder for M {
    fn embed_passages(&self, passages: &[&str]) -> Result<Vec<Vec<f32>>> {
        // One by one: without padding no computation is wasted, and a batch gains nothing.
        let embed = |passage: &&str| checked(self, &self.tokenizer().encode_passage(passage)?);
        passages.iter().map(embed).collect()
    }

    fn embed_cut(&self, text: &str, side: Side) -> Result<(Vec<f32>, bool)> {
        let (ids, is_cut) = self.tokenizer().encode_cut(text, side)?;
        Ok((checked(self, &ids)?, is_cut))
    }

    fn num_tokens(&self, text: &str) -> usize {
        self.tokenizer().num_tokens(text)
    }

    fn num_unknown(&self, text: &str) -> usize {
        self.tokenizer().num_unknown(text)
    }

    fn binding(&self) -> &Binding {
        self.bound_to()
    }
}

/// Runs a model and refuses vectors that cannot be stored.
fn checked(model: &impl TokenModel, ids: &[i64]) -> Result<Vec<f32>> {
    let vector = model.run(ids)?;
    let is_complete = u32::try_from(vector.len()).is_ok_and(|dim| dim == model.bound_to().dim);
    if !is_complete || !vector.iter().all(|number| number.is_finite()) {
        return Err(Error::Inference("the model returned an invalid vector".into()));
    }
    Ok(vector)
}
