//! Reads and removes documents, by id or filter.

pub(in crate::store) mod chunks;
pub(in crate::store) mod edit;
pub(in crate::store) mod edits;
pub(in crate::store) mod filter;
pub(in crate::store) mod ledger;
pub(in crate::store) mod making;
pub(in crate::store) mod merge;
pub(in crate::store) mod mirror;
pub(in crate::store) mod paths;
mod record;
pub(in crate::store) mod relocate;
pub(in crate::store) mod replace;
pub(in crate::store) mod roots;
pub(in crate::store) mod rows;
pub(in crate::store) mod stamps;
pub(in crate::store) mod tags;
pub(in crate::store) mod texts;
pub(in crate::store) mod transfer;

use rusqlite::{Connection, OptionalExtension, named_params};

use crate::document::{DocType, DocumentId, Filter, Metadata, Quality};
use crate::error::Result;

use super::db::erase;
use super::db::fault::Step;
use super::documents::filter::{FilterValues, passes_filter};
use super::keyword::grams;
use super::{NewDocument, Store};

/// A stored document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDocument {
    /// Its key; stays when the document is replaced.
    pub id: DocumentId,
    /// Its title.
    pub title: String,
    /// Whether the user gave the title, so that replacing keeps it.
    pub is_title_given: bool,
    /// Absolute path of its file; `None` for a note given as text.
    pub path: Option<String>,
    /// SHA-256 of the file's bytes, lower-case hex.
    pub content_hash: String,
    /// Its type.
    pub doc_type: DocType,
    /// The programming language, as [`crate::document::Language`] names it; `None` outside code.
    pub language: Option<String>,
    /// How its content was read, as [`crate::document::Format`] names it.
    pub format: String,
    /// When it was first added: RFC 3339, UTC.
    pub created_at: String,
    /// When its content was last replaced: RFC 3339, UTC.
    pub updated_at: String,
    /// Its own metadata.
    pub metadata: Metadata,
    /// The day that the user gave it, as in `2026-05-17`.
    pub date_given: Option<String>,
    /// Its tags in alphabetical order.
    pub tags: Vec<String>,
    /// Number of its chunks.
    pub chunk_count: u32,
}

/// A document in a list. A list of thousands reads nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedDocument {
    /// Its key.
    pub id: DocumentId,
    /// Its title.
    pub title: String,
    /// Absolute path of its file; `None` for a note given as text.
    pub path: Option<String>,
    /// Its type.
    pub doc_type: DocType,
    /// The programming language, as [`crate::document::Language`] names it; `None` outside code.
    pub language: Option<String>,
    /// When it was first added: RFC 3339, UTC.
    pub created_at: String,
    /// When its content was last replaced: RFC 3339, UTC.
    pub updated_at: String,
    /// How well its pages could be read; `None` if it has no pages.
    pub quality: Option<Quality>,
    /// Its tags in alphabetical order.
    pub tags: Vec<String>,
    /// Number of its chunks.
    pub chunk_count: u32,
}

/// The names by which a document can be addressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentName {
    /// Its key.
    pub id: DocumentId,
    /// Its title.
    pub title: String,
    /// Absolute path of its file; `None` for a note given as text.
    pub path: Option<String>,
}

const DOCUMENT_NAMES: &str = "SELECT id, title, source_path FROM documents ORDER BY id";

/// The columns of a [`StoredDocument`], in the order in which [`rows::stored_document`] reads them.
macro_rules! select_documents {
    () => {
        "SELECT
            documents.id,
            documents.title,
            documents.title_given,
            documents.source_path,
            documents.content_hash,
            documents.doc_type,
            documents.language,
            documents.metadata,
            documents.created_at,
            documents.updated_at,
            (
                SELECT json_group_array(tags.name ORDER BY tags.name)
                FROM document_tags
                JOIN tags ON tags.id = document_tags.tag_id
                WHERE document_tags.document_id = documents.id
            ) AS tags,
            (
                SELECT count(*) FROM chunks WHERE chunks.document_id = documents.id
            ) AS chunk_count
        FROM documents
        WHERE "
    };
}

const DOCUMENT: &str = concat!(select_documents!(), "documents.id = :id");

const DOCUMENT_BY_HASH: &str = concat!(
    select_documents!(),
    "documents.content_hash = :content_hash
    ORDER BY documents.source_path IS NULL, documents.id
    LIMIT 1"
);

const DOCUMENTS: &str = concat!(
    "SELECT
        documents.id,
        documents.title,
        documents.source_path,
        documents.doc_type,
        documents.language,
        documents.created_at,
        documents.updated_at,
        documents.metadata,
        (
            SELECT count(*) FROM chunks WHERE chunks.document_id = documents.id
        ) AS chunk_count
    FROM documents
    WHERE ",
    passes_filter!(),
    " ORDER BY documents.id"
);

/// Collecting the tags of each document in the query for documents takes four times as long.
const TAGS_OF_DOCUMENTS: &str = concat!(
    "SELECT documents.id, tags.name
    FROM documents
    CROSS JOIN document_tags ON document_tags.document_id = documents.id
    JOIN tags ON tags.id = document_tags.tag_id
    WHERE ",
    passes_filter!(),
    " ORDER BY documents.id"
);

const INSERT_DOCUMENT: &str = "
    INSERT INTO documents
        (title, title_given, source_path, content_hash, doc_type, language, metadata, making,
         note_text)
    VALUES
        (:title, :title_given, :path, :content_hash, :doc_type, :language, :metadata, :making,
         :note_text)
    RETURNING id";

const UPDATE_DOCUMENT: &str = "
    UPDATE documents
    SET
        title = :title,
        title_given = :title_given,
        source_path = :path,
        content_hash = :content_hash,
        doc_type = :doc_type,
        language = :language,
        -- The day that the user gave stays.
        metadata = iif(
            metadata ->> '$.date' IS NULL,
            :metadata,
            json_set(:metadata, '$.date', metadata ->> '$.date')
        ),
        making = :making,
        note_text = :note_text,
        updated_at = strftime('%Y-%m-%dT%H:%M:%SZ', 'now')
    WHERE id = :id";

const COPY_DOCUMENT: &str = "
    INSERT INTO documents
        (title, title_given, source_path, content_hash, doc_type, language,
         created_at, updated_at, metadata, making, edits)
    SELECT
        title, title_given, :path, content_hash, doc_type, language,
        created_at, updated_at, metadata, making, edits
    FROM documents
    WHERE id = :id
    RETURNING id";

const REMOVE_DOCUMENT: &str = "DELETE FROM documents WHERE id = :id";

impl Store {
    /// Returns one document; `None` for an unknown id.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Corrupt`] and other errors of the database.
    pub fn document(&self, id: DocumentId) -> Result<Option<StoredDocument>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(DOCUMENT)?;
            Ok(statement
                .query_row(named_params! { ":id": id }, rows::stored_document)
                .optional()?)
        })
    }

    /// Returns the document with this content, the oldest if it was read in several ways.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Corrupt`] and other errors of the database.
    pub fn document_by_hash(&self, content_hash: &str) -> Result<Option<StoredDocument>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(DOCUMENT_BY_HASH)?;
            Ok(statement
                .query_row(named_params! { ":content_hash": content_hash }, rows::stored_document)
                .optional()?)
        })
    }

    /// Returns the documents that pass `filter`, by id; conditions on chunks are ignored.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Corrupt`] and other errors of the database.
    pub fn documents(&self, filter: &Filter) -> Result<Vec<ListedDocument>> {
        self.read(|db| {
            let values = FilterValues::new(filter)?;
            let values = values.of_documents();
            let mut statement = db.prepare_cached(DOCUMENTS)?;
            let documents = statement.query_map(values.as_slice(), rows::listed_document)?;
            let mut documents: Vec<ListedDocument> = documents.collect::<Result<_, _>>()?;
            let mut statement = db.prepare_cached(TAGS_OF_DOCUMENTS)?;
            let mut tags = statement.query(values.as_slice())?;
            let mut idx = 0;
            while let Some(row) = tags.next()? {
                let id: DocumentId = row.get(0)?;
                idx += documents[idx..].iter().take_while(|document| document.id < id).count();
                // A document that another process has added meanwhile is missing here.
                if let Some(document) = documents.get_mut(idx).filter(|document| document.id == id)
                {
                    document.tags.push(row.get(1)?);
                }
            }
            documents.iter_mut().for_each(|document| document.tags.sort_unstable());
            Ok(documents)
        })
    }

    /// Returns the names of all documents, ordered by id.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Corrupt`] and other errors of the database.
    pub fn document_names(&self) -> Result<Vec<DocumentName>> {
        self.read(|db| {
            let mut statement = db.prepare_cached(DOCUMENT_NAMES)?;
            let names = statement.query_map([], |row| {
                Ok(DocumentName { id: row.get(0)?, title: row.get(1)?, path: row.get(2)? })
            })?;
            Ok(names.collect::<Result<_, _>>()?)
        })
    }

    /// Removes a document with its chunks, keyword index, vectors, paths and unused tags; returns
    /// whether it existed.
    ///
    /// # Errors
    ///
    /// [`crate::error::Error::Locked`], [`crate::error::Error::DiskFull`] and other errors of the
    /// database.
    pub fn remove(&mut self, id: DocumentId) -> Result<bool> {
        self.write(|db| delete(db, id))
    }
}

/// Removes a document; foreign keys and triggers remove everything that depends on it.
pub(super) fn delete(db: &Connection, id: DocumentId) -> Step<bool> {
    grams::remove(db, id)?;
    erase::mark_chunks(db, id)?;
    for stamp in paths::others(db, id, "")? {
        ledger::reopen(db, &stamp.path)?;
    }
    Ok(db.prepare_cached(REMOVE_DOCUMENT)?.execute(named_params! { ":id": id })? > 0)
}

/// Inserts the row of a document that has no chunks yet.
pub(super) fn insert(db: &Connection, new: &NewDocument) -> Step<DocumentId> {
    let id = db.prepare_cached(INSERT_DOCUMENT)?.query_row(
        named_params! {
            ":title": new.title,
            ":title_given": new.is_title_given,
            ":path": new.stamp.as_ref().map(|stamp| &stamp.path),
            ":content_hash": new.content_hash,
            ":doc_type": new.format.doc_type().as_str(),
            ":language": new.format.language().map(|language| language.as_str()),
            ":metadata": rows::document_json(new.format, &new.metadata)?,
            ":making": new.making,
            ":note_text": new.note_text,
        },
        |row| row.get(0),
    )?;
    Ok(id)
}

/// Updates a document's row from `new`, shown under `path`.
pub(super) fn update(
    db: &Connection,
    id: DocumentId,
    new: &NewDocument,
    path: Option<&str>,
) -> Step<()> {
    db.prepare_cached(UPDATE_DOCUMENT)?.execute(named_params! {
        ":id": id,
        ":title": new.title,
        ":title_given": new.is_title_given,
        ":path": path,
        ":content_hash": new.content_hash,
        ":doc_type": new.format.doc_type().as_str(),
        ":language": new.format.language().map(|language| language.as_str()),
        ":metadata": rows::document_json(new.format, &new.metadata)?,
        ":making": new.making,
        ":note_text": new.note_text,
    })?;
    Ok(())
}

/// Inserts a copy of a document's row, shown under `path`, without tags and chunks.
pub(super) fn copy(db: &Connection, id: DocumentId, path: &str) -> Step<DocumentId> {
    let mut statement = db.prepare_cached(COPY_DOCUMENT)?;
    Ok(statement.query_row(named_params! { ":path": path, ":id": id }, |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use crate::document::{DocType, Format, Language, Metadata, Quality};
    use crate::store::testing::{TestDb, document};

    #[test]
    fn metadata_of_a_document_is_read_back() {
        let mut db = TestDb::new();
        let mut new = document("/a.py", &["def f(): pass"], &["z", "a"]);
        new.format = Format::Code(Language::Python);
        new.metadata = Metadata {
            author: Some("Ada".into()),
            page_count: Some(12),
            created: Some("2020-01-02T03:04:05Z".into()),
            language: Some("en".into()),
            natural_language: Some("de".into()),
            quality: Some(Quality { pages_read: 11, pages_unread: 1, ..Quality::default() }),
            headings: vec![(1, "Tides".into())],
            warnings: vec!["one page could not be read".into()],
        };
        let id = db.put(&new, &["def f(): pass"], &[]).document_id();
        let stored = db.store.document(id).unwrap().unwrap();
        assert_eq!(stored.metadata, new.metadata);
        assert_eq!(stored.doc_type, DocType::Code);
        assert_eq!(stored.language.as_deref(), Some("python"));
        assert_eq!(stored.format, "python");
        assert_eq!(stored.title, "Title of /a.py");
        assert_eq!(stored.tags, ["a", "z"]);
    }

    #[test]
    fn only_code_has_a_programming_language() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["words"], &[]);
        assert_eq!(db.store.document(id).unwrap().unwrap().language, None);
    }

    #[test]
    fn a_document_is_found_by_its_content() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["words"], &[]);
        assert_eq!(db.store.document_by_hash("hash of words").unwrap().unwrap().id, id);
        assert_eq!(db.store.document_by_hash("hash of none").unwrap(), None);
    }

    #[test]
    fn a_removed_document_leaves_nothing() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["install git", "more"], &["only", "both"]);
        let other = db.add("/b.md", &["something"], &["both"]);
        assert!(db.store.remove(id).unwrap());
        assert!(!db.store.remove(id).unwrap());
        assert_eq!(db.store.known_path("/a.md").unwrap(), None);
        for (table, rows) in [("chunks", 1), ("chunks_vec", 1), ("document_tags", 1), ("tags", 1)] {
            let sql = format!("SELECT count(*) FROM {table}");
            let found: i64 = db.store.connection.query_row(&sql, [], |row| row.get(0)).unwrap();
            assert_eq!(found, rows, "{table}");
        }
        assert_eq!(db.store.documents(&Default::default()).unwrap()[0].id, other);
        db.assert_intact();
    }

    #[test]
    fn a_manual_delete_cascades_to_everything() {
        let mut db = TestDb::new();
        db.add("/a.md", &["install git"], &["one"]);
        db.store.connection.execute("DELETE FROM documents", []).unwrap();
        assert_eq!(db.store.stats().unwrap().total_vectors, 0);
        assert_eq!(db.store.tags().unwrap(), []);
        db.assert_intact();
    }
}
