//! Reads documents, by id, content or filter.

use rusqlite::{Params, named_params};

use super::filter::{passes_filter, values};
use super::rows;
use super::stored::{DocumentName, ListedDocument, StoredDocument};
use crate::Store;
use crate::db::row::StoredRow;
use crate::db::sql;
use crate::document::Filter;
use crate::error::Result;
use crate::ids::DocumentId;

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
        ) AS chunk_count,
        document_dates.date,
        document_dates.origin
    FROM documents
    CROSS JOIN document_dates ON document_dates.document_id = documents.id
    WHERE ",
    passes_filter!(),
    " ORDER BY documents.id"
);

/// As for hits, the dates are queried one by one.
const NEWEST: &str = concat!(
    "SELECT max((SELECT date FROM document_dates WHERE document_id = documents.id))
    FROM documents
    WHERE ",
    passes_filter!()
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

impl Store {
    /// Returns one document; `None` for an unknown id.
    pub fn document(&self, id: DocumentId) -> Result<Option<StoredDocument>> {
        self.stored_document(DOCUMENT, named_params! { ":id": id })
    }

    /// Returns the document with this content, the oldest if it was read in several ways.
    pub fn document_by_hash(&self, content_hash: &str) -> Result<Option<StoredDocument>> {
        self.stored_document(DOCUMENT_BY_HASH, named_params! { ":content_hash": content_hash })
    }

    fn stored_document(&self, query: &str, params: impl Params) -> Result<Option<StoredDocument>> {
        self.read(|db| sql::first_row(db, query, params, rows::stored_document))
    }

    /// Returns the documents that pass `filter`, by id; conditions on chunks are ignored.
    pub fn documents(&self, filter: &Filter) -> Result<Vec<ListedDocument>> {
        self.read(|db| {
            let values = values(db, filter)?;
            let mut documents: Vec<ListedDocument> =
                sql::rows(db, DOCUMENTS, values.as_slice(), rows::listed_document)?;
            let mut statement = db.prepare_cached(TAGS_OF_DOCUMENTS)?;
            let mut tags = statement.query(values.as_slice())?;
            let mut idx = 0;
            while let Some(row) = tags.next()? {
                let row = StoredRow::of(row);
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

    /// Returns the latest date of the documents that pass `filter`; conditions on chunks are ignored.
    pub fn newest(&self, filter: &Filter) -> Result<Option<String>> {
        self.read(|db| sql::value(db, NEWEST, values(db, filter)?.as_slice()))
    }

    /// Returns the names of all documents, ordered by id.
    pub fn document_names(&self) -> Result<Vec<DocumentName>> {
        self.read(|db| {
            sql::rows(db, DOCUMENT_NAMES, [], |row| {
                Ok(DocumentName { id: row.get(0)?, title: row.get(1)?, path: row.get(2)? })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::document::{DocType, FileParts, Filter, Format, Language, Metadata, Quality};
    use crate::testing::{TestDb, document};
    use crate::text::decode::{EncodingCertainty, TextEncoding};

    #[test]
    fn tags_of_listed_documents_are_in_alphabetical_order() {
        let mut db = TestDb::new();
        db.add("/a.md", &["ebb"], &["zebra"]);
        db.add("/b.md", &["flood"], &["mole", "zebra", "ant"]);
        db.add("/c.md", &["neap"], &[]);
        db.add("/d.md", &["spring"], &["mole", "bee"]);
        let listed = db.store.documents(&Filter::default()).unwrap();
        let tags: Vec<String> = listed.iter().map(|document| document.tags.join(" ")).collect();
        assert_eq!(tags, ["zebra", "ant mole zebra", "", "bee mole"]);
    }

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
            encoding: Some(TextEncoding {
                name: "Shift_JIS".into(),
                origin: EncodingCertainty::Guessed,
            }),
            quality: Some(Quality { pages_read: 11, pages_unread: 1, ..Quality::default() }),
            words: None,
            parts: Some(FileParts { num_read: 3, ..FileParts::default() }),
            headings: vec![(1, "Tides".into())],
            aliases: vec![],
            superseded: None,
            links: vec![],
            warnings: vec!["one page could not be read".into()],
        };
        let id = db.put(&new, &["def f(): pass"], &[]).document_id();
        let stored = db.store.document(id).unwrap().unwrap();
        assert_eq!(stored.metadata, new.metadata);
        let listed = db.store.documents(&Filter::default()).unwrap();
        assert_eq!(listed[0].encoding, new.metadata.encoding);
        assert_eq!(stored.doc_type, DocType::Code);
        assert_eq!(stored.language.as_deref(), Some("python"));
        assert_eq!(stored.format, "python");
        assert_eq!(db.store.documents(&Filter::default()).unwrap()[0].format, "python");
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
}
