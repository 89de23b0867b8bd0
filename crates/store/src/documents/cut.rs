//! Cuts values out of the text of `documents.metadata`.
//!
//! Parsing each JSON would be a tenth of an update and a third of a long list. In a string of JSON the quotes are escaped, so no
//! string is taken for a key. The search for each key is prepared once, not for each document.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::document::DocType;
use crate::text::decode::TextEncoding;
use crate::text::language::NaturalLanguage;

// Each key with the first character of its value.
static FORMAT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"format\":\""));
static LANGUAGE: LazyLock<Finder<'static>> =
    LazyLock::new(|| Finder::new("\"natural_language\":\""));
static QUALITY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"quality\":{"));
// The quality has a number of that name.
static WORDS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"words\":{"));
static UNREAD_COUNT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"unread_count\":"));
static ENCODING: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"encoding\":{"));

/// Returns the text after the key and the first character of its value.
fn after<'a>(metadata: &'a str, key: &Finder<'_>) -> Option<&'a str> {
    key.find(metadata.as_bytes()).map(|at| &metadata[at + key.needle().len()..])
}

/// Returns an object without objects in it, of which [`after`] has taken the brace.
fn object(rest: &str) -> Option<String> {
    rest.find('}').map(|end| format!("{{{}", &rest[..=end]))
}

/// Returns the word of the format in `documents.metadata`. Without one, it is the language or the type.
pub(crate) fn format_word(metadata: &str, language: Option<&str>, doc_type: DocType) -> String {
    let stated = after(metadata, &FORMAT).and_then(|word| word.split('"').next());
    let stated = stated.filter(|word| !word.is_empty());
    stated.or(language).unwrap_or(doc_type.as_str()).to_owned()
}

/// Returns the natural language in `documents.metadata`; `None` if it is not known.
pub(crate) fn natural_language(metadata: &str) -> Option<NaturalLanguage> {
    NaturalLanguage::from_code(after(metadata, &LANGUAGE)?.split('"').next()?)
}

/// Whether `documents.metadata` has a quality.
pub(super) fn has_quality(metadata: &str) -> bool {
    after(metadata, &QUALITY).is_some()
}

/// Returns the counts of words in `documents.metadata`.
pub(super) fn words_json(metadata: &str) -> Option<String> {
    object(after(metadata, &WORDS)?)
}

/// Returns the number of unread parts in `documents.metadata`; 0 if there are none.
pub(super) fn num_unread_parts(metadata: &str) -> u32 {
    let Some(count) = after(metadata, &UNREAD_COUNT) else { return 0 };
    let end = count.find(|c: char| !c.is_ascii_digit()).unwrap_or(count.len());
    count[..end].parse().unwrap_or(0)
}

/// Returns the encoding in `documents.metadata`; `None` for sound UTF-8.
pub(super) fn encoding(metadata: &str) -> Option<TextEncoding> {
    serde_json::from_str(&object(after(metadata, &ENCODING)?)?).ok()
}
