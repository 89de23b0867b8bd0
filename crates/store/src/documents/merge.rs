//! Imports a document in one transaction, and merges it with the one that is here.

mod counterpart;

use rusqlite::{Connection, named_params};
use schemars::JsonSchema;
use serde::Serialize;

use crate::document::DocType;
use crate::error::Result;
use crate::ids::DocumentId;
use crate::text::fields;

use counterpart::{Likeness, counterpart};

use super::edits::{self, Edits, union, verdict};
use super::transfer::{self, DocumentRecord};
use super::{edit, replace, rows, tags};
use crate::Store;
use crate::db::layout::DirectReadSupport;
use crate::db::{binding, fault::Step, sql};

/// The result of importing a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportOutcome {
    /// It was added under this id.
    Added(DocumentId),
    /// Its chunks would be stored, but one has no vector. Nothing was changed.
    NeedsVectors,
    /// It was merged with the document here.
    Merged(MergedDocument),
}

/// A document after an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedDocument {
    /// The document here.
    pub id: DocumentId,
    /// Whether anything of it has changed.
    pub is_changed: bool,
    /// The fields that both sides had edited.
    pub conflicts: Vec<Conflict>,
}

/// A field that both sides had edited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Conflict {
    /// The document here.
    pub document_id: DocumentId,
    /// `title`, `date`, `text` of a note, or `file`: another content at the same path.
    pub field: EditableField,
    /// The kept title or date; for a text or file, the title of its document. Null for no date.
    pub kept: Option<String>,
    /// The other one.
    pub other: Option<String>,
    /// Whether the one that was kept is that of the import.
    #[serde(rename = "kept_import")]
    pub is_import_kept: bool,
    /// The note that has the other text; null for all else.
    pub copy_id: Option<DocumentId>,
}

fields::words! {
    /// A field that both sides can edit.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum EditableField {
        /// The title.
        Title = "title",
        /// The date.
        Date = "date",
        /// The text of a note, and its title.
        Text = "text",
        /// The content of the file at the same path, which is never replaced by an import.
        File = "file",
    }
}

const LOCAL: &str = "
    SELECT title, title_given, content_hash, metadata ->> '$.date' AS date
    FROM documents
    WHERE id = :id";

/// The day that the user gave stays.
const REPLACE: &str = "
    UPDATE documents
    SET
        title = :title,
        title_given = :title_given,
        content_hash = :content_hash,
        updated_at = max(updated_at, :updated_at),
        metadata = iif(
            metadata ->> '$.date' IS NULL,
            json_remove(:metadata, '$.date'),
            json_set(:metadata, '$.date', metadata ->> '$.date')
        ),
        making = :making,
        note_text = :note_text
    WHERE id = :id";

const COPY_NOTE: &str = "
    INSERT INTO documents
        (title, title_given, content_hash, doc_type, language, created_at, updated_at, metadata,
         making, note_text, edits)
    SELECT
        title, title_given, content_hash, doc_type, language, created_at, updated_at, metadata,
        making, note_text, :edits
    FROM documents
    WHERE id = :id
    RETURNING id";

/// The editable fields of a document.
struct Local {
    title: String,
    is_title_given: bool,
    content_hash: String,
    date: Option<String>,
    edits: Edits,
}

impl Local {
    fn read(db: &Connection, id: DocumentId) -> Step<Self> {
        let edits = edits::read(db, id)?;
        let params = named_params! { ":id": id };
        Ok(db.prepare_cached(LOCAL)?.query_row(params, |row| {
            Ok(Self {
                title: row.get("title")?,
                is_title_given: row.get("title_given")?,
                content_hash: row.get("content_hash")?,
                date: row.get("date")?,
                edits,
            })
        })?)
    }
}

impl Store {
    /// Merges a document with the one here that has the same content, of which it is another
    /// version, or that is at one of its paths. Tags of both are merged, and the newer edit stays.
    /// Without such a document it is added; it and its chunks keep their ids if those are free.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`](crate::error::Error::Usage) if a vector has another width, or if metadata
    /// cannot be read.
    pub fn import(&mut self, record: &DocumentRecord) -> Result<ImportOutcome> {
        let bound = self.bound.borrow().clone();
        let layout = self.layout_to_write()?;
        self.write(|db| {
            binding::check(db, bound.as_ref())?;
            let Some((id, likeness)) = counterpart(db, record)? else {
                return Ok(if record.lacks_vectors() {
                    ImportOutcome::NeedsVectors
                } else {
                    ImportOutcome::Added(transfer::insert(db, record, layout)?)
                });
            };
            let mut merging = MergeWork {
                db,
                layout,
                record,
                id,
                local: Local::read(db, id)?,
                merged: MergedDocument { id, is_changed: false, conflicts: Vec::new() },
            };
            let is_done = match likeness {
                Likeness::Content => merging.same_content()?,
                Likeness::Version => merging.other_version()?,
                Likeness::Path => merging.same_path()?,
            };
            Ok(if is_done {
                ImportOutcome::Merged(merging.merged)
            } else {
                ImportOutcome::NeedsVectors
            })
        })
    }
}

struct MergeWork<'a> {
    db: &'a Connection,
    layout: DirectReadSupport,
    record: &'a DocumentRecord,
    id: DocumentId,
    local: Local,
    merged: MergedDocument,
}

/// Each function returns `false`, before anything is changed, if vectors are missing.
impl MergeWork<'_> {
    fn same_content(&mut self) -> Step<bool> {
        let (record, local) = (self.record, &self.local);
        let differs = local.title != record.title || !local.is_title_given;
        let title = (record.is_title_given && differs).then(|| {
            let here: &[String] = if local.is_title_given { &local.edits.title } else { &[] };
            verdict(here, &record.edits.title, record.title > local.title)
        });
        // A given title takes precedence over one that was read.
        let takes_title =
            title.is_some_and(|verdict| verdict.takes_other() || !local.is_title_given);
        if takes_title && record.lacks_vectors() {
            return Ok(false);
        }
        let mut edits = local.edits.clone();
        if record.is_title_given {
            edits.title = union(&edits.title, &record.edits.title);
        }
        if title.is_some_and(|verdict| verdict.is_conflict()) {
            let (here, there) = (local.title.clone(), record.title.clone());
            self.conflict(EditableField::Title, Some(here), Some(there), takes_title);
        }
        if takes_title {
            self.replace()?;
        }
        self.merged.is_changed |= transfer::adopt_paths(self.db, self.id, self.record)?;
        self.merge_rest(edits)?;
        Ok(true)
    }

    fn other_version(&mut self) -> Step<bool> {
        let (record, local) = (self.record, &self.local);
        let is_greater = record.content_hash > local.content_hash;
        let verdict = verdict(&local.edits.of_note(), &record.edits.of_note(), is_greater);
        // The other side knows this text, or has decided on it in an earlier import.
        let is_known = record.edits.former.contains(&local.content_hash);
        let is_conflict = verdict.is_conflict() || verdict.takes_other() && !is_known;
        if (verdict.takes_other() || is_conflict) && record.lacks_vectors() {
            return Ok(false);
        }
        let edits = Edits {
            title: union(&local.edits.title, &record.edits.title),
            text: union(&local.edits.text, &record.edits.text),
            former: union(&local.edits.former, &record.edits.former),
            date: local.edits.date.clone(),
        };
        if is_conflict {
            let (here, there) = (local.title.clone(), record.title.clone());
            // The text that loses is copied first, because `replace` below overwrites the local one.
            let copy_id =
                if verdict.takes_other() { self.copy_local()? } else { self.copy_record()? };
            let is_import_kept = verdict.takes_other();
            self.conflict(EditableField::Text, Some(here), Some(there), is_import_kept);
            if let Some(conflict) = self.merged.conflicts.last_mut() {
                conflict.copy_id = Some(copy_id);
            }
            self.merged.is_changed = true;
        }
        if verdict.takes_other() {
            self.replace()?;
        }
        self.merge_rest(edits)?;
        Ok(true)
    }

    /// The file on this machine decides on its content; only `kb update` reads it again.
    fn same_path(&mut self) -> Step<bool> {
        let (here, there) = (self.local.title.clone(), self.record.title.clone());
        self.conflict(EditableField::File, Some(here), Some(there), false);
        self.merge_rest(self.local.edits.clone())?;
        Ok(true)
    }

    /// Merges tags and date, and stores which edits are known.
    fn merge_rest(&mut self, mut edits: Edits) -> Step<()> {
        let (db, id, record) = (self.db, self.id, self.record);
        self.merged.is_changed |= tags::link(db, id, &record.tags)? > 0;
        let date = record.date_given();
        if date != self.local.date {
            let is_greater = date > self.local.date;
            let verdict = verdict(&self.local.edits.date, &record.edits.date, is_greater);
            if verdict.is_conflict() {
                let here = self.local.date.clone();
                self.conflict(EditableField::Date, here, date.clone(), verdict.takes_other());
            }
            if verdict.takes_other() {
                edit::set_date(db, id, date.as_deref())?;
                self.merged.is_changed = true;
            }
        }
        edits.date = union(&edits.date, &record.edits.date);
        // Triggers have recorded the changes of this import as edits, so the merged ones are written again.
        if self.merged.is_changed || edits != self.local.edits {
            edits::set(db, id, &edits)?;
        }
        Ok(())
    }

    /// Takes text, title and chunks of the imported document; id, tags, date and paths stay.
    fn replace(&mut self) -> Step<()> {
        let (db, id, record) = (self.db, self.id, self.record);
        replace::remove_chunks(db, id)?;
        let params = named_params! {
            ":id": id,
            ":title": record.title,
            ":title_given": record.is_title_given,
            ":content_hash": record.content_hash,
            ":updated_at": record.updated_at,
            ":metadata": record.metadata,
            ":making": record.making,
            ":note_text": record.note_text,
        };
        sql::run(db, REPLACE, params)?;
        transfer::insert_chunks(db, id, &record.chunks, self.layout)?;
        self.merged.is_changed = true;
        Ok(())
    }

    /// Makes the version here a separate note.
    fn copy_local(&mut self) -> Step<DocumentId> {
        let edits = self.local.edits.of_copy().to_json()?;
        let params = named_params! { ":id": self.id, ":edits": edits };
        let copy = sql::value(self.db, COPY_NOTE, params)?;
        replace::move_chunks(self.db, self.id, copy)?;
        tags::copy(self.db, self.id, copy)?;
        Ok(copy)
    }

    /// Makes the imported version a separate note.
    fn copy_record(&mut self) -> Step<DocumentId> {
        let record = DocumentRecord { edits: self.record.edits.of_copy(), ..self.record.clone() };
        transfer::insert(self.db, &record, self.layout)
    }

    fn conflict(
        &mut self,
        field: EditableField,
        here: Option<String>,
        there: Option<String>,
        is_import_kept: bool,
    ) {
        let (kept, other) = if is_import_kept { (there, here) } else { (here, there) };
        self.merged.conflicts.push(Conflict {
            document_id: self.id,
            field,
            kept,
            other,
            is_import_kept,
            copy_id: None,
        });
    }
}

impl DocumentRecord {
    /// Whether it is a note given as text.
    fn is_note(&self) -> bool {
        self.doc_type == DocType::Note && self.path.is_none()
    }

    /// Whether a vector must be computed before its chunks can be stored.
    pub fn lacks_vectors(&self) -> bool {
        self.chunks.iter().any(|chunk| chunk.vector.is_none())
    }

    /// Returns the day that the user gave it.
    fn date_given(&self) -> Option<String> {
        rows::date_given(&self.metadata)
    }
}

#[cfg(test)]
mod tests;
