//! Decides how a file is read, from its path and its first bytes. No other module decides this.
//!
//! The extension decides. The first bytes decide for files without an extension, and reveal files
//! that are not what their name claims. A type that the user specifies overrides both.

mod bundles;
mod content;
mod extension;
mod languages;
mod magic;
mod names;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::Path;

use crate::document::{
    ContainerKind, Data, Dialect, DocType, Format, FormatContent, Headed, Language,
};
use crate::error::{Error, FailureKind, Result};
use crate::text::decode;
use crate::text::paths::unpacked;

use content::{by_content, is_old_name};
use extension::extension;
use languages::{by_interpreter, by_mode_line, of_shared_extension};
use magic::{
    OLD_OFFICE, PDF, POSTSCRIPT, RTF, XML, ZIP, ZIP_MAGIC, is_surely_pdf, office, pdf_header,
    picture,
};
use names::{by_name, is_manual_page, is_text_name};

pub use bundles::is_bundle;
pub use magic::looks_like;
pub use names::{TextExtensions, generated};

/// How many bytes of a file [`detect`] wants to see; fewer only if the file is shorter.
pub const HEAD_BYTES: usize = decode::HEAD_BYTES;

/// How many of its last bytes may follow them, in which a line for an editor may be.
pub const TAIL_BYTES: u64 = 500;

/// The type and language given by the user; by default none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TypeOverride {
    /// `--type`.
    pub doc_type: Option<DocType>,
    /// `--language`; implies code.
    pub language: Option<Language>,
}

impl TypeOverride {
    /// Combines the two options.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for a language of anything but code.
    pub fn new(doc_type: Option<DocType>, language: Option<Language>) -> Result<Self> {
        match (doc_type, language) {
            (Some(other), Some(_)) if other != DocType::Code => Err(Error::Usage {
                message: format!("`--language` requires `--type code`, not `--type {other}`")
                    .into(),
                hint: Some("leave out one of the two".into()),
            }),
            _ => Ok(Self { doc_type, language }),
        }
    }

    /// Whether the user gave neither.
    pub fn is_open(self) -> bool {
        self == Self::default()
    }

    /// Whether a document that was read with this type and language still agrees with the user's
    /// options.
    pub fn allows(self, doc_type: DocType, language: Option<&str>) -> bool {
        self.doc_type.is_none_or(|wanted| wanted == doc_type)
            && self.language.is_none_or(|wanted| Some(wanted.as_str()) == language)
    }
}

/// Whether some format claims the name, regardless of the content.
pub fn is_claimed(path: &Path, further: &TextExtensions) -> bool {
    by_name(&unpacked(path), further).is_some() || may_be_container(path)
}

/// Whether a format claims the name, or the content decides because the name promises no single format.
pub(super) fn may_be_read(path: &Path, further: &TextExtensions) -> bool {
    is_claimed(path, further)
        || extension(&unpacked(path)).is_none_or(|extension| is_old_name(&extension))
}

/// Whether a file is an archive that may be an office document or a book, although its name does not show it. Only
/// the directory of the archive does, which is not in its first bytes.
pub(super) fn may_be_package(path: &Path, head: &[u8]) -> bool {
    let name = &*unpacked(path);
    let has_open_name = match by_name(name, &TextExtensions::NONE) {
        Some(format) => is_document(format) && format.content() != FormatContent::Archive,
        None => {
            extension(name).is_none_or(|extension| extension == "zip" || is_old_name(&extension))
        }
    };
    head.starts_with(ZIP_MAGIC) && has_open_name
}

/// Whether files with the names of this format are read as what they hold: documents of office programs, books and
/// mail. A web page is a text, for which its name decides.
fn is_document(format: Format) -> bool {
    matches!(format, Format::Headed(_)) && format.content() != FormatContent::Text
}

/// Whether a file is a single one that was compressed, by its name and its first bytes.
pub fn is_compressed(path: &Path, head: &[u8]) -> bool {
    matches!(unpacked(path), Cow::Owned(_)) && magic::is_compressed(head)
}

/// Whether a file may be a container, by its name alone.
pub fn may_be_container(path: &Path) -> bool {
    names::container(path).is_some()
}

/// Returns the kind of container of a file, by its name and its first bytes; `None` for a file that
/// contains no others.
pub fn container(path: &Path, head: &[u8]) -> Option<ContainerKind> {
    match names::container(path)? {
        ContainerKind::Zip if !head.starts_with(ZIP_MAGIC) => None,
        ContainerKind::Mbox | ContainerKind::Enex if decode::is_binary(head) => None,
        ContainerKind::Chats if !content::is_list_of_chats(head) => None,
        container => Some(container),
    }
}

/// The kind of a file without an extension.
pub const NO_EXTENSION: &str = "no extension";

/// Returns the kind of a file for people, by its name: `.dat`, `.min.js`, [`NO_EXTENSION`].
pub fn kind(path: &Path) -> String {
    generated(path)
        .map(str::to_owned)
        .or_else(|| extension(path).map(|extension| format!(".{extension}")))
        .unwrap_or_else(|| NO_EXTENSION.into())
}

/// Decides how a file is read from its name and its first [`HEAD_BYTES`] bytes; `None` for a file
/// to ignore, which is only possible if the user did not name it. The bytes of a compressed file are those of
/// its content, and the name is what it is without `.gz`.
///
/// # Errors
///
/// [`Error::EmptyFile`], [`Error::UnsupportedFormat`], [`Error::Usage`] for code in an unknown language, and
/// [`Error::Extract`] for bytes that are not what their name claims.
pub fn detect(
    path: &Path,
    head: &[u8],
    is_named: bool,
    wanted: TypeOverride,
    further: &TextExtensions,
) -> Result<Option<Format>> {
    let name = &*unpacked(path);
    // A program may have the name of a text: `install`.
    let claimed = by_name(name, further).filter(|_| {
        !is_text_name(name) || !decode::is_binary(head) && by_interpreter(head).is_none()
    });
    if head.is_empty() {
        // Empty `__init__.py` files are common; an empty PDF is a failed download.
        return if is_named || claimed == Some(Format::Pdf) {
            Err(Error::EmptyFile { path: path.to_owned() })
        } else {
            Ok(None)
        };
    }
    let Some(format) = wanted_format(name, head, claimed, wanted) else {
        return match (is_named, wanted.doc_type) {
            (false, _) => Ok(None),
            (true, Some(DocType::Code)) => Err(no_language(path)),
            (true, _) => Err(Error::UnsupportedFormat {
                path: path.to_owned(),
                found: looks_like(head).map(Into::into),
                is_text: mismatch(head, Format::Text).is_none(),
            }),
        };
    };
    let format = match (format, picture(head)) {
        // The bytes of a picture decide its kind, whatever its extension is.
        (Format::Image(_), Some(picture)) => Format::Image(picture),
        (format, _) if is_document(format) => held_by(head, format),
        // Some documents are saved under the name of XML.
        (Format::Data(Data::Xml), _) => {
            by_content(head).filter(|found| found.content() == FormatContent::Xml).unwrap_or(format)
        }
        // Some languages share an extension.
        (Format::Code(language), _) if wanted.language.is_none() => {
            Format::Code(of_shared_extension(name, head, language))
        }
        (format, _) => format,
    };
    match mismatch(head, format) {
        None => Ok(Some(format)),
        // With `kb add DIRECTORY --type note`, not every file in the directory has to be a note.
        Some(_) if !is_named && claimed != Some(format) => Ok(None),
        Some(error) => Err(error),
    }
}

/// Returns the format of the content of a file with the name of a document. Archives are recognised by their
/// directory, which only the reader sees.
fn held_by(head: &[u8], claimed: Format) -> Format {
    let is_mail = matches!(claimed, Format::Headed(Headed::Eml | Headed::Mbox | Headed::Mhtml));
    match by_content(head) {
        // The head of a message may begin with any field.
        Some(Format::Text | Format::Dialect(_) | Format::Headed(Headed::Eml | Headed::Mhtml))
            if is_mail =>
        {
            claimed
        }
        // The root may say nothing, or be beyond the first bytes.
        Some(Format::Data(Data::Xml) | Format::Text)
            if claimed.content() == FormatContent::Xml
                && head.trim_ascii_start().starts_with(b"<") =>
        {
            claimed
        }
        found => found.unwrap_or(claimed),
    }
}

/// Decides how a document without a file is read: text that nothing else explains is Markdown.
/// `path` stands for it in errors.
///
/// # Errors
///
/// Those of [`detect`].
pub fn detect_nameless(path: &Path, bytes: &[u8], wanted: TypeOverride) -> Result<Format> {
    let text = TypeOverride { doc_type: Some(DocType::Markdown), language: None };
    let format = match detect(path, bytes, true, wanted, &TextExtensions::NONE) {
        Err(Error::UnsupportedFormat { .. }) => {
            detect(path, bytes, true, text, &TextExtensions::NONE)?
        }
        other => other?,
    };
    format.ok_or_else(|| Error::EmptyFile { path: path.to_owned() })
}

/// Returns the format from the user's options, else from the name, else from the content.
fn wanted_format(
    path: &Path,
    head: &[u8],
    claimed: Option<Format>,
    wanted: TypeOverride,
) -> Option<Format> {
    if let Some(language) = wanted.language {
        return Some(Format::Code(language));
    }
    // HTML already has the type `markdown`, and a picture the type `pdf`.
    if let (Some(claimed), Some(doc_type)) = (claimed.filter(is_derived), wanted.doc_type)
        && claimed.doc_type() == doc_type
    {
        return Some(claimed);
    }
    match wanted.doc_type {
        Some(DocType::Pdf) => picture(head).map(Format::Image).or(Some(Format::Pdf)),
        Some(DocType::Markdown) if is_manual_page(path, head) => {
            Some(Format::Dialect(Dialect::Man))
        }
        Some(DocType::Markdown) => Some(Format::Markdown),
        Some(DocType::Note) => Some(Format::Note),
        Some(DocType::Code) => {
            let language = claimed
                .and_then(Format::language)
                .or_else(|| by_interpreter(head))
                .or_else(|| by_mode_line(head)?.language());
            language.map(Format::Code)
        }
        None => claimed.or_else(|| match extension(path).as_deref() {
            _ if is_surely_pdf(head) => Some(Format::Pdf),
            _ if is_manual_page(path, head) => Some(Format::Dialect(Dialect::Man)),
            None => by_interpreter(head)
                .map(Format::Code)
                .or_else(|| office(head))
                .or_else(|| by_mode_line(head)),
            Some(extension) if is_old_name(extension) => by_content(head),
            Some(_) if generated(path).is_some() => None,
            Some(_) => by_mode_line(head),
        }),
    }
}

/// Whether a format has a type of another format.
fn is_derived(format: &Format) -> bool {
    !matches!(
        format,
        Format::Pdf | Format::Markdown | Format::Text | Format::Note | Format::Code(_)
    )
}

fn no_language(path: &Path) -> Error {
    let known: Vec<&str> = Language::ALL.iter().map(|language| language.as_str()).collect();
    Error::Usage {
        message: format!("the language of {} is not known", path.display()).into(),
        hint: Some(format!("name it: `--language {}`", known.join("|")).into()),
    }
}

/// Returns why bytes cannot be in a format; `None` if they can.
fn mismatch(head: &[u8], format: Format) -> Option<Error> {
    let looks = looks_like(head);
    let is_binary = decode::is_binary(head);
    let failure = match (format, format.content(), looks) {
        (Format::Pdf, _, _) if pdf_header(head).is_some() => return None,
        // Binary data without a header may be a damaged PDF; the PDF reader decides.
        (Format::Pdf, _, None) if is_binary => return None,
        (Format::Image(_), _, _) if picture(head).is_some() => return None,
        (format, _, _) if is_document(format) && by_content(head) == Some(format) => return None,
        // An encrypted document has the container of an old one; the reader reports it.
        (Format::Headed(Headed::Docx | Headed::Pptx | Headed::Xlsx), _, Some(OLD_OFFICE)) => {
            return None;
        }
        // Whether it is of Outlook, its directory says, which only the reader sees.
        (Format::Headed(Headed::Msg), _, Some(OLD_OFFICE)) => return None,
        // The names of the entries may be beyond the first bytes.
        (_, FormatContent::Archive, Some(ZIP)) => return None,
        (_, FormatContent::Xml, Some(XML)) => return None,
        (_, FormatContent::PlainText | FormatContent::Xml, None) if !is_binary => return None,
        (_, FormatContent::Text, Some(PDF | RTF | POSTSCRIPT)) => FailureKind::WrongFormat,
        (_, FormatContent::Text, _) if !is_binary => return None,
        (_, FormatContent::Text, None) => FailureKind::NotText,
        (_, _, _) => FailureKind::WrongFormat,
    };
    let detail = match (failure, looks) {
        (FailureKind::NotText, _) => String::new(),
        (_, looks) => format!("it looks like {}", looks.unwrap_or("plain text")),
    };
    Some(Error::Extract { failure, detail })
}
