//! One binary for all tests that drive `kb` from outside, so that its libraries are linked once.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

/// PDF: the child process, its limits, the classes of failure.
mod pdf;
