//! Finds the document here that an imported one is another state of.

use rusqlite::{Connection, named_params};

use crate::db::{columns, fault::Step, sql};
use crate::documents::transfer::{self, DocumentRecord};
use crate::ids::DocumentId;

/// A note whose text here is an earlier text of the imported one.
const EARLIER_NOTE: &str = "
    SELECT id
    FROM documents
    WHERE content_hash IN (SELECT value FROM json_each(:former))
        AND doc_type = 'note' AND source_path IS NULL
    ORDER BY id
    LIMIT 1";

/// A note that has an earlier text in common with the imported one.
const RELATED_NOTE: &str = "
    SELECT id
    FROM documents
    WHERE edits IS NOT NULL
        AND doc_type = 'note' AND source_path IS NULL
        AND EXISTS (
            SELECT 1
            FROM json_each(edits, '$.former') AS earlier
            WHERE earlier.value = :content_hash
                OR earlier.value IN (SELECT value FROM json_each(:former))
        )
    ORDER BY id
    LIMIT 1";

#[derive(Clone, Copy)]
pub(super) enum Likeness {
    Content,
    /// Both come from one note.
    Version,
    Path,
}

pub(super) fn counterpart(
    db: &Connection,
    record: &DocumentRecord,
) -> Step<Option<(DocumentId, Likeness)>> {
    if let Some(id) = transfer::same_content(db, record)? {
        return Ok(Some((id, Likeness::Content)));
    }
    if record.is_note() {
        let former = columns::to_json(&record.edits.former)?;
        let params = named_params! { ":former": former };
        let earlier = sql::first_row(db, EARLIER_NOTE, params, |row| row.get(0))?;
        let params = named_params! { ":former": former, ":content_hash": record.content_hash };
        let related = match earlier {
            Some(id) => Some(id),
            None => sql::first_row(db, RELATED_NOTE, params, |row| row.get(0))?,
        };
        if let Some(id) = related {
            return Ok(Some((id, Likeness::Version)));
        }
    }
    Ok(transfer::at_path(db, record)?.map(|id| (id, Likeness::Path)))
}
