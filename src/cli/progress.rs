//! Events in, progress on stderr out: bars on a terminal, silence in a pipe.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::context;
use crate::cli::voice;
use crate::embed;
use crate::error::Error;
use crate::ingest;
use crate::present::clean::clean;
use crate::present::number::counted;

/// How often a bar moves when nothing happens.
const TICK: Duration = Duration::from_millis(120);

/// Documents whose notes of one kind are said one by one: a folder of photographs would fill the
/// screen.
const MAX_NOTES: u64 = 10;

/// Draws downloads and says where they come from and go to.
pub(super) struct FetchProgress {
    bars: MultiProgress,
    by_file: HashMap<String, ProgressBar>,
}

impl FetchProgress {
    pub(super) fn new() -> Self {
        Self { bars: MultiProgress::with_draw_target(target()), by_file: HashMap::new() }
    }

    pub(super) fn on_event(&mut self, event: embed::Event) {
        match event {
            embed::Event::Found { .. } => {}
            embed::Event::Fetching { what, source, size_mb, destination } => {
                let size = size_mb.map(|it| format!(" ({it} MB)")).unwrap_or_default();
                self.say(&format!(
                    "Fetching {what}{size} from {source} to {}",
                    destination.display()
                ));
            }
            embed::Event::Progress { file, done_bytes, total_bytes } => {
                let bars = &self.bars;
                let bar = self.by_file.entry(file).or_insert_with_key(|file| {
                    let style = style("{msg} {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}");
                    let bar = ProgressBar::new(total_bytes).with_style(style);
                    bars.add(bar).with_message(clean(file))
                });
                bar.set_position(done_bytes);
                if done_bytes >= total_bytes {
                    bar.finish_and_clear();
                }
            }
            embed::Event::Fetched { what, path } => {
                self.say(&format!("Fetched {what}: {}", path.display()));
            }
            embed::Event::SourceFailed { what, source, reason } => {
                self.say(&format!("{what} is not to be had from {source}: {reason}"));
            }
            embed::Event::Waiting => self.say("Waiting for another kb that fetches or prepares..."),
            embed::Event::Optimising => self.say(embed::OPTIMISING),
        }
    }

    fn say(&self, text: &str) {
        self.bars.suspend(|| voice::say(text));
    }
}

/// Draws a run of `kb add` and writes what failed to the log.
pub(super) struct IngestProgress {
    bar: ProgressBar,
    num_done: u64,
    num_chunks: u64,
    num_failed: u64,
    /// Notes by their words without numbers: how many there were, and the last of them.
    notes: BTreeMap<String, (u64, String)>,
    log: ErrorLog,
    now: fn() -> String,
    is_lone: bool,
}

impl IngestProgress {
    /// `is_lone`: one file was named, whose failure is the command's own and not said here.
    pub(super) fn new(log: PathBuf, now: fn() -> String, is_lone: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), target())
            .with_style(style("{bar:30} {pos}/{len} files, {msg}, {eta} left"));
        bar.enable_steady_tick(TICK);
        Self {
            bar,
            num_done: 0,
            num_chunks: 0,
            num_failed: 0,
            notes: BTreeMap::new(),
            log: ErrorLog { path: log, file: None },
            now,
            is_lone,
        }
    }

    pub(super) fn on_event(&mut self, event: &ingest::Event<'_>) {
        match *event {
            ingest::Event::Found { num_files } => self.bar.set_length(num_files as u64),
            ingest::Event::Stored { path, num_chunks, warnings } => {
                self.num_chunks += num_chunks as u64;
                self.detail("stored", path, &format!(" ({})", counted(num_chunks, "chunk")));
                for warning in warnings {
                    self.note(path, warning);
                }
                self.advance();
            }
            ingest::Event::Skipped { path, .. } => {
                self.detail("unchanged", path, "");
                self.advance();
            }
            ingest::Event::Ignored => self.advance(),
            ingest::Event::Failed { path, error } => {
                self.num_failed += 1;
                match error.path() {
                    _ if self.is_lone => {}
                    Some(_) => self.bar.suspend(|| voice::fail(&error.to_string())),
                    None => {
                        let text = format!("{}: {error}", path.display());
                        self.bar.suspend(|| voice::fail(&text));
                    }
                }
                self.log.append(&(self.now)(), path, error);
                self.advance();
            }
        }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
        for (count, last) in self.notes.values().filter(|(count, _)| *count > MAX_NOTES) {
            self.say(&format!("note: {} more documents: {last}", count - MAX_NOTES));
        }
    }

    fn note(&mut self, path: Option<&Path>, warning: &str) {
        let kind = warning.chars().filter(|it| !it.is_ascii_digit()).collect();
        let (count, last) = self.notes.entry(kind).or_default();
        *count += 1;
        warning.clone_into(last);
        if *count <= MAX_NOTES {
            let name = path.map(|it| it.display().to_string()).unwrap_or_default();
            self.say(&format!("note: {name}: {warning}"));
        }
    }

    /// Returns how many of the files found so far nothing was done with.
    pub(super) fn num_left(&self) -> u64 {
        self.bar.length().unwrap_or(0).saturating_sub(self.num_done)
    }

    fn advance(&mut self) {
        self.num_done += 1;
        self.bar.set_position(self.num_done);
        let seconds = self.bar.elapsed().as_secs_f64().max(f64::MIN_POSITIVE);
        #[expect(clippy::cast_precision_loss, reason = "shown without decimals")]
        let rate = self.num_chunks as f64 / seconds;
        let failed = match self.num_failed {
            0 => String::new(),
            count => format!(", {count} failed"),
        };
        self.bar.set_message(format!("{} chunks ({rate:.0}/s){failed}", self.num_chunks));
    }

    fn say(&self, text: &str) {
        self.bar.suspend(|| voice::say(text));
    }

    fn detail(&self, what: &str, path: Option<&Path>, more: &str) {
        if !voice::is_detailed() {
            return;
        }
        let name = path.map_or_else(|| "the note".into(), |it| it.display().to_string());
        self.bar.suspend(|| voice::detail(&format!("{what}: {name}{more}")));
    }
}

/// The list of files that could not be ingested, kept over runs; one line each: time, path, code,
/// message, separated by tabs.
struct ErrorLog {
    path: PathBuf,
    file: Option<File>,
}

impl ErrorLog {
    /// A log that cannot be written is said once and fails nothing.
    fn append(&mut self, now: &str, path: &Path, error: &Error) {
        if self.file.is_none() {
            match context::open_private(&self.path, OpenOptions::new().append(true)) {
                Ok(file) => self.file = Some(file),
                Err(cause) => {
                    voice::warn(&format!("cannot write {}: {cause}", self.path.display()));
                    return;
                }
            }
        }
        let (path, message) = (clean(&path.display().to_string()), clean(&error.to_string()));
        if let Some(file) = &mut self.file
            && let Err(cause) = writeln!(file, "{now}\t{path}\t{}\t{message}", error.code())
        {
            voice::warn(&format!("cannot write {}: {cause}", self.path.display()));
        }
    }
}

/// Bars appear on a terminal only.
pub(super) fn target() -> ProgressDrawTarget {
    if std::io::stderr().is_terminal() && !voice::is_quiet() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    }
}

pub(super) fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("templates are constants of this program")
}
