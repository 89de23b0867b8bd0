//! Loads a model when it is first needed.

use std::sync::{Arc, Mutex, PoisonError};

use crate::app::Observer;
use crate::document::Binding;
use crate::embed::{Encoded, Installed, OnnxEmbedder, OpenOptions, TokenModel, Tokenizer};
use crate::error::Result;

/// A model that is loaded for the first passage. A run that finds nothing new never loads it.
pub struct LazyModel<'a> {
    /// The model's tokenizer.
    pub tokenizer: Tokenizer,
    binding: Binding,
    installed: Installed,
    options: OpenOptions,
    embedder: Mutex<Option<Arc<OnnxEmbedder>>>,
    observer: &'a dyn Observer,
}

impl<'a> LazyModel<'a> {
    /// Creates a model that is not loaded yet.
    pub(super) fn new(
        tokenizer: Tokenizer,
        binding: Binding,
        installed: Installed,
        options: OpenOptions,
        observer: &'a dyn Observer,
    ) -> Self {
        Self { tokenizer, binding, installed, options, embedder: Mutex::new(None), observer }
    }

    /// Returns the model, loading it on the first call.
    ///
    /// # Errors
    ///
    /// Errors of opening the model.
    pub fn get(&self) -> Result<Arc<OnnxEmbedder>> {
        let mut slot = self.embedder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(embedder) = &*slot {
            return Ok(Arc::clone(embedder));
        }
        let embedder = Arc::new(super::open(&self.installed, &self.options, self.observer)?);
        *slot = Some(Arc::clone(&embedder));
        Ok(embedder)
    }
}

impl TokenModel for LazyModel<'_> {
    fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    fn bound_to(&self) -> &Binding {
        &self.binding
    }

    fn keeps_tokens(&self) -> bool {
        self.options.keeps_tokens
    }

    fn run(&self, ids: &[i64]) -> Result<Encoded> {
        self.get()?.run(ids)
    }
}
