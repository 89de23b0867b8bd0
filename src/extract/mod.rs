//! Turns bytes into a [`Document`]. Only this module knows formats.

pub(crate) mod clock;
mod code;
pub mod containers;
mod data;
mod headed;
pub mod markdown;
mod markup;
mod notebook;
pub mod pdf;
pub(crate) mod protocol;
pub mod reader;
pub mod sandbox;
pub mod text;

use crate::document::{Document, Format};
use crate::error::{Error, Failure, Result};
use crate::text::decode;
use sandbox::ReadOptions;

/// Parses bytes as a notebook, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz_notebook(bytes: &[u8]) -> Option<Document> {
    notebook::extract(&decode::decode(bytes)?, Some(&|html| Some(html.to_owned()))).ok()
}

/// Parses a text in a markup language, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz_markup(text: &str, dialect: crate::document::Dialect) -> Document {
    markup::extract(text, dialect)
}

/// Parses a text as a kind of data, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz_data(text: &str, kind: crate::document::Data) -> Document {
    data::extract(text, kind)
}

/// Reads a document's bytes as `format`. A new format needs one arm here.
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
        Format::Code(language) => code::extract(&text()?, language, options)?,
        Format::Html => headed::extract(bytes, protocol::HTML, options)?,
        Format::Docx => headed::extract(bytes, protocol::DOCX, options)?,
        Format::Epub => headed::extract(bytes, protocol::EPUB, options)?,
        Format::Office(office) => headed::extract(bytes, protocol::reader_of(office), options)?,
        Format::Notebook => {
            let read_page = |html: &str| {
                let page = headed::extract(html.as_bytes(), protocol::HTML, options);
                page.ok().map(|page| page.text)
            };
            let outputs: Option<&notebook::ReadPage<'_>> =
                if options.notebook_outputs { Some(&read_page) } else { None };
            notebook::extract(&text()?, outputs)?
        }
        Format::Dialect(dialect) => markup::extract(&text()?, dialect),
        Format::Data(kind) => data::extract(&text()?, kind),
        Format::Image(_) => pdf::extract_image(bytes, options)?,
    })
}
