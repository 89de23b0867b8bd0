//! Keeps the connections and models that a session has opened.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use crate::app::push::KeptLink;
use crate::embed::Embedder;
use crate::store::Store;

/// What a session has opened.
#[derive(Default)]
pub(super) struct Opened {
    /// The loaded models, each loaded by the first query that needs it. Sessions of several knowledge bases
    /// share them.
    pub(super) models: Arc<Mutex<Vec<Arc<dyn Embedder>>>>,
    /// Whether the user was told that files are not followed.
    pub(super) was_warned: AtomicBool,
    /// Read connections kept by earlier queries.
    pub(super) stores: Mutex<Vec<Store>>,
    /// The connection to PostgreSQL kept by an earlier query.
    pub(super) kept_link: Mutex<Option<KeptLink>>,
}

impl Opened {
    /// Returns nothing opened but the models of another session.
    pub(super) fn sharing_models(other: &Self) -> Self {
        Self { models: Arc::clone(&other.models), ..Self::default() }
    }
}
