//! Reads chunks with their documents, and stores chunks with their vectors.

use std::collections::HashMap;
use std::iter;

use rusqlite::{Connection, named_params};
use sha2::{Digest, Sha256};

use crate::db::{columns, room, sql};
use crate::document::{Chunk, DocType, Embedding};
use crate::error::Result;
use crate::ids::{ChunkId, DocumentId};
use crate::text::conflicts::ConflictName;

use super::stored::{ChunkOrigin, StoredChunk, StoredHit};
use super::{cut, rows};
use crate::db::fault::Step;
use crate::db::layout::DirectReadSupport;
use crate::keyword::words::WordCounts;
use crate::keyword::{derived, grams};
use crate::vectors::VectorWriter;
use crate::{Store, vectors};

/// Identifies an embedded text: equal passages have equal hashes and, under one binding, equal
/// vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PassageHash([u8; 16]);

impl PassageHash {
    /// Hashes a passage made by [`Chunk::passage`], without the model's prefix.
    pub fn of(passage: &str) -> Self {
        let digest = Sha256::digest(passage.as_bytes());
        let mut half = [0; 16];
        half.copy_from_slice(&digest[..16]);
        Self(half)
    }

    pub(crate) fn bytes(self) -> [u8; 16] {
        self.0
    }
}

const CHUNKS: &str = "
    SELECT id AS chunk_id, chunk_index, text, context, token_count, metadata AS chunk_metadata
    FROM chunks
    WHERE document_id = :document_id AND chunk_index BETWEEN :first AND :last
    ORDER BY chunk_index";

/// `chunk_index` has no gaps, so its maximum, one step in an index, saves counting. The dates are
/// queried one by one: in a join, SQLite would compute the whole view first.
const HITS: &str = "
    SELECT
        chunks.id AS chunk_id,
        chunks.chunk_index,
        chunks.text,
        chunks.context,
        chunks.token_count,
        chunks.metadata AS chunk_metadata,
        documents.id AS document_id,
        documents.title,
        documents.source_path,
        documents.doc_type,
        documents.language,
        documents.metadata AS document_metadata,
        (
            SELECT json_group_array(tags.name ORDER BY tags.name)
            FROM document_tags
            JOIN tags ON tags.id = document_tags.tag_id
            WHERE document_tags.document_id = documents.id
        ) AS tags,
        (
            SELECT max(siblings.chunk_index) + 1
            FROM chunks AS siblings
            WHERE siblings.document_id = documents.id
        ) AS total_chunks,
        (SELECT date FROM document_dates WHERE document_id = documents.id) AS date,
        (SELECT origin FROM document_dates WHERE document_id = documents.id) AS date_origin,
        -- Few documents have either, and looking for a word is faster than reading JSON.
        iif(
            instr(documents.metadata, '\"superseded\":') > 0,
            coalesce(documents.metadata -> '$.superseded', 'null'),
            'null'
        ) AS superseded,
        iif(
            instr(documents.metadata, '\"aliases\":') > 0,
            coalesce(documents.metadata -> '$.aliases', '[]'),
            '[]'
        ) AS aliases
    FROM json_each(:ids) AS wanted
    CROSS JOIN chunks ON chunks.id = wanted.value
    CROSS JOIN documents ON documents.id = chunks.document_id
    ORDER BY wanted.key";

const ORIGINS: &str = "
    SELECT
        chunks.id,
        chunks.document_id,
        documents.doc_type = 'code',
        iif(json_valid(chunks.metadata), chunks.metadata ->> '$.symbol_name', NULL),
        instr(documents.metadata, '\"superseded\":') > 0
            AND documents.metadata -> '$.superseded' IS NOT NULL,
        documents.source_path
    FROM json_each(:ids) AS wanted
    CROSS JOIN chunks ON chunks.id = wanted.value
    CROSS JOIN documents ON documents.id = chunks.document_id";

const PASSAGES: &str = "
    SELECT chunks.id, chunks.context, chunks.text
    FROM json_each(:ids) AS wanted
    CROSS JOIN chunks ON chunks.id = wanted.value";

const INSERT_CHUNK: &str = "
    INSERT INTO chunks
        (document_id, chunk_index, text, context, token_count, passage_hash, metadata)
    VALUES
        (:document_id, :chunk_index, :text, :context, :token_count, :passage_hash, :metadata)
    RETURNING id";

const EMBEDDING_BY_PASSAGE: &str = "
    SELECT chunks_vec.embedding, chunks_tokens.codes
    FROM chunks
    CROSS JOIN chunks_vec ON chunks_vec.chunk_id = chunks.id
    LEFT JOIN chunks_tokens ON chunks_tokens.chunk_id = chunks.id
    WHERE chunks.passage_hash = :passage_hash
    ORDER BY chunks.id
    LIMIT 1";

impl Store {
    /// Returns a document's chunks in order; none for an unknown id.
    pub fn chunks(&self, id: DocumentId) -> Result<Vec<StoredChunk>> {
        self.chunks_between(id, 0, u32::MAX)
    }

    /// Returns the chunks of a document whose positions are from `first` to `last`, in order.
    pub fn chunks_between(
        &self,
        id: DocumentId,
        first: u32,
        last: u32,
    ) -> Result<Vec<StoredChunk>> {
        let wanted = named_params! { ":document_id": id, ":first": first, ":last": last };
        self.read(|db| sql::rows(db, CHUNKS, wanted, rows::stored_chunk))
    }

    /// Returns chunks with their documents in the order of `ids`; missing ones are left out.
    pub fn hits(&self, ids: &[ChunkId]) -> Result<Vec<StoredHit>> {
        self.read(|db| {
            let ids = columns::to_json(ids)?;
            sql::rows(db, HITS, named_params! { ":ids": ids }, |row| {
                let doc_type = columns::named_column(row, "doc_type", DocType::Markdown)?;
                let language: Option<String> = row.get("language")?;
                let metadata = row.text("document_metadata")?;
                let natural_language = cut::natural_language(metadata);
                Ok(StoredHit {
                    chunk: rows::stored_chunk(row)?,
                    document_id: row.get("document_id")?,
                    title: row.get("title")?,
                    path: row.get("source_path")?,
                    doc_type,
                    format: cut::format_word(metadata, language.as_deref(), doc_type),
                    language,
                    tags: columns::json_column(row, "tags")?,
                    total_chunks: row.get("total_chunks")?,
                    date: row.get("date")?,
                    date_origin: row.get("date_origin")?,
                    superseded: columns::json_column(row, "superseded")?,
                    aliases: columns::json_column(row, "aliases")?,
                    natural_language,
                })
            })
        })
    }

    /// Returns what chunks are parts of; missing ones are left out.
    pub fn origins(&self, ids: &[ChunkId]) -> Result<HashMap<ChunkId, ChunkOrigin>> {
        self.read(|db| {
            let ids = columns::to_json(ids)?;
            sql::rows(db, ORIGINS, named_params! { ":ids": ids }, |row| {
                let (document_id, is_code, symbol) = (row.get(1)?, row.get(2)?, row.get(3)?);
                let (is_superseded, path): (_, Option<String>) = (row.get(4)?, row.get(5)?);
                let may_be_conflict_copy = path.as_deref().and_then(ConflictName::of).is_some();
                let origin = ChunkOrigin {
                    document_id,
                    is_code,
                    symbol,
                    is_superseded,
                    may_be_conflict_copy,
                };
                Ok((row.get(0)?, origin))
            })
        })
    }

    /// Returns the passages of chunks: their contexts and their texts. Missing ones are left out.
    pub fn passages(&self, ids: &[ChunkId]) -> Result<HashMap<ChunkId, String>> {
        self.read(|db| {
            let ids = columns::to_json(ids)?;
            sql::rows(db, PASSAGES, named_params! { ":ids": ids }, |row| {
                let (context, text) = (row.text(1)?, row.text(2)?);
                Ok((row.get(0)?, Chunk::passage(context, text)))
            })
        })
    }

    /// Returns the vectors of chunks in the order of `ids`; chunks without one are left out.
    pub fn vectors(&self, ids: &[ChunkId]) -> Result<Vec<Vec<f32>>> {
        self.read(|db| {
            if self.check_bound(db)?.is_none() {
                return Ok(Vec::new());
            }
            ids.iter().filter_map(|id| vector(db, *id).transpose()).collect()
        })
    }

    /// Returns the embeddings of passages that are already embedded under this store's binding.
    pub fn embeddings_by_passage(
        &self,
        hashes: &[PassageHash],
    ) -> Result<HashMap<PassageHash, Embedding>> {
        self.read(|db| {
            if self.check_bound(db)?.is_none() {
                return Ok(HashMap::new());
            }
            let mut found = HashMap::new();
            for hash in hashes {
                let params = named_params! { ":passage_hash": hash.0 };
                let embedding = sql::first_row(db, EMBEDDING_BY_PASSAGE, params, |row| {
                    Ok(Embedding { vector: vectors::from_row(row)?, codes: row.get(1)? })
                })?;
                found.extend(embedding.map(|embedding| (*hash, embedding)));
            }
            Ok(found)
        })
    }
}

pub(super) fn vector(db: &Connection, id: ChunkId) -> Step<Option<Vec<f32>>> {
    sql::first_row(db, vectors::VECTOR, named_params! { ":chunk_id": id }, vectors::from_row)
}

/// Inserts the chunks of a document that has none, with their embeddings if the database has a model.
pub(crate) fn insert(
    db: &Connection,
    document_id: DocumentId,
    chunks: &[Chunk],
    embeddings: &[Embedding],
    layout: DirectReadSupport,
) -> Step<()> {
    room::require(db, chunks.iter().map(|chunk| chunk.text.len()).sum())?;
    let has_vectors = !embeddings.is_empty();
    let mut writer = has_vectors.then(|| VectorWriter::new(db, layout)).transpose()?;
    let mut words = WordCounts::default();
    let language = grams::language(db, document_id)?;
    let embeddings = embeddings.iter().map(Some).chain(iter::repeat(None));
    for ((chunk_index, chunk), embedding) in (0_u32..).zip(chunks).zip(embeddings) {
        let params = named_params! {
            ":document_id": document_id,
            ":chunk_index": chunk_index,
            ":text": chunk.text,
            ":context": chunk.context,
            ":token_count": chunk.token_count,
            ":passage_hash": PassageHash::of(&Chunk::passage(&chunk.context, &chunk.text)).0,
            ":metadata": rows::chunk_json(chunk)?,
        };
        let chunk_id: ChunkId = sql::value(db, INSERT_CHUNK, params)?;
        derived::insert(db, chunk_id, &chunk.context, &chunk.text, language)?;
        words.count(&chunk.context, &chunk.text);
        if let (Some(writer), Some(embedding)) = (&mut writer, embedding) {
            writer.insert(chunk_id, embedding)?;
        }
    }
    words.add(db)?;
    writer.map_or(Ok(()), VectorWriter::finish)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{ChunkLineMap, LineRange, PageRange};
    use crate::error::Error;
    use crate::testing::{TestDb, binding, chunk, document, embedding};

    #[test]
    fn chunk_metadata_is_json_under_the_documented_keys() {
        let mut db = TestDb::new();
        let mut whole = chunk("words");
        whole.section = Some("Config > Advanced".into());
        whole.symbol = Some("Class.method".into());
        whole.pages = Some(PageRange::single(2));
        let new = document("/a.md", &["words"], &[]);
        db.store.replace(&new, &[whole], &[embedding("words")], &|_| false).unwrap();
        for (key, expected) in [
            ("page", "2"),
            ("section_header", "Config > Advanced"),
            ("symbol_name", "Class.method"),
        ] {
            let sql = "SELECT CAST(metadata ->> ?1 AS TEXT) FROM chunks";
            let found: String =
                db.store.connection.query_row(sql, [key], |row| row.get(0)).unwrap();
            assert_eq!(found, expected, "{key}");
        }
    }

    #[test]
    fn a_chunk_is_read_back_unchanged() {
        let mut db = TestDb::new();
        let mut whole = chunk("words");
        whole.symbol = Some("Class.method".into());
        whole.pages = PageRange::new(2, 3);
        whole.page_label = Some("iv".into());
        let bare = Chunk {
            text: "more".into(),
            token_count: 1,
            lines: LineRange::new(4, 5),
            line_map: Some(ChunkLineMap {
                in_text: LineRange::between(4, 6),
                offsets: vec![0, 0, 1],
            }),
            ..Chunk::default()
        };
        let chunks = [whole, bare];
        let new = document("/a.md", &["words", "more"], &[]);
        let embeddings = [embedding("words"), embedding("more")];
        let id = db.store.replace(&new, &chunks, &embeddings, &|_| false).unwrap().document_id();
        let stored = db.store.chunks(id).unwrap();
        assert_eq!(stored.iter().map(|stored| stored.chunk_index).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(stored.into_iter().map(|stored| stored.chunk).collect::<Vec<_>>(), chunks);
    }

    #[test]
    fn hits_are_in_the_requested_order_with_their_documents() {
        let mut db = TestDb::new();
        let first = db.add("/a.md", &["one", "two", "three"], &["b", "a"]);
        let second = db.add("/b.md", &["four"], &[]);
        let id = |document, position: usize| db.store.chunks(document).unwrap()[position].id;
        let (two, four) = (id(first, 1), id(second, 0));
        let hits = db.store.hits(&[four, ChunkId(999), two, four]).unwrap();
        assert_eq!(hits.iter().map(|hit| hit.chunk.id).collect::<Vec<_>>(), [four, two, four]);
        assert_eq!(hits[1].document_id, first);
        assert_eq!(hits[1].title, "Title of /a.md");
        assert_eq!(hits[1].path.as_deref(), Some("/a.md"));
        assert_eq!(hits[1].tags, ["a", "b"]);
        assert_eq!((hits[1].chunk.chunk_index, hits[1].total_chunks), (1, 3));
        assert_eq!(hits[1].chunk.chunk.text, "two");
        assert!(hits[0].tags.is_empty());
        assert!(db.store.hits(&[]).unwrap().is_empty());
    }

    #[test]
    fn an_embedded_passage_is_found_while_a_chunk_has_it() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["one", "two"], &[]);
        let hash = |text| PassageHash::of(&Chunk::passage("Guide > Setup", text));
        let wanted = [hash("two"), hash("three"), PassageHash::of("two")];
        let found = db.store.embeddings_by_passage(&wanted).unwrap();
        assert_eq!(found, HashMap::from([(hash("two"), embedding("two"))]));
        db.store.remove(id).unwrap();
        assert!(db.store.embeddings_by_passage(&wanted).unwrap().is_empty());
    }

    #[test]
    fn vectors_of_another_model_are_not_found() {
        let mut db = TestDb::new();
        let hash = PassageHash::of("words");
        Store::open(&db.path()).unwrap().bind(&binding("other")).unwrap();
        let outcome = db.store.embeddings_by_passage(&[hash]);
        assert!(matches!(outcome, Err(Error::ModelMismatch { .. })));
        assert!(TestDb::unbound().store.embeddings_by_passage(&[hash]).unwrap().is_empty());
        db.store.bind(&binding("other")).unwrap();
    }
}
