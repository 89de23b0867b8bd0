//! Reads the chapters of an EPUB book.
//!
//! An EPUB file is a ZIP archive (EPUB 3.3): `META-INF/container.xml` names the package document,
//! whose `manifest` lists the files and whose `spine` defines the order of the chapters. Chapters
//! are web pages.

use std::collections::HashMap;

use percent_encoding::percent_decode_str;

use super::parts::{self, Archive, part};
use super::writer::Writer;
use super::xml::{self, Event};
use super::{Emit, Input, Stop, html};
use crate::error::Failure;
use crate::extract::protocol::{Line, ReadFailure, Tail};

/// Algorithms that only obfuscate fonts, so that the text is not encrypted (EPUB 3.3, 4.4).
const FONT_ALGORITHMS: [&str; 2] =
    ["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"];

/// Reads a book.
pub(crate) fn read(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<Tail, Stop> {
    let mut archive = parts::open(input.bytes)?;
    let container = part(&mut archive, "META-INF/container.xml")?
        .ok_or_else(|| ReadFailure::new(Failure::WrongFormat, "it is a ZIP archive, not EPUB"))?;
    if is_locked(&mut archive)? {
        let detail = "the book can only be read by the reader it was sold for";
        return Err(ReadFailure::new(Failure::EncryptionNotSupported, detail).into());
    }
    let name = package_name(&container)?;
    let package = part(&mut archive, &name)?
        .ok_or_else(|| ReadFailure::new(Failure::Damaged, format!("{name} is missing")))?;
    let chapters = chapters(&package)?;
    emit(Line::Document(parts::head(&package)))?;
    let folder = name.rsplit_once('/').map_or("", |(parent, _)| parent);
    let mut writer = Writer::default();
    for reference in chapters {
        if let Some(page) = part(&mut archive, &resolve(folder, &reference))? {
            html::write_chapter(&page, &mut writer);
        }
    }
    emit(Line::Page(writer.page(1)))?;
    Ok(Tail::default())
}

fn is_locked(archive: &mut Archive<'_>) -> Result<bool, ReadFailure> {
    let Some(encryption) = part(archive, "META-INF/encryption.xml")? else { return Ok(false) };
    let mut is_locked = false;
    xml::each(&encryption, |event| {
        if let Event::Open(element) = event
            && element.name() == "EncryptionMethod"
            && let Some(algorithm) = element.attribute("Algorithm")
        {
            is_locked |= !FONT_ALGORITHMS.contains(&algorithm.as_str());
        }
    })?;
    Ok(is_locked)
}

fn package_name(container: &str) -> Result<String, ReadFailure> {
    let mut found = None;
    xml::each(container, |event| {
        if let Event::Open(element) = event
            && element.name() == "rootfile"
            && found.is_none()
        {
            found = element.attribute("full-path");
        }
    })?;
    found.ok_or_else(|| ReadFailure::new(Failure::Damaged, "the container names no package"))
}

/// Returns references to the chapters in reading order.
fn chapters(package: &str) -> Result<Vec<String>, ReadFailure> {
    let (mut files, mut order) = (HashMap::new(), Vec::new());
    xml::each(package, |event| {
        let Event::Open(element) = event else { return };
        match element.name() {
            "item" => {
                files.extend(element.attribute("id").zip(element.attribute("href")));
            }
            "itemref" => order.extend(element.attribute("idref")),
            _ => {}
        }
    })?;
    Ok(order.iter().filter_map(|id| files.remove(id)).collect())
}

/// Returns the name in the archive that a reference in a file of `folder` refers to.
fn resolve(folder: &str, reference: &str) -> String {
    let path = reference.split(['#', '?']).next().unwrap_or_default();
    let path = percent_decode_str(path).decode_utf8_lossy();
    parts::resolve(folder, &path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::archive;
    use crate::testing::{Output, output_of};

    const CONTAINER: &str =
        "<container><rootfiles><rootfile full-path='OEBPS/book.opf'/></rootfiles></container>";
    const PACKAGE: &str = "<package><metadata><dc:title>Tides</dc:title><dc:creator>Maren Voss\
        </dc:creator><dc:language>en</dc:language><dc:date>1931</dc:date></metadata>\
        <manifest><item id='b' href='text/second%20part.xhtml'/><item id='a' href='text/first.xhtml'/>\
        <item id='x' href='cover.jpg'/></manifest>\
        <spine><itemref idref='a'/><itemref idref='b'/><itemref idref='lost'/></spine></package>";
    const FIRST: &str = "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head><title/>\
        <script src='x.js'/></head><body><h1><a id='p1'/>Ebb</h1><p>The water leaves.</p></body></html>";
    const SECOND: &str = "<html><body><h1>Flood</h1><p>It returns.</p></body></html>";

    fn outcome(parts: &[(&str, &str)]) -> Result<Output, Stop> {
        output_of(read, &archive(parts))
    }

    #[track_caller]
    fn check_failure(parts: &[(&str, &str)], expected: Failure) {
        match outcome(parts) {
            Err(Stop::Failed(failed)) => assert_eq!(failed.failure, expected),
            other => panic!("{other:?}"),
        }
    }

    const BOOK: [(&str, &str); 4] = [
        ("META-INF/container.xml", CONTAINER),
        ("OEBPS/book.opf", PACKAGE),
        ("OEBPS/text/second part.xhtml", SECOND),
        ("OEBPS/text/first.xhtml", FIRST),
    ];

    #[test]
    fn chapters_are_in_the_order_of_the_spine() {
        let (head, blocks) = outcome(&BOOK).unwrap();
        assert_eq!(head.title.as_deref(), Some("Tides"));
        assert_eq!(head.author.as_deref(), Some("Maren Voss"));
        assert_eq!(head.created.as_deref(), Some("1931"));
        assert_eq!(blocks, ["# Ebb", "The water leaves.", "# Flood", "It returns."]);
    }

    #[test]
    fn an_encrypted_book_is_refused_but_obfuscated_fonts_are_allowed() {
        let encryption = |algorithm: &str| {
            format!("<encryption><EncryptionMethod Algorithm='{algorithm}'/></encryption>")
        };
        let (fonts, text) = (encryption(FONT_ALGORITHMS[0]), encryption("http://x#aes128-cbc"));
        let with = |xml| [BOOK.as_slice(), &[("META-INF/encryption.xml", xml)]].concat();
        assert!(outcome(&with(fonts.as_str())).is_ok());
        check_failure(&with(text.as_str()), Failure::EncryptionNotSupported);
    }

    #[test]
    fn a_file_that_is_not_a_book_is_refused() {
        check_failure(&[("a.txt", "x")], Failure::WrongFormat);
        check_failure(&BOOK[..1], Failure::Damaged);
        check_failure(&[("META-INF/container.xml", "<container/>")], Failure::Damaged);
    }

    #[test]
    fn references_stay_within_the_archive() {
        assert_eq!(resolve("OEBPS/text", "../a%20b.xhtml#p1"), "OEBPS/a b.xhtml");
        assert_eq!(resolve("", "../../etc/passwd"), "etc/passwd");
    }
}
