//! Gives the headings of a document their levels.

use super::{Block, BlockKind, Document};

/// Gives each heading of a document its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Levels {
    /// Whether the title is a heading in the text, above all others.
    has_title: bool,
}

impl Levels {
    /// Looks for the title of a document, which is in no header chain.
    pub fn of(document: &Document) -> Self {
        let is_title =
            |block: &Block| block.kind == BlockKind::Heading && block.headings.is_empty();
        Self { has_title: document.blocks.iter().any(is_title) }
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
