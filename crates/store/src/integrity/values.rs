//! Finds values that kb never writes, and replaces them.
//!
//! SQLite keeps the types of columns, as all tables are strict; texts that are not UTF-8, names outside of a list, JSON of another
//! shape and counts below 0 come from elsewhere. Reading takes the nearest value instead ([`crate::db::row`]), so such a value
//! hides no other. A document that had one is marked to be read again from its file, which has the right value.

use std::collections::BTreeMap;
use std::str::FromStr;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, named_params};
use serde::de::DeserializeOwned;

use super::finding::{Damage, DatabaseFinding};
use crate::db::fault::Step;
use crate::db::sql;
use crate::document::{DocType, FileOutcome};
use crate::documents::edits::Edits;
use crate::documents::rows;
use crate::ids::DocumentId;
use crate::text::number::counted;

/// Columns of text of the tables that have row ids and are no part of an index.
const TEXT_COLUMNS: &str = "
    SELECT tables.name, columns.name
    FROM pragma_table_list AS tables, pragma_table_info(tables.name) AS columns
    WHERE tables.schema = 'main'
        AND tables.type = 'table'
        AND tables.strict
        AND NOT tables.wr
        AND columns.type = 'TEXT'
    ORDER BY tables.name, columns.cid";

/// A column whose texts have a form, and an expression for the value that replaces another one.
struct ColumnForm {
    table: &'static str,
    column: &'static str,
    is_sound: fn(&str) -> bool,
    instead: &'static str,
}

const FORMS: [ColumnForm; 7] = [
    ColumnForm {
        table: "documents",
        column: "doc_type",
        is_sound: is_name::<DocType>,
        instead: "CASE WHEN source_path IS NULL THEN 'note' ELSE 'markdown' END",
    },
    ColumnForm {
        table: "documents",
        column: "metadata",
        is_sound: rows::is_document_json,
        instead: "'{}'",
    },
    ColumnForm { table: "documents", column: "edits", is_sound: is_json::<Edits>, instead: "'{}'" },
    ColumnForm {
        table: "chunks",
        column: "metadata",
        is_sound: rows::is_chunk_json,
        instead: "'{}'",
    },
    ColumnForm {
        table: "roots",
        column: "doc_type",
        is_sound: is_name::<DocType>,
        instead: "NULL",
    },
    ColumnForm {
        table: "roots",
        column: "tags",
        is_sound: is_json::<Vec<String>>,
        instead: "'[]'",
    },
    ColumnForm {
        table: "ledger",
        column: "outcome",
        is_sound: is_name::<FileOutcome>,
        instead: "'failed'",
    },
];

/// Counts that are below 0 or too large.
const WRONG_COUNTS: &str = "
    SELECT id FROM chunks WHERE token_count NOT BETWEEN 0 AND 4294967295";

const REPAIR_COUNTS: &str = "
    UPDATE chunks SET token_count = NULL WHERE token_count NOT BETWEEN 0 AND 4294967295";

/// Excludes a document from the lookups by path and content, so that its file is read again.
const READ_AGAIN: [&str; 2] = [
    "UPDATE document_paths SET size_bytes = -1 WHERE document_id = :id",
    "UPDATE documents SET content_hash = '' WHERE id = :id AND source_path IS NOT NULL",
];

fn is_name<T: FromStr>(text: &str) -> bool {
    text.parse::<T>().is_ok()
}

fn is_json<T: DeserializeOwned>(text: &str) -> bool {
    serde_json::from_str::<T>(text).is_ok()
}

/// A value that kb never writes.
struct WrongValue {
    table: String,
    column: String,
    rowid: i64,
    /// The text, if it is not UTF-8, with U+FFFD in place of the wrong bytes; `None` if its form is wrong.
    lossy: Option<String>,
}

/// Adds a finding for each column that has such values.
pub(crate) fn examine(db: &Connection, found: &mut Vec<DatabaseFinding>) -> Step<()> {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for wrong in wrong_texts(db)? {
        *counts.entry((wrong.table, wrong.column)).or_default() += 1;
    }
    let num_counts = sql::rows::<i64, Vec<i64>>(db, WRONG_COUNTS, [], |row| row.get(0))?.len();
    if num_counts > 0 {
        counts.insert(("chunks".to_owned(), "token_count".to_owned()), num_counts);
    }
    found.extend(counts.into_iter().map(|((table, column), count)| {
        let count = counted(count, "value");
        DatabaseFinding::new(
            Damage::Values,
            format!("{count} in {table}.{column} that kb never writes"),
        )
    }));
    Ok(())
}

/// Replaces such values, and marks their documents to be read again.
pub(crate) fn repair(db: &Connection) -> Step<()> {
    for wrong in wrong_texts(db)? {
        let WrongValue { table, column, rowid, lossy } = wrong;
        let document: Option<DocumentId> = match table.as_str() {
            "documents" => Some(DocumentId(rowid)),
            "chunks" | "document_paths" => {
                let query = format!("SELECT document_id FROM {table} WHERE rowid = :rowid");
                sql::first_row(db, &query, named_params! { ":rowid": rowid }, |row| row.get(0))?
            }
            _ => None,
        };
        match lossy {
            Some(text) => {
                let update =
                    format!("UPDATE OR IGNORE {table} SET {column} = :text WHERE rowid = :rowid");
                sql::run(db, &update, named_params! { ":text": text, ":rowid": rowid })?;
                if db.changes() == 0 {
                    // The update was ignored: another row has this value, and the column is unique.
                    let delete = format!("DELETE FROM {table} WHERE rowid = :rowid");
                    sql::run(db, &delete, named_params! { ":rowid": rowid })?;
                }
            }
            None => {
                let form = FORMS.iter().find(|form| form.table == table && form.column == column);
                let instead = form.map_or("NULL", |form| form.instead);
                let update =
                    format!("UPDATE {table} SET {column} = {instead} WHERE rowid = :rowid");
                sql::run(db, &update, named_params! { ":rowid": rowid })?;
            }
        }
        if let Some(id) = document {
            for statement in READ_AGAIN {
                sql::run(db, statement, named_params! { ":id": id })?;
            }
        }
    }
    sql::run(db, REPAIR_COUNTS, [])
}

fn wrong_texts(db: &Connection) -> Step<Vec<WrongValue>> {
    let columns: Vec<(String, String)> = sql::rows(db, TEXT_COLUMNS, [], |row| row.columns())?;
    let mut wrong = Vec::new();
    for (table, column) in columns {
        let form = FORMS.iter().find(|form| form.table == table && form.column == column);
        let query = format!("SELECT rowid, {column} FROM {table} WHERE {column} IS NOT NULL");
        let mut statement = db.prepare(&query)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let ValueRef::Text(bytes) = row.get_ref(1)? else { continue };
            let lossy = match std::str::from_utf8(bytes) {
                Ok(text) if form.is_none_or(|form| (form.is_sound)(text)) => continue,
                Ok(_) => None,
                Err(_) => Some(String::from_utf8_lossy(bytes).into_owned()),
            };
            let (table, column) = (table.clone(), column.clone());
            wrong.push(WrongValue { table, column, rowid: row.get(0)?, lossy });
        }
    }
    Ok(wrong)
}
