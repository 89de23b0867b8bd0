//! Estimates progress and the time left. Pure: the caller passes the time.

use std::collections::VecDeque;
use std::time::Duration;

/// What opening a file costs, in bytes of text.
const COST_OF_FILE: u64 = 2_000;

/// Most that the length of a file says of its work: beyond that it is pictures.
const MAX_COST: u64 = 1_000_000;

/// How long a rate looks back.
const WINDOW: Duration = Duration::from_secs(15);

/// Before this nothing is said of the time that is left.
const MIN_ELAPSED: Duration = Duration::from_secs(3);

/// The work of all files, in the order in which they are done.
#[derive(Debug, Default)]
pub(super) struct Work {
    /// Of all files up to and with each.
    sums: Vec<u64>,
}

impl Work {
    /// Takes the lengths of the files.
    pub(super) fn new(sizes: impl IntoIterator<Item = u64>) -> Self {
        let mut sum = 0;
        let add = |size: u64| {
            sum += COST_OF_FILE + size.min(MAX_COST);
            sum
        };
        Self { sums: sizes.into_iter().map(add).collect() }
    }

    /// Returns how many files there are.
    pub(super) fn num_files(&self) -> usize {
        self.sums.len()
    }

    /// Returns the work of the first files.
    fn of(&self, num_files: usize) -> u64 {
        match num_files.min(self.sums.len()) {
            0 => 0,
            count => self.sums[count - 1],
        }
    }

    fn all(&self) -> u64 {
        self.of(self.sums.len())
    }
}

/// How fast it goes.
#[derive(Debug, Default)]
pub(super) struct Pace {
    num_files: usize,
    /// Work that took time: files that are as they were take none.
    worked: u64,
    /// Until when nothing had to be done.
    idle: Duration,
    /// Chunks embedded by when, as far back as a rate looks.
    embedded: VecDeque<(Duration, u64)>,
}

impl Pace {
    /// Takes note of the next file: whether anything had to be done for it.
    pub(super) fn file(&mut self, work: Option<&Work>, is_worked: bool, now: Duration) {
        let cost = work.map_or(0, |work| work.of(self.num_files + 1) - work.of(self.num_files));
        self.num_files += 1;
        if is_worked {
            self.worked += cost;
        } else if self.worked == 0 {
            self.idle = now;
        }
    }

    /// Takes note of how many chunks are embedded by now.
    pub(super) fn embedded(&mut self, num_chunks: u64, now: Duration) {
        self.embedded.push_back((now, num_chunks));
        while self.embedded.len() > 2 && now.saturating_sub(self.embedded[1].0) > WINDOW {
            self.embedded.pop_front();
        }
    }

    /// Returns chunks a second over the last while; `None` before there is one.
    pub(super) fn rate(&self) -> Option<f64> {
        let (first, last) = (self.embedded.front()?, self.embedded.back()?);
        let seconds = last.0.saturating_sub(first.0).as_secs_f64();
        let count = u32::try_from(last.1.saturating_sub(first.1)).unwrap_or(u32::MAX);
        (seconds >= 1.0).then(|| f64::from(count) / seconds)
    }

    /// Returns how much is done, from 0 to 1.
    pub(super) fn share(&self, work: &Work) -> f64 {
        ratio(work.of(self.num_files), work.all())
    }

    /// Returns how long the rest takes if it is like what was worked on so far; `None` before enough is
    /// known. As the average of all that was done it settles instead of jumping.
    pub(super) fn left(&self, work: &Work, now: Duration) -> Option<Duration> {
        let elapsed = now.saturating_sub(self.idle);
        if elapsed < MIN_ELAPSED || self.worked == 0 {
            return None;
        }
        /// Beyond this it is a guess, and no number of seconds.
        const MAX_RATIO: f64 = 1e6;
        let rest = work.all() - work.of(self.num_files);
        Some(elapsed.mul_f64(ratio(rest, self.worked).min(MAX_RATIO)))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share and an estimate are not exact")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn what_is_left_is_told_by_what_was_worked_on() {
        let work = Work::new([10_000; 10]);
        let mut pace = Pace::default();
        // Four files that are as they were, at once.
        (0..4).for_each(|_| pace.file(Some(&work), false, seconds(1)));
        assert_eq!((pace.share(&work), pace.left(&work, seconds(1))), (0.4, None));
        pace.file(Some(&work), true, seconds(3));
        assert_eq!(pace.left(&work, seconds(3)), None);
        pace.file(Some(&work), true, seconds(11));
        assert_eq!(pace.left(&work, seconds(11)), Some(seconds(20)));
        (0..4).for_each(|_| pace.file(Some(&work), true, seconds(30)));
        assert_eq!((pace.share(&work), pace.left(&work, seconds(31))), (1.0, Some(seconds(0))));
    }

    #[test]
    fn a_long_file_counts_as_more_than_a_short_one_up_to_a_limit() {
        let work = Work::new([0, 8_000, u64::MAX]);
        assert_eq!((work.num_files(), work.of(1), work.of(2)), (3, 2_000, 12_000));
        assert_eq!(work.all(), 12_000 + COST_OF_FILE + MAX_COST);
    }

    #[test]
    fn a_rate_is_that_of_the_last_while() {
        let mut pace = Pace::default();
        assert_eq!(pace.rate(), None);
        for second in 0..100 {
            let per_second = if second < 50 { 10 } else { 20 };
            let before = pace.embedded.back().map_or(0, |entry| entry.1);
            pace.embedded(before + per_second, seconds(second));
        }
        assert_eq!(pace.rate(), Some(20.0));
    }

    #[test]
    fn more_files_than_were_counted_are_no_panic() {
        let work = Work::new([1]);
        let mut pace = Pace::default();
        (0..3).for_each(|_| pace.file(Some(&work), true, seconds(9)));
        assert_eq!((pace.share(&work), pace.left(&work, seconds(9))), (1.0, Some(seconds(0))));
        pace.file(None, true, seconds(9));
    }
}
