//! Lists the available readers, so that adding a reader is adding a row. Readers of PDF are in the order in which they
//! are tried.

use super::pdf::{with_hayro, with_image, with_pdf_extract};
use super::{
    Read, calendar, compressed, data, dita, drawio, enex, fb2, html, mail, members, mhtml, outlook,
    package, parsed, rtf, spreadsheetml,
};
use crate::document::Headed;
use crate::extract::protocol::{
    CODE, COMPRESSED, DATA, IMAGE, MARKUP, MEMBERS_OF_CHATS, MEMBERS_OF_ENEX, MEMBERS_OF_MBOX,
    MEMBERS_OF_ZIP, NOTEBOOK, NOTEBOOK_WITH_RESULTS, OCR_OF_IMAGE, OCR_OF_PDF, PACKAGE,
    PDF_READERS, PICTURE_OF_IMAGE, PICTURE_OF_PDF,
};

/// The readers of PDF that `extract` tries, best first; those of texts and of containers, those that use OCR, and those
/// that draw a page. Formats have the others.
const READERS: &[(&str, Read)] = &[
    (PDF_READERS[0], with_hayro::read),
    (PDF_READERS[1], with_pdf_extract::read),
    (CODE, parsed::code),
    (MARKUP, parsed::markup),
    (DATA, parsed::data),
    (NOTEBOOK, parsed::notebook),
    (NOTEBOOK_WITH_RESULTS, parsed::notebook_with_results),
    (PACKAGE, package::identify),
    (COMPRESSED, compressed::read),
    (MEMBERS_OF_ZIP, members::of_zip),
    (MEMBERS_OF_MBOX, mail::of_mailbox),
    (MEMBERS_OF_ENEX, enex::notes),
    (MEMBERS_OF_CHATS, data::chats),
    (IMAGE, with_image::read),
    (OCR_OF_PDF, with_hayro::recognise),
    (OCR_OF_IMAGE, with_image::recognise),
    (PICTURE_OF_PDF, with_hayro::draw),
    (PICTURE_OF_IMAGE, with_image::draw),
];

/// Returns the function that reads a format.
fn reader_of(kind: Headed) -> Read {
    match kind {
        Headed::Docx
        | Headed::Pptx
        | Headed::Xlsx
        | Headed::Odt
        | Headed::Odp
        | Headed::Ods
        | Headed::Epub => package::read,
        Headed::SpreadsheetXml => spreadsheetml::read,
        Headed::Rtf => rtf::read,
        Headed::Fb2 => fb2::read,
        Headed::Html => html::read,
        Headed::Mhtml => mhtml::read,
        Headed::Eml => mail::read_message,
        Headed::Msg => outlook::read,
        Headed::Mbox => mail::read_mailbox,
        Headed::Enex => enex::read,
        Headed::Calendar => calendar::read_calendar,
        Headed::Contacts => calendar::read_contacts,
        Headed::Dita => dita::read,
        Headed::Drawio => drawio::read,
    }
}

pub(super) fn by_name(name: &str) -> Option<Read> {
    let mut all = READERS.iter();
    #[cfg(debug_assertions)]
    let mut all = all.by_ref().chain(super::misbehaving::READERS);
    all.find(|(known, _)| *known == name)
        .map(|(_, read)| *read)
        .or_else(|| name.parse().ok().map(reader_of))
}
