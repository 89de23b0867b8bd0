//! Text in, unit vectors out.

use crate::document::Binding;
use crate::error::Result;

/// Turns text into vectors of unit length.
pub trait Embedder: Send + Sync {
    /// Embeds passages, prefix of the model or the configuration included.
    ///
    /// Returns `[passages][dim]`, unit length, in the order given. Each vector depends on its own
    /// passage only. A passage longer than the model reads is an error, never cut silently.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Inference`] when the model fails.
    fn embed_passages(&self, passages: &[&str]) -> Result<Vec<Vec<f32>>>;

    /// Embeds a query; a query longer than the model reads is cut at its limit.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Inference`] when the model fails.
    fn embed_query(&self, query: &str) -> Result<Vec<f32>>;

    /// What vectors of this embedder are bound to.
    fn binding(&self) -> &Binding;
}
