//! Finds out who reads scans, from the settings and `PATH`.

use std::path::PathBuf;

use crate::app::Session;
use crate::app::status::OcrSetup;
use crate::config::OcrMode;
use crate::extract::pdf::Ocr;

/// The program, as its packages install it.
const TESSERACT: &str = "tesseract";

/// Returns what ingestion is to do with pages that are pictures of text.
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

/// Returns what `kb status` says of OCR.
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
