//! Shows progress on stderr: bars on a terminal, silence in a pipe.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::{bars, messages};
use crate::embed;
use crate::extract::sandbox::OcrWork;
use crate::ingest;
use crate::ingest::order;
use crate::ingest::pace::{ProgressEstimator, RemainingWork};
use crate::ingest::walk::{self, Start, WalkOptions};
use crate::text::number::{counted, duration, thousands};
use crate::text::paths::split_member;
use crate::text::printable::clean;

/// How often a bar is redrawn when nothing happens.
const TICK: Duration = Duration::from_millis(120);

/// How many notes of one kind are printed: a folder of photographs would fill the screen.
const MAX_NOTES: u64 = 10;

/// Length of a bar, in steps: finer than the columns of any terminal.
const STEPS: u64 = 1000;

/// A run expected to take longer than this is announced.
const LONG: Duration = Duration::from_secs(300);

/// Draws downloads and reports their source and destination.
pub(super) struct FetchProgress {
    bars: MultiProgress,
    by_file: HashMap<String, ProgressBar>,
}

impl FetchProgress {
    pub(super) fn new() -> Self {
        Self { bars: MultiProgress::with_draw_target(target()), by_file: HashMap::new() }
    }

    pub(super) fn on_event(&mut self, event: embed::ModelEvent) {
        match event {
            embed::ModelEvent::Found { .. } => {}
            embed::ModelEvent::Fetching { what, source, size_mb, destination } => {
                let size = size_mb.map(|size| format!(" ({size} MB)")).unwrap_or_default();
                self.print(&format!(
                    "Fetching {what}{size} from {source} to {}",
                    destination.display()
                ));
            }
            embed::ModelEvent::Progress { file, done_bytes, total_bytes } => {
                let bars = &self.bars;
                let bar = self.by_file.entry(file).or_insert_with_key(|file| {
                    let style = style("{msg} {bar:30.cyan/bright.black} {bytes}/{total_bytes} {bytes_per_sec} {eta}");
                    let bar = ProgressBar::new(total_bytes).with_style(style);
                    bars.add(bar).with_message(clean(file))
                });
                bar.set_position(done_bytes);
                if done_bytes >= total_bytes {
                    bar.finish_and_clear();
                }
            }
            embed::ModelEvent::Fetched { what, path } => {
                self.print(&format!("Fetched {what}: {}", path.display()));
            }
            embed::ModelEvent::NotAdopted { what, path, sha256 } => {
                let path = path.display();
                self.print(&format!(
                    "Found {what} at {path}, but kb does not know its SHA-256 ({sha256}) and does not \
                     use it; to use it, set ORT_DYLIB_PATH={path}"
                ));
            }
            embed::ModelEvent::SourceFailed { what, source, reason } => {
                self.print(&format!("Could not fetch {what} from {source}: {reason}"));
            }
            embed::ModelEvent::Changed(path) => self.print(&format!(
                "{} was changed by another program; kb rebuilds it",
                path.display()
            )),
            embed::ModelEvent::Waiting => self
                .print("Waiting for another kb process that is fetching or preparing the model..."),
            embed::ModelEvent::Optimising => self.print(embed::OPTIMISING),
        }
    }

    fn print(&self, text: &str) {
        self.bars.suspend(|| messages::info(text));
    }
}

/// Draws a run of `kb add` and reports failures.
pub(super) struct IngestProgress {
    bar: ProgressBar,
    /// All files of the run, once they are counted.
    work: Arc<OnceLock<RemainingWork>>,
    pace: ProgressEstimator,
    num_found: u64,
    num_done: u64,
    num_stored: u64,
    num_read: u64,
    num_embedded: u64,
    num_failed: u64,
    ocr: OcrWork,
    /// Notes by their text without digits: how many there were, and the last one.
    notes: BTreeMap<String, (u64, String)>,
    is_single: bool,
}

impl IngestProgress {
    /// `is_single`: one file was named; its failure is the command's error and is not reported here. That
    /// of a file in it is.
    pub(super) fn new(is_single: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(STEPS), target()).with_style(style(RUN));
        bar.enable_steady_tick(TICK);
        Self {
            bar,
            work: Arc::default(),
            pace: ProgressEstimator::default(),
            num_found: 0,
            num_done: 0,
            num_stored: 0,
            num_read: 0,
            num_embedded: 0,
            num_failed: 0,
            ocr: OcrWork::default(),
            notes: BTreeMap::new(),
            is_single,
        }
    }

    /// Counts the files in a separate thread, if the bar is shown: the run itself finds them one by
    /// one and does not know how many there are.
    pub(super) fn count(&self, starts: &[Start], options: WalkOptions) {
        if self.bar.is_hidden() {
            return;
        }
        let (work, starts) = (Arc::clone(&self.work), starts.to_vec());
        thread::spawn(move || {
            let files = order::small_first(walk::walk(&starts, &options)).map(|file| match file {
                Ok(file) => (file.path, file.stamp.size_bytes),
                Err(_) => (PathBuf::new(), 0),
            });
            // Setting cannot fail: the cell is set only here.
            let _ = work.set(RemainingWork::new(files, &options.text_extensions));
        });
    }

    pub(super) fn on_event(&mut self, event: &ingest::IngestEvent<'_>) {
        match *event {
            ingest::IngestEvent::Found(num_files) => self.num_found = num_files as u64,
            ingest::IngestEvent::Read { position, num_chunks } => {
                self.num_read += u64::from(num_chunks.is_some());
                self.pace.read(position, num_chunks, self.bar.elapsed());
            }
            ingest::IngestEvent::Recognised(ocr) => self.ocr = ocr,
            ingest::IngestEvent::Embedded(num_chunks) => {
                self.num_embedded += num_chunks as u64;
                self.pace.embedded(num_chunks, self.bar.elapsed());
            }
            ingest::IngestEvent::Stored { path, num_chunks, warnings } => {
                self.num_stored += 1;
                self.detail("stored", path, &format!(" ({})", counted(num_chunks, "chunk")));
                for warning in warnings {
                    self.note(path, warning);
                }
                self.num_done += u64::from(!path.is_some_and(is_member));
            }
            ingest::IngestEvent::Skipped { path, .. } => {
                self.detail("unchanged", path, "");
                self.num_done += u64::from(!path.is_some_and(is_member));
            }
            ingest::IngestEvent::Ignored | ingest::IngestEvent::PassedOver => self.num_done += 1,
            ingest::IngestEvent::Warned(error) => {
                self.bar.suspend(|| messages::warn(error.message()));
                self.num_done += 1;
            }
            ingest::IngestEvent::Failed { path, error } => {
                self.num_failed += 1;
                let is_member = is_member(path);
                match error.path() {
                    _ if self.is_single && !is_member => {}
                    Some(_) => self.bar.suspend(|| messages::failure(error.message())),
                    None => {
                        let text = format!("{}: {error}", path.display());
                        self.bar.suspend(|| messages::failure(&text));
                    }
                }
                self.num_done += u64::from(!is_member);
            }
        }
        self.draw();
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
        for (count, last) in self.notes.values().filter(|(count, _)| *count > MAX_NOTES) {
            self.print_note(&format!("{} more documents: {last}", count - MAX_NOTES));
        }
    }

    fn note(&mut self, path: Option<&Path>, warning: &str) {
        let kind = warning.chars().filter(|c| !c.is_ascii_digit()).collect();
        let (count, last) = self.notes.entry(kind).or_default();
        *count += 1;
        warning.clone_into(last);
        if *count <= MAX_NOTES {
            let name = path.map(|path| format!("{}: ", path.display())).unwrap_or_default();
            self.print_note(&format!("{name}{warning}"));
        }
    }

    /// Reports how many files an interrupted run has not reached.
    pub(super) fn report_remaining(&self) {
        let (bound, all) = match self.work.get() {
            Some(work) => ("", work.num_files() as u64),
            // The run has ended while files were still being counted.
            None => ("at least ", self.num_found),
        };
        let remaining = thousands(all.saturating_sub(self.num_done));
        messages::info(format!("Files not reached: {bound}{remaining}"));
    }

    /// Reports the speed of the run and where failures are logged.
    pub(super) fn conclude(&self, log: &Path) {
        if self.bar.is_hidden() || self.is_single {
            return;
        }
        let seconds = self.bar.elapsed().as_secs();
        let mut parts = Vec::new();
        if self.num_embedded > 0 {
            let rate = self.num_embedded / seconds.max(1);
            let chunks = counted(self.num_embedded, "chunk");
            parts.push(format!("{chunks} embedded in {}, {rate} per second.", duration(seconds)));
        }
        if self.num_failed > 0 {
            parts.push(format!("Failures are logged in {}.", log.display()));
        }
        if !parts.is_empty() {
            messages::info(parts.join(" "));
        }
    }

    /// Updates the bar and the text next to it.
    fn draw(&mut self) {
        if self.bar.is_hidden() {
            return;
        }
        let (done, now) = (thousands(self.num_done), self.bar.elapsed());
        let mut left = None;
        let mut over_all = match self.work.get() {
            Some(work) => {
                self.bar.set_position(steps(self.pace.share(work)));
                left = self.pace.left(work, now);
                format!("{done} of {} files", thousands(work.num_files()))
            }
            None => format!("{done} files"),
        };
        if let Some(left) = left {
            over_all = format!("{} left, {over_all}", duration(left.as_secs()));
        }
        if self.num_failed > 0 {
            over_all += &format!(", {} failed", thousands(self.num_failed));
        }
        let rate =
            self.pace.rate().map(|rate| format!(" ({rate:.0} per second)")).unwrap_or_default();
        let chunks = counted(self.num_embedded, "chunk");
        let (read, stored) = (thousands(self.num_read), thousands(self.num_stored));
        let mut stages = format!("{read} read, {chunks} embedded{rate}, {stored} stored");
        if self.ocr.num_pages > 0 {
            // OCR comes first, because the end of the row may be cut off, and a page takes as long as many chunks.
            let (done, all) = (self.ocr.num_done as u64, self.ocr.num_pages as u64);
            stages = format!("{} of {} pages by OCR, {stages}", thousands(done), thousands(all));
        }
        // The note is below the bar, so that it disappears when the estimate falls.
        if left.is_some_and(|left| left >= LONG) {
            stages = format!("{stages}\n{LONG_NOTE}");
        }
        self.bar.set_prefix(over_all);
        self.bar.set_message(stages);
    }

    fn print_note(&self, text: &str) {
        self.bar.suspend(|| messages::note(text));
    }

    fn detail(&self, what: &str, path: Option<&Path>, more: &str) {
        if !messages::is_detailed() {
            return;
        }
        let name = path.map_or_else(|| "the note".into(), |path| path.display().to_string());
        self.bar.suspend(|| messages::detail(format!("{what}: {name}{more}")));
    }
}

/// Draws how many of a known number of things are done.
pub(super) struct CountProgress {
    bar: ProgressBar,
}

impl CountProgress {
    /// `things` names them in the plural.
    pub(super) fn of(things: &str, total: u64) -> Self {
        let template = format!(
            "{{bar:30.cyan/bright.black}} {{percent:>3}} %  {{human_pos}} of {{human_len}} {things}, {{per_sec}}, {{eta}} left"
        );
        let bar = ProgressBar::with_draw_target(Some(total), target());
        Self { bar: bar.with_style(style(&template)) }
    }

    pub(super) fn set(&self, num_done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(num_done);
        if num_done >= total {
            self.bar.finish_and_clear();
        }
    }

    /// Prints above the bar.
    pub(super) fn suspend(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }
}

/// The template of a run. The bar has the columns that the text leaves, in a narrow terminal none.
const RUN: &str = "{percent:>3} %  {prefix}  {wide_bar:.cyan/bright.black}\n{msg:.dim}";

/// The note on a long run; every line fits 80 columns.
const LONG_NOTE: &str = "The model runs on the processor. Ctrl-C stops after the current document;\n\
                         the same command continues from there.";

/// Whether a path is that of a member of an archive or mail, which is not among the files that were counted.
fn is_member(path: &Path) -> bool {
    split_member(&path.to_string_lossy()).1.is_some()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1")]
fn steps(share: f64) -> u64 {
    (share.clamp(0.0, 1.0) * 1000.0) as u64
}

/// Bars appear on a terminal only.
pub(super) fn target() -> ProgressDrawTarget {
    if messages::is_quiet() { ProgressDrawTarget::hidden() } else { bars::target() }
}

pub(super) fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    style.expect("templates are constants of this program").progress_chars("━╸─")
}

#[cfg(test)]
mod tests;
