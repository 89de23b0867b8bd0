//! Feeds bytes to each parser in this process. For fuzzing and for tests; not part of the program.

#![expect(clippy::missing_panics_doc, reason = "a panic is a finding")]

use std::io;
use std::sync::LazyLock;

use super::{Ask, ReaderInput, pdf, table};
use crate::document::{Document, Format};
use crate::extract::protocol::{self, AnswerLine, Request};

impl<'a> ReaderInput<'a> {
    /// Returns the input of a reader that needs nothing but the file.
    pub(crate) fn of(bytes: &'a [u8]) -> Self {
        static REQUEST: LazyLock<Request> = LazyLock::new(Request::default);
        let ask: &Ask<'_> = &|_| Err(io::ErrorKind::Unsupported.into());
        Self { bytes, request: &REQUEST, ask }
    }
}

/// Returns how long the result of a text may be, in bytes. A file of a megabyte must not become hundreds.
pub fn max_output(num_bytes: usize) -> usize {
    32 * num_bytes + 20_000
}

/// Parses a text whose parser returns a complete document; `None` for a text without one, and for other formats.
pub fn parsed(text: &str, format: Format) -> Option<Document> {
    Some(match format {
        Format::Code(language) => super::code::extract(text, language),
        Format::Dialect(dialect) => super::markup::extract(text, dialect),
        Format::Data(kind) => super::data::extract(text, kind),
        Format::Notebook => {
            super::notebook::extract(text, Some(&|html| Some(html.to_owned()))).ok()?
        }
        _ => return None,
    })
}

/// Lays out the words of a scan.
pub fn scan(table: &str) {
    pdf::ocr::fuzz(table);
}

/// Reads bytes with the named reader.
pub fn read(name: &str, bytes: &[u8]) {
    let read = table::by_name(name).expect("a reader of this program");
    let _ = read(&ReaderInput::of(bytes), &mut |line| {
        let bytes = protocol::encode(&line);
        assert!(protocol::decode::<AnswerLine>(&bytes).is_some());
        Ok(())
    });
}

/// Parses bytes as lines of the protocol.
pub fn protocol(bytes: &[u8]) {
    if let Some(line) = protocol::decode::<AnswerLine>(bytes) {
        let again = protocol::encode(&line);
        assert!(protocol::decode::<AnswerLine>(&again).is_some());
    }
    let _ = protocol::decode::<Request>(bytes);
}
