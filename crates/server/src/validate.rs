//! Validates an input against its schema and gives its fields their proper names.
//!
//! Supports the parts of JSON Schema that the schemas of tools use: one type per argument, words,
//! minimums and maximums, items.

use serde_json::{Map, Value, json};

use crate::Schema;

/// Argument names that agents guess, each with the intended one. Applies only if a schema has the
/// intended name and lacks the guessed one.
const ALIASES: &[(&str, &str)] = &[
    ("q", "query"),
    ("question", "query"),
    ("search_query", "query"),
    ("limit", "top"),
    ("k", "top"),
    ("n", "top"),
    ("top_k", "top"),
    ("num_results", "top"),
    ("max_results", "top"),
    ("top", "limit"),
    ("k", "limit"),
    ("n", "limit"),
    ("top_k", "limit"),
    ("max_results", "limit"),
    ("doc", "document"),
    ("doc_id", "document"),
    ("document_id", "document"),
    ("id", "document"),
    ("chunk_id", "chunk"),
    ("heading", "section"),
    ("doc_type", "type"),
    ("token_budget", "budget"),
    ("max_tokens", "budget"),
    ("skill_name", "skill"),
    ("name", "skill"),
    ("file", "path"),
    ("note", "text"),
    ("content", "text"),
    ("knowledge_base", "base"),
    ("bases", "base"),
];

/// The arguments that are a number or a text.
const NUMBER_OR_TEXT: [&str; 3] = ["document", "page", "path"];

/// Whole numbers up to this one are exact in a double.
const LARGEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// Returns the input with every argument under its proper name.
pub(super) fn validate(schema: &Schema, input: Value) -> Result<Value, Value> {
    let Value::Object(given) = input else {
        return Err(json!([issue("", "the arguments are not an object")]));
    };
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let mut issues = Vec::new();
    let mut named = Map::new();
    for (name, value) in given {
        let meant = proper_name(&name, properties);
        let Some(property) = properties.get(meant) else {
            issues.push(issue(&name, &unknown(&name, properties)));
            continue;
        };
        // A null argument counts as not given.
        if value.is_null() {
            continue;
        }
        let Some(value) = adapted(meant, value, property) else { continue };
        check(meant, &value, property, &mut issues);
        if named.insert(meant.to_owned(), value).is_some() {
            issues.push(issue(meant, "given twice"));
        }
    }
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    for name in required.filter_map(Value::as_str).filter(|name| !named.contains_key(*name)) {
        issues.push(issue(name, "missing"));
    }
    if issues.is_empty() { Ok(Value::Object(named)) } else { Err(Value::Array(issues)) }
}

/// Returns a value as the type that a property has, where only the spelling differs: weaker models write `"5"`,
/// `5.0`, `"true"`, `"PDF"` or one text for a list, and a document is named by its id. `None` for a word that is empty.
fn adapted(name: &str, value: Value, property: &Value) -> Option<Value> {
    let kind = property["type"].as_str().unwrap_or_default();
    Some(match (kind, &value) {
        ("integer", Value::String(text)) => text.trim().parse::<i64>().map_or(value, Value::from),
        ("integer", Value::Number(number)) => number.as_f64().and_then(whole).unwrap_or(value),
        ("boolean", Value::String(text)) => text.trim().parse::<bool>().map_or(value, Value::from),
        ("string", Value::Number(number)) if NUMBER_OR_TEXT.contains(&name) => {
            let whole = number.as_f64().and_then(whole);
            Value::String(whole.unwrap_or(value).to_string())
        }
        ("string", Value::String(text)) => {
            let words = property.get("enum").and_then(Value::as_array);
            let mut known = words.into_iter().flatten().filter_map(Value::as_str);
            match known.find(|word| word.eq_ignore_ascii_case(text.trim())) {
                Some(word) => word.into(),
                None if words.is_some() && text.trim().is_empty() => return None,
                None => value,
            }
        }
        ("array", Value::String(_)) => json!([value]),
        _ => value,
    })
}

/// Returns a number without a fraction as a whole number.
fn whole(number: f64) -> Option<Value> {
    let is_whole = number.fract() == 0.0 && number.abs() < LARGEST_EXACT;
    #[expect(clippy::cast_possible_truncation, reason = "it has no fraction and is small enough")]
    is_whole.then(|| Value::from(number as i64))
}

fn proper_name<'a>(name: &'a str, properties: &Map<String, Value>) -> &'a str {
    if properties.contains_key(name) {
        return name;
    }
    let found =
        ALIASES.iter().find(|(alias, meant)| *alias == name && properties.contains_key(*meant));
    found.map_or(name, |(_, meant)| meant)
}

fn unknown(name: &str, properties: &Map<String, Value>) -> String {
    let names: Vec<&str> = properties.keys().map(String::as_str).collect();
    if names.is_empty() {
        return "unknown argument; this tool takes none".to_owned();
    }
    match names.iter().find(|known| known.contains(name) || name.contains(**known)) {
        Some(near) => format!("unknown argument; did you mean `{near}`?"),
        None => format!("unknown argument; known are {}", names.join(", ")),
    }
}

fn issue(path: &str, message: &str) -> Value {
    json!({ "path": path, "message": message })
}

/// Checks a value against a schema and adds an issue for each problem.
fn check(path: &str, value: &Value, schema: &Value, issues: &mut Vec<Value>) {
    let kind = schema.get("type").and_then(Value::as_str);
    if let Some(kind) = kind.filter(|kind| !is_of(value, kind)) {
        issues.push(issue(path, &format!("{kind} expected")));
        return;
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array)
        && !words.contains(value)
    {
        let words: Vec<String> = words.iter().map(Value::to_string).collect();
        issues.push(issue(path, &format!("none of {}", words.join(", "))));
    }
    if let Some(number) = value.as_f64() {
        let least = schema.get("minimum").and_then(Value::as_f64);
        if let Some(least) = least.filter(|least| number < *least) {
            issues.push(issue(path, &format!("less than {least}")));
        }
        let most = schema.get("maximum").and_then(Value::as_f64);
        if let Some(most) = most.filter(|most| number > *most) {
            issues.push(issue(path, &format!("more than {most}")));
        }
    }
    if let (Some(items), Some(item)) = (value.as_array(), schema.get("items")) {
        for (idx, value) in items.iter().enumerate() {
            check(&format!("{path}[{idx}]"), value, item, issues);
        }
    }
}

/// Whether a value has a type of JSON Schema.
pub(super) fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema() -> Schema {
        let schema = json!({
            "type": "object",
            "properties": {
                "query": { "type": "string" },
                "top": { "type": "integer", "minimum": 1, "maximum": 9 },
                "type": { "type": "string", "enum": ["pdf"] },
                "tags": { "type": "array", "items": { "type": "string" } }
            },
            "required": ["query"]
        });
        schema.as_object().unwrap().clone()
    }

    #[track_caller]
    fn check_issues(input: Value, expected: &[(&str, &str)]) {
        let issues = validate(&schema(), input).unwrap_err();
        let found: Vec<(&str, &str)> = issues
            .as_array()
            .unwrap()
            .iter()
            .map(|issue| (issue["path"].as_str().unwrap(), issue["message"].as_str().unwrap()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn guessed_names_are_understood() {
        let input = json!({ "q": "x", "limit": 3, "tags": ["a"], "type": null });
        let expected = json!({ "query": "x", "top": 3, "tags": ["a"] });
        assert_eq!(validate(&schema(), input).unwrap(), expected);
    }

    #[test]
    fn other_spellings_of_a_value_are_understood() {
        let schema = json!({ "type": "object", "properties": {
            "top": { "type": "integer" }, "is": { "type": "boolean" }, "document": { "type": "string" },
            "type": { "type": "string", "enum": ["pdf"] }, "tags": { "type": "array" },
        } });
        let schema = schema.as_object().unwrap();
        let expected =
            json!({ "top": 5, "is": true, "document": "7", "type": "pdf", "tags": ["a,b"] });
        for input in [
            json!({ "top": "5", "is": "true", "document": 7, "type": "PDF", "tags": "a,b" }),
            json!({ "top": 5.0, "is": true, "document": 7.0, "type": "pdf", "tags": ["a,b"] }),
        ] {
            assert_eq!(validate(schema, input).unwrap(), expected);
        }
        assert_eq!(validate(schema, json!({ "type": " " })).unwrap(), json!({}));
        assert!(validate(schema, json!({ "type": "word" })).is_err());
        assert!(validate(schema, json!({ "top": "five" })).is_err());
        assert!(validate(schema, json!({ "is": "yes" })).is_err());
    }

    #[test]
    fn all_issues_are_reported_at_once() {
        check_issues(json!([]), &[("", "the arguments are not an object")]);
        check_issues(
            json!({ "top": 0, "type": "word", "tags": ["a", 1] }),
            &[
                ("top", "less than 1"),
                ("type", "none of \"pdf\""),
                ("tags[1]", "string expected"),
                ("query", "missing"),
            ],
        );
        check_issues(
            json!({ "query": 7, "top": 1.5 }),
            &[("query", "string expected"), ("top", "integer expected")],
        );
        check_issues(json!({ "query": "x", "q": "y" }), &[("query", "given twice")]);
    }

    #[test]
    fn bounds_are_allowed_and_what_is_beyond_them_is_an_issue() {
        for top in [1, 9] {
            assert!(validate(&schema(), json!({ "query": "x", "top": top })).is_ok(), "{top}");
        }
        check_issues(json!({ "query": "x", "top": 0 }), &[("top", "less than 1")]);
        check_issues(json!({ "query": "x", "top": 10 }), &[("top", "more than 9")]);
        check_issues(json!({ "query": "x", "top": "99999999" }), &[("top", "more than 9")]);
    }

    #[test]
    fn whole_numbers_may_be_written_with_a_point_as_far_as_that_is_exact() {
        for (number, expected) in [
            (5.0, json!(5)),
            (-5.0, json!(-5)),
            (5.5, Value::Null),
            (9_007_199_254_740_991.0, json!(9_007_199_254_740_991_i64)),
            (9_007_199_254_740_992.0, Value::Null),
            (-9_007_199_254_740_992.0, Value::Null),
            (f64::INFINITY, Value::Null),
        ] {
            assert_eq!(whole(number).unwrap_or_default(), expected, "{number}");
        }
    }

    #[test]
    fn a_guessed_name_is_another_argument_where_the_schema_has_it() {
        let names = |known: &[&str]| {
            known.iter().map(|name| ((*name).to_owned(), json!({}))).collect::<Map<_, _>>()
        };
        for (given, known, meant) in [
            ("n", &["top"][..], "top"),
            ("n", &["limit"], "limit"),
            ("n", &["n", "top"], "n"),
            ("n", &["query"], "n"),
            ("id", &["document", "limit"], "document"),
        ] {
            assert_eq!(proper_name(given, &names(known)), meant, "{given} of {known:?}");
        }
        assert_eq!(unknown("x", &Map::new()), "unknown argument; this tool takes none");
    }

    #[test]
    fn every_type_of_json_is_told_from_the_others() {
        let values = [
            ("string", json!("a")),
            ("integer", json!(1)),
            ("boolean", json!(true)),
            ("array", json!([])),
            ("object", json!({})),
            ("null", Value::Null),
        ];
        for (kind, _) in &values {
            for (other, value) in &values {
                assert_eq!(is_of(value, kind), kind == other, "{value} as {kind}");
            }
        }
        assert!(is_of(&json!(u64::MAX), "integer") && is_of(&json!(1.5), "number"));
        assert!(!is_of(&json!(1.5), "integer") && is_of(&json!(1), "unknown"));
    }

    #[test]
    fn an_unknown_argument_comes_with_a_hint() {
        check_issues(
            json!({ "query": "x", "tag": "a" }),
            &[("tag", "unknown argument; did you mean `tags`?")],
        );
        check_issues(
            json!({ "query": "x", "zzz": 1 }),
            &[("zzz", "unknown argument; known are query, top, type, tags")],
        );
    }
}
