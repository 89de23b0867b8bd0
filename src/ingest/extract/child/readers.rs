//! The readers there are, those of PDF in the order they are tried: tables, so that another is a
//! row.

use std::io;

use super::protocol::{Line, OcrJob};
use super::serve::Stop;
use crate::ingest::extract::pdf::{with_hayro, with_image, with_pdf_extract, with_unpdf};
use crate::ingest::extract::{docx, epub, html};

/// Takes a line on its way to the parent.
pub(in crate::ingest::extract) type Emit<'a> = dyn FnMut(Line) -> io::Result<()> + 'a;

/// A library that reads documents, behind one function.
#[derive(Debug, Clone, Copy)]
pub(in crate::ingest::extract) struct Reader {
    /// Its name in a request.
    pub(in crate::ingest::extract) name: &'static str,
    /// What the child calls.
    pub(in crate::ingest::extract) read: Read,
}

/// What a reader is given.
pub(in crate::ingest::extract) struct Input<'a> {
    /// The file.
    pub(in crate::ingest::extract) bytes: &'a [u8],
    /// Opens it if it is encrypted.
    pub(in crate::ingest::extract) password: Option<&'a str>,
    /// For the readers of pictures.
    pub(in crate::ingest::extract) ocr: Option<&'a OcrJob>,
}

/// Reads a document, giving lines in the protocol's order up to `Done`.
type Read = fn(&Input<'_>, &mut Emit<'_>) -> Result<(), Stop>;

/// The readers `extract` tries, best first.
const READERS: &[Reader] = &[
    Reader { name: "hayro", read: with_hayro::read },
    Reader { name: "unpdf", read: with_unpdf::read },
    Reader { name: "pdf-extract", read: with_pdf_extract::read },
];

/// Readers of other documents than PDF, and of pictures of text. A caller names the one it wants.
const OTHERS: &[Reader] = &[
    Reader { name: HTML, read: html::read },
    Reader { name: DOCX, read: docx::read },
    Reader { name: EPUB, read: epub::read },
    Reader { name: IMAGE, read: with_image::read },
    Reader { name: OCR_OF_PDF, read: with_hayro::recognise },
    Reader { name: OCR_OF_IMAGE, read: with_image::recognise },
];

pub(in crate::ingest::extract) const HTML: &str = "html";
pub(in crate::ingest::extract) const DOCX: &str = "docx";
pub(in crate::ingest::extract) const EPUB: &str = "epub";
pub(in crate::ingest::extract) const IMAGE: &str = "image";
pub(in crate::ingest::extract) const OCR_OF_PDF: &str = "ocr-of-pdf";
pub(in crate::ingest::extract) const OCR_OF_IMAGE: &str = "ocr-of-image";

/// Returns the names of the chain, best first.
pub(in crate::ingest::extract) fn chain() -> Vec<&'static str> {
    READERS.iter().map(|it| it.name).collect()
}

/// Returns the reader called `name`.
pub(in crate::ingest::extract) fn by_name(name: &str) -> Option<&'static Reader> {
    let mut all = READERS.iter().chain(OTHERS);
    #[cfg(debug_assertions)]
    let mut all = all.by_ref().chain(misbehaving::READERS);
    all.find(|it| it.name == name)
}

/// Readers that do what a hostile file might make a real one do. Tests name them in
/// [`super::ReadOptions::readers`]; a release build has none of them.
#[cfg(debug_assertions)]
mod misbehaving {
    use std::hint::black_box;

    use super::{Emit, Input, Line, Reader, Stop};
    use crate::ingest::extract::child::protocol::{Head, Page};

    pub(in crate::ingest::extract) const READERS: &[Reader] = &[
        Reader { name: "test-panic", read: panics },
        Reader { name: "test-loop", read: loops },
        Reader { name: "test-sleep", read: sleeps },
        Reader { name: "test-alloc", read: allocates },
        Reader { name: "test-overflow", read: overflows },
        Reader { name: "test-flood", read: floods },
    ];

    fn panics(_: &Input<'_>, emit: &mut Emit<'_>) -> Result<(), Stop> {
        emit(Line::Document(Head { page_count: 2, ..Head::default() }))?;
        emit(Line::Page(Page { number: 1, ..Page::default() }))?;
        panic!("page 2 is beyond me")
    }

    fn loops(_: &Input<'_>, _: &mut Emit<'_>) -> Result<(), Stop> {
        loop {
            black_box(0);
        }
    }

    fn sleeps(_: &Input<'_>, _: &mut Emit<'_>) -> Result<(), Stop> {
        loop {
            std::thread::park();
        }
    }

    fn allocates(_: &Input<'_>, _: &mut Emit<'_>) -> Result<(), Stop> {
        let mut kept = Vec::new();
        loop {
            kept.push(black_box(vec![1_u8; 16 << 20]));
        }
    }

    fn overflows(_: &Input<'_>, _: &mut Emit<'_>) -> Result<(), Stop> {
        fn deeper(depth: u64) -> u64 {
            let here = black_box([depth; 64]);
            if depth == u64::MAX { 0 } else { deeper(depth + 1) + here[0] }
        }
        black_box(deeper(0));
        Ok(())
    }

    fn floods(_: &Input<'_>, emit: &mut Emit<'_>) -> Result<(), Stop> {
        loop {
            emit(Line::Document(Head { title: Some("flood ".repeat(1000)), ..Head::default() }))?;
        }
    }
}
