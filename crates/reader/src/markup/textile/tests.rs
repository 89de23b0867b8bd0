//! Tests what is read of Textile.

use super::*;
use crate::markup::testing::check as check_blocks;

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    check_blocks(extract, text, expected);
}

#[test]
fn blocks_are_what_their_first_words_say() {
    check(
        "h1. Tides\n\nh2(#low). Low _water_\n\np(note). At ten.\nBoats wait.\n\nbq. Said once.\n\nPlain p.5 text\n\nfn1. A note\n\n\
         ###. not this\n\nbc(ruby). puts 1\nputs 2\n\nbc.. a\n\nb\n\np. After",
        &[
            "# Tides",
            "## Low water",
            "At ten.\nBoats wait.",
            "Said once.",
            "Plain p.5 text",
            "A note",
            "```ruby\nputs 1\nputs 2\n```",
            "```\na\n\nb\n```",
            "After",
        ],
    );
}

#[test]
fn lists_are_nested_and_may_follow_prose() {
    check(
        "Take:\n* one\n** two\nmore of two\n## three\n* four\n\n- ebb := the water leaves\n",
        &[
            "Take:",
            "- one\n  - two\n    more of two\n  1. three",
            "- four",
            "- ebb: the water leaves",
        ],
    );
}

#[test]
fn tables_have_cells() {
    check(
        "table(wide). Levels\n|_. Place |_. Level |\n|Brest|=. 4 _m_|\n|\\2. none|\n",
        &["| Place | Level |\n| --- | --- |\n| Brest | 4 m |\n| none |  |"],
    );
}

#[test]
fn preformatted_text_is_code() {
    check(
        "<pre><code class=\"sh\">\nls *a*\n</code></pre>\nAfter\n",
        &["```\nls *a*\n```", "After"],
    );
    check("<pre>open\n\nnot", &["open", "not"]);
}
