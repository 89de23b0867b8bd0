//! Who reads scans: settings and `PATH` in, [`Ocr`] out.

use std::path::PathBuf;

use crate::cli::context::Context;
use crate::config::OcrMode;
use crate::extract::pdf::Ocr;
use crate::present::OcrSetup;

/// The program, as its packages install it.
const TESSERACT: &str = "tesseract";

/// Returns what ingestion is to do with pages that are pictures of text.
pub(super) fn options(context: &Context) -> Ocr {
    let settings = &context.config().ingestion;
    if settings.enable_ocr == OcrMode::Never {
        return Ocr::Never;
    }
    match find(context) {
        None => Ocr::Missing,
        Some(program) => Ocr::Tesseract {
            program,
            languages: settings.ocr_languages.clone(),
            is_forced: settings.enable_ocr == OcrMode::Always,
        },
    }
}

/// Returns what `kb status` says of OCR.
pub(super) fn setup(context: &Context) -> OcrSetup {
    let settings = &context.config().ingestion;
    OcrSetup {
        mode: settings.enable_ocr.as_str().to_owned(),
        tesseract: find(context),
        languages: settings.ocr_languages.clone(),
    }
}

/// Returns the first Tesseract on `PATH`.
fn find(context: &Context) -> Option<PathBuf> {
    context.environment.program(TESSERACT)
}
