//! Removes watermarks: text at an angle across other text, or large and pale behind it. A pure function.

use std::collections::HashSet;

use crate::document::WordDestination;
use crate::protocol::{BlockPlacement, ExtractedPage, PageBlock};

/// Removes watermarks from `pages`, also where they stand apart because a page has little text.
pub(super) fn remove(pages: &mut [ExtractedPage]) {
    let blocks = pages.iter().flat_map(|page| &page.blocks);
    let across = blocks.filter(|block| block.stance == BlockPlacement::Across);
    let texts: HashSet<String> = across.map(|block| block.text.clone()).collect();
    if texts.is_empty() {
        return;
    }
    for page in pages {
        for block in page.blocks.extract_if(.., |block| is_watermark(block, &texts)) {
            page.left_out.add(WordDestination::Watermark, &block.text);
        }
    }
}

/// Whether a block is a watermark; `across` are the texts of those across a page.
fn is_watermark(block: &PageBlock, across: &HashSet<String>) -> bool {
    match block.stance {
        BlockPlacement::Upright | BlockPlacement::InPicture => false,
        BlockPlacement::Tilted => across.contains(&block.text),
        BlockPlacement::Across => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::BlockKind;

    #[test]
    fn a_watermark_is_removed_from_pages_with_little_text_too() {
        let page = |blocks: &[(&str, BlockPlacement)]| {
            let block = |&(text, stance): &(&str, BlockPlacement)| PageBlock {
                stance,
                ..PageBlock::new(BlockKind::Paragraph, 0, text)
            };
            ExtractedPage { blocks: blocks.iter().map(block).collect(), ..ExtractedPage::default() }
        };
        let mut pages = [
            page(&[("The end", BlockPlacement::Upright), ("DRAFT", BlockPlacement::Tilted)]),
            page(&[("The tide", BlockPlacement::Upright), ("DRAFT", BlockPlacement::Across)]),
            page(&[("DRAFT", BlockPlacement::Upright), ("March", BlockPlacement::Tilted)]),
        ];
        remove(&mut pages);
        let left: Vec<Vec<&str>> = pages
            .iter()
            .map(|page| page.blocks.iter().map(|block| block.text.as_str()).collect())
            .collect();
        assert_eq!(left, [vec!["The end"], vec!["The tide"], vec!["DRAFT", "March"]]);
        let counted: Vec<_> = pages[1].left_out.counts().collect();
        assert_eq!(counted, [(WordDestination::Watermark, 1)]);
    }
}
