//! Returns the words of values of front matter. Pure.

use yaml_serde::Value;

/// Returns the words of a value: the text of a scalar, the elements of a list, the `name` of a
/// mapping.
pub(super) fn words(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            if text.is_empty() { Vec::new() } else { vec![text] }
        }
        Value::Number(number) => vec![number.to_string()],
        Value::Bool(flag) => vec![flag.to_string()],
        Value::Sequence(values) => values.iter().flat_map(words).collect(),
        Value::Mapping(fields) => fields.get("name").map(words).unwrap_or_default(),
        Value::Tagged(tagged) => words(&tagged.value),
        Value::Null => Vec::new(),
    }
}
