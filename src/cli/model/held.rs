//! Models that are loaded when they are needed first, and kept.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::cli::context::Context;
use crate::document::Binding;
use crate::embed::{Embedder, Installed, OnnxEmbedder, OpenOptions, Side, Tokenizer};
use crate::error::Result;
use crate::store::Store;

/// What answers one query after the other: a model that is loaded when the first comes, and the
/// connections that earlier ones have left.
#[derive(Default)]
pub(in crate::cli) struct Warm {
    slot: Mutex<Option<Arc<dyn Embedder>>>,
    stores: Mutex<Vec<Store>>,
}

impl Warm {
    /// Returns the database to read, `None` where there is none: opened, or left by an earlier query
    /// and still what would be opened.
    pub(in crate::cli) fn store(&self, context: &Context) -> Result<Option<Store>> {
        let left = self.stores().pop();
        match left.filter(Store::is_current) {
            Some(store) => Ok(Some(store)),
            None => context.open_existing(),
        }
    }

    /// Keeps a connection for the next query.
    pub(in crate::cli) fn give_back(&self, store: Store) {
        self.stores().push(store);
    }

    /// Closes all connections.
    pub(in crate::cli) fn close(&self) -> Result<()> {
        let stores = std::mem::take(&mut *self.stores());
        stores.into_iter().try_for_each(Store::close)
    }

    fn stores(&self) -> MutexGuard<'_, Vec<Store>> {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the embedder for vectors bound to `bound`, loading it if another one is loaded.
    pub(in crate::cli) fn get(
        &self,
        context: &Context,
        bound: Option<&Binding>,
    ) -> Result<Arc<dyn Embedder>> {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(embedder) = &*slot
            && bound.is_none_or(|it| it == embedder.binding())
        {
            return Ok(Arc::clone(embedder));
        }
        let embedder: Arc<dyn Embedder> =
            super::wish(context, bound)?.open_for_query(bound)?.into();
        *slot = Some(Arc::clone(&embedder));
        Ok(embedder)
    }
}

/// A model that is loaded when the first passage comes: a run that finds nothing new never
/// loads it.
pub(in crate::cli) struct LazyModel {
    /// Counts tokens as the model does.
    pub(in crate::cli) tokenizer: Tokenizer,
    binding: Binding,
    installed: Installed,
    options: OpenOptions,
    embedder: Mutex<Option<Arc<OnnxEmbedder>>>,
}

impl LazyModel {
    /// Keeps what is needed to load the model.
    pub(super) fn new(
        tokenizer: Tokenizer,
        binding: Binding,
        installed: Installed,
        options: OpenOptions,
    ) -> Self {
        Self { tokenizer, binding, installed, options, embedder: Mutex::new(None) }
    }

    /// Loads the model, if that has not happened yet.
    pub(in crate::cli) fn get(&self) -> Result<Arc<OnnxEmbedder>> {
        let mut slot = self.embedder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(embedder) = &*slot {
            return Ok(Arc::clone(embedder));
        }
        let embedder = Arc::new(super::open(&self.installed, &self.options)?);
        *slot = Some(Arc::clone(&embedder));
        Ok(embedder)
    }
}

impl Embedder for LazyModel {
    fn embed_passages(&self, passages: &[&str]) -> Result<Vec<Vec<f32>>> {
        self.get()?.embed_passages(passages)
    }

    fn embed_cut(&self, text: &str, side: Side) -> Result<(Vec<f32>, bool)> {
        self.get()?.embed_cut(text, side)
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
