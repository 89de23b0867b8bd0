//! Reads hostile formats, in the child only.
//!
//! Nothing outside this folder names what is in it, but for the entry point of the child ([`run_child`]); a
//! test holds the wall up. What the parent and the child both know is in `protocol.rs`.

mod docx;
mod epub;
mod html;
mod markdown_table;
mod parts;
mod pdf;
mod serve;
mod table;
#[cfg(test)]
mod testing;
mod writer;
mod xml;

use std::io;

use crate::extract::protocol::{GaveUp, Line, OcrJob};

pub use serve::run_child;

/// Takes a line on its way to the parent.
type Emit<'a> = dyn FnMut(Line) -> io::Result<()> + 'a;

/// What a reader is given.
struct Input<'a> {
    /// The file.
    bytes: &'a [u8],
    /// Opens it if it is encrypted.
    password: Option<&'a str>,
    /// For the readers of pictures.
    ocr: Option<&'a OcrJob>,
}

/// Why a reader ends early.
#[derive(Debug)]
enum Stop {
    /// The document cannot be read.
    GaveUp(GaveUp),
    /// Nobody listens.
    Io(io::Error),
}

impl From<GaveUp> for Stop {
    fn from(it: GaveUp) -> Self {
        Self::GaveUp(it)
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Reads bytes as the reader of this name does, without a process of its own.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzz(name: &str, bytes: &[u8]) {
    use crate::extract::protocol;

    let reader = table::by_name(name).expect("a reader of this program");
    let input = Input { bytes, password: None, ocr: None };
    let _ = (reader.read)(&input, &mut |line| {
        let bytes = protocol::encode(&line);
        assert!(protocol::decode::<Line>(&bytes).is_some());
        Ok(())
    });
}
