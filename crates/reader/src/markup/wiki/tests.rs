//! Checks what becomes of MediaWiki's markup.

use crate::markup::testing::check;

#[test]
fn inline_markup_becomes_words() {
    for (text, expected) in [
        (
            "'''A''' ''b'' [[page|text]] [[Tide]]s [https://a.org link] &ndash; __NOTOC__c",
            "A b text Tides link – c",
        ),
        (
            "Word<ref>A note.</ref> {{gone|{{inner}}}}and <nowiki>[[x]]</nowiki><!-- no -->.",
            "Word (A note.) and [[x]].",
        ),
        ("[[File:a.png|thumb|A [[gauge]]]] [[Category:Tides]]", "A gauge Category:Tides"),
    ] {
        check(super::extract, text, &[expected]);
    }
}

#[test]
fn headings_lists_tables_and_source_keep_their_structure() {
    let text = "{{Infobox\n| a = b\n}}\n== Float ==\n* one\n** two\n# three\n: indented\n{| class=x\n|+ Caption\n! a !! b\n|-\n| style=x | 1\n| 2\n|}\n<syntaxhighlight lang=\"c\">\nint a;\n</syntaxhighlight>\n";
    check(
        super::extract,
        text,
        &[
            "## Float",
            "- one\n  - two",
            "1. three",
            "indented",
            "Caption",
            "| a | b |\n| --- | --- |\n| 1 | 2 |",
            "```c\nint a;\n```",
        ],
    );
    assert_eq!(super::extract(text).line_numbers[0], 4);
}
