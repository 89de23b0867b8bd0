//! Tests of the reader on archives.

use super::*;
use crate::extract::protocol::Request;
use crate::limits;
use crate::package::read_docx;
use crate::parts::{archive, archive_of_bytes};
use crate::testing::output_of;

#[track_caller]
fn check_failure(bytes: &[u8], expected: FailureKind) {
    match output_of(read_docx, bytes) {
        Err(EarlyEnd::Failed(failed)) => assert_eq!(failed.failure, expected),
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
    let (head, blocks) = output_of(read_docx, &bytes).unwrap();
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
    assert_eq!(output_of(read_docx, &bytes).unwrap().1, ["High water."]);
}

#[test]
fn a_file_that_is_not_docx_is_refused() {
    check_failure(&archive(&[("a.txt", "x")]), FailureKind::WrongFormat);
    check_failure(b"PK\x03\x04 and nothing", FailureKind::Damaged);
    check_failure(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", FailureKind::EncryptionNotSupported);
    check_failure(&archive(&[("word/document.xml", "<w:a><w:b></w:a>")]), FailureKind::Damaged);
}

/// The output of a reader for a file.
#[derive(Debug, Default)]
struct Emitted {
    blocks: Vec<String>,
    /// The names of the files.
    members: Vec<String>,
    warnings: Vec<String>,
}

fn emitted(bytes: &[u8]) -> Emitted {
    let mut emitted = Emitted::default();
    let request = Request::default();
    let input = ReaderInput { request: &request, ..ReaderInput::of(bytes) };
    let tail = read_docx(&input, &mut |line| {
        match line {
            AnswerLine::Page(page) => {
                emitted.blocks.extend(page.blocks.into_iter().map(|block| block.text));
            }
            AnswerLine::Member(member) => emitted.members.push(member.name),
            _ => {}
        }
        Ok(())
    });
    emitted.warnings = tail.unwrap().warnings;
    emitted
}

fn text(body: &str) -> String {
    format!("<w:document><w:body>{body}</w:body></w:document>")
}

fn paragraph(runs: &str) -> String {
    format!("<w:p><w:r>{runs}</w:r></w:p>")
}

fn relations(all: &[(&str, &str, &str)]) -> String {
    let relation = |(id, kind, target): &(&str, &str, &str)| {
        format!("<Relationship Id='{id}' Type='http://x/{kind}' Target='{target}'/>")
    };
    format!("<Relationships>{}</Relationships>", all.iter().map(relation).collect::<String>())
}

const FOOTNOTES: &str = "<w:footnotes><w:footnote w:id='2'><w:p><w:r><w:t>By the gate.</w:t></w:r></w:p>\
    </w:footnote></w:footnotes>";

#[test]
fn parts_are_found_by_their_relations_and_else_by_their_names() {
    let document = text(&paragraph("<w:t>Noon</w:t><w:footnoteReference w:id='2'/>"));
    let expected = ["Noon[^2]", "[^2]: By the gate."];
    let elsewhere = relations(&[("a", "footnotes", "../n/notes.xml")]);
    let lost = relations(&[("a", "footnotes", "lost.xml")]);
    for (relations, name) in [
        (elsewhere.as_str(), "n/notes.xml"),
        (lost.as_str(), "word/footnotes.xml"),
        ("", "word/Footnotes.xml"),
    ] {
        let bytes = archive(&[
            ("word/document.xml", &document),
            ("word/_rels/document.xml.rels", relations),
            (name, FOOTNOTES),
        ]);
        assert_eq!(emitted(&bytes).blocks, expected, "{name}");
    }
}

#[test]
fn a_damaged_part_does_not_lose_the_text() {
    let drawing = "<w:drawing><c:chart r:id='c'/></w:drawing>";
    let document = text(&paragraph(&format!("<w:t>High water.</w:t>{drawing}")));
    let relations = relations(&[("c", "chart", "chart.xml"), ("n", "comments", "comments.xml")]);
    let bytes = archive(&[
        ("word/document.xml", &document),
        ("word/_rels/document.xml.rels", &relations),
        ("word/chart.xml", "<c:chart><c:title><c:tx><c:v>Tides</c:v></c:tx></c:title></c:x>"),
        ("word/comments.xml", "\u{1}<<"),
        ("word/styles.xml", "<w:styles><w:style"),
    ]);
    assert_eq!(emitted(&bytes).blocks, ["High water.", "Tides"]);
}

#[test]
fn damage_of_the_text_is_a_warning_if_any_text_is_before_it() {
    let document = text(&paragraph("<w:t>High water.</w:t>"));
    let cut = &document[..document.len() - "</w:body></w:document>".len()];
    let read = emitted(&archive(&[("word/document.xml", cut)]));
    assert_eq!(read.blocks, ["High water."]);
    assert_eq!(read.warnings, ["the text is damaged and ends early: it is cut off"]);
    check_failure(&archive(&[("word/document.xml", "<w:document><w:body>")]), FailureKind::Damaged);
}

#[test]
fn embedded_files_are_named_at_their_places_and_emitted() {
    let object = |id: &str| paragraph(&format!("<w:object><o:OLEObject r:id='{id}'/></w:object>"));
    let cell = format!("<w:tbl><w:tr><w:tc>{}</w:tc></w:tr></w:tbl>", object("b"));
    let document = text(&(object("a") + &cell + &object("c") + &paragraph("<w:t>End.</w:t>")));
    let relations = relations(&[
        ("a", "package", "embeddings/costs.xlsx"),
        ("b", "package", "embeddings/plan.docx"),
        ("c", "oleObject", "embeddings/oleObject1.bin"),
        ("d", "package", "embeddings/loose.pptx"),
    ]);
    let bytes = archive(&[
        ("word/document.xml", &document),
        ("word/_rels/document.xml.rels", &relations),
        ("word/embeddings/costs.xlsx", "x"),
        ("word/embeddings/plan.docx", "x"),
        ("word/embeddings/loose.pptx", "x"),
        ("word/embeddings/oleObject1.bin", "x"),
    ]);
    let read = emitted(&bytes);
    let lines = ["costs.xlsx", "plan.docx"].map(|name| format!("Embedded file: {name}"));
    let end = ["End.".to_owned(), "Embedded file: loose.pptx".to_owned()];
    assert_eq!(read.blocks, [&lines[..], &end[..]].concat());
    assert_eq!(read.members, ["costs.xlsx", "plan.docx", "loose.pptx"]);
}

#[test]
fn merged_files_are_read_at_their_places() {
    let inner = text(&(paragraph("<w:t>Inner.</w:t>") + "<w:altChunk r:id='a'/>"));
    let of_inner =
        relations(&[("a", "aFChunk", "more.txt"), ("b", "package", "embeddings/costs.xlsx")]);
    let inner = archive(&[
        ("word/document.xml", &inner),
        ("word/_rels/document.xml.rels", &of_inner),
        ("word/more.txt", "deeper"),
        ("word/embeddings/costs.xlsx", "x"),
    ]);
    let chunk = |id: &str| format!("<w:altChunk r:id='{id}'/>");
    let document = paragraph("<w:t>Start.</w:t>")
        + &["a", "b", "c", "d", "e", "f", "a"].map(chunk).concat()
        + &paragraph("<w:t>End.</w:t>");
    let relations = relations(&[
        ("a", "aFChunk", "a.dat"),
        ("b", "aFChunk", "b.dat"),
        ("c", "aFChunk", "c.txt"),
        ("d", "aFChunk", "d.mht"),
        ("e", "aFChunk", "e.docx"),
        ("f", "aFChunk", "f.xml"),
    ]);
    let page = "<html><nav>All tides</nav><p>Page.</p></html>";
    let saved = format!("MIME-Version: 1.0\nContent-Type: text/html\n\n{page}");
    let bytes = archive_of_bytes(&[
        ("word/document.xml", text(&document).as_bytes()),
        ("word/_rels/document.xml.rels", relations.as_bytes()),
        ("word/a.dat", page.as_bytes()),
        ("word/b.dat", b"{\\rtf1 Rich.\\par}"),
        ("word/c.txt", b"One\nline.\r\n\r\nTwo."),
        ("word/d.mht", saved.as_bytes()),
        ("word/e.docx", &inner),
        ("word/f.xml", b"<a/>"),
    ]);
    let read = emitted(&bytes);
    assert_eq!(
        read.blocks,
        [
            "Start.",
            "All tides",
            "Page.",
            "Rich.",
            "One\nline.",
            "Two.",
            "All tides",
            "Page.",
            "Inner.",
            "Embedded file: costs.xlsx",
            "End.",
        ]
    );
    assert_eq!(read.members, ["word/e.docx/costs.xlsx"]);
    assert_eq!(
        read.warnings,
        [
            "word/more.txt, which belongs in the text, is not read",
            "word/f.xml, which belongs in the text, cannot be read: its format is not supported",
        ]
    );
}

#[test]
fn files_embedded_in_a_document_and_in_one_merged_into_it_count_together() {
    let inner = archive(&[
        ("word/document.xml", &text(&paragraph("<w:t>Inner.</w:t>"))),
        ("word/_rels/document.xml.rels", &relations(&[("b", "package", "small.xlsx")])),
        ("word/small.xlsx", "xx"),
    ]);
    let document = paragraph("<w:t>Start.</w:t>") + "<w:altChunk r:id='a'/>";
    let of_outer = relations(&[("a", "aFChunk", "e.docx"), ("b", "package", "large.xlsx")]);
    // It leaves room for one byte.
    let large = vec![0; usize::try_from(limits::MEMBER_BYTES).unwrap() - 1];
    let bytes = archive_of_bytes(&[
        ("word/document.xml", text(&document).as_bytes()),
        ("word/_rels/document.xml.rels", of_outer.as_bytes()),
        ("word/e.docx", &inner),
        ("word/large.xlsx", &large),
    ]);
    let read = emitted(&bytes);
    assert_eq!(read.members, ["large.xlsx"]);
    let expected =
        "the embedded file word/e.docx/small.xlsx was left out: more than 128 MB unpacked";
    assert!(read.blocks.contains(&"Inner.".to_owned()));
    assert_eq!(read.warnings, [expected]);
}
