//! Puts back hyphens that the lines of a PDF end in, where the rest of the document shows that they belong to their words. A
//! pure function.
//!
//! The reader marks the places: `price\u{FDD1}setting` is `price-setting` if that occurs elsewhere. In English, which joins few
//! compounds, it is so too if both parts occur and `pricesetting` does not: of 93 such words in manuals, papers and reports, two
//! were one word. Otherwise it is `pricesetting`.

use std::collections::HashSet;

use crate::protocol::{ExtractedPage, LINE_HYPHEN};
use crate::text::language::NaturalLanguage;

/// Letters of each part of an English compound, at least: `re` and `un` are also words of formulas and lists.
const MIN_PART: usize = 3;

/// Bytes of a document whose language is recognised: some pages are enough, and more cost time.
const SAMPLE_BYTES: usize = 16 << 10;

/// Replaces the marks in `pages`.
pub(super) fn settle(pages: &mut [ExtractedPage]) {
    let mut blocks = pages.iter().flat_map(|page| &page.blocks);
    if !blocks.any(|block| block.text.contains(LINE_HYPHEN)) {
        return;
    }
    let known = KnownWords {
        hyphenated: plain_words(pages).filter(|word| word.contains('-')).collect(),
        words: if is_english(pages) { plain_words(pages).collect() } else { HashSet::new() },
    };
    let marked = pages.iter_mut().flat_map(|page| &mut page.blocks);
    for block in marked.filter(|block| block.text.contains(LINE_HYPHEN)) {
        let tokens = block.text.split_inclusive([' ', '\n']);
        block.text = tokens.map(|token| known.settled(token)).collect();
    }
}

/// Returns the words that have no marks, in small letters.
fn plain_words(pages: &[ExtractedPage]) -> impl Iterator<Item = String> {
    let blocks = pages.iter().flat_map(|page| &page.blocks);
    let tokens = blocks.flat_map(|block| block.text.split([' ', '\n'])).map(core);
    tokens.filter(|word| !word.contains(LINE_HYPHEN)).map(str::to_lowercase)
}

fn is_english(pages: &[ExtractedPage]) -> bool {
    let mut sample = String::new();
    for block in pages.iter().flat_map(|page| &page.blocks) {
        if sample.len() > SAMPLE_BYTES {
            break;
        }
        sample.extend([block.text.as_str(), "\n"]);
    }
    NaturalLanguage::of(&sample).is_some_and(NaturalLanguage::is_english)
}

/// The words that a document has in the middle of its lines, in small letters.
struct KnownWords {
    hyphenated: HashSet<String>,
    /// All its words, if it is in English.
    words: HashSet<String>,
}

impl KnownWords {
    /// Returns a word without marks.
    fn settled(&self, token: &str) -> String {
        if !token.contains(LINE_HYPHEN) {
            return token.to_owned();
        }
        let marked = core(token).to_lowercase();
        let with_hyphens = marked.replace(LINE_HYPHEN, "-");
        if self.hyphenated.contains(&with_hyphens) || self.is_compound(&marked) {
            token.replace(LINE_HYPHEN, "-")
        } else {
            token.replace(LINE_HYPHEN, "")
        }
    }

    /// Whether all parts of a word with marks are words, and the whole is not.
    fn is_compound(&self, marked: &str) -> bool {
        let joined = marked.replace(LINE_HYPHEN, "");
        let mut parts = marked.split([LINE_HYPHEN, '-']);
        !self.words.contains(&joined)
            && parts.all(|part| part.chars().count() >= MIN_PART && self.words.contains(part))
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
        let mut pages: Vec<ExtractedPage> = blocks
            .iter()
            .map(|text| ExtractedPage { blocks: vec![block(text)], ..ExtractedPage::default() })
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

    #[test]
    fn an_english_compound_keeps_it_if_its_parts_occur_and_the_joined_word_does_not() {
        let english = "The bank is owned by the state and wholly independent, as the notice of \
                       the board and the new rules for the view over all of it say at length.";
        let german = "Die Tür des Hauses ist offen, und das Haus steht am Ufer, wie der Bericht \
                      des Rates und die neuen Regeln für den Hafen in aller Länge sagen.";
        let first = |text: &str, other: &str| {
            let block = |text: &str| PageBlock::new(BlockKind::Paragraph, 0, text.to_owned());
            let text = text.replace('|', &LINE_HYPHEN.to_string());
            let mut pages = [ExtractedPage {
                blocks: vec![block(&text), block(other)],
                ..ExtractedPage::default()
            }];
            settle(&mut pages);
            pages[0].blocks[0].text.clone()
        };
        assert_eq!(first("a wholly|owned bank", english), "a wholly-owned bank");
        assert_eq!(first("an over|view", &format!("{english} An overview.")), "an overview");
        assert_eq!(first("the of|fer", english), "the offer");
        assert_eq!(first("die Haus|tür", german), "die Haustür");
    }
}
