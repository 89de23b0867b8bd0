//! Reads untrusted formats, only in the child process.
//!
//! The program names nothing here but the entry point of the child ([`run_child`]); a test enforces
//! this. Definitions that the parent and the child share are in `kb_extract::protocol`.

use kb_base::{document, error, limits, numeric, text};
use kb_extract as extract;

mod account;
mod calendar;
mod cell_names;
mod characters;
mod code;
mod compressed;
mod data;
mod dita;
mod docx;
mod drawing;
mod drawio;
mod embedded;
mod enex;
mod epub;
mod fb2;
mod figures;
mod flow;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod grid;
mod html;
mod mail;
mod markup;
mod math;
mod members;
mod mhtml;
mod mime;
#[cfg(debug_assertions)]
mod misbehaving;
mod notebook;
mod number_format;
mod numerals;
mod odf;
mod outlook;
mod package;
mod package_kind;
mod parsed;
mod parts;
mod pdf;
mod pptx;
mod remarks;
mod rtf;
mod serve;
mod sheet;
mod spaces;
mod spreadsheetml;
mod table;
#[cfg(test)]
mod testing;
mod writer;
mod xlsx;
mod xml;

use std::io;

use crate::error::FailureKind;
use crate::extract::protocol::{
    AnswerLine, Pictures, ReadFailure, ReadingSummary, Recognised, Request,
};
use crate::text::decode::{self, Decoded};

pub use serve::run_child;

/// Sends a line to the parent.
type Emit<'a> = dyn FnMut(AnswerLine) -> io::Result<()> + 'a;

/// Asks the parent what Tesseract reads on pictures.
type Ask<'a> = dyn Fn(Pictures) -> io::Result<Vec<Recognised>> + 'a;

/// The input of a reader.
struct ReaderInput<'a> {
    /// The file.
    bytes: &'a [u8],
    /// How to read it.
    request: &'a Request,
    /// For the readers that use OCR.
    ask: &'a Ask<'a>,
}

impl ReaderInput<'_> {
    /// Returns the file as text.
    fn text(&self) -> Result<Decoded, ReadFailure> {
        decode::read(self.bytes, &[]).ok_or_else(|| ReadFailure::new(FailureKind::NotText, ""))
    }
}

/// Reads a document and emits lines in the order of the protocol, up to the last one, which it returns.
type Read = fn(&ReaderInput<'_>, &mut Emit<'_>) -> Result<ReadingSummary, EarlyEnd>;

/// Why a reader ends early.
#[derive(Debug)]
enum EarlyEnd {
    /// The document cannot be read.
    Failed(ReadFailure),
    /// The parent no longer reads the output.
    Io(io::Error),
}

impl From<ReadFailure> for EarlyEnd {
    fn from(failed: ReadFailure) -> Self {
        Self::Failed(failed)
    }
}

impl From<io::Error> for EarlyEnd {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
