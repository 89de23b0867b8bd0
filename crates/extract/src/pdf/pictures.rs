//! Reads the words of large pictures on pages that have text, and puts them where the pictures are.

use super::quality::lacks_usable_text;
use super::scan;
use crate::error::Result;
use crate::protocol::{BlockPlace, BlockPlacement, ExtractedPage, OcrOutcome, PageBlock};
use crate::sandbox::parent::ReadDocument;
use crate::sandbox::{Ocr, ReadOptions};

/// Most pictures of a document that are read: each takes about a second, and most are photographs.
const MAX_PICTURES: usize = 20;

/// Runs OCR on the large pictures of pages with text with `reader`. Returns the pages on which some were not read.
pub(super) fn read(
    reading: &mut ReadDocument,
    reader: &str,
    bytes: &[u8],
    options: &ReadOptions,
) -> Result<Vec<u32>> {
    let (wanted, mut unread) = wanted(reading, &options.ocr);
    let mut numbers: Vec<u32> = wanted.iter().map(|(page, _)| *page).collect();
    numbers.dedup();
    let (answers, outcome) = scan::run(&numbers, &wanted, reader, bytes, options);
    for answer in answers {
        if answer.ocr != Some(OcrOutcome::Read) {
            unread.push(answer.number);
        } else if let Some(page) =
            reading.pages.iter_mut().find(|page| page.number == answer.number)
        {
            put(page, answer);
        }
    }
    unread.sort_unstable();
    unread.dedup();
    outcome.map(|()| unread)
}

/// Returns the pictures to read, with their pages, and the pages with further ones.
fn wanted(reading: &ReadDocument, ocr: &Ocr) -> (Vec<(u32, BlockPlace)>, Vec<u32>) {
    if !matches!(ocr, Ocr::Tesseract { is_forced: false, .. }) {
        return (Vec::new(), Vec::new());
    }
    let pages = reading.pages.iter().filter(|page| !lacks_usable_text(page) && page.ocr.is_none());
    let pictures = pages.flat_map(|page| page.pictures.iter().map(|area| (page.number, *area)));
    let mut wanted: Vec<(u32, BlockPlace)> = pictures.collect();
    let further = wanted.split_off(wanted.len().min(MAX_PICTURES));
    (wanted, further.into_iter().map(|(page, _)| page).collect())
}

/// Puts the blocks that OCR has read on pictures behind the text above them.
fn put(page: &mut ExtractedPage, answer: ExtractedPage) {
    if answer.blocks.is_empty() {
        return;
    }
    page.ocr = answer.ocr;
    page.num_words = page.num_words.saturating_add(answer.num_words);
    page.num_unsure = page.num_unsure.saturating_add(answer.num_unsure);
    for picture in page.pictures.clone() {
        let above = page.blocks.iter().rposition(|block| {
            block.place.is_some_and(|place| {
                place.bottom <= picture.top + place.size
                    && place.left < picture.right
                    && place.right > picture.left
            })
        });
        let at = above.map_or(0, |above| above + 1);
        let blocks = answer
            .blocks
            .iter()
            .filter(|block| block.place.is_some_and(|place| is_over(&picture, &place)));
        let blocks =
            blocks.map(|block| PageBlock { stance: BlockPlacement::InPicture, ..block.clone() });
        page.blocks.splice(at..at, blocks.collect::<Vec<_>>());
    }
}

/// Whether the middle of a block is over a picture.
fn is_over(picture: &BlockPlace, block: &BlockPlace) -> bool {
    let x = f64::midpoint(block.left, block.right);
    let y = f64::midpoint(block.top, block.bottom);
    (picture.left..=picture.right).contains(&x) && (picture.top..=picture.bottom).contains(&y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::BlockKind;

    fn place(top: f64, bottom: f64) -> BlockPlace {
        BlockPlace { left: 50.0, top, right: 400.0, bottom, size: 10.0, ..BlockPlace::default() }
    }

    fn block(text: &str, top: f64) -> PageBlock {
        let place = Some(place(top, top + 10.0));
        PageBlock { place, ..PageBlock::new(BlockKind::Paragraph, 0, text) }
    }

    fn page(number: u32) -> ExtractedPage {
        let text = "the harbour is dry at noon and wet at night";
        let blocks = vec![block(text, 50.0), block("Above it", 90.0), block("Below it", 420.0)];
        ExtractedPage {
            number,
            blocks,
            pictures: vec![place(110.0, 400.0)],
            ..ExtractedPage::default()
        }
    }

    #[test]
    fn words_of_a_picture_are_between_the_text_above_and_below() {
        let mut read = page(1);
        let blocks = vec![block("Tariff", 150.0), block("Adults 5", 300.0), block("noise", 700.0)];
        put(
            &mut read,
            ExtractedPage { blocks, ocr: Some(OcrOutcome::Read), ..ExtractedPage::default() },
        );
        let texts: Vec<&str> = read.blocks[1..].iter().map(|block| block.text.as_str()).collect();
        assert_eq!(texts, ["Above it", "Tariff", "Adults 5", "Below it"]);
        assert_eq!(read.blocks[2].stance, BlockPlacement::InPicture);
    }

    #[test]
    fn pictures_beyond_the_limit_are_not_read_and_known() {
        let reading =
            ReadDocument { pages: (1..=23).map(page).collect(), ..ReadDocument::default() };
        let tesseract = |is_forced| Ocr::Tesseract {
            tesseract: crate::sandbox::Tesseract::default(),
            languages: "eng".into(),
            is_forced,
        };
        let (found, further) = wanted(&reading, &tesseract(false));
        assert_eq!((found.len(), further), (20, vec![21, 22, 23]));
        assert!(wanted(&reading, &tesseract(true)).0.is_empty());
        assert!(wanted(&reading, &Ocr::Never).0.is_empty());
    }
}
