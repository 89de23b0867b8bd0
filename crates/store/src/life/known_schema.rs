//! Compares what is in a database with what kb makes, before any of it is used.
//!
//! A person who can change the file can put a view where a table was, or add a trigger: SQLite would run it within
//! a statement of kb's own, and it could take endless time. So a connection first reads the table of all objects, whose name
//! nothing else can have. Every object must be one that kb makes, with the same statement. Objects that are missing run
//! nothing; `kb doctor` finds and repairs them. An index that only names columns runs nothing either.

use std::array;
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::migrate;
use super::statements::{MADE_LATER, NEWEST_ENTRIES};
use crate::db::connection::open_connection;
use crate::db::fault::{DatabaseFault, Step};
use crate::db::schema::{MIGRATIONS, NEWEST, VECTORS, refuse_newer};
use crate::db::seen_schema::SeenSchema;
use crate::db::sql;
use crate::vectors::{codes, table_sql};

/// The objects of a database, each as one text: to compare it takes half the instructions of comparing four values.
const ENTRIES: &str =
    "SELECT concat_ws(char(1), type, name, tbl_name, coalesce(sql, '')) FROM sqlite_schema";

/// The separator of the values of an object: no statement has it.
const VALUE_END: char = '\u{1}';

/// The table whose statement depends on the model.
const VECTOR_TABLE: &str = "chunks_vec";

/// The trigger that removed vectors up to schema 16.
const FORMER_TRIGGER: &str = "
    CREATE TRIGGER chunks_vec_ad AFTER DELETE ON chunks BEGIN
        DELETE FROM chunks_vec WHERE chunk_id = old.id;
    END;";

/// Most objects that an error names, and the longest name that it shows, in characters.
const MAX_NAMED: usize = 5;
const MAX_NAME: usize = 60;

/// An object of a database: a row of SQLite's own table of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SchemaEntry<'a> {
    /// `table`, `index`, `trigger` or `view`.
    pub(crate) kind: &'a str,
    pub(crate) name: &'a str,
    /// The table that it is, or belongs to.
    pub(crate) table: &'a str,
    /// The statement that made it, with comments; empty for an index of a constraint.
    pub(crate) sql: &'a str,
}

impl<'a> SchemaEntry<'a> {
    /// Reads an object from its text.
    fn of(text: &'a str) -> Self {
        let mut values = text.splitn(4, VALUE_END);
        let [kind, name, table, sql] = array::from_fn(|_| values.next().unwrap_or_default());
        Self { kind, name, table, sql }
    }
}

/// Reads version and schema of a database in one state, and refuses what kb did not make. Must come before anything else
/// on a connection. Writes nothing.
pub(crate) fn inspect(connection: &Connection) -> Step<(i64, SeenSchema)> {
    // A transaction reads one state of the file: another process may be creating or migrating the database.
    let snapshot = connection.unchecked_transaction()?;
    let seen = SeenSchema::new(compare);
    let version = seen.compare_again(&snapshot)?;
    snapshot.commit()?;
    Ok((version, seen))
}

/// Compares the objects of a database with those of its version. Returns the indexes that are added.
pub(super) fn compare(db: &Connection, version: i64) -> Step<Vec<String>> {
    refuse_newer(version, MIGRATIONS)?;
    let found = differences_of(db, version)?;
    if found.altered.is_empty() {
        return Ok(found.indexes);
    }
    for (other, _) in MIGRATIONS.iter().rev() {
        if differences_of(db, *other)?.altered.is_empty() {
            let stated = format!("it does not have schema version {version}, which it states");
            return Err(DatabaseFault::Corrupt(stated));
        }
    }
    Err(DatabaseFault::Altered(named(found.altered)))
}

/// Names the first objects, and counts the others.
fn named(mut altered: Vec<String>) -> Vec<String> {
    altered.sort();
    if altered.len() > MAX_NAMED {
        let num_more = altered.len() - MAX_NAMED;
        altered.truncate(MAX_NAMED);
        altered.push(format!("and {num_more} more"));
    }
    altered
}

/// The objects that a database has and a list has not.
#[derive(Debug, Default)]
struct Differences {
    indexes: Vec<String>,
    altered: Vec<String>,
}

/// Compares the objects of a database with those of a version.
fn differences_of(db: &Connection, version: i64) -> Step<Differences> {
    if version == NEWEST {
        return differences(db, NEWEST_ENTRIES);
    }
    let list = made_by(version)?;
    differences(db, &list.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Compares the objects of a database with a list. Nearly always each is the next of the list, to the letter.
fn differences(db: &Connection, list: &[&str]) -> Step<Differences> {
    let mut found = Differences::default();
    let mut statement = db.prepare_cached(ENTRIES)?;
    let mut rows = statement.query([])?;
    let mut next = 0;
    while let Some(row) = rows.next()? {
        let whole = row.get_ref(0)?.as_bytes_or_null().ok().flatten().unwrap_or_default();
        if list.get(next).is_some_and(|text| text.as_bytes() == whole) {
            next += 1;
        } else if let Some(at) = list.iter().position(|text| text.as_bytes() == whole) {
            next = at + 1;
        } else {
            found.add(SchemaEntry::of(&String::from_utf8_lossy(whole)), list);
        }
    }
    Ok(found)
}

impl Differences {
    /// Adds an object that is not in the list to the letter.
    fn add(&mut self, found: SchemaEntry<'_>, list: &[&str]) {
        let SchemaEntry { kind, name, table, sql } = found;
        let head = format!("{kind}{VALUE_END}{name}{VALUE_END}{table}{VALUE_END}");
        if let Some(listed) = list.iter().find_map(|text| text.strip_prefix(&head)) {
            if !is_same(name, listed, sql) {
                self.altered.push(format!("{} with another statement", shown(found)));
            }
            return;
        }
        let is_new = list.iter().all(|text| SchemaEntry::of(text).name != name);
        // The user may have added an index. One of plain columns runs nothing, so it is allowed.
        if is_new && kind == "index" && is_index_of_columns(sql) {
            self.indexes.push(shown(found));
        } else {
            self.altered.push(shown(found));
        }
    }
}

/// Names an object of a file that any program may have written.
fn shown(SchemaEntry { kind, name, table, .. }: SchemaEntry<'_>) -> String {
    let own = format!("{} `{}`", clean(kind), clean(name));
    if table == name { own } else { format!("{own} on `{}`", clean(table)) }
}

fn clean(text: &str) -> String {
    text.chars().take(MAX_NAME).flat_map(char::escape_default).collect()
}

/// Whether an object was made by the listed statement, apart from white space, comments and the width of vectors.
fn is_same(name: &str, listed: &str, sql: &str) -> bool {
    if name != VECTOR_TABLE {
        return is_same_statement(listed, sql);
    }
    let dim = sql.split_once("FLOAT[").and_then(|(_, rest)| rest.split_once(']'));
    let dim: Option<u32> = dim.and_then(|(dim, _)| dim.parse().ok());
    dim.is_some_and(|dim| is_same_statement(&table_sql(dim), sql))
}

fn is_same_statement(listed: &str, sql: &str) -> bool {
    listed == sql || normalised(listed) == normalised(sql)
}

/// Returns a statement without comments, and with white space reduced to single spaces, except in quotes.
fn normalised(sql: &str) -> String {
    let mut plain = String::with_capacity(sql.len());
    let mut rest = sql;
    while let Some(first) = rest.chars().next() {
        let (len, is_kept) = match first {
            '-' if rest.starts_with("--") => (end_of(rest, 2, "\n"), false),
            '/' if rest.starts_with("/*") => (end_of(rest, 2, "*/"), false),
            // A doubled quote ends one string and begins the next.
            '\'' | '"' | '`' => (end_of(rest, 1, &first.to_string()), true),
            '[' => (end_of(rest, 1, "]"), true),
            _ if first.is_ascii_whitespace() => (1, false),
            _ => (first.len_utf8(), true),
        };
        if is_kept {
            plain.push_str(&rest[..len]);
        } else if !plain.ends_with(' ') {
            plain.push(' ');
        }
        rest = &rest[len..];
    }
    plain.trim().to_owned()
}

/// Returns where the text after `from` is closed: behind the next `close`, or at the end.
fn end_of(text: &str, from: usize, close: &str) -> usize {
    text[from..].find(close).map_or(text.len(), |at| from + at + close.len())
}

/// Whether a statement makes an index that only names columns: it computes nothing, and refuses no row.
fn is_index_of_columns(sql: &str) -> bool {
    let plain = normalised(sql);
    let Some(rest) = plain.strip_prefix("CREATE INDEX ") else { return false };
    let Some((_, columns)) = rest.split_once('(') else { return false };
    columns.strip_suffix(')').is_some_and(|columns| {
        columns.chars().all(|c| c.is_ascii_alphanumeric() || "_, \"".contains(c))
    })
}

/// Returns the objects of the newest schema that a migration makes, and not a virtual table for itself.
pub(crate) fn migrated() -> impl Iterator<Item = SchemaEntry<'static>> {
    let all = NEWEST_ENTRIES.iter().map(|text| SchemaEntry::of(text));
    all.filter(|entry| !MADE_LATER.contains(&entry.name))
}

/// Makes an empty database of a version in memory, with all that kb makes at run time, and returns the texts of its
/// objects.
fn made_by(version: i64) -> Step<Vec<String>> {
    let Some(db) = in_memory(version)? else { return Ok(Vec::new()) };
    db.execute_batch(&table_sql(1))?;
    db.execute_batch(codes::MAKE_TRIGGER)?;
    if version < VECTORS {
        db.execute_batch(FORMER_TRIGGER)?;
    }
    entries(&db)
}

/// Returns an empty database of a version in memory; `None` before the first one.
fn in_memory(version: i64) -> Step<Option<Connection>> {
    let until = MIGRATIONS.partition_point(|(number, _)| *number <= version);
    if until == 0 {
        return Ok(None);
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_MEMORY;
    let mut db = open_connection(Path::new(":memory:"), flags)?;
    migrate::apply(&mut db, 0, &MIGRATIONS[..until])?;
    Ok(Some(db))
}

fn entries(db: &Connection) -> Step<Vec<String>> {
    sql::rows(db, ENTRIES, [], |row| row.get(0))
}

#[cfg(test)]
mod tests;
