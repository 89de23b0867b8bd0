//! Names the steps of finding, fetching and preparing a model.

use std::path::PathBuf;

/// A step of finding, fetching and preparing a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelEvent {
    /// It already exists.
    Found {
        /// `model all-MiniLM-L6-v2` or `ONNX Runtime`.
        what: String,
        /// Its path.
        path: PathBuf,
    },
    /// A download begins.
    Fetching {
        /// `model all-MiniLM-L6-v2` or `ONNX Runtime 1.31.1`.
        what: String,
        /// The source.
        source: String,
        /// The size in megabytes, if known.
        size_mb: Option<u64>,
        /// The target path.
        destination: PathBuf,
    },
    /// The progress of one file of a download.
    Progress {
        /// The file.
        file: String,
        /// Bytes fetched so far.
        done_bytes: u64,
        /// Total bytes.
        total_bytes: u64,
    },
    /// A download is complete and verified.
    Fetched {
        /// As in [`ModelEvent::Fetching`].
        what: String,
        /// Its path.
        path: PathBuf,
    },
    /// A library was found, but kb does not know its content and does not use it.
    NotAdopted {
        /// `ONNX Runtime`.
        what: String,
        /// Its path.
        path: PathBuf,
        /// Its SHA-256, lower-case hexadecimal.
        sha256: String,
    },
    /// A source failed; the next one is tried.
    SourceFailed {
        /// As in [`ModelEvent::Fetching`].
        what: String,
        /// The source.
        source: String,
        /// The reason.
        reason: String,
    },
    /// Another process is fetching or preparing; this one waits for it.
    Waiting,
    /// This file of a graph is not as kb wrote it; the graph is built again.
    Changed(PathBuf),
    /// The graph is being built from the weights; show [`OPTIMISING`](crate::OPTIMISING).
    Optimising,
}
