//! Builds a [`Document`] from the Markdown blocks that the readers of web pages, office
//! documents and books write.

use super::markdown::spell::tidy;
use super::markdown::{self, LeadingHeading, UnplacedBlock};
use crate::boilerplate::is_boilerplate;
use crate::containers;
use crate::document::{BlockKind, Document, Format, Headed, Metadata};
use crate::error::Result;
use crate::extracted::ExtractedFile;
use crate::protocol::{DocumentHead, ExtractedPage};
use crate::sandbox::{ReadOptions, parent};

/// Reads a web page, an office document, a book or mail.
pub(super) fn extract(bytes: &[u8], kind: Headed, options: &ReadOptions) -> Result<ExtractedFile> {
    let reading = parent::read(kind.as_str(), bytes, options)?;
    let found = reading.head.format.as_deref().and_then(|word| word.parse().ok());
    let kind: Headed = found.unwrap_or(kind);
    let lacks_copies = reading.pages.iter().any(|page| page.lacks_copies);
    let num_failed = reading.pages.iter().filter(|page| page.failed.is_some()).count();
    let mut document = to_document(reading.head, reading.pages, kind.has_title());
    let metadata = &mut document.metadata;
    metadata.words.get_or_insert_default().merge(&reading.tail.left_out);
    metadata.warnings = reading.tail.warnings;
    metadata.warnings.extend(reading.tail.parts.warning());
    metadata.encoding = reading.tail.encoding;
    metadata.parts = Some(reading.tail.parts).filter(|parts| !parts.is_empty());
    if lacks_copies {
        let warning = "some merged cells of tables have their text only once: there are too many";
        metadata.warnings.push(warning.to_owned());
    }
    if num_failed > 0 {
        let total = metadata.page_count.unwrap_or(0);
        metadata.warnings.push(format!("{num_failed} of {total} pages could not be read"));
    }
    let members = containers::members(reading.members);
    Ok(ExtractedFile { document, format: Format::Headed(kind), members })
}

/// Builds a document from what a reading child has written.
///
/// The title is the stated title. It is the first heading if no title is stated, or if the stated title only adds the
/// name of a site to that heading. A heading with text before it is not taken for the title; the stated title is then
/// the title after all.
pub fn to_document(
    head: DocumentHead,
    pages: Vec<ExtractedPage>,
    has_title_in_headings: bool,
) -> Document {
    let mut document = Document {
        metadata: Metadata {
            author: head.author.map(|author| tidy(&author)).filter(|author| !author.is_empty()),
            created: head.created,
            language: head.language,
            ..Metadata::default()
        },
        ..Document::default()
    };
    let has_pages = head.page_count > 0;
    document.metadata.page_count = has_pages.then_some(head.page_count);
    let words = document.metadata.words.get_or_insert_default();
    pages.iter().for_each(|page| words.merge(&page.left_out));
    let num_copied = pages.iter().map(|page| page.num_copied_words);
    document.num_copied_words = num_copied.fold(0, u32::saturating_add);
    let (mut pieces, mut numbers) = (Vec::new(), Vec::new());
    let blocks = pages.into_iter().flat_map(|page| {
        let number = page.number;
        page.blocks.into_iter().map(move |block| (number, block))
    });
    for (number, block) in blocks {
        numbers.push(number);
        if !document.text.is_empty() {
            document.text.push_str("\n\n");
        }
        let start = document.text.len();
        document.text.push_str(&block.text);
        // The words of a heading are without marks, as in Markdown.
        let words = block.text.trim_start_matches('#').replace('`', "");
        let is_heading = block.level > 0 && !is_boilerplate(&words);
        let is_demoted = block.level > 0 && !is_heading;
        let kind = if is_demoted { BlockKind::Paragraph } else { block.kind };
        pieces.push(UnplacedBlock {
            bytes: start..document.text.len(),
            kind,
            heading: is_heading.then(|| (block.level, markdown::to_heading(&words))),
        });
    }
    let stated = head.title.map(|title| markdown::to_heading(&title));
    let stated = stated.filter(|title| !title.is_empty() && !is_boilerplate(title));
    let first = pieces.iter().find_map(|piece| piece.heading.as_ref());
    document.title = stated.clone().filter(|stated| {
        first.is_none_or(|(_, first)| !stated.to_lowercase().contains(&first.to_lowercase()))
    });
    if !has_title_in_headings && document.title.is_none() {
        // An empty title keeps a heading from becoming the title.
        document.title = Some(String::new());
    }
    markdown::set_title_and_blocks(&mut document, pieces, LeadingHeading::IsTitle);
    document.title = document.title.filter(|title| !title.is_empty()).or(stated);
    if has_pages {
        set_pages(&mut document, &numbers);
    }
    document
}

/// Sets the pages of blocks. The headings of a page do not apply to the next one.
fn set_pages(document: &mut Document, numbers: &[u32]) {
    let (mut page, mut has_heading) = (0, false);
    for (block, number) in document.blocks.iter_mut().zip(numbers) {
        block.starts_section |= *number != page;
        has_heading = (has_heading && *number == page) || block.kind == BlockKind::Heading;
        page = *number;
        block.page = Some(page);
        if !has_heading {
            block.headings.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::PageBlock;

    fn title(stated: Option<&str>, headings: &[(u8, &str)]) -> (Option<String>, Vec<Vec<String>>) {
        let block = |level: u8, kind, text: &str| PageBlock::new(kind, level, text);
        let blocks = headings.iter().flat_map(|(level, text)| {
            let mark = "#".repeat((*level).into());
            let heading = block(*level, BlockKind::Heading, &format!("{mark} {text}"));
            [heading, block(0, BlockKind::Paragraph, "words")]
        });
        let head = DocumentHead { title: stated.map(str::to_owned), ..DocumentHead::default() };
        let page =
            ExtractedPage { number: 1, blocks: blocks.collect(), ..ExtractedPage::default() };
        let document = to_document(head, vec![page], true);
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

    #[test]
    fn a_stated_title_is_kept_if_no_heading_is_taken() {
        let table = PageBlock::new(BlockKind::Table, 0, "| Prev | Next |");
        let heading = PageBlock::new(BlockKind::Heading, 2, "## 24.1. Herons");
        let head =
            DocumentHead { title: Some("24.1. Herons".to_owned()), ..DocumentHead::default() };
        let page =
            ExtractedPage { number: 1, blocks: vec![table, heading], ..ExtractedPage::default() };
        assert_eq!(to_document(head, vec![page], true).title.as_deref(), Some("24.1. Herons"));
    }

    #[test]
    fn lines_that_any_document_has_are_neither_title_nor_heading() {
        let (own, headings) =
            title(Some("Press release"), &[(1, "FOR IMMEDIATE RELEASE"), (1, "Tides"), (2, "Ebb")]);
        assert_eq!((own.as_deref(), headings[5].join(" ")), (Some("Tides"), "Ebb".to_owned()));
        assert!(headings[1].is_empty());
    }

    #[test]
    fn the_headings_of_a_slide_end_with_it() {
        let page = |number, blocks: &[(u8, &str)]| {
            let blocks = blocks.iter().map(|(level, text)| {
                let kind = if *level > 0 { BlockKind::Heading } else { BlockKind::Paragraph };
                PageBlock::new(kind, *level, *text)
            });
            ExtractedPage { number, blocks: blocks.collect(), ..ExtractedPage::default() }
        };
        let pages = vec![
            page(1, &[(1, "# Deck"), (0, "a")]),
            page(2, &[(1, "# Tides"), (0, "b")]),
            page(3, &[(0, "c")]),
        ];
        let document =
            to_document(DocumentHead { page_count: 3, ..DocumentHead::default() }, pages, true);
        let found: Vec<_> = document
            .blocks
            .iter()
            .map(|block| (block.page, block.headings.join(" "), block.starts_section))
            .collect();
        assert_eq!(document.metadata.page_count, Some(3));
        assert_eq!(document.title.as_deref(), Some("Deck"));
        assert_eq!(found[1], (Some(1), String::new(), false));
        assert_eq!(found[3], (Some(2), "Tides".to_owned(), false));
        assert_eq!(found[4], (Some(3), String::new(), true));
    }

    #[test]
    fn the_name_of_a_sheet_is_no_title() {
        let block = PageBlock::new(BlockKind::Heading, 2, "## Sheet1");
        let page = ExtractedPage { number: 1, blocks: vec![block], ..ExtractedPage::default() };
        let document = to_document(DocumentHead::default(), vec![page], false);
        assert_eq!(
            (document.title, &*document.blocks[0].headings),
            (None, &["Sheet1".to_owned()][..])
        );
    }
}
