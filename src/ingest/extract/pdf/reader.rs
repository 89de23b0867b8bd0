//! The readers there are, in the order they are tried: a table, so that another is a row.

use std::io;

use super::child::Stop;
use super::protocol::Line;
use super::{with_hayro, with_pdf_extract, with_unpdf};

/// Takes a line on its way to the parent.
pub(super) type Emit<'a> = dyn FnMut(Line) -> io::Result<()> + 'a;

/// A library that reads PDF, behind one function.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader {
    /// Its name in a request.
    pub(super) name: &'static str,
    /// What the child calls.
    pub(super) read: Read,
}

/// Reads a PDF (its bytes, a password), giving lines in the protocol's order up to `Done`.
type Read = fn(&[u8], Option<&str>, &mut Emit<'_>) -> Result<(), Stop>;

/// The readers `extract` tries, best first.
const READERS: &[Reader] = &[
    Reader { name: "hayro", read: with_hayro::read },
    Reader { name: "unpdf", read: with_unpdf::read },
    Reader { name: "pdf-extract", read: with_pdf_extract::read },
];

/// Returns the names of the chain, best first.
pub(super) fn chain() -> Vec<&'static str> {
    READERS.iter().map(|it| it.name).collect()
}

/// Returns the reader called `name`.
pub(super) fn by_name(name: &str) -> Option<&'static Reader> {
    let mut all = READERS.iter();
    #[cfg(debug_assertions)]
    let mut all = all.by_ref().chain(misbehaving::READERS);
    all.find(|it| it.name == name)
}

/// Readers that do what a hostile file might make a real one do. Tests name them in
/// [`super::PdfOptions::readers`]; a release build has none of them.
#[cfg(debug_assertions)]
mod misbehaving {
    use std::hint::black_box;

    use super::{Emit, Line, Reader, Stop};
    use crate::ingest::extract::pdf::protocol::{Head, Page};

    pub(super) const READERS: &[Reader] = &[
        Reader { name: "test-panic", read: panics },
        Reader { name: "test-loop", read: loops },
        Reader { name: "test-sleep", read: sleeps },
        Reader { name: "test-alloc", read: allocates },
        Reader { name: "test-overflow", read: overflows },
        Reader { name: "test-flood", read: floods },
    ];

    fn panics(_: &[u8], _: Option<&str>, emit: &mut Emit<'_>) -> Result<(), Stop> {
        emit(Line::Document(Head { page_count: 2, ..Head::default() }))?;
        emit(Line::Page(Page { number: 1, ..Page::default() }))?;
        panic!("page 2 is beyond me")
    }

    fn loops(_: &[u8], _: Option<&str>, _: &mut Emit<'_>) -> Result<(), Stop> {
        loop {
            black_box(0);
        }
    }

    fn sleeps(_: &[u8], _: Option<&str>, _: &mut Emit<'_>) -> Result<(), Stop> {
        loop {
            std::thread::park();
        }
    }

    fn allocates(_: &[u8], _: Option<&str>, _: &mut Emit<'_>) -> Result<(), Stop> {
        let mut kept = Vec::new();
        loop {
            kept.push(black_box(vec![1_u8; 16 << 20]));
        }
    }

    fn overflows(_: &[u8], _: Option<&str>, _: &mut Emit<'_>) -> Result<(), Stop> {
        fn deeper(depth: u64) -> u64 {
            let here = black_box([depth; 64]);
            if depth == u64::MAX { 0 } else { deeper(depth + 1) + here[0] }
        }
        black_box(deeper(0));
        Ok(())
    }

    fn floods(_: &[u8], _: Option<&str>, emit: &mut Emit<'_>) -> Result<(), Stop> {
        loop {
            emit(Line::Document(Head { title: Some("flood ".repeat(1000)), ..Head::default() }))?;
        }
    }
}
