//! Estimates progress and the time left. Pure: the caller passes the time.
//!
//! Work is counted in chunks, because computing their vectors takes most of the time. Files that
//! were read have a known number of chunks; for the others it is estimated from the files of the
//! same kind that were read before them.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::time::Duration;

use crate::document::Format;
use crate::extract::detect::{self, TextExtensions};

/// The cost of reading and storing a file, in chunks.
const CHUNKS_PER_FILE: f64 = 0.3;

/// A guess at how many bytes of a text file make a chunk. Measured on notes, manuals and source code:
/// 400 to 800.
const BYTES_PER_CHUNK: f64 = 600.0;

/// The same for formats that compress text, or surround it with pictures and markup. Measured on 190
/// PDFs: 3,100 in all, 1,200 to 93,000 for the middle four fifths of them.
const PACKED_BYTES_PER_CHUNK: f64 = 3_000.0;

/// The weight of a guess next to measured values, in chunks.
const GUESSED_CHUNKS: f64 = 300.0;

/// The time over which a rate is measured.
const WINDOW: Duration = Duration::from_secs(15);

/// No estimate is shown earlier than this, and before this share of the work is done.
const MIN_ELAPSED: Duration = Duration::from_secs(5);
const MIN_SHARE: f64 = 0.01;

/// Estimates beyond this are not meaningful.
const MAX_LEFT: Duration = Duration::from_secs(100 * 3600);

/// The files of a run in the order of the walk, as counted ahead of it.
#[derive(Debug, Default)]
pub struct Work {
    /// The kind of each file, and its size in bytes.
    files: Vec<(usize, u64)>,
    kinds: Vec<Kind>,
}

/// Files with the same extension.
#[derive(Debug, Clone, Copy)]
struct Kind {
    num_files: u64,
    num_bytes: f64,
    /// The guess at how many chunks a byte makes.
    chunks_per_byte: f64,
}

impl Work {
    /// Creates it from the path and the size in bytes of each file. `further` names kinds of text.
    pub fn new<P: AsRef<Path>>(
        files: impl IntoIterator<Item = (P, u64)>,
        further: &TextExtensions,
    ) -> Self {
        let (mut work, mut kinds) = (Self::default(), HashMap::new());
        for (path, size) in files {
            let path = path.as_ref();
            let extension = path.extension().map(|extension| extension.to_ascii_lowercase());
            let kind = *kinds.entry(extension).or_insert_with_key(|extension| {
                let extension = extension.as_ref().and_then(|extension| extension.to_str());
                let is_packed =
                    extension.and_then(Format::with_extension).is_some_and(Format::is_bulky);
                let chunks_per_byte = match detect::is_claimed(path, further) {
                    false => 0.0,
                    true if is_packed => 1.0 / PACKED_BYTES_PER_CHUNK,
                    true => 1.0 / BYTES_PER_CHUNK,
                };
                work.kinds.push(Kind { num_files: 0, num_bytes: 0.0, chunks_per_byte });
                work.kinds.len() - 1
            });
            work.kinds[kind].num_files += 1;
            work.kinds[kind].num_bytes += float(size);
            work.files.push((kind, size));
        }
        work
    }

    /// Returns the number of files.
    pub fn num_files(&self) -> usize {
        self.files.len()
    }
}

/// The files of one kind seen so far.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    num_files: u64,
    num_bytes: f64,
    /// Those with something to do.
    worked_bytes: f64,
    worked_chunks: f64,
    num_worked: u64,
}

/// The progress so far, with times.
#[derive(Debug, Default)]
pub struct Pace {
    /// Files that were looked at and are not in `seen` yet: their position in the walk and their
    /// chunks.
    unsorted: Vec<(usize, Option<u64>)>,
    seen: Vec<Seen>,
    num_seen: u64,
    num_worked: u64,
    chunks_waiting: u64,
    chunks_embedded: u64,
    /// Until when there was nothing to do.
    idle: Duration,
    /// When how many chunks had been embedded, as far back as a rate looks.
    embedded: VecDeque<(Duration, u64)>,
    /// The largest share shown: a bar never moves back.
    shown: f64,
}

/// The work of a run in chunks.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Estimate {
    /// Done so far; files without any work are not counted.
    done: f64,
    left: f64,
    /// How much of the run files without work were expected to be.
    spared: f64,
}

impl Pace {
    /// Takes note of a file that was looked at: its chunks that need a vector, or `None` if there is
    /// nothing to do.
    pub fn read(&mut self, position: usize, num_chunks: Option<usize>, now: Duration) {
        let num_chunks = num_chunks.map(|count| count as u64);
        self.num_seen += 1;
        match num_chunks {
            Some(count) => {
                self.num_worked += 1;
                self.chunks_waiting += count;
            }
            None if self.num_worked == 0 => self.idle = now,
            None => {}
        }
        self.unsorted.push((position, num_chunks));
    }

    /// Takes note of chunks that were embedded.
    pub fn embedded(&mut self, num_chunks: usize, now: Duration) {
        let num_chunks = num_chunks as u64;
        self.chunks_embedded += num_chunks;
        self.chunks_waiting = self.chunks_waiting.saturating_sub(num_chunks);
        self.embedded.push_back((now, self.chunks_embedded));
        while self.embedded.len() > 2 && now.saturating_sub(self.embedded[1].0) > WINDOW {
            self.embedded.pop_front();
        }
    }

    /// Returns chunks per second over the last while; `None` before there is one.
    pub fn rate(&self) -> Option<f64> {
        let (first, last) = (self.embedded.front()?, self.embedded.back()?);
        let seconds = last.0.saturating_sub(first.0).as_secs_f64();
        (seconds >= 1.0).then(|| float(last.1.saturating_sub(first.1)) / seconds)
    }

    /// Returns how much is done, from 0 to 1; never less than before.
    pub fn share(&mut self, work: &Work) -> f64 {
        let Estimate { done, left, spared } = self.estimate(work);
        let all = done + left + spared;
        let share = if all > 0.0 { (done + spared) / all } else { 0.0 };
        self.shown = self.shown.max(share.clamp(0.0, 1.0));
        self.shown
    }

    /// Returns how long the rest takes if it is like the work done so far; `None` before enough is
    /// known. As an average over the whole run it settles instead of jumping.
    pub fn left(&mut self, work: &Work, now: Duration) -> Option<Duration> {
        let Estimate { done, left, .. } = self.estimate(work);
        let elapsed = now.saturating_sub(self.idle);
        if elapsed < MIN_ELAPSED || done <= 0.0 || done / (done + left) < MIN_SHARE {
            return None;
        }
        let seconds = elapsed.as_secs_f64() * left / done;
        Some(Duration::from_secs_f64(seconds.min(MAX_LEFT.as_secs_f64())))
    }

    fn estimate(&mut self, work: &Work) -> Estimate {
        self.seen.resize(work.kinds.len(), Seen::default());
        for (position, num_chunks) in self.unsorted.drain(..) {
            // A file that appeared after the files were counted has no entry.
            let Some(&(kind, size)) = work.files.get(position) else { continue };
            let seen = &mut self.seen[kind];
            seen.num_files += 1;
            seen.num_bytes += float(size);
            if let Some(chunks) = num_chunks {
                seen.num_worked += 1;
                seen.worked_bytes += float(size);
                seen.worked_chunks += float(chunks);
            }
        }
        // The other files are expected to need work as often as those that were looked at.
        let worked_share = float(self.num_worked.max(1)) / float(self.num_seen.max(1));
        let (mut unseen, mut spared) = (0.0, 0.0);
        for (kind, seen) in work.kinds.iter().zip(&self.seen) {
            let per_byte = match kind.chunks_per_byte {
                0.0 => 0.0,
                guess => {
                    let guessed_bytes = GUESSED_CHUNKS / guess;
                    (seen.worked_chunks + GUESSED_CHUNKS) / (seen.worked_bytes + guessed_bytes)
                }
            };
            let num_unseen = float(kind.num_files.saturating_sub(seen.num_files));
            let unseen_bytes = (kind.num_bytes - seen.num_bytes).max(0.0);
            unseen += num_unseen * CHUNKS_PER_FILE + unseen_bytes * per_byte;
            let num_spared = float(seen.num_files - seen.num_worked);
            let spared_bytes = seen.num_bytes - seen.worked_bytes;
            spared += num_spared * CHUNKS_PER_FILE + spared_bytes * per_byte;
        }
        Estimate {
            done: float(self.num_worked) * CHUNKS_PER_FILE + float(self.chunks_embedded),
            left: unseen * worked_share + float(self.chunks_waiting),
            spared,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share and an estimate are not exact")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn files(sizes: &[u64]) -> Work {
        Work::new(sizes.iter().map(|size| ("note.txt", *size)), &TextExtensions::NONE)
    }

    fn is_near(left: Option<Duration>, expected: u64) -> bool {
        left.is_some_and(|left| left.abs_diff(seconds(expected)) <= seconds(expected / 20 + 1))
    }

    /// Reads a file with this many chunks and embeds them, until `now`.
    fn done(pace: &mut Pace, position: usize, num_chunks: usize, now: Duration) {
        pace.read(position, Some(num_chunks), now);
        pace.embedded(num_chunks, now);
    }

    #[test]
    fn the_time_left_follows_from_the_work_done() {
        let work = files(&[6_000; 10]);
        let mut pace = Pace::default();
        (0..5).for_each(|position| done(&mut pace, position, 10, seconds(10)));
        assert!(is_near(pace.left(&work, seconds(10)), 10), "{:?}", pace.left(&work, seconds(10)));
        (5..10).for_each(|position| done(&mut pace, position, 10, seconds(20)));
        assert_eq!(pace.left(&work, seconds(20)), Some(Duration::ZERO));
        assert!((pace.share(&work) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn nothing_is_estimated_before_five_seconds_and_one_percent() {
        let work = files(&[6_000; 1_000]);
        let mut pace = Pace::default();
        done(&mut pace, 0, 10, seconds(30));
        assert_eq!(pace.left(&work, seconds(30)), None);
        (1..50).for_each(|position| done(&mut pace, position, 10, seconds(4)));
        assert_eq!(pace.left(&work, seconds(4)), None);
        assert!(pace.left(&work, seconds(6)).is_some());
    }

    #[test]
    fn a_bar_moves_while_later_files_wait_for_a_large_one() {
        let work = files(&[60_000, 6_000, 6_000, 6_000]);
        let mut pace = Pace::default();
        (1..4).for_each(|position| done(&mut pace, position, 10, seconds(1)));
        let early = pace.share(&work);
        assert!(early > 0.15, "{early}");
        pace.read(0, Some(100), seconds(2));
        pace.embedded(50, seconds(6));
        assert!(pace.share(&work) > early);
    }

    #[test]
    fn files_without_work_move_the_bar_but_do_not_shorten_the_estimate() {
        let work = files(&[6_000; 100]);
        let mut pace = Pace::default();
        (0..50).for_each(|position| pace.read(position, None, seconds(1)));
        assert!((0.4..0.6).contains(&pace.share(&work)) || pace.share(&work) > 0.9);
        assert_eq!(pace.left(&work, seconds(1)), None);
        (50..75).for_each(|position| done(&mut pace, position, 10, seconds(11)));
        // A third of the files needed work: so will a third of the other 25, at 2.5 per second.
        assert!(is_near(pace.left(&work, seconds(11)), 3), "{:?}", pace.left(&work, seconds(11)));
    }

    #[test]
    fn the_chunks_of_unread_files_are_estimated_by_kind() {
        let pictures = [("film.mp4", 4_000_000_000), ("scan.pdf", 2_000_000)];
        let notes = [("note.txt", 60_000); 2];
        let work = Work::new(pictures.into_iter().chain(notes), &TextExtensions::NONE);
        let mut pace = Pace::default();
        pace.read(0, None, seconds(0));
        done(&mut pace, 1, 10, seconds(10));
        done(&mut pace, 2, 100, seconds(20));
        let left = pace.left(&work, seconds(20)).unwrap();
        assert!((seconds(8)..seconds(20)).contains(&left), "{left:?}");
    }

    #[test]
    fn a_bar_never_moves_back() {
        let work = files(&[1_000, 1_000_000]);
        let mut pace = Pace::default();
        done(&mut pace, 0, 1, seconds(1));
        let before = pace.share(&work);
        pace.read(1, Some(60_000), seconds(2));
        assert!(pace.share(&work) >= before);
    }

    #[test]
    fn the_rate_covers_the_last_seconds() {
        let mut pace = Pace::default();
        assert_eq!(pace.rate(), None);
        for second in 0..100 {
            pace.embedded(if second < 50 { 10 } else { 20 }, seconds(second));
        }
        assert_eq!(pace.rate(), Some(20.0));
    }

    #[track_caller]
    fn check(pace: &mut Pace, work: &Work, [done, left, spared]: [f64; 3]) {
        let found = pace.estimate(work);
        let differs = |one: f64, other: f64| (one - other).abs() > 1e-9;
        let is_wrong = differs(found.done, done) || differs(found.left, left);
        assert!(
            !is_wrong && !differs(found.spared, spared),
            "{found:?}, not {done} {left} {spared}"
        );
    }

    #[test]
    fn an_estimate_adds_up_files_and_chunks() {
        let (work, mut pace) = (files(&[600; 4]), Pace::default());
        check(&mut pace, &work, [0.0, 4.0 * 0.3 + 4.0, 0.0]);
        pace.read(0, Some(10), seconds(1));
        // 310 chunks in the bytes of 300 and one file.
        let per_byte = 310.0 / (180_000.0 + 600.0);
        check(&mut pace, &work, [0.3, 3.0 * 0.3 + 1_800.0 * per_byte + 10.0, 0.0]);
        pace.read(3, None, seconds(2));
        let rest = 2.0 * 0.3 + 1_200.0 * per_byte;
        check(&mut pace, &work, [0.3, rest / 2.0 + 10.0, 0.3 + 600.0 * per_byte]);
        pace.embedded(4, seconds(3));
        check(&mut pace, &work, [4.3, rest / 2.0 + 6.0, 0.3 + 600.0 * per_byte]);
        let Estimate { done, left, spared } = pace.estimate(&work);
        assert!((pace.share(&work) - (done + spared) / (done + left + spared)).abs() < 1e-9);
        let expected = Duration::from_secs_f64(9.0 * left / done);
        assert!(
            pace.left(&work, seconds(9)).unwrap().abs_diff(expected) < Duration::from_micros(1)
        );
    }

    #[test]
    fn a_format_that_compresses_text_has_fewer_chunks_and_a_film_has_none() {
        for (name, chunks_per_byte) in [
            ("a.txt", 1.0 / 600.0),
            ("a.TXT", 1.0 / 600.0),
            ("a.pdf", 1.0 / 3_000.0),
            ("a.docx", 1.0 / 3_000.0),
            ("a.mp4", 0.0),
        ] {
            let work = Work::new([(name, 3_000)], &TextExtensions::NONE);
            check(&mut Pace::default(), &work, [0.0, 0.3 + 3_000.0 * chunks_per_byte, 0.0]);
        }
        let names = ["a.txt", "b.TXT", "c.pdf"].map(|name| (name, 1));
        let work = Work::new(names, &TextExtensions::NONE);
        assert_eq!((work.num_files(), work.kinds.len(), work.kinds[0].num_files), (3, 2, 2));
    }

    #[test]
    fn time_in_which_there_was_nothing_to_do_does_not_count() {
        let (work, mut pace) = (files(&[6_000; 20]), Pace::default());
        pace.read(0, None, seconds(50));
        done(&mut pace, 1, 10, seconds(52));
        pace.read(2, None, seconds(53));
        assert_eq!(pace.left(&work, seconds(54)), None, "four seconds of work");
        assert!(pace.left(&work, seconds(55)).is_some());
        assert_eq!(
            pace.left(&files(&[u64::MAX / 4; 20]), seconds(55)),
            None,
            "less than one percent"
        );
    }

    #[test]
    fn a_rate_needs_a_second_and_two_times_however_far_apart() {
        let mut pace = Pace::default();
        pace.embedded(5, seconds(0));
        assert_eq!(pace.rate(), None);
        pace.embedded(5, Duration::from_millis(900));
        assert_eq!(pace.rate(), None);
        pace.embedded(5, seconds(1));
        assert_eq!(pace.rate(), Some(10.0));
        // Those longer ago than the window are left out, except for the last one.
        for (second, expected) in
            [(15, 15.0 / 15.0), (16, 15.0 / 15.1), (100, 5.0 / 84.0), (300, 5.0 / 200.0)]
        {
            pace.embedded(5, seconds(second));
            assert!((pace.rate().unwrap() - expected).abs() < 1e-9, "{second}: {:?}", pace.rate());
        }
    }

    #[test]
    fn files_that_appear_during_a_run_do_no_harm() {
        let work = files(&[1]);
        let mut pace = Pace::default();
        (0..3).for_each(|position| done(&mut pace, position, 1, seconds(9)));
        assert!(pace.share(&work) <= 1.0 && pace.left(&work, seconds(9)).is_some());
        assert_eq!(pace.left(&files(&[]), seconds(9)), Some(Duration::ZERO));
    }
}
