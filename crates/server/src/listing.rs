//! Describes tools to clients in as few tokens as possible.

use std::borrow::Cow;
use std::sync::Arc;

use rmcp::model::ToolAnnotations;
use serde_json::Value;

use crate::{Schema, Tool, ToolEffect};

/// The key that marks a property that is accepted but not listed. A model pays for every listed property in every
/// conversation, so those that few calls need are only in the documentation.
pub const UNLISTED: &str = "x-unlisted";

/// Keywords that a model does not need: a value out of bounds gets a clear error.
const BOUNDS: [&str; 4] = ["minimum", "maximum", "minItems", "maxItems"];

/// Returns a tool in the form that clients get.
pub(super) fn described(tool: &Tool) -> rmcp::model::Tool {
    let annotations = ToolAnnotations::new().open_world(false);
    let annotations = match tool.effect {
        ToolEffect::Reads => annotations.read_only(true),
        ToolEffect::Adds { is_idempotent } => {
            annotations.read_only(false).destructive(false).idempotent(is_idempotent)
        }
        ToolEffect::Replaces { is_idempotent } => {
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
    fn a_tool_says_what_it_changes() {
        let tool = |effect| Tool {
            name: "kb_x".into(),
            title: "X".into(),
            description: "Does x.".into(),
            schema: json!({ "type": "object", "required": ["a"] }).as_object().unwrap().clone(),
            effect,
            handler: Box::new(|input, _| Ok(input.into())),
        };
        for (effect, reads, destroys, is_idempotent) in [
            (ToolEffect::Reads, true, None, None),
            (ToolEffect::Adds { is_idempotent: true }, false, Some(false), Some(true)),
            (ToolEffect::Adds { is_idempotent: false }, false, Some(false), Some(false)),
            (ToolEffect::Replaces { is_idempotent: true }, false, Some(true), Some(true)),
        ] {
            let described = described(&tool(effect));
            let annotations = described.annotations.unwrap();
            assert_eq!(
                (annotations.read_only_hint, annotations.open_world_hint),
                (Some(reads), Some(false))
            );
            assert_eq!(
                (annotations.destructive_hint, annotations.idempotent_hint),
                (destroys, is_idempotent)
            );
            assert_eq!((&*described.name, described.title.as_deref()), ("kb_x", Some("X")));
            assert_eq!(described.input_schema["required"], json!(["a"]));
        }
    }

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
