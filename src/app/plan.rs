//! Says what `kb add` would do, and writes nothing.

use crate::app::ingestion::options;
use crate::app::ingestion::request::{AddRequest, Source};
use crate::app::observer::Silent;
use crate::app::{Session, add, ingestion};
use crate::error::{Error, Result};
use crate::ingest::ChunkingOptions;
use crate::ingest::foresee::{Foreseen, foresee};

/// Returns what adding the files of a request would do with each of them. Without a database, none
/// is created, and every file is new. The model is not needed.
pub fn plan(session: &Session, request: &AddRequest) -> Result<Vec<Foreseen>> {
    if !matches!(request.source, Source::Paths(_)) {
        return Err(Error::usage("`--dry-run` is about files and folders"));
    }
    let roots = add::check(request)?;
    // Nothing is chunked, so the limits of the model do not matter.
    let options = options::ingest_options(session, request, ChunkingOptions::new(1, 0), &Silent)?;
    session.steadily(|| {
        let store = session.open_existing()?;
        let starts = ingestion::starts(session, store.as_ref(), &roots, options.wanted)?;
        foresee(&starts, &options, store.as_ref())
    })
}
