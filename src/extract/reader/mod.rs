//! Reads untrusted formats, only in the child process.
//!
//! No code outside this folder names anything in it except the entry point of the child
//! ([`run_child`]); a test enforces this. Definitions that the parent and the child share are in
//! `protocol.rs`.

mod code;
mod docx;
mod epub;
mod fb2;
mod html;
mod mail;
mod markdown_table;
mod math;
mod members;
mod mhtml;
#[cfg(debug_assertions)]
mod misbehaving;
mod odf;
mod parsed;
mod parts;
mod pdf;
mod pptx;
mod rtf;
mod serve;
mod sheet;
mod table;
#[cfg(test)]
mod testing;
mod writer;
mod xlsx;
mod xml;

use std::io;

#[cfg(any(test, feature = "fuzzing"))]
use crate::document::{Data, Dialect, Document, Language};
use crate::extract::protocol::{Line, Picture, ReadFailure, Recognised};
#[cfg(any(test, feature = "fuzzing"))]
use crate::extract::{data, markup, notebook};

pub use serve::run_child;

/// Sends a line to the parent.
type Emit<'a> = dyn FnMut(Line) -> io::Result<()> + 'a;

/// Asks the parent what Tesseract reads on a picture.
type Ask<'a> = dyn Fn(Picture) -> io::Result<Recognised> + 'a;

/// The input of a reader.
struct Input<'a> {
    /// The file.
    bytes: &'a [u8],
    /// Opens an encrypted file.
    password: Option<&'a str>,
    /// The pages that OCR reads.
    ocr_pages: &'a [u32],
    /// For the readers that use OCR.
    ask: &'a Ask<'a>,
    /// The word of the language of a text.
    kind: Option<&'a str>,
}

#[cfg(any(test, feature = "fuzzing"))]
impl<'a> Input<'a> {
    /// Returns the input of a reader that needs nothing but the file.
    fn of(bytes: &'a [u8]) -> Self {
        let ask: &Ask<'_> = &|_| Err(io::ErrorKind::Unsupported.into());
        Self { bytes, password: None, ocr_pages: &[], ask, kind: None }
    }
}

/// Why a reader ends early.
#[derive(Debug)]
enum Stop {
    /// The document cannot be read.
    Failed(ReadFailure),
    /// The parent no longer reads the output.
    Io(io::Error),
}

impl From<ReadFailure> for Stop {
    fn from(failed: ReadFailure) -> Self {
        Self::Failed(failed)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Divides source code in this process, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz_code(text: &str, language: Language) -> Document {
    code::extract(text, language)
}

/// Parses bytes as a notebook in this process, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz_notebook(bytes: &[u8]) -> Option<Document> {
    let text = crate::text::decode::decode(bytes)?;
    notebook::extract(&text, Some(&|html| Some(html.to_owned()))).ok()
}

/// Parses a text in a markup language in this process, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz_markup(text: &str, dialect: Dialect) -> Document {
    markup::extract(text, dialect)
}

/// Parses a text as a kind of data in this process, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz_data(text: &str, kind: Data) -> Document {
    data::extract(text, kind)
}

/// Lays out the words of a scan, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz_scan(table: &str) {
    pdf::ocr::fuzz(table);
}

/// Reads bytes with the named reader in this process, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz(name: &str, bytes: &[u8]) {
    use crate::extract::protocol;

    let reader = table::by_name(name).expect("a reader of this program");
    let _ = (reader.read)(&Input::of(bytes), &mut |line| {
        let bytes = protocol::encode(&line);
        assert!(protocol::decode::<Line>(&bytes).is_some());
        Ok(())
    });
}
