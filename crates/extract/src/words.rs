//! Counts the words of a document that is read completely.

use crate::document::{BlockKind, Document, Reason};
use crate::text::contents;

/// Adds the words of a document to those that its reader has left out: those of its blocks, which are
/// searched, and those between them.
pub(super) fn count(mut document: Document) -> Document {
    let mut words = document.metadata.words.take().unwrap_or_default();
    let mut end = 0;
    for block in &document.blocks {
        words.add(Reason::Markup, &document.text[end..block.bytes.start]);
        end = block.bytes.end;
        let text = &document.text[block.bytes.clone()];
        let reason = match block.kind {
            BlockKind::Heading => Reason::Heading,
            BlockKind::Table => Reason::Table,
            BlockKind::Paragraph if contents::is_contents(text) => Reason::Contents,
            BlockKind::Paragraph | BlockKind::ListItem | BlockKind::Code => Reason::Text,
        };
        words.add(reason, text);
    }
    words.add(Reason::Markup, &document.text[end..]);
    document.metadata.words = Some(words);
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Block, Words};

    #[test]
    fn every_word_of_a_document_is_counted_once() {
        let block = |bytes: std::ops::Range<usize>, kind| Block {
            bytes,
            kind,
            headings: Vec::new(),
            symbol: None,
            context: None,
            page: None,
            starts_section: false,
        };
        let text = "tags: a\n# Low tide\n| 1 | 2 |\nat noon\nLow tide .... 11 High tide .... 12 Gauges .... 130";
        let mut document = Document {
            text: text.to_owned(),
            blocks: vec![
                block(8..18, BlockKind::Heading),
                block(19..28, BlockKind::Table),
                block(29..36, BlockKind::ListItem),
                block(37..text.len(), BlockKind::Paragraph),
            ],
            ..Document::default()
        };
        let mut left_out = Words::default();
        left_out.add(Reason::Menu, "home, sweet home");
        document.metadata.words = Some(left_out);
        let found: Vec<(Reason, u32)> = count(document).metadata.words.unwrap().counts().collect();
        assert_eq!(
            found,
            [
                (Reason::Text, 2),
                (Reason::Table, 2),
                (Reason::Heading, 2),
                (Reason::Contents, 8),
                (Reason::Markup, 2),
                (Reason::Menu, 3),
            ]
        );
    }
}
