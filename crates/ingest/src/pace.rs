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

/// The weight of a guess next to measured values, in chunks: once so many were measured, both count the same.
const GUESSED_CHUNKS: f64 = 300.0;

/// The time over which a rate is measured.
const WINDOW: Duration = Duration::from_secs(15);

/// No estimate is shown earlier than this, and before this share of the work is done: the first files say little.
const MIN_ELAPSED: Duration = Duration::from_secs(5);
const MIN_SHARE: f64 = 0.01;

/// Estimates beyond this are not meaningful.
const MAX_LEFT: Duration = Duration::from_secs(100 * 3600);

/// The files of a run in the order of [`order`](super::order), as counted ahead of it.
#[derive(Debug, Default)]
pub struct RemainingWork {
    /// The kind of each file, and its size in bytes.
    files: Vec<(usize, u64)>,
    kinds: Vec<ExtensionWork>,
}

/// Files with the same extension.
#[derive(Debug, Clone, Copy)]
struct ExtensionWork {
    num_files: u64,
    num_bytes: f64,
    /// The guess at how many chunks a byte makes.
    chunks_per_byte: f64,
}

impl RemainingWork {
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
                let chunks_per_byte = if !detect::is_claimed(path, further) {
                    0.0
                } else if is_packed {
                    1.0 / PACKED_BYTES_PER_CHUNK
                } else {
                    1.0 / BYTES_PER_CHUNK
                };
                work.kinds.push(ExtensionWork { num_files: 0, num_bytes: 0.0, chunks_per_byte });
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
struct FinishedFiles {
    num_files: u64,
    num_bytes: f64,
    /// Those with something to do.
    worked_bytes: f64,
    worked_chunks: f64,
    num_worked: u64,
}

/// The progress so far, with times.
#[derive(Debug, Default)]
pub struct ProgressEstimator {
    /// Files that were looked at and are not in `seen` yet: their position and their chunks.
    unsorted: Vec<(usize, Option<u64>)>,
    seen: Vec<FinishedFiles>,
    /// Files that were looked at since the first with something to do, which is one of them.
    num_since_work: u64,
    num_worked: u64,
    chunks_waiting: u64,
    chunks_embedded: u64,
    /// Until when there was nothing to do.
    idle: Duration,
    /// When how many chunks had been embedded, as far back as a rate looks.
    embedded: VecDeque<(Duration, u64)>,
}

/// The work of a run in chunks.
#[derive(Debug, Clone, Copy, PartialEq)]
struct WorkEstimate {
    /// Done so far; files without any work are not counted.
    done: f64,
    left: f64,
    /// How much of the run files without work would have been.
    spared: f64,
    /// The work that is left if every file that was not looked at needs some.
    most_left: f64,
}

impl ProgressEstimator {
    /// Takes note of a file that was looked at: its chunks that need a vector, or `None` if there is
    /// nothing to do.
    pub fn read(&mut self, position: usize, num_chunks: Option<usize>, now: Duration) {
        let num_chunks = num_chunks.map(|count| count as u64);
        match num_chunks {
            Some(count) => {
                self.num_worked += 1;
                self.chunks_waiting += count;
            }
            None if self.num_worked == 0 => self.idle = now,
            None => {}
        }
        self.num_since_work += u64::from(self.num_worked > 0);
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

    /// Returns how much is done, from 0 to 1, as if each file that was not looked at needed work: the
    /// first files of a run that continues another need none. It falls if files turn out larger than
    /// was estimated, for a share that stays where it was is above what is done.
    pub fn share(&mut self, work: &RemainingWork) -> f64 {
        let WorkEstimate { done, spared, most_left, .. } = self.estimate(work);
        let all = done + spared + most_left;
        if all > 0.0 { ((done + spared) / all).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns how long the rest takes if it is like the work done so far; `None` before enough is
    /// known. As an average over the whole run it settles instead of jumping.
    pub fn left(&mut self, work: &RemainingWork, now: Duration) -> Option<Duration> {
        let WorkEstimate { done, left, .. } = self.estimate(work);
        let elapsed = now.saturating_sub(self.idle);
        if elapsed < MIN_ELAPSED || done <= 0.0 || done / (done + left) < MIN_SHARE {
            return None;
        }
        let seconds = elapsed.as_secs_f64() * left / done;
        Some(Duration::from_secs_f64(seconds.min(MAX_LEFT.as_secs_f64())))
    }

    fn estimate(&mut self, work: &RemainingWork) -> WorkEstimate {
        self.seen.resize(work.kinds.len(), FinishedFiles::default());
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
        // The other files are expected to need work as often as those looked at since the first that
        // did: in a run that continues another, all before it were stored.
        let worked_share = float(self.num_worked.max(1)) / float(self.num_since_work.max(1));
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
        WorkEstimate {
            done: float(self.num_worked) * CHUNKS_PER_FILE + float(self.chunks_embedded),
            left: unseen * worked_share + float(self.chunks_waiting),
            spared,
            most_left: unseen + float(self.chunks_waiting),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share and an estimate are not exact")]
fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests;
