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
mod odf;
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

use crate::document::Language;
use crate::extract::protocol::{Line, OcrJob, ReadFailure};

pub use serve::run_child;

/// Sends a line to the parent.
type Emit<'a> = dyn FnMut(Line) -> io::Result<()> + 'a;

/// The input of a reader.
struct Input<'a> {
    /// The file.
    bytes: &'a [u8],
    /// Opens an encrypted file.
    password: Option<&'a str>,
    /// For the readers that use OCR.
    ocr: Option<&'a OcrJob>,
    /// Of source code.
    language: Option<Language>,
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
pub(crate) fn fuzz_code(text: &str, language: Language) -> crate::document::Document {
    code::extract(text, language)
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
    let input = Input { bytes, password: None, ocr: None, language: None };
    let _ = (reader.read)(&input, &mut |line| {
        let bytes = protocol::encode(&line);
        assert!(protocol::decode::<Line>(&bytes).is_some());
        Ok(())
    });
}
