//! Defines the limits and options of a reading child.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::slots::{OcrWork, WorkerSlots};
use crate::protocol::PDF_READERS;

/// Which program reads scanned pages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Ocr {
    /// None, as OCR is disabled.
    #[default]
    Never,
    /// None: OCR is enabled, but Tesseract is not installed.
    Missing,
    /// None: the Tesseract that is installed cannot run in its box.
    Unusable {
        /// Why, as a part of a sentence.
        reason: String,
    },
    /// Tesseract.
    Tesseract {
        /// The program.
        tesseract: Tesseract,
        /// Languages as Tesseract names them, joined by `+`.
        languages: String,
        /// Whether OCR also runs on pages that have text.
        is_forced: bool,
    },
}

/// The program that reads pictures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tesseract {
    /// Its path: a program that the system starts without the help of another, such as a shell.
    pub program: PathBuf,
    /// Variables that it gets in addition to those that it inherits.
    pub variables: Vec<(&'static str, OsString)>,
}

impl Ocr {
    /// Whether OCR can run now.
    pub fn is_available(&self) -> bool {
        matches!(self, Self::Tesseract { .. })
    }
}

/// How a document is read in a child, and the limits.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The program that is started as `<reader> __read`: `kb` itself.
    pub reader: PathBuf,
    /// Names of the readers to try, best first.
    pub readers: Vec<&'static str>,
    /// Opens encrypted documents; also allowed for documents that need no password.
    pub password: Option<String>,
    /// How scanned pages are read.
    pub ocr: Ocr,
    /// Limits how many pages are read by OCR in parallel; clones share it.
    pub(crate) ocr_slots: Arc<WorkerSlots>,
    /// Whether bookmarks determine the headings; false only to measure the pages without them.
    pub uses_outline: bool,
    /// Whether the short results in a notebook are read.
    pub notebook_outputs: bool,
    /// Whether everything is read that a document shows, menus and running heads too.
    pub keeps_all: bool,
    /// Whether comments and notes of people are left out.
    pub omits_remarks: bool,
    /// Address space of the child, in bytes.
    pub max_memory_bytes: u64,
    /// Processor time of the child, in seconds.
    pub cpu_seconds: u64,
    /// Additional processor time per page, in milliseconds.
    pub cpu_ms_per_page: u64,
    /// Processor time of the child, whatever the number of pages: what the user allows.
    pub max_cpu: Duration,
    /// Becomes true when the run is cancelled, which ends the child.
    pub is_cancelled: Arc<AtomicBool>,
    /// How long the parent waits. Generous, as it is meant for a child that sleeps, and on a busy
    /// machine a second of processor time takes many seconds.
    pub wall: Duration,
    /// Additional waiting time per page.
    pub wall_per_page: Duration,
    /// Most bytes that the parent reads from the child.
    pub max_output_bytes: u64,
}

impl ReadOptions {
    /// Returns the default limits, which are enough for the 222 files they were tested with,
    /// including damaged ones.
    pub fn new(reader: PathBuf) -> Self {
        Self {
            reader,
            readers: PDF_READERS.to_vec(),
            password: None,
            ocr: Ocr::Never,
            ocr_slots: Arc::default(),
            uses_outline: true,
            notebook_outputs: true,
            keeps_all: false,
            omits_remarks: false,
            max_memory_bytes: 3 << 29, // 1.5 GiB
            cpu_seconds: 30,
            cpu_ms_per_page: 50,
            max_cpu: Duration::from_secs(600),
            is_cancelled: Arc::default(),
            wall: Duration::from_secs(180),
            wall_per_page: Duration::from_millis(300),
            max_output_bytes: 256 << 20,
        }
    }

    /// Reads at most this many pages by OCR in parallel, and no more than there are processors.
    pub fn limit_ocr(&mut self, num_workers: usize) {
        self.ocr_slots = Arc::new(WorkerSlots::new(num_workers));
    }

    /// Returns how far the OCR of all documents that were read with these options has come.
    pub fn ocr_work(&self) -> OcrWork {
        self.ocr_slots.work()
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }

    /// Returns the processor time that the user allows, in whole seconds.
    pub(super) fn max_cpu_seconds(&self) -> u64 {
        self.max_cpu.as_secs() + u64::from(self.max_cpu.subsec_nanos() > 0)
    }
}
