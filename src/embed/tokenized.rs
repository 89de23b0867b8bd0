//! Embeds text with any model that reads tokens.

use super::token_codes::{self, QueryTokens};
use super::{Embedder, QueryEmbedding, Side, Tokenizer};
use crate::document::{Binding, Embedding};
use crate::error::{Error, Result};

/// What a model computes for one text.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoded {
    /// The text's vector, of unit length.
    pub vector: Vec<f32>,
    /// The vectors of its tokens, `[tokens, dim]`, special ones included; of any length.
    pub tokens: Vec<f32>,
}

/// A tokenizer and a model that computes vectors from its tokens: all that an [`Embedder`] needs.
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

impl<M: TokenModel> Embedder for M {
    fn embed_passages(&self, passages: &[&str]) -> Result<Vec<Embedding>> {
        // One by one: without padding no computation is wasted, and a batch gains nothing.
        let embed = |passage: &&str| embed(self, &self.tokenizer().encode_passage(passage)?);
        passages.iter().map(embed).collect()
    }

    fn embed_cut(&self, text: &str, side: Side) -> Result<(Embedding, bool)> {
        let (ids, is_cut) = self.tokenizer().encode_cut(text, side)?;
        Ok((embed(self, &ids)?, is_cut))
    }

    fn embed_query(&self, query: &str) -> Result<QueryEmbedding> {
        let (ids, _) = self.tokenizer().encode_cut(query, Side::Query)?;
        let Encoded { vector, tokens } = checked(self, &ids)?;
        let tokens = QueryTokens::new(&tokens, vector.len());
        Ok(QueryEmbedding { vector, tokens })
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

/// Runs a model and encodes its tokens.
fn embed(model: &impl TokenModel, ids: &[i64]) -> Result<Embedding> {
    let Encoded { vector, tokens } = checked(model, ids)?;
    let codes = model.keeps_tokens().then(|| token_codes::encode(&tokens, vector.len()));
    Ok(Embedding { vector, codes })
}

/// Runs a model and refuses vectors that cannot be stored.
fn checked(model: &impl TokenModel, ids: &[i64]) -> Result<Encoded> {
    let encoded = model.run(ids)?;
    let Encoded { vector, tokens } = &encoded;
    let is_complete = u32::try_from(vector.len()).is_ok_and(|dim| dim == model.bound_to().dim)
        && tokens.len() == ids.len() * vector.len();
    if !is_complete || !vector.iter().all(|number| number.is_finite()) {
        return Err(Error::Inference("the model returned an invalid vector".into()));
    }
    Ok(encoded)
}
