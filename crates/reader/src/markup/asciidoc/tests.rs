//! Checks what becomes of AsciiDoc.

use crate::markup::testing::check;

#[test]
fn the_header_states_title_author_and_attributes() {
    let document =
        super::extract("= Gauge\nA. Writer <a@b.org>\n:name: float\n\n== The {name}\n\nWords.\n");
    assert_eq!(document.title.as_deref(), Some("Gauge"));
    assert_eq!(document.metadata.author.as_deref(), Some("A. Writer"));
    assert_eq!(document.blocks[2].headings, ["The float"]);
    assert_eq!(document.line_numbers, [1, 1, 5, 5, 7]);
}

#[test]
fn inline_markup_becomes_words() {
    for (text, expected) in [
        ("A *b* _c_ `d` #e# **f**g", "A b c `d` e fg"),
        (
            "See https://a.org[the page] and <<tide,that>> and xref:x.adoc[this].",
            "See the page and that and this.",
        ),
        ("A footnote:[word] and kbd:[Ctrl] and {unknown}.", "A  (word) and Ctrl and {unknown}."),
        ("snake_case_name, 2 * 3 * 4", "snake_case_name, 2 * 3 * 4"),
    ] {
        check(super::extract, text, &[&expected.replace("  ", " ")]);
    }
}

#[test]
fn blocks_lists_and_tables_keep_their_structure() {
    let text = "// comment\n[source,java]\n----\nint a;\n----\n\nNOTE: Mind it.\n\n.A title\n====\nInside.\n====\n\n* one\n** two\n. three\n\nTerm:: Its meaning\n\n////\nhidden\n////\n\ninclude::x.adoc[]\n";
    check(
        super::extract,
        text,
        &[
            "```java\nint a;\n```",
            "NOTE: Mind it.",
            "A title",
            "Inside.",
            "- one\n  - two",
            "1. three",
            "Term",
            "Its meaning",
        ],
    );
    check(
        super::extract,
        "|===\n|a |b\n\n|1\n|2\n|===\n",
        &["| a | b |\n| --- | --- |\n| 1 | 2 |"],
    );
    check(
        super::extract,
        "[cols=\"1,1\"]\n|===\n|a\n|b\nmore\n\n|1 |2\n|===\n",
        &["| a | b more |\n| --- | --- |\n| 1 | 2 |"],
    );
}

/// Found by changed files: the byte after a wide space is within it.
#[test]
fn a_wide_space_before_a_separator_is_no_format() {
    let document = super::extract("|===\n|one\u{a0}|two\n|===\n");
    assert!(document.text.contains("one") && document.text.contains("two"), "{}", document.text);
}
