//! A value that does not fit in, what is wrong with it and where it was written out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use figment::error::{Actual, Kind};

use crate::config::{Config, Origin};
use crate::error::{Error, Result};

/// Says which layer holds the value that does not fit.
pub(super) fn wrong_value(
    error: &figment::Error,
    origins: &BTreeMap<String, Origin>,
    file: &Path,
) -> Error {
    let key = error.path.join(".");
    let path = place(&key, origins, file);
    let message = match key.as_str() {
        "" => explain(&error.kind),
        key => format!("{key}: {}", explain(&error.kind)),
    };
    Error::Config { path, message }
}

/// Returns what holds a key's value: the file, a variable or a flag.
fn place(key: &str, origins: &BTreeMap<String, Origin>, file: &Path) -> PathBuf {
    match origins.get(key) {
        Some(Origin::Variable(name) | Origin::Flag(name)) => name.into(),
        _ => file.to_owned(),
    }
}

/// Says in the user's words what a value should have been.
fn explain(kind: &Kind) -> String {
    match kind {
        Kind::InvalidType(found, wanted) | Kind::InvalidValue(found, wanted) => {
            let wanted = match wanted.as_str() {
                "u32" => "a whole number that is not negative",
                "f64" => "a number",
                "a boolean" => "true or false",
                "a string" | "path string" => "text",
                it if it.starts_with("struct ") => "a group of keys",
                it => it,
            };
            format!("must be {wanted}, not {}", shown(found))
        }
        Kind::UnknownVariant(found, wanted) => {
            format!("must be one of {}, not `{found}`", wanted.join(", "))
        }
        other => other.to_string(),
    }
}

/// Returns a value as the user wrote it.
fn shown(value: &Actual) -> String {
    match value {
        Actual::Bool(it) => format!("`{it}`"),
        Actual::Unsigned(it) => format!("`{it}`"),
        Actual::Signed(it) => format!("`{it}`"),
        Actual::Float(it) => format!("`{it}`"),
        Actual::Char(it) => format!("`{it}`"),
        Actual::Str(it) => format!("`{it}`"),
        Actual::Map => "a group of keys".into(),
        Actual::Seq => "a list".into(),
        Actual::Unit | Actual::Option => "nothing".into(),
        other => other.to_string(),
    }
}

/// Checks what types alone cannot say.
pub(super) fn check(
    config: &Config,
    origins: &BTreeMap<String, Origin>,
    file: &Path,
) -> Result<()> {
    let chunks = &config.chunking.defaults;
    let rules = [
        ("search.default_top", config.search.default_top > 0, "must be at least 1"),
        (
            "search.rrf_k",
            config.search.rrf_k.is_finite() && config.search.rrf_k >= 0.0,
            "must be a number that is not negative",
        ),
        ("ingestion.workers", config.ingestion.workers > 0, "must be at least 1"),
        ("ingestion.batch_size", config.ingestion.batch_size > 0, "must be at least 1"),
        (
            "chunking.defaults.overlap_tokens",
            chunks.overlap_tokens < chunks.max_tokens,
            "must be less than chunking.defaults.max_tokens",
        ),
        ("embedding.model", !config.embedding.model.trim().is_empty(), "must not be empty"),
    ];
    match rules.into_iter().find(|(_, holds, _)| !holds) {
        Some((key, _, rule)) => {
            let path = place(key, origins, file);
            Err(Error::Config { path, message: format!("{key}: {rule}") })
        }
        None => Ok(()),
    }
}

/// Says that the file has a key nobody asks for.
pub(super) fn unknown_key(file: &Path, key: &str, keys: &[String]) -> String {
    let advice = nearest(key, keys).map(|it| format!("; did you mean `{it}`?")).unwrap_or_default();
    format!("unknown key `{key}` in {}{advice}", file.display())
}

/// Returns the known key most like the given one, if any is alike at all.
pub(super) fn nearest<'a>(key: &str, keys: &'a [String]) -> Option<&'a String> {
    /// Below it two keys have little in common (Jaro-Winkler, 1 is equal).
    const ALIKE: f64 = 0.7;
    keys.iter()
        .map(|it| (strsim::jaro_winkler(key, it), it))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, it)| it)
}
