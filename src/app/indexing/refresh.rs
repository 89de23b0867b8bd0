//! Reads the changed files of hits again, before a search is repeated.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::app::indexing::ingestion::options::is_claimed;
use crate::app::indexing::ingestion::request::{AddRequest, DocumentSource};
use crate::app::indexing::ingestion::{Walks, ingest};
use crate::app::session::observer::AppEvent;
use crate::app::{Observer, Session};
use crate::document::{DocType, StaleReason};
use crate::error::Result;
use crate::ingest::roots::Roots;
use crate::ingest::walk::Start;
use crate::search::Hit;
use crate::text::paths;

/// Reads the changed files of hits again within `search.refresh_ms`, and returns whether the search should
/// be repeated. A file that cannot be read again keeps its mark, so a search never fails here.
pub(crate) fn refresh(session: &Session, hits: &[Hit], observer: &dyn Observer) -> bool {
    let changed = hits.iter().filter(|hit| hit.stale == Some(StaleReason::Changed));
    // PDFs and pictures are left out: reading one may take seconds, most of all with OCR.
    let quick = changed.filter(|hit| hit.stored.doc_type != DocType::Pdf);
    let changed: BTreeSet<&str> = quick.filter_map(|hit| hit.stored.path.as_deref()).collect();
    if changed.is_empty() {
        return false;
    }
    match read_again(session, &changed) {
        Ok(()) => true,
        Err(error) => {
            observer.detail(format!("changed files were not re-indexed: {error}"));
            // Some files may have been stored before the error, so the search is repeated.
            true
        }
    }
}

/// Reads remembered files as `kb update` does.
fn read_again(session: &Session, changed: &BTreeSet<&str>) -> Result<()> {
    let limit = Duration::from_millis(session.config().search.refresh_ms.into());
    let within = TimeLimitObserver { deadline: Instant::now() + limit, is_over: Arc::default() };
    let starts = starts(session, changed)?;
    let Some(left) = within.left().filter(|_| !starts.is_empty()) else { return Ok(()) };
    let request =
        AddRequest { time_limit: Some(left), ..AddRequest::of(DocumentSource::Paths(Vec::new())) };
    ingest(session, &request, Walks::Known(&starts), &within)?;
    Ok(())
}

/// Returns the files to read. A file that may not be opened is left out, and keeps its mark.
fn starts(session: &Session, changed: &BTreeSet<&str>) -> Result<Vec<Start>> {
    let Some(store) = session.open_existing()? else { return Ok(Vec::new()) };
    let roots = Roots::of(&store, session.config().ingestion.follow_links)?;
    let mut starts = Vec::new();
    for path in changed {
        if let Some(known) = store.known_path(path)? {
            let is_claimed = is_claimed(session, &paths::path_of(path));
            let language = known.language.as_deref();
            starts.extend(roots.start_of_file(&known.stamp, known.doc_type, language, is_claimed));
        }
    }
    store.close()?;
    Ok(starts)
}

/// Ends a run after the current document when the time is over. Reports nothing.
struct TimeLimitObserver {
    deadline: Instant,
    is_over: Arc<AtomicBool>,
}

impl TimeLimitObserver {
    /// Returns the time left; `None` if it is over.
    fn left(&self) -> Option<Duration> {
        self.deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }
}

impl Observer for TimeLimitObserver {
    fn on_event(&self, _: AppEvent<'_>) {
        if self.left().is_none() {
            self.is_over.store(true, Ordering::Relaxed);
        }
    }

    fn cancel_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_over)
    }
}
