//! States how a document is made, so that it is noticed when today's settings would make it
//! differently.

use crate::ChunkingOptions;
use crate::chunk::{ChunkOptions, Strategy};
use crate::document::{DocType, Format, Headed, Metadata, WordAccount};
use crate::extract::sandbox::Ocr;

/// The version of what reads and splits documents. It is raised when a change to a reader or to the chunker makes chunks
/// differ, or what is found by them: documents of version 4 have no aliases, no links of front matter, titles that are
/// headings of sections, and may lack white text of scans, links of web pages and headings of plain text; those of version 5
/// have tables of PDFs without labels and headings that are none, lack parts of notebooks and mail, and do not state where
/// their words went; those of version 6 lack comments, charts, drawings, values of forms and embedded files, have hidden
/// text, the escapes of data, and options as headings of printed manual pages, have other letters where their encoding was not
/// known, have cells of tables below other heads, and do not state what became of their parts, that they are out of date, which line each line of other markup is
/// from, or where in a chunk pages and sections begin.
const READER_VERSION: u32 = 7;

/// Whether people may have remarked on documents in a format, in comments and notes that a setting leaves out.
fn may_have_remarks(format: Format) -> bool {
    matches!(
        format,
        Format::Pdf
            | Format::Headed(
                Headed::Docx
                    | Headed::Pptx
                    | Headed::Xlsx
                    | Headed::Odt
                    | Headed::Odp
                    | Headed::Ods
            )
    )
}

/// Follows the chunks whose tokens were estimated.
const ESTIMATED: &str = " tokens=estimated";

/// Precedes the languages of OCR.
const OCR: &str = " ocr=";

/// Follows the chunks where comments and notes of people are left out.
const REMARKS: &str = " comments=no";

/// Follows the chunks where tags in the text are tags of the document.
const TAGS: &str = " tags";

/// Ends the text for a document that shows words that were left out.
const LEFT_OUT: &str = " left_out";

/// The current settings that decide how documents are made.
#[derive(Debug, Clone, Copy)]
pub struct IndexingSettings<'a> {
    /// How documents are split; of the model's limits only the length of its input counts.
    pub chunking: &'a ChunkingOptions,
    /// Whether tokens are estimated, because there is no model. Such a document is outdated once there is one.
    pub is_estimated: bool,
    /// How scans are read.
    pub ocr: &'a Ocr,
    /// Whether everything is read that a document shows. A document that was read in this way is never
    /// outdated for it: `kb add --keep-all` may have asked for it.
    pub keeps_all: bool,
    /// Whether comments and notes of people are left out.
    pub omits_remarks: bool,
    /// Whether tags in the text are tags of the document; tags that it has stay in any case.
    pub inline_tags: bool,
}

impl IndexingSettings<'_> {
    /// Returns how a document in a format is made. `metadata` is that of the document: the languages
    /// of OCR matter only where it was used.
    pub(super) fn text(self, format: Format, metadata: &Metadata) -> String {
        let mut text = self.without_ocr(format);
        if let Ocr::Tesseract { languages, .. } = self.ocr
            && metadata.quality.is_some_and(|quality| quality.pages_ocr > 0)
        {
            text += OCR;
            text += languages;
        }
        if !self.keeps_all && metadata.words.as_ref().is_some_and(WordAccount::lacks_shown) {
            text += LEFT_OUT;
        }
        text
    }

    /// Whether a document in this format would be made in the way stated, `None` for one of an older
    /// kb. Text from OCR is never outdated where there is no OCR: reading again would lose it.
    pub fn is_same(self, stated: Option<&str>, format: Format) -> bool {
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
        let today = self.without_ocr(format);
        is_same_ocr
            && !(is_lossy && self.keeps_all)
            && (chunks == today || chunks.strip_suffix(TAGS) == Some(&today))
    }

    fn without_ocr(self, format: Format) -> String {
        let doc_type = format.doc_type();
        let is_text = matches!(doc_type, DocType::Markdown | DocType::Note);
        let mut text = format!("reader={READER_VERSION} ");
        text += &how_it_is_split(self.chunking.of(doc_type));
        if self.is_estimated {
            text += ESTIMATED;
        }
        if self.omits_remarks && may_have_remarks(format) {
            text += REMARKS;
        }
        if self.inline_tags && is_text {
            text += TAGS;
        }
        text
    }
}

/// Settings without effect are left out: a setting that changes nothing makes no document outdated.
fn how_it_is_split(options: &ChunkOptions) -> String {
    let max_tokens = options.max_tokens.min(options.model_tokens);
    let how = match options.strategy {
        Strategy::Structure => format!("structure min={}", options.min_tokens),
        Strategy::Fixed => format!("fixed overlap={}", options.overlap_tokens),
        Strategy::Whole => format!("whole overlap={}", options.overlap_tokens),
    };
    let context = if options.include_context { "" } else { " context=no" };
    format!("{how} max={max_tokens}{context}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Picture, Quality, WordDestination};
    use crate::extract::sandbox::Tesseract;

    fn tesseract(languages: &str) -> Ocr {
        Ocr::Tesseract {
            tesseract: Tesseract::default(),
            languages: languages.into(),
            is_forced: false,
        }
    }

    #[test]
    fn a_document_is_outdated_when_a_setting_that_matters_for_it_changes() {
        let chunking = ChunkingOptions::new(256, 2);
        let (ocr, keeps_all) = (&Ocr::Never, false);
        let today = IndexingSettings {
            chunking: &chunking,
            is_estimated: false,
            ocr,
            keeps_all,
            omits_remarks: false,
            inline_tags: false,
        };
        let page = today.text(Format::Markdown, &Metadata::default());
        assert!(today.is_same(Some(&page), Format::Markdown));
        assert!(!today.is_same(None, Format::Markdown));
        let older = page.replace("reader=7", "reader=3");
        assert!(older != page && !today.is_same(Some(&older), Format::Markdown));
        // The model reads 256 tokens in any case; 512 is no change, 100 is.
        let mut longer = chunking.clone();
        longer.markdown.max_tokens = 2_000;
        longer.pdf.max_tokens = 100;
        let longer = IndexingSettings { chunking: &longer, ..today };
        assert!(longer.is_same(Some(&page), Format::Markdown));
        assert!(!longer.is_same(Some(&today.text(Format::Pdf, &Metadata::default())), Format::Pdf));
        let mut lossy = Metadata { words: Some(WordAccount::default()), ..Metadata::default() };
        assert_eq!(today.text(Format::Pdf, &lossy), today.text(Format::Pdf, &Metadata::default()));
        lossy.words.as_mut().unwrap().add(WordDestination::Menu, "home");
        let keeping = IndexingSettings { keeps_all: true, ..today };
        let (left_out, kept) = (today.text(Format::Pdf, &lossy), keeping.text(Format::Pdf, &lossy));
        assert!(!keeping.is_same(Some(&left_out), Format::Pdf));
        assert!(today.is_same(Some(&left_out), Format::Pdf));
        assert!([today, keeping].iter().all(|now| now.is_same(Some(&kept), Format::Pdf)));
        let tagging = IndexingSettings { inline_tags: true, ..today };
        let tagged = tagging.text(Format::Markdown, &Metadata::default());
        assert!(!tagging.is_same(Some(&page), Format::Markdown));
        assert!([today, tagging].iter().all(|now| now.is_same(Some(&tagged), Format::Markdown)));
        assert_eq!(tagging.text(Format::Pdf, &lossy), today.text(Format::Pdf, &lossy));
        let estimated = IndexingSettings { is_estimated: true, ..today };
        let estimated = estimated.text(Format::Markdown, &Metadata::default());
        assert!(!today.is_same(Some(&estimated), Format::Markdown));
        let other_model = ChunkingOptions::new(128, 2);
        assert!(
            !IndexingSettings { chunking: &other_model, ..today }
                .is_same(Some(&page), Format::Markdown)
        );
    }

    #[test]
    fn documents_of_an_older_reader_are_outdated() {
        let chunking = ChunkingOptions::new(256, 2);
        let (ocr, keeps_all) = (&Ocr::Never, false);
        let today = IndexingSettings {
            chunking: &chunking,
            is_estimated: false,
            ocr,
            keeps_all,
            omits_remarks: false,
            inline_tags: false,
        };
        for (format, is_same) in [
            (Format::Image(Picture::Png), false),
            (Format::Text, false),
            (Format::Headed(Headed::Html), false),
            (Format::Markdown, false),
            (Format::Pdf, false),
            (Format::Headed(Headed::Docx), false),
        ] {
            let made = today.text(format, &Metadata::default());
            let (_, how) = made.split_once(' ').unwrap();
            assert_eq!(
                today.is_same(Some(&format!("reader=6 {how}")), format),
                is_same,
                "{format:?}"
            );
        }
    }

    #[test]
    fn whether_comments_are_left_out_matters_where_there_may_be_some() {
        let chunking = ChunkingOptions::new(256, 2);
        let (ocr, keeps_all) = (&Ocr::Never, false);
        let with = IndexingSettings {
            chunking: &chunking,
            is_estimated: false,
            ocr,
            keeps_all,
            omits_remarks: false,
            inline_tags: false,
        };
        let without = IndexingSettings { omits_remarks: true, ..with };
        for (format, is_same) in [(Format::Pdf, false), (Format::Markdown, true)] {
            let made = without.text(format, &Metadata::default());
            assert!(without.is_same(Some(&made), format));
            assert_eq!(with.is_same(Some(&made), format), is_same, "{format:?}");
        }
    }

    #[test]
    fn the_languages_of_ocr_matter_for_scans_where_ocr_can_be_used() {
        let chunking = ChunkingOptions::new(256, 2);
        let quality = Quality { pages_ocr: 2, ..Quality::default() };
        let scan = Metadata { quality: Some(quality), ..Metadata::default() };
        let ocr = &tesseract("eng");
        let english = IndexingSettings {
            chunking: &chunking,
            is_estimated: false,
            ocr,
            keeps_all: false,
            omits_remarks: false,
            inline_tags: false,
        };
        let german = IndexingSettings { ocr: &tesseract("deu"), ..english };
        let (scan, page) =
            (english.text(Format::Pdf, &scan), english.text(Format::Pdf, &Metadata::default()));
        assert!(english.is_same(Some(&scan), Format::Pdf));
        assert!(!german.is_same(Some(&scan), Format::Pdf));
        assert!(german.is_same(Some(&page), Format::Pdf));
        assert!(
            IndexingSettings { ocr: &Ocr::Missing, ..english }.is_same(Some(&scan), Format::Pdf)
        );
    }
}
