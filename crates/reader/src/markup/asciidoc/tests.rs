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
fn titles_may_have_two_lines() {
    let text = "gauge(1)\n========\nA. Writer\n\nNAME\n----\ngauge - reads\n\n[[opt]]\nOPTIONS\n-------\n\
        -a::\n\tAll.\n\nDepth\n~~~~~\n----\ncode\n----\n\n== Closed ==\n\nNo title\n--------------\nx\n--------------\n";
    let document = super::extract(text);
    assert_eq!(document.title.as_deref(), Some("gauge(1)"));
    assert_eq!(document.metadata.author.as_deref(), Some("A. Writer"));
    check(
        super::extract,
        text,
        &[
            "# gauge(1)", "## NAME", "gauge - reads", "## OPTIONS", "-a", "All.", "### Depth",
            "```\ncode\n```", "## Closed", "No title", "```\nx\n```",
        ],
    );
}

#[test]
fn a_verse_keeps_its_lines_and_a_block_within_another_has_no_sections() {
    check(
        super::extract,
        "[verse]\n'gauge' [-a]\n      [-b]\n\n[verse, Poet]\n____\nHigh\n  water\n____\n",
        &["'gauge' [-a]\n[-b]", "High\nwater"],
    );
    check(
        super::extract,
        "* one\n+\nCode:\n-----\nx\n-----\n\n====\n== In\n\n[discrete]\n== Out\n====\n\nA{caret}B\n",
        &["- one", "Code:", "```\nx\n```", "== In", "## Out", "A^B"],
    );
}

#[test]
fn blocks_lists_and_tables_keep_their_structure() {
    let text = "// comment\n[source,java]\n----\nint a;\n----\n\nNOTE: Mind it.\n\n.A title\n====\nInside.\n====\n\n* one\n** two\n. three\n\nTerm:: Its meaning\n\n////\nhidden\n////\n\ninclude::x.adoc[]\n";
    check(
        super::extract,
        text,
        &[
            "```java\nint a;\n```", "NOTE: Mind it.", "A title", "Inside.", "- one\n  - two",
            "1. three", "Term", "Its meaning",
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

#[test]
fn references_are_the_characters_they_stand_for() {
    check(
        super::extract,
        "== Gr&#246;&szlig;e\n\nDie M&#xF6;we &amp; x &no; &#35; y&#10;z\n",
        &["## Größe", "Die Möwe & x &no; \\# y z"],
    );
}
