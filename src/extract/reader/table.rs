//! Lists the available readers in tables, so that adding a reader is adding a row. Readers of PDF
//! are in the order in which they are tried.

use super::pdf::{with_hayro, with_image, with_pdf_extract, with_unpdf};
use super::{
    Emit, Input, Stop, code, docx, epub, fb2, html, mail, members, mhtml, odf, pptx, rtf, xlsx,
};
use crate::extract::protocol::{
    CODE, DOCX, EML, EPUB, FB2, HTML, IMAGE, MBOX, MEMBERS_OF_EML, MEMBERS_OF_MBOX, MEMBERS_OF_ZIP,
    MHTML, OCR_OF_IMAGE, OCR_OF_PDF, ODP, ODS, ODT, PDF_READERS, PPTX, RTF, XLSX,
};

/// A library that reads documents, behind one function.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader {
    /// Its name in a request.
    pub(super) name: &'static str,
    /// The function that the child calls.
    pub(super) read: Read,
}

/// Reads a document and emits lines in the order of the protocol, up to `Done`.
type Read = fn(&Input<'_>, &mut Emit<'_>) -> Result<(), Stop>;

/// The readers of PDF that `extract` tries, best first.
const READERS: &[Reader] = &[
    Reader { name: PDF_READERS[0], read: with_hayro::read },
    Reader { name: PDF_READERS[1], read: with_unpdf::read },
    Reader { name: PDF_READERS[2], read: with_pdf_extract::read },
];

/// Readers of other formats, and readers that use OCR. The caller names the one it wants.
const OTHERS: &[Reader] = &[
    Reader { name: HTML, read: html::read },
    Reader { name: CODE, read: code::read },
    Reader { name: DOCX, read: docx::read },
    Reader { name: EPUB, read: epub::read },
    Reader { name: PPTX, read: pptx::read },
    Reader { name: XLSX, read: xlsx::read },
    Reader { name: ODT, read: odf::read_text },
    Reader { name: ODP, read: odf::read_slides },
    Reader { name: ODS, read: odf::read_sheets },
    Reader { name: RTF, read: rtf::read },
    Reader { name: FB2, read: fb2::read },
    Reader { name: MHTML, read: mhtml::read },
    Reader { name: EML, read: mail::read_message },
    Reader { name: MBOX, read: mail::read_mailbox },
    Reader { name: MEMBERS_OF_ZIP, read: members::of_zip },
    Reader { name: MEMBERS_OF_EML, read: members::of_message },
    Reader { name: MEMBERS_OF_MBOX, read: members::of_mailbox },
    Reader { name: IMAGE, read: with_image::read },
    Reader { name: OCR_OF_PDF, read: with_hayro::recognise },
    Reader { name: OCR_OF_IMAGE, read: with_image::recognise },
];

/// Returns the reader with this name.
pub(super) fn by_name(name: &str) -> Option<&'static Reader> {
    let mut all = READERS.iter().chain(OTHERS);
    #[cfg(debug_assertions)]
    let mut all = all.by_ref().chain(misbehaving::READERS);
    all.find(|reader| reader.name == name)
}

/// Readers that behave as a hostile file might make a real one behave. Tests name them in
/// [`crate::extract::sandbox::ReadOptions::readers`]; a release build has none of them.
#[cfg(debug_assertions)]
mod misbehaving {
    use std::hint::black_box;

    use super::{Emit, Input, Reader, Stop};
    use crate::extract::protocol::{Head, Line, Page};

    pub(super) const READERS: &[Reader] = &[
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
