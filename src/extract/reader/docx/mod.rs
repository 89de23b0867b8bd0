//! Reads a DOCX file: headings, paragraphs, lists, tables and notes.
//!
//! A DOCX file is a ZIP archive of XML parts (ECMA-376): `word/document.xml` is the text, the parts
//! beside it say what its styles, lists and notes are.

mod body;
mod lists;
mod notes;
mod styles;

use super::parts::{self, Archive, head, part};
use super::writer::Writer;
use super::xml::{self, Event};
use super::{Emit, Input, Stop};
use crate::error::Failure;
use crate::extract::protocol::{GaveUp, Line, Page, Tail};
use lists::Lists;
use notes::Notes;
use styles::Styles;

/// What an encrypted file is wrapped in (MS-CFB, 2.2).
const ENCRYPTED_MAGIC: &[u8] = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1";

/// Reads a DOCX file.
pub(in crate::extract) fn read(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<(), Stop> {
    if input.bytes.starts_with(ENCRYPTED_MAGIC) {
        let detail = "it is encrypted, or an old .doc file";
        return Err(GaveUp::new(Failure::EncryptionNotSupported, detail).into());
    }
    let mut archive = parts::open(input.bytes)?;
    let main = main_part(&mut archive)?;
    let text = part(&mut archive, &main)?
        .ok_or_else(|| GaveUp::new(Failure::WrongFormat, "it is a ZIP archive, not DOCX"))?;
    let folder = main.rsplit_once('/').map_or("", |it| it.0);
    let beside = |name: &str| format!("{folder}/{name}").trim_start_matches('/').to_owned();
    let styles = Styles::read(&part(&mut archive, &beside("styles.xml"))?.unwrap_or_default());
    let lists = Lists::read(&part(&mut archive, &beside("numbering.xml"))?.unwrap_or_default());
    let mut notes = Notes::default();
    for name in ["footnotes.xml", "endnotes.xml"] {
        notes.read(&part(&mut archive, &beside(name))?.unwrap_or_default());
    }
    emit(Line::Document(head(&part(&mut archive, "docProps/core.xml")?.unwrap_or_default())))?;
    let mut writer = Writer::default();
    body::write(&text, &styles, lists, &notes, &mut writer)
        .map_err(|it| GaveUp::new(Failure::Damaged, it))?;
    emit(Line::Page(Page { number: 1, blocks: writer.finish(), ..Page::default() }))?;
    emit(Line::Done(Tail::default()))?;
    Ok(())
}

/// Returns the name of the part that holds the text, as the package says (ECMA-376, part 2, 9.3).
fn main_part(archive: &mut Archive<'_>) -> Result<String, GaveUp> {
    const USUAL: &str = "word/document.xml";
    if archive.index_for_name(USUAL).is_some() {
        return Ok(USUAL.to_owned());
    }
    let relations = part(archive, "_rels/.rels")?.unwrap_or_default();
    let mut found = USUAL.to_owned();
    xml::each(&relations, |event| {
        if let Event::Open(element) = event
            && element.attribute("Type").is_some_and(|it| it.ends_with("/officeDocument"))
            && let Some(target) = element.attribute("Target")
        {
            target.trim_start_matches('/').clone_into(&mut found);
        }
    })
    .map_err(|it| GaveUp::new(Failure::Damaged, it))?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::reader::parts::archive;
    use crate::extract::reader::testing::said;

    #[track_caller]
    fn check_failure(bytes: &[u8], expected: Failure) {
        match said(read, bytes) {
            Err(Stop::GaveUp(it)) => assert_eq!(it.failure, expected),
            other => panic!("{other:?}"),
        }
    }

    const TEXT: &str = "<w:document \
        xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\">\
        <w:body><w:p><w:r><w:t>High water.</w:t></w:r></w:p></w:body></w:document>";

    #[test]
    fn a_document_says_who_wrote_it() {
        let core = "<cp:coreProperties xmlns:dc=\"x\"><dc:title>Gauges &amp; tides</dc:title>\
                    <dc:creator>Maren Voss</dc:creator><dcterms:created>2020-01-02T03:04:05Z\
                    </dcterms:created></cp:coreProperties>";
        let bytes = archive(&[("word/document.xml", TEXT), ("docProps/core.xml", core)]);
        let (head, blocks) = said(read, &bytes).unwrap();
        assert_eq!(head.title.as_deref(), Some("Gauges & tides"));
        assert_eq!(head.author.as_deref(), Some("Maren Voss"));
        assert_eq!(head.created.as_deref(), Some("2020-01-02T03:04:05Z"));
        assert_eq!(blocks, ["High water."]);
    }

    #[test]
    fn the_package_says_where_the_text_is() {
        let relations = "<Relationships><Relationship Type=\"http://x/officeDocument\" \
                         Target=\"/word/document2.xml\"/></Relationships>";
        let bytes = archive(&[("_rels/.rels", relations), ("word/document2.xml", TEXT)]);
        assert_eq!(said(read, &bytes).unwrap().1, ["High water."]);
    }

    #[test]
    fn what_is_no_docx_is_named() {
        check_failure(&archive(&[("a.txt", "x")]), Failure::WrongFormat);
        check_failure(b"PK\x03\x04 and nothing", Failure::Damaged);
        check_failure(ENCRYPTED_MAGIC, Failure::EncryptionNotSupported);
        check_failure(&archive(&[("word/document.xml", "<w:a><w:b></w:a>")]), Failure::Damaged);
    }
}
