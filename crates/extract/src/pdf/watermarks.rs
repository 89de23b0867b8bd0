//! Removes watermarks: text at an angle across other text, or large and pale behind it. A pure function.

use std::collections::HashSet;

use crate::document::WordReason;
use crate::protocol::{BlockOrientation, PageBlock, ReadPage};

/// Removes watermarks from `pages`, also where they stand apart because a page has little text.
pub(super) fn remove(pages: &mut [ReadPage]) {
    let blocks = pages.iter().flat_map(|page| &page.blocks);
    let across = blocks.filter(|block| block.stance == BlockOrientation::Across);
    let texts: HashSet<String> = across.map(|block| block.text.clone()).collect();
    if texts.is_empty() {
        return;
    }
    for page in pages {
        for block in page.blocks.extract_if(.., |block| is_watermark(block, &texts)) {
            page.left_out.add(WordReason::Watermark, &block.text);
        }
    }
}

/// Whether a block is a watermark; `across` are the texts of those across a page.
fn is_watermark(block: &PageBlock, across: &HashSet<String>) -> bool {
    match block.stance {
        BlockOrientation::Upright | BlockOrientation::InPicture => false,
        BlockOrientation::Tilted => across.contains(&block.text),
        BlockOrientation::Across => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::BlockKind;

    #[test]
    fn a_watermark_is_removed_from_pages_with_little_text_too() {
        let page = |blocks: &[(&str, BlockOrientation)]| {
            let block = |&(text, stance): &(&str, BlockOrientation)| PageBlock {
                stance,
                ..PageBlock::new(BlockKind::Paragraph, 0, text)
            };
            ReadPage { blocks: blocks.iter().map(block).collect(), ..ReadPage::default() }
        };
        let mut pages = [
            page(&[("The end", BlockOrientation::Upright), ("DRAFT", BlockOrientation::Tilted)]),
            page(&[("The tide", BlockOrientation::Upright), ("DRAFT", BlockOrientation::Across)]),
            page(&[("DRAFT", BlockOrientation::Upright), ("March", BlockOrientation::Tilted)]),
        ];
        remove(&mut pages);
        let left: Vec<Vec<&str>> = pages
            .iter()
            .map(|page| page.blocks.iter().map(|block| block.text.as_str()).collect())
            .collect();
        assert_eq!(left, [vec!["The end"], vec!["The tide"], vec!["DRAFT", "March"]]);
        let counted: Vec<_> = pages[1].left_out.counts().collect();
        assert_eq!(counted, [(WordReason::Watermark, 1)]);
    }
}
