//! Bytes and the name of a reader in, pages and blocks out: every library that reads a risky format
//! runs in a child process.
//!
//! ```text
//! parent ═ pipe ═ serve ─► reader ─► head, pages, tail
//! ```
//!
//! Such code is never loaded into the process that holds the database: `catch_unwind` holds neither
//! a stack overflow nor a failed allocation, and both happen on real files.

pub(super) mod protocol;

pub(super) mod parent;
mod workers;

pub(super) mod readers;
pub(super) mod serve;

mod options;

pub use options::ReadOptions;
pub use serve::{CHILD_COMMAND, run_child};

/// Reads bytes as the reader of this name does, without a process of its own.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz_reader(name: &str, bytes: &[u8]) {
    let reader = readers::by_name(name).expect("a reader of this program");
    let input = readers::Input { bytes, password: None, ocr: None };
    let _ = (reader.read)(&input, &mut |line| {
        let bytes = protocol::encode(&line);
        assert!(protocol::decode::<protocol::Line>(&bytes).is_some());
        Ok(())
    });
}

/// Takes bytes for lines of the protocol.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz_protocol(bytes: &[u8]) {
    if let Some(line) = protocol::decode::<protocol::Line>(bytes) {
        let again = protocol::encode(&line);
        assert!(protocol::decode::<protocol::Line>(&again).is_some());
    }
    let _ = protocol::decode::<protocol::Request>(bytes);
}
