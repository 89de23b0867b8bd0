//! Follows the added folders and updates the files that change.
//!
//! Holds no lock and no connection while it waits. The events of the system only show where to look: each update
//! compares the files themselves, as `kb update` does.

mod following;
mod pending;
mod targets;

use std::mem;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::app::indexing::scope;
use crate::app::indexing::update::{UpdateReport, UpdateRequest, update};
use crate::app::session::absent;
use crate::app::session::message::MessageLevel;
use crate::app::session::observer::AppEvent;
use crate::app::{Observer, Session};
use crate::error::{Error, Result};
use crate::files::program;
use crate::files::watch::WatchChange;
use crate::ingest;
use crate::text::number::{counted, thousands};
use crate::text::paths;
use following::WatchedFolders;
use pending::{Batch, PendingChanges};

/// Time without a change after which a file is read: editors and downloads write in several steps.
pub const QUIET: Duration = Duration::from_millis(500);

/// Longest wait between two looks at the folders, the database and the flag that ends the run.
const TICK: Duration = Duration::from_millis(200);

/// Time from one summary to the next.
const SUMMARY_PERIOD: Duration = Duration::from_secs(60 * 60);

/// The paths to follow, and the options of the run.
#[derive(Debug, Clone, Default)]
pub struct WatchRequest {
    /// Absolute paths of added folders and files; if empty, everything that was added.
    pub named: Vec<PathBuf>,
    /// Whether a line every hour counts the events of that hour.
    pub has_summaries: bool,
    /// Ends the run after the current document when it is set.
    pub is_ended: Arc<AtomicBool>,
}

/// Updates everything once, then each file that changes, until `request.is_ended` is set. Reports one line
/// per change, and at the end one that counts them.
pub fn watch(session: &Session, request: &WatchRequest, observer: &dyn Observer) -> Result<()> {
    session.require_writable()?;
    if let Some(store) = session.open_existing()? {
        session.require_files(&store)?;
        let notes = session.unfollowed_notes(&store)?;
        if !notes.is_empty() && store.roots()?.is_empty() && store.known_files()?.is_empty() {
            return Err(Error::UntrustedBase { path: session.database() });
        }
        notes.iter().for_each(|note| observer.warn(note));
        // A path that was not added is reported before anything is followed.
        scope::read(session, &store, &request.named)?;
        store.close()?;
    }
    let lines = ChangeLineObserver {
        observer,
        is_ended: Arc::clone(&request.is_ended),
        counts: Mutex::default(),
    };
    let mut all = WatchCounts::default();
    let mut next_summary = Instant::now() + SUMMARY_PERIOD;
    let mut pending = PendingChanges::new(QUIET);
    let mut following = WatchedFolders::new(session, &request.named)?;
    observer.info(match following.num_folders() {
        0 if absent::is_empty(session)? => absent::no_documents().then(" Waiting."),
        0 => "no folders have been added yet; waiting".into(),
        num_folders => format!("watching {}", counted(num_folders, "folder")).into(),
    });
    // Everything is pending and quiet already, so the first update begins at once.
    pending.add_all(Instant::now() - QUIET);
    while !request.is_ended.load(Ordering::Relaxed) {
        let now = Instant::now();
        if now >= next_summary {
            next_summary = now + SUMMARY_PERIOD;
            let counts = lines.take_counts();
            all.add(counts);
            if request.has_summaries {
                observer.info(format!("in the last hour: {}", counts.text()));
            }
        }
        following.look_again(session, &mut pending, now)?;
        if let Some(batch) = pending.take(now) {
            match run(session, request, &following, &batch, &lines) {
                Err(Error::Cancelled) => break,
                Err(Error::Locked { .. }) => pending.put_back(batch, Instant::now()),
                other => other?,
            }
        }
        let mut change = following.next(pending.wait(Instant::now()).min(TICK));
        // The time is limited, so that a flood of changes keeps neither an update nor the end of the run waiting.
        let until = Instant::now() + TICK;
        while let Some(announced) = change {
            match announced {
                // Changes of kb's own files are ignored: each update writes them, so it would never end.
                WatchChange::At(path) if path.starts_with(session.data_dir()) => {}
                WatchChange::At(path) => pending.add(following.as_remembered(path), Instant::now()),
                WatchChange::Lost => pending.add_all(Instant::now()),
            }
            change = if Instant::now() < until { following.next(Duration::ZERO) } else { None };
        }
    }
    all.add(lines.take_counts());
    observer.info(format!("ended: {}", all.text()));
    Ok(())
}

/// Updates the files of a batch.
fn run(
    session: &Session,
    request: &WatchRequest,
    following: &WatchedFolders,
    batch: &Batch,
    lines: &ChangeLineObserver<'_>,
) -> Result<()> {
    if let Some(news) = program::news_of_replacement() {
        lines.observer.warn(news);
    }
    let everything = watched_update(request.named.clone());
    let report = match batch {
        Batch::Everything => update(session, &everything, lines)?,
        Batch::Paths(paths) => {
            let named = targets::targets(session, following, paths)?;
            if named.is_empty() {
                return Ok(());
            }
            match update(session, &watched_update(named), lines) {
                // A named folder has vanished meanwhile, so everything is updated.
                Err(Error::Usage { .. }) => update(session, &everything, lines)?,
                other => other?,
            }
        }
    };
    lines.report(&report, batch);
    Ok(())
}

fn watched_update(named: Vec<PathBuf>) -> UpdateRequest {
    UpdateRequest { named, is_watched: true, ..UpdateRequest::default() }
}

/// How many lines of each kind were reported.
#[derive(Debug, Clone, Copy, Default)]
struct WatchCounts {
    indexed: usize,
    moved: usize,
    missing: usize,
    failed: usize,
}

impl WatchCounts {
    fn add(&mut self, other: Self) {
        self.indexed += other.indexed;
        self.moved += other.moved;
        self.missing += other.missing;
        self.failed += other.failed;
    }

    fn text(self) -> String {
        let all = [
            (self.indexed, "indexed"),
            (self.moved, "moved"),
            (self.missing, "missing"),
            (self.failed, "failed"),
        ];
        let some = all.iter().filter(|(count, _)| *count > 0);
        let some: Vec<String> =
            some.map(|(count, what)| format!("{} {what}", thousands(*count))).collect();
        if some.is_empty() { "nothing has changed".to_owned() } else { some.join(", ") }
    }
}

/// Reports an update as one line per change, without progress.
struct ChangeLineObserver<'a> {
    observer: &'a dyn Observer,
    is_ended: Arc<AtomicBool>,
    counts: Mutex<WatchCounts>,
}

impl ChangeLineObserver<'_> {
    /// Reports a line, and counts it.
    fn line(&self, level: MessageLevel, text: String, count: fn(&mut WatchCounts) -> &mut usize) {
        *count(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner)) += 1;
        self.observer.say(level, text);
    }

    /// Returns the counts, and resets them.
    fn take_counts(&self) -> WatchCounts {
        mem::take(&mut self.counts.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reports the changes that no event has reported; those of other files in the same folder are not reported.
    fn report(&self, report: &UpdateReport, batch: &Batch) {
        for moved in &report.moves {
            let text = format!("moved: {} to {}", moved.from, moved.to);
            self.line(MessageLevel::Info, text, |counts| &mut counts.moved);
        }
        for missing in &report.missing {
            if batch.concerns(&paths::path_of(&missing.path)) {
                let text = format!("missing: {}", missing.path);
                self.line(MessageLevel::Info, text, |counts| &mut counts.missing);
            }
        }
        for (path, error) in &report.failed {
            // A refused link is reported by the update itself.
            if batch.concerns(path) && !matches!(error, Error::LinkRefused { .. }) {
                let text = error.text_about(path);
                self.line(MessageLevel::Failure, text, |counts| &mut counts.failed);
            }
        }
    }
}

impl Observer for ChangeLineObserver<'_> {
    fn on_event(&self, event: AppEvent<'_>) {
        match event {
            AppEvent::IngestBegins { .. } | AppEvent::IngestEnds { .. } => {}
            AppEvent::Ingest(ingest::IngestEvent::Stored { path: Some(path), .. }) => {
                let text = format!("indexed: {}", path.display());
                self.line(MessageLevel::Info, text, |counts| &mut counts.indexed);
            }
            AppEvent::Ingest(_) => {}
            other => self.observer.on_event(other),
        }
    }

    fn cancel_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::indexing::update::Move;
    use crate::ingest::survey::MissingFile;
    use crate::store::DocumentId;

    /// Keeps the lines.
    #[derive(Default)]
    struct Kept(Mutex<Vec<String>>);

    impl Observer for Kept {
        fn on_event(&self, event: AppEvent<'_>) {
            self.0.lock().unwrap().push(match event {
                AppEvent::Message(message) => message.line().to_string(),
                _ => "another event".to_owned(),
            });
        }
    }

    #[track_caller]
    fn check(report: &UpdateReport, expected: &[&str]) {
        let kept = Kept::default();
        let lines = ChangeLineObserver {
            observer: &kept,
            is_ended: Arc::default(),
            counts: Mutex::default(),
        };
        lines.report(report, &Batch::Paths(vec!["/notes".into()]));
        let counts = lines.take_counts();
        let all = counts.moved + counts.missing + counts.failed;
        assert_eq!(all, expected.len(), "{}", counts.text());
        assert_eq!(*kept.0.lock().unwrap(), expected);
    }

    #[test]
    fn only_what_has_happened_is_reported() {
        check(&UpdateReport::default(), &[]);
        check(&UpdateReport { unchanged: 7, added: 1, ..UpdateReport::default() }, &[]);
        let moved = Move { from: "/a".into(), to: "/b".into(), document_id: DocumentId(1) };
        let report = UpdateReport { moved: 1, moves: vec![moved], ..UpdateReport::default() };
        check(&report, &["moved: /a to /b"]);
    }

    #[test]
    fn files_outside_the_batch_are_not_reported() {
        let error = |path: &str| Error::PathNotFound { path: path.into() };
        let failed = ["/notes/a.pdf", "/other/a.pdf"].map(|path| (path.into(), error(path)));
        let refused = Error::LinkRefused { path: "/notes/b".into() };
        let mut report = UpdateReport { failed: failed.into(), ..UpdateReport::default() };
        report.failed.push(("/notes/b".into(), refused));
        check(&report, &[&format!("failed: {}", error("/notes/a.pdf"))]);
        let missing = ["/notes/a.md", "/other/a.md"].map(missing);
        let report = UpdateReport { missing: missing.into(), ..UpdateReport::default() };
        check(&report, &["missing: /notes/a.md"]);
    }

    #[test]
    fn counts_name_what_has_happened() {
        let mut counts = WatchCounts::default();
        assert_eq!(counts.text(), "nothing has changed");
        counts.add(WatchCounts { indexed: 1200, failed: 1, ..WatchCounts::default() });
        counts.add(WatchCounts { failed: 1, ..WatchCounts::default() });
        assert_eq!(counts.text(), "1,200 indexed, 2 failed");
    }

    fn missing(path: &str) -> MissingFile {
        MissingFile { path: path.to_owned(), document_id: DocumentId(1), is_elsewhere: false }
    }
}
