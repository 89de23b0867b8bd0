//! Reads a settings file as YAML, and removes groups and keys from it.

use std::path::Path;

use crate::error::{Error, Result};
use crate::files;
use crate::files::open::Links;
use crate::limits;

/// Returns the text of a settings file; `None` if there is none.
pub(super) fn read(file: &Path) -> Result<Option<String>> {
    let limit = u64::try_from(limits::YAML_BYTES).unwrap_or(u64::MAX);
    match files::open::read(file, Links::Follow, limit) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| Error::Config {
            path: file.to_owned(),
            message: "it is not UTF-8 text".into(),
            hint: None,
        }),
        Err(Error::PathNotFound { .. }) if file.parent().is_some_and(Path::is_file) => {
            let source = std::io::ErrorKind::NotADirectory.into();
            Err(Error::Io { path: file.to_owned(), source })
        }
        Err(Error::PathNotFound { .. }) => Ok(None),
        Err(Error::OverLimit { .. }) => Err(Error::Config {
            path: file.to_owned(),
            message: format!("it has more than {} KB", limits::YAML_BYTES >> 10),
            hint: None,
        }),
        Err(Error::NotAFile { .. }) => Err(Error::Config {
            path: file.to_owned(),
            message: "it is not a regular file".into(),
            hint: None,
        }),
        Err(error) => Err(error),
    }
}

/// Parses the text of a settings file, which is empty or a group of settings.
pub(super) fn parse_yaml(file: &Path, text: &str) -> Result<yaml_serde::Value> {
    let invalid = |message: String| Error::Config { path: file.to_owned(), message, hint: None };
    if !limits::is_readable_yaml(text) {
        return Err(invalid("it is too large or nested too deeply".into()));
    }
    let value: yaml_serde::Value =
        yaml_serde::from_str(text).map_err(|error| invalid(error.to_string()))?;
    match value {
        yaml_serde::Value::Null | yaml_serde::Value::Mapping(_) => Ok(value),
        _ => Err(Error::Config {
            path: file.to_owned(),
            message: "the file must hold `key: value` lines".into(),
            hint: None,
        }),
    }
}

/// Removes empty groups, such as groups whose lines are all comments.
pub(super) fn drop_empty_groups(prefix: &str, value: &mut yaml_serde::Value, keys: &[String]) {
    let Some(entries) = value.as_mapping_mut() else { return };
    entries.retain(|key, value| {
        let path = format!("{prefix}{}.", key.as_str().unwrap_or_default());
        drop_empty_groups(&path, value, keys);
        !value.is_null() || !keys.iter().any(|known| known.starts_with(&path))
    });
}

/// Removes a dotted key; `false` if it is not there.
pub(super) fn remove_key(value: &mut yaml_serde::Value, key: &str) -> bool {
    let Some(entries) = value.as_mapping_mut() else { return false };
    match key.split_once('.') {
        None => entries.remove(key).is_some(),
        Some((group, rest)) => entries.get_mut(group).is_some_and(|group| remove_key(group, rest)),
    }
}
