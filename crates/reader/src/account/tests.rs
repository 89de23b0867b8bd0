//! Tests that each part of a package is read, counted by its kind, or named.

use super::*;
use crate::document::Headed;
use crate::extract::protocol::{AnswerLine, DocumentHead};
use crate::parts::{archive, open};
use crate::{ReaderInput, package};

/// Returns the account of parts of which `read` were asked for.
fn account(parts: &[(&str, &str)], read: &[&str]) -> ReadingSummary {
    let bytes = archive(parts);
    let mut archive = open(&bytes).unwrap();
    for name in read {
        archive.bytes(name).unwrap();
    }
    archive.account(ReadingSummary::default())
}

fn counts(words: &WordAccount) -> Vec<(WordDestination, u32)> {
    words.counts().collect()
}

#[test]
fn parts_without_text_are_counted_by_their_kind() {
    let types = "<DeclaredTypes><Default Extension='rels' ContentType='application/x-relationships+xml'/>\
                 <Override PartName='/word/theme1.xml' ContentType='application/x.theme+xml'/></DeclaredTypes>";
    let tail = account(
        &[
            ("[Content_Types].xml", types),
            ("_rels/.rels", "<Relationships/>"),
            ("word/document.xml", "<a>words</a>"),
            ("word/theme1.xml", "<a>Office</a>"),
            ("word/media/image1.png", "\u{0}"),
            ("word/data.xml", "<a b='c'/>"),
        ],
        &["word/document.xml"],
    );
    let kinds: Vec<_> = tail.parts.without_text.iter().collect();
    let expected = [("markup", 1), ("picture", 1), ("relation", 1), ("style", 1)];
    assert!(
        kinds.into_iter().eq(expected
            .map(|(kind, count)| (kind.to_owned(), count))
            .iter()
            .map(|(kind, count)| (kind, count)))
    );
    // The declarations were read for the account.
    assert_eq!((tail.parts.num_read, tail.parts.num_parts()), (2, 6));
    assert!(counts(&tail.left_out).is_empty() && tail.parts.unread.is_empty());
}

#[test]
fn a_part_that_no_reader_opens_is_named_and_its_words_are_counted() {
    let tail = account(
        &[
            ("ppt/slides/slide1.xml", "<a/>"),
            ("ppt/models/model1.xml", "<a><b>Two words</b></a>"),
            ("ppt/models/model1.bin", "\u{0}\u{1}\u{2}\u{3}"),
            ("customXml/item1.xml", "<a>bound</a>"),
        ],
        &["ppt/slides/slide1.xml"],
    );
    assert_eq!(
        counts(&tail.left_out),
        [(WordDestination::Markup, 1), (WordDestination::Unread, 2)]
    );
    let unread: Vec<_> =
        tail.parts.unread.iter().map(|part| (&*part.name, &*part.reason)).collect();
    let expected = [
        ("ppt/models/model1.xml", "kb does not read this kind of part"),
        ("ppt/models/model1.bin", "its content is not known"),
    ];
    assert_eq!(unread, expected);
}

#[test]
fn the_workbook_behind_a_chart_is_its_data() {
    let relations = "<Relationships><Relationship Id='r' Type='x/package' Target='../embeddings/a.xlsx'/></Relationships>";
    let tail = account(
        &[
            ("word/charts/chart1.xml", "<a>chart</a>"),
            ("word/charts/_rels/chart1.xml.rels", relations),
            ("word/embeddings/a.xlsx", "PK"),
            ("word/embeddings/b.xlsx", "PK\u{3}\u{4}\u{1}\u{0}\u{0}\u{2}\u{0}\u{0}\u{0}"),
        ],
        &["word/charts/chart1.xml"],
    );
    assert_eq!(tail.parts.without_text.get("data of a chart"), Some(&1));
    assert_eq!(tail.parts.unread[0].name, "word/embeddings/b.xlsx");
    assert_eq!(tail.parts.unread[0].reason, "it looks like a ZIP archive");
}

/// A main part with a word, and what belongs to a package of its kind.
struct Package {
    kind: Headed,
    /// The content type of the main part, or the media type.
    declared: &'static str,
    main: (&'static str, &'static str),
    /// The names of all other parts. Those in XML have no words.
    parts: &'static [&'static str],
    /// Those of `parts` that nothing reads.
    unread: &'static [&'static str],
}

/// The kinds of part that the standards know (ECMA-376, part 1, 11 to 15; `OpenDocument` 1.3, part 2, 3; EPUB 3.3, 4).
const PACKAGES: &[Package] = &[
    Package {
        kind: Headed::Docx,
        declared: "vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
        main: (
            "word/document.xml",
            "<w:document><w:p><w:r><w:t>words</w:t></w:r></w:p></w:document>",
        ),
        parts: &[
            "_rels/.rels",
            "docProps/core.xml",
            "docProps/app.xml",
            "docProps/custom.xml",
            "docProps/thumbnail.jpeg",
            "word/_rels/document.xml.rels",
            "word/styles.xml",
            "word/stylesWithEffects.xml",
            "word/numbering.xml",
            "word/settings.xml",
            "word/webSettings.xml",
            "word/fontTable.xml",
            "word/theme/theme1.xml",
            "word/footnotes.xml",
            "word/endnotes.xml",
            "word/comments.xml",
            "word/commentsExtended.xml",
            "word/people.xml",
            "word/header1.xml",
            "word/footer1.xml",
            "word/glossary/document.xml",
            "word/charts/chart1.xml",
            "word/charts/style1.xml",
            "word/diagrams/data1.xml",
            "word/diagrams/layout1.xml",
            "word/media/image1.png",
            "word/media/image2.emf",
            "word/fonts/font1.odttf",
            "word/vbaProject.bin",
            "word/activeX/activeX1.xml",
            "word/afchunk.html",
            "customXml/item1.xml",
            "customXml/itemProps1.xml",
            "_xmlsignatures/sig1.xml",
            "word/embeddings/oleObject1.bin",
        ],
        unread: &["word/embeddings/oleObject1.bin"],
    },
    Package {
        kind: Headed::Xlsx,
        declared: "vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml",
        main: (
            "xl/workbook.xml",
            "<workbook><sheets><sheet name='a' r:id='r'/></sheets></workbook>",
        ),
        parts: &[
            "_rels/.rels",
            "docProps/core.xml",
            "xl/_rels/workbook.xml.rels",
            "xl/worksheets/sheet1.xml",
            "xl/worksheets/_rels/sheet1.xml.rels",
            "xl/chartsheets/sheet1.xml",
            "xl/dialogsheets/sheet1.xml",
            "xl/sharedStrings.xml",
            "xl/styles.xml",
            "xl/theme/theme1.xml",
            "xl/calcChain.xml",
            "xl/metadata.xml",
            "xl/comments1.xml",
            "xl/threadedComments/threadedComment1.xml",
            "xl/persons/person.xml",
            "xl/drawings/drawing1.xml",
            "xl/drawings/vmlDrawing1.vml",
            "xl/charts/chart1.xml",
            "xl/charts/colors1.xml",
            "xl/tables/table1.xml",
            "xl/pivotTables/pivotTable1.xml",
            "xl/pivotCache/pivotCacheRecords1.xml",
            "xl/queryTables/queryTable1.xml",
            "xl/connections.xml",
            "xl/externalLinks/externalLink1.xml",
            "xl/printerSettings/printerSettings1.bin",
            "xl/ctrlProps/ctrlProp1.xml",
            "xl/media/image1.jpeg",
            "xl/revisions/revisionLog1.xml",
        ],
        unread: &["xl/printerSettings/printerSettings1.bin"],
    },
    Package {
        kind: Headed::Pptx,
        declared: "vnd.openxmlformats-officedocument.presentationml.presentation.main+xml",
        main: (
            "ppt/presentation.xml",
            "<p:presentation><p:sldIdLst><p:sldId r:id='r1'/></p:sldIdLst></p:presentation>",
        ),
        parts: &[
            "_rels/.rels",
            "docProps/core.xml",
            "ppt/_rels/presentation.xml.rels",
            "ppt/slides/slide1.xml",
            "ppt/slides/_rels/slide1.xml.rels",
            "ppt/slideLayouts/slideLayout1.xml",
            "ppt/slideMasters/slideMaster1.xml",
            "ppt/notesMasters/notesMaster1.xml",
            "ppt/notesSlides/notesSlide1.xml",
            "ppt/handoutMasters/handoutMaster1.xml",
            "ppt/theme/theme1.xml",
            "ppt/presProps.xml",
            "ppt/viewProps.xml",
            "ppt/tableStyles.xml",
            "ppt/commentAuthors.xml",
            "ppt/comments/comment1.xml",
            "ppt/tags/tag1.xml",
            "ppt/media/media1.mp4",
            "ppt/fonts/font1.fntdata",
        ],
        unread: &[],
    },
    Package {
        kind: Headed::Odt,
        declared: "application/vnd.oasis.opendocument.text",
        main: ("content.xml", "<office:text><text:p>words</text:p></office:text>"),
        parts: &[
            "META-INF/manifest.xml",
            "styles.xml",
            "meta.xml",
            "settings.xml",
            "manifest.rdf",
            "layout-cache",
            "Thumbnails/thumbnail.png",
            "Pictures/1.png",
            "Configurations2/accelerator/current.xml",
            "ObjectReplacements/Object 1",
            "Object 1/content.xml",
            "Object 1/styles.xml",
            "Basic/Standard/Module1.xml",
        ],
        unread: &[],
    },
    Package {
        kind: Headed::Ods,
        declared: "application/vnd.oasis.opendocument.spreadsheet",
        main: (
            "content.xml",
            "<table:table><table:table-row><table:table-cell><text:p>words</text:p></table:table-cell></table:table-row></table:table>",
        ),
        parts: &[
            "META-INF/manifest.xml", "styles.xml", "meta.xml", "settings.xml",
            "Scripts/python/a.py",
        ],
        unread: &[],
    },
    Package {
        kind: Headed::Epub,
        declared: "application/epub+zip",
        main: (
            "book.opf",
            "<package><manifest><item id='a' href='a.xhtml'/></manifest><spine><itemref idref='a'/></spine></package>",
        ),
        parts: &[
            "META-INF/container.xml",
            "META-INF/com.apple.ibooks.display-options.xml",
            "a.xhtml",
            "toc.ncx",
            "style.css",
            "cover.jpg",
            "fonts/a.woff2",
            "script.js",
        ],
        unread: &[],
    },
];

/// Returns the text of a part that a reader needs; else one that only has its kind.
fn content(name: &str) -> &'static str {
    match name {
        "META-INF/container.xml" => "<container><rootfile full-path='book.opf'/></container>",
        "a.xhtml" => "<html><body><p>words</p></body></html>",
        "ppt/slides/slide1.xml" => {
            "<p:sld><p:sp><a:p><a:r><a:t>words</a:t></a:r></a:p></p:sp></p:sld>"
        }
        "xl/worksheets/sheet1.xml" => {
            "<worksheet><row><c t='inlineStr'><is><t>words</t></is></c></row></worksheet>"
        }
        "ppt/_rels/presentation.xml.rels" => {
            "<Relationships><Relationship Id='r1' Type='x/slide' Target='slides/slide1.xml'/></Relationships>"
        }
        name if name.ends_with(".bin") => "\u{0}\u{1}\u{2}\u{3}\u{0}\u{5}\u{6}",
        name if name.ends_with(".rels") => "<Relationships/>",
        _ => "<a b='c'/>",
    }
}

#[test]
fn every_part_of_every_kind_of_package_is_accounted_for() {
    for package in PACKAGES {
        let (main, text) = package.main;
        let is_office = !package.declared.starts_with("application/");
        let types = format!(
            "<Types><Override PartName='/{main}' ContentType='application/{}'/></Types>",
            package.declared
        );
        let mut all = match is_office {
            true => vec![("[Content_Types].xml", &*types)],
            false => vec![("mimetype", package.declared)],
        };
        all.push((main, text));
        all.extend(package.parts.iter().map(|name| (*name, content(name))));
        let bytes = archive(&all);
        let mut head = DocumentHead::default();
        let tail = package::read(&ReaderInput::of(&bytes), &mut |line| {
            if let AnswerLine::Document(found) = line {
                head = found;
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(head.format.as_deref(), Some(package.kind.as_str()));
        let unread: Vec<&str> = tail.parts.unread.iter().map(|part| &*part.name).collect();
        assert_eq!(unread, package.unread, "{}", package.kind);
        assert_eq!(tail.parts.num_parts() as usize, all.len(), "{}", package.kind);
    }
}
