//! Explains why a value is invalid and where it was written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use figment::error::{Actual, Kind};

use crate::config::{Config, Origin};
use crate::error::{Error, Result};
use crate::limits;
use crate::limits::Limit;

/// Returns the error for an invalid value, which names the layer that holds it.
pub(super) fn wrong_value(
    error: &figment::Error,
    origins: &BTreeMap<String, Origin>,
    file: &Path,
) -> Error {
    let key = error.path.join(".");
    let path = holder_of(&key, origins, file);
    let message = match key.as_str() {
        "" => explain(&error.kind, None),
        key => format!("{key}: {}", explain(&error.kind, limit_of(key))),
    };
    Error::Config { path, message }
}

/// Returns where a key's value was written: the file, a variable or a flag.
fn holder_of(key: &str, origins: &BTreeMap<String, Origin>, file: &Path) -> PathBuf {
    match origins.get(key) {
        Some(Origin::Variable(name) | Origin::Flag(name)) => name.into(),
        _ => file.to_owned(),
    }
}

/// Explains in the user's words what a value should have been.
fn explain(kind: &Kind, limit: Option<&Limit>) -> String {
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

/// Returns the allowed range of a setting that is a whole number.
fn limit_of(key: &str) -> Option<&'static Limit> {
    limits::SETTINGS.iter().find(|limit| limit.name == key)
}

/// Returns a whole number that is out of its range, with the message.
fn out_of_range(config: &Config) -> Option<(&'static str, String)> {
    let settings = yaml_serde::to_value(config).unwrap_or_default();
    limits::SETTINGS.iter().find_map(|limit| {
        let mut parts = limit.name.split('.');
        let value = parts.try_fold(&settings, |value, part| value.get(part))?.as_u64()?;
        let holds = u32::try_from(value).is_ok_and(|value| limit.holds(value));
        (!holds).then(|| (limit.name, format!("must be {}, not `{value}`", limit.range())))
    })
}

/// Checks rules that types cannot express.
pub(super) fn check(
    config: &Config,
    origins: &BTreeMap<String, Origin>,
    file: &Path,
) -> Result<()> {
    let wrong = |key: &str, rule: &str| {
        let path = holder_of(key, origins, file);
        Err(Error::Config { path, message: format!("{key}: {rule}") })
    };
    if let Some((key, rule)) = out_of_range(config) {
        return wrong(key, &rule);
    }
    let chunks = &config.chunking.defaults;
    let rrf_k = config.search.rrf_k;
    let rrf_rule = format!("must be a number from 0 to {}, not `{rrf_k}`", limits::MAX_RRF_K);
    let rules = [
        ("search.rrf_k", (0.0..=limits::MAX_RRF_K).contains(&rrf_k), rrf_rule.as_str()),
        (
            "chunking.defaults.overlap_tokens",
            chunks.overlap_tokens < chunks.max_tokens,
            "must be less than chunking.defaults.max_tokens",
        ),
        ("embedding.model", !config.embedding.model.trim().is_empty(), "must not be empty"),
    ];
    match rules.into_iter().find(|(_, holds, _)| !holds) {
        Some((key, _, rule)) => wrong(key, rule),
        None => Ok(()),
    }
}

/// Returns the warning for an unknown key in the file.
pub(super) fn unknown_key(file: &Path, key: &str, keys: &[String]) -> String {
    let advice = nearest(key, keys)
        .map(|nearest| format!("; did you mean `{nearest}`?"))
        .unwrap_or_default();
    format!("unknown key `{key}` in {}{advice}", file.display())
}

/// Returns the known key that is most similar to the given one, if any is similar enough.
pub(super) fn nearest<'a>(key: &str, keys: &'a [String]) -> Option<&'a String> {
    /// Below this value two keys have little in common (Jaro-Winkler; 1 means equal).
    const ALIKE: f64 = 0.7;
    keys.iter()
        .map(|known| (strsim::jaro_winkler(key, known), known))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)
}
