//! Lists every field of a JSON Schema with its path, type and meaning.

use serde_json::{Map, Value};

/// A field of the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputField {
    /// Keys on its path, joined by dots; `[]` means every element of an array, `*` every key.
    pub path: String,
    /// Its type in words: `string or null`.
    pub kind: String,
    /// Whether it may be absent.
    pub is_optional: bool,
    /// Its meaning.
    pub meaning: String,
}

/// Returns the fields of a schema in the order of the output.
pub(super) fn fields(schema: &Value) -> Vec<OutputField> {
    let mut found = Vec::new();
    let walk = SchemaWalk { types: schema["$defs"].as_object() };
    walk.inside(schema, "", &mut found);
    found
}

/// Returns the type of the output in words.
pub(super) fn kind(schema: &Value) -> String {
    SchemaWalk { types: schema["$defs"].as_object() }.kind(schema)
}

struct SchemaWalk<'a> {
    types: Option<&'a Map<String, Value>>,
}

impl<'a> SchemaWalk<'a> {
    /// Resolves a reference to a type of the schema.
    fn resolve(&self, schema: &'a Value) -> &'a Value {
        let name = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next());
        name.and_then(|name| self.types?.get(name)).unwrap_or(schema)
    }

    /// Adds the fields inside a value.
    fn inside(&self, schema: &'a Value, path: &str, found: &mut Vec<OutputField>) {
        let schema = self.resolve(schema);
        for choice in schema["anyOf"].as_array().into_iter().flatten() {
            self.inside(choice, path, found);
        }
        if schema["items"].is_object() {
            self.inside(&schema["items"], &format!("{path}[]"), found);
        }
        let required = schema["required"].as_array();
        for (key, field) in schema["properties"].as_object().into_iter().flatten() {
            let dot = if path.is_empty() { "" } else { "." };
            let path = format!("{path}{dot}{key}");
            let is_optional = !required.is_some_and(|name| name.iter().any(|name| name == key));
            let kind = self.kind(field);
            // An optional field is never null.
            let kind = match kind.strip_suffix(" or null") {
                Some(kind) if is_optional => kind.to_owned(),
                _ => kind,
            };
            found.push(OutputField {
                path: path.clone(),
                kind,
                is_optional,
                meaning: field["description"].as_str().unwrap_or_default().to_owned(),
            });
            self.inside(field, &path, found);
        }
    }

    /// Returns the type of a value in words.
    fn kind(&self, schema: &'a Value) -> String {
        let schema = self.resolve(schema);
        let mut kinds: Vec<String> = match (&schema["type"], &schema["anyOf"]) {
            (Value::String(word), _) => vec![self.named(word, schema)],
            (Value::Array(words), _) => words
                .iter()
                .filter_map(Value::as_str)
                .map(|word| self.named(word, schema))
                .collect(),
            (_, Value::Array(choices)) => choices.iter().map(|choice| self.kind(choice)).collect(),
            _ => vec!["any".to_owned()],
        };
        kinds.dedup();
        kinds.join(" or ")
    }

    fn named(&self, word: &str, schema: &'a Value) -> String {
        let inner = match word {
            "array" => &schema["items"],
            "object" => &schema["additionalProperties"],
            _ => &Value::Null,
        };
        if inner.is_object() { format!("{word} of {}", self.kind(inner)) } else { word.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_found_through_references_arrays_and_choices() {
        let schema = json!({
            "properties": {
                "id": { "type": "integer", "description": "The id." },
                "parts": { "type": "array", "items": { "$ref": "#/$defs/Part" } },
                "names": { "type": ["array", "null"], "items": { "type": "string" } },
                "counts": { "type": "object", "additionalProperties": { "type": "integer" } },
                "other": { "anyOf": [{ "$ref": "#/$defs/Part" }, { "type": "null" }] },
                "rest": true,
            },
            "required": ["id"],
            "$defs": { "Part": { "type": "object", "properties": { "page": { "type": "number" } } } },
        });
        let found = fields(&schema);
        let lines: Vec<String> =
            found.iter().map(|field| format!("{} {}", field.path, field.kind)).collect();
        assert_eq!(
            lines,
            [
                "id integer",
                "parts array of object",
                "parts[].page number",
                "names array of string",
                "counts object of integer",
                "other object",
                "other.page number",
                "rest any",
            ]
        );
        assert!(!found[0].is_optional && found[1].is_optional);
        assert_eq!(found[0].meaning, "The id.");
    }
}
