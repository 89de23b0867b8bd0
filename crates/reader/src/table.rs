//! Lists the available readers, so that adding a reader is adding a row. Readers of PDF are in the order in which they
//! are tried.

use super::pdf::{with_hayro, with_image, with_pdf_extract};
use super::{
    Read, Reader, compressed, docx, epub, fb2, html, mail, members, mhtml, odf, parsed, pptx, rtf,
    xlsx,
};
use crate::document::Headed;
use crate::extract::protocol::{
    CODE, COMPRESSED, DATA, IMAGE, MARKUP, MEMBERS_OF_EML, MEMBERS_OF_MBOX, MEMBERS_OF_ZIP,
    NOTEBOOK, NOTEBOOK_WITH_RESULTS, OCR_OF_IMAGE, OCR_OF_PDF, PDF_READERS, PICTURE_OF_IMAGE,
    PICTURE_OF_PDF,
};

/// The readers of PDF that `extract` tries, best first.
const READERS: &[Reader] = &[
    Reader { name: PDF_READERS[0], read: with_hayro::read },
    Reader { name: PDF_READERS[1], read: with_pdf_extract::read },
];

/// Readers of texts and of containers, readers that use OCR, and those that draw a page.
const OTHERS: &[Reader] = &[
    Reader { name: CODE, read: parsed::code },
    Reader { name: MARKUP, read: parsed::markup },
    Reader { name: DATA, read: parsed::data },
    Reader { name: NOTEBOOK, read: parsed::notebook },
    Reader { name: NOTEBOOK_WITH_RESULTS, read: parsed::notebook_with_results },
    Reader { name: COMPRESSED, read: compressed::read },
    Reader { name: MEMBERS_OF_ZIP, read: members::of_zip },
    Reader { name: MEMBERS_OF_EML, read: members::of_message },
    Reader { name: MEMBERS_OF_MBOX, read: members::of_mailbox },
    Reader { name: IMAGE, read: with_image::read },
    Reader { name: OCR_OF_PDF, read: with_hayro::recognise },
    Reader { name: OCR_OF_IMAGE, read: with_image::recognise },
    Reader { name: PICTURE_OF_PDF, read: with_hayro::draw },
    Reader { name: PICTURE_OF_IMAGE, read: with_image::draw },
];

/// Returns the function that reads a format.
fn reader_of(kind: Headed) -> Read {
    match kind {
        Headed::Docx => docx::read,
        Headed::Pptx => pptx::read,
        Headed::Xlsx => xlsx::read,
        Headed::Odt => odf::read_text,
        Headed::Odp => odf::read_slides,
        Headed::Ods => odf::read_sheets,
        Headed::Rtf => rtf::read,
        Headed::Epub => epub::read,
        Headed::Fb2 => fb2::read,
        Headed::Html => html::read,
        Headed::Mhtml => mhtml::read,
        Headed::Eml => mail::read_message,
        Headed::Mbox => mail::read_mailbox,
    }
}

/// Returns the reader with this name.
pub(super) fn by_name(name: &str) -> Option<Read> {
    let mut all = READERS.iter().chain(OTHERS);
    #[cfg(debug_assertions)]
    let mut all = all.by_ref().chain(super::misbehaving::READERS);
    let of_format = || name.parse().ok().map(reader_of);
    all.find(|reader| reader.name == name).map(|reader| reader.read).or_else(of_format)
}
