//! Determines from its directory what an archive is: an office document, a book, or only an archive.
//!
//! The names and declarations of the outer archive decide, never bytes within its parts: a document may contain
//! another one.

use super::parts::{self, Archive, part};
use super::xml::{self, Event};
use super::{Emit, Input, Read, Stop, docx, epub, odf, pptx, xlsx};
use crate::document::Headed;
use crate::error::Failure;
use crate::extract::protocol::{Head, Line, ReadFailure, Tail};

/// Longest declaration of a package that is read, in bytes. A presentation with a thousand slides has 300,000.
const MAX_DECLARATION_BYTES: u64 = 8 << 20;

/// What the content type of the main part begins with, behind `application/` (ECMA-376, part 1, 11 to 13; MS-OE376).
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

/// What media types of `OpenDocument` and EPUB begin with.
const MEDIA_TYPES: &[(&str, Headed)] = &[
    ("application/epub+zip", Headed::Epub),
    ("application/vnd.oasis.opendocument.text", Headed::Odt),
    ("application/vnd.oasis.opendocument.presentation", Headed::Odp),
    ("application/vnd.oasis.opendocument.spreadsheet", Headed::Ods),
];

/// Reads the document that a package is, whatever its name claims, and says which format it is.
pub(crate) fn read(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<Tail, Stop> {
    let asked: Option<Headed> = input.request.reader.parse().ok();
    let kind = match input.bytes.starts_with(b"PK") {
        true => kind_of(&mut open(input.bytes)?).or(asked),
        // An encrypted document is no archive; its reader says so.
        false => asked,
    };
    let Some((kind, read)) = kind.and_then(|kind| Some((kind, reader_of(kind)?))) else {
        return Err(ReadFailure::new(Failure::WrongFormat, "it is a ZIP archive").into());
    };
    read(input, &mut |line| {
        emit(match line {
            Line::Document(head) => {
                Line::Document(Head { format: Some(kind.as_str().to_owned()), ..head })
            }
            line => line,
        })
    })
}

/// Says which format a package is, and reads nothing else of it.
pub(crate) fn identify(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<Tail, Stop> {
    let format = kind_of(&mut open(input.bytes)?).map(|kind| kind.as_str().to_owned());
    emit(Line::Document(Head { format, ..Head::default() }))?;
    Ok(Tail::default())
}

fn reader_of(kind: Headed) -> Option<Read> {
    Some(match kind {
        Headed::Docx => docx::read,
        Headed::Pptx => pptx::read,
        Headed::Xlsx => xlsx::read,
        Headed::Odt => odf::read_text,
        Headed::Odp => odf::read_slides,
        Headed::Ods => odf::read_sheets,
        Headed::Epub => epub::read,
        _ => return None,
    })
}

/// Opens an archive. The failure of one without a directory says what the parts that are left show.
fn open(bytes: &[u8]) -> Result<Archive<'_>, ReadFailure> {
    parts::open(bytes).map_err(|failed| {
        let names = local_names(bytes);
        let has =
            |name: &str| names.iter().any(|found| found.eq_ignore_ascii_case(name.as_bytes()));
        match MAIN_PARTS.iter().find(|(name, _)| has(name)) {
            Some((_, kind)) if failed.failure == Failure::Damaged => {
                let detail =
                    format!("{}; parts of a file in the format {kind} are left", failed.detail);
                ReadFailure::new(failed.failure, detail)
            }
            _ => failed,
        }
    })
}

/// Returns the names in the heads of entries, which are there if the directory at the end of the archive is cut off.
fn local_names(bytes: &[u8]) -> Vec<&[u8]> {
    const MAGIC: &[u8] = b"PK\x03\x04";
    const HEAD: usize = 30;
    let mut names = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(MAGIC.len()).position(|window| window == MAGIC) {
        rest = &rest[at..];
        if let Some(size) = rest.get(26..28) {
            let size = usize::from(u16::from_le_bytes([size[0], size[1]]));
            names.extend(rest.get(HEAD..HEAD + size));
        }
        rest = &rest[MAGIC.len()..];
    }
    names
}

/// Returns the format that an archive declares; `None` for one that is no office document and no book.
pub(crate) fn kind_of(archive: &mut Archive<'_>) -> Option<Headed> {
    let by_type =
        declaration(archive, "mimetype").and_then(|declared| of_media_type(declared.trim()));
    by_type
        .or_else(|| of_office_type(archive))
        .or_else(|| of_manifest(archive))
        .or_else(|| MAIN_PARTS.iter().find(|(name, _)| archive.has(name)).map(|(_, kind)| *kind))
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
        if let Event::Open(element) = event
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
        if let Event::Open(element) = event
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

    #[test]
    fn an_archive_without_a_directory_says_what_is_left_of_it() {
        let bytes = archive(&[("word/document.xml", "<a/>")]);
        let end = bytes.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
        let failed = open(&bytes[..end]).err().unwrap();
        assert_eq!(failed.failure, Failure::Damaged);
        assert!(
            failed.detail.ends_with("parts of a file in the format docx are left"),
            "{failed:?}"
        );
        assert_eq!(open(b"PK\x03\x04 and no more").err().unwrap().failure, Failure::Damaged);
    }
}
