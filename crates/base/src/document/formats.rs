//! Lists all formats of files: one row for each, with its word, its extensions, and what its bytes look like.

use std::fmt;
use std::str::FromStr;

use super::Language;
use super::kinds::{DocType, UnknownName, named};

/// The properties of a format that are known without reading a file.
#[derive(Debug, Clone, Copy)]
struct FormatRow {
    /// The word stored as `metadata.format`.
    word: &'static str,
    /// Its usual extensions in lower case, which help texts show.
    extensions: &'static [&'static str],
    /// Its other extensions.
    further_extensions: &'static [&'static str],
    /// The content by which its files are recognised.
    content: FormatContent,
}

impl FormatRow {
    const fn new(word: &'static str, extensions: &'static [&'static str]) -> Self {
        Self { word, extensions, further_extensions: &[], content: FormatContent::Text }
    }

    const fn further(self, further_extensions: &'static [&'static str]) -> Self {
        Self { further_extensions, ..self }
    }

    const fn content(self, content: FormatContent) -> Self {
        Self { content, ..self }
    }
}

/// The content by which the files of a format are recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormatContent {
    /// Any text.
    Text,
    /// Text that does not look like another format.
    PlainText,
    /// Bytes that reveal the format.
    Marked,
    /// XML, whose root reveals the format, perhaps beyond the first bytes.
    Xml,
    /// A ZIP archive whose entries reveal the format, perhaps beyond the first bytes.
    Archive,
}

/// Defines groups of formats, each as an enum whose rows are in this table alone.
macro_rules! formats {
    ($(
        $(#[$group_doc:meta])*
        $group:ident {
            $($(#[$doc:meta])* $name:ident = $row:expr;)*
        }
    )*) => {$(
        $(#[$group_doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $group {
            $($(#[$doc])* $name,)*
        }

        impl $group {
            /// All of them, in the order in which help texts show their extensions.
            pub const ALL: [Self; [$(stringify!($name),)*].len()] = [$(Self::$name,)*];

            fn row(self) -> FormatRow {
                match self {
                    $(Self::$name => $row,)*
                }
            }

            /// Returns the word stored as `metadata.format`.
            pub fn as_str(self) -> &'static str {
                self.row().word
            }
        }

        named!($group);
    )*};
}

formats! {
    /// The formats that a reader of the child turns into headings, paragraphs and tables: documents of office
    /// programs, books, web pages and e-mail. The name of the reader is the word of the format.
    Headed {
        /// Office Open XML text, from word processors.
        Docx = FormatRow::new("docx", &["docx"]).further(&["docm", "dotx"]).content(FormatContent::Archive);
        /// An Office Open XML presentation.
        Pptx = FormatRow::new("pptx", &["pptx"])
            .further(&["pptm", "ppsx", "potx"])
            .content(FormatContent::Archive);
        /// An Office Open XML spreadsheet.
        Xlsx = FormatRow::new("xlsx", &["xlsx"]).further(&["xlsm", "xltx"]).content(FormatContent::Archive);
        /// An `OpenDocument` text.
        Odt = FormatRow::new("odt", &["odt"]).further(&["ott", "fodt"]).content(FormatContent::Archive);
        /// An `OpenDocument` presentation.
        Odp = FormatRow::new("odp", &["odp"]).further(&["otp", "fodp"]).content(FormatContent::Archive);
        /// An `OpenDocument` spreadsheet.
        Ods = FormatRow::new("ods", &["ods"]).further(&["ots", "fods"]).content(FormatContent::Archive);
        /// A spreadsheet as XML, as Excel 2003 and many web sites write it. Its name is that of another format.
        SpreadsheetXml = FormatRow::new("spreadsheetml", &[]).content(FormatContent::Xml);
        /// Rich Text Format.
        Rtf = FormatRow::new("rtf", &["rtf"]).content(FormatContent::Marked);
        /// A book: web pages in a ZIP archive.
        Epub = FormatRow::new("epub", &["epub"]).content(FormatContent::Archive);
        /// A book in `FictionBook` 2.
        Fb2 = FormatRow::new("fb2", &["fb2"]).content(FormatContent::Xml);
        /// A web page.
        Html = FormatRow::new("html", &["html", "htm"]);
        /// A saved web page.
        Mhtml = FormatRow::new("mhtml", &["mhtml"]).further(&["mht"]).content(FormatContent::PlainText);
        /// An e-mail.
        Eml = FormatRow::new("eml", &["eml"]).further(&["emlx"]).content(FormatContent::PlainText);
        /// An item of Outlook: an e-mail, an appointment, a contact.
        Msg = FormatRow::new("msg", &["msg"]).content(FormatContent::Marked);
        /// A mailbox: e-mails in one file.
        Mbox = FormatRow::new("mbox", &["mbox"]).content(FormatContent::PlainText);
        /// Notes that Evernote has exported.
        Enex = FormatRow::new("enex", &["enex"]).content(FormatContent::Xml);
        /// A calendar: events, tasks and journals of iCalendar.
        Calendar = FormatRow::new("ics", &["ics"]).further(&["ical", "ifb", "vcs"]).content(FormatContent::PlainText);
        /// Contacts: cards of vCard.
        Contacts = FormatRow::new("vcf", &["vcf"]).further(&["vcard"]).content(FormatContent::PlainText);
        /// A topic or a map of DITA, of technical manuals.
        Dita = FormatRow::new("dita", &["dita"]).further(&["ditamap"]).content(FormatContent::Xml);
        /// Diagrams of draw.io.
        Drawio = FormatRow::new("drawio", &["drawio"]).further(&["dio"]).content(FormatContent::Xml);
    }

    /// The markup languages that become headed text, and tables.
    Dialect {
        /// reStructuredText.
        Rst = FormatRow::new("rst", &["rst"]).further(&["rest"]);
        /// AsciiDoc.
        AsciiDoc = FormatRow::new("asciidoc", &["adoc"]).further(&["asciidoc"]);
        /// Org, of Emacs.
        Org = FormatRow::new("org", &["org"]);
        /// LaTeX.
        Latex = FormatRow::new("latex", &["tex"]).further(&["ltx"]);
        /// Typst.
        Typst = FormatRow::new("typst", &["typ"]);
        /// Textile, of wikis and trackers.
        Textile = FormatRow::new("textile", &["textile"]);
        /// Plain Old Documentation, of Perl.
        Pod = FormatRow::new("pod", &["pod"]);
        /// Manual pages, with the macros man or mdoc.
        Man = FormatRow::new("man", &["man"]);
        /// Subtitles: SubRip and WebVTT.
        Subtitles = FormatRow::new("subtitles", &["vtt", "srt"]);
        /// References of BibTeX and BibLaTeX.
        Bibtex = FormatRow::new("bibtex", &["bib"]);
        /// References as RIS, or as `PubMed` exports them.
        Ris = FormatRow::new("ris", &["ris"]).further(&["nbib"]);
        /// A canvas: cards and arrows on a board, as Obsidian has them.
        Canvas = FormatRow::new("canvas", &["canvas"]);
        /// A table with values separated by commas or semicolons.
        Csv = FormatRow::new("csv", &["csv"]);
        /// A table with values separated by tabs.
        Tsv = FormatRow::new("tsv", &["tsv"]);
    }

    /// The kinds of text that programs write for programs; read as the file has them.
    Data {
        /// JSON, perhaps with comments.
        Json = FormatRow::new("json", &["json"]).further(&["jsonc", "json5", "geojson"]);
        /// One JSON value per line.
        JsonLines = FormatRow::new("jsonl", &["jsonl"]).further(&["ndjson"]);
        /// YAML.
        Yaml = FormatRow::new("yaml", &["yaml"]).further(&["yml"]);
        /// TOML.
        Toml = FormatRow::new("toml", &["toml"]);
        /// XML.
        Xml = FormatRow::new("xml", &["xml"]).further(&[
            "xsd", "xsl", "xslt", "wsdl", "rss", "atom", "opml", "docbook", "dbk", "nxml",
        ]);
        /// A log.
        Log = FormatRow::new("log", &["log"]);
    }

    /// The kinds of image file.
    Picture {
        /// Portable Network Graphics.
        Png = FormatRow::new("png", &["png"]).content(FormatContent::Marked);
        /// JPEG.
        Jpeg = FormatRow::new("jpeg", &["jpg", "jpeg"]).content(FormatContent::Marked);
        /// TIFF, with any number of pages.
        Tiff = FormatRow::new("tiff", &["tiff"]).further(&["tif"]).content(FormatContent::Marked);
        /// Windows bitmap.
        Bmp = FormatRow::new("bmp", &["bmp"]).content(FormatContent::Marked);
        /// WebP.
        Webp = FormatRow::new("webp", &["webp"]).content(FormatContent::Marked);
    }
}

impl Headed {
    /// Whether the first heading of a document may be its title; not that of a sheet or a message.
    pub fn has_title(self) -> bool {
        !matches!(
            self,
            Self::Xlsx
                | Self::Ods
                | Self::SpreadsheetXml
                | Self::Mbox
                | Self::Enex
                | Self::Calendar
                | Self::Contacts
        )
    }
}

/// The format of a file; decided once, by `extract::detect`.
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
    /// A Jupyter notebook.
    Notebook,
    /// Source code.
    Code(Language),
    /// A document with headings, from a program or the web.
    Headed(Headed),
    /// A picture, read by OCR.
    Image(Picture),
    /// Text in another markup language than Markdown.
    Dialect(Dialect),
    /// Text for programs.
    Data(Data),
}

impl Format {
    fn row(self) -> FormatRow {
        match self {
            Self::Pdf => FormatRow::new("pdf", &["pdf"]).content(FormatContent::Marked),
            Self::Markdown => FormatRow::new("markdown", &["md", "markdown"])
                .further(&["mdx", "qmd", "rmd", "rmarkdown"]),
            Self::Text => FormatRow::new("text", &["txt"]).further(&["wiki", "mediawiki"]),
            Self::Note => FormatRow::new("note", &[]),
            Self::Notebook => FormatRow::new("notebook", &["ipynb"]),
            Self::Code(language) => {
                FormatRow::new(language.as_str(), &[]).further(language.extensions())
            }
            Self::Headed(headed) => headed.row(),
            Self::Image(picture) => picture.row(),
            Self::Dialect(dialect) => dialect.row(),
            Self::Data(data) => data.row(),
        }
    }

    /// Returns all formats, in the order in which help texts show their extensions.
    pub fn all() -> impl Iterator<Item = Self> {
        [Self::Pdf]
            .into_iter()
            .chain(Headed::ALL.map(Self::Headed))
            .chain([Self::Notebook, Self::Markdown, Self::Text, Self::Note])
            .chain(Dialect::ALL.map(Self::Dialect))
            .chain(Data::ALL.map(Self::Data))
            .chain(Language::ALL.map(Self::Code))
            .chain(Picture::ALL.map(Self::Image))
    }

    /// Returns the format with this word in [`Format::as_str`]; plain text for one that an earlier kb had.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        let is_former = word == "mediawiki";
        Self::all().find(|format| format.as_str() == word).or(is_former.then_some(Self::Text))
    }

    /// Returns the format of files with this extension, given in lower case.
    #[must_use]
    pub fn with_extension(extension: &str) -> Option<Self> {
        Self::all().find(|format| {
            let row = format.row();
            row.extensions.contains(&extension) || row.further_extensions.contains(&extension)
        })
    }

    /// Returns the word stored as `metadata.format`.
    pub fn as_str(self) -> &'static str {
        self.row().word
    }

    /// Returns the extensions that help texts show; none for source code.
    pub fn usual_extensions(self) -> &'static [&'static str] {
        self.row().extensions
    }

    /// Returns all its extensions, in lower case.
    pub fn extensions(self) -> impl Iterator<Item = &'static str> {
        let row = self.row();
        row.extensions.iter().chain(row.further_extensions).copied()
    }

    /// Returns what the bytes of its files look like.
    pub fn content(self) -> FormatContent {
        self.row().content
    }

    /// Returns the type of documents in this format.
    pub fn doc_type(self) -> DocType {
        match self {
            Self::Pdf | Self::Image(_) => DocType::Pdf,
            Self::Note => DocType::Note,
            Self::Code(_) => DocType::Code,
            _ => DocType::Markdown,
        }
    }

    /// Returns how the text of its documents is written.
    pub fn markup(self) -> Markup {
        match self {
            Self::Pdf | Self::Image(_) => Markup::Blocks,
            Self::Text => Markup::Verbatim,
            Self::Code(_) | Self::Data(_) => Markup::Source,
            _ => Markup::Markdown,
        }
    }

    /// Whether its files are much longer than their text: compressed, or full of pictures and markup.
    pub fn is_bulky(self) -> bool {
        match self {
            Self::Pdf | Self::Notebook => true,
            Self::Headed(headed) => {
                !matches!(headed, Headed::Eml | Headed::Mbox | Headed::Calendar | Headed::Contacts)
            }
            _ => false,
        }
    }

    /// Returns the programming language; `None` for anything but code.
    pub fn language(self) -> Option<Language> {
        match self {
            Self::Code(language) => Some(language),
            _ => None,
        }
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

/// The kinds of file that are nothing but other files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContainerKind {
    /// A ZIP archive.
    Zip,
    /// A mailbox, whose files are its messages.
    Mbox,
    /// An export of Evernote, whose files are its notes.
    Enex,
    /// An export of chats, whose files are its conversations.
    Chats,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_and_each_extension_has_one_format() {
        for format in Format::all() {
            assert_eq!(Format::named(format.as_str()), Some(format));
            let row = format.row();
            for extension in row.extensions.iter().chain(row.further_extensions) {
                assert_eq!(Format::with_extension(extension), Some(format), "{extension}");
            }
        }
        assert_eq!(Format::named("zip"), None);
        assert_eq!(Format::with_extension("doc"), None);
    }
}
