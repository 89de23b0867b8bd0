//! Tests headings, their sections and links on misleading texts.

use proptest::prelude::*;

use crate::page;
use crate::text::headings::*;

/// Reads a text as a skill's page, which may have front matter.
fn page(text: &str) -> MarkdownPage {
    page::read("a.md", text.as_bytes()).unwrap()
}

/// Compares headings: level, text, first line, one past the last line.
#[track_caller]
fn check(text: &str, expected: &[(u8, &str, usize, usize)]) {
    let headings = page(text).headings();
    let found: Vec<_> = headings
        .iter()
        .map(|heading| {
            (heading.level, heading.text.as_str(), heading.lines.start, heading.lines.end)
        })
        .collect();
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn a_section_ends_at_the_next_heading_of_the_same_or_a_higher_level() {
    check(
        "# A\ntext\n## B\n### C\n## D\ntext\n# E\n",
        &[(1, "A", 1, 7), (2, "B", 3, 5), (3, "C", 4, 5), (2, "D", 5, 7), (1, "E", 7, 8)],
    );
    check("## B\n# A\n### C\n", &[(2, "B", 1, 2), (1, "A", 2, 4), (3, "C", 3, 4)]);
}

#[test]
fn lines_are_counted_right_with_any_line_end() {
    let expected = [(1, "A", 1, 5), (2, "B", 3, 5)];
    check("# A\ntext\n## B\ntext\n", &expected);
    check("# A\ntext\n## B\ntext", &expected);
    check("# A\r\ntext\r\n## B\r\ntext\r\n", &expected);
    check("# A\r\ntext\r\n## B\r\ntext", &expected);
    check("# A\rtext\r## B\rtext", &expected);
    check("\u{feff}# A\ntext\n## B\ntext\n", &expected);
    check("\u{feff}# A\r\ntext\r\n## B\r\ntext\r\n", &expected);
}

#[test]
fn tabs_and_blanks_around_a_heading_do_not_matter() {
    check("#\tA\t\n\n  ##  B  ##  \n", &[(1, "A", 1, 4), (2, "B", 3, 4)]);
    // Four blanks or a tab make it code.
    check("    # A\n\n\t# B\n", &[]);
}

#[test]
fn code_comments_and_front_matter_have_no_headings() {
    check("```sh\n# no\n```\n# A\n", &[(1, "A", 4, 5)]);
    check("~~~\n# no\n```\n# no\n~~~\n# A\n", &[(1, "A", 6, 7)]);
    check("```\n# open to the end\n", &[]);
    check("<!-- # no\n# no\n-->\n# A\n", &[(1, "A", 4, 5)]);
    check("---\nname: x\n# no\n---\n# A\n", &[(1, "A", 5, 6)]);
    check("<div>\n# no\n</div>\n\n# A\n", &[(1, "A", 5, 6)]);
    check("#no\n####### no\n\\# no\n", &[]);
}

#[test]
fn setext_headings_are_headings_and_thematic_breaks_are_not() {
    check("A\n===\n\nB and\nmore\n---\n", &[(1, "A", 1, 7), (2, "B and more", 4, 7)]);
    check("text\n\n---\n\n***\n", &[]);
    check("---\n\nA\n---\n", &[(2, "A", 3, 5)]);
}

#[test]
fn headings_in_quotations_and_lists_are_headings() {
    check("> # A\n> text\n\n- ## B\n", &[(1, "A", 1, 5), (2, "B", 4, 5)]);
}

#[test]
fn the_text_of_a_heading_is_plain() {
    check(
        "# `code` *emph* [link](x) &amp; ![img](y) \\* <b>z</b>\n",
        &[(1, "code emph link & img * z", 1, 2)],
    );
    check("#\n## \n", &[(1, "", 1, 3), (2, "", 2, 3)]);
    check("# two  words &#10;&#27;[1m\n", &[(1, "two words \u{fffd}[1m", 1, 2)]);
}

#[test]
fn the_preamble_is_the_text_before_the_first_heading() {
    let preamble = |text: &str| {
        let page = page(text);
        let headings = page.headings();
        page.preamble(&headings).to_owned()
    };
    assert_eq!(preamble("---\nname: x\n---\nbefore\n# A\nafter\n"), "before\n");
    assert_eq!(preamble("no heading\nat all"), "no heading\nat all");
    assert_eq!(preamble("# A\n"), "");
    assert_eq!(preamble("> # A\n"), "");
}

#[test]
fn links_have_line_numbers() {
    let text = "---\nname: x\n---\n[a](b.md) `[no](code.md)`\n\n![i](i.png \"t\")\n[r][ref] <http://x>\n\
                \n[ref]: gone.md#x\n";
    let links = page(text).links();
    let found: Vec<_> = links.iter().map(|link| (link.target.as_str(), link.line)).collect();
    assert_eq!(found, [("b.md", 4), ("i.png", 6), ("gone.md#x", 7)]);
}

proptest! {
    #[test]
    fn a_section_begins_with_its_heading_and_sections_nest(
        parts in proptest::collection::vec(
            prop_oneof![
                "#{1,7} ?[a-z ]{0,8}", "[a-z]{0,5}", "[=-]{1,4}", Just("```".to_owned()),
                Just("> # q".to_owned()), Just("- # l".to_owned()), Just("<!--".to_owned()),
            ],
            0..30,
        ),
        end in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
    ) {
        let page = page(&parts.join(end));
        let headings = page.headings();
        for (idx, heading) in headings.iter().enumerate() {
            prop_assert!(!heading.lines.is_empty());
            prop_assert!(heading.lines.end <= page.num_lines() + 1);
            let section = page.lines(heading.lines.clone());
            for word in heading.text.split_whitespace() {
                prop_assert!(section.contains(word));
            }
            let closing = headings[idx + 1..].iter().find(|later| later.level <= heading.level);
            let expected = closing.map_or(page.num_lines() + 1, |closing| closing.lines.start);
            prop_assert_eq!(heading.lines.end, expected);
        }
    }
}
