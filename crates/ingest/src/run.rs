//! Names what one run of all stages works with.

use crate::embedder::Embedder;
use crate::options::IngestOptions;
use crate::report::{IngestReport, OnEvent};
use crate::store::Store;

/// One run of all stages.
pub struct IngestRun<'a> {
    /// Where documents are stored.
    pub store: &'a mut Store,
    /// Counts tokens, and embeds; called from several threads. Without one, tokens are estimated and documents get no
    /// vectors, which only a database without a model takes.
    pub embedder: Option<&'a dyn Embedder>,
    /// How documents are read and split.
    pub options: &'a IngestOptions,
    /// Receives events as they happen.
    pub on_event: &'a mut OnEvent<'a>,
    /// Counts the documents committed, even if an error stops the run.
    pub report: IngestReport,
}
