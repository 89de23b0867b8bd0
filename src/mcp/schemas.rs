//! Makes the input schemas of tools from types, as simple as all clients can read.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::server::Schema;

/// Returns the schema of a type, as simple as possible.
pub(super) fn schema<I: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = settings.into_generator().into_root_schema_for::<I>();
    match schema.to_value() {
        Value::Object(mut schema) => {
            // The tool's description already says what it is for.
            schema.remove("title");
            schema.remove("description");
            // One large client cannot read a boolean there. Unknown arguments are refused anyway.
            schema.remove("unevaluatedProperties");
            schema.remove("additionalProperties");
            let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
            properties.into_iter().flat_map(Map::values_mut).for_each(simplify);
            schema
        }
        _ => Map::new(),
    }
}

/// Removes facts that cost agents tokens and teach them nothing: that a property may be null, which means to omit it,
/// the width of its number, and its default. A property that may be a number or text becomes text, because some clients
/// refuse a choice of types.
fn simplify(property: &mut Value) {
    let Some(property) = property.as_object_mut() else { return };
    property.remove("format");
    property.remove("default");
    if let Some(Value::Array(types)) = property.get_mut("type") {
        // An argument that is not given is left out, so `null` is no choice.
        types.retain(|name| name != "null");
        let only = match types.as_slice() {
            [only] => only.clone(),
            _ => "string".into(),
        };
        property.insert("type".into(), only);
    }
    if let Some(Value::Array(words)) = property.get_mut("enum") {
        words.retain(|word| !word.is_null());
        property.remove("description");
    }
    if let Some(Value::Array(choices)) = property.get("anyOf")
        && let [Value::Object(only), null] = choices.as_slice()
        && null["type"] == "null"
    {
        let only = only.clone();
        property.remove("anyOf");
        property.extend(only);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The description of a tool.
    #[derive(JsonSchema)]
    #[schemars(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is needed")]
    struct Input {
        /// The words to find
        query: String,
        /// At most so many
        top: Option<u32>,
        /// Words
        #[schemars(default)]
        words: Vec<String>,
        order: Option<Order>,
    }

    #[derive(JsonSchema)]
    #[schemars(rename_all = "lowercase")]
    #[expect(dead_code, reason = "only its schema is needed")]
    enum Order {
        Title,
        Size,
    }

    #[test]
    fn properties_say_only_what_a_model_cannot_guess() {
        for (mut property, expected) in [
            (
                json!({ "type": ["integer", "null"], "format": "uint32" }),
                json!({ "type": "integer" }),
            ),
            (json!({ "type": ["integer", "string"] }), json!({ "type": "string" })),
            (json!({ "type": "array", "default": [] }), json!({ "type": "array" })),
            (json!({ "enum": ["a", null], "description": "One of a" }), json!({ "enum": ["a"] })),
            (
                json!({ "description": "D", "anyOf": [{ "type": "string" }, { "type": "null" }] }),
                json!({ "description": "D", "type": "string" }),
            ),
            (
                json!({ "anyOf": [{ "type": "string" }, { "type": "array" }] }),
                json!({ "anyOf": [{ "type": "string" }, { "type": "array" }] }),
            ),
            (json!(true), json!(true)),
        ] {
            simplify(&mut property);
            assert_eq!(property, expected);
        }
    }

    #[test]
    fn a_schema_has_only_what_agents_need() {
        let expected = json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "The words to find" },
                "top": { "type": "integer", "description": "At most so many", "minimum": 0 },
                "words": { "type": "array", "description": "Words", "items": { "type": "string" } },
                "order": { "type": "string", "enum": ["title", "size"] },
            },
            "required": ["query"],
        });
        assert_eq!(Value::Object(schema::<Input>()), expected);
    }
}
