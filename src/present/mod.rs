//! Results in, bytes out: one face for programs, one for people.
//!
//! Knows the result types of the pipelines and the store; computes nothing and asks nobody.

use std::path::PathBuf;

use crate::document::Binding;
use crate::ingest::IngestReport;
use crate::skill::build::Built;
use crate::skill::install::Found;

pub mod cache;
pub mod doctor;
pub mod eval;
pub mod json;
pub mod schema;
pub mod terminal;
pub mod text;
pub mod update;
pub mod why;

/// What a run of `build` did.
#[derive(Debug)]
pub struct BuildReport {
    /// The skill that was built.
    pub built: Built,
    /// What was imported before, as typed.
    pub imported: Option<PathBuf>,
    /// What came of adding its Markdown to the knowledge base, if that was wanted.
    pub ingested: Option<IngestReport>,
}

/// What is set up on this machine for a data directory.
#[derive(Debug, Clone)]
pub struct Setup {
    /// Where the database and the configuration lie.
    pub data_dir: PathBuf,
    /// The database file, whether it exists or not.
    pub database: PathBuf,
    /// What the configuration asks for.
    pub model_configured: String,
    /// Where that model's files are; `None` if they are not on this machine.
    pub model_dir: Option<PathBuf>,
    /// Where ONNX Runtime is; `None` if it is not on this machine.
    pub runtime: Option<PathBuf>,
    /// What the database was built with; `None` before the first document.
    pub binding: Option<Binding>,
    /// Who reads scans.
    pub ocr: OcrSetup,
    /// kb's own skill where agents look.
    pub agent_skills: Vec<Found>,
}

/// What OCR there is.
#[derive(Debug, Clone)]
pub struct OcrSetup {
    /// `ingestion.enable_ocr`.
    pub mode: String,
    /// Where Tesseract is; `None` if it is not on this machine.
    pub tesseract: Option<PathBuf>,
    /// `ingestion.ocr_languages`.
    pub languages: String,
}

/// A setting with its value and where that comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Dotted name.
    pub key: String,
    /// As YAML writes it.
    pub value: String,
    /// `default`, a file, a variable or a flag.
    pub origin: String,
}
