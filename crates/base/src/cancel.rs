//! Hands the flag that cancels a request to the connections which the request opens.
//!
//! This belongs to the thread on purpose. A use case opens the database in many places that report nothing and have no
//! observer; each of them, and every reader below, would take one more argument for a flag that only the connection
//! looks at.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

thread_local! {
    static CURRENT: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Puts the earlier flag back, also after a panic.
struct EarlierFlag(Option<Arc<AtomicBool>>);

impl Drop for EarlierFlag {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// Runs `work`; what it opens on this thread is cancelled by `flag`.
pub fn under<T>(flag: Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    let _earlier = EarlierFlag(CURRENT.replace(Some(flag)));
    work()
}

/// Returns the flag of the request that this thread works for; `None` if nothing cancels it.
#[must_use]
pub fn current() -> Option<Arc<AtomicBool>> {
    CURRENT.with_borrow(Clone::clone)
}

#[cfg(test)]
mod tests {
    use std::panic;

    use super::*;

    #[test]
    fn a_flag_holds_for_the_work_below_it() {
        let (outer, inner) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let is = |flag: &Arc<AtomicBool>| current().is_some_and(|found| Arc::ptr_eq(&found, flag));
        under(Arc::clone(&outer), || {
            assert!(under(Arc::clone(&inner), || is(&inner)));
            assert!(is(&outer));
            let panics = || under(Arc::clone(&inner), || panic!("on purpose"));
            assert!(panic::catch_unwind(panic::AssertUnwindSafe(panics)).is_err());
            assert!(is(&outer));
        });
        assert!(current().is_none());
    }
}
