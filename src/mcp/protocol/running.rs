//! Keeps the running calls, so that they end with the server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::mcp::protocol::Call;

/// The running calls, which are cancelled when the server ends.
#[derive(Default)]
pub(super) struct RunningCalls(Mutex<Vec<Call>>);

impl RunningCalls {
    /// Adds a call until the returned guard is dropped.
    pub(super) fn enter(self: &Arc<Self>, call: Call) -> CallGuard {
        self.calls().push(call.clone());
        CallGuard(Arc::clone(self), call)
    }

    pub(super) fn cancel_all(&self) {
        self.calls().iter().for_each(Call::cancel);
    }

    fn calls(&self) -> MutexGuard<'_, Vec<Call>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
