//! Shows progress on stderr: bars on a terminal, silence in a pipe.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::{messages, streams};
use crate::embed;
use crate::ingest;
use crate::ingest::pace::{Pace, Work};
use crate::ingest::walk::{self, Start, WalkOptions};
use crate::text::number::{counted, duration, thousands};
use crate::text::paths::split_member;
use crate::text::printable::clean;

/// How often a bar is redrawn when nothing happens.
const TICK: Duration = Duration::from_millis(120);

/// How many notes of one kind are printed: a folder of photographs would fill the screen.
const MAX_NOTES: u64 = 10;

/// Length of a bar, in steps.
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

    pub(super) fn on_event(&mut self, event: embed::Event) {
        match event {
            embed::Event::Found { .. } => {}
            embed::Event::Fetching { what, source, size_mb, destination } => {
                let size = size_mb.map(|size| format!(" ({size} MB)")).unwrap_or_default();
                self.print(&format!(
                    "Fetching {what}{size} from {source} to {}",
                    destination.display()
                ));
            }
            embed::Event::Progress { file, done_bytes, total_bytes } => {
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
            embed::Event::Fetched { what, path } => {
                self.print(&format!("Fetched {what}: {}", path.display()));
            }
            embed::Event::NotAdopted { what, path, sha256 } => {
                let path = path.display();
                self.print(&format!(
                    "Found {what} at {path}, but kb does not know its SHA-256 ({sha256}) and does not \
                     use it; ORT_DYLIB_PATH={path} would"
                ));
            }
            embed::Event::SourceFailed { what, source, reason } => {
                self.print(&format!("Could not fetch {what} from {source}: {reason}"));
            }
            embed::Event::Changed { path } => self.print(&format!(
                "{} was changed by another program; kb creates it again",
                path.display()
            )),
            embed::Event::Waiting => self
                .print("Waiting for another kb process that is fetching or preparing the model..."),
            embed::Event::Optimising => self.print(embed::OPTIMISING),
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
    work: Arc<OnceLock<Work>>,
    pace: Pace,
    num_found: u64,
    num_done: u64,
    num_stored: u64,
    num_read: u64,
    num_embedded: u64,
    num_failed: u64,
    /// Notes by their text without digits: how many there were, and the last one.
    notes: BTreeMap<String, (u64, String)>,
    is_single: bool,
}

impl IngestProgress {
    /// `is_single`: one file was named; its failure is the command's error and is not reported here. That
    /// of a file in it is.
    pub(super) fn new(is_single: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(STEPS), target())
            .with_style(style("{bar:20.cyan/bright.black} {percent:>3} %  {prefix}\n{msg:.dim}"));
        bar.enable_steady_tick(TICK);
        Self {
            bar,
            work: Arc::default(),
            pace: Pace::default(),
            num_found: 0,
            num_done: 0,
            num_stored: 0,
            num_read: 0,
            num_embedded: 0,
            num_failed: 0,
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
            let files = walk::walk(&starts, &options).map(|file| match file {
                Ok(file) => (file.path, file.size_bytes),
                Err(_) => (PathBuf::new(), 0),
            });
            // Set once, here.
            let _ = work.set(Work::new(files, &options.text_extensions));
        });
    }

    pub(super) fn on_event(&mut self, event: &ingest::Event<'_>) {
        match *event {
            ingest::Event::Found { num_files } => self.num_found = num_files as u64,
            ingest::Event::Read { position, num_chunks } => {
                self.num_read += u64::from(num_chunks.is_some());
                self.pace.read(position, num_chunks, self.bar.elapsed());
            }
            ingest::Event::Embedded { num_chunks } => {
                self.num_embedded += num_chunks as u64;
                self.pace.embedded(num_chunks, self.bar.elapsed());
            }
            ingest::Event::Stored { path, num_chunks, warnings } => {
                self.num_stored += 1;
                self.detail("stored", path, &format!(" ({})", counted(num_chunks, "chunk")));
                for warning in warnings {
                    self.note(path, warning);
                }
                self.num_done += 1;
            }
            ingest::Event::Skipped { path, .. } => {
                self.detail("unchanged", path, "");
                self.num_done += 1;
            }
            ingest::Event::Ignored | ingest::Event::PassedOver => self.num_done += 1,
            ingest::Event::Warned { error } => {
                self.bar.suspend(|| messages::warn(&error.to_string()));
                self.num_done += 1;
            }
            ingest::Event::Failed { path, error } => {
                self.num_failed += 1;
                let is_member = split_member(&path.to_string_lossy()).1.is_some();
                match error.path() {
                    _ if self.is_single && !is_member => {}
                    Some(_) => self.bar.suspend(|| messages::failure(&error.to_string())),
                    None => {
                        let text = format!("{}: {error}", path.display());
                        self.bar.suspend(|| messages::failure(&text));
                    }
                }
                self.num_done += 1;
            }
        }
        self.draw();
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
        for (count, last) in self.notes.values().filter(|(count, _)| *count > MAX_NOTES) {
            self.print(&format!("note: {} more documents: {last}", count - MAX_NOTES));
        }
    }

    fn note(&mut self, path: Option<&Path>, warning: &str) {
        let kind = warning.chars().filter(|c| !c.is_ascii_digit()).collect();
        let (count, last) = self.notes.entry(kind).or_default();
        *count += 1;
        warning.clone_into(last);
        if *count <= MAX_NOTES {
            let name = path.map(|path| format!("{}: ", path.display())).unwrap_or_default();
            self.print(&format!("note: {name}{warning}"));
        }
    }

    /// Reports how many files an interrupted run has not reached.
    pub(super) fn report_remaining(&self) {
        let remaining = |all: u64| thousands(all.saturating_sub(self.num_done));
        messages::info(&match self.work.get() {
            Some(work) => format!("Files not reached: {}", remaining(work.num_files() as u64)),
            None => format!("Files found but not reached: {}", remaining(self.num_found)),
        });
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
            let chunks = counted(usize::try_from(self.num_embedded).unwrap_or(0), "chunk");
            parts.push(format!("{chunks} embedded in {}, {rate} a second.", duration(seconds)));
        }
        if self.num_failed > 0 {
            parts.push(format!("Failures are logged in {}.", log.display()));
        }
        if !parts.is_empty() {
            messages::info(&parts.join(" "));
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
                format!("{done} of {} files", thousands(work.num_files() as u64))
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
        let chunks = counted(usize::try_from(self.num_embedded).unwrap_or(usize::MAX), "chunk");
        let (read, stored) = (thousands(self.num_read), thousands(self.num_stored));
        let mut stages = format!("{read} read, {chunks} embedded{rate}, {stored} stored");
        // Below the bar, so that it disappears when the estimate falls.
        if left.is_some_and(|left| left >= LONG) {
            stages = format!("{stages}\n{LONG_NOTE}");
        }
        self.bar.set_prefix(over_all);
        self.bar.set_message(stages);
    }

    fn print(&self, text: &str) {
        self.bar.suspend(|| messages::info(text));
    }

    fn detail(&self, what: &str, path: Option<&Path>, more: &str) {
        if !messages::is_detailed() {
            return;
        }
        let name = path.map_or_else(|| "the note".into(), |path| path.display().to_string());
        self.bar.suspend(|| messages::detail(&format!("{what}: {name}{more}")));
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

/// What a long run shows; every line fits 80 columns.
const LONG_NOTE: &str = "The model runs on the processor. Ctrl-C stops after the current document;\n\
                         the same command continues from there.";

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1")]
fn steps(share: f64) -> u64 {
    (share.clamp(0.0, 1.0) * 1000.0) as u64
}

/// Bars appear on a terminal only.
pub(super) fn target() -> ProgressDrawTarget {
    if streams::is_stderr_terminal() && !messages::is_quiet() {
        streams::bars()
    } else {
        ProgressDrawTarget::hidden()
    }
}

pub(super) fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    style.expect("templates are constants of this program").progress_chars("━╸─")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::extract::detect::TextExtensions;

    /// A terminal in memory.
    #[derive(Debug)]
    struct Blind;

    impl indicatif::TermLike for Blind {
        fn width(&self) -> u16 {
            80
        }

        fn move_cursor_up(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> std::io::Result<()> {
            Ok(())
        }

        fn write_line(&self, _: &str) -> std::io::Result<()> {
            Ok(())
        }

        fn write_str(&self, _: &str) -> std::io::Result<()> {
            Ok(())
        }

        fn clear_line(&self) -> std::io::Result<()> {
            Ok(())
        }

        fn flush(&self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// Returns the text next to and below the bar after a tenth of 100 equal files took this long.
    fn after_a_tenth(seconds: u64) -> (String, String) {
        let mut progress = IngestProgress::new(false);
        let target = ProgressDrawTarget::term_like(Box::new(Blind));
        progress.bar = ProgressBar::with_draw_target(Some(STEPS), target);
        progress.work.set(Work::new([("note.txt", 6_000); 100], &TextExtensions::NONE)).unwrap();
        for position in 0..10 {
            let elapsed = Duration::from_secs(seconds * (position as u64 + 1) / 10);
            progress.bar = progress.bar.with_elapsed(elapsed);
            progress.on_event(&ingest::Event::Read { position, num_chunks: Some(10) });
            progress.on_event(&ingest::Event::Embedded { num_chunks: 10 });
            let event = ingest::Event::Stored { path: None, num_chunks: 10, warnings: &[] };
            progress.on_event(&event);
        }
        (progress.bar.prefix(), progress.bar.message())
    }

    #[test]
    fn a_long_run_shows_how_long_it_takes_and_how_to_stop_it() {
        // Nine tenths take nine times as long.
        let (prefix, below) = after_a_tenth(600);
        assert!(
            prefix.starts_with("1 h 30 min") && prefix.ends_with("10 of 100 files"),
            "{prefix}"
        );
        assert!(below.contains("Ctrl-C stops after the current document"), "{below}");
        let (prefix, below) = after_a_tenth(20);
        assert!(prefix.contains("3 min 0") && !below.contains("Ctrl-C"), "{prefix} {below}");
    }

    #[test]
    fn the_text_next_to_the_bar_counts_what_became_of_the_files() {
        let mut progress = IngestProgress::new(true);
        let target = ProgressDrawTarget::term_like(Box::new(Blind));
        progress.bar = ProgressBar::with_draw_target(Some(STEPS), target);
        let (path, error) = (Path::new("/a.md"), Error::EmptyFile { path: "/a.md".into() });
        let document_id = crate::store::DocumentId(1);
        for event in [
            ingest::Event::Found { num_files: 9 },
            ingest::Event::Read { position: 0, num_chunks: Some(2) },
            ingest::Event::Read { position: 1, num_chunks: None },
            ingest::Event::Embedded { num_chunks: 2 },
            ingest::Event::Stored { path: Some(path), num_chunks: 2, warnings: &[] },
            ingest::Event::Skipped { path: Some(path), document_id },
            ingest::Event::Ignored,
            ingest::Event::PassedOver,
            ingest::Event::Failed { path, error: &error },
        ] {
            progress.on_event(&event);
        }
        assert_eq!(progress.bar.prefix(), "5 files, 1 failed");
        assert_eq!(progress.bar.message(), "1 read, 2 chunks embedded, 1 stored");
        assert_eq!((progress.num_found, progress.num_done), (9, 5));
        progress.work.set(Work::new([("note.txt", 6_000); 2_000], &TextExtensions::NONE)).unwrap();
        progress.on_event(&ingest::Event::Ignored);
        assert_eq!(progress.bar.prefix(), "6 of 2,000 files, 1 failed");
    }

    #[test]
    fn ten_notes_of_a_kind_are_printed_and_the_others_counted() {
        let mut progress = IngestProgress::new(false);
        for number in 0..12 {
            progress.note(Some(Path::new("/a.pdf")), &format!("{number} pages were not read"));
        }
        progress.note(None, "no title");
        let counts: Vec<_> = progress.notes.values().cloned().collect();
        assert_eq!(counts, [(12, "11 pages were not read".into()), (1, "no title".into())]);
        progress.finish();
    }

    #[test]
    fn a_share_is_shown_in_thousandths() {
        for (share, expected) in
            [(0.0, 0), (0.0009, 0), (0.5, 500), (1.0, 1000), (1.5, 1000), (-1.0, 0)]
        {
            assert_eq!(steps(share), expected, "{share}");
        }
    }

    #[test]
    fn a_count_ends_with_the_last_thing() {
        let progress = CountProgress::of("chunks", 10);
        progress.set(9, 10);
        assert_eq!((progress.bar.position(), progress.bar.is_finished()), (9, false));
        progress.set(11, 12);
        assert_eq!((progress.bar.length(), progress.bar.is_finished()), (Some(12), false));
        progress.set(12, 12);
        assert!(progress.bar.is_finished());
    }

    #[test]
    fn the_bar_of_a_download_is_where_the_download_is() {
        let mut progress = FetchProgress::new();
        let mut arrived = |done_bytes| {
            let file = "weights".to_owned();
            progress.on_event(embed::Event::Progress { file, done_bytes, total_bytes: 10 });
            let bar = &progress.by_file["weights"];
            (bar.position(), bar.is_finished())
        };
        assert_eq!(arrived(0), (0, false));
        assert_eq!(arrived(9), (9, false));
        assert!(arrived(10).1);
    }
}
