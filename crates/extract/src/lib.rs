//! Turns bytes into a [`Document`], and a document into chunks. Untrusted formats are read in a child process.

use kb_base::{document, error, files, limits, text};

mod boilerplate;
#[doc(hidden)]
pub mod built_in;
pub mod chunk;
#[doc(hidden)]
pub mod clock;
mod code;
pub mod containers;
pub mod detect;
#[doc(hidden)]
pub mod headed;
pub mod markdown;
mod parsed;
pub mod pdf;
pub mod picture;
pub mod plain;
#[doc(hidden)]
pub mod protocol;
pub mod sandbox;
mod words;

use crate::document::{Document, Format};
use crate::error::{Error, Failure, Result};
use crate::text::decode;
use sandbox::ReadOptions;

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
    let document = match format {
        Format::Pdf => pdf::extract(bytes, options)?,
        Format::Markdown => markdown::extract(&text()?),
        Format::Text => plain::extract(&text()?),
        Format::Note => plain::extract_note(&text()?),
        Format::Code(language) => code::extract(&text()?, language, options)?,
        Format::Headed(kind) => headed::extract(bytes, kind, options)?,
        Format::Notebook => {
            let reader = match options.notebook_outputs {
                true => protocol::NOTEBOOK_WITH_RESULTS,
                false => protocol::NOTEBOOK,
            };
            parsed::extract(text()?, reader, None, options)?
        }
        Format::Dialect(dialect) => {
            parsed::extract(text()?, protocol::MARKUP, Some(dialect.as_str()), options)?
        }
        Format::Data(kind) => {
            parsed::extract(text()?, protocol::DATA, Some(kind.as_str()), options)?
        }
        Format::Image(_) => pdf::extract_image(bytes, options)?,
    };
    Ok(words::count(document))
}
