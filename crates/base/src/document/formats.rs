//! Lists all formats of files, with their words, and what each becomes.

use std::fmt;
use std::str::FromStr;

use super::Language;
use super::data::Data;
use super::kinds::{DocType, UnknownName, named};

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

named!(Dialect, Dialect::ALL);

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
