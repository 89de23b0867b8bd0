//! Reads the chapters of an EPUB book.
//!
//! An EPUB file is a ZIP archive (EPUB 3.3): `META-INF/container.xml` names the package document,
//! whose `manifest` lists the files and whose `spine` defines the order of the chapters. Chapters
//! are web pages, or drawings.

mod contents;
mod drawing;
mod package;

use self::contents::{TableOfContents, TitleEntry};
use self::package::{BookFile, BookPackage};
use super::parts::{self, Archive, PartState, part};
use super::writer::BlockWriter;
use super::xml::{self, XmlEvent};
use super::{EarlyEnd, Emit, ReaderInput, html};
use crate::document::BlockKind;
use crate::error::FailureKind;
use crate::extract::protocol::{AnswerLine, ExtractedPage, PageBlock, ReadFailure, ReadingSummary};
use crate::text::decode;

/// Algorithms that only obfuscate fonts, so that the text is not encrypted (EPUB 3.3, 4.4).
const FONT_ALGORITHMS: [&str; 2] =
    ["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"];

/// Most chapters that are named because they cannot be read, so that the warning is readable.
const MAX_NAMED: usize = 10;

/// A book of which fewer than one in this many chapters can be read is damaged.
const MIN_SHARE: usize = 2;

/// Reads a book.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let mut archive = parts::open(input.bytes)?;
    let name = package_name(&mut archive)?;
    if is_locked(&mut archive) {
        let detail = "the book can only be read by the reader it was sold for";
        return Err(ReadFailure::new(FailureKind::EncryptionNotSupported, detail).into());
    }
    let package = part(&mut archive, &name)?
        .ok_or_else(|| ReadFailure::new(FailureKind::Damaged, format!("{name} is missing")))?;
    let head = parts::head(&package);
    let folder = name.rsplit_once('/').map_or("", |(parent, _)| parent);
    let package = package::parse(&package, folder);
    let book = Book::read(&mut archive, &package)?;
    emit(AnswerLine::Document(head))?;
    emit(AnswerLine::Page(book.page))?;
    Ok(archive.account(ReadingSummary { warnings: book.warnings, ..ReadingSummary::default() }))
}

/// The chapters of a book.
#[derive(Default)]
struct Book {
    page: ExtractedPage,
    warnings: Vec<String>,
}

/// A chapter that cannot be read.
struct UnreadChapter {
    warning: String,
    /// Whether the account of the archive names it too.
    is_in_account: bool,
}

impl Book {
    fn read(archive: &mut Archive<'_>, package: &BookPackage) -> Result<Self, ReadFailure> {
        let mut book = Self {
            page: ExtractedPage { number: 1, ..ExtractedPage::default() },
            ..Self::default()
        };
        let contents = contents(archive, package);
        let mut unread: Vec<UnreadChapter> = Vec::new();
        for chapter in &package.chapters {
            match text(archive, &chapter.name) {
                Ok(text) => book.add(chapter, &text, &contents),
                Err(failed) if failed.failure == FailureKind::EncryptionNotSupported => {
                    return Err(failed);
                }
                Err(failed) => {
                    let name = chapter.name.rsplit('/').next().unwrap_or_default();
                    unread.push(UnreadChapter {
                        warning: format!("the chapter `{name}` is damaged: {}", failed.detail),
                        is_in_account: matches!(
                            archive.state(&chapter.name),
                            PartState::Damaged(_)
                        ),
                    });
                }
            }
        }
        let num_read = package.chapters.len() - unread.len();
        if num_read * MIN_SHARE < package.chapters.len() {
            let detail = format!("{} of {} chapters", unread.len(), package.chapters.len());
            return Err(ReadFailure::new(
                FailureKind::Damaged,
                format!("{detail} cannot be read; {}", unread.swap_remove(0).warning),
            ));
        }
        // The account of the archive names the others.
        unread.retain(|chapter| !chapter.is_in_account);
        if let Some(failed) = &package.damage {
            if package.chapters.is_empty() {
                return Err(failed.clone());
            }
            let warning = format!("the list of chapters is damaged: {}", failed.detail);
            book.warnings.push(warning);
        }
        let num_further = unread.len().saturating_sub(MAX_NAMED);
        unread.truncate(MAX_NAMED);
        book.warnings.extend(unread.into_iter().map(|chapter| chapter.warning));
        if num_further > 0 {
            book.warnings.push(format!("{num_further} more chapters are damaged"));
        }
        Ok(book)
    }

    fn add(&mut self, chapter: &BookFile, text: &str, contents: &TableOfContents) {
        let mut writer = BlockWriter::default();
        if is_drawing(chapter, text) {
            drawing::write(text, &mut writer);
        } else {
            html::write_chapter(text, &mut writer);
        }
        let left_out = std::mem::take(&mut writer.left_out);
        let mut blocks = writer.finish();
        let has_heading = blocks.iter().any(|block| block.kind == BlockKind::Heading);
        let titles = contents.get(&chapter.name.to_lowercase());
        if let Some(titles) = titles.filter(|_| !has_heading && !blocks.is_empty()) {
            blocks = with_titles(chapter, text, titles, blocks);
        }
        self.page.blocks.append(&mut blocks);
        self.page.left_out.merge(&left_out);
    }
}

/// Returns the table of contents; without entries if it cannot be read.
fn contents(archive: &mut Archive<'_>, package: &BookPackage) -> TableOfContents {
    let tables = package.contents.iter().map(|file| {
        let xml = text(archive, &file.name).unwrap_or_default();
        contents::parse(&xml, &file.name)
    });
    // All are read, as the others say the same.
    let tables: Vec<TableOfContents> = tables.collect();
    tables.into_iter().find(|table| !table.is_empty()).unwrap_or_default()
}

/// Returns the blocks of a chapter with the headings that the table of contents has for it.
fn with_titles(
    chapter: &BookFile,
    text: &str,
    titles: &[TitleEntry],
    blocks: Vec<PageBlock>,
) -> Vec<PageBlock> {
    let mut writer = BlockWriter::default();
    if is_drawing(chapter, text) {
        // A drawing has no place for them but its start.
        html::write_chapter(&contents::with_headings("", titles), &mut writer);
        return writer.finish().into_iter().take(1).chain(blocks).collect();
    }
    html::write_chapter(&contents::with_headings(text, titles), &mut writer);
    let mut titled: Vec<PageBlock> = Vec::new();
    for block in writer.finish() {
        let is_repeated = titled.last().is_some_and(|last| {
            last.kind == BlockKind::Heading && words(&last.text) == words(&block.text)
        });
        // Many pages show as a paragraph what is the title in the table of contents.
        if !is_repeated {
            titled.push(block);
        }
    }
    titled
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Whether a chapter is a drawing (SVG), and not a web page.
fn is_drawing(chapter: &BookFile, text: &str) -> bool {
    chapter.media_type.contains("svg") || text.trim_start().starts_with("<svg")
}

/// Returns the text of a file of a book.
fn text(archive: &mut Archive<'_>, name: &str) -> Result<String, ReadFailure> {
    let bytes = archive
        .bytes(name)?
        .ok_or_else(|| ReadFailure::new(FailureKind::Damaged, "it is missing"))?;
    decode::decode_as(&bytes, html::charset(&bytes))
        .ok_or_else(|| ReadFailure::new(FailureKind::Damaged, "it is not text"))
}

/// Whether the text of a book is encrypted. A damaged list counts up to the damage.
fn is_locked(archive: &mut Archive<'_>) -> bool {
    let encryption = parts::optional(archive, "META-INF/encryption.xml");
    let mut is_locked = false;
    let _ = xml::each(&encryption, |event| {
        if let XmlEvent::Open(element) = event
            && element.name() == "EncryptionMethod"
            && let Some(algorithm) = element.attribute("Algorithm")
        {
            is_locked |= !FONT_ALGORITHMS.contains(&algorithm.as_str());
        }
    });
    is_locked
}

/// Returns the name of the package document: as the container says, or the only file that looks like one.
fn package_name(archive: &mut Archive<'_>) -> Result<String, ReadFailure> {
    const CONTAINER: &str = "META-INF/container.xml";
    let mut found = None;
    let _ = xml::each(&parts::optional(archive, CONTAINER), |event| {
        if let XmlEvent::Open(element) = event
            && element.name() == "rootfile"
            && found.is_none()
        {
            found = element.attribute("full-path");
        }
    });
    if let Some(name) = found {
        return Ok(name);
    }
    let mut names = archive.names().into_iter();
    names.find(|name| name.to_lowercase().ends_with(".opf")).ok_or_else(|| {
        if archive.has(CONTAINER) {
            return ReadFailure::new(FailureKind::Damaged, "the container names no package");
        }
        ReadFailure::new(FailureKind::WrongFormat, "it is a ZIP archive, not EPUB")
    })
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

    fn outcome(parts: &[(&str, &str)]) -> Result<Output, EarlyEnd> {
        output_of(read, &archive(parts))
    }

    #[track_caller]
    fn check_failure(parts: &[(&str, &str)], expected: FailureKind) {
        match outcome(parts) {
            Err(EarlyEnd::Failed(failed)) => assert_eq!(failed.failure, expected),
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
        check_failure(&with(text.as_str()), FailureKind::EncryptionNotSupported);
    }

    #[test]
    fn a_file_that_is_not_a_book_is_refused() {
        check_failure(&[("a.txt", "x")], FailureKind::WrongFormat);
        check_failure(&BOOK[..1], FailureKind::Damaged);
        check_failure(&[("META-INF/container.xml", "<container/>")], FailureKind::Damaged);
    }

    /// Creates an archive without compression.
    fn stored(parts: &[(&str, &str)]) -> Vec<u8> {
        use std::io::Write as _;
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, text) in parts {
            let options = zip::write::SimpleFileOptions::default()
                .compression_method(zip::CompressionMethod::Stored);
            archive.start_file(*name, options).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
        }
        archive.finish().unwrap().into_inner()
    }

    /// Changes a byte of a text in an archive without compression, so that its checksum is wrong.
    fn with_damage(archive: &[u8], text: &str) -> Vec<u8> {
        let mut archive = archive.to_vec();
        let at = archive.windows(text.len()).position(|window| window == text.as_bytes());
        archive[at.unwrap()] ^= 1;
        archive
    }

    /// Returns the blocks of a book, and the warnings, the last of which is about parts that were not read.
    fn book(bytes: &[u8]) -> (Vec<String>, Vec<String>) {
        let (mut blocks, input) = (Vec::new(), ReaderInput::of(bytes));
        let tail = read(&input, &mut |line| {
            if let AnswerLine::Page(page) = line {
                blocks.extend(page.blocks.into_iter().map(|block| block.text));
            }
            Ok(())
        });
        let ReadingSummary { mut warnings, parts, .. } = tail.unwrap();
        warnings.extend(parts.warning());
        (blocks, warnings)
    }

    #[test]
    fn a_damaged_chapter_is_named_and_the_others_are_read() {
        let stored = stored(&BOOK);
        let (blocks, warnings) = book(&with_damage(&stored, "The water leaves"));
        assert_eq!(blocks, ["# Flood", "It returns."]);
        // Once: the account of the parts names it.
        let size = FIRST.len();
        let expected =
            format!("not read: `OEBPS/text/first.xhtml` ({size} bytes: Invalid checksum)");
        assert_eq!(warnings, [expected]);
        let (blocks, warnings) = book(&archive(&BOOK[..3]));
        assert_eq!(blocks, ["# Flood", "It returns."]);
        assert_eq!(warnings, ["the chapter `first.xhtml` is damaged: it is missing"]);
    }

    #[test]
    fn a_book_with_less_than_half_of_its_chapters_is_damaged() {
        check_failure(&BOOK[..2], FailureKind::Damaged);
    }

    #[test]
    fn chapters_without_headings_have_the_titles_of_the_contents() {
        let package = "<package><manifest><item id='a' href='a.xhtml'/><item id='b' href='B.xhtml'/>\
             <item id='c' href='c.svg' media-type='image/svg+xml'/><item id='e' href='e.xhtml'/>\
             <item id='n' href='toc.ncx' media-type='application/x-dtbncx+xml'/></manifest><spine>\
             <itemref idref='a'/><itemref idref='b'/><itemref idref='c'/><itemref idref='e'/></spine></package>";
        let entry = |title: &str, target: &str| {
            format!(
                "<navPoint><navLabel><text>{title}</text></navLabel><content src='{target}'/></navPoint>"
            )
        };
        let contents = [
            entry("Ebb", "a.xhtml"),
            entry("Noon", "a.xhtml#n"),
            entry("Flood", "b.xhtml"),
            entry("Chart", "c.svg"),
            entry("Cover", "e.xhtml"),
        ];
        let contents = format!("<ncx><navMap>{}</navMap></ncx>", contents.concat());
        let (blocks, warnings) = book(&archive(&[
            ("META-INF/container.xml", CONTAINER),
            ("OEBPS/book.opf", package),
            ("OEBPS/toc.ncx", &contents),
            (
                "OEBPS/a.xhtml",
                "<html><body><p>EBB</p><p>It falls.</p><p id='n'>It waits.</p></body></html>",
            ),
            ("OEBPS/b.xhtml", "<html><body><h2>Its own</h2><p>It rises.</p></body></html>"),
            ("OEBPS/c.svg", "<svg><text>Pier 9</text></svg>"),
            ("OEBPS/e.xhtml", "<html><body><img src='e.png'/></body></html>"),
        ]));
        let expected = [
            "# Ebb", "It falls.", "# Noon", "It waits.", "## Its own", "It rises.", "# Chart",
            "Pier 9",
        ];
        assert_eq!(blocks, expected);
        assert!(warnings.is_empty());
    }

    #[test]
    fn a_book_whose_container_is_damaged_is_found_by_its_package() {
        let mut parts = BOOK;
        parts[0].1 = "<container><rootf";
        assert_eq!(outcome(&parts).unwrap().1.len(), 4);
    }
}
