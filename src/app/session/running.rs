//! Tells other processes that a run stores documents, so that they do not report the rest as missing.
//!
//! The run keeps a line next to the database for as long as it works ([`LiveLine`]); a process that searches reads it. It may be
//! in a folder of someone else, so only a known command and two numbers are taken from it.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::session::observer::AppEvent;
use crate::app::{Observer, Session};
use crate::extract::detect::is_claimed;
use crate::files::live::{LiveLine, live_line};
use crate::files::write::side_file;
use crate::ingest;
use crate::ingest::walk::{Start, WalkOptions, walk};
use crate::text::number::{counted, thousands};
use crate::text::{fields, paths};
use crate::wording::{Wording, kb, wording};

/// The end of the name of the file, after the name of the database.
const END: &str = "-run";

/// The line is written at most this often: it is for people.
const INTERVAL: Duration = Duration::from_millis(500);

/// Only a run that still stores documents after this time walks all folders to count the files. If all files are
/// unchanged, no document is missing.
const COUNT_AFTER: Duration = Duration::from_secs(1);

fields::words! {
    /// A command that works on documents until it has seen all of them.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub enum LongCommand {
        /// `kb add`.
        #[default]
        Add = "add",
        /// `kb update`.
        Update = "update",
        /// `kb watch`, while it reads what has changed.
        Watch = "watch",
        /// `kb reindex`.
        Reindex = "reindex",
    }
}

/// A run of another process that stores documents now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OngoingRun {
    /// The command: `add`, `update`, `watch` or `reindex`.
    pub command: LongCommand,
    /// Files whose documents are stored, or with `reindex` chunks that have the new vectors; null if that is not known.
    #[serde(rename = "stored")]
    pub num_stored: Option<u64>,
    /// All of them; null if that is not known yet.
    pub total: Option<u64>,
}

impl OngoingRun {
    /// Returns the run that stores documents in the database of a session.
    pub fn of(session: &Session) -> Option<Self> {
        Self::read(&live_line(&side_file(&session.database(), END))?)
    }

    /// Reads the line of a run: its command, and perhaps its progress and its total.
    fn read(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let word = words.next().unwrap_or_default();
        let command = LongCommand::ALL.into_iter().find(|command| command.as_str() == word)?;
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
        let (num_stored, total) = (number(), number());
        let total = total.filter(|total| num_stored.is_some_and(|stored| stored <= *total));
        Some(Self { command, num_stored, total })
    }

    fn line(self) -> String {
        let numbers = [self.num_stored, self.total].into_iter().map_while(|number| number);
        numbers.fold(self.command.as_str().to_owned(), |line, number| format!("{line} {number}"))
    }
}

/// Which command is running and how far it is, for people.
impl From<OngoingRun> for Wording {
    fn from(run: OngoingRun) -> Self {
        let (thing, done) = match run.command {
            LongCommand::Reindex => ("chunk", "have new vectors"),
            LongCommand::Add | LongCommand::Update | LongCommand::Watch => ("file", "are stored"),
        };
        let progress = match (run.num_stored, run.total) {
            // A count of one file says nothing: it is stored or not.
            (_, Some(..=1)) | (None, _) => String::new(),
            (Some(stored), Some(total)) => {
                format!(", {} of {} {done}", thousands(stored), counted(total, thing))
            }
            (Some(stored), None) => format!(", {} so far", counted(stored, thing)),
        };
        wording!("`{}` is running{}", kb(run.command.as_str()), progress)
    }
}

/// Reports that a run stores documents now.
pub fn note(session: &Session, observer: &dyn Observer) {
    if let Some(run) = OngoingRun::of(session) {
        observer.note(run);
    }
}

/// The announcement of a run of this process, until it is dropped. Failing to announce it is no reason to fail.
pub(crate) struct Announcement {
    line: Option<LiveLine>,
    run: OngoingRun,
    begin: Instant,
    last_written: Option<Instant>,
    /// The walk that counts the files, until they are counted.
    to_count: Option<(Vec<Start>, WalkOptions)>,
    num_files: Arc<OnceLock<u64>>,
}

impl Announcement {
    /// Announces a run. If there are two at once, other processes see the first.
    pub(crate) fn begin(session: &Session, command: LongCommand) -> Self {
        let line = LiveLine::begin(&side_file(&session.database(), END)).ok().flatten();
        let run = OngoingRun { command, num_stored: None, total: None };
        let mut announcement = Self {
            line,
            run,
            begin: Instant::now(),
            last_written: None,
            to_count: None,
            num_files: Arc::default(),
        };
        announcement.write();
        announcement
    }

    /// Says which files the run reads, so that they are counted if it takes long.
    pub(crate) fn will_read(&mut self, starts: &[Start], options: &WalkOptions) {
        self.to_count = self.line.is_some().then(|| (starts.to_vec(), options.clone()));
    }

    /// Says how far the run is.
    pub(crate) fn progress(&mut self, num_stored: u64, total: Option<u64>) {
        (self.run.num_stored, self.run.total) = (Some(num_stored), total);
        if self.last_written.is_none_or(|last| last.elapsed() >= INTERVAL) {
            self.write();
        }
    }

    /// Follows an event of a run over files.
    pub(crate) fn on_event(&mut self, event: &ingest::IngestEvent<'_>) {
        if self.line.is_none() {
            return;
        }
        let path = match event {
            ingest::IngestEvent::Stored { path, .. }
            | ingest::IngestEvent::Skipped { path, .. } => *path,
            _ => None,
        };
        // Members of archives are not among the files that are counted.
        let is_file =
            path.is_some_and(|path| paths::split_member(&paths::path_text(path)).1.is_none());
        let num_stored = self.run.num_stored.unwrap_or(0) + u64::from(is_file);
        if matches!(event, ingest::IngestEvent::Stored { .. })
            && self.begin.elapsed() >= COUNT_AFTER
            && let Some((starts, options)) = self.to_count.take()
        {
            let counted = Arc::clone(&self.num_files);
            thread::spawn(move || {
                let files = walk(&starts, &options).flatten();
                let files = files.filter(|file| is_claimed(&file.path, &options.text_extensions));
                // Setting cannot fail: the cell is set only here.
                let _ = counted.set(files.count() as u64);
            });
        }
        let total = self.num_files.get().map(|total| num_stored.max(*total));
        self.progress(num_stored, total);
    }

    fn write(&mut self) {
        if let Some(line) = &mut self.line {
            // An error is ignored: if the disk is full, the run itself fails.
            let _ = line.set(&self.run.line());
            self.last_written = Some(Instant::now());
        }
    }
}

/// The announcement of a run that says how far it is by [`AppEvent::Counted`]; all events are passed on.
pub(crate) struct AnnouncedCounts<'a> {
    announcement: Mutex<Announcement>,
    observer: &'a dyn Observer,
}

impl<'a> AnnouncedCounts<'a> {
    /// Announces a run.
    pub(crate) fn begin(
        session: &Session,
        command: LongCommand,
        observer: &'a dyn Observer,
    ) -> Self {
        Self { announcement: Mutex::new(Announcement::begin(session, command)), observer }
    }
}

impl Observer for AnnouncedCounts<'_> {
    fn on_event(&self, event: AppEvent<'_>) {
        if let AppEvent::Counted { num_done, total, .. } = event {
            let mut announcement = self.announcement.lock().unwrap_or_else(PoisonError::into_inner);
            announcement.progress(num_done, Some(total));
        }
        self.observer.on_event(event);
    }

    fn cancel_flag(&self) -> Arc<AtomicBool> {
        self.observer.cancel_flag()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::app::indexing::ingestion::options::walk_options;
    use crate::app::testing::World;
    use crate::store::DocumentId;

    #[track_caller]
    fn check(line: &str, shown: Option<&str>) {
        let wording = OngoingRun::read(line).map(|run| Wording::from(run).to_string());
        assert_eq!(wording.as_deref(), shown);
    }

    #[test]
    fn a_line_is_a_command_and_two_numbers_or_nothing() {
        check("add 242 1788", Some("`kb add` is running, 242 of 1,788 files are stored"));
        check("watch 3", Some("`kb watch` is running, 3 files so far"));
        check("reindex 1 2", Some("`kb reindex` is running, 1 of 2 chunks have new vectors"));
        for line in ["update", "update 0 1", "update x 9", "update -1 9"] {
            check(line, Some("`kb update` is running"));
        }
        check("update 9 8 \u{1b}[31m", Some("`kb update` is running, 9 files so far"));
        for line in ["", "rm 1 2", "add\u{1b}[31m 1 2", "add;reboot"] {
            check(line, None);
        }
    }

    #[test]
    fn files_are_counted_when_a_long_run_stores_one() {
        let world = World::new();
        world.session.make_data_dir().unwrap();
        let mut announcement = Announcement::begin(&world.session, LongCommand::Update);
        announcement.will_read(&[], &walk_options(&world.session, false));
        let path = Some(Path::new("note.md"));
        let stored = ingest::IngestEvent::Stored { path, num_chunks: 1, warnings: &[] };
        announcement.on_event(&stored);
        assert!(announcement.to_count.is_some(), "the run has just begun");
        announcement.begin = Instant::now().checked_sub(COUNT_AFTER).unwrap();
        announcement.on_event(&ingest::IngestEvent::Skipped { path, document_id: DocumentId(1) });
        assert!(announcement.to_count.is_some(), "no document is missing yet");
        announcement.on_event(&stored);
        assert!(announcement.to_count.is_none(), "the files are being counted");
    }

    #[test]
    fn a_run_is_seen_until_it_ends() {
        let world = World::new();
        let session = &world.session;
        assert_eq!(OngoingRun::of(session), None);
        session.make_data_dir().unwrap();
        let mut announcement = Announcement::begin(session, LongCommand::Update);
        let seen = || OngoingRun::of(session).unwrap();
        assert_eq!((seen().command, seen().num_stored), (LongCommand::Update, None));
        announcement.last_written = None;
        announcement.progress(3, Some(8));
        assert_eq!((seen().num_stored, seen().total), (Some(3), Some(8)));
        let second = Announcement::begin(session, LongCommand::Add);
        drop(second);
        assert_eq!(seen().command, LongCommand::Update, "the first is still there");
        drop(announcement);
        assert_eq!(OngoingRun::of(session), None);
    }
}
