//! Builds a [`Document`] from the Markdown blocks that the readers of HTML, DOCX and EPUB write.

use super::markdown::spell::tidy;
use super::markdown::{self, Piece};
use crate::document::{Document, Metadata};
use crate::error::Result;
use crate::extract::protocol::{Head, PageBlock};
use crate::extract::sandbox::{ReadOptions, parent};

/// Reads a web page, an office document or a book with the reader `name`.
///
/// # Errors
///
/// Those of [`super::pdf::extract`].
pub(super) fn extract(bytes: &[u8], name: &str, options: &ReadOptions) -> Result<Document> {
    let reading = parent::read(name, bytes, options)?;
    let blocks = reading.pages.into_iter().flat_map(|page| page.blocks).collect();
    Ok(to_document(reading.head, blocks))
}

/// Builds a document from what a reading child has written.
///
/// The title is the stated title, unless that only adds the name of a site to the first heading;
/// then, or if no title is stated, it is the first heading.
pub(in crate::extract) fn to_document(head: Head, blocks: Vec<PageBlock>) -> Document {
    let mut document = Document {
        metadata: Metadata {
            author: head.author.map(|author| tidy(&author)).filter(|author| !author.is_empty()),
            created: head.created,
            language: head.language,
            ..Metadata::default()
        },
        ..Document::default()
    };
    let mut pieces = Vec::with_capacity(blocks.len());
    for block in blocks {
        if !document.text.is_empty() {
            document.text.push_str("\n\n");
        }
        let start = document.text.len();
        document.text.push_str(&block.text);
        // The same as for headings in Markdown.
        let words = block.text.trim_start_matches('#').replace('`', "");
        pieces.push(Piece {
            bytes: start..document.text.len(),
            kind: block.kind.into(),
            heading: (block.level > 0).then(|| (block.level, markdown::to_heading(&words))),
        });
    }
    let stated =
        head.title.map(|title| markdown::to_heading(&title)).filter(|title| !title.is_empty());
    let first = pieces.iter().find_map(|piece| piece.heading.as_ref());
    document.title = stated.filter(|stated| {
        first.is_none_or(|(_, first)| !stated.to_lowercase().contains(&first.to_lowercase()))
    });
    markdown::set_title_and_blocks(&mut document, pieces);
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::protocol::PageBlockKind;

    fn title(stated: Option<&str>, headings: &[(u8, &str)]) -> (Option<String>, Vec<Vec<String>>) {
        let block = |level: u8, kind, text: &str| PageBlock::new(kind, level, text);
        let blocks = headings.iter().flat_map(|(level, text)| {
            let mark = "#".repeat((*level).into());
            let heading = block(*level, PageBlockKind::Heading, &format!("{mark} {text}"));
            [heading, block(0, PageBlockKind::Paragraph, "words")]
        });
        let head = Head { title: stated.map(str::to_owned), ..Head::default() };
        let document = to_document(head, blocks.collect());
        (document.title, document.blocks.into_iter().map(|block| block.headings).collect())
    }

    #[test]
    fn the_name_of_the_site_is_dropped_from_the_title() {
        let (title, headings) = title(Some("Gauges | Harbour"), &[(1, "Gauges"), (2, "Float")]);
        assert_eq!(title.as_deref(), Some("Gauges"));
        assert_eq!(headings, [vec![], vec![], vec!["Float".to_owned()], vec!["Float".to_owned()]]);
    }

    #[test]
    fn the_stated_title_is_the_title() {
        let (own, headings) = title(Some("Harbour handbook"), &[(1, "Gauges")]);
        assert_eq!((own.as_deref(), headings[1].len()), (Some("Harbour handbook"), 1));
        let (own, headings) = title(Some("kb list - handbook"), &[(2, "`kb list`"), (3, "Flags")]);
        assert_eq!((own.as_deref(), &*headings[3]), (Some("kb list"), &["Flags".to_owned()][..]));
        assert_eq!(title(None, &[(2, "Float")]).0.as_deref(), Some("Float"));
        assert_eq!(title(None, &[]).0, None);
    }
}
