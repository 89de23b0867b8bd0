//! Selects the OCR program from the settings and `PATH`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::Session;
use crate::config::OcrMode;
use crate::extract::sandbox::Ocr;
use crate::text::fields;

/// Name of the program.
const TESSERACT: &str = "tesseract";

/// The OCR setup.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "Ocr")]
pub struct OcrSetup {
    /// `ingestion.enable_ocr`: `auto`, `always` or `never`.
    pub mode: String,
    /// Where Tesseract is; null if it is not on this machine.
    #[serde(serialize_with = "fields::path_or_null")]
    pub tesseract: Option<PathBuf>,
    /// `ingestion.ocr_languages`.
    pub languages: String,
}

/// Returns the OCR options for ingestion.
pub fn options(session: &Session) -> Ocr {
    let settings = &session.config().ingestion;
    if settings.enable_ocr == OcrMode::Never {
        return Ocr::Never;
    }
    match find(session) {
        None => Ocr::Missing,
        Some(program) => Ocr::Tesseract {
            program,
            languages: settings.ocr_languages.clone(),
            is_forced: settings.enable_ocr == OcrMode::Always,
        },
    }
}

/// Returns the OCR setup for `kb status`.
pub fn setup(session: &Session) -> OcrSetup {
    let settings = &session.config().ingestion;
    OcrSetup {
        mode: settings.enable_ocr.as_str().to_owned(),
        tesseract: find(session),
        languages: settings.ocr_languages.clone(),
    }
}

/// Returns the first Tesseract on `PATH`.
fn find(session: &Session) -> Option<PathBuf> {
    session.environment.program(TESSERACT)
}
