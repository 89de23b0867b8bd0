//! Counts the words of a document that is read completely.

use crate::document::{BlockKind, Document, Metadata, WordAccount, WordDestination};
use crate::text::contents;
use crate::text::number::counted;

/// Adds the words of a document to those that its reader has left out: those of its blocks, which are
/// searched, and those between them.
pub(super) fn count(document: &mut Document) {
    let mut words = document.metadata.words.take().unwrap_or_default();
    let mut end = 0;
    for block in &document.blocks {
        words.add(WordDestination::Markup, &document.text[end..block.bytes.start]);
        end = block.bytes.end;
        let text = &document.text[block.bytes.clone()];
        let reason = match block.kind {
            BlockKind::Heading => WordDestination::Heading,
            BlockKind::Table => WordDestination::Table,
            BlockKind::Paragraph if contents::is_contents(text) => WordDestination::Contents,
            BlockKind::Paragraph | BlockKind::ListItem | BlockKind::Code => WordDestination::Text,
        };
        words.add(reason, text);
    }
    words.add(WordDestination::Markup, &document.text[end..]);
    words.take_off(WordDestination::Table, document.num_copied_words);
    document.metadata.words = Some(words);
}

/// Says what a document without text holds that was not read; `None` if it holds no text at all.
pub(super) fn unread(metadata: &Metadata) -> Option<String> {
    let words = metadata.words.as_ref().map(WordAccount::counts).into_iter().flatten();
    let words = words.filter(|(reason, _)| !reason.is_kept() && *reason != WordDestination::Markup);
    let words =
        words.map(|(reason, count)| format!("{} ({reason})", counted(count as usize, "word")));
    let parts = metadata.parts.iter().flat_map(|parts| &parts.unread);
    let parts = parts.map(|part| format!("`{}` ({})", part.name, part.reason));
    let all: Vec<String> = words.chain(parts).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Block, FileParts};

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
        let mut left_out = WordAccount::default();
        left_out.add(WordDestination::Menu, "home, sweet home");
        document.metadata.words = Some(left_out);
        count(&mut document);
        let found: Vec<(WordDestination, u32)> =
            document.metadata.words.unwrap().counts().collect();
        assert_eq!(
            found,
            [
                (WordDestination::Text, 2),
                (WordDestination::Table, 2),
                (WordDestination::Heading, 2),
                (WordDestination::Contents, 8),
                (WordDestination::Markup, 2),
                (WordDestination::Menu, 3),
            ]
        );
    }
    #[test]
    fn a_file_that_holds_unread_text_is_not_empty() {
        let mut metadata = Metadata::default();
        assert_eq!(unread(&metadata), None);
        metadata.words.get_or_insert_default().add(WordDestination::Markup, "tags: a");
        assert_eq!(unread(&metadata), None);
        metadata.words.get_or_insert_default().add(WordDestination::Hidden, "for teachers");
        let mut parts = FileParts::default();
        parts.add_unread("word/x.xml", 7, "it is damaged");
        metadata.parts = Some(parts);
        let expected = "2 words (hidden), `word/x.xml` (it is damaged)";
        assert_eq!(unread(&metadata).as_deref(), Some(expected));
    }
}
