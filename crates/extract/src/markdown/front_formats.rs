//! Parses front matter in TOML (`toml`), JSON (`serde_json`) and the properties of Logseq into the values of YAML.

use yaml_serde::{Mapping, Value};

use super::dialects::property;
use crate::limits;

/// Tables whose keys are used like top-level keys, unless the top level also has them. Zola writes
/// tags into the first; authors and languages are often in the others.
const TOML_TABLES: [&str; 3] = ["taxonomies", "params", "extra"];

/// Parses TOML within the same limits as YAML.
pub(super) fn parse_toml(source: &str) -> Result<Value, String> {
    if !limits::is_readable_yaml(source) {
        return Err("it is too large or nested too deeply".to_owned());
    }
    let table: toml::Table =
        source.parse().map_err(|error| toml::de::Error::message(&error).to_owned())?;
    let mut fields = to_mapping(&table);
    for name in TOML_TABLES {
        let Some(toml::Value::Table(inner)) = table.get(name) else { continue };
        for (key, value) in to_mapping(inner) {
            fields.entry(key).or_insert(value);
        }
    }
    Ok(Value::Mapping(fields))
}

/// Parses JSON within the same limits as YAML.
pub(super) fn parse_json(source: &str) -> Result<Value, String> {
    if !limits::is_readable_yaml(source) {
        return Err("it is too large or nested too deeply".to_owned());
    }
    let object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(source).map_err(|error| error.to_string())?;
    let fields = object.into_iter().map(|(key, value)| (Value::from(key), from_json(value)));
    Ok(Value::Mapping(fields.collect()))
}

fn from_json(value: serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(flag) => Value::from(flag),
        serde_json::Value::Number(number) => Value::from(number.to_string()),
        serde_json::Value::String(text) => Value::from(text),
        serde_json::Value::Array(values) => values.into_iter().map(from_json).collect(),
        serde_json::Value::Object(fields) => Value::Mapping(
            fields.into_iter().map(|(key, value)| (Value::from(key), from_json(value))).collect(),
        ),
    }
}

/// Reads properties of Logseq, whose values may be links.
pub(super) fn read_properties(source: &str) -> Mapping {
    let mut fields = Mapping::new();
    for (key, value) in source.lines().filter_map(property) {
        let value = value.replace("[[", "").replace("]]", "");
        fields.entry(Value::from(key)).or_insert(Value::from(value));
    }
    fields
}

fn to_mapping(table: &toml::Table) -> Mapping {
    table.iter().map(|(key, value)| (Value::from(key.as_str()), from_toml(value))).collect()
}

fn from_toml(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::from(text.as_str()),
        toml::Value::Integer(number) => Value::from(*number),
        toml::Value::Float(number) => Value::from(*number),
        toml::Value::Boolean(flag) => Value::from(*flag),
        toml::Value::Datetime(time) => Value::from(time.to_string()),
        toml::Value::Array(values) => values.iter().map(from_toml).collect(),
        toml::Value::Table(table) => Value::Mapping(to_mapping(table)),
    }
}
