//! Changes one entry in settings in TOML, and leaves all other bytes unchanged.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, Item, RawString, Table, TableLike, value};

use super::edited::{EditedSettings, NAME, OtherFields, SettingsFault, WantedEntry};
use super::table::{Client, Fields};

/// Sets the entry of kb, or removes it with the table that is empty then.
pub(super) fn edit(
    text: &str,
    client: &Client,
    WantedEntry { entry, keeps_others }: WantedEntry<'_>,
) -> Result<EditedSettings, SettingsFault> {
    let mut document = parse(text)?;
    let known = own(&mut document, client)?;
    let before = known.as_ref().map(|own| shown(own, client));
    let known = known.map(|own| json(own)).unwrap_or_default();
    let fields = entry.map(|entry| entry.fields(client.shape));
    let others = fields.as_ref().map(|fields| OtherFields::of(&known, fields, keeps_others));
    let others = others.unwrap_or_default();
    match (&before, &fields) {
        (None, None) => return Ok(EditedSettings::same(text)),
        (Some(_), None) => remove(&mut document, client)?,
        (_, Some(fields)) => set(&mut document, client, fields, !others.dropped.is_empty())?,
    }
    let after = own(&mut document, client)?.map(|own| shown(own, client));
    let text = with_line_ends_of(text, &document.to_string());
    Ok(EditedSettings { text, key: client.keys.join("."), before, after, others })
}

/// Gives unchanged lines at the start and the end the line ends of `old`, and changed ones that of the
/// first line: the library writes all of them in one way.
fn with_line_ends_of(old: &str, new: &str) -> String {
    if !old.contains('\r') {
        return new.to_owned();
    }
    let (before, after): (Vec<&str>, Vec<&str>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let pairs = before.iter().zip(&after);
    let head = pairs.take_while(|(old, new)| is_same_line(old, new)).count();
    let (old_rest, new_rest) = (&before[head..], &after[head..]);
    let pairs = old_rest.iter().rev().zip(new_rest.iter().rev());
    let tail = pairs.take_while(|(old, new)| is_same_line(old, new)).count();
    let end = if before.first().is_some_and(|line| line.ends_with("\r\n")) { "\r\n" } else { "\n" };
    let changed = &new_rest[..new_rest.len() - tail];
    let mut text = before[..head].concat();
    text.extend(changed.iter().map(|line| line.replace("\r\n", "\n").replace('\n', end)));
    text + &old_rest[old_rest.len() - tail..].concat()
}

/// Whether two lines are equal apart from their line ends and spaces before these.
fn is_same_line(old: &str, new: &str) -> bool {
    old.trim_end() == new.trim_end()
}

/// Returns all servers with their names.
pub(super) fn entries(text: &str, client: &Client) -> Result<Vec<(String, Value)>, SettingsFault> {
    let mut document = parse(text)?;
    let Some(servers) = servers(&mut document, client)? else { return Ok(Vec::new()) };
    Ok(servers.iter().map(|(name, item)| (name.to_owned(), json(item))).collect())
}

fn parse(text: &str) -> Result<DocumentMut, SettingsFault> {
    text.parse::<DocumentMut>().map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map(|before| before.matches('\n').count() + 1);
        SettingsFault { line, message: error.message().trim().replace('\n', "; ") }
    })
}

/// Returns the table that holds the servers; `None` if it is missing.
fn servers<'a>(
    document: &'a mut DocumentMut,
    client: &Client,
) -> Result<Option<&'a mut dyn TableLike>, SettingsFault> {
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in client.keys {
        let Some(item) = table.get_mut(key) else { return Ok(None) };
        table = item.as_table_like_mut().ok_or_else(|| not_a_table(key))?;
    }
    Ok(Some(table))
}

fn not_a_table(key: &str) -> SettingsFault {
    SettingsFault::of(format!("`{key}` is not a table"))
}

/// Returns the entry of kb.
fn own<'a>(
    document: &'a mut DocumentMut,
    client: &Client,
) -> Result<Option<&'a mut Item>, SettingsFault> {
    Ok(servers(document, client)?.and_then(|servers| servers.get_mut(NAME)))
}

/// Changes the fields that differ and keeps all others, unless `replaces`. An entry that starts no program is replaced.
fn set(
    document: &mut DocumentMut,
    client: &Client,
    fields: &Fields,
    replaces: bool,
) -> Result<(), SettingsFault> {
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in client.keys {
        let item = table.entry(key).or_insert_with(|| {
            let mut made = Table::new();
            // The table gets no header: that of the entry, `[mcp_servers.kb]`, is enough.
            made.set_implicit(true);
            Item::Table(made)
        });
        table = item.as_table_like_mut().ok_or_else(|| not_a_table(key))?;
    }
    let known = table.get(NAME).and_then(Item::as_table_like);
    if replaces || known.is_none_or(|entry| !entry.contains_key("command")) {
        table.insert(NAME, Item::Table(Table::new()));
    }
    let Some(entry) = table.get_mut(NAME).and_then(Item::as_table_like_mut) else {
        return Err(not_a_table(NAME));
    };
    for (key, field) in fields {
        match entry.get_mut(key) {
            Some(item) if json(item) == *field => {}
            Some(item) => {
                // The comment after the value is kept.
                let decor = item.as_value().map(|value| value.decor().clone());
                *item = toml(field);
                if let (Some(decor), Some(value)) = (decor, item.as_value_mut()) {
                    *value.decor_mut() = decor;
                }
            }
            None => drop(entry.insert(key, toml(field))),
        }
    }
    Ok(())
}

/// Removes the entry. Comments above its header are kept: they may be about the entry before them.
fn remove(document: &mut DocumentMut, client: &Client) -> Result<(), SettingsFault> {
    let removed = servers(document, client)?.and_then(|servers| servers.remove(NAME));
    if let ([key], Some(servers)) = (client.keys, servers(document, client)?)
        && servers.is_empty()
    {
        document.remove(key);
    }
    let Some(Item::Table(removed)) = removed else { return Ok(()) };
    let comments = text_of(removed.decor().prefix());
    if !comments.contains('#') {
        return Ok(());
    }
    let from = removed.position().unwrap_or(isize::MAX);
    let mut next = None;
    later(document.as_table_mut(), from, &mut next);
    match next {
        Some(place) => {
            if let Some(table) = at(document.as_table_mut(), place) {
                let both = comments + &text_of(table.decor().prefix());
                table.decor_mut().set_prefix(both);
            }
        }
        None => {
            let both = comments + document.trailing().as_str().unwrap_or("");
            document.set_trailing(both);
        }
    }
    Ok(())
}

fn text_of(raw: Option<&RawString>) -> String {
    raw.and_then(RawString::as_str).unwrap_or("").to_owned()
}

/// Finds the smallest position of a table after `from`, in all tables with a header.
fn later(table: &mut Table, from: isize, found: &mut Option<isize>) {
    for inner in tables(table) {
        let place = inner.position().filter(|place| *place > from && !inner.is_implicit());
        if let Some(place) = place {
            *found = Some(found.map_or(place, |known| known.min(place)));
        }
        later(inner, from, found);
    }
}

fn at(table: &mut Table, place: isize) -> Option<&mut Table> {
    tables(table).into_iter().find_map(|inner| {
        if inner.position() == Some(place) { Some(inner) } else { at(inner, place) }
    })
}

/// Returns the tables directly below a table, also those of arrays.
fn tables(table: &mut Table) -> Vec<&mut Table> {
    let items = table.iter_mut().map(|(_, item)| item);
    let mut found = Vec::new();
    for item in items {
        match item {
            Item::Table(inner) => found.push(inner),
            Item::ArrayOfTables(all) => found.extend(all.iter_mut()),
            _ => {}
        }
    }
    found
}

/// Returns an entry as it is written, with its header.
fn shown(entry: &Item, client: &Client) -> String {
    let mut entry = entry.clone();
    if let Item::Table(entry) = &mut entry {
        entry.decor_mut().clear();
    }
    let mut table = Table::new();
    table.insert(NAME, entry);
    for key in client.keys.iter().rev() {
        table.set_implicit(true);
        let mut outer = Table::new();
        outer.insert(key, Item::Table(table));
        table = outer;
    }
    DocumentMut::from(table).to_string().trim_end().to_owned()
}

fn toml(field: &Value) -> Item {
    match field {
        Value::Bool(flag) => value(*flag),
        Value::Array(items) => value(items.iter().filter_map(Value::as_str).collect::<Array>()),
        other => value(other.as_str().unwrap_or_default()),
    }
}

/// Returns texts, lists of texts and tables as JSON; null for everything else.
fn json(item: &Item) -> Value {
    if let Some(text) = item.as_str() {
        return Value::from(text);
    }
    if let Some(flag) = item.as_bool() {
        return Value::from(flag);
    }
    if let Some(items) = item.as_array() {
        return items.iter().map(|item| Value::from(item.as_str())).collect();
    }
    let fields = item.as_table_like().map(|table| {
        let fields = table.iter().map(|(key, item)| (key.to_owned(), json(item)));
        Value::Object(fields.collect())
    });
    fields.unwrap_or_default()
}
