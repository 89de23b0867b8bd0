//! Checks what becomes of reStructuredText.

use crate::markup::testing::{blocks, check};

#[test]
fn titles_have_levels_in_the_order_of_their_adornments() {
    let document = super::extract(
        "=====\nGauge\n=====\n\nOne.\n\nFloat\n-----\n\nTwo.\n\nArm\n^^^\n\nThree.\n",
    );
    assert_eq!(document.title.as_deref(), Some("Gauge"));
    let chains: Vec<String> =
        document.blocks.iter().map(|block| block.headings.join(" > ")).collect();
    assert_eq!(chains, ["", "", "Float", "Float", "Float > Arm", "Float > Arm"]);
    assert_eq!(document.text, "# Gauge\n\nOne.\n\n## Float\n\nTwo.\n\n### Arm\n\nThree.");
    assert_eq!(document.line_numbers, [2, 2, 5, 5, 7, 7, 10, 10, 12, 12, 15]);
}

#[test]
fn inline_markup_becomes_words() {
    for (text, expected) in [
        ("A *b* **c** ``d *e*`` f", "A b c `d *e*` f"),
        ("See :ref:`the tide <tide>` and :class:`~a.b.C`.", "See the tide and a.b.C."),
        ("`A link <https://a.org>`_ and `one`__ and word_.", "A link and one and word."),
        ("A note [1]_ and [#tide]_.", "A note [1] and [tide]."),
        (
            "H\\ :sub:`2`\\ O, a\\*b, 2 * 3 * 4, snake_case_name",
            "H2O, a*b, 2 * 3 * 4, snake_case_name",
        ),
        ("`A link over\ntwo lines <https://a.org>`_ end.", "A link over\ntwo lines end."),
    ] {
        check(super::extract, text, &[expected]);
    }
}

#[test]
fn directives_and_comments_are_read_for_their_words() {
    let text = ".. comment\n   more\n\n.. note:: Mind *it*.\n\n   Twice.\n\n.. code-block:: python\n   :linenos:\n\n   x = 1\n\n.. image:: a.png\n   :alt: A gauge\n\n.. toctree::\n\n   other\n\n.. |v| replace:: 3.2\n\nVersion |v|::\n\n  raw\n";
    check(
        super::extract,
        text,
        &[
            "Note: Mind it.", "Twice.", "```python\nx = 1\n```", "A gauge", "Version 3.2:",
            "```\nraw\n```",
        ],
    );
}

#[test]
fn options_after_an_argument_of_two_lines_are_not_text() {
    let text = ".. note:: Mind\n   it.\n   :class: x\n\n   Twice.\n";
    check(super::extract, text, &["Note: Mind\nit.", "Twice."]);
}

#[test]
fn tables_become_markdown() {
    check(
        super::extract,
        "+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n|   | 3 |\n+---+---+\n",
        &["| a | b |\n| --- | --- |\n| 1 | 2 3 |"],
    );
    check(
        super::extract,
        "===  ===\nä    b\n===  ===\n1    2\n3\n===  ===\n",
        &["| ä | b |\n| --- | --- |\n| 1 | 2 |\n| 3 |  |"],
    );
    check(
        super::extract,
        ".. list-table::\n\n   * - a\n     - b\n   * - 1\n     - 2\n",
        &["| a | b |\n| --- | --- |\n| 1 | 2 |"],
    );
    check(
        super::extract,
        ".. csv-table::\n   :header: a, b\n\n   1, \"2, 3\"\n",
        &["| a | b |\n| --- | --- |\n| 1 | 2, 3 |"],
    );
}

#[test]
fn lists_keep_their_items() {
    check(
        super::extract,
        "* one\n  more\n* two\n\n  - inner\n\n#. three\n",
        &["- one\n  more", "- two\n  - inner", "1. three"]
            .map(|item| {
                item.replace("- one", "* one").replace("- two", "* two").replace("1.", "#.")
            })
            .each_ref()
            .map(String::as_str),
    );
    check(super::extract, "term\n    Its meaning.\n", &["term", "Its meaning."]);
    check(super::extract, ":Author: A. Writer\n", &["Author: A. Writer"]);
}

#[test]
fn deep_nesting_is_read() {
    let text: String =
        (0..200).map(|depth| format!("{}word{depth}\n\n", " ".repeat(depth))).collect();
    let found = blocks(&super::extract(&text)).join(" ");
    assert!(found.contains("word0") && found.contains("word199"));
}
