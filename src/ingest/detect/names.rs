//! Returns the format of a file by its name; where languages share a name, its first lines decide.

use std::path::Path;

use crate::document::{Data, Dialect, Format, Language, Office, Picture};

/// Extensions in lower case, with their formats.
const EXTENSIONS: &[(&str, Format)] = &[
    ("pdf", Format::Pdf),
    ("docx", Format::Docx),
    ("docm", Format::Docx),
    ("dotx", Format::Docx),
    ("epub", Format::Epub),
    ("pptx", Format::Office(Office::Pptx)),
    ("pptm", Format::Office(Office::Pptx)),
    ("ppsx", Format::Office(Office::Pptx)),
    ("potx", Format::Office(Office::Pptx)),
    ("xlsx", Format::Office(Office::Xlsx)),
    ("xlsm", Format::Office(Office::Xlsx)),
    ("xltx", Format::Office(Office::Xlsx)),
    ("odt", Format::Office(Office::Odt)),
    ("ott", Format::Office(Office::Odt)),
    ("odp", Format::Office(Office::Odp)),
    ("otp", Format::Office(Office::Odp)),
    ("ods", Format::Office(Office::Ods)),
    ("ots", Format::Office(Office::Ods)),
    ("rtf", Format::Office(Office::Rtf)),
    ("fb2", Format::Office(Office::Fb2)),
    ("mht", Format::Office(Office::Mhtml)),
    ("mhtml", Format::Office(Office::Mhtml)),
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
    ("rst", Format::Dialect(Dialect::Rst)),
    ("rest", Format::Dialect(Dialect::Rst)),
    ("adoc", Format::Dialect(Dialect::AsciiDoc)),
    ("asciidoc", Format::Dialect(Dialect::AsciiDoc)),
    ("org", Format::Dialect(Dialect::Org)),
    ("tex", Format::Dialect(Dialect::Latex)),
    ("ltx", Format::Dialect(Dialect::Latex)),
    ("man", Format::Dialect(Dialect::Man)),
    ("wiki", Format::Dialect(Dialect::Wiki)),
    ("mediawiki", Format::Dialect(Dialect::Wiki)),
    ("vtt", Format::Dialect(Dialect::Subtitles)),
    ("srt", Format::Dialect(Dialect::Subtitles)),
    ("csv", Format::Dialect(Dialect::Csv)),
    ("tsv", Format::Dialect(Dialect::Tsv)),
    ("json", Format::Data(Data::Json)),
    ("jsonc", Format::Data(Data::Json)),
    ("json5", Format::Data(Data::Json)),
    ("geojson", Format::Data(Data::Json)),
    ("jsonl", Format::Data(Data::JsonLines)),
    ("ndjson", Format::Data(Data::JsonLines)),
    ("yaml", Format::Data(Data::Yaml)),
    ("yml", Format::Data(Data::Yaml)),
    ("toml", Format::Data(Data::Toml)),
    ("xml", Format::Data(Data::Xml)),
    ("xsd", Format::Data(Data::Xml)),
    ("xsl", Format::Data(Data::Xml)),
    ("xslt", Format::Data(Data::Xml)),
    ("wsdl", Format::Data(Data::Xml)),
    ("rss", Format::Data(Data::Xml)),
    ("atom", Format::Data(Data::Xml)),
    ("opml", Format::Data(Data::Xml)),
    ("docbook", Format::Data(Data::Xml)),
    ("dbk", Format::Data(Data::Xml)),
    ("log", Format::Data(Data::Log)),
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

/// Suffixes of files that programs have minified for other programs.
const MINIFIED_SUFFIXES: &[&str] = &[".min.js", ".min.mjs", ".min.cjs", ".min.json"];

/// Names of files in which programs note the versions of what a project uses.
const LOCK_FILES: &[&str] = &[
    "package-lock.json",
    "npm-shrinkwrap.json",
    "packages.lock.json",
    "pnpm-lock.yaml",
    "conda-lock.yml",
];

/// How lines begin in C++ headers but not in C headers.
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

/// Returns the extension in lower case. `python3.11-config` and `notes.2024` have none.
pub(super) fn extension(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    let is_word = extension.starts_with(|first: char| first.is_ascii_lowercase())
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_word.then_some(extension)
}

/// Returns the suffix or the name of a file that a program has written for programs.
pub(super) fn generated(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let lock_file = LOCK_FILES.iter().find(|known| **known == name);
    lock_file.or_else(|| MINIFIED_SUFFIXES.iter().find(|suffix| name.ends_with(**suffix))).copied()
}

/// Further extensions of plain text, in lower case: `ingestion.text_extensions`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextExtensions(Vec<String>);

impl TextExtensions {
    /// No further extensions.
    pub const NONE: Self = Self(Vec::new());

    /// Takes extensions in any case, with or without a dot.
    pub fn new<'a>(extensions: impl IntoIterator<Item = &'a str>) -> Self {
        let bare = |text: &str| text.trim_start_matches('.').to_ascii_lowercase();
        Self(extensions.into_iter().map(bare).collect())
    }
}

pub(super) fn by_extension(path: &Path, further: &TextExtensions) -> Option<Format> {
    let extension = extension(path)?;
    if generated(path).is_some() {
        return None;
    }
    let known = EXTENSIONS.iter().find(|(known, _)| *known == extension);
    let further = || further.0.contains(&extension).then_some(Format::Text);
    known.map(|(_, format)| *format).or_else(further)
}

/// Whether a file named `*.h` is C++, by its first lines.
pub(super) fn is_cpp_header(path: &Path, head: &[u8]) -> bool {
    let is_cpp = |line: &str| {
        let line = line.trim();
        CPP_LINES.iter().any(|start| line.starts_with(start))
            || (line.starts_with("class ") && line.ends_with(['{', ';', ':']))
            // C headers have an extension, headers of the C++ library have none.
            || (line.starts_with("#include <") && !line.contains('.'))
    };
    extension(path).as_deref() == Some("h") && String::from_utf8_lossy(head).lines().any(is_cpp)
}

/// How the first line of a manual page begins.
const ROFF: &[&str] =
    &[".TH ", ".Dd ", ".\\\"", "'\\\"", ".so ", ".de ", ".ie ", ".if ", ".ds ", ".nr "];

/// Whether a file named `*.1` to `*.9` (or `*.3pm`) is a manual page, by its first line.
pub(super) fn is_manual_page(path: &Path, head: &[u8]) -> bool {
    let section = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let is_section = section.len() <= 5
        && section.starts_with(|first: char| ('1'..='9').contains(&first))
        && section.bytes().skip(1).all(|byte| byte.is_ascii_alphabetic());
    let text = String::from_utf8_lossy(head.get(..200).unwrap_or(head));
    is_section && ROFF.iter().any(|start| text.trim_start().starts_with(start))
}

/// Returns the language of a script from its `#!` line, with or without `env`.
pub(super) fn by_interpreter(head: &[u8]) -> Option<Language> {
    let line = head.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    let mut name = words.next()?.rsplit('/').next()?;
    if name == "env" {
        name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
        name = name.rsplit('/').next()?;
    }
    let name = name.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.');
    INTERPRETERS.iter().find(|(known, _)| *known == name).map(|(_, language)| *language)
}
