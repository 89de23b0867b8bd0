//! Items in, what was made of them on all processors out.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::{panic, thread};

use crate::error::{Error, Result};

/// Returns the processors this process may use.
pub(super) fn num_cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does `work` on every item, on all processors; the answers are in the order of the items. What
/// fails first ends it.
pub(super) fn on_all_cores<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let share = || -> Result<Vec<(usize, R)>> {
        let mut done = Vec::new();
        while let idx = next.fetch_add(1, Ordering::Relaxed)
            && let Some(item) = items.get(idx)
        {
            // Nobody needs the rest of what has failed.
            let answer = work(item).inspect_err(|_| next.store(items.len(), Ordering::Relaxed))?;
            done.push((idx, answer));
        }
        Ok(done)
    };
    let mut done = thread::scope(|scope| {
        let workers: Vec<_> = (0..num_cores()).map(|_| scope.spawn(share)).collect();
        let mut done = Vec::with_capacity(items.len());
        for worker in workers {
            let answers = worker.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
            done.extend(answers?);
        }
        Ok::<_, Error>(done)
    })?;
    done.sort_unstable_by_key(|it| it.0);
    Ok(done.into_iter().map(|it| it.1).collect())
}
