//! Bytes in, a [`Document`] out: the only code that knows formats.

pub mod child;
pub mod code;
mod docx;
mod epub;
mod headed;
mod html;
pub mod markdown;
mod notebook;
mod parts;
pub mod pdf;
mod table;
#[cfg(test)]
mod testing;
pub mod text;
mod xml;

use crate::document::{Document, Format};
use crate::error::{Error, Failure, Result};
use crate::ingest::decode;
use child::{ReadOptions, readers};

/// Reads bytes as a notebook.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz_notebook(bytes: &[u8]) {
    if let Some(text) = decode::decode(bytes) {
        let _ = notebook::extract(&text);
    }
}

/// Reads a document's bytes as `format`. A new format is one arm here.
///
/// # Errors
///
/// [`Error::Extract`] with the class of failure.
pub fn extract(bytes: &[u8], format: Format, options: &ReadOptions) -> Result<Document> {
    let text = || {
        decode::decode(bytes)
            .ok_or(Error::Extract { failure: Failure::NotText, detail: String::new() })
    };
    Ok(match format {
        Format::Pdf => pdf::extract(bytes, options)?,
        Format::Markdown => markdown::extract(&text()?),
        Format::Text => text::extract(&text()?),
        Format::Note => text::extract_note(&text()?),
        Format::Code(language) => code::extract(&text()?, language),
        Format::Html => headed::extract(bytes, readers::HTML, options)?,
        Format::Docx => headed::extract(bytes, readers::DOCX, options)?,
        Format::Epub => headed::extract(bytes, readers::EPUB, options)?,
        Format::Notebook => notebook::extract(&text()?)?,
        Format::Image(_) => pdf::extract_image(bytes, options)?,
    })
}
