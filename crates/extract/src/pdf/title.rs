//! Decides whether the stated title of a document is usable, and returns its title. A pure
//! function.

use super::{clean, number};
use crate::boilerplate::is_boilerplate;
use crate::document::BlockKind;
use crate::protocol::ExtractedPage;

/// Longest title that is accepted, in characters; some programs state the first paragraph.
const MAX_CHARS: usize = 250;

/// Default titles of authoring programs.
const PLACEHOLDERS: &[&str] = &[
    "untitled",
    "title",
    "document",
    "document1",
    "no title",
    "unknown",
    "none",
    "null",
    "anonymous",
    "(anonymous)",
    "presentation",
    "powerpoint presentation",
    "pdf document",
    "print",
    "layout 1",
    "slide 1",
    "template",
    "article",
];

/// Prefixes that printer drivers put before a file name.
const DRIVERS: &[&str] = &[
    "microsoft word -", "microsoft powerpoint -", "microsoft excel -", "(microsoft word -",
    "untitled-", "file:", "http:", "https:",
];

const FILE_EXTENSIONS: &[&str] = &[
    "pdf", "doc", "docx", "dot", "odt", "rtf", "tex", "dvi", "ps", "eps", "ai", "indd", "qxd",
    "qxp", "p65", "pmd", "fm", "wpd", "ppt", "pptx", "odp", "xls", "xlsx", "ods", "txt", "md",
    "htm", "html", "xml", "cdr", "dwg", "jpg", "png", "tif", "tiff",
];

/// Headings of parts of a document, and words before the numbers of tables, devices and the like.
const PARTS: &[&str] = &[
    "abstract", "acknowledgements", "acknowledgments", "agenda", "appendix", "bibliography",
    "chapter", "conclusion", "conclusions", "contents", "description", "exercise", "exercises",
    "exhibit", "fig.", "figure", "foreword", "index", "introduction", "issue", "item", "keywords",
    "model", "name", "no.", "note", "notes", "overview", "page", "part", "preface", "problem",
    "question", "references", "section", "step", "summary", "synopsis", "table",
    "table of contents", "type", "version", "vol.", "volume",
];

/// Signs of formulas.
const OPERATORS: &[char] = &[
    '=', '<', '>', '\u{B1}', '\u{2192}', '\u{2200}', '\u{2202}', '\u{2203}', '\u{2207}',
    '\u{2208}', '\u{220F}', '\u{2211}', '\u{221A}', '\u{221E}', '\u{222B}', '\u{223C}', '\u{2248}',
    '\u{2260}', '\u{2261}', '\u{2264}', '\u{2265}', '\u{2282}',
];

/// Fewest words of a title with a sign of a formula, and fewest letters of such a word: `sin`, `log` and `max` are in
/// formulas.
const MIN_WORDS: usize = 2;
const MIN_LETTERS: usize = 4;

/// Returns the stated title if it is usable, else the name of a manual page, else the first of the largest headings of the
/// first page with text.
pub(super) fn of(
    stated: Option<&str>,
    manual_page: Option<&str>,
    pages: &[ExtractedPage],
) -> Option<String> {
    let stated = stated.and_then(cleaned).filter(|title| is_sensible(title));
    stated.or_else(|| manual_page.map(str::to_owned)).or_else(|| heading(pages))
}

/// Returns the stated author if it is usable.
pub(super) fn author_of(stated: Option<&str>) -> Option<String> {
    let author = stated.and_then(cleaned)?;
    let is_placeholder = PLACEHOLDERS.contains(&author.to_lowercase().as_str());
    (!is_placeholder && author.chars().any(char::is_alphabetic)).then_some(author)
}

/// Returns `text` on one line, cleaned; `None` if nothing is left.
fn cleaned(text: &str) -> Option<String> {
    Some(clean::join_lines(&clean::text(text))).filter(|text| !text.is_empty())
}

fn heading(pages: &[ExtractedPage]) -> Option<String> {
    let page = pages.iter().find(|page| !page.blocks.is_empty())?;
    let headings = page.blocks.iter().filter(|block| block.kind == BlockKind::Heading);
    let headings = headings.filter(|block| {
        is_sensible(&block.text)
            && !is_formula(&block.text)
            && !is_part(&block.text)
            && !is_section(&block.text, pages)
    });
    // `min_by_key` returns the first of equals.
    headings
        .min_by_key(|block| {
            // A single word in large letters may be the name of a series or a journal, and a word with a
            // number the name of a product.
            let is_word = block.text.is_ascii() && !block.text.contains(' ');
            (is_word || labelled(&block.text).is_some(), block.level)
        })
        .map(|block| block.text.clone())
}

/// Whether a heading is a formula, which large letters and the white space around it make look like
/// a heading.
fn is_formula(heading: &str) -> bool {
    let words = heading
        .split_whitespace()
        .filter(|word| word.chars().filter(|c| c.is_alphabetic()).count() >= MIN_LETTERS);
    heading.contains(OPERATORS) && words.count() < MIN_WORDS
}

/// Whether a heading names a part that any document may have, with or without a number.
fn is_part(heading: &str) -> bool {
    let name = number::without(heading).trim_end_matches(':').to_lowercase();
    PARTS.contains(&name.as_str())
        || labelled(&name).is_some_and(|label| PARTS.contains(&label))
        || number::is_alone(heading)
}

/// Returns the word of a heading that consists of a word and a number.
fn labelled(heading: &str) -> Option<&str> {
    let (label, number) = heading.trim().split_once(' ')?;
    let num_digits = number.chars().filter(char::is_ascii_digit).count();
    let is_number = num_digits * 2 > number.chars().count();
    (is_number && label.chars().any(char::is_alphabetic)).then_some(label)
}

/// Whether the number of a heading shows that it is a section: it has several parts, or the
/// document has a heading with the number before or after it.
fn is_section(heading: &str, pages: &[ExtractedPage]) -> bool {
    let title = number::without(heading);
    let number = heading[..heading.len() - title.len()].trim().trim_end_matches(['.', ':']);
    if title.len() == heading.len() || number.is_empty() {
        return false;
    }
    let Ok(number) = number.parse::<u32>() else { return true };
    let neighbours = [
        number.saturating_sub(1).to_string(),
        number.saturating_add(1).to_string(),
        format!("{number}.1"),
    ];
    pages.iter().flat_map(|page| &page.blocks).any(|block| {
        let word = block.text.split_whitespace().next().unwrap_or_default();
        let word = word.trim_end_matches(['.', ':']);
        block.kind == BlockKind::Heading && neighbours.iter().any(|neighbour| word == neighbour)
    })
}

fn is_sensible(title: &str) -> bool {
    let lower = title.to_lowercase();
    let is_from_driver = DRIVERS.iter().any(|driver| lower.starts_with(driver));
    let has_letters = title.chars().filter(|c| c.is_alphabetic()).count() >= 2;
    let is_garbled = title.contains(['\u{FFFD}', '\\'])
        || title.chars().any(|c| matches!(c, '\u{E000}'..='\u{F8FF}'));
    has_letters
        && !is_garbled
        && !is_from_driver
        && !PLACEHOLDERS.contains(&lower.as_str())
        && !is_file_name(&lower)
        && !is_boilerplate(title)
        && title.chars().count() <= MAX_CHARS
}

fn is_file_name(lower: &str) -> bool {
    let extension = lower.rsplit_once('.').map(|(_, extension)| extension);
    let has_extension = extension.is_some_and(|known| FILE_EXTENSIONS.contains(&known));
    let is_one_word = !lower.contains(char::is_whitespace);
    let has_joints = lower.contains('_') || lower.chars().filter(char::is_ascii_digit).count() > 3;
    has_extension || (is_one_word && has_joints)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::PageBlock;

    #[track_caller]
    fn check(stated: &str, expected: Option<&str>) {
        assert_eq!(of(Some(stated), None, &[]).as_deref(), expected, "{stated:?}");
    }

    #[test]
    fn a_real_title_is_accepted() {
        check(" Tides of the\nNorth Harbour ", Some("Tides of the North Harbour"));
        check("\u{6F6E}\u{6C50}\u{8868}", Some("\u{6F6E}\u{6C50}\u{8868}"));
        check("Form 10-K", Some("Form 10-K"));
    }

    #[test]
    fn default_titles_are_not_accepted() {
        for stated in [
            "",
            "Untitled",
            "Microsoft Word - report.doc",
            "report final.docx",
            "tides_v2",
            "0807.35771",
            "12",
            "C:\\temp\\x",
            "\u{FFFD}\u{FFFD}de",
            "FOR IMMEDIATE RELEASE",
        ] {
            check(stated, None);
        }
    }

    #[test]
    fn placeholders_are_not_authors() {
        assert_eq!(author_of(Some(" Maren  Voss ")).as_deref(), Some("Maren Voss"));
        for stated in [None, Some(""), Some("anonymous"), Some("---")] {
            assert_eq!(author_of(stated), None);
        }
    }

    #[test]
    fn the_largest_heading_of_the_first_page_is_the_fallback() {
        let block = |kind, level, text: &str| PageBlock::new(kind, level, text);
        let page = |blocks| ExtractedPage { blocks, ..ExtractedPage::default() };
        let pages = [
            page(vec![]),
            page(vec![
                block(BlockKind::Paragraph, 0, "Vol. 3"),
                block(BlockKind::Heading, 1, "HARBOURS"),
                block(BlockKind::Heading, 3, "In this volume"),
                block(BlockKind::Heading, 2, "The tides"),
            ]),
        ];
        assert_eq!(of(Some("untitled"), None, &pages).as_deref(), Some("The tides"));
        assert_eq!(of(None, None, &pages[..1]), None);
        let manual_page = |stated| of(stated, Some("LS(1)"), &pages);
        assert_eq!(manual_page(None).as_deref(), Some("LS(1)"));
        assert_eq!(manual_page(Some("Listing files")).as_deref(), Some("Listing files"));
    }

    #[track_caller]
    fn check_headings(headings: &[&str], expected: Option<&str>) {
        let block = |text: &&str| PageBlock::new(BlockKind::Heading, 1, *text);
        let pages = [ExtractedPage {
            blocks: headings.iter().map(block).collect(),
            ..ExtractedPage::default()
        }];
        assert_eq!(of(None, None, &pages).as_deref(), expected, "{headings:?}");
    }

    #[test]
    fn formulas_labels_and_sections_are_not_titles() {
        check_headings(&["\u{3BB}g = \u{2211} \u{3B6}n = \u{2211} \u{2211} \u{3B6}n ."], None);
        check_headings(&["Model 475"], None);
        check_headings(&["3.4 EXERCISES"], None);
        check_headings(&["3.4 Tides of the harbour", "The tides"], Some("The tides"));
        check_headings(&["1 Tides of the harbour", "2 Gauges"], None);
        check_headings(&["Table of contents", "INTRODUCTION", "Chapter 4"], None);
        check_headings(&["Gauge 475", "A gauge for harbours"], Some("A gauge for harbours"));
    }

    #[test]
    fn numbers_and_signs_do_not_spoil_a_title() {
        for title in ["10 rules for sailors", "Gauge 475", "Why water level = pressure"] {
            check_headings(&[title], Some(title));
        }
    }
}
