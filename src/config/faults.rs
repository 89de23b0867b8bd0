//! Explains why a value is invalid and where it was written.

use std::collections::BTreeMap;
use std::path::Path;

use figment::error::{Actual, Kind};

use crate::config::values::entries;
use crate::config::{Config, SettingOrigin, words};
use crate::error::{Error, Result};
use crate::limits;
use crate::limits::Limit;
use crate::text::near;
use crate::wording::{Wording, kb, wording};

/// The [`SettingOrigin::layer`] of the file.
const FILE_LAYER: u8 = 1;

/// Returns the error for an invalid value, which names the layer that holds it.
pub(super) fn wrong_value(
    error: &figment::Error,
    origins: &BTreeMap<String, SettingOrigin>,
    file: &Path,
) -> Error {
    let key = error.path.join(".");
    let limit = limits::SETTINGS.iter().find(|limit| limit.name == key);
    refused(&key, &explain(&error.kind, limit), origins, file)
}

/// The fault of a value.
struct ValueFault {
    /// The rule for the value, such as `must be true or false`.
    rule: String,
    /// The value as the user wrote it; empty if the rule is enough.
    found: String,
}

/// Returns the error for the value of a key; the key is empty if the whole file is at fault.
fn refused(
    key: &str,
    fault: &ValueFault,
    origins: &BTreeMap<String, SettingOrigin>,
    file: &Path,
) -> Error {
    let ValueFault { rule, found } = fault;
    let found = if found.is_empty() { String::new() } else { format!(", not {found}") };
    let message = match key {
        "" => format!("{rule}{found}"),
        key => format!("{key}: {rule}{found}"),
    };
    match origins.get(key) {
        Some(SettingOrigin::Flag(name)) => {
            Error::config(name, message).with_hint(format!("the default is {}", default_of(key)))
        }
        Some(SettingOrigin::Variable(name)) => {
            let default = default_of(key);
            Error::config(name, message)
                .with_hint(format!("the default is {default}, which applies if {name} is unset"))
        }
        Some(SettingOrigin::Default | SettingOrigin::File(_)) | None => {
            Error::config(file, message)
        }
    }
}

/// Returns the built-in value of a key as `kb config` shows it.
fn default_of(key: &str) -> String {
    let defaults = Config::defaults(Path::new("~"));
    let found = entries(&defaults).into_iter().find(|(known, _)| known == key);
    match found.map(|(_, value)| value.to_string()) {
        Some(text) if !text.is_empty() => text,
        _ => "empty".into(),
    }
}

/// Explains in the user's words what a value should have been.
fn explain(kind: &Kind, limit: Option<&Limit>) -> ValueFault {
    match kind {
        Kind::InvalidType(found, wanted) | Kind::InvalidValue(found, wanted) => {
            let range = limit.map(Limit::range);
            let wanted = match wanted.as_str() {
                "u32" => range.as_deref().unwrap_or("a whole number that is not negative"),
                "f64" => "a number",
                "a boolean" => "true or false",
                "a string" | "path string" => "text",
                wanted if wanted.starts_with("struct ") => "a group of keys",
                wanted => wanted,
            };
            ValueFault { rule: format!("must be {wanted}"), found: shown(found) }
        }
        Kind::UnknownVariant(found, wanted) => ValueFault {
            rule: match wanted {
                [only] => format!("must be {only}"),
                _ => format!("must be one of {}", wanted.join(", ")),
            },
            found: format!("`{found}`"),
        },
        other => ValueFault { rule: other.to_string(), found: String::new() },
    }
}

/// Returns a value as the user wrote it.
fn shown(value: &Actual) -> String {
    match value {
        Actual::Bool(flag) => format!("`{flag}`"),
        Actual::Unsigned(number) => format!("`{number}`"),
        Actual::Signed(number) => format!("`{number}`"),
        Actual::Float(number) => format!("`{number}`"),
        Actual::Char(c) => format!("`{c}`"),
        Actual::Str(text) => format!("`{text}`"),
        Actual::Map => "a group of keys".into(),
        Actual::Seq => "a list".into(),
        Actual::Unit | Actual::Option => "nothing".into(),
        other => other.to_string(),
    }
}

/// Returns the key of a whole number that is out of its range.
fn out_of_range(config: &Config) -> Option<(&'static str, ValueFault)> {
    let settings = yaml_serde::to_value(config).unwrap_or_default();
    limits::SETTINGS.iter().find_map(|limit| {
        let mut parts = limit.name.split('.');
        let value = parts.try_fold(&settings, |value, part| value.get(part))?.as_u64()?;
        let holds = u32::try_from(value).is_ok_and(|value| limit.holds(value));
        if holds {
            return None;
        }
        let rule = format!("must be {}", limit.range());
        Some((limit.name, ValueFault { rule, found: format!("`{value}`") }))
    })
}

/// Checks rules that types cannot express.
pub(super) fn check(
    config: &Config,
    origins: &BTreeMap<String, SettingOrigin>,
    file: &Path,
) -> Result<()> {
    if let Some((key, fault)) = out_of_range(config) {
        return Err(refused(key, &fault, origins, file));
    }
    let chunks = &config.chunking.defaults;
    let rrf_k = config.search.rrf_k;
    let (overlap, longest) = ("chunking.defaults.overlap_tokens", "chunking.defaults.max_tokens");
    // The value that was typed is at fault, not the one in the file.
    let layer = |key: &str| origins.get(key).map_or(0, SettingOrigin::layer);
    let is_longest_typed = layer(longest) > layer(overlap).max(FILE_LAYER);
    let overlap_rule = if is_longest_typed {
        (longest, format!("must be more than {overlap}"))
    } else {
        (overlap, format!("must be less than {longest}"))
    };
    let rules = [
        (
            (0.0..=limits::MAX_RRF_K).contains(&rrf_k),
            "search.rrf_k",
            format!("must be a number from 0 to {}", limits::MAX_RRF_K),
            format!("`{rrf_k}`"),
        ),
        (chunks.overlap_tokens < chunks.max_tokens, overlap_rule.0, overlap_rule.1, String::new()),
        (
            !config.embedding.model.trim().is_empty(),
            "embedding.model",
            "must not be empty".into(),
            String::new(),
        ),
    ];
    let languages = &config.ingestion.ocr_languages;
    let languages = (
        languages.split('+').all(is_tesseract_name),
        "ingestion.ocr_languages",
        "must be names of Tesseract's languages, such as `eng+deu`".into(),
        format!("`{languages}`"),
    );
    let no_extension = words(&config.ingestion.text_extensions).find(|word| !is_extension(word));
    let extensions = (
        no_extension.is_none(),
        "ingestion.text_extensions",
        "must have extensions of letters and digits, such as `conf, ini`".into(),
        format!("`{}`", no_extension.unwrap_or_default()),
    );
    match rules.into_iter().chain([languages, extensions]).find(|(holds, ..)| !holds) {
        Some((_, key, rule, found)) => {
            Err(refused(key, &ValueFault { rule, found }, origins, file))
        }
        None => Ok(()),
    }
}

/// Whether a word can be the name of one of Tesseract's languages. Tesseract looks for a file of this name in its folder,
/// also in a folder there: `script/Latin`.
fn is_tesseract_name(name: &str) -> bool {
    name.split('/').all(|part| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    })
}

/// Whether a word is an extension, with or without its dot.
fn is_extension(word: &str) -> bool {
    let word = word.strip_prefix('.').unwrap_or(word);
    word.starts_with(|first: char| first.is_ascii_alphabetic())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns the warning for an unknown key in the file.
pub(super) fn unknown_key(file: &Path, key: &str, keys: &[String]) -> String {
    let advice = nearest(key, keys)
        .map(|nearest| format!("; did you mean `{nearest}`?"))
        .unwrap_or_default();
    format!("unknown key `{key}` in {}{advice}", file.display())
}

/// Returns the hint for an unknown key that was typed: the nearest key, and where to find the
/// others if it is not very similar.
pub(super) fn nearest_hint(key: &str, keys: &[String]) -> Option<Wording> {
    let (likeness, nearest) = ranked(key, keys)?;
    let hint = Wording::from(format!("the nearest key is `{nearest}`"));
    if likeness >= ALIKE {
        return Some(hint);
    }
    Some(hint.then(wording!("; `{}` lists all keys", kb("config"))))
}

/// Returns the known key that is most similar to the given one, if any is similar enough.
fn nearest<'a>(key: &str, keys: &'a [String]) -> Option<&'a String> {
    ranked(key, keys).filter(|(likeness, _)| *likeness >= ALIKE).map(|(_, known)| known)
}

/// Below this value two keys have little in common (Jaro-Winkler; 1 means equal).
const ALIKE: f64 = 0.7;

/// Returns the most similar of the known keys, and how similar it is.
fn ranked<'a>(key: &str, keys: &'a [String]) -> Option<(f64, &'a String)> {
    keys.iter().map(|known| (near::likeness(key, known), known)).max_by(|a, b| a.0.total_cmp(&b.0))
}

#[cfg(test)]
mod tests;
