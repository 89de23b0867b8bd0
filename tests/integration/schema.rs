//! Tests the published JSON schemas: the committed files match the types, promised fields stay, and
//! whatever a test makes a command print matches its schema.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use kb::present::schema::PUBLISHED;
use serde_json::Value;

use crate::env::TestEnv;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the committed schemas, by name.
fn schemas() -> &'static BTreeMap<String, Value> {
    static SCHEMAS: OnceLock<BTreeMap<String, Value>> = OnceLock::new();
    SCHEMAS.get_or_init(|| {
        let read = |name: &str| {
            let text = fs::read_to_string(root().join(format!("docs/schema/{name}.json")));
            serde_json::from_str(&text.expect("run `make schema`")).unwrap()
        };
        PUBLISHED.iter().map(|schema| (schema.name.to_owned(), read(schema.name))).collect()
    })
}

/// Requires that the output of a run matches the schema published for it.
#[track_caller]
pub(crate) fn check_run(command: &Command, stdout: &str, stderr: &str, is_success: bool) {
    let args: Vec<&str> = command.get_args().filter_map(OsStr::to_str).collect();
    let is_kb = Path::new(command.get_program()).file_stem() == Some(OsStr::new("kb"));
    if let Some(printed) = printed_by(&args).filter(|_| is_kb) {
        let values = || stdout.lines().filter_map(|line| serde_json::from_str(line).ok());
        match printed {
            Printed::Value(name) if is_success => {
                // Help and the like are text.
                if let Ok(value) = serde_json::from_str(stdout) {
                    check(name, &value);
                }
            }
            Printed::Lines(names) => values().for_each(|value: Value| check_any(names, &value)),
            Printed::OneOf(names) if is_success => {
                if let Ok(value) = serde_json::from_str(stdout) {
                    check_any(names, &value);
                }
            }
            Printed::Value(_) | Printed::OneOf(_) => {}
        }
        if let Ok(error) = serde_json::from_str(stderr) {
            check("error", &error);
        }
    }
}

/// The schemas of a command's output.
enum Printed {
    Value(&'static str),
    /// One value, of one of these.
    OneOf(&'static [&'static str]),
    Lines(&'static [&'static str]),
}

/// Returns the schemas of a command line's output, if it is JSON.
fn printed_by(args: &[&str]) -> Option<Printed> {
    let mut words = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match *arg {
            "--data-dir" | "--base" | "--color" | "--log-file" => drop(rest.next()),
            arg if !arg.starts_with('-') => words.push(arg),
            _ => {}
        }
    }
    let format = args.iter().position(|arg| arg.starts_with("--format")).map(|at| {
        args[at].strip_prefix("--format=").or(args.get(at + 1).copied()).unwrap_or_default()
    });
    let name = match words.as_slice() {
        ["search", ..]
            if args.iter().any(|arg| arg.starts_with("--batch")) && format != Some("agent") =>
        {
            return Some(Printed::Lines(&["search", "error"]));
        }
        ["search", ..] if format == Some("jsonl") => {
            return Some(Printed::Lines(&["search-jsonl"]));
        }
        ["grep", ..] if format == Some("jsonl") => return Some(Printed::Lines(&["grep-jsonl"])),
        ["convert", ..] if format == Some("jsonl") => {
            return Some(Printed::Lines(&[
                "convert", "convert-failed", "export-head", "export-document",
            ]));
        }
        ["export"] => return Some(Printed::Lines(&["export-head", "export-document"])),
        ["embed", ..] => return Some(Printed::Lines(&["embed"])),
        ["search", ..] if format.is_none() => "search".to_owned(),
        _ if format != Some("json") => return None,
        ["skill", second, ..] => format!("skill-{second}"),
        ["config", "set", ..] => return None,
        [command @ ("add" | "reindex"), ..] if args.contains(&"--dry-run") => {
            format!("{command}-dry-run")
        }
        ["files", ..] if args.contains(&"--waive") => "files-waive".to_owned(),
        ["convert", ..] if args.iter().any(|arg| arg.starts_with("--output")) => {
            "convert-report".to_owned()
        }
        ["show", ..] if args.contains(&"--image") => "show-image".to_owned(),
        ["cache", "clean", ..] => "cache-clean".to_owned(),
        ["tags", "rename", ..] => "tags-rename".to_owned(),
        ["mcp", "install", ..] => "mcp-install".to_owned(),
        ["base", "list", ..] => "base-list".to_owned(),
        ["tag", ..] => return Some(Printed::OneOf(&["tag", "tag-several"])),
        [first, ..] => (*first).to_owned(),
        [] => return None,
    };
    PUBLISHED.iter().find(|schema| schema.name == name).map(|schema| Printed::Value(schema.name))
}

#[track_caller]
pub(crate) fn check(name: &str, value: &Value) {
    let faults = faults(&schemas()[name], value);
    assert!(faults.is_empty(), "not of the shape `{name}`:\n{}\n{value:#}", faults.join("\n"));
}

#[track_caller]
pub(crate) fn check_any(names: &[&str], value: &Value) {
    let is_one = names.iter().any(|name| faults(&schemas()[*name], value).is_empty());
    assert!(is_one, "of none of the shapes {names:?}:\n{value:#}");
}

/// Returns the violations of a schema by a value, for the keywords of JSON Schema that ours use.
/// Keys that the schema does not name are also violations.
fn faults(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare(schema, schema, value, "$", &mut found);
    found
}

fn compare(root: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let Some(words) = schema.as_object() else {
        assert_eq!(schema, &Value::Bool(true), "a schema is an object or true");
        return;
    };
    for (word, rule) in words {
        match word.as_str() {
            "$schema" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
                compare(root, root.pointer(pointer).unwrap(), value, at, found);
            }
            "anyOf" => {
                let is_one = rule.as_array().unwrap().iter().any(|choice| {
                    let mut faults = Vec::new();
                    compare(root, choice, value, at, &mut faults);
                    faults.is_empty()
                });
                if !is_one {
                    found.push(format!("{at}: none of the choices fits"));
                }
            }
            "type" => {
                let is_kind = |kind: &Value| is_kind(kind.as_str().unwrap(), value);
                let fits =
                    rule.as_array().map_or_else(|| is_kind(rule), |kind| kind.iter().any(is_kind));
                if !fits {
                    found.push(format!("{at}: not {rule}"));
                }
            }
            "minimum" => {
                if value.as_f64().is_some_and(|number| number < rule.as_f64().unwrap()) {
                    found.push(format!("{at}: below {rule}"));
                }
            }
            "required" => {
                let Some(entries) = value.as_object() else { continue };
                let keys = rule.as_array().unwrap().iter().map(|key| key.as_str().unwrap());
                let missing = keys.filter(|key| !entries.contains_key(*key));
                found.extend(missing.map(|key| format!("{at}: {key} is missing")));
            }
            "properties" => {
                for (key, entry) in value.as_object().into_iter().flatten() {
                    match rule.get(key) {
                        Some(rule) => compare(root, rule, entry, &format!("{at}.{key}"), found),
                        None => found.push(format!("{at}: {key} is not published")),
                    }
                }
            }
            "additionalProperties" => {
                for (key, entry) in value.as_object().into_iter().flatten() {
                    compare(root, rule, entry, &format!("{at}.{key}"), found);
                }
            }
            "items" => {
                for (idx, element) in value.as_array().into_iter().flatten().enumerate() {
                    compare(root, rule, element, &format!("{at}[{idx}]"), found);
                }
            }
            other => panic!("the schemas have learned a word: {other}"),
        }
    }
}

fn is_kind(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no kind of value: {other}"),
    }
}

#[test]
fn the_committed_schemas_match_the_types() {
    let env = TestEnv::without_model();
    env.ok(&["schema", "--dir", "made"]);
    let names = |dir: &Path| -> BTreeSet<String> {
        let entries = fs::read_dir(dir).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    let committed = root().join("docs/schema");
    assert_eq!(names(&committed), names(&env.path("made")), "run `make schema`");
    for name in names(&committed) {
        let read = |dir: &Path| fs::read_to_string(dir.join(&name)).unwrap();
        assert!(read(&committed) == read(&env.path("made")), "{name}: run `make schema`");
    }
}

/// One line for each field that was ever published: lines may be added, but none may be removed.
const PROMISES: &str = "tests/fixtures/promises.txt";

/// The variable with which new fields are added there, as `make schema` does.
const WRITE: &str = "KB_WRITE_PROMISES";

#[test]
fn no_field_is_removed_renamed_or_changes_its_type() {
    let text = fs::read_to_string(root().join(PROMISES)).unwrap();
    let promised: BTreeSet<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let published: BTreeSet<String> = PUBLISHED
        .iter()
        .flat_map(|shape| {
            shape.fields().into_iter().map(|field| {
                let mark = if field.is_optional { "?" } else { "" };
                format!("{} {}{mark}: {}", shape.name, field.path, field.kind)
            })
        })
        .collect();
    let broken: Vec<&str> =
        promised.iter().filter(|line| !published.contains(**line)).copied().collect();
    assert!(broken.is_empty(), "promised, and not kept any more:\n{}", broken.join("\n"));
    let new: Vec<&String> =
        published.iter().filter(|line| !promised.contains(line.as_str())).collect();
    let lines: String = new.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    #[expect(clippy::disallowed_methods, reason = "whether to write is for the user of the test")]
    if std::env::var_os(WRITE).is_some() {
        fs::write(root().join(PROMISES), text + &lines).unwrap();
        return;
    }
    assert!(new.is_empty(), "new: run `make schema`, which adds to {PROMISES}:\n{lines}");
}

#[test]
fn values_of_another_shape_are_reported() {
    let good = serde_json::json!({ "error": "e", "code": "c", "fix": null });
    assert_eq!(faults(&schemas()["error"], &good), Vec::<String>::new());
    for (bad, fault) in [
        (serde_json::json!({ "error": "e", "code": "c" }), "$: fix is missing"),
        (serde_json::json!({ "error": 1, "code": "c", "fix": null }), "$.error: not \"string\""),
        (
            serde_json::json!({ "error": "e", "code": "c", "fix": null, "x": 1 }),
            "$: x is not published",
        ),
        (serde_json::json!([]), "$: not \"object\""),
    ] {
        assert_eq!(faults(&schemas()["error"], &bad), [fault], "{bad}");
    }
    let tags = serde_json::json!([{ "name": "a", "count": -1 }]);
    assert_eq!(faults(&schemas()["tags"], &tags), ["$[0].count: below 0"]);
    let vector = serde_json::json!([0.5, "x"]);
    assert_eq!(faults(&schemas()["embed"], &vector), ["$[1]: not \"number\""]);
}

#[test]
fn schemas_are_printed_by_name() {
    let env = TestEnv::without_model();
    let list = env.ok(&["schema"]).stdout;
    assert_eq!(list.lines().count(), PUBLISHED.len());
    for words in [["schema", "search"].as_slice(), &["schema", "skill", "list"]] {
        let schema = env.json(words);
        assert_eq!(schema, schemas()[&words[1..].join("-")]);
    }
    let error = env.kb(&["schema", "nothing"]).expect(1);
    assert!(
        error
            .stderr
            .starts_with("error: there is no schema `nothing`\nhint: the schemas are init,")
    );
}
