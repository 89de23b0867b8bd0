//! Puts back hyphens that the lines of a PDF end in, where the document has the word with its hyphen. A pure function.
//!
//! The reader marks the places: `price\u{FDD1}setting` is `price-setting` if that occurs elsewhere, and `pricesetting`
//! otherwise.

use std::collections::HashSet;

use crate::protocol::{LINE_HYPHEN, Page};

/// Replaces the marks in `pages`.
pub(super) fn settle(pages: &mut [Page]) {
    let blocks = || pages.iter().flat_map(|page| &page.blocks);
    if !blocks().any(|block| block.text.contains(LINE_HYPHEN)) {
        return;
    }
    let tokens = blocks().flat_map(|block| block.text.split([' ', '\n']));
    let known: HashSet<String> =
        tokens.map(core).filter(|word| word.contains('-')).map(str::to_lowercase).collect();
    let marked = pages.iter_mut().flat_map(|page| &mut page.blocks);
    for block in marked.filter(|block| block.text.contains(LINE_HYPHEN)) {
        let tokens = block.text.split_inclusive([' ', '\n']);
        block.text = tokens.map(|token| settled(token, &known)).collect();
    }
}

/// Returns a word without marks.
fn settled(token: &str, known: &HashSet<String>) -> String {
    let with_hyphens = token.replace(LINE_HYPHEN, "-");
    match token.contains(LINE_HYPHEN) && known.contains(&core(&with_hyphens).to_lowercase()) {
        true => with_hyphens,
        false => token.replace(LINE_HYPHEN, ""),
    }
}

/// Returns a word without the punctuation around it.
fn core(token: &str) -> &str {
    token.trim_matches(|c: char| !c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::BlockKind;
    use crate::protocol::PageBlock;

    #[track_caller]
    fn check(blocks: &[&str], expected: &[&str]) {
        let block = |text: &&str| {
            PageBlock::new(BlockKind::Paragraph, 0, text.replace('|', &LINE_HYPHEN.to_string()))
        };
        let mut pages: Vec<Page> = blocks
            .iter()
            .map(|text| Page { blocks: vec![block(text)], ..Page::default() })
            .collect();
        settle(&mut pages);
        let texts: Vec<&str> = pages.iter().map(|page| page.blocks[0].text.as_str()).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn a_word_that_the_document_has_with_its_hyphen_keeps_it() {
        check(
            &["the price|setting factors", "(Price-setting), and imple|mentation"],
            &["the price-setting factors", "(Price-setting), and implementation"],
        );
        check(&["a well|kept lawn"], &["a wellkept lawn"]);
        check(&["e|mail", "an email"], &["email", "an email"]);
        check(&["pre-\u{20}", "a|b"], &["pre- ", "ab"]);
    }
}
