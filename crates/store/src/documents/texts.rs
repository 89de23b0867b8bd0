//! Reads the texts of all chunks fast: what a text belongs to is parsed only where it is needed.

use rusqlite::named_params;

use crate::Store;
use crate::db::row::StoredRow;
use crate::db::{columns, sql};
use crate::document::{Chunk, DocType, FileLines, Filter};
use crate::error::Result;
use crate::ids::{ChunkId, DocumentId};

use super::filter::{passes_filter, values};
use super::{cut, rows};

/// A document that may be searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassingDocument {
    /// Its key.
    pub id: DocumentId,
    /// Its title.
    pub title: String,
    /// Absolute path of its file; `None` for a note given as text.
    pub path: Option<String>,
    /// Its type.
    pub doc_type: DocType,
    /// How its content was read, as [`crate::document::Format`] names it.
    pub format: String,
}

/// A chunk as it is stored.
#[derive(Debug, Clone, Copy)]
pub struct RawChunk<'a> {
    /// Its key.
    pub id: ChunkId,
    /// Its text.
    pub text: &'a str,
    /// Where it is from.
    pub place: RawPlace<'a>,
}

/// The position of a chunk, not yet parsed.
#[derive(Debug, Clone, Copy)]
pub struct RawPlace<'a>(&'a str);

impl<'a> RawPlace<'a> {
    /// Returns a place that was kept as text.
    pub fn new(json: &'a str) -> Self {
        Self(json)
    }

    /// Returns the text to keep.
    pub fn as_str(self) -> &'a str {
        self.0
    }

    /// Returns the lines in the file; `None` if they are unknown or cannot be read.
    pub fn lines(self) -> Option<FileLines> {
        rows::chunk_lines(self.0)
    }
}

const PASSING_DOCUMENTS: &str = concat!(
    "SELECT id, title, source_path, doc_type, language, metadata
    FROM documents
    WHERE ",
    passes_filter!(),
    "
    ORDER BY id"
);

const TEXTS: &str = "
    SELECT id, text, metadata
    FROM chunks
    WHERE document_id = :document_id
    ORDER BY chunk_index";

impl Store {
    /// Returns the documents that pass `filter`, by id; conditions on chunks are ignored.
    pub fn passing_documents(&self, filter: &Filter) -> Result<Vec<PassingDocument>> {
        self.read(|db| {
            sql::rows(db, PASSING_DOCUMENTS, values(db, filter)?.as_slice(), |row| {
                let doc_type = columns::named_column(row, 3, DocType::Markdown)?;
                let language: Option<String> = row.get(4)?;
                Ok(PassingDocument {
                    id: row.get(0)?,
                    title: row.get(1)?,
                    path: row.get(2)?,
                    doc_type,
                    format: cut::format_word(row.text(5)?, language.as_deref(), doc_type),
                })
            })
        })
    }

    /// Calls `visit` with each chunk of documents, in order, and the document that it belongs to. All are read in one
    /// state of the database.
    pub fn visit_texts(
        &self,
        ids: &[DocumentId],
        visit: &mut dyn FnMut(DocumentId, RawChunk<'_>) -> Result<()>,
    ) -> Result<()> {
        self.read(|db| {
            let mut statement = db.prepare_cached(TEXTS)?;
            for document_id in ids {
                let mut chunks = statement.query(named_params! { ":document_id": document_id })?;
                while let Some(row) = chunks.next()? {
                    let row = StoredRow::of(row);
                    let chunk = RawChunk {
                        id: row.get(0)?,
                        text: row.text(1)?,
                        place: RawPlace(row.text(2)?),
                    };
                    visit(*document_id, chunk)?;
                }
            }
            Ok(())
        })
    }

    /// Parses the position of a chunk of this database, and returns the chunk without its text.
    pub fn placed_chunk(&self, raw: RawPlace<'_>) -> Chunk {
        rows::placed_chunk(raw.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{ChunkLineMap, LineRange, PlaceChange};
    use crate::error::Error;
    use crate::testing::TestDb;

    #[test]
    fn texts_come_in_order_with_their_places() {
        let mut db = TestDb::new();
        let id = db.add("/a.md", &["one", "two"], &["red"]);
        let chunks = db.store.chunks(id).unwrap();
        let mut visited = Vec::new();
        let mut places = Vec::new();
        db.store
            .visit_texts(&[DocumentId(99), id], &mut |document_id, chunk| {
                assert_eq!(document_id, id);
                visited.push((chunk.id, chunk.text.to_owned(), chunk.place.lines()));
                places.push(chunk.place.as_str().to_owned());
                Ok(())
            })
            .unwrap();
        let expected = chunks.iter().map(|stored| {
            let chunk = &stored.chunk;
            (stored.id, chunk.text.clone(), chunk.file_lines())
        });
        assert_eq!(visited, expected.collect::<Vec<_>>());
        let place = db.store.placed_chunk(RawPlace::new(&places[1]));
        assert_eq!(place.section, chunks[1].chunk.section);
        assert_eq!(db.store.placed_chunk(RawPlace::new("[")), Chunk::default());
        let cancelled = db.store.visit_texts(&[id], &mut |_, _| Err(Error::UnknownChunk { id: 1 }));
        assert!(matches!(cancelled, Err(Error::UnknownChunk { id: 1 })));
    }

    #[test]
    fn the_lines_in_a_place_are_those_that_parsing_all_of_it_gives() {
        let db = TestDb::new();
        let mut chunk = crate::testing::chunk("words");
        chunk.section = Some("the \"start_line\":7, \"end_line\":9 > x".into());
        let in_text = LineRange::between(7, 9);
        let map = |offsets: &[u32]| ChunkLineMap { in_text, offsets: offsets.to_vec() };
        let maps = [None, Some(map(&[])), Some(map(&[0, 0, 11]))];
        let known = maps.map(|map| Some(FileLines { lines: LineRange::between(3, 14), map }));
        for lines in [None].into_iter().chain(known) {
            chunk.lines = lines.as_ref().map(|lines| lines.lines);
            chunk.line_map = lines.as_ref().and_then(|lines| lines.map.clone());
            let symbol = Some("a\"".to_owned());
            let place = PlaceChange { line: 2, page: Some(7), section: None, symbol };
            chunk.new_places = lines.as_ref().map(|lines| match lines.map {
                Some(_) => vec![place],
                None => Vec::new(),
            });
            let json = rows::chunk_json(&chunk).unwrap();
            assert!(rows::check_chunk_json(&json).is_ok());
            assert_eq!(RawPlace::new(&json).lines(), lines);
            let placed = db.store.placed_chunk(RawPlace::new(&json));
            assert_eq!(placed.file_lines(), lines);
            assert_eq!(placed.new_places, chunk.new_places);
        }
        for offsets in ["[0,12]", "[2,1]"] {
            let json = format!(r#"{{"line_offsets":{offsets},"start_line":3,"end_line":14}}"#);
            assert!(rows::check_chunk_json(&json).is_err(), "{offsets}");
        }
        for json in ["", "{}", "\"start_line\":", "{\"start_line\":99999999999,\"end_line\":1}"] {
            assert_eq!(RawPlace::new(json).lines(), None);
        }
    }

    #[test]
    fn documents_are_filtered() {
        let mut db = TestDb::new();
        db.add("/a.md", &["one"], &["red"]);
        let id = db.add("/b.md", &["two"], &[]);
        let filter = Filter { paths: vec!["/b.md".into()], ..Filter::default() };
        let found = db.store.passing_documents(&filter).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].id, found[0].path.as_deref()), (id, Some("/b.md")));
        assert_eq!(db.store.passing_documents(&Filter::default()).unwrap().len(), 2);
    }
}
