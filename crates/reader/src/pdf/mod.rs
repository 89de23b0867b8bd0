//! Reads PDF files and scanned pages: one file per library, and the layout analysis.

mod layout;
pub(super) mod ocr;
mod picture;
pub(super) mod with_hayro;
pub(super) mod with_image;
pub(super) mod with_pdf_extract;
