//! Reads a DOCX file: headings, paragraphs, lists, tables, notes, formulas and the
//! descriptions of pictures.
//!
//! A DOCX file is a ZIP archive of XML parts (ECMA-376): `word/document.xml` has the text, and
//! other parts define its styles, lists and notes.

mod body;
mod lists;
mod notes;
mod styles;

use super::parts::{self, head, part};
use super::xml::{self, Event};
use super::{Emit, Input, Stop};
use crate::document::Reason;
use crate::error::Failure;
use crate::extract::protocol::{Line, ReadFailure, Tail};
use lists::Lists;
use notes::Notes;
use styles::Styles;

/// Reads a DOCX file.
pub(crate) fn read(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<Tail, Stop> {
    let mut archive = parts::open_office(input.bytes, ".doc")?;
    let main = parts::main_part(&mut archive, "word/document.xml")?;
    let text = part(&mut archive, &main)?
        .ok_or_else(|| ReadFailure::new(Failure::WrongFormat, "it is a ZIP archive, not DOCX"))?;
    let folder = main.rsplit_once('/').map_or("", |(parent, _)| parent);
    let sibling = |name: &str| format!("{folder}/{name}").trim_start_matches('/').to_owned();
    let styles = Styles::read(&part(&mut archive, &sibling("styles.xml"))?.unwrap_or_default());
    let lists = Lists::read(&part(&mut archive, &sibling("numbering.xml"))?.unwrap_or_default());
    let mut notes = Notes::default();
    for name in ["footnotes.xml", "endnotes.xml"] {
        notes.read(&part(&mut archive, &sibling(name))?.unwrap_or_default());
    }
    emit(Line::Document(head(&part(&mut archive, "docProps/core.xml")?.unwrap_or_default())))?;
    let mut writer = body::read(&text, styles, lists, notes)?;
    for related in parts::relations(&mut archive, &main).unwrap_or_default().into_values() {
        if matches!(&*related.kind, "header" | "footer") {
            // A damaged one is no loss.
            let furniture = part(&mut archive, &related.name).ok().flatten().unwrap_or_default();
            let _ = xml::each(&furniture, |event| {
                if let Event::Text(text) = event {
                    writer.left_out.add(Reason::RunningHead, text);
                }
            });
        }
    }
    emit(Line::Page(writer.page(1)))?;
    Ok(Tail::default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::archive;
    use crate::testing::output_of;

    #[track_caller]
    fn check_failure(bytes: &[u8], expected: Failure) {
        match output_of(read, bytes) {
            Err(Stop::Failed(failed)) => assert_eq!(failed.failure, expected),
            other => panic!("{other:?}"),
        }
    }

    const TEXT: &str = "<w:document \
        xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">\
        <w:body><w:p><w:r><w:t>High water.</w:t></w:r></w:p></w:body></w:document>";

    #[test]
    fn the_author_of_a_document_is_read() {
        let core = "<cp:coreProperties xmlns:dc=\"x\"><dc:title>Gauges &amp; tides</dc:title>\
                    <dc:creator>Maren Voss</dc:creator><dcterms:created>2020-01-02T03:04:05Z\
                    </dcterms:created></cp:coreProperties>";
        let bytes = archive(&[("word/document.xml", TEXT), ("docProps/core.xml", core)]);
        let (head, blocks) = output_of(read, &bytes).unwrap();
        assert_eq!(head.title.as_deref(), Some("Gauges & tides"));
        assert_eq!(head.author.as_deref(), Some("Maren Voss"));
        assert_eq!(head.created.as_deref(), Some("2020-01-02T03:04:05Z"));
        assert_eq!(blocks, ["High water."]);
    }

    #[test]
    fn the_package_defines_the_part_with_the_text() {
        let relations = "<Relationships><Relationship Type=\"http://x/officeDocument\" \
                         Target=\"/word/document2.xml\"/></Relationships>";
        let bytes = archive(&[("_rels/.rels", relations), ("word/document2.xml", TEXT)]);
        assert_eq!(output_of(read, &bytes).unwrap().1, ["High water."]);
    }

    #[test]
    fn a_file_that_is_not_docx_is_refused() {
        check_failure(&archive(&[("a.txt", "x")]), Failure::WrongFormat);
        check_failure(b"PK\x03\x04 and nothing", Failure::Damaged);
        check_failure(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", Failure::EncryptionNotSupported);
        check_failure(&archive(&[("word/document.xml", "<w:a><w:b></w:a>")]), Failure::Damaged);
    }
}
