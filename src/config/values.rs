//! Lists settings by their dotted keys, with their values.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::config::Config;
use crate::config::yaml::key_text;

/// Returns every key with its value, in the order of the documentation.
pub(super) fn entries(config: &Config) -> Vec<(String, SettingValue)> {
    let settings = yaml_serde::to_value(config).unwrap_or_default();
    let mut found = Vec::new();
    flatten("", &settings, &mut found);
    found.into_iter().map(|(key, value)| (key, value.into())).collect()
}

/// The value of a setting with its type.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "Typed")]
pub enum SettingValue {
    /// True or false.
    Flag(bool),
    /// A whole number.
    Whole(u64),
    /// A number that may have a fraction.
    Number(f64),
    /// Text.
    Text(String),
}

impl From<&yaml_serde::Value> for SettingValue {
    fn from(value: &yaml_serde::Value) -> Self {
        if let Some(flag) = value.as_bool() {
            Self::Flag(flag)
        } else if let Some(whole) = value.as_u64() {
            Self::Whole(whole)
        } else if let Some(number) = value.as_f64() {
            Self::Number(number)
        } else {
            Self::Text(key_text(value))
        }
    }
}

/// As a user types it: text without quotes, and whole numbers without `.0`.
impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Whole(whole) => write!(f, "{whole}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// Lists the leaves of a YAML value by their dotted keys.
pub(super) fn flatten<'a>(
    prefix: &str,
    value: &'a yaml_serde::Value,
    found: &mut Vec<(String, &'a yaml_serde::Value)>,
) {
    match value {
        yaml_serde::Value::Mapping(entries) => {
            for (key, value) in entries {
                let key = key_text(key);
                let path = if prefix.is_empty() { key } else { format!("{prefix}.{key}") };
                flatten(&path, value, found);
            }
        }
        yaml_serde::Value::Null if prefix.is_empty() => {}
        leaf => found.push((prefix.to_owned(), leaf)),
    }
}

/// Returns all keys in the order of the documentation.
pub(super) fn keys(defaults: &Config) -> Vec<String> {
    entries(defaults).into_iter().map(|(key, _)| key).collect()
}

/// Whether a key holds text, so that `10` and `true` are also text.
pub(super) fn is_text(defaults: &Config, key: &str) -> bool {
    let defaults = yaml_serde::to_value(defaults).unwrap_or_default();
    key.split('.')
        .try_fold(&defaults, |value, part| value.get(part))
        .is_some_and(|default| default.is_string())
}
