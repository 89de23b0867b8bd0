//! What a child may take and what it is told.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::workers::Workers;
use crate::extract::pdf::scan::{Ocr, Slots};
use crate::extract::protocol::PDF_READERS;

/// What reading a document in a child may cost, and who does it.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The program that is started as `<reader> __read`: `kb` itself.
    pub reader: PathBuf,
    /// Children that wait for the next document; clones share them.
    pub(in crate::extract) workers: Arc<Workers>,
    /// Names of the readers to try, best first.
    pub readers: Vec<&'static str>,
    /// Opens encrypted documents; one that opens without a password is read in any case.
    pub password: Option<String>,
    /// Who reads pages that are pictures of text.
    pub ocr: Ocr,
    /// Bounds how many pages are read so at once; clones share it.
    pub(in crate::extract) ocr_slots: Arc<Slots>,
    /// Whether bookmarks tell the headings; off only to measure what the pages tell by themselves.
    pub uses_outline: bool,
    /// Address space of the child, in bytes.
    pub max_memory_bytes: u64,
    /// Processor time of the child, in seconds.
    pub cpu_seconds: u64,
    /// What each page adds to that, in milliseconds.
    pub cpu_ms_per_page: u64,
    /// How long the parent waits. Generous: it is for a child that sleeps, and on a busy machine
    /// a second of processor time takes many.
    pub wall: Duration,
    /// What each page adds to that.
    pub wall_per_page: Duration,
    /// Most bytes the parent takes from the child.
    pub max_output_bytes: u64,
}

impl ReadOptions {
    /// Returns the default limits: enough for the 222 files, damaged ones among them, they were
    /// tried on.
    pub fn new(reader: PathBuf) -> Self {
        Self {
            reader,
            workers: Arc::default(),
            readers: PDF_READERS.to_vec(),
            password: None,
            ocr: Ocr::Never,
            ocr_slots: Arc::default(),
            uses_outline: true,
            max_memory_bytes: 3 << 29, // 1.5 GiB
            cpu_seconds: 30,
            cpu_ms_per_page: 50,
            wall: Duration::from_secs(180),
            wall_per_page: Duration::from_millis(300),
            max_output_bytes: 256 << 20,
        }
    }
}
