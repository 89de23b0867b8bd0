//! Tests chunking.

mod pages;
mod random;
mod wide;

use super::*;
use crate::document::{Block, LineRange};
use crate::{markdown, plain};

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// Rounds up for every text, so that parts count for more than the whole.
fn thirds(text: &str) -> usize {
    text.chars().count().div_ceil(3)
}

/// Counts more tokens for a text than for its parts.
fn superadditive(text: &str) -> usize {
    let num_words = words(text);
    num_words + num_words * num_words / 50
}

const COUNTERS: [fn(&str) -> usize; 3] = [words, thirds, superadditive];

fn options(strategy: Strategy, max_tokens: usize, min_tokens: usize) -> ChunkOptions {
    ChunkOptions {
        strategy,
        max_tokens,
        min_tokens,
        overlap_tokens: 0,
        model_tokens: 256,
        reserved_tokens: 2,
        include_context: true,
    }
}

#[track_caller]
fn check(text: &str, max_tokens: usize, min_tokens: usize, expected: &[&str]) {
    let document = markdown::extract(text);
    let options = options(Strategy::Structure, max_tokens, min_tokens);
    let chunks = chunk(&document, "T", &words, &options);
    assert_eq!(chunks.iter().map(|chunk| chunk.text.as_str()).collect::<Vec<_>>(), expected);
}

/// Returns a definition as the code extractor does.
fn definition(bytes: Range<usize>, symbol: &str, context: &str) -> Block {
    Block {
        bytes,
        kind: BlockKind::Code,
        headings: Vec::new(),
        symbol: Some(symbol.to_owned()),
        context: Some(context.to_owned()),
        page: None,
        starts_section: true,
    }
}

#[test]
fn a_section_is_a_chunk_with_its_header_chain_as_context() {
    let document =
        markdown::extract("# Guide\n\nIntro here.\n\n## Config\n\nText.\n\n### Deep\n\nMore.\n");
    let chunks = chunk(&document, "Guide", &words, &options(Strategy::Structure, 100, 0));
    let seen: Vec<_> = chunks
        .iter()
        .map(|chunk| (chunk.text.as_str(), chunk.context.as_str(), chunk.section.as_deref()))
        .collect();
    assert_eq!(
        seen,
        [
            ("# Guide\n\nIntro here.", "Guide", None),
            ("## Config\n\nText.", "Guide > Config", Some("Config")),
            ("### Deep\n\nMore.", "Guide > Config > Deep", Some("Config > Deep")),
        ]
    );
    // Special tokens, three words and the separator between them, text.
    assert_eq!(chunks[1].token_count, 2 + 3 + 3);
    assert_eq!(
        chunks.iter().map(|chunk| chunk.lines).collect::<Vec<_>>(),
        [LineRange::new(1, 3), LineRange::new(5, 7), LineRange::new(9, 11)]
    );
}

#[test]
fn a_chunk_may_be_as_long_as_the_limit() {
    let text = "a a a a a\n\nb b b b b\n\nc c c c c\n\nd d d d d\n";
    check(text, 10, 0, &["a a a a a\n\nb b b b b", "c c c c c\n\nd d d d d"]);
    check(text, 9, 0, &["a a a a a", "b b b b b", "c c c c c", "d d d d d"]);
    check(text, 20, 0, &[text.trim_end()]);
}

#[test]
fn a_small_section_is_merged_with_the_next_under_the_same_heading() {
    check(
        "## A\n\na a a a a\n\n## B\n\nb\n\n## C\n\nc c c c c\n",
        20,
        5,
        &["## A\n\na a a a a", "## B\n\nb\n\n## C\n\nc c c c c"],
    );
}

#[test]
fn a_small_section_is_merged_with_the_previous_if_the_next_is_unrelated() {
    check(
        "# T\n\n## A\n\n### A1\n\na a a a a\n\n### A2\n\nb\n\n## C\n\nc c c c c\n",
        20,
        5,
        &["# T\n\n## A\n\n### A1\n\na a a a a\n\n### A2\n\nb", "## C\n\nc c c c c"],
    );
}

#[test]
fn a_merged_chunk_has_the_header_chain_of_its_first_text() {
    let document = markdown::extract("# T\n\n## A\n\nshort\n\n## B\n\nb b b b b b\n");
    let chunks = chunk(&document, "T", &words, &options(Strategy::Structure, 20, 10));
    assert_eq!(chunks.len(), 1);
    assert_eq!(chunks[0].section.as_deref(), Some("A"));
}

#[test]
fn a_heading_without_text_stays_with_the_next_text_at_any_minimum_size() {
    check("# T\n\n## A\n\ntext\n\n## B\n", 20, 0, &["# T\n\n## A\n\ntext\n\n## B"]);
    check("# T\n", 20, 0, &["# T"]);
    let text = "## A\n\na a a a a a\n\n#### X\n\n## B\n\n## C\n\nc c c c c c\n";
    check(text, 20, 5, &["## A\n\na a a a a a", "#### X\n\n## B\n\n## C\n\nc c c c c c"]);
}

#[test]
fn a_large_section_is_split_evenly_at_blocks() {
    let text =
        "## A\n\none two three.\n\nfour five six.\n\nseven eight nine.\n\nten eleven twelve.\n";
    check(
        text,
        12,
        3,
        &["## A\n\none two three.\n\nfour five six.", "seven eight nine.\n\nten eleven twelve."],
    );
}

#[test]
fn prose_is_split_at_sentences_then_at_words() {
    check(
        "One two. Three four, e.g. five six. Seven!",
        5,
        0,
        &["One two.", "Three four, e.g. five six.", "Seven!"],
    );
    let letters = "abcdefgh ".repeat(20);
    let document = plain::extract(&letters);
    let chunks = chunk(&document, "", &words, &options(Strategy::Structure, 10, 0));
    assert!(chunks.len() <= 4 && chunks.iter().all(|chunk| words(&chunk.text) <= 10));
    assert!(chunks.iter().all(|chunk| chunk.text.split(' ').all(|word| word == "abcdefgh")));
}

#[test]
fn chinese_sentences_are_recognised() {
    let document = plain::extract("今天天气很好。我们去公园吧！你觉得怎么样？");
    let chunks =
        chunk(&document, "", &|text| text.chars().count(), &options(Strategy::Structure, 9, 0));
    let texts: Vec<&str> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    assert_eq!(texts, ["今天天气很好。", "我们去公园吧！", "你觉得怎么样？"]);
}

#[test]
fn a_table_is_split_between_rows_and_keeps_its_head() {
    check(
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |\n",
        12,
        0,
        &["| a | b |\n|---|---|\n| 1 | 2 |", "| 3 | 4 |\n| 5 | 6 |"],
    );
}

#[test]
fn the_rest_of_a_table_begins_with_its_head_if_there_is_room() {
    check(
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n| 5 | 6 |\n",
        18,
        0,
        &["| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 3 | 4 |\n| 5 | 6 |"],
    );
}

#[test]
fn all_rows_of_a_head_are_repeated() {
    let split = |second: &str, is_repeated: bool| {
        let head = format!("| Tides | ebb | flood |\n|---|---|---|\n{second}\n");
        let rows: String = (11..20).map(|height| format!("| Hull | {height} | 21 |\n")).collect();
        let text = head + &rows;
        let options = options(Strategy::Structure, 54, 0);
        let chunks = chunk(&markdown::extract(&text), "T", &words, &options);
        assert!(chunks.len() > 1, "{chunks:?}");
        assert_eq!(chunks[1].text.contains(second), is_repeated, "{chunks:?}");
    };
    split("|  | in 2024 | May 28, 2025 |", true);
    split("| In metres | 2024 | 2025 |", true);
    split("|  | in metres | in feet |", true);
    split("| Emden | 7 | 2025 |", false);
    split("| Emden | dry | wet |", false);
    split("|  | 7 | 8 |", false);
}

#[test]
fn code_is_split_at_blank_lines_and_keeps_its_indentation() {
    let source = "    a b\n    c d\n\n    e f\n    g h\n";
    check(source, 5, 0, &["    a b\n    c d", "    e f\n    g h"]);
}

#[test]
fn definitions_stay_separate_and_have_module_and_class_as_context() {
    let source = "def f(): pass\n\ndef g():\n    one two\n    three four\n    five six\n";
    let at = source.find("def g").unwrap();
    let document = Document {
        text: source.to_owned(),
        blocks: vec![
            definition(0..14, "C.f", "class C"),
            definition(at..source.len(), "C.g", "class C"),
        ],
        has_lines: true,
        ..Document::default()
    };
    let mut options = options(Strategy::Structure, 6, 0);
    let seen = |options: &ChunkOptions| -> Vec<_> {
        let chunks = chunk(&document, "module", &words, options);
        chunks
            .into_iter()
            .map(|chunk| (chunk.symbol.unwrap(), chunk.context, chunk.lines.unwrap().first()))
            .collect()
    };
    let row = |symbol: &str, context: &str, line| (symbol.to_owned(), context.to_owned(), line);
    assert_eq!(
        seen(&options),
        [
            row("C.f", "module > class C", 1),
            row("C.g", "module > class C", 3),
            // The later part of a definition does not show its name.
            row("C.g", "module > class C > C.g", 5),
        ]
    );
    options.include_context = false;
    assert_eq!(seen(&options)[0], row("C.f", "module", 1));
}

#[test]
fn text_outside_all_blocks_is_in_no_chunk() {
    check("one\n\n<!-- no -->\n\ntwo\n", 9, 0, &["one\n\ntwo"]);
}

#[test]
fn windows_overlap_and_end_at_sentences() {
    let source = "One two three. Four five six. Seven eight nine. Ten eleven twelve.";
    let mut options = options(Strategy::Fixed, 8, 0);
    options.overlap_tokens = 3;
    let chunks = chunk(&plain::extract(source), "T", &words, &options);
    assert_eq!(
        chunks.iter().map(|chunk| chunk.text.as_str()).collect::<Vec<_>>(),
        [
            "One two three. Four five six.",
            "Four five six. Seven eight nine.",
            "Seven eight nine. Ten eleven twelve.",
        ]
    );
}

#[test]
fn a_note_is_one_chunk_if_the_model_can_read_it() {
    let count = |num_words: usize| {
        let document = plain::extract_note(&"word ".repeat(num_words));
        chunk(&document, "My note", &words, &options(Strategy::Whole, 100, 50)).len()
    };
    assert_eq!(count(0), 0);
    assert_eq!(count(150), 1);
    // The title is dropped.
    assert_eq!(count(254), 1);
    assert!(count(255) > 2);
}

#[test]
fn a_long_context_keeps_the_title_and_the_last_heading() {
    let long = |name: &str| format!("{name} {}", "x ".repeat(30));
    let source = format!("# T\n\n## {}\n\n### {}\n\n#### Last\n\ntext\n", long("A"), long("B"));
    let mut document = markdown::extract(&source);
    document.title = None;
    let context = |title: &str| {
        let mut options = options(Strategy::Structure, 30, 0);
        options.model_tokens = 130;
        chunk(&document, title, &words, &options).pop().unwrap().context
    };
    assert!(context("T").starts_with("T > … > B"), "{}", context("T"));
    assert!(context("T").ends_with("x > Last"));
    assert!(words(&context(&long("T").repeat(9))) <= 64);
    assert!(context(&long("T").repeat(9)).ends_with(" > Last"));
}

#[test]
fn a_line_of_a_million_characters_does_not_take_quadratic_time() {
    for source in ["x".repeat(1_000_000), "word ".repeat(200_000), "日".repeat(300_000)] {
        let chunks =
            chunk(&plain::extract(&source), "T", &thirds, &options(Strategy::Structure, 512, 50));
        let num_left: usize = chunks.iter().map(|chunk| words(&chunk.text.replace(' ', ""))).sum();
        assert_eq!(num_left, chunks.len());
        assert!(chunks.len() < 2_000);
    }
}

#[test]
fn fenced_code_is_fenced_in_every_chunk_of_a_notebook() {
    let text = "Tides\n\n```python\na = 1\nb = 2\n\nc = 3\nd = 4\n```\n\n~~~\nopen = 1";
    let options = options(Strategy::Structure, 9, 1);
    let chunks = |has_lines| {
        let document = Document { has_lines, ..markdown::extract(text) };
        let chunks = chunk(&document, "", &words, &options);
        chunks.into_iter().map(|chunk| chunk.text).collect::<Vec<_>>()
    };
    let fenced = chunks(false);
    for chunk in &fenced {
        assert_eq!(chunk.matches("```").count() % 2, 0, "{chunk}");
        assert_eq!(chunk.matches("~~~").count() % 2, 0, "{chunk}");
    }
    assert!(fenced.contains(&"```python\nc = 3\nd = 4\n```".to_owned()), "{fenced:?}");
    // Where lines are those of the file, nothing is added.
    assert_eq!(chunks(true).concat().matches("```").count(), 2);
}
