//! Reads a settings file as YAML, and removes groups and keys from it.

use std::path::Path;

use crate::error::{Error, Result};
use crate::files;
use crate::files::open::SymlinkPolicy;
use crate::limits;

/// Returns the text of a settings file; `None` if there is none.
pub(super) fn read(file: &Path) -> Result<Option<String>> {
    let limit = u64::try_from(limits::YAML_BYTES).unwrap_or(u64::MAX);
    match files::open::read(file, SymlinkPolicy::Follow, limit) {
        Ok(bytes) => String::from_utf8(bytes)
            .map(Some)
            .map_err(|_| Error::config(file, "it is not UTF-8 text")),
        Err(Error::PathNotFound { .. }) if file.parent().is_some_and(Path::is_file) => {
            let source = std::io::ErrorKind::NotADirectory.into();
            Err(Error::of_file(file, source))
        }
        Err(Error::PathNotFound { .. }) => Ok(None),
        Err(Error::OverLimit { .. }) => {
            Err(Error::config(file, format!("it has more than {} KB", limits::YAML_BYTES >> 10)))
        }
        Err(Error::NotAFile { .. }) => Err(Error::config(file, "it is not a regular file")),
        Err(error) => Err(error),
    }
}

/// Parses the text of a settings file, which is empty or a group of settings.
pub(super) fn parse_yaml(file: &Path, text: &str) -> Result<yaml_serde::Value> {
    if !limits::is_readable_yaml(text) {
        return Err(Error::config(file, "it is too large or nested too deeply"));
    }
    match yaml_serde::from_str(text).map_err(|error| Error::config(file, error.to_string()))? {
        value @ (yaml_serde::Value::Null | yaml_serde::Value::Mapping(_)) => Ok(value),
        _ => Err(Error::config(file, "the file must hold `key: value` lines")),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_short_regular_file_of_text_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("config.yaml");
        assert_eq!(read(&file).unwrap(), None);
        let longest = "#".repeat(limits::YAML_BYTES);
        let longer = format!("{longest}#");
        for (bytes, refusal) in [
            (longest.as_bytes(), ""),
            (longer.as_bytes(), "it has more than 64 KB"),
            (b"\xff", "it is not UTF-8 text"),
        ] {
            std::fs::write(&file, bytes).unwrap();
            match read(&file) {
                Ok(text) => assert_eq!((text.as_deref(), refusal), (Some(&*longest), "")),
                Err(Error::Config { path, message, .. }) => {
                    assert_eq!((path, &*message), (file.clone(), refusal));
                }
                other => panic!("{other:?}"),
            }
        }
        let below = read(&file.join("config.yaml"));
        assert!(matches!(below, Err(Error::Io { .. })), "{below:?}");
        let folder = read(dir.path());
        assert!(
            matches!(&folder, Err(Error::Config { message, .. }) if message.contains("regular")),
            "{folder:?}"
        );
    }

    #[test]
    fn a_settings_file_is_empty_or_a_flat_group_of_keys() {
        let is_parsed = |text: &str| parse_yaml(Path::new("f"), text).is_ok();
        for text in ["", "# nothing", "a: 1", "a: {b: [1]}"] {
            assert!(is_parsed(text), "{text}");
        }
        for text in ["a", "- a", "a: 1\na: 2", "a: [", &"[".repeat(limits::YAML_DEPTH + 1)] {
            assert!(!is_parsed(text), "{text}");
        }
    }

    #[test]
    fn empty_groups_of_known_keys_are_removed() {
        let keys = ["a.b.c", "a.d", "e"].map(str::to_owned);
        for (text, expected) in [
            ("a:", "{}"),
            ("a: {b: , d: 1}", "a: {d: 1}"),
            ("a: {b: {c: }}", "a: {b: {c: }}"),
            ("e:", "e:"),
            ("unknown:", "unknown:"),
            ("a: {b: {c: 1}}", "a: {b: {c: 1}}"),
        ] {
            let parsed = |text: &str| parse_yaml(Path::new("f"), text).unwrap();
            let mut value = parsed(text);
            drop_empty_groups("", &mut value, &keys);
            assert_eq!(value, parsed(expected), "{text}");
        }
    }

    #[test]
    fn a_key_is_removed_from_its_group() {
        for (key, is_there) in
            [("a.b", true), ("e", true), ("a.c", false), ("b", false), ("e.f", false)]
        {
            let mut value = parse_yaml(Path::new("f"), "a: {b: 1}\ne: 2").unwrap();
            let before = value.clone();
            assert_eq!(remove_key(&mut value, key), is_there, "{key}");
            assert_eq!(value != before, is_there, "{key}");
            assert!(!remove_key(&mut value, key));
        }
    }
}
