//! Changes one entry in settings in JSON, with or without comments, and leaves all other bytes unchanged.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use super::edited::{EditedSettings, NAME, OtherFields, SettingsFault, WantedEntry};
use super::table::{Client, EntryShape, Fields, Notation};

/// Sets the entry of kb, or removes it with the objects that are empty then. `is_new` says whether the newer version of
/// the program is installed.
pub(super) fn edit(
    text: &str,
    client: &Client,
    is_new: bool,
    WantedEntry { entry, keeps_others }: WantedEntry<'_>,
) -> Result<EditedSettings, SettingsFault> {
    let (root, newline) = (parse(text, client)?, text.ends_with('\n') || text.trim().is_empty());
    let (keys, shape) = form(&root, client, is_new);
    let key = keys.join(".");
    let before = own(&root, keys)?;
    let shown = before.as_ref().map(ToString::to_string);
    let fields = entry.map(|entry| entry.fields(shape));
    let known = before.as_ref().and_then(CstObjectProp::to_serde_value).unwrap_or_default();
    let others = fields.as_ref().map(|fields| OtherFields::of(&known, fields, keeps_others));
    let others = others.unwrap_or_default();
    match (before, &fields) {
        (None, None) => return Ok(EditedSettings::same(text)),
        (Some(prop), None) => {
            prop.remove();
            prune(&root, keys);
        }
        (Some(prop), Some(fields)) if others.dropped.is_empty() => change(&prop, fields),
        (Some(prop), Some(fields)) => prop.set_value(object_of(fields)),
        (None, Some(fields)) => {
            if let Some(servers) = servers(&root, keys, true)? {
                servers.append(NAME, object_of(fields));
            }
        }
    }
    let after = own(&root, keys)?;
    let mut text = root.to_string();
    if newline && !text.ends_with('\n') {
        text.push('\n');
    }
    // Nothing but kb's entry was there, so the file becomes empty.
    if entry.is_none() && text.trim() == "{}" {
        text.clear();
    }
    let after = after.map(|entry| entry.to_string());
    Ok(EditedSettings { text, key, before: shown, after, others })
}

/// Returns the keys that lead to the servers, and the fields of an entry there.
fn form(
    root: &CstRootNode,
    client: &Client,
    is_new: bool,
) -> (&'static [&'static str], EntryShape) {
    match client.newer.filter(|newer| is_new || has_objects(root, newer.keys)) {
        Some(newer) => (newer.keys, newer.shape),
        None => (client.keys, client.shape),
    }
}

/// Whether the keys lead to an object, each inside the one before.
fn has_objects(root: &CstRootNode, keys: &[&str]) -> bool {
    let mut inner = root.object_value();
    keys.iter().all(|key| {
        inner = inner.as_ref().and_then(|object| object.object_value(key));
        // An object without a type is a group of servers; an entry with this name has one.
        inner.as_ref().is_some_and(|object| object.get("type").is_none())
    })
}

/// Removes the objects that lead to the servers and are empty, from the inside out.
fn prune(root: &CstRootNode, keys: &[&str]) {
    for depth in (1..=keys.len()).rev() {
        let mut outer = root.object_value();
        for key in &keys[..depth - 1] {
            outer = outer.and_then(|object| object.object_value(key));
        }
        let prop = outer.and_then(|object| object.get(keys[depth - 1]));
        match prop.filter(is_empty) {
            Some(prop) => prop.remove(),
            None => return,
        }
    }
}

/// Whether the value of a property is only braces.
fn is_empty(prop: &CstObjectProp) -> bool {
    let text = prop.value().map(|value| value.to_string()).unwrap_or_default();
    text.chars().all(|letter| letter.is_whitespace() || "{}".contains(letter))
}

/// Returns all servers with their names.
pub(super) fn entries(text: &str, client: &Client) -> Result<Vec<(String, Value)>, SettingsFault> {
    let root = parse(text, client)?;
    let servers = servers(&root, form(&root, client, false).0, false)?;
    let all = servers.iter().flat_map(CstObject::properties);
    Ok(all.filter_map(|prop| Some((prop.decoded_name()?, prop.to_serde_value()?))).collect())
}

fn parse(text: &str, client: &Client) -> Result<CstRootNode, SettingsFault> {
    let is_loose = client.notation == Notation::Jsonc;
    if !is_loose && !text.trim().is_empty() {
        strict(text)?;
    }
    let options = ParseOptions {
        allow_comments: is_loose,
        allow_trailing_commas: is_loose,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    CstRootNode::parse(text, &options).map_err(|error| {
        let kind = error.kind().to_string();
        let mut letters = kind.chars();
        let first = letters.next().map(|letter| letter.to_ascii_lowercase());
        SettingsFault {
            line: Some(error.line_display()),
            message: first.into_iter().chain(letters).collect(),
        }
    })
}

/// Refuses what only readers of comments accept. The tree's own parser lets some comments pass.
fn strict(text: &str) -> Result<(), SettingsFault> {
    serde_json::from_str::<Value>(text).map(drop).map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        SettingsFault { line: Some(error.line()), message }
    })
}

/// Returns the object that holds the servers; `None` if it is missing and is not made.
fn servers(
    root: &CstRootNode,
    keys: &[&str],
    makes: bool,
) -> Result<Option<CstObject>, SettingsFault> {
    let outer = if makes { root.object_value_or_create() } else { root.object_value() };
    let Some(mut object) = outer else {
        return match root.value() {
            None => Ok(None),
            Some(_) => Err(SettingsFault::of("it is not an object")),
        };
    };
    for key in keys {
        only(&object, key)?;
        let inner =
            if makes { object.object_value_or_create(key) } else { object.object_value(key) };
        object = match inner {
            Some(inner) => inner,
            None if object.get(key).is_none() => return Ok(None),
            None => return Err(SettingsFault::of(format!("`{key}` is not an object"))),
        };
    }
    Ok(Some(object))
}

/// Returns the entry of kb.
fn own(root: &CstRootNode, keys: &[&str]) -> Result<Option<CstObjectProp>, SettingsFault> {
    let Some(servers) = servers(root, keys, false)? else { return Ok(None) };
    only(&servers, NAME)?;
    Ok(servers.get(NAME))
}

/// Refuses a duplicate key: programs read the last one, and a change would be made to the first.
fn only(object: &CstObject, key: &str) -> Result<(), SettingsFault> {
    let names = object.properties().into_iter().filter_map(|prop| prop.decoded_name());
    if names.filter(|name| name == key).count() > 1 {
        return Err(SettingsFault::of(format!("`{key}` appears twice")));
    }
    Ok(())
}

/// Changes the fields that differ and keeps all others. An entry that starts no program is replaced.
fn change(prop: &CstObjectProp, fields: &Fields) {
    let object = match prop.value() {
        Some(CstNode::Container(container)) => container.as_object(),
        _ => None,
    };
    let Some(object) = object.filter(|object| object.get("command").is_some()) else {
        return prop.set_value(object_of(fields));
    };
    for (key, value) in fields {
        match object.get(key) {
            None => drop(object.append(key, input(value))),
            Some(field) if field.to_serde_value().as_ref() == Some(value) => {}
            Some(field) => field.set_value(input(value)),
        }
    }
}

fn object_of(fields: &Fields) -> CstInputValue {
    let all = fields.iter().map(|(key, value)| ((*key).to_owned(), input(value)));
    CstInputValue::Object(all.collect())
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(map) => {
            let fields = map.iter().map(|(key, value)| (key.clone(), input(value)));
            CstInputValue::Object(fields.collect())
        }
    }
}
