//! Feeds bytes to each parser in this process. For fuzzing and for tests; not part of the program.

#![expect(clippy::missing_panics_doc, reason = "a panic is a finding")]

use std::io;

use super::{Ask, Input, pdf, table};
use crate::document::{Data, Dialect, Document, Language};
use crate::extract::protocol::{self, Line, Request};
use crate::text::decode;

impl<'a> Input<'a> {
    /// Returns the input of a reader that needs nothing but the file.
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        let ask: &Ask<'_> = &|_| Err(io::ErrorKind::Unsupported.into());
        Self { bytes, password: None, ocr_pages: &[], ask, kind: None }
    }
}

/// Returns how long the result of a text may be, in bytes. A file of a megabyte must not become hundreds.
pub fn max_output(num_bytes: usize) -> usize {
    32 * num_bytes + 20_000
}

/// Divides source code.
pub fn code(text: &str, language: Language) -> Document {
    super::code::extract(text, language)
}

/// Parses bytes as a notebook.
pub fn notebook(bytes: &[u8]) -> Option<Document> {
    let text = decode::decode(bytes)?;
    super::notebook::extract(&text, Some(&|html| Some(html.to_owned()))).ok()
}

/// Parses a text in a markup language.
pub fn markup(text: &str, dialect: Dialect) -> Document {
    super::markup::extract(text, dialect)
}

/// Parses a text as a kind of data.
pub fn data(text: &str, kind: Data) -> Document {
    super::data::extract(text, kind)
}

/// Lays out the words of a scan.
pub fn scan(table: &str) {
    pdf::ocr::fuzz(table);
}

/// Reads bytes with the named reader.
pub fn read(name: &str, bytes: &[u8]) {
    let reader = table::by_name(name).expect("a reader of this program");
    let _ = (reader.read)(&Input::of(bytes), &mut |line| {
        let bytes = protocol::encode(&line);
        assert!(protocol::decode::<Line>(&bytes).is_some());
        Ok(())
    });
}

/// Parses bytes as lines of the protocol.
pub fn protocol(bytes: &[u8]) {
    if let Some(line) = protocol::decode::<Line>(bytes) {
        let again = protocol::encode(&line);
        assert!(protocol::decode::<Line>(&again).is_some());
    }
    let _ = protocol::decode::<Request>(bytes);
}
