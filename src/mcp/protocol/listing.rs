//! Describes tools to clients in as few tokens as possible.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::ToolAnnotations;
use serde_json::Value;

use crate::mcp::protocol::{Effect, Schema, Tool};

/// The key that marks a property that is accepted but not listed. A model pays for every listed property in every
/// conversation, so those that few calls need are only in the documentation.
pub const UNLISTED: &str = "x-unlisted";

/// Keywords that a model does not need: a value out of bounds gets a clear error.
const BOUNDS: [&str; 4] = ["minimum", "maximum", "minItems", "maxItems"];

/// Returns a tool in the form that clients get.
pub(super) fn described(tool: &Tool) -> rmcp::model::Tool {
    let annotations = ToolAnnotations::new().open_world(false);
    let annotations = match tool.effect {
        Effect::Reads => annotations.read_only(true),
        Effect::Adds { is_idempotent } => {
            annotations.read_only(false).destructive(false).idempotent(is_idempotent)
        }
        Effect::Replaces { is_idempotent } => {
            annotations.read_only(false).destructive(true).idempotent(is_idempotent)
        }
    };
    let (name, description) = (tool.name.clone(), tool.description.clone());
    rmcp::model::Tool::new(
        Cow::Owned(name),
        Cow::Owned(description),
        Arc::new(listed(&tool.schema)),
    )
    .with_title(tool.title.clone())
    .with_annotations(annotations)
}

/// Returns the part of a schema that clients get.
fn listed(schema: &Schema) -> Schema {
    let mut schema = schema.clone();
    if schema.get("required").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        schema.remove("required");
    }
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.retain(|_, property| property.get(UNLISTED).is_none());
        for property in properties.values_mut().filter_map(Value::as_object_mut) {
            property.retain(|keyword, _| !BOUNDS.contains(&keyword.as_str()));
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_few_calls_need_is_not_listed() {
        let schema = json!({ "type": "object", "required": [], "properties": {
            "query": { "type": "string", "description": "Words" },
            "rare": { "type": "string", UNLISTED: true },
            "top": { "type": "integer", "minimum": 1, "maximum": 9 },
        } });
        let expected = json!({ "type": "object", "properties": {
            "query": { "type": "string", "description": "Words" },
            "top": { "type": "integer" },
        } });
        assert_eq!(Value::Object(listed(schema.as_object().unwrap())), expected);
    }
}
