//! Reads PDF files and pictures of text: one file for each library, and the layout of pages.

mod layout;
mod ocr;
pub(super) mod with_hayro;
pub(super) mod with_image;
pub(super) mod with_pdf_extract;
pub(super) mod with_unpdf;
