//! Returns the format of a file by its name.

use std::path::Path;

use super::extension::extension;
use super::languages;
use crate::document::{ContainerKind, Format};

/// Names of files in lower case, up to the first full stop or hyphen, that are text without an
/// extension: `LICENSE-MIT`, `README.source`.
const TEXTS: &[&str] = &[
    "readme", "license", "licence", "copying", "copyright", "notice", "authors", "contributors",
    "contributing", "maintainers", "credits", "thanks", "changelog", "changes", "history", "news",
    "install", "todo", "bugs", "faq", "hacking", "security", "support", "code_of_conduct",
];

/// The words that may follow such a name after a full stop.
const TEXT_VARIANTS: &[&str] = &["debian", "source", "lesser", "unix", "linux", "windows", "lib"];

/// Suffixes of files that programs have minified for other programs.
const MINIFIED_SUFFIXES: &[&str] = &[".min.js", ".min.mjs", ".min.cjs", ".min.css", ".min.json"];

/// Names of files in which programs note the versions of what a project uses.
const LOCK_FILES: &[&str] = &[
    "bun.lock", "cargo.lock", "composer.lock", "conda-lock.yml", "deno.lock", "flake.lock",
    "gemfile.lock", "go.sum", "mix.lock", "npm-shrinkwrap.json", "package-lock.json",
    "packages.lock.json", "pipfile.lock", "pnpm-lock.yaml", "podfile.lock", "poetry.lock",
    "uv.lock", "yarn.lock",
];

/// Returns the suffix or the name of a file that a program has written for programs.
pub fn generated(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.as_encoded_bytes();
    let known = LOCK_FILES.iter().find(|known| known.as_bytes().eq_ignore_ascii_case(name));
    known.or_else(|| MINIFIED_SUFFIXES.iter().find(|suffix| ends_with(name, suffix))).copied()
}

fn ends_with(name: &[u8], suffix: &str) -> bool {
    let begin = name.len().checked_sub(suffix.len());
    begin.is_some_and(|begin| suffix.as_bytes().eq_ignore_ascii_case(&name[begin..]))
}

/// The files that are read in addition to the formats that kb knows: extensions of plain text, in lower case
/// (`ingestion.text_extensions`), and on request the files of [`generated`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextExtensions {
    extensions: Vec<String>,
    /// Whether files of [`generated`] are read.
    pub includes_generated: bool,
}

impl TextExtensions {
    /// Nothing else.
    pub const NONE: Self = Self { extensions: Vec::new(), includes_generated: false };

    /// Takes extensions in any case, with or without a dot.
    pub fn new<'a>(extensions: impl IntoIterator<Item = &'a str>) -> Self {
        let bare =
            extensions.into_iter().map(|text| text.trim_start_matches('.').to_ascii_lowercase());
        Self { extensions: bare.collect(), ..Self::NONE }
    }

    /// Whether a file is left out because a program has written it for programs.
    pub(super) fn leaves_out(&self, path: &Path) -> bool {
        !self.includes_generated && generated(path).is_some()
    }
}

/// Returns the kind of container that a name claims.
pub(super) fn container(path: &Path) -> Option<ContainerKind> {
    match extension(path)?.as_str() {
        "zip" => Some(ContainerKind::Zip),
        "mbox" => Some(ContainerKind::Mbox),
        "enex" => Some(ContainerKind::Enex),
        "json" if is_export_of_chats(path) => Some(ContainerKind::Chats),
        _ => None,
    }
}

/// Whether a file has the name of the conversations in an export of `ChatGPT` or Claude.
fn is_export_of_chats(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with("conversations")
}

/// Returns the format of a file by its name.
pub(super) fn by_name(path: &Path, further: &TextExtensions) -> Option<Format> {
    if further.leaves_out(path) {
        return None;
    }
    if is_text_name(path) {
        return Some(Format::Text);
    }
    if let Some(language) = languages::by_name(path) {
        return Some(Format::Code(language));
    }
    let extension = extension(path)?;
    Format::with_extension(&extension)
        .or_else(|| further.extensions.contains(&extension).then_some(Format::Text))
}

/// Whether a file without an extension is text, by its name.
pub(super) fn is_text_name(path: &Path) -> bool {
    let extension = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let begin = name.split(['.', '-']).next().unwrap_or_default().to_ascii_lowercase();
    extension.as_deref().is_none_or(is_variant) && TEXTS.contains(&begin.as_str())
}

fn is_variant(extension: &str) -> bool {
    // The version in `LICENSE-APACHE-2.0`.
    TEXT_VARIANTS.contains(&extension) || extension.bytes().all(|byte| byte.is_ascii_digit())
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
