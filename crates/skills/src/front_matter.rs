//! Reads the front matter of a skill's Markdown file (`yaml_serde`).
//!
//! Front matter is YAML between two lines `---`. A file may also open with a thematic break, so
//! anything that is not front matter is treated as text.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde::Deserializer;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde_json::Map;
use yaml_serde::Value;

use crate::extract::markdown::front_matter;

/// Why a file has no usable front matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrontMatterFault {
    /// The first line is not `---`.
    NotOpened,
    /// No later line is `---`.
    NotClosed,
    /// The text between the lines is not YAML, or not a mapping.
    NotYaml(String),
}

impl fmt::Display for FrontMatterFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOpened => f.write_str("missing frontmatter: file does not start with ---"),
            Self::NotClosed => f.write_str("missing frontmatter: no closing --- found"),
            Self::NotYaml(error) => write!(f, "invalid frontmatter YAML: {error}"),
        }
    }
}

/// The fields of a front matter.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fields {
    values: Map<String, serde_json::Value>,
    /// Top-level numbers and booleans, as written in the file.
    as_written: BTreeMap<String, String>,
}

/// Reads the front matter of a file. Returns it together with the offset of the body.
pub fn read(text: &str) -> Result<(Fields, usize), FrontMatterFault> {
    let (inside, body_start) = split(text)?;
    Ok((parse(&text[inside])?, body_start))
}

/// Returns the offset of the body of a file. In SKILL.md (`is_skill_file`) front matter is
/// expected, so a broken one is also skipped; elsewhere only valid front matter is.
pub fn body_start(text: &str, is_skill_file: bool) -> usize {
    let Ok((inside, body_start)) = split(text) else { return 0 };
    let inside = &text[inside];
    let is_expected = is_skill_file || !inside.lines().next().unwrap_or_default().trim().is_empty();
    match parse(inside) {
        Ok(_) if is_expected => body_start,
        Err(FrontMatterFault::NotYaml(_)) if is_skill_file => body_start,
        _ => 0,
    }
}

/// Finds the range between the fences and the offset of the body.
fn split(text: &str) -> Result<(Range<usize>, usize), FrontMatterFault> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim_end() != "---" {
        return Err(FrontMatterFault::NotOpened);
    }
    let mut offset = first.len();
    for line in lines {
        if line.trim_end() == "---" {
            return Ok((first.len()..offset, offset + line.len()));
        }
        offset += line.len();
    }
    Err(FrontMatterFault::NotClosed)
}

fn parse(inside: &str) -> Result<Fields, FrontMatterFault> {
    let mapping = match front_matter::parse(inside).map_err(FrontMatterFault::NotYaml)? {
        Value::Mapping(mapping) => mapping,
        Value::Null => return Ok(Fields::default()),
        _ => return Err(FrontMatterFault::NotYaml("not a mapping".into())),
    };
    let as_written = yaml_serde::Deserializer::from_str(inside)
        .deserialize_map(AsWritten(&mapping))
        .map_err(|error| FrontMatterFault::NotYaml(error.to_string()))?;
    let values = mapping.iter().map(|(key, value)| (key_text(key), to_json(value))).collect();
    Ok(Fields { values, as_written })
}

/// Collects the plain scalars of a mapping as they are written: `1.10` is not `1.1`.
struct AsWritten<'a>(&'a yaml_serde::Mapping);

impl<'de> Visitor<'de> for AsWritten<'_> {
    type Value = BTreeMap<String, String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a mapping")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = BTreeMap::new();
        while let Some(key) = map.next_key::<Value>()? {
            if matches!(self.0.get(&key), Some(Value::Number(_) | Value::Bool(_))) {
                found.insert(key_text(&key), map.next_value::<String>()?);
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

fn key_text(key: &Value) -> String {
    match key {
        Value::String(text) => text.clone(),
        other => to_json(other).to_string(),
    }
}

fn to_json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(flag) => (*flag).into(),
        // JSON has no infinities: they stay words.
        Value::Number(number) => number
            .as_i64()
            .map(Into::into)
            .or_else(|| number.as_u64().map(Into::into))
            .or_else(|| number.as_f64().and_then(serde_json::Number::from_f64).map(Into::into))
            .unwrap_or_else(|| number.to_string().into()),
        Value::String(text) => text.as_str().into(),
        Value::Sequence(values) => values.iter().map(to_json).collect(),
        Value::Mapping(fields) => serde_json::Value::Object(
            fields.iter().map(|(key, value)| (key_text(key), to_json(value))).collect(),
        ),
        Value::Tagged(tagged) => to_json(&tagged.value),
    }
}

impl Fields {
    /// Returns the names of all fields, in the order of the file.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.keys().map(String::as_str)
    }

    /// Whether a field is present and not null.
    pub fn has(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(|value| !value.is_null())
    }

    /// Returns a scalar as text; `None` if it is missing, null, a list or a mapping.
    pub fn text(&self, name: &str) -> Option<String> {
        match self.values.get(name)? {
            serde_json::Value::String(text) => Some(text.clone()),
            _ => self.as_written.get(name).cloned(),
        }
    }

    /// Returns a text in a mapping; `None` if the mapping or the text is missing.
    pub fn text_in(&self, mapping: &str, name: &str) -> Option<String> {
        self.values.get(mapping)?.get(name)?.as_str().map(str::to_owned)
    }

    /// Returns a list of scalars as texts; empty if the field is missing or null.
    pub fn texts(&self, name: &str) -> Result<Vec<String>, String> {
        let values = match self.values.get(name) {
            None | Some(serde_json::Value::Null) => return Ok(Vec::new()),
            Some(serde_json::Value::Array(values)) => values,
            Some(_) => return Err(format!("{name} is not a list")),
        };
        let texts = values.iter().map(|value| match value {
            serde_json::Value::String(text) => Ok(text.clone()),
            serde_json::Value::Number(_) | serde_json::Value::Bool(_) => Ok(value.to_string()),
            _ => Err(format!("{name} has values that are not words")),
        });
        texts.collect()
    }

    /// Returns all fields as one JSON object, including unknown ones.
    pub fn to_json(&self) -> String {
        serde_json::Value::Object(self.values.clone()).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(inside: &str) -> Fields {
        read(&format!("---\n{inside}---\nBody\n")).unwrap().0
    }

    #[test]
    fn fields_and_body_are_separated() {
        let text = "---\r\nname: x\r\ndescription: \"a: b\"\r\n---\r\n# X\r\n";
        let (fields, start) = read(text).unwrap();
        assert_eq!(fields.text("name").as_deref(), Some("x"));
        assert_eq!(fields.text("description").as_deref(), Some("a: b"));
        assert_eq!(&text[start..], "# X\r\n");
    }

    #[test]
    fn scalars_are_kept_as_they_are_written() {
        let fields =
            fields("version: 1.10\nflag: yes\ntruth: true\nn: 0x10\nd: 2024-01-02\nz: ~\n");
        for (name, expected) in [
            ("version", Some("1.10")),
            ("flag", Some("yes")),
            ("truth", Some("true")),
            ("n", Some("0x10")),
            ("d", Some("2024-01-02")),
            ("z", None),
            ("absent", None),
        ] {
            assert_eq!(fields.text(name).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn every_field_is_in_the_json() {
        let fields = fields("name: x\nlicense: MIT\nmetadata: {a: [1, two], 3: .inf}\nempty:\n");
        assert_eq!(
            fields.to_json(),
            r#"{"name":"x","license":"MIT","metadata":{"a":[1,"two"],"3":".inf"},"empty":null}"#
        );
    }

    #[test]
    fn lists_hold_words_or_are_refused() {
        let fields = fields("a: [read, 7]\nb: read\nc: [[x]]\nd:\n");
        assert_eq!(fields.texts("a").unwrap(), ["read", "7"]);
        assert_eq!(fields.texts("d").unwrap(), Vec::<String>::new());
        assert_eq!(fields.texts("none").unwrap(), Vec::<String>::new());
        assert_eq!(fields.texts("b").unwrap_err(), "b is not a list");
        assert_eq!(fields.texts("c").unwrap_err(), "c has values that are not words");
    }

    #[test]
    fn faults_are_reported() {
        for (text, expected) in [
            ("# X\n", "missing frontmatter: file does not start with ---"),
            ("", "missing frontmatter: file does not start with ---"),
            ("---\nname: x\n", "missing frontmatter: no closing --- found"),
            ("---\n- x\n---\n", "invalid frontmatter YAML: not a mapping"),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), expected);
        }
        let error = read("---\ndescription: a: b\n---\n").unwrap_err().to_string();
        assert!(error.starts_with("invalid frontmatter YAML: mapping values"), "{error}");
    }

    #[test]
    fn a_thematic_break_is_not_front_matter() {
        for text in ["---\n\n# X\nkey: value\n---\n", "---\nJust text.\n---\n", "---\nx: y\n"] {
            assert_eq!(body_start(text, false), 0, "{text:?}");
        }
        let text = "---\n\nname: x\n---\nBody";
        assert_eq!(&text[body_start(text, true)..], "Body");
        let text = "---\ndescription: a: b\n---\nBody";
        assert_eq!(&text[body_start(text, true)..], "Body");
        let text = "---\n# only a comment\n---\nBody";
        assert_eq!(&text[body_start(text, false)..], "Body");
    }

    #[test]
    fn endless_nesting_is_not_followed() {
        let text = format!("---\nname: {}\n---\n", "[".repeat(100_000));
        assert!(matches!(read(&text), Err(FrontMatterFault::NotYaml(_))));
    }
}
