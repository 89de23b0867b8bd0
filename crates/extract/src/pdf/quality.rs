//! Measures how much of the text of pages is readable. A pure function.

use crate::document::Quality;
use crate::protocol::{ExtractedPage, OcrOutcome};

/// A page with fewer visible characters and a larger part covered by pictures is a scan: its text is only a stamp or
/// a page number, and its picture is no decoration.
const FEW_CHARACTERS: usize = 15;
const SCAN_COVERAGE: f64 = 0.4;

/// OCR is tried on a page with fewer visible characters that a picture covers: they may be what is
/// left of the text of a scan.
const FEW_ON_PICTURE: usize = 200;
const FULL_COVERAGE: f64 = 0.9;

/// Fraction of characters that are not text (replacement, private use) above which a page counts as
/// unreadable.
pub(super) const GARBAGE_SHARE: f64 = 0.1;

/// Counts the result of each page.
pub(super) fn of(pages: &[ExtractedPage]) -> Quality {
    let mut quality = Quality::default();
    for page in pages {
        let (num_visible, num_garbage) = count_characters(page);
        quality.num_characters = quality.num_characters.saturating_add(saturated(num_visible));
        quality.num_not_text = quality.num_not_text.saturating_add(saturated(num_garbage));
        quality.num_words_ocr = quality.num_words_ocr.saturating_add(page.num_words);
        quality.num_unsure = quality.num_unsure.saturating_add(page.num_unsure);
        let is_ocr = page.ocr == Some(OcrOutcome::Read);
        let is_unread = page.failed.is_some()
            || is_garbage(page)
            || page.is_soup
            || (looks_like_scan(page) && !is_ocr)
            || page.ocr.as_ref().is_some_and(|outcome| outcome.reason().is_some());
        let count = if is_unread {
            let may_wait =
                matches!(page.ocr, None | Some(OcrOutcome::Refused(_))) && !is_missing(page);
            quality.pages_awaiting_ocr += u32::from(may_wait);
            &mut quality.pages_unread
        } else if page.blocks.is_empty() {
            &mut quality.pages_empty
        } else {
            quality.pages_ocr += u32::from(is_ocr);
            &mut quality.pages_read
        };
        *count += 1;
    }
    quality
}

/// Whether a page is not in the file, so that no other reader and no OCR could read it.
pub(super) fn is_missing(page: &ExtractedPage) -> bool {
    page.failed.is_some() && page.is_blank
}

/// Whether a page has content but no text that can be searched, or hardly any.
pub(super) fn lacks_usable_text(page: &ExtractedPage) -> bool {
    let is_picture =
        page.image_coverage > FULL_COVERAGE && count_characters(page).0 < FEW_ON_PICTURE;
    is_picture
        || looks_like_scan(page)
        || is_garbage(page)
        || (page.blocks.is_empty() && !page.is_blank)
}

/// Whether a page consists of pictures, except for a few characters.
pub(super) fn looks_like_scan(page: &ExtractedPage) -> bool {
    let (num_visible, _) = count_characters(page);
    num_visible < FEW_CHARACTERS && page.image_coverage > SCAN_COVERAGE
}

/// Whether most characters of a page are not text.
pub(super) fn is_garbage(page: &ExtractedPage) -> bool {
    let (num_visible, num_garbage) = count_characters(page);
    num_garbage as f64 > GARBAGE_SHARE * num_visible as f64
}

fn saturated(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Returns how many visible characters a page has, and how many of them are not text: characters
/// that a font does not identify, and characters in the private use areas of Unicode.
pub(super) fn count_characters(page: &ExtractedPage) -> (usize, usize) {
    let text = page.blocks.iter().flat_map(|block| block.text.chars());
    let visible = text.filter(|c| !c.is_whitespace());
    visible.fold((0, 0), |(num_visible, num_garbage), c| {
        (num_visible + 1, num_garbage + usize::from(is_not_text(c)))
    })
}

fn is_not_text(character: char) -> bool {
    matches!(character,
        '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{10FFFD}' | char::REPLACEMENT_CHARACTER)
}

/// Removes replacement characters, which stand for unknown characters: they are of no use for
/// searching.
pub(super) fn drop_unknown(pages: &mut [ExtractedPage]) {
    for page in pages {
        for block in
            page.blocks.iter_mut().filter(|block| block.text.contains(char::REPLACEMENT_CHARACTER))
        {
            let lines = block.text.lines().map(|line| {
                let words = line.split(' ');
                let known =
                    words.filter(|word| word.chars().any(|c| c != char::REPLACEMENT_CHARACTER));
                known.collect::<Vec<_>>().join(" ")
            });
            let text = lines.collect::<Vec<_>>().join("\n");
            block.text = text.replace(char::REPLACEMENT_CHARACTER, "");
        }
        page.blocks.retain(|block| !block.text.trim().is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::BlockKind;
    use crate::protocol::PageBlock;

    fn page(texts: &[&str]) -> ExtractedPage {
        let block = |text: &&str| PageBlock::new(BlockKind::Paragraph, 0, *text);
        ExtractedPage { blocks: texts.iter().map(block).collect(), ..ExtractedPage::default() }
    }

    #[test]
    fn characters_that_are_not_text_are_counted() {
        assert_eq!(count_characters(&page(&["ab \u{FFFD}", "\u{E001}"])), (4, 2));
        assert_eq!(count_characters(&page(&[])), (0, 0));
    }

    /// Returns a page with this text, if it is not empty, of which pictures cover a part.
    fn covered(text: &str, image_coverage: f64) -> ExtractedPage {
        let texts: &[&str] = if text.is_empty() { &[] } else { &[text] };
        ExtractedPage { image_coverage, ..page(texts) }
    }

    #[test]
    fn pages_without_usable_text_are_found() {
        assert!(lacks_usable_text(&covered("", 1.0)));
        assert!(lacks_usable_text(&covered("page 12", 0.9)));
        assert!(lacks_usable_text(&covered("\u{E001}\u{E002} plain", 0.0)));
        // Text drawn as shapes.
        assert!(lacks_usable_text(&covered("", 0.0)));
        assert!(!lacks_usable_text(&covered("a photograph of the harbour at low water", 0.9)));
        assert!(lacks_usable_text(&covered("of the in a to and as is it the for of by", 1.0)));
        assert!(!looks_like_scan(&covered("of the in a to and as is it the for of by", 1.0)));
        assert!(!lacks_usable_text(&covered(&"the tide is low at noon ".repeat(20), 1.0)));
        assert!(!lacks_usable_text(&covered("page 12", 0.1)));
        assert!(!lacks_usable_text(&ExtractedPage { is_blank: true, ..ExtractedPage::default() }));
    }

    #[test]
    fn every_page_is_counted_once() {
        let scan = |ocr| ExtractedPage { image_coverage: 1.0, ocr, ..page(&[]) };
        let read_by_ocr = ExtractedPage { ocr: Some(OcrOutcome::Read), ..page(&["high water"]) };
        let blank = ExtractedPage { is_blank: true, ..page(&[]) };
        let quality = of(&[
            page(&["low water at noon"]),
            read_by_ocr,
            blank,
            scan(None),
            scan(Some(OcrOutcome::Read)),
            scan(Some(OcrOutcome::Refused("no".into()))),
            scan(Some(OcrOutcome::Lost("no".into()))),
            page(&["ab\u{E000}"]),
            ExtractedPage { is_blank: true, failed: Some("it is missing".into()), ..page(&[]) },
        ]);
        let pages = (quality.pages_read, quality.pages_ocr, quality.pages_empty);
        assert_eq!((pages, quality.pages_unread), ((2, 1, 2), 5));
        assert_eq!(quality.pages_awaiting_ocr, 3);
        assert_eq!((quality.num_characters, quality.num_not_text), (26, 1));
    }

    #[test]
    fn removing_unknown_characters_leaves_no_empty_blocks() {
        let mut pages = [page(&["a \u{FFFD}\u{FFFD} b\u{FFFD}", "\u{FFFD} \u{FFFD}", "c"])];
        drop_unknown(&mut pages);
        let left: Vec<&str> = pages[0].blocks.iter().map(|block| block.text.as_str()).collect();
        assert_eq!(left, ["a b", "c"]);
    }

    #[test]
    fn pages_are_counted_by_what_became_of_them() {
        let read = || page(&["some words of a page"]);
        let by_ocr =
            ExtractedPage { ocr: Some(OcrOutcome::Read), num_words: 4, num_unsure: 1, ..read() };
        let scan = ExtractedPage { image_coverage: 0.9, ..page(&["stamp"]) };
        let failed = ExtractedPage { failed: Some("damaged".into()), ..ExtractedPage::default() };
        let missing = ExtractedPage { is_blank: true, ..failed.clone() };
        let garbage = page(&["\u{FFFD}\u{FFFD} ab"]);
        let pages = [
            read(),
            by_ocr.clone(),
            by_ocr,
            ExtractedPage::default(),
            scan,
            failed,
            missing,
            garbage,
        ];
        let found = of(&pages);
        assert_eq!((found.pages_read, found.pages_ocr, found.pages_empty), (3, 2, 1));
        assert_eq!((found.pages_unread, found.pages_awaiting_ocr), (4, 3));
        assert_eq!((found.num_words_ocr, found.num_unsure), (8, 2));
        assert_eq!((found.num_characters, found.num_not_text), (3 * 16 + 5 + 4, 2));
    }
}
