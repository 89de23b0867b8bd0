//! Determines the kind of an archive from its directory: an office document, a book, or only an archive.
//!
//! The names and declarations of the outer archive decide, never bytes within its parts: a document may contain
//! another one.

use super::parts::{self, Archive, part};
use super::xml::{self, XmlEvent};
use crate::document::Headed;

/// Longest declaration of a package that is read, in bytes. A presentation with a thousand slides has 300,000.
const MAX_DECLARATION_BYTES: u64 = 8 << 20;

/// Beginnings of the content type of the main part, after `application/` (ECMA-376, part 1, 11 to 13; MS-OE376).
const OFFICE_TYPES: &[(&str, Headed)] = &[
    ("vnd.openxmlformats-officedocument.wordprocessingml.", Headed::Docx),
    ("vnd.ms-word.", Headed::Docx),
    ("vnd.openxmlformats-officedocument.presentationml.", Headed::Pptx),
    ("vnd.ms-powerpoint.", Headed::Pptx),
    ("vnd.openxmlformats-officedocument.spreadsheetml.", Headed::Xlsx),
    ("vnd.ms-excel.", Headed::Xlsx),
];

/// The usual names of main parts, for packages whose declaration is missing or damaged.
const MAIN_PARTS: &[(&str, Headed)] = &[
    ("word/document.xml", Headed::Docx),
    ("ppt/presentation.xml", Headed::Pptx),
    ("xl/workbook.xml", Headed::Xlsx),
    ("xl/workbook.bin", Headed::Xlsx),
    ("META-INF/container.xml", Headed::Epub),
];

/// Beginnings of the media types of `OpenDocument` and EPUB.
const MEDIA_TYPES: &[(&str, Headed)] = &[
    ("application/epub+zip", Headed::Epub),
    ("application/vnd.oasis.opendocument.text", Headed::Odt),
    ("application/vnd.oasis.opendocument.presentation", Headed::Odp),
    ("application/vnd.oasis.opendocument.spreadsheet", Headed::Ods),
];

/// Returns the format that an archive declares; `None` for one that is no office document and no book.
pub(crate) fn kind_of(archive: &mut Archive<'_>) -> Option<Headed> {
    let by_type =
        declaration(archive, "mimetype").and_then(|declared| of_media_type(declared.trim()));
    by_type
        .or_else(|| of_office_type(archive))
        .or_else(|| of_manifest(archive))
        .or_else(|| of_main_part(|name| archive.has(name)))
}

/// Returns the format whose usual main part exists; `None` without one.
pub(crate) fn of_main_part(has: impl Fn(&str) -> bool) -> Option<Headed> {
    MAIN_PARTS.iter().find(|(name, _)| has(name)).map(|(_, kind)| *kind)
}

/// Returns a part that declares something; `None` if there is none, or none that can be read.
fn declaration(archive: &mut Archive<'_>, name: &str) -> Option<String> {
    (archive.size_bytes(name)? <= MAX_DECLARATION_BYTES)
        .then(|| part(archive, name).ok().flatten())?
}

fn of_media_type(declared: &str) -> Option<Headed> {
    MEDIA_TYPES.iter().find(|(start, _)| declared.starts_with(start)).map(|(_, kind)| *kind)
}

/// Returns the format of the main part that the relations of a package name, by its content type
/// (ECMA-376, part 2, 9.3 and 10.1).
fn of_office_type(archive: &mut Archive<'_>) -> Option<Headed> {
    let main = parts::main_part(archive, "").ok().filter(|main| !main.is_empty());
    let types = declaration(archive, "[Content_Types].xml")?;
    let mut found = None;
    let _ = xml::each(&types, |event| {
        if let XmlEvent::Open(element) = event
            && element.name() == "Override"
            && let (Some(name), Some(kind)) =
                (element.attribute("PartName"), element.attribute("ContentType"))
            && let Some(kind) = kind.strip_prefix("application/")
            && kind.contains(".main")
        {
            let is_main = main
                .as_ref()
                .is_none_or(|main| parts::comparable(main) == parts::comparable(&name));
            let format = OFFICE_TYPES.iter().find(|(start, _)| kind.starts_with(start));
            found = found.or(format.filter(|_| is_main).map(|(_, format)| *format));
        }
    });
    found
}

/// Returns the format that the manifest of an `OpenDocument` file states for the whole of it.
fn of_manifest(archive: &mut Archive<'_>) -> Option<Headed> {
    let manifest = declaration(archive, "META-INF/manifest.xml")?;
    let mut found = None;
    let _ = xml::each(&manifest, |event| {
        if let XmlEvent::Open(element) = event
            && element.name() == "file-entry"
            && element.attribute("full-path").as_deref() == Some("/")
        {
            let declared = element.attribute("media-type").unwrap_or_default();
            found = found.or(of_media_type(&declared));
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::archive;

    #[track_caller]
    fn check(parts: &[(&str, &str)], expected: Option<Headed>) {
        let bytes = archive(parts);
        assert_eq!(kind_of(&mut parts::open(&bytes).unwrap()), expected, "{parts:?}");
    }

    fn types(name: &str, kind: &str) -> String {
        format!(
            "<Types><Override PartName='/{name}' ContentType='application/{kind}.main+xml'/></Types>"
        )
    }

    #[test]
    fn a_package_is_what_it_declares() {
        let word =
            types("w/text.xml", "vnd.openxmlformats-officedocument.wordprocessingml.document");
        let sheet = types("xl/book.xml", "vnd.ms-excel.sheet.macroEnabled");
        check(&[("[Content_Types].xml", &word)], Some(Headed::Docx));
        check(&[("[Content_Types].xml", &sheet)], Some(Headed::Xlsx));
        check(&[("mimetype", "application/epub+zip\n")], Some(Headed::Epub));
        let text = "application/vnd.oasis.opendocument.text-template";
        check(&[("mimetype", text), ("content.xml", "")], Some(Headed::Odt));
        let manifest = format!("<m><file-entry full-path='/' media-type='{text}'/></m>");
        check(&[("META-INF/manifest.xml", &manifest)], Some(Headed::Odt));
    }

    #[test]
    fn a_package_without_a_declaration_is_what_its_main_part_is() {
        check(&[("WORD\\Document.xml", "<a/>")], Some(Headed::Docx));
        check(
            &[("ppt/presentation.xml", "<a/>"), ("ppt/embeddings/word/x.xml", "")],
            Some(Headed::Pptx),
        );
    }

    #[test]
    fn an_archive_with_documents_in_it_is_an_archive() {
        let inner = archive(&[("word/document.xml", "<a/>")]);
        let inner = String::from_utf8_lossy(&inner).into_owned();
        check(&[("letter.docx", &inner), ("password/readme.md", "a"), ("xl/notes.md", "b")], None);
    }
}
