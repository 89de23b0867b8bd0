//! Puts the notes of a page, which are not drawn on it, behind the blocks to which they are attached. A pure function.

use crate::protocol::{BlockPlace, ExtractedPage, PageNote};

/// Returns the notes behind each block of a page, in their order, and as the last entry those behind all blocks.
///
/// A note follows the block that it covers most of; in a margin, the next block at its height. One that is attached to
/// the whole page is at the end.
pub(super) fn by_block(page: &ExtractedPage) -> Vec<Vec<&PageNote>> {
    let mut by_block = vec![Vec::new(); page.blocks.len() + 1];
    for note in &page.notes {
        let block_idx = note.place.and_then(|place| nearest(page, &place));
        by_block[block_idx.unwrap_or(page.blocks.len())].push(note);
    }
    by_block
}

fn nearest(page: &ExtractedPage, note: &BlockPlace) -> Option<usize> {
    let places = page.blocks.iter().map(|block| block.place).enumerate();
    let at_height = places.filter_map(|(idx, place)| {
        let place = place?;
        let height = note.bottom.min(place.bottom) - note.top.max(place.top);
        let width = note.right.min(place.right) - note.left.max(place.left);
        // A block that it touches is better than all others; among the others, the nearest one is the best.
        let covered = if width > 0.0 { width * height } else { width };
        (height > 0.0).then_some((idx, covered))
    });
    at_height.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(idx, _)| idx)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::BlockKind;
    use crate::protocol::PageBlock;

    /// Checks after which of two columns, each with two blocks, a note is put; 4 is the end of the page.
    #[track_caller]
    fn check(place: Option<[f64; 4]>, expected: usize) {
        let at = |[left, top, right, bottom]: [f64; 4]| BlockPlace {
            left,
            top,
            right,
            bottom,
            ..BlockPlace::default()
        };
        let columns = [[50., 50., 250., 90.], [50., 100., 250., 300.]];
        let columns = columns.into_iter().chain([[300., 50., 500., 90.], [300., 95., 500., 300.]]);
        let block = |area| PageBlock {
            place: Some(at(area)),
            ..PageBlock::new(BlockKind::Paragraph, 0, "text")
        };
        let notes = vec![PageNote { text: "note".into(), place: place.map(at) }];
        let page = ExtractedPage {
            blocks: columns.map(block).collect(),
            notes,
            ..ExtractedPage::default()
        };
        let found = by_block(&page).iter().position(|notes| !notes.is_empty());
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn a_note_follows_the_block_on_which_it_is() {
        check(Some([240., 60., 260., 80.]), 0);
        check(Some([60., 80., 260., 120.]), 1);
    }

    #[test]
    fn a_note_in_the_margin_follows_the_block_next_to_it() {
        check(Some([510., 60., 530., 80.]), 2);
        check(Some([20., 200., 40., 220.]), 1);
    }

    #[test]
    fn other_notes_are_at_the_end_of_the_page() {
        check(Some([60., 400., 80., 420.]), 4);
        check(None, 4);
    }
}
