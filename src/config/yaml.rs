//! Provides a parsed YAML file to figment as one layer of settings.

use figment::value::{Dict, Map, Value};
use figment::{Error, Metadata, Profile, Provider};
use yaml_serde::Mapping;

/// A YAML document whose keys are settings; an empty document sets nothing.
pub(super) struct Yaml<'a>(pub(super) &'a yaml_serde::Value);

impl Provider for Yaml<'_> {
    fn metadata(&self) -> Metadata {
        Metadata::named("YAML file")
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        let settings = match self.0 {
            yaml_serde::Value::Mapping(entries) => dict("", entries)?,
            yaml_serde::Value::Null => Dict::new(),
            _ => return Err(Error::from("the document is not a group of keys".to_owned())),
        };
        Ok(Profile::Default.collect(settings))
    }
}

/// Returns a key as text; a key of another type as YAML.
pub(super) fn key_text(key: &yaml_serde::Value) -> String {
    match key.as_str() {
        Some(text) => text.to_owned(),
        None => yaml_serde::to_string(key).unwrap_or_default().trim_end().to_owned(),
    }
}

#[expect(clippy::result_large_err, reason = "a `Provider` answers with figment's error, unboxed")]
fn dict(path: &str, entries: &Mapping) -> Result<Dict, Error> {
    entries
        .iter()
        .map(|(key, value)| {
            let key = key_text(key);
            let value = to_figment(&format!("{path}.{key}"), value)?;
            Ok((key, value))
        })
        .collect()
}

/// Converts the value at a path; the path is only used in errors.
#[expect(clippy::result_large_err, reason = "a `Provider` answers with figment's error, unboxed")]
fn to_figment(path: &str, value: &yaml_serde::Value) -> Result<Value, Error> {
    match value {
        yaml_serde::Value::Sequence(values) => {
            let values = values.iter().map(|value| to_figment(path, value));
            Ok(Value::from(values.collect::<Result<Vec<Value>, Error>>()?))
        }
        yaml_serde::Value::Mapping(entries) => Ok(Value::from(dict(path, entries)?)),
        yaml_serde::Value::Tagged(tagged) => {
            let message = format!("the tag `{}` has no meaning here", tagged.tag);
            Err(Error::from(message).with_path(path))
        }
        scalar => Value::serialize(scalar),
    }
}

#[cfg(test)]
mod tests {
    use figment::value::{Empty, Tag};

    use super::*;

    #[track_caller]
    fn check(text: &str, key: &str, expected: impl Into<Value>) {
        let document = yaml_serde::from_str(text).unwrap();
        let data = Yaml(&document).data().unwrap();
        let settings = Value::from(data[&Profile::Default].clone());
        assert_eq!(settings.find(key), Some(expected.into()), "{text}");
    }

    #[test]
    fn every_kind_of_value_keeps_its_type() {
        check("a: {b: 3}", "a.b", 3_u64);
        check("a: -3", "a", -3_i64);
        check("a: 1.5", "a", 1.5);
        check("a: yes", "a", "yes");
        check("a: true", "a", true);
        check("a: [1, x]", "a", vec![Value::from(1_u64), Value::from("x")]);
        check("a:", "a", Value::Empty(Tag::Default, Empty::Unit));
        check("3: x", "3", "x");
    }

    #[test]
    fn a_document_without_keys_sets_nothing() {
        let document = yaml_serde::from_str("# only a comment\n").unwrap();
        assert!(Yaml(&document).data().unwrap()[&Profile::Default].is_empty());
    }

    #[test]
    fn a_tag_is_an_error_at_its_key() {
        let document = yaml_serde::from_str("a:\n  b: !x 3\n").unwrap();
        let error = Yaml(&document).data().unwrap_err();
        assert_eq!(error.path, ["a", "b"]);
        assert_eq!(error.kind.to_string(), "the tag `!x` has no meaning here");
    }
}
