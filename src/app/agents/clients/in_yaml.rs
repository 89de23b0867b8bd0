//! Changes one entry in settings in YAML, line by line, and leaves all other lines unchanged.

use std::ops::Range;

use serde_json::Value;

use super::edited::{EditedSettings, NAME, OtherFields, SettingsFault, WantedEntry};
use super::table::Client;
use crate::config::{indent_of, is_entry};

/// Spaces before an entry, if there is none yet.
const INDENT: usize = 2;

/// Sets the entry of kb, or removes it with the group that is empty then. An entry that differs is
/// written again with its other fields, but without its comments.
pub(super) fn edit(
    text: &str,
    client: &Client,
    WantedEntry { entry, keeps_others }: WantedEntry<'_>,
) -> Result<EditedSettings, SettingsFault> {
    let key = client.keys[0];
    let old = parse(text)?;
    let known = old.get(key).and_then(|servers| servers.get(NAME)).cloned();
    let fields = entry.map(|entry| entry.fields(client.shape)).unwrap_or_default();
    let others = match (&known, entry) {
        (Some(known), Some(_)) => OtherFields::of(known, &fields, keeps_others),
        _ => OtherFields::default(),
    };
    let kept = known.clone().filter(|known| known.is_object() && others.dropped.is_empty());
    let mut wanted = kept.unwrap_or_else(|| Value::Object(Default::default()));
    for (name, value) in fields {
        wanted[name] = value;
    }
    if entry.is_none() && known.is_none() || entry.is_some() && known.as_ref() == Some(&wanted) {
        let shown = known.is_some().then(String::new);
        return Ok(EditedSettings {
            key: key.into(),
            before: shown.clone(),
            after: shown,
            others,
            ..EditedSettings::same(text)
        });
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let group = group(&lines, key);
    if group.is_none() && old.get(key).is_some_and(|servers| !servers.is_null()) {
        return Err(SettingsFault::of(format!("`{key}` is not in block style")));
    }
    let group = group.unwrap_or(lines.len()..lines.len());
    let indent = lines
        .get(group.start + 1..group.end)
        .and_then(|inner| inner.iter().find(|line| is_entry(line)).map(|line| indent_of(line)));
    let indent = indent.unwrap_or(INDENT);
    let place = own(&lines, group.clone(), indent);
    let is_last = old.get(key).and_then(Value::as_object).is_some_and(|servers| servers.len() == 1);
    let mut new = String::new();
    let written = match entry {
        Some(_) => written(&wanted, indent)?,
        None => String::new(),
    };
    let (head, tail) = match (&place, entry) {
        // The group is removed with its only entry.
        (Some(_), None) if is_last => (group.start, group.end),
        (Some(place), _) => (place.start, place.end),
        (None, _) => (group.end, group.end),
    };
    new += &lines[..head].concat();
    if !new.is_empty() && !new.ends_with('\n') {
        new.push('\n');
    }
    if group.is_empty() && entry.is_some() {
        new += &format!("{key}:\n");
    }
    new += &written;
    new += &lines[tail..].concat();
    // The lines were changed as text, so the result is parsed and compared before it is written.
    check(&old, &new, key)?;
    let before = place.map(|place| lines[place].concat().trim_end().to_owned());
    let after = entry.map(|_| written.trim_end().to_owned());
    Ok(EditedSettings { text: new, key: key.into(), before, after, others })
}

/// Returns all servers with their names.
pub(super) fn entries(text: &str, client: &Client) -> Result<Vec<(String, Value)>, SettingsFault> {
    let root = parse(text)?;
    let servers = root.get(client.keys[0]).and_then(Value::as_object).cloned();
    Ok(servers.unwrap_or_default().into_iter().collect())
}

fn parse(text: &str) -> Result<Value, SettingsFault> {
    let parsed: Result<Value, _> = yaml_serde::from_str(text);
    match parsed {
        Ok(value) if value.is_null() || value.is_object() => Ok(value),
        Ok(_) => Err(SettingsFault::of("it is not a mapping")),
        Err(error) => Err(SettingsFault {
            line: error.location().map(|place| place.line()),
            message: error.to_string(),
        }),
    }
}

/// Returns the lines of a key at the left margin and of all below it, without the blank lines after
/// them.
fn group(lines: &[&str], key: &str) -> Option<Range<usize>> {
    let start = lines.iter().position(|line| begins_group(line, key))?;
    let below = lines[start + 1..].iter().take_while(|line| !is_entry(line) || indent_of(line) > 0);
    let end = start + 1 + below.count();
    let last = lines[start..end].iter().rposition(|line| is_entry(line)).unwrap_or(0);
    Some(start..(start + last + 1))
}

/// Whether a line is a key at the left margin without a value after it.
fn begins_group(line: &str, key: &str) -> bool {
    let rest = line.strip_prefix(key).and_then(|rest| rest.strip_prefix(':'));
    rest.is_some_and(|rest| !is_entry(rest))
}

/// Returns the lines of the entry of kb in a group.
fn own(lines: &[&str], group: Range<usize>, wide: usize) -> Option<Range<usize>> {
    let names = [format!("{NAME}:"), format!("\"{NAME}\":"), format!("'{NAME}':")];
    let first = lines[group.clone()].iter().position(|line| {
        indent_of(line) == wide
            && names.iter().any(|name| line.trim_start().starts_with(name.as_str()))
    });
    let start = group.start + first?;
    let below = lines[start + 1..group.end].iter();
    let below = below.take_while(|line| !is_entry(line) || indent_of(line) > wide);
    Some(start..start + 1 + below.count())
}

/// Returns an entry as lines.
fn written(entry: &Value, indent: usize) -> Result<String, SettingsFault> {
    let named = serde_json::json!({ NAME: entry });
    let text =
        yaml_serde::to_string(&named).map_err(|error| SettingsFault::of(error.to_string()))?;
    Ok(text.lines().map(|line| format!("{}{line}\n", " ".repeat(indent))).collect())
}

/// Refuses a change that is more than that of the entry.
fn check(old: &Value, new: &str, key: &str) -> Result<(), SettingsFault> {
    if without_own(parse(new)?, key) == without_own(old.clone(), key) {
        Ok(())
    } else {
        Err(SettingsFault::of("the entry cannot be changed without the rest of the file"))
    }
}

/// Returns settings without the entry of kb, and without the key of the servers if none is left.
fn without_own(mut value: Value, key: &str) -> serde_json::Map<String, Value> {
    if let Some(servers) = value.get_mut(key).and_then(Value::as_object_mut) {
        servers.remove(NAME);
    }
    if value.get(key).is_some_and(is_empty)
        && let Some(root) = value.as_object_mut()
    {
        root.remove(key);
    }
    value.as_object().cloned().unwrap_or_default()
}

fn is_empty(servers: &Value) -> bool {
    servers.is_null() || servers.as_object().is_some_and(serde_json::Map::is_empty)
}
