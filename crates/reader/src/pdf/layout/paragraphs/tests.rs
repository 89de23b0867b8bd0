//! Tests how lines become paragraphs, lists, code and headings.

use super::*;
use crate::pdf::layout::testing;

const BODY: BodyStyle = BodyStyle { size: testing::SIZE, ink: 1.0, is_mono: false };

#[track_caller]
fn check(lines: Vec<TextLine>, expected: &[(BlockKind, &str)]) {
    let blocks = blocks(lines, Vec::new(), BODY);
    let found: Vec<_> = blocks.iter().map(|block| (block.kind, block.text.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn an_indent_or_a_wide_gap_begins_a_paragraph() {
    check(
        testing::lines(
            "The tide turns at noon and then\nruns out for six hours and some.\n\
             \u{20}  Then it comes back in again,\nsix hours later.\n\nThe wind may change it.",
        ),
        &[
            (
                BlockKind::Paragraph,
                "The tide turns at noon and then runs out for six hours and some.",
            ),
            (BlockKind::Paragraph, "Then it comes back in again, six hours later."),
            (BlockKind::Paragraph, "The wind may change it."),
        ],
    );
}

#[test]
fn list_items_are_separate_blocks() {
    check(
        testing::lines("\u{2022} the ebb,\n  which is long\n\u{2022} the flood\n1. one\n2. two"),
        &[
            (BlockKind::ListItem, "\u{2022} the ebb, which is long"),
            (BlockKind::ListItem, "\u{2022} the flood"),
            (BlockKind::ListItem, "1. one"),
            (BlockKind::ListItem, "2. two"),
        ],
    );
}

#[test]
fn a_list_item_continues_after_a_sentence_that_ends_early() {
    check(
        testing::lines(
            "\u{2022} The ebb is short.\n  However, the flood\n  takes six long hours.\n\u{2022} the moon",
        ),
        &[
            (
                BlockKind::ListItem,
                "\u{2022} The ebb is short. However, the flood takes six long hours.",
            ),
            (BlockKind::ListItem, "\u{2022} the moon"),
        ],
    );
}

#[test]
fn short_items_without_markers_are_told_by_their_distances() {
    let mut lines = testing::lines(
        "The tide turns at noon and\nat night\nThe ebb\nThe flood\nThe moon is above the sea and\nthe land\nThe end",
    );
    let mut base = 0.0;
    for (line, distance) in lines.iter_mut().zip([12.0, 12.0, 18.0, 18.0, 18.0, 12.0, 18.0]) {
        base += distance;
        line.base = base;
    }
    let blocks = blocks(lines, Vec::new(), BODY);
    let texts: Vec<&str> = blocks.iter().map(|block| block.text.as_str()).collect();
    let expected = [
        "The tide turns at noon and at night",
        "The ebb",
        "The flood",
        "The moon is above the sea and the land",
        "The end",
    ];
    assert_eq!(texts, expected);
}

#[test]
fn fields_are_separate_blocks() {
    check(
        testing::lines(
            "Report ID: 12\nPrepared by: Ada\nNote: the gauge at the harbour was frozen\nat noon",
        ),
        &[
            (BlockKind::Paragraph, "Report ID: 12"),
            (BlockKind::Paragraph, "Prepared by: Ada"),
            (BlockKind::Paragraph, "Note: the gauge at the harbour was frozen at noon"),
        ],
    );
}

#[test]
fn a_line_that_looks_different_is_a_separate_block() {
    let mut lines = testing::lines("The Tides\nThey turn at noon\nand at midnight");
    lines[0].is_bold = true;
    check(
        lines,
        &[
            (BlockKind::Paragraph, "The Tides"),
            (BlockKind::Paragraph, "They turn at noon and at midnight"),
        ],
    );
    let mut lines = testing::lines("The Tides\nThey turn at noon");
    lines[0].size = 14.0;
    assert_eq!(blocks(lines, Vec::new(), BODY).len(), 2);
}

#[test]
fn monospaced_lines_are_code_with_their_columns() {
    let mut lines = testing::lines("fn main() {\n    let x = 1;\n}");
    for line in &mut lines {
        (line.pitch, line.shows_fixed_pitch) = (Some(0.5), true);
    }
    check(lines, &[(BlockKind::Code, "fn main() {\n    let x = 1;\n}")]);
}

#[test]
fn words_broken_at_the_end_of_a_line_are_rejoined_with_a_mark() {
    check(
        testing::lines("the high water of the har-\nbour"),
        &[(BlockKind::Paragraph, "the high water of the har\u{FDD1}bour")],
    );
}

#[test]
fn a_table_keeps_its_position() {
    let area = PageArea::new(0.0, 14.0, 50.0, 26.0);
    let rows = vec![vec!["a".into(), "b".into()], vec!["c".into(), "d".into()]];
    let mut table = PageTable::new(area, rows, vec![[0.0, 20.0], [30.0, 50.0]], 10.0);
    table.above = vec!["Tides".into()];
    let found = blocks(testing::lines("before\n\nafter"), vec![table], BODY);
    let texts: Vec<&str> = found.iter().map(|block| block.text.as_str()).collect();
    assert_eq!(texts, ["before", "Tides", "| a | b |\n| --- | --- |\n| c | d |", "after"]);
}

#[test]
fn gaps_are_told_from_the_space_behind_a_number() {
    for (line, expected) in [
        ("ITEM 1.      Tides", false),
        ("2.3     Tides", false),
        ("Appendix B    Tides", false),
        ("The tides of the year", false),
        ("Total       34,73", true),
        ("Name      Age      Place", true),
        ("Due on 5 July 2015     29.99", true),
    ] {
        let blocks = blocks(testing::lines(line), Vec::new(), BODY);
        assert_eq!(blocks[0].place.unwrap().has_gaps, expected, "{line}");
    }
}
