//! Collects changed paths until they are quiet. Pure: the time is given.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Paths that are remembered one by one. Beyond that, everything counts as changed, so that a flood of new
/// names takes no more memory, and one look at the folders instead of many.
const MAX_PATHS: usize = 10_000;

/// Paths that have been quiet long enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Batch {
    /// Anything may have changed.
    Everything,
    Paths(Vec<PathBuf>),
}

impl Batch {
    /// Whether a path, or a folder above it, is in the batch.
    pub(super) fn concerns(&self, path: &Path) -> bool {
        match self {
            Self::Everything => true,
            Self::Paths(paths) => paths.iter().any(|changed| path.starts_with(changed)),
        }
    }
}

/// Changed paths with the time of their last change.
pub(super) struct PendingChanges {
    quiet: Duration,
    paths: BTreeMap<PathBuf, Instant>,
    everything: Option<Instant>,
}

impl PendingChanges {
    pub(super) fn new(quiet: Duration) -> Self {
        Self { quiet, paths: BTreeMap::new(), everything: None }
    }

    /// Notes a change of one path.
    pub(super) fn add(&mut self, path: PathBuf, now: Instant) {
        self.paths.insert(path, now);
        if self.paths.len() > MAX_PATHS {
            self.paths.clear();
            self.add_all(now);
        }
    }

    /// Notes that anything may have changed.
    pub(super) fn add_all(&mut self, now: Instant) {
        self.everything = Some(now);
    }

    /// Notes a batch again that could not be updated.
    pub(super) fn put_back(&mut self, batch: Batch, now: Instant) {
        match batch {
            Batch::Everything => self.add_all(now),
            Batch::Paths(paths) => paths.into_iter().for_each(|path| self.add(path, now)),
        }
    }

    /// Returns and forgets the paths that have been quiet long enough; a path that is still written remains pending.
    pub(super) fn take(&mut self, now: Instant) -> Option<Batch> {
        let is_quiet = |time: Instant| now.saturating_duration_since(time) >= self.quiet;
        if self.everything.is_some_and(is_quiet) {
            self.everything = None;
            self.paths.retain(|_, time| !is_quiet(*time));
            return Some(Batch::Everything);
        }
        let ready: Vec<PathBuf> = self
            .paths
            .iter()
            .filter(|(_, time)| is_quiet(**time))
            .map(|(path, _)| path.clone())
            .collect();
        ready.iter().for_each(|path| _ = self.paths.remove(path));
        (!ready.is_empty()).then_some(Batch::Paths(ready))
    }

    /// Returns the time until something is quiet; a day if nothing is pending.
    pub(super) fn wait(&self, now: Instant) -> Duration {
        let times = self.paths.values().chain(&self.everything);
        let waits =
            times.map(|time| self.quiet.saturating_sub(now.saturating_duration_since(*time)));
        waits.min().unwrap_or(Duration::from_secs(86_400))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_once_it_is_quiet() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut pending = PendingChanges::new(Duration::from_millis(500));
        assert_eq!(pending.take(at(0)), None);
        pending.add("/a".into(), at(0));
        pending.add("/b".into(), at(300));
        assert_eq!(pending.wait(at(100)), Duration::from_millis(400));
        assert_eq!(pending.take(at(499)), None);
        pending.add("/b".into(), at(450));
        let taken = pending.take(at(500)).unwrap();
        assert_eq!(taken, Batch::Paths(vec!["/a".into()]));
        assert!(taken.concerns(Path::new("/a/b")) && !taken.concerns(Path::new("/b")));
        assert_eq!(pending.wait(at(500)), Duration::from_millis(450));
        pending.put_back(taken, at(500));
        assert_eq!(pending.take(at(960)), Some(Batch::Paths(vec!["/b".into()])));
        assert_eq!(pending.take(at(1000)), Some(Batch::Paths(vec!["/a".into()])));
    }

    #[test]
    fn a_flood_of_names_becomes_one_look_at_everything() {
        let start = Instant::now();
        let mut pending = PendingChanges::new(Duration::from_millis(500));
        for number in 0..=MAX_PATHS {
            pending.add(format!("/{number}").into(), start);
        }
        assert!(pending.paths.is_empty());
        assert_eq!(pending.take(start + Duration::from_millis(500)), Some(Batch::Everything));
    }

    #[test]
    fn everything_includes_what_is_quiet() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut pending = PendingChanges::new(Duration::from_millis(500));
        pending.add("/a".into(), at(0));
        pending.add_all(at(0));
        pending.add("/b".into(), at(400));
        assert_eq!(pending.take(at(500)), Some(Batch::Everything));
        assert_eq!(pending.take(at(600)), None);
        assert_eq!(pending.take(at(900)), Some(Batch::Paths(vec!["/b".into()])));
    }
}
