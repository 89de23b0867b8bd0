//! Selects the OCR program from the settings and `PATH`.

use std::path::PathBuf;

use crate::app::Session;
use crate::app::status::OcrSetup;
use crate::config::OcrMode;
use crate::extract::pdf::Ocr;

/// Name of the program.
const TESSERACT: &str = "tesseract";

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
