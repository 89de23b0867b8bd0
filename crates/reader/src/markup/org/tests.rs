//! Checks what becomes of Org.

use crate::markup::testing::check;

#[test]
fn headlines_lose_what_is_not_text() {
    let document = super::extract(
        "#+TITLE: Gauge\n#+AUTHOR: A. Writer\n* TODO [#A] Float  :tag:x:\n:PROPERTIES:\n:a: b\n:END:\nSCHEDULED: <2024-05-01>\nWords.\n* COMMENT Not this\nNor this.\n* Arm :noexport:\nNor that.\n",
    );
    assert_eq!(document.title.as_deref(), Some("Gauge"));
    assert_eq!(document.metadata.author.as_deref(), Some("A. Writer"));
    assert_eq!(document.text, "# Float\n\nWords.");
    assert_eq!(document.line_numbers, [3, 3, 8]);
}

#[test]
fn inline_markup_becomes_words() {
    for (text, expected) in [
        ("A *b* /c/ _d_ =e= ~f~ +g+", "A b c d `e` `f` g"),
        ("[[https://a.org][The page]] and [[file:x.org]] a/b/c", "The page and file:x.org a/b/c"),
        ("Word[fn:1] and [fn:x:a note].", "Word[1] and (a note)."),
    ] {
        check(super::extract, text, &[expected]);
    }
}

#[test]
fn blocks_lists_and_tables_keep_their_structure() {
    let text = "- one\n  more\n  - inner\n1. [X] two\n- term :: text\n| a | b |\n|---+---|\n| 1 | 2 |\n#+BEGIN_SRC c\nint a;\n#+END_SRC\n#+BEGIN_QUOTE\nSaid.\n#+END_QUOTE\n: fixed\n";
    check(
        super::extract,
        text,
        &[
            "- one\n  more\n  - inner",
            "1. two",
            "- term: text",
            "| a | b |\n| --- | --- |\n| 1 | 2 |",
            "```c\nint a;\n```",
            "Said.",
            "```\nfixed\n```",
        ],
    );
}

#[test]
fn indented_fixed_lines_are_code() {
    check(
        super::extract,
        "  : one\n  :\n  :   two\nWords.\n",
        &["```\none\n\n  two\n```", "Words."],
    );
}
