//! Keeps the running calls, so that they end with the server, and knows whether other threads still work for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time;

use crate::Call;

/// How often the end of the work of other threads is looked for.
const LOOK: Duration = Duration::from_millis(5);

/// The running calls, which are cancelled when the server ends.
#[derive(Default)]
pub(super) struct RunningCalls {
    calls: Mutex<Vec<Call>>,
    work: Arc<()>,
}

/// Held by a thread while it works for the server.
pub(super) type AtWork = Arc<()>;

impl RunningCalls {
    pub(super) fn at_work(&self) -> AtWork {
        Arc::clone(&self.work)
    }

    /// Waits until no thread works for the server.
    pub(super) async fn no_work(&self) {
        self.at_most(0).await;
    }

    /// Waits until at most so many requests are worked on.
    pub(super) async fn at_most(&self, most: usize) {
        while Arc::strong_count(&self.work) > 1 + most {
            time::sleep(LOOK).await;
        }
    }

    /// Adds a call until the returned guard is dropped.
    pub(super) fn enter(self: &Arc<Self>, call: Call) -> CallGuard {
        self.calls().push(call.clone());
        CallGuard(Arc::clone(self), call)
    }

    pub(super) fn cancel_all(&self) {
        self.calls().iter().for_each(Call::cancel);
    }

    fn calls(&self) -> MutexGuard<'_, Vec<Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A guard for a running call. Cancels the call when its answer is no longer awaited.
pub(super) struct CallGuard(Arc<RunningCalls>, Call);

impl CallGuard {
    /// Cancels the call; its answer is still awaited.
    pub(super) fn cancel(&self) {
        self.1.cancel();
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.1.cancel();
        self.0.calls().retain(|call| !call.is(&self.1));
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;

    #[test]
    fn the_work_of_other_threads_is_awaited() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _inside = runtime.enter();
        let running = RunningCalls::default();
        let is_over =
            || pin!(running.no_work()).poll(&mut Context::from_waker(Waker::noop())).is_ready();
        assert!(is_over());
        let work = running.at_work();
        assert!(!is_over());
        drop(work);
        assert!(is_over());
    }
}
