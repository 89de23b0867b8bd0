//! Gives the headings of a document their levels.

use super::{Block, BlockKind, Document};

/// Gives each heading of a document its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadingLevels {
    /// Whether the title is a heading in the text, above all others.
    has_title: bool,
}

impl HeadingLevels {
    /// Looks for the title of a document, which is in no header chain.
    pub fn of(document: &Document) -> Self {
        let mut headings = document.blocks.iter().filter(|block| block.kind == BlockKind::Heading);
        Self { has_title: headings.any(|heading| heading.headings.is_empty()) }
    }

    /// Returns the level of a heading, from 1.
    pub fn level(self, heading: &Block) -> usize {
        match heading.headings.len() {
            0 => 1,
            depth => depth + usize::from(self.has_title),
        }
    }

    /// Returns the headings of a document in order, with their levels.
    pub fn headings(document: &Document) -> Vec<(u8, String)> {
        let levels = Self::of(document);
        let headings = document.blocks.iter().filter(|block| block.kind == BlockKind::Heading);
        headings
            .map(|block| {
                let level = u8::try_from(levels.level(block)).unwrap_or(u8::MAX);
                (level, document.text[block.bytes.clone()].to_owned())
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the levels of headings with these header chains, after a paragraph.
    #[track_caller]
    fn check(chains: &[&[&str]], expected: &[u8]) {
        let block = |kind, chain: &[&str]| Block {
            bytes: 0..0,
            kind,
            headings: chain.iter().map(|&heading| heading.to_owned()).collect(),
            symbol: None,
            context: None,
            page: None,
            starts_section: false,
        };
        let mut blocks = vec![block(BlockKind::Paragraph, &[])];
        blocks.extend(chains.iter().map(|chain| block(BlockKind::Heading, chain)));
        let document = Document { blocks, ..Document::default() };
        let found: Vec<u8> =
            HeadingLevels::headings(&document).into_iter().map(|(level, _)| level).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_title_in_the_text_is_above_all_headings() {
        check(&[&[], &["Setup"], &["Setup", "Linux"]], &[1, 2, 3]);
    }

    #[test]
    fn without_a_title_in_the_text_headings_begin_at_the_first_level() {
        check(&[&["Setup"], &["Setup", "Linux"], &["Use"]], &[1, 2, 1]);
    }
}
