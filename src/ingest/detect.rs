//! Path and first bytes in, a [`Format`] out: the one place that decides how a file is read.
//!
//! The extension decides; the first bytes decide where there is none, and catch a file that is
//! not what its name says; the user's word wins over both.
//!
//! Over 400 lines, more than two fifths of them tests.

use std::path::Path;

use crate::document::{DocType, Format, Language, Picture};
use crate::error::{Error, Failure, Result};
use crate::ingest::decode;

/// How many bytes of a file [`detect`] wants to see; fewer only if the file is shorter.
pub const HEAD_BYTES: usize = decode::HEAD_BYTES;

/// Extensions in lower case and what they stand for.
const EXTENSIONS: &[(&str, Format)] = &[
    ("pdf", Format::Pdf),
    ("docx", Format::Docx),
    ("epub", Format::Epub),
    ("ipynb", Format::Notebook),
    ("html", Format::Html),
    ("htm", Format::Html),
    ("png", Format::Image(Picture::Png)),
    ("jpg", Format::Image(Picture::Jpeg)),
    ("jpeg", Format::Image(Picture::Jpeg)),
    ("tiff", Format::Image(Picture::Tiff)),
    ("tif", Format::Image(Picture::Tiff)),
    ("bmp", Format::Image(Picture::Bmp)),
    ("webp", Format::Image(Picture::Webp)),
    ("md", Format::Markdown),
    ("markdown", Format::Markdown),
    ("mdx", Format::Markdown),
    ("txt", Format::Text),
    ("py", Format::Code(Language::Python)),
    ("pyi", Format::Code(Language::Python)),
    ("sh", Format::Code(Language::Bash)),
    ("bash", Format::Code(Language::Bash)),
    ("go", Format::Code(Language::Go)),
    ("js", Format::Code(Language::JavaScript)),
    ("mjs", Format::Code(Language::JavaScript)),
    ("cjs", Format::Code(Language::JavaScript)),
    ("jsx", Format::Code(Language::JavaScript)),
    ("ts", Format::Code(Language::TypeScript)),
    ("mts", Format::Code(Language::TypeScript)),
    ("cts", Format::Code(Language::TypeScript)),
    ("tsx", Format::Code(Language::TypeScript)),
    ("rs", Format::Code(Language::Rust)),
    ("c", Format::Code(Language::C)),
    ("h", Format::Code(Language::C)),
    ("cc", Format::Code(Language::Cpp)),
    ("cpp", Format::Code(Language::Cpp)),
    ("cxx", Format::Code(Language::Cpp)),
    ("hh", Format::Code(Language::Cpp)),
    ("hpp", Format::Code(Language::Cpp)),
    ("hxx", Format::Code(Language::Cpp)),
    ("java", Format::Code(Language::Java)),
];

/// How names end of what programs have written for programs to read.
const PACKED_ENDS: &[&str] = &[".min.js", ".min.mjs", ".min.cjs"];

/// How a line begins in a header of C++ and in none of C.
const CPP_LINES: &[&str] =
    &["namespace ", "template <", "template<", "public:", "private:", "protected:"];

/// Interpreters without their version, as a `#!` line names them.
const INTERPRETERS: &[(&str, Language)] = &[
    ("python", Language::Python),
    ("pypy", Language::Python),
    ("sh", Language::Bash),
    ("bash", Language::Bash),
    ("dash", Language::Bash),
    ("ash", Language::Bash),
    ("ksh", Language::Bash),
    ("node", Language::JavaScript),
    ("nodejs", Language::JavaScript),
    ("bun", Language::JavaScript),
    ("deno", Language::TypeScript),
];

/// Where readers of PDF look for its header (PDF 1.7, appendix H, note 13).
const PDF_HEADER_WITHIN_BYTES: usize = 1024;

/// What the user says a file is; nothing said, nothing overridden.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    /// `--type`.
    pub doc_type: Option<DocType>,
    /// `--language`; implies code.
    pub language: Option<Language>,
}

impl Wanted {
    /// Takes both options together.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for a language with a type that has none.
    pub fn new(doc_type: Option<DocType>, language: Option<Language>) -> Result<Self> {
        match (doc_type, language) {
            (Some(other), Some(_)) if other != DocType::Code => Err(Error::Usage {
                message: format!("`--language` goes with `--type code`, not `--type {other}`"),
                hint: Some("leave one of the two out".into()),
            }),
            _ => Ok(Self { doc_type, language }),
        }
    }

    /// Whether a document that was read as this is what the user says now.
    pub fn allows(self, doc_type: DocType, language: Option<&str>) -> bool {
        self.doc_type.is_none_or(|it| it == doc_type)
            && self.language.is_none_or(|it| Some(it.as_str()) == language)
    }
}

/// Whether some format claims the name, whatever is in the file.
pub fn is_claimed(path: &Path) -> bool {
    by_extension(path).is_some()
}

/// Decides how a file is read from its name and its first [`HEAD_BYTES`] bytes; `None` for what
/// is to be ignored, which only happens to files that were not named themselves.
///
/// # Errors
///
/// [`Error::UnsupportedFormat`] for a named file nothing reads, [`Error::Usage`] for named code
/// of no known language, [`Error::EmptyFile`] for a named file or a PDF without content, and
/// [`Error::Extract`] where the bytes are not what the name or the user says.
pub fn detect(path: &Path, head: &[u8], is_named: bool, wanted: Wanted) -> Result<Option<Format>> {
    let claimed = by_extension(path);
    if head.is_empty() {
        // Empty `__init__.py` files are everyday life; an empty PDF is a failed download.
        return if is_named || claimed == Some(Format::Pdf) {
            Err(Error::EmptyFile { path: path.to_owned() })
        } else {
            Ok(None)
        };
    }
    let Some(format) = wanted_format(path, head, claimed, wanted) else {
        return match (is_named, wanted.doc_type) {
            (false, _) => Ok(None),
            (true, Some(DocType::Code)) => Err(no_language(path)),
            (true, _) => Err(Error::UnsupportedFormat {
                path: path.to_owned(),
                found: looks_like(head).map(Into::into),
            }),
        };
    };
    let format = match (format, picture(head)) {
        // What a picture is is told by its bytes.
        (Format::Image(_), Some(picture)) => Format::Image(picture),
        // One extension is shared by two languages.
        (Format::Code(Language::C), _)
            if wanted.language.is_none() && is_cpp_header(path, head) =>
        {
            Format::Code(Language::Cpp)
        }
        (format, _) => format,
    };
    match mismatch(head, format) {
        None => Ok(Some(format)),
        // `kb add DIRECTORY --type note` is no promise that every file in it is one.
        Some(_) if !is_named && claimed != Some(format) => Ok(None),
        Some(error) => Err(error),
    }
}

/// What a file is by the user's word, else its name, else its content.
fn wanted_format(
    path: &Path,
    head: &[u8],
    claimed: Option<Format>,
    wanted: Wanted,
) -> Option<Format> {
    if let Some(language) = wanted.language {
        return Some(Format::Code(language));
    }
    // A page of HTML is of the type `markdown` anyway, a picture of the type `pdf`.
    let is_own = |it: &Format| {
        !matches!(
            it,
            Format::Pdf | Format::Markdown | Format::Text | Format::Note | Format::Code(_)
        )
    };
    if let (Some(claimed), Some(doc_type)) = (claimed.filter(is_own), wanted.doc_type)
        && claimed.doc_type() == doc_type
    {
        return Some(claimed);
    }
    match wanted.doc_type {
        Some(DocType::Pdf) => picture(head).map(Format::Image).or(Some(Format::Pdf)),
        Some(DocType::Markdown) => Some(Format::Markdown),
        Some(DocType::Note) => Some(Format::Note),
        Some(DocType::Code) => {
            claimed.and_then(Format::language).or_else(|| by_interpreter(head)).map(Format::Code)
        }
        None => claimed.or_else(|| {
            let by_interpreter = || by_interpreter(head).map(Format::Code);
            match extension(path) {
                _ if is_surely_pdf(head) => Some(Format::Pdf),
                None => by_interpreter(),
                Some(_) => None,
            }
        }),
    }
}

fn no_language(path: &Path) -> Error {
    let known: Vec<&str> = Language::ALL.iter().map(|it| it.as_str()).collect();
    Error::Usage {
        message: format!("the language of {} is not known", path.display()),
        hint: Some(format!("name it: `--language {}`", known.join("|"))),
    }
}

/// Why bytes cannot be what they are said to be; `None` if they can.
fn mismatch(head: &[u8], format: Format) -> Option<Error> {
    let looks = looks_like(head);
    let failure = match (format, looks) {
        (Format::Pdf, _) if pdf_header(head).is_some() => return None,
        (Format::Pdf, Some(_)) => Failure::WrongFormat,
        // Binary without a header may be a damaged PDF: its reader knows best.
        (Format::Pdf, None) if decode::is_binary(head) => return None,
        (Format::Pdf, None) => Failure::WrongFormat,
        (Format::Image(_), _) if picture(head).is_some() => return None,
        (Format::Image(_), _) => Failure::WrongFormat,
        // An encrypted one is wrapped like an old one: its reader tells.
        (Format::Docx, Some(DOCX | ZIP | OLD_OFFICE)) => return None,
        (Format::Docx, _) => Failure::WrongFormat,
        (Format::Epub, Some(EPUB | ZIP)) => return None,
        (Format::Epub, _) => Failure::WrongFormat,
        (_, Some(PDF | RTF | POSTSCRIPT)) => Failure::WrongFormat,
        _ if !decode::is_binary(head) => return None,
        (_, Some(_)) => Failure::WrongFormat,
        (_, None) => Failure::NotText,
    };
    let detail = match (failure, looks) {
        (Failure::NotText, _) => String::new(),
        (_, looks) => format!("it looks like {}", looks.unwrap_or("plain text")),
    };
    Some(Error::Extract { failure, detail })
}

/// The extension in lower case. `python3.11-config` and `notes.2024` have none.
fn extension(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let is_word = extension.starts_with(|it: char| it.is_ascii_lowercase())
        && extension.bytes().all(|it| it.is_ascii_alphanumeric());
    is_word.then_some(extension)
}

fn by_extension(path: &Path) -> Option<Format> {
    let extension = extension(path)?;
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    if PACKED_ENDS.iter().any(|it| name.ends_with(it)) {
        return None;
    }
    EXTENSIONS.iter().find(|(known, _)| *known == extension).map(|(_, format)| *format)
}

/// Whether a file named `*.h` is C++: by what is at its beginning.
fn is_cpp_header(path: &Path, head: &[u8]) -> bool {
    let is_cpp = |line: &str| {
        let line = line.trim();
        CPP_LINES.iter().any(|it| line.starts_with(it))
            || (line.starts_with("class ") && line.ends_with(['{', ';', ':']))
            // Headers of C have an extension, those of the C++ library have none.
            || (line.starts_with("#include <") && !line.contains('.'))
    };
    extension(path).as_deref() == Some("h") && String::from_utf8_lossy(head).lines().any(is_cpp)
}

/// The language of a script from its `#!` line, with or without `env`.
fn by_interpreter(head: &[u8]) -> Option<Language> {
    let line = head.strip_prefix(b"#!")?.split(|it| *it == b'\n').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let mut name = words.next()?.rsplit('/').next()?;
    if name == "env" {
        name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
        name = name.rsplit('/').next()?;
    }
    let name = name.trim_end_matches(|it: char| it.is_ascii_digit() || it == '.');
    INTERPRETERS.iter().find(|(known, _)| *known == name).map(|(_, language)| *language)
}

/// Where the PDF header is, if readers would find it.
fn pdf_header(head: &[u8]) -> Option<usize> {
    let within = &head[..head.len().min(PDF_HEADER_WITHIN_BYTES)];
    within.windows(5).position(|window| window == b"%PDF-")
}

/// Whether bytes are a PDF without a name saying so: text that only speaks of PDF is none.
fn is_surely_pdf(head: &[u8]) -> bool {
    match pdf_header(head) {
        Some(at) => head[..at].iter().all(u8::is_ascii_whitespace) || decode::is_binary(head),
        None => false,
    }
}

/// Where a format has its mark, the mark, and the words for the format. First match wins.
const MAGIC: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n", PNG),
    (0, b"\xFF\xD8\xFF", JPEG),
    (0, b"GIF8", "a GIF image"),
    (0, b"II*\0", TIFF),
    (0, b"MM\0*", TIFF),
    (8, b"WEBP", WEBP),
    (0, b"BM", BMP),
    (0, b"PK\x03\x04", ZIP),
    (0, b"PK\x05\x06", "an empty ZIP archive"),
    (0, b"\x1F\x8B", "gzip data"),
    (0, b"BZh", "bzip2 data"),
    (0, b"\xFD7zXZ\0", "xz data"),
    (0, b"\x28\xB5\x2F\xFD", "zstd data"),
    (0, b"7z\xBC\xAF\x27\x1C", "a 7z archive"),
    (0, b"\x7FELF", "an ELF program"),
    (0, b"MZ", "a Windows program"),
    (0, b"\xCF\xFA\xED\xFE", "a macOS program"),
    (0, b"\xCA\xFE\xBA\xBE", "compiled code"),
    (0, b"\0asm", "WebAssembly"),
    (0, b"SQLite format 3\0", "an SQLite database"),
    (0, b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1", OLD_OFFICE),
    (0, b"ID3", "an audio file"),
    (0, b"OggS", "an audio file"),
    (0, b"fLaC", "an audio file"),
    (4, b"ftyp", "a video"),
    (0, b"{\\rtf", RTF),
    (0, b"%!PS", POSTSCRIPT),
];

/// Documents written in plain characters that are no use as text.
const PDF: &str = "PDF";
const RTF: &str = "RTF";
const POSTSCRIPT: &str = "PostScript";

/// What a DOCX or EPUB file may look like.
const DOCX: &str = "a DOCX document";
const EPUB: &str = "an EPUB book";
const ZIP: &str = "a ZIP archive";
const OLD_OFFICE: &str = "an old Office document";

/// Pictures that OCR reads.
const PNG: &str = "a PNG image";
const JPEG: &str = "a JPEG image";
const TIFF: &str = "a TIFF image";
const BMP: &str = "a BMP image";
const WEBP: &str = "a WebP image";

/// Which picture bytes are; `None` if they are none that is read.
fn picture(head: &[u8]) -> Option<Picture> {
    Some(match looks_like(head)? {
        PNG => Picture::Png,
        JPEG => Picture::Jpeg,
        TIFF => Picture::Tiff,
        BMP => Picture::Bmp,
        WEBP => Picture::Webp,
        _ => return None,
    })
}

/// What bytes look like, in words that fit after "it looks like"; `None` for plain text and for
/// what is not known. Formats that begin with letters are only told from text by what follows.
pub fn looks_like(head: &[u8]) -> Option<&'static str> {
    if is_surely_pdf(head) {
        return Some(PDF);
    }
    let begins = |text: &str| {
        let start = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head).trim_ascii_start();
        start.get(..text.len()).is_some_and(|it| it.eq_ignore_ascii_case(text.as_bytes()))
    };
    if begins("<!doctype html") || begins("<html") {
        return Some("HTML");
    }
    if begins("<?xml") {
        return Some("XML");
    }
    let is_there = |at: usize, magic: &[u8]| head.get(at..).is_some_and(|it| it.starts_with(magic));
    match MAGIC.iter().find(|(at, magic, _)| is_there(*at, magic))?.2 {
        ZIP if head.windows(20).any(|it| it == b"application/epub+zip") => Some(EPUB),
        ZIP if head.windows(5).any(|it| it == b"word/") => Some(DOCX),
        text @ (RTF | POSTSCRIPT) => Some(text),
        other => decode::is_binary(head).then_some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG_HEAD: &[u8] = b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR";

    /// The format's name, `ignored`, or the error's code and message.
    fn outcome(name: &str, head: &[u8], is_named: bool, wanted: Wanted) -> String {
        match detect(Path::new(name), head, is_named, wanted) {
            Ok(Some(format)) => format.as_str().to_owned(),
            Ok(None) => "ignored".to_owned(),
            Err(error) => format!("{}: {error}", error.code()),
        }
    }

    #[track_caller]
    fn check(name: &str, head: &[u8], expected: &str) {
        assert_eq!(outcome(name, head, true, Wanted::default()), expected, "{name} named");
        let found = outcome(name, head, false, Wanted::default());
        let is_nothing_known = ["unsupported_format", "empty_file"]
            .iter()
            .any(|code| expected.starts_with(code) && !name.ends_with(".pdf"));
        assert_eq!(found, if is_nothing_known { "ignored" } else { expected }, "{name} found");
    }

    #[track_caller]
    fn check_wanted(doc_type: Option<DocType>, language: Option<Language>, rows: &[[&str; 4]]) {
        let wanted = Wanted::new(doc_type, language).unwrap();
        for [name, head, named, found] in rows {
            assert_eq!(outcome(name, head.as_bytes(), true, wanted), *named, "{name} named");
            assert_eq!(outcome(name, head.as_bytes(), false, wanted), *found, "{name} found");
        }
    }

    #[test]
    fn the_extension_decides() {
        for (name, expected) in [
            ("/a/x.md", "markdown"),
            ("x.MARKDOWN", "markdown"),
            ("x.mdx", "markdown"),
            ("x.txt", "text"),
            ("x.py", "python"),
            ("x.pyi", "python"),
            ("x.sh", "bash"),
            ("x.bash", "bash"),
            ("x.tar.go", "go"),
            ("x.jsx", "javascript"),
            ("x.tsx", "typescript"),
            ("x.d.ts", "typescript"),
            ("x.rs", "rust"),
            ("x.c", "c"),
            ("x.h", "c"),
            ("X.CPP", "cpp"),
            ("X.java", "java"),
        ] {
            check(name, b"words", expected);
        }
        check("x.pdf", b"%PDF-1.4\n", "pdf");
        check("X.PDF", b"%PDF-1.4\n", "pdf");
    }

    #[test]
    fn a_header_is_c_or_cpp_by_what_is_in_it() {
        check("x.h", b"#include <stdio.h>\nstruct a;\n/* the class of a */\n", "c");
        for line in ["namespace a {", "  template<class T>", "class A;", "#include <vector>"] {
            check("x.h", format!("#pragma once\n{line}\n").as_bytes(), "cpp");
        }
        check_wanted(None, Some(Language::C), &[["x.h", "class A;", "c", "c"]]);
    }

    #[test]
    fn what_is_packed_for_browsers_is_not_read() {
        let unsupported = "unsupported_format: unsupported file type: ";
        check("x.min.js", b"a=1", &format!("{unsupported}x.min.js"));
        check("min.js", b"a=1", "javascript");
        check_wanted(
            None,
            Some(Language::JavaScript),
            &[["x.min.js", "a", "javascript", "javascript"]],
        );
    }

    #[test]
    fn the_first_line_decides_without_an_extension() {
        check("run", b"#!/bin/bash\n", "bash");
        check("run", b"#! /bin/sh -e\n", "bash");
        check("run", b"#!/usr/bin/env python3.11\r\nx", "python");
        check("run", b"#!/usr/bin/env -S LC_ALL=C dash -e", "bash");
        check("python3.11-config", b"#!/bin/sh\n", "bash");
        check("run", b"#!/usr/bin/env node\n", "javascript");
        check("run", b"#!/usr/bin/perl\n", "unsupported_format: unsupported file type: run");
        check("run", b"#!\n", "unsupported_format: unsupported file type: run");
        check("x.pl", b"#!/bin/sh\n", "unsupported_format: unsupported file type: x.pl");
        check("x.md", b"#!/bin/sh\n", "markdown");
    }

    #[test]
    fn a_pdf_is_known_by_its_header() {
        check("report", b"%PDF-1.7\n", "pdf");
        check("report.download", b"\r\n%PDF-1.7\n", "pdf");
        check("report.bin", b"\0\x01junk\n%PDF-1.7\n", "pdf");
        check("junk.pdf", b"junk\n%PDF-1.7\n", "pdf");
        check(
            "notes.pl",
            b"my $s = \"%PDF-\";",
            "unsupported_format: unsupported file type: notes.pl",
        );
        check("about.md", b"The header is `%PDF-1.4`.", "markdown");
    }

    #[test]
    fn a_pdf_that_is_none_is_reported() {
        let wrong = "wrong_format: it is not what its name says: it looks like ";
        check("x.pdf", b"\n<!DOCTYPE HTML>", &format!("{wrong}HTML"));
        check("x.pdf", b"Not found", &format!("{wrong}plain text"));
        check("x.pdf", PNG_HEAD, &format!("{wrong}a PNG image"));
        check("x.pdf", b"\0\0\x80damaged", "pdf");
        check("x.pdf", b"", "empty_file: nothing to index: x.pdf is empty");
    }

    #[test]
    fn pages_word_processors_and_pictures_are_known() {
        check("x.HTML", b"<p>words", "html");
        check("x.htm", b"<!DOCTYPE html>", "html");
        check("x.docx", b"PK\x03\x04\x14\0\x06\0_rels/", "docx");
        check("x.epub", b"PK\x03\x04\x14\0\x06\0mimetypeapplication/epub+zip", "epub");
        check("x.ipynb", b"{\"cells\": []}", "notebook");
        check("x.docx", b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1\0\0", "docx");
        check("x.png", PNG_HEAD, "png");
        check("x.tif", b"MM\0*\0\0\0\x08", "tiff");
        check("x.jpeg", b"\xFF\xD8\xFF\xE0\0\x10JFIF\0", "jpeg");
        check("x.bmp", b"BM\x36\0\0\0\0\0\0\0", "bmp");
        check("x.webp", b"RIFF\x10\0\0\0WEBPVP8 ", "webp");
        // The bytes know better than the name.
        check("x.jpg", PNG_HEAD, "png");
        let wrong = "wrong_format: it is not what its name says: it looks like ";
        check("x.png", b"<html>", &format!("{wrong}HTML"));
        check("x.docx", b"words", &format!("{wrong}plain text"));
        check("x.html", PNG_HEAD, &format!("{wrong}a PNG image"));
    }

    #[test]
    fn a_type_that_fits_changes_nothing() {
        check_wanted(
            Some(DocType::Markdown),
            None,
            &[["x.html", "<p>words", "html", "html"], ["x.xml", "<a/>", "markdown", "markdown"]],
        );
    }

    #[test]
    fn text_that_is_none_is_reported() {
        let wrong = "wrong_format: it is not what its name says: it looks like ";
        check("x.md", PNG_HEAD, &format!("{wrong}a PNG image"));
        check("x.md", b"%PDF-1.4\n", &format!("{wrong}PDF"));
        check("x.py", b"\x7FELF\x02\x01\x01\0", &format!("{wrong}an ELF program"));
        check(
            "x.txt",
            b"PK\x03\x04\x14\0\x06\0word/document.xml",
            &format!("{wrong}a DOCX document"),
        );
        check("x.txt", b"PK\x03\x04\x14\0\x06\0a.txt", &format!("{wrong}a ZIP archive"));
        check("x.sh", b"\x1F\x8B\x08\0\0\0\0\0\0\x03", &format!("{wrong}gzip data"));
        check("x.md", b"\0\x01\x02\x03", "not_text: it is not text");
        check("x.md", b"\x01\x02ab\x03\x04", "not_text: it is not text");
    }

    #[test]
    fn text_is_text_in_any_encoding_and_with_any_beginning() {
        for head in [
            &b"BM25 ranks"[..],
            b"MZ is a name",
            b"<!DOCTYPE html>\n# Title",
            b"\xFF\xFEa\0b\0",
            b"\xFE\xFF\0a\0b",
            b"\xEF\xBB\xBF# T",
            b"caf\xE9",
            b"\x1B[31mred\x1B[0m \x0C",
            b"BZhong",
        ] {
            check("x.md", head, "markdown");
        }
    }

    #[test]
    fn what_nothing_reads_is_ignored_in_directories_and_an_error_when_named() {
        let unsupported = "unsupported_format: unsupported file type: ";
        check("x.xhtml", b"<html>", &format!("{unsupported}x.xhtml (HTML)"));
        check("x.gif", b"GIF89a\x01\0\x01\0", &format!("{unsupported}x.gif (a GIF image)"));
        check("x.rst", b"Title", &format!("{unsupported}x.rst"));
        check("README", b"Title", &format!("{unsupported}README"));
    }

    #[test]
    fn empty_files_are_ignored_in_directories() {
        check("__init__.py", b"", "empty_file: nothing to index: __init__.py is empty");
    }

    #[test]
    fn the_users_word_wins() {
        check_wanted(
            Some(DocType::Note),
            None,
            &[["x.md", "a", "note", "note"], ["x.conf", "a", "note", "note"]],
        );
        check_wanted(
            Some(DocType::Markdown),
            None,
            &[["x.txt", "a", "markdown", "markdown"], ["x.py", "a", "markdown", "markdown"]],
        );
        check_wanted(
            None,
            Some(Language::Python),
            &[["x.sh", "a", "python", "python"], ["x", "a", "python", "python"]],
        );
        check_wanted(Some(DocType::Code), Some(Language::Go), &[["x.py", "a", "go", "go"]]);
    }

    #[test]
    fn a_wanted_type_leaves_out_what_cannot_be_it() {
        let wrong = "wrong_format: it is not what its name says: it looks like ";
        check_wanted(
            Some(DocType::Pdf),
            None,
            &[
                ["x", "%PDF-1.4", "pdf", "pdf"],
                ["x.md", "words", &format!("{wrong}plain text"), "ignored"],
                ["x.pdf", "words", &format!("{wrong}plain text"), &format!("{wrong}plain text")],
            ],
        );
        check_wanted(
            Some(DocType::Note),
            None,
            &[
                ["x.pdf", "%PDF-1.4", &format!("{wrong}PDF"), "ignored"],
                ["x.bin", "\0\u{1}", "not_text: it is not text", "ignored"],
            ],
        );
    }

    #[test]
    fn code_needs_a_language() {
        check_wanted(
            Some(DocType::Code),
            None,
            &[
                ["x.go", "a", "go", "go"],
                ["x.cgi", "#!/bin/sh", "bash", "bash"],
                ["x.md", "a", "usage: the language of x.md is not known", "ignored"],
            ],
        );
        let wanted = Wanted { doc_type: Some(DocType::Code), language: None };
        let error = detect(Path::new("x"), b"a", true, wanted).unwrap_err();
        assert!(
            error.hint().is_some_and(|it| it.starts_with("name it: `--language python|bash|go|"))
        );
    }

    #[test]
    fn a_language_needs_code() {
        assert!(Wanted::new(Some(DocType::Pdf), Some(Language::Go)).is_err());
        assert!(Wanted::new(None, Some(Language::Go)).is_ok());
    }
}
