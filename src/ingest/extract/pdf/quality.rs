//! Pages in, how much of their text is text out. Pure.

use super::protocol::Page;

/// Returns how many visible characters a page has, and how many of them are no text: what a font
/// does not tell, and what lies in the private areas of Unicode.
pub(super) fn count_characters(page: &Page) -> (usize, usize) {
    let text = page.blocks.iter().flat_map(|it| it.text.chars());
    let visible = text.filter(|it| !it.is_whitespace());
    visible.fold((0, 0), |(num_visible, num_garbage), it| {
        (num_visible + 1, num_garbage + usize::from(is_no_text(it)))
    })
}

fn is_no_text(character: char) -> bool {
    matches!(character,
        '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{10FFFD}' | char::REPLACEMENT_CHARACTER)
}

/// Takes out the characters that stand for what a font does not tell: they are of no use to
/// anybody who searches.
pub(super) fn drop_unknown(pages: &mut [Page]) {
    for page in pages {
        for block in
            page.blocks.iter_mut().filter(|it| it.text.contains(char::REPLACEMENT_CHARACTER))
        {
            let is_known = |it: &&str| it.chars().any(|it| it != char::REPLACEMENT_CHARACTER);
            let lines = block
                .text
                .lines()
                .map(|line| line.split(' ').filter(is_known).collect::<Vec<_>>().join(" "));
            let text = lines.collect::<Vec<_>>().join("\n");
            block.text = text.replace(char::REPLACEMENT_CHARACTER, "");
        }
        page.blocks.retain(|it| !it.text.trim().is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::extract::pdf::protocol::{PageBlock, PageBlockKind};

    fn page(texts: &[&str]) -> Page {
        let block = |text: &&str| PageBlock::new(PageBlockKind::Paragraph, 0, *text);
        Page { blocks: texts.iter().map(block).collect(), ..Page::default() }
    }

    #[test]
    fn what_is_no_text_is_counted() {
        assert_eq!(count_characters(&page(&["ab \u{FFFD}", "\u{E001}"])), (4, 2));
        assert_eq!(count_characters(&page(&[])), (0, 0));
    }

    #[test]
    fn unknown_characters_go_and_leave_no_empty_blocks() {
        let mut pages = [page(&["a \u{FFFD}\u{FFFD} b\u{FFFD}", "\u{FFFD} \u{FFFD}", "c"])];
        drop_unknown(&mut pages);
        let left: Vec<&str> = pages[0].blocks.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(left, ["a b", "c"]);
    }
}
