//! Lists the available readers in tables, so that adding a reader is adding a row. Readers of PDF
//! are in the order in which they are tried.

use super::pdf::{with_hayro, with_image, with_pdf_extract, with_unpdf};
use super::{
    Emit, Input, Stop, docx, epub, fb2, html, mail, members, mhtml, odf, parsed, pptx, rtf, xlsx,
};
use crate::extract::protocol::{
    CODE, DATA, DOCX, EML, EPUB, FB2, HTML, IMAGE, MARKUP, MBOX, MEMBERS_OF_EML, MEMBERS_OF_MBOX,
    MEMBERS_OF_ZIP, MHTML, NOTEBOOK, NOTEBOOK_WITH_RESULTS, OCR_OF_IMAGE, OCR_OF_PDF, ODP, ODS,
    ODT, PDF_READERS, PPTX, RTF, XLSX,
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
    Reader { name: CODE, read: parsed::code },
    Reader { name: MARKUP, read: parsed::markup },
    Reader { name: DATA, read: parsed::data },
    Reader { name: NOTEBOOK, read: parsed::notebook },
    Reader { name: NOTEBOOK_WITH_RESULTS, read: parsed::notebook_with_results },
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
    let mut all = all.by_ref().chain(super::misbehaving::READERS);
    all.find(|reader| reader.name == name)
}
