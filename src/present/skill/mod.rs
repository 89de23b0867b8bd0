//! What skill commands return in, bytes out: text for people, JSON for programs.

pub mod json;
pub mod text;

use std::path::PathBuf;

use crate::ingest::IngestReport;
use crate::skill::build::Built;

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
