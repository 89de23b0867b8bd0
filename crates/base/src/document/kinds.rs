//! Lists all types, formats and precisions, with their words.

use std::fmt;
use std::str::FromStr;

use crate::text::fields;

use super::Language;
use super::data::Data;

/// The four types of documents in the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DocType {
    /// Documents with pages, and images read by OCR.
    Pdf,
    /// Text with headings: Markdown, other markup, plain text, HTML, DOCX, EPUB, notebooks, office documents, data.
    Markdown,
    /// Source code of a known [`Language`].
    Code,
    /// A short text that is one chunk if the model can read all of it.
    Note,
}

impl DocType {
    /// All types, in the order `kb status` lists them.
    pub const ALL: [Self; 4] = [Self::Pdf, Self::Markdown, Self::Code, Self::Note];

    /// Returns the word used in the database, in JSON and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Markdown => "markdown",
            Self::Code => "code",
            Self::Note => "note",
        }
    }
}

fields::words!(DocType);

/// The format of a file; decided once, by `ingest::detect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Portable Document Format.
    Pdf,
    /// CommonMark with the usual extensions.
    Markdown,
    /// Plain text: paragraphs without headings.
    Text,
    /// A note: one chunk if it fits.
    Note,
    /// Source code.
    Code(Language),
    /// A web page.
    Html,
    /// Office Open XML text, from word processors.
    Docx,
    /// A book: web pages in a ZIP archive.
    Epub,
    /// A Jupyter notebook.
    Notebook,
    /// A document of an office program, a book, a saved page, or e-mail.
    Office(Office),
    /// A picture, read by OCR.
    Image(Picture),
    /// Text in another markup language than Markdown.
    Dialect(Dialect),
    /// Text for programs.
    Data(Data),
}

/// The markup languages that become headed text, and tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// reStructuredText.
    Rst,
    /// AsciiDoc.
    AsciiDoc,
    /// Org, of Emacs.
    Org,
    /// LaTeX.
    Latex,
    /// Manual pages, with the macros man or mdoc.
    Man,
    /// The markup of MediaWiki.
    Wiki,
    /// Subtitles: SubRip and WebVTT.
    Subtitles,
    /// A table with values separated by commas or semicolons.
    Csv,
    /// A table with values separated by tabs.
    Tsv,
}

impl Dialect {
    /// All markup languages.
    pub const ALL: [Self; 9] = [
        Self::Rst,
        Self::AsciiDoc,
        Self::Org,
        Self::Latex,
        Self::Man,
        Self::Wiki,
        Self::Subtitles,
        Self::Csv,
        Self::Tsv,
    ];

    /// Returns the word stored as `metadata.format`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rst => "rst",
            Self::AsciiDoc => "asciidoc",
            Self::Org => "org",
            Self::Latex => "latex",
            Self::Man => "man",
            Self::Wiki => "mediawiki",
            Self::Subtitles => "subtitles",
            Self::Csv => "csv",
            Self::Tsv => "tsv",
        }
    }
}

/// The kinds of file that contain other files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// A ZIP archive: nothing but its files is indexed.
    Zip,
    /// An e-mail: its text is indexed, and its attachments.
    Eml,
    /// A mailbox: nothing but its messages is indexed.
    Mbox,
}

impl Container {
    /// Whether the file is also a document.
    pub fn is_document(self) -> bool {
        self == Self::Eml
    }
}

/// The kinds of office document, book and e-mail that become headed text, besides DOCX and EPUB.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Office {
    /// An Office Open XML presentation.
    Pptx,
    /// An Office Open XML spreadsheet.
    Xlsx,
    /// An `OpenDocument` text.
    Odt,
    /// An `OpenDocument` presentation.
    Odp,
    /// An `OpenDocument` spreadsheet.
    Ods,
    /// Rich Text Format.
    Rtf,
    /// A book in `FictionBook` 2.
    Fb2,
    /// A saved web page.
    Mhtml,
    /// An e-mail.
    Eml,
    /// A mailbox: e-mails in one file.
    Mbox,
}

impl Office {
    /// All kinds.
    pub const ALL: [Self; 10] = [
        Self::Pptx,
        Self::Xlsx,
        Self::Odt,
        Self::Odp,
        Self::Ods,
        Self::Rtf,
        Self::Fb2,
        Self::Mhtml,
        Self::Eml,
        Self::Mbox,
    ];

    /// Returns the word stored as `metadata.format`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pptx => "pptx",
            Self::Xlsx => "xlsx",
            Self::Odt => "odt",
            Self::Odp => "odp",
            Self::Ods => "ods",
            Self::Rtf => "rtf",
            Self::Fb2 => "fb2",
            Self::Mhtml => "mhtml",
            Self::Eml => "eml",
            Self::Mbox => "mbox",
        }
    }

    /// Whether a file of this kind is a ZIP archive.
    pub fn is_archive(self) -> bool {
        !matches!(self, Self::Rtf | Self::Fb2 | Self::Mhtml | Self::Eml | Self::Mbox)
    }
}

/// How the text of a document is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Markup {
    /// As Markdown, with the marks of headings, tables and lists.
    Markdown,
    /// As blocks without marks, except that tables are Markdown.
    Blocks,
    /// As the file has it, without structure.
    Verbatim,
    /// As source code or data.
    Source,
}

/// The kinds of image file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Picture {
    /// Portable Network Graphics.
    Png,
    /// JPEG.
    Jpeg,
    /// TIFF, with any number of pages.
    Tiff,
    /// Windows bitmap.
    Bmp,
    /// WebP.
    Webp,
}

impl Picture {
    /// All kinds of image.
    pub const ALL: [Self; 5] = [Self::Png, Self::Jpeg, Self::Tiff, Self::Bmp, Self::Webp];

    /// Returns the word stored as `metadata.format`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::Tiff => "tiff",
            Self::Bmp => "bmp",
            Self::Webp => "webp",
        }
    }
}

impl Format {
    /// Returns the type of documents in this format.
    pub fn doc_type(self) -> DocType {
        match self {
            Self::Pdf | Self::Image(_) => DocType::Pdf,
            Self::Markdown
            | Self::Text
            | Self::Html
            | Self::Docx
            | Self::Epub
            | Self::Notebook
            | Self::Dialect(_)
            | Self::Data(_)
            | Self::Office(_) => DocType::Markdown,
            Self::Note => DocType::Note,
            Self::Code(_) => DocType::Code,
        }
    }

    /// Returns how the text of its documents is written.
    pub fn markup(self) -> Markup {
        match self {
            Self::Pdf | Self::Image(_) => Markup::Blocks,
            Self::Markdown
            | Self::Note
            | Self::Html
            | Self::Docx
            | Self::Epub
            | Self::Notebook
            | Self::Dialect(_)
            | Self::Office(_) => Markup::Markdown,
            Self::Text => Markup::Verbatim,
            Self::Code(_) | Self::Data(_) => Markup::Source,
        }
    }

    /// Returns the programming language; `None` for anything but code.
    pub fn language(self) -> Option<Language> {
        match self {
            Self::Code(language) => Some(language),
            _ => None,
        }
    }

    /// Returns the word stored as `metadata.format`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Markdown => "markdown",
            Self::Text => "text",
            Self::Note => "note",
            Self::Code(language) => language.as_str(),
            Self::Html => "html",
            Self::Docx => "docx",
            Self::Epub => "epub",
            Self::Notebook => "notebook",
            Self::Office(office) => office.as_str(),
            Self::Image(picture) => picture.as_str(),
            Self::Dialect(dialect) => dialect.as_str(),
            Self::Data(data) => data.as_str(),
        }
    }

    /// Returns the format with this word in [`Format::as_str`].
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        const PLAIN: [Format; 8] = [
            Format::Pdf,
            Format::Markdown,
            Format::Text,
            Format::Note,
            Format::Html,
            Format::Docx,
            Format::Epub,
            Format::Notebook,
        ];
        let code = Language::ALL.into_iter().map(Self::Code);
        let pictures = Picture::ALL.into_iter().map(Self::Image);
        let dialects = Dialect::ALL.into_iter().map(Self::Dialect);
        let office = Office::ALL.into_iter().map(Self::Office);
        let formats = PLAIN.into_iter().chain(code).chain(pictures);
        let data = Data::ALL.into_iter().map(Self::Data);
        let mut formats = formats.chain(dialects).chain(office).chain(data);
        formats.find(|format| format.as_str() == word)
    }
}

/// The numeric precision of embeddings; part of a database's [`Binding`](super::Binding).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Precision {
    /// 8-bit integer weights and activations, 32-bit accumulation.
    Int8,
    /// 32-bit floating point throughout.
    Fp32,
}

impl Precision {
    /// Returns the word used in the database and in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Int8 => "int8",
            Self::Fp32 => "fp32",
        }
    }
}

/// A word that is not one of a fixed set of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// The given word.
    pub given: String,
    /// The accepted names.
    pub known: Vec<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not one of {}", self.given, self.known.join(", "))
    }
}

impl std::error::Error for UnknownName {}

/// What became of a file that was seen and not indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileOutcome {
    /// A rule left it out.
    Ignored,
    /// It could not be read.
    Failed,
    /// It could not be read, and the user does not want to hear of it again.
    Waived,
}

impl FileOutcome {
    /// Returns the word used in the database, in JSON and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ignored => "ignored",
            Self::Failed => "failed",
            Self::Waived => "waived",
        }
    }
}

/// Implements `Display` and `FromStr` for a fieldless enum through its `as_str`.
macro_rules! named {
    ($type:ty, $all:expr) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl FromStr for $type {
            type Err = UnknownName;

            fn from_str(given: &str) -> Result<Self, UnknownName> {
                $all.into_iter().find(|value| value.as_str() == given).ok_or_else(|| UnknownName {
                    given: given.to_owned(),
                    known: $all.iter().map(|value| value.as_str()).collect(),
                })
            }
        }
    };
}

named!(DocType, DocType::ALL);
named!(Language, Language::ALL);
named!(Dialect, Dialect::ALL);
named!(Data, Data::ALL);
named!(Precision, [Precision::Int8, Precision::Fp32]);
named!(FileOutcome, [FileOutcome::Ignored, FileOutcome::Failed, FileOutcome::Waived]);
