//! Turns bytes into a [`Document`], and a document into chunks. Untrusted formats are read in a child process.

use kb_base::{document, error, limits, text};

mod boilerplate;
#[doc(hidden)]
pub mod built_in;
pub mod chunk;
#[doc(hidden)]
pub mod clock;
mod code;
pub mod containers;
pub mod detect;
mod extracted;
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

use crate::document::{Document, Format, WordAccount};
use crate::error::{Error, FailureKind, Result};
use crate::text::decode;
use sandbox::ReadOptions;

pub use extracted::ExtractedFile;

/// Reads a file's bytes as `format`. If everything in a file counts as menus, running heads and the like,
/// everything is read: text that surrounds the content of other files is the content of this one.
///
/// # Errors
///
/// [`Error::Extract`] with the class of failure.
pub fn extract(bytes: &[u8], format: Format, options: &ReadOptions) -> Result<ExtractedFile> {
    let extracted = read(bytes, format, options)?;
    let Document { blocks, metadata, .. } = &extracted.document;
    let lacks_shown = metadata.words.as_ref().is_some_and(WordAccount::lacks_shown);
    if !blocks.is_empty() || !lacks_shown || options.keeps_all {
        return Ok(extracted);
    }
    read(bytes, format, &ReadOptions { keeps_all: true, ..options.clone() })
}

/// Reads a file once. A new format needs one arm here.
fn read(bytes: &[u8], format: Format, options: &ReadOptions) -> Result<ExtractedFile> {
    let mut encoding = None;
    let mut text = || {
        let decoded = decode::read(bytes, &[])
            .ok_or(Error::Extract { failure: FailureKind::NotText, detail: String::new() })?;
        encoding = decoded.encoding;
        Ok::<_, Error>(decoded.text)
    };
    let mut extracted = match format {
        Format::Pdf => pdf::extract(bytes, options)?,
        Format::Headed(kind) => headed::extract(bytes, kind, options)?,
        Format::Image(_) => ExtractedFile::new(pdf::extract_image(bytes, options)?, format),
        Format::Markdown | Format::Note => ExtractedFile::new(markdown::extract(&text()?), format),
        Format::Text => ExtractedFile::new(plain::extract(&text()?), format),
        Format::Code(language) => {
            ExtractedFile::new(code::extract(&text()?, language, options)?, format)
        }
        Format::Notebook => {
            let reader = if options.notebook_outputs {
                protocol::NOTEBOOK_WITH_RESULTS
            } else {
                protocol::NOTEBOOK
            };
            ExtractedFile::new(parsed::extract(text()?, reader, None, options)?, format)
        }
        Format::Dialect(dialect) => {
            let kind = Some(dialect.as_str());
            ExtractedFile::new(parsed::extract(text()?, protocol::MARKUP, kind, options)?, format)
        }
        Format::Data(kind) => {
            let kind = Some(kind.as_str());
            ExtractedFile::new(parsed::extract(text()?, protocol::DATA, kind, options)?, format)
        }
    };
    if encoding.is_some() {
        extracted.document.metadata.encoding = encoding;
    }
    // Words are counted once the document is complete: readers only count what they leave out.
    words::count(&mut extracted.document);
    let metadata = &mut extracted.document.metadata;
    if let Some(words) = metadata.words.as_ref().filter(|words| words.keeps_little()) {
        metadata.warnings.push(format!("most of its words were left out: {}", words.describe()));
    }
    Ok(extracted)
}
