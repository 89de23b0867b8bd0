//! Decides whether the stated title of a document is usable, and returns its title. A pure
//! function.

use super::clean;
use crate::extract::protocol::{Page, PageBlock, PageBlockKind};

/// Longest title that is accepted, in characters.
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
    "microsoft word -",
    "microsoft powerpoint -",
    "microsoft excel -",
    "(microsoft word -",
    "untitled-",
    "file:",
    "http:",
    "https:",
];

const FILE_EXTENSIONS: &[&str] = &[
    "pdf", "doc", "docx", "dot", "odt", "rtf", "tex", "dvi", "ps", "eps", "ai", "indd", "qxd",
    "qxp", "p65", "pmd", "fm", "wpd", "ppt", "pptx", "odp", "xls", "xlsx", "ods", "txt", "md",
    "htm", "html", "xml", "cdr", "dwg", "jpg", "png", "tif", "tiff",
];

/// Returns the stated title if it is usable, else the first of the largest headings of the first
/// page with text.
pub(super) fn of(stated: Option<&str>, pages: &[Page]) -> Option<String> {
    let stated = stated.and_then(cleaned).filter(|title| is_sensible(title));
    stated.or_else(|| heading(pages))
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

fn heading(pages: &[Page]) -> Option<String> {
    let page = pages.iter().find(|page| !page.blocks.is_empty())?;
    let headings = page.blocks.iter().filter(|block| block.kind == PageBlockKind::Heading);
    let headings = headings.filter(|block| is_sensible(&block.text));
    // A single word in large letters may be the name of a series or a journal.
    let is_word = |block: &PageBlock| block.text.is_ascii() && !block.text.contains(' ');
    // `min_by_key` returns the first of equals.
    headings.min_by_key(|block| (is_word(block), block.level)).map(|block| block.text.clone())
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

    #[track_caller]
    fn check(stated: &str, expected: Option<&str>) {
        assert_eq!(of(Some(stated), &[]).as_deref(), expected, "{stated:?}");
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
        let page = |blocks| Page { blocks, ..Page::default() };
        let pages = [
            page(vec![]),
            page(vec![
                block(PageBlockKind::Paragraph, 0, "Vol. 3"),
                block(PageBlockKind::Heading, 1, "HARBOURS"),
                block(PageBlockKind::Heading, 3, "In this volume"),
                block(PageBlockKind::Heading, 2, "The tides"),
            ]),
        ];
        assert_eq!(of(Some("untitled"), &pages).as_deref(), Some("The tides"));
        assert_eq!(of(None, &pages[..1]), None);
    }
}
