//! Loads a model when it is first needed.

use std::sync::{Arc, Mutex, PoisonError};

use crate::app::session::observer::{AppEvent, Observer};
use crate::document::{Binding, Embedding};
use crate::embed::{
    self, Embedder, EmbeddingSide, InstalledModel, ModelOptions, ModelTokenizer, QueryEmbedding,
};
use crate::error::Result;

/// A model that is loaded for the first passage. A run that finds nothing new never loads it.
pub struct LazyModel<'a> {
    /// The model's tokenizer.
    pub tokenizer: ModelTokenizer,
    binding: Binding,
    installed: InstalledModel,
    options: ModelOptions,
    embedder: Mutex<Option<Arc<dyn Embedder>>>,
    observer: &'a dyn Observer,
}

impl<'a> LazyModel<'a> {
    /// Creates a model that is not loaded yet.
    pub(crate) fn new(
        tokenizer: ModelTokenizer,
        binding: Binding,
        installed: InstalledModel,
        options: ModelOptions,
        observer: &'a dyn Observer,
    ) -> Self {
        Self { tokenizer, binding, installed, options, embedder: Mutex::new(None), observer }
    }

    /// Returns the model, loading it on the first call.
    pub fn get(&self) -> Result<Arc<dyn Embedder>> {
        let mut slot = self.embedder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(embedder) = &*slot {
            return Ok(Arc::clone(embedder));
        }
        let embedder: Arc<dyn Embedder> =
            open(&self.installed, &self.options, self.observer)?.into();
        *slot = Some(Arc::clone(&embedder));
        Ok(embedder)
    }
}

impl Embedder for LazyModel<'_> {
    fn embed_passages(&self, passages: &[&str]) -> Result<Vec<Embedding>> {
        self.get()?.embed_passages(passages)
    }

    fn embed_cut(&self, text: &str, side: EmbeddingSide) -> Result<(Embedding, bool)> {
        self.get()?.embed_cut(text, side)
    }

    fn embed_query(&self, query: &str) -> Result<QueryEmbedding> {
        self.get()?.embed_query(query)
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

/// Loads a model.
pub(crate) fn open(
    installed: &InstalledModel,
    options: &ModelOptions,
    observer: &dyn Observer,
) -> Result<Box<dyn Embedder>> {
    embed::open(installed, options, &mut |event| observer.on_event(AppEvent::Fetch(event)))
}
