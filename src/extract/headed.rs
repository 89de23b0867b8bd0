//! Makes a [`Document`] of the blocks, spelt as Markdown, that the readers of HTML, DOCX and EPUB write.

use super::markdown::spell::tidy;
use super::markdown::{self, Piece};
use crate::document::{Document, Metadata};
use crate::error::Result;
use crate::extract::protocol::{Head, PageBlock};
use crate::extract::sandbox::{ReadOptions, parent};

/// Reads a web page or a word processor's text, whichever `reader` reads.
///
/// # Errors
///
/// Those of [`super::pdf::extract`].
pub(super) fn extract(bytes: &[u8], name: &str, options: &ReadOptions) -> Result<Document> {
    let reading = parent::read(name, bytes, options)?;
    let blocks = reading.pages.into_iter().flat_map(|it| it.blocks).collect();
    Ok(to_document(reading.head, blocks))
}

/// Makes a document of what a reading child has written.
///
/// Its title is its first heading, if what the document calls itself says no more than a site's name
/// beside it; else that; else its first heading.
pub(in crate::extract) fn to_document(head: Head, blocks: Vec<PageBlock>) -> Document {
    let mut document = Document {
        metadata: Metadata {
            author: head.author.map(|it| tidy(&it)).filter(|it| !it.is_empty()),
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
        // As the Markdown stage reads a heading.
        let words = block.text.trim_start_matches('#').replace('`', "");
        pieces.push(Piece {
            bytes: start..document.text.len(),
            kind: block.kind.into(),
            heading: (block.level > 0).then(|| (block.level, markdown::to_heading(&words))),
        });
    }
    let stated = head.title.map(|it| markdown::to_heading(&it)).filter(|it| !it.is_empty());
    let first = pieces.iter().find_map(|it| it.heading.as_ref());
    document.title = stated.filter(|stated| {
        first.is_none_or(|(_, it)| !stated.to_lowercase().contains(&it.to_lowercase()))
    });
    markdown::settle(&mut document, pieces);
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
        (document.title, document.blocks.into_iter().map(|it| it.headings).collect())
    }

    #[test]
    fn a_title_without_the_name_of_its_site_is_the_title() {
        let (title, headings) = title(Some("Gauges | Harbour"), &[(1, "Gauges"), (2, "Float")]);
        assert_eq!(title.as_deref(), Some("Gauges"));
        assert_eq!(headings, [vec![], vec![], vec!["Float".to_owned()], vec!["Float".to_owned()]]);
    }

    #[test]
    fn what_a_document_calls_itself_is_its_title() {
        let (own, headings) = title(Some("Harbour handbook"), &[(1, "Gauges")]);
        assert_eq!((own.as_deref(), headings[1].len()), (Some("Harbour handbook"), 1));
        let (own, headings) = title(Some("kb list - handbook"), &[(2, "`kb list`"), (3, "Flags")]);
        assert_eq!((own.as_deref(), &*headings[3]), (Some("kb list"), &["Flags".to_owned()][..]));
        assert_eq!(title(None, &[(2, "Float")]).0.as_deref(), Some("Float"));
        assert_eq!(title(None, &[]).0, None);
    }
}
