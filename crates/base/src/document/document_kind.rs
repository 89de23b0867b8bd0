//! Turns the word that a user gives for a type into the documents that it means: those of a type, of a group of
//! formats, or of one format.

use std::fmt;
use std::str::FromStr;

use crate::text::fields;

use super::formats::{Format, Headed, Picture};
use super::kinds::{DocType, UnknownName, named};
use super::{Dialect, Language};

fields::words! {
    /// Formats that people have one word for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum FormatGroup {
        /// E-mails, items of Outlook and mailboxes.
        Mail = "mail",
        /// Spreadsheets and tables.
        Sheet = "sheet",
        /// Presentations.
        Slides = "slides",
        /// Books that have no fixed pages.
        Book = "book",
        /// Web pages.
        Web = "web",
        /// Pictures, read by OCR.
        Image = "image",
    }
}

named!(FormatGroup);

impl FormatGroup {
    /// Returns its formats, which all have the same [`DocType`].
    fn formats(self) -> &'static [Format] {
        match self {
            Self::Mail => &[
                Format::Headed(Headed::Eml),
                Format::Headed(Headed::Msg),
                Format::Headed(Headed::Mbox),
            ],
            Self::Sheet => &[
                Format::Headed(Headed::Xlsx),
                Format::Headed(Headed::Ods),
                Format::Headed(Headed::SpreadsheetXml),
                Format::Dialect(Dialect::Csv),
                Format::Dialect(Dialect::Tsv),
            ],
            Self::Slides => &[Format::Headed(Headed::Pptx), Format::Headed(Headed::Odp)],
            Self::Book => &[Format::Headed(Headed::Epub), Format::Headed(Headed::Fb2)],
            Self::Web => &[Format::Headed(Headed::Html), Format::Headed(Headed::Mhtml)],
            Self::Image => &[
                Format::Image(Picture::Png),
                Format::Image(Picture::Jpeg),
                Format::Image(Picture::Tiff),
                Format::Image(Picture::Bmp),
                Format::Image(Picture::Webp),
            ],
        }
    }
}

/// The documents that a word such as `pdf`, `sheet` or `docx` means. Where a type and a format have the same word, it
/// means the type: `markdown` is all text with headings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentKind {
    /// Those of a type.
    Type(DocType),
    /// Those in a format of a group.
    Group(FormatGroup),
    /// Those in a format.
    Format(Format),
}

impl DocumentKind {
    /// Returns all of them: types, groups, then formats.
    pub fn all() -> impl Iterator<Item = Self> {
        let formats = Format::all().filter(|format| format.as_str().parse::<DocType>().is_err());
        let types = DocType::ALL.into_iter().map(Self::Type);
        types.chain(FormatGroup::ALL.into_iter().map(Self::Group)).chain(formats.map(Self::Format))
    }

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Type(doc_type) => doc_type.as_str(),
            Self::Group(group) => group.as_str(),
            Self::Format(format) => format.as_str(),
        }
    }

    /// Returns the programming language that it is; lists of all words leave these out.
    pub fn language(self) -> Option<Language> {
        match self {
            Self::Format(format) => format.language(),
            Self::Type(_) | Self::Group(_) => None,
        }
    }

    /// Returns the type of all its documents.
    pub fn doc_type(self) -> DocType {
        match self {
            Self::Type(doc_type) => doc_type,
            Self::Group(group) => group.formats()[0].doc_type(),
            Self::Format(format) => format.doc_type(),
        }
    }

    /// Returns the words of its formats, as in `metadata.format`; none if it is all documents of its type.
    pub fn format_words(self) -> Vec<&'static str> {
        match self {
            Self::Type(_) => Vec::new(),
            Self::Group(group) => group.formats().iter().map(|format| format.as_str()).collect(),
            Self::Format(format) => vec![format.as_str()],
        }
    }

    /// Whether a document is one of these; `format` is its `metadata.format`.
    pub fn includes(self, doc_type: DocType, format: &str) -> bool {
        let words = self.format_words();
        self.doc_type() == doc_type && (words.is_empty() || words.contains(&format))
    }
}

impl fmt::Display for DocumentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for DocumentKind {
    type Err = UnknownName;

    fn from_str(given: &str) -> Result<Self, UnknownName> {
        Self::all().find(|kind| kind.as_str() == given).ok_or_else(|| UnknownName {
            given: given.to_owned(),
            known: Self::all().filter(|kind| kind.language().is_none()).map(Self::as_str).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[track_caller]
    fn check(word: &str, doc_type: DocType, formats: &[&str]) {
        let kind: DocumentKind = word.parse().unwrap();
        assert_eq!((kind.doc_type(), kind.format_words().as_slice()), (doc_type, formats));
    }

    #[test]
    fn a_word_means_a_type_a_group_or_a_format() {
        check("pdf", DocType::Pdf, &[]);
        check("markdown", DocType::Markdown, &[]);
        check("note", DocType::Note, &[]);
        check("mail", DocType::Markdown, &["eml", "msg", "mbox"]);
        check("sheet", DocType::Markdown, &["xlsx", "ods", "spreadsheetml", "csv", "tsv"]);
        check("image", DocType::Pdf, &["png", "jpeg", "tiff", "bmp", "webp"]);
        check("docx", DocType::Markdown, &["docx"]);
        check("text", DocType::Markdown, &["text"]);
        check("rust", DocType::Code, &["rust"]);
    }

    #[test]
    fn every_word_has_one_meaning_and_is_read_back() {
        let words: Vec<&str> = DocumentKind::all().map(DocumentKind::as_str).collect();
        assert_eq!(words.iter().collect::<HashSet<_>>().len(), words.len());
        for kind in DocumentKind::all() {
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        let every_format = Format::all().all(|format| words.contains(&format.as_str()));
        assert!(every_format, "each word that is shown can be given");
    }

    #[test]
    fn the_formats_of_a_group_have_one_type() {
        for group in FormatGroup::ALL {
            let doc_type = DocumentKind::Group(group).doc_type();
            assert!(group.formats().iter().all(|format| format.doc_type() == doc_type), "{group}");
        }
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_known_ones_but_not_every_programming_language() {
        let refused = "xls".parse::<DocumentKind>().unwrap_err();
        assert!(refused.known.starts_with(&["pdf", "markdown", "code", "note", "mail"]));
        assert!(refused.known.contains(&"docx") && !refused.known.contains(&"rust"));
    }

    #[test]
    fn a_document_is_one_of_a_kind_by_its_type_and_its_format() {
        let includes = |word: &str, doc_type, format| {
            word.parse::<DocumentKind>().unwrap().includes(doc_type, format)
        };
        assert!(includes("mail", DocType::Markdown, "eml"));
        assert!(!includes("mail", DocType::Markdown, "docx"));
        assert!(includes("markdown", DocType::Markdown, "docx"));
        assert!(includes("pdf", DocType::Pdf, "png") && !includes("image", DocType::Pdf, "pdf"));
        assert!(!includes("eml", DocType::Note, "eml"), "a note may have any format");
    }
}
