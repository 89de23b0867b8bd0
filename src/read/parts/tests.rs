//! Tests into which parts documents are divided, and where the parts are.

use super::*;
use crate::document::{Chunk, Format, Language, LineRange};
use crate::read::testing::{plain, stored};

/// Returns a part on one line: kind, level, name, section, preview, pages, lines, tokens and chunks.
fn shown(part: &DocumentPart) -> String {
    let range = |first: Option<u32>, last: Option<u32>| match (first, last) {
        (Some(first), Some(last)) => format!("{first}-{last}"),
        (first, last) => format!("{first:?}-{last:?}").replace("None", ""),
    };
    let ids: Vec<String> = part.chunk_ids.iter().map(ToString::to_string).collect();
    format!(
        "{} {} {}, {}: '{}' pages {} lines {} tokens {} chunks {}",
        part.kind.as_str(),
        part.level,
        part.name.as_deref().unwrap_or("-"),
        part.section.as_deref().unwrap_or("-"),
        part.preview,
        range(part.pages.map(PageRange::first), part.pages.map(PageRange::last)),
        range(part.start_line, part.end_line),
        part.num_tokens,
        ids.join(" ")
    )
}

fn outlined(format: Format, chunks: &[Chunk], level: Option<u32>) -> String {
    let (db, document) = stored(format, chunks);
    let outline = outline(&db.store, document, level).unwrap();
    assert_eq!(
        outline.num_tokens,
        chunks.iter().map(|chunk| u64::from(chunk.token_count)).sum::<u64>()
    );
    outline.parts.iter().map(shown).collect::<Vec<_>>().join("\n")
}

fn on_lines(text: &str, token_count: u32, first: u32, last: u32) -> Chunk {
    Chunk { lines: LineRange::new(first, last), ..plain(text, token_count) }
}

fn of_symbol(symbol: &str) -> Chunk {
    Chunk { symbol: Some(symbol.to_owned()), ..plain(&format!("def {symbol}"), 1) }
}

fn of_section(section: &str, page: u32, last_page: u32) -> Chunk {
    let pages = Chunk { pages: PageRange::new(page, last_page), ..plain("", 1) };
    Chunk { text: format!("About {section}."), section: Some(section.to_owned()), ..pages }
}

fn on_pages(text: &str, page: u32, last_page: u32) -> Chunk {
    Chunk { pages: PageRange::new(page, last_page), ..plain(text, 1) }
}

/// Two chunks, in which four headings and the text before them begin and end.
fn markdown() -> [Chunk; 2] {
    [
        on_lines("Preface.\n\n# Sea\n\nWater.\n\n## Tides", 10, 1, 7),
        on_lines("High and low.\n\n# Land", 6, 9, 11),
    ]
}

#[test]
fn headings_of_markdown_have_all_that_is_below_them() {
    insta::assert_snapshot!(outlined(Format::Markdown, &markdown(), None), @r"
    text 1 -, -: 'Preface.' pages - lines 1-1 tokens 3 chunks 1
    section 1 Sea, Sea: '# Sea' pages - lines 3-9 tokens 11 chunks 1 2
    section 2 Tides, Sea > Tides: '## Tides' pages - lines 7-9 tokens 7 chunks 1 2
    section 1 Land, Land: '# Land' pages - lines 11-11 tokens 2 chunks 2
    ");
    // A deeper heading after a gap in the levels ends with the next one of its level.
    let text = "# A\n\n### B\n\n## C\n\n### D";
    insta::assert_snapshot!(outlined(Format::Markdown, &[on_lines(text, 1, 1, 7)], None), @r"
    section 1 A, A: '# A' pages - lines 1-7 tokens 1 chunks 1
    section 3 B, A > B: '### B' pages - lines 3-3 tokens 1 chunks 1
    section 2 C, A > C: '## C' pages - lines 5-7 tokens 1 chunks 1
    section 3 D, A > C > D: '### D' pages - lines 7-7 tokens 1 chunks 1
    ");
}

#[test]
fn deeper_levels_are_left_out() {
    insta::assert_snapshot!(outlined(Format::Markdown, &markdown(), Some(1)), @r"
    text 1 -, -: 'Preface.' pages - lines 1-1 tokens 3 chunks 1
    section 1 Sea, Sea: '# Sea' pages - lines 3-9 tokens 11 chunks 1 2
    section 1 Land, Land: '# Land' pages - lines 11-11 tokens 2 chunks 2
    ");
}

#[test]
fn a_class_without_a_text_is_no_part() {
    let chunks = [
        plain("use std;", 1),
        of_symbol("Stack"),
        of_symbol("Stack::push"),
        of_symbol("Stack::push"),
        of_symbol("Stack::pop"),
        of_symbol("Model.fit"),
    ];
    let found = outlined(Format::Code(Language::Rust), &chunks, None);
    insta::assert_snapshot!(found, @r"
    text 1 -, -: 'use std;' pages - lines - tokens 1 chunks 1
    symbol 1 Stack, -: 'def Stack' pages - lines - tokens 4 chunks 2 3 4 5
    symbol 2 Stack::push, -: 'def Stack::push' pages - lines - tokens 2 chunks 3 4
    symbol 2 Stack::pop, -: 'def Stack::pop' pages - lines - tokens 1 chunks 5
    symbol 2 Model.fit, -: 'def Model.fit' pages - lines - tokens 1 chunks 6
    ");
}

#[test]
fn sections_of_other_formats_are_those_of_the_chunks() {
    let chunks = [
        of_section("A", 1, 1),
        of_section("A > B", 1, 2),
        of_section("A > B > C", 2, 3),
        plain("Between.", 1),
        of_section("D > E", 4, 4),
    ];
    insta::assert_snapshot!(outlined(Format::Pdf, &chunks, None), @r"
    section 1 A, A: 'About A.' pages 1-3 lines - tokens 3 chunks 1 2 3
    section 2 B, A > B: 'About A > B.' pages 1-3 lines - tokens 2 chunks 2 3
    section 3 C, A > B > C: 'About A > B > C.' pages 2-3 lines - tokens 1 chunks 3
    text 1 -, -: 'Between.' pages - lines - tokens 1 chunks 4
    section 1 D, D: 'About D > E.' pages 4-4 lines - tokens 1 chunks 5
    section 2 E, D > E: 'About D > E.' pages 4-4 lines - tokens 1 chunks 5
    ");
}

#[test]
fn a_page_has_the_chunks_that_are_partly_on_it() {
    let chunks = [on_pages("a", 1, 1), on_pages("b", 1, 2), on_pages("c", 4, 4)];
    insta::assert_snapshot!(outlined(Format::Pdf, &chunks, None), @r"
    page 1 1, -: 'a' pages 1-1 lines - tokens 2 chunks 1 2
    page 1 2, -: 'b' pages 2-2 lines - tokens 1 chunks 2
    page 1 4, -: 'c' pages 4-4 lines - tokens 1 chunks 3
    ");
}

#[test]
fn without_headings_symbols_and_pages_each_chunk_is_a_part() {
    let chunks = [on_lines("a", 2, 1, 1), on_lines("b", 3, 3, 3)];
    for format in [Format::Text, Format::Markdown] {
        assert_eq!(
            outlined(format, &chunks, None),
            "text 1 -, -: 'a' pages - lines 1-1 tokens 2 chunks 1\n\
             text 1 -, -: 'b' pages - lines 3-3 tokens 3 chunks 2"
        );
    }
    assert_eq!(outlined(Format::Text, &[], None), "");
}

#[test]
fn a_part_counts_its_share_of_the_tokens_of_a_chunk() {
    let chunk =
        |token_count| StoredChunk { id: ChunkId(1), chunk_index: 0, chunk: plain("", token_count) };
    for (token_count, span, bytes, expected) in [
        (7, 10..20, 10..20, 7),
        (7, 10..20, 0..30, 7),
        (7, 10..20, 0..15, 4),
        (7, 10..20, 18..30, 2),
        (7, 10..20, 12..14, 2),
        (7, 10..20, 20..30, 0),
        (7, 10..10, 0..30, 0),
    ] {
        assert_eq!(share(&chunk(token_count), &span, &bytes), expected, "{span:?}, {bytes:?}");
    }
}

#[test]
fn a_preview_is_the_beginning_of_the_first_line() {
    let long = "ä".repeat(81);
    for (text, expected) in [("\n  a b \nc", "a b"), ("", ""), (" \n", ""), (&long, &long[2..])] {
        assert_eq!(preview(text), expected);
    }
}

#[test]
fn the_outermost_level_with_several_parts_is_kept() {
    #[track_caller]
    fn check(text: &str, expected: (u32, usize), num_kept: usize) {
        let (db, document) = stored(Format::Markdown, &[plain(text, 1)]);
        let mut outline = outline(&db.store, document, None).unwrap();
        assert_eq!((outline.keep_outermost(), outline.parts.len()), (expected, num_kept));
    }
    check("# A\n\na\n\n## B\n\nb\n\n# C\n\nc", (1, 1), 2);
    // Only a title.
    check("# A\n\na\n\n## B\n\nb\n\n## C\n\nc\n\n### D\n\nd", (2, 1), 3);
    check("# A\n\na\n\n### B\n\nb\n\n#### C\n\nc", (3, 1), 2);
    check("# A\n\na", (1, 0), 1);
}
