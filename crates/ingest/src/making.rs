//! States how a document is made, so that it is noticed when today's settings would make it
//! differently.

use crate::ChunkingOptions;
use crate::chunk::{ChunkOptions, Strategy};
use crate::document::{DocType, Metadata, Words};
use crate::extract::sandbox::Ocr;

/// The version of the readers and of the chunker. It is raised when a change to either makes chunks
/// differ, or what is found by them: documents of version 4 have no aliases, no links of front matter, titles that are
/// headings of sections, and may lack white text of scans, links of web pages and headings of plain text; those of
/// version 5 have tables of PDFs without labels and headings that are none, lack parts of notebooks and mail, and do not
/// state where their words went.
const READER_VERSION: u32 = 6;

/// Stands before the languages of OCR.
const OCR: &str = " ocr=";

/// Stands behind the chunks where tags in the text are tags of the document.
const TAGS: &str = " tags";

/// Ends the text of a document of which words were left out that it shows.
const LEFT_OUT: &str = " left_out";

/// What today's settings make of documents.
#[derive(Debug, Clone, Copy)]
pub struct Making<'a> {
    /// How documents are split; of the model's limits only the length of its input counts.
    pub chunking: &'a ChunkingOptions,
    /// How scans are read.
    pub ocr: &'a Ocr,
    /// Whether everything is read that a document shows. A document that was read in this way is never
    /// outdated for it: `kb add --keep-all` may have asked for it.
    pub keeps_all: bool,
    /// Whether tags in the text are tags of the document; tags that it has stay in any case.
    pub inline_tags: bool,
}

impl Making<'_> {
    /// Returns how a document of a type is made. `metadata` is that of the document: the languages
    /// of OCR matter only where it was used.
    pub(super) fn text(self, doc_type: DocType, metadata: &Metadata) -> String {
        let mut text = self.without_ocr(doc_type);
        if let Ocr::Tesseract { languages, .. } = self.ocr
            && metadata.quality.is_some_and(|quality| quality.pages_ocr > 0)
        {
            text += OCR;
            text += languages;
        }
        if !self.keeps_all && metadata.words.as_ref().is_some_and(Words::lacks_shown) {
            text += LEFT_OUT;
        }
        text
    }

    /// Whether a document of this type would be made in the way stated, `None` for one of an older
    /// kb. Text from OCR is never outdated where there is no OCR: reading again would lose it.
    pub fn is_same(self, stated: Option<&str>, doc_type: DocType) -> bool {
        let Some(stated) = stated else { return false };
        let all = stated.strip_suffix(LEFT_OUT);
        let is_lossy = all.is_some();
        let stated = all.unwrap_or(stated);
        let (chunks, languages) = match stated.split_once(OCR) {
            Some((chunks, languages)) => (chunks, Some(languages)),
            None => (stated, None),
        };
        let is_same_ocr = match (self.ocr, languages) {
            (Ocr::Tesseract { languages: today, .. }, Some(languages)) => languages == today,
            (_, Some(_)) => return true,
            (_, None) => true,
        };
        let today = self.without_ocr(doc_type);
        is_same_ocr
            && !(is_lossy && self.keeps_all)
            && (chunks == today || chunks.strip_suffix(TAGS) == Some(&today))
    }

    fn without_ocr(self, doc_type: DocType) -> String {
        let is_text = matches!(doc_type, DocType::Markdown | DocType::Note);
        without_ocr(self.chunking.of(doc_type))
            + if self.inline_tags && is_text { TAGS } else { "" }
    }
}

/// Settings without effect are left out: a setting that changes nothing makes no document outdated.
fn without_ocr(options: &ChunkOptions) -> String {
    let max_tokens = options.max_tokens.min(options.model_tokens);
    let how = match options.strategy {
        Strategy::Structure => format!("structure min={}", options.min_tokens),
        Strategy::Fixed => format!("fixed overlap={}", options.overlap_tokens),
        Strategy::Whole => format!("whole overlap={}", options.overlap_tokens),
    };
    let context = if options.include_context { "" } else { " context=no" };
    format!("reader={READER_VERSION} {how} max={max_tokens}{context}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Quality, Reason};

    fn tesseract(languages: &str) -> Ocr {
        Ocr::Tesseract {
            program: "tesseract".into(),
            languages: languages.into(),
            is_forced: false,
        }
    }

    #[test]
    fn a_document_is_outdated_when_a_setting_that_matters_for_it_changes() {
        let chunking = ChunkingOptions::new(256, 2);
        let (ocr, keeps_all) = (&Ocr::Never, false);
        let today = Making { chunking: &chunking, ocr, keeps_all, inline_tags: false };
        let page = today.text(DocType::Markdown, &Metadata::default());
        assert!(today.is_same(Some(&page), DocType::Markdown));
        assert!(!today.is_same(None, DocType::Markdown));
        let older = page.replace(&format!("reader={READER_VERSION}"), "reader=3");
        assert!(older != page && !today.is_same(Some(&older), DocType::Markdown));
        // The model reads 256 tokens in any case; 512 is no change, 100 is.
        let mut longer = chunking.clone();
        longer.markdown.max_tokens = 2_000;
        longer.pdf.max_tokens = 100;
        let longer = Making { chunking: &longer, ..today };
        assert!(longer.is_same(Some(&page), DocType::Markdown));
        assert!(
            !longer.is_same(Some(&today.text(DocType::Pdf, &Metadata::default())), DocType::Pdf)
        );
        let mut lossy = Metadata { words: Some(Words::default()), ..Metadata::default() };
        assert_eq!(
            today.text(DocType::Pdf, &lossy),
            today.text(DocType::Pdf, &Metadata::default())
        );
        lossy.words.as_mut().unwrap().add(Reason::Menu, "home");
        let keeping = Making { keeps_all: true, ..today };
        let (left_out, kept) =
            (today.text(DocType::Pdf, &lossy), keeping.text(DocType::Pdf, &lossy));
        assert!(!keeping.is_same(Some(&left_out), DocType::Pdf));
        assert!(today.is_same(Some(&left_out), DocType::Pdf));
        assert!([today, keeping].iter().all(|now| now.is_same(Some(&kept), DocType::Pdf)));
        let tagging = Making { inline_tags: true, ..today };
        let tagged = tagging.text(DocType::Markdown, &Metadata::default());
        assert!(!tagging.is_same(Some(&page), DocType::Markdown));
        assert!([today, tagging].iter().all(|now| now.is_same(Some(&tagged), DocType::Markdown)));
        assert_eq!(tagging.text(DocType::Pdf, &lossy), today.text(DocType::Pdf, &lossy));
        let other_model = ChunkingOptions::new(128, 2);
        assert!(
            !Making { chunking: &other_model, ..today }.is_same(Some(&page), DocType::Markdown)
        );
    }

    #[test]
    fn the_languages_of_ocr_matter_for_scans_where_ocr_can_be_used() {
        let chunking = ChunkingOptions::new(256, 2);
        let quality = Quality { pages_ocr: 2, ..Quality::default() };
        let scan = Metadata { quality: Some(quality), ..Metadata::default() };
        let ocr = &tesseract("eng");
        let english = Making { chunking: &chunking, ocr, keeps_all: false, inline_tags: false };
        let german = Making { ocr: &tesseract("deu"), ..english };
        let (scan, page) =
            (english.text(DocType::Pdf, &scan), english.text(DocType::Pdf, &Metadata::default()));
        assert!(english.is_same(Some(&scan), DocType::Pdf));
        assert!(!german.is_same(Some(&scan), DocType::Pdf));
        assert!(german.is_same(Some(&page), DocType::Pdf));
        assert!(Making { ocr: &Ocr::Missing, ..english }.is_same(Some(&scan), DocType::Pdf));
    }
}
