//! Answers from a copy what a search asks of a database.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

use super::RemoteLink;
use super::state::CopyState;
use super::statements::{
    BEGIN, CHUNKS, CODES, EXACT, HAS_PAIRS, HITS, INEXACT, KNOWN_DOCUMENTS, LANGUAGES, NAMED_PATHS,
    NEAR_WORDS, NEAREST, NEAREST_PASSING, NEWEST, ORIGINS, OTHER_PATHS, PASSAGES, PASSING, SIZES,
    VECTORS,
};
use crate::document::{Binding, Chunk, DocumentKind, Filter};
use crate::error::Result;
use crate::ids::{ChunkId, DocumentId, RankedChunk};
use crate::keyword::words::WantedWord;
use crate::search::Searchable;
use crate::text::conflicts::ConflictName;
use crate::text::forms::composed;
use crate::text::language::NaturalLanguage;
use crate::wording::{kb, wording};
use crate::{
    ChunkOrigin, ChunkSizes, NamedChunks, NearWord, Occurrence, Splitter, StoredChunk, StoredHit,
    TermIndex,
};

/// A parameter of a query and its type.
pub(super) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

/// A copy to search, in one state. Clones share its connection.
#[derive(Clone)]
pub struct Remote {
    pub(super) shared: Arc<SharedReader>,
}

pub(super) struct SharedReader {
    link: Mutex<RemoteLink>,
    splitter: Mutex<Splitter>,
    state: CopyState,
    pub(super) has_pairs: bool,
    /// The languages with stems in the copy.
    pub(super) languages: Vec<NaturalLanguage>,
}

impl Remote {
    /// Begins to read a copy.
    ///
    /// # Errors
    ///
    /// [`Error::Target`](crate::error::Error::Target) if there is none, or none that this kb knows.
    pub fn open(mut link: RemoteLink) -> Result<Self> {
        let state = CopyState::read(&mut link)?;
        if !state.is_known {
            let push = kb("push").arg("TARGET");
            return Err(if state.base_id.is_empty() {
                link.refuse(
                    "it has no copy of a knowledge base",
                    wording!("`{}` creates one", push),
                )
            } else {
                link.refuse(
                    "another version of kb created its tables",
                    wording!("`{}` creates them again", push),
                )
            });
        }
        link.run(async |client| client.batch_execute(BEGIN).await)?;
        let has_pairs = link.run(async |client| client.query_typed(HAS_PAIRS, &[]).await)?;
        let has_pairs = has_pairs.first().is_some_and(|row| row.get(0));
        let mut languages = Vec::new();
        if has_pairs {
            for row in link.run(async |client| client.query_typed(LANGUAGES, &[]).await)? {
                // A later kb may have pushed languages that this one does not know; they are left out.
                let code: Option<&str> = row.try_get(0).ok();
                languages.extend(code.and_then(NaturalLanguage::from_code));
            }
            languages.retain(|language| language.has_stemmer());
        }
        let (link, splitter) = (Mutex::new(link), Mutex::new(Splitter::new()?));
        Ok(Self { shared: Arc::new(SharedReader { link, splitter, state, has_pairs, languages }) })
    }

    /// Ends the reading of its state. Returns the connection for another search; `None` if it is lost or still in use.
    pub fn close(self) -> Option<RemoteLink> {
        let shared = Arc::into_inner(self.shared)?;
        let mut link = shared.link.into_inner().ok()?;
        link.run(async |client| client.batch_execute("COMMIT").await).ok()?;
        Some(link)
    }

    /// Whether the last push has ended.
    pub fn is_complete(&self) -> bool {
        self.shared.state.is_complete
    }

    /// Whether an older kb has pushed it, so that it is searched without other forms of words, words near those of a query, and
    /// tags.
    pub fn is_of_older_format(&self) -> bool {
        self.shared.state.is_older
    }

    pub(super) fn link(&self) -> MutexGuard<'_, RemoteLink> {
        self.shared.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn splitter(&self) -> MutexGuard<'_, Splitter> {
        self.shared.splitter.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queries in one round trip: with the types of the parameters, nothing needs to be asked before.
    pub(super) fn query(&self, statement: &str, params: &[Param<'_>]) -> Result<Vec<Row>> {
        self.link().run(async |client| client.query_typed(statement, params).await)
    }

    /// Returns the chunks of documents that have a text in their names or their tags.
    fn chunks_named(&self, index: TermIndex, text: &str) -> Result<Vec<ChunkId>> {
        let Some(phrase) = self.splitter().name(index, text)? else { return Ok(Vec::new()) };
        Ok(self.find(&phrase)?.into_iter().map(|occurrence| occurrence.chunk_id).collect())
    }

    fn stored_hit(&self, row: &Row) -> Result<StoredHit> {
        let doc_type: &str = self.get(row, 9)?;
        let natural_language: Option<&str> = self.get(row, 18)?;
        Ok(StoredHit {
            chunk: self.stored_chunk(row)?,
            document_id: DocumentId(self.get(row, 6)?),
            title: self.get(row, 7)?,
            path: self.get(row, 8)?,
            doc_type: doc_type.parse().map_err(|_| self.damaged("the type of a document"))?,
            language: self.get(row, 10)?,
            tags: self.get(row, 11)?,
            total_chunks: self.unsigned(row, 12)?,
            date: self.get(row, 13)?,
            date_origin: self.get(row, 14)?,
            format: self.get(row, 15)?,
            superseded: self.stated(row, 16)?,
            aliases: self.stated(row, 17)?,
            natural_language: natural_language.and_then(NaturalLanguage::from_code),
        })
    }

    fn filtered(&self, statement: &str, filter: &Filter) -> Result<Vec<Row>> {
        let mut paths: Vec<&str> = filter.paths.iter().map(String::as_str).collect();
        let mut ids: Vec<i64> = filter.numbered.iter().map(|numbered| numbered.id).collect();
        if !ids.is_empty() {
            let known = self.query(KNOWN_DOCUMENTS, &[(&ids, Type::INT8_ARRAY)])?;
            ids = known.iter().map(|row| self.get(row, 0)).collect::<Result<_>>()?;
            let others = filter.numbered.iter().filter(|numbered| !ids.contains(&numbered.id));
            paths.extend(others.map(|numbered| numbered.path.as_str()));
        }
        let paths: Vec<&str> = paths.iter().map(|path| path.trim_end_matches('/')).collect();
        // Names of files from macOS are decomposed, so paths are also compared in composed form.
        let others = paths.iter().filter(|path| !path.is_ascii());
        let composed: Vec<String> = others.map(|path| composed(path).into_owned()).collect();
        let doc_type = filter.kind.map(|kind| kind.doc_type().as_str());
        let formats = filter.kind.map(DocumentKind::format_words).unwrap_or_default();
        self.query(
            statement,
            &[
                (&doc_type, Type::TEXT),
                (&filter.language.map(|language| language.as_str()), Type::TEXT),
                (&filter.tags, Type::TEXT_ARRAY),
                (&filter.excluded_tags, Type::TEXT_ARRAY),
                (&filter.since, Type::TEXT),
                (&filter.until, Type::TEXT),
                (&paths, Type::TEXT_ARRAY),
                (&composed, Type::TEXT_ARRAY),
                (&filter.added_since, Type::TEXT),
                (&formats, Type::TEXT_ARRAY),
                (&ids, Type::INT8_ARRAY),
            ],
        )
    }
}

fn numbers(ids: &[ChunkId]) -> Vec<i64> {
    ids.iter().map(|id| id.0).collect()
}

impl Searchable for Remote {
    fn binding(&self) -> Result<Option<Binding>> {
        Ok(self.shared.state.binding.clone())
    }

    fn take_reader(&self) -> Result<Self> {
        Ok(self.clone())
    }

    fn return_reader(&self, _reader: Self) {}

    fn passing_chunks(&self, filter: &Filter) -> Result<Vec<ChunkId>> {
        let mut excluded = HashSet::new();
        for text in &filter.excluded {
            excluded.extend(self.having(text)?);
        }
        let rows = self.filtered(PASSING, filter)?;
        let mut ids = rows.iter().map(|row| self.id(row, 0)).collect::<Result<Vec<_>>>()?;
        ids.retain(|id| !excluded.contains(id));
        Ok(ids)
    }

    fn chunks_with(&self, text: &str) -> Result<Vec<ChunkId>> {
        let mut ids: Vec<ChunkId> = self.having(text)?.into_iter().collect();
        ids.sort_unstable();
        Ok(ids)
    }

    fn occurrences(&self, text: &str) -> Result<Vec<Occurrence>> {
        let mut phrases = self.splitter().phrases(text)?;
        if self.shared.state.is_older {
            phrases.push(Splitter::touching(text));
        }
        let mut found = Vec::new();
        for phrase in &phrases {
            found = Occurrence::merged(found, self.find(phrase)?, u32::max);
        }
        if phrases.is_empty() || self.shared.languages.is_empty() {
            return Ok(found);
        }
        // A word that occurs as typed also occurs by its stem.
        let stems = self.splitter().stems(text, &self.shared.languages)?;
        for stem in stems {
            found = Occurrence::merged(found, self.find(&stem)?, u32::max);
        }
        Ok(found)
    }

    fn occurrences_of_prefix(&self, prefix: &str) -> Result<Vec<Occurrence>> {
        let phrase = self.splitter().prefix(prefix)?;
        phrase.map_or_else(|| Ok(Vec::new()), |phrase| self.find(&phrase))
    }

    fn exact_occurrences(&self, term: &str) -> Result<Vec<Occurrence>> {
        self.find(&Splitter::exact(term))
    }

    fn named_chunks(&self, text: &str) -> Result<NamedChunks> {
        let by_name = self.chunks_named(TermIndex::Names, text)?;
        Ok(NamedChunks { by_name, by_tag: self.chunks_named(TermIndex::Tags, text)? })
    }

    fn near_words(&self, word: &str, most_wrong: usize) -> Result<Vec<NearWord>> {
        let wanted = WantedWord::of(word, most_wrong).filter(|_| !self.shared.state.is_older);
        let Some(wanted) = wanted else { return Ok(Vec::new()) };
        let [initial, shortest, longest] =
            [wanted.initial, wanted.shortest, wanted.longest].map(i64::from);
        let params: [Param<'_>; 3] =
            [(&initial, Type::INT8), (&shortest, Type::INT8), (&longest, Type::INT8)];
        let mut found = Vec::new();
        for row in &self.query(NEAR_WORDS, &params)? {
            let lines: &str = self.get(row, 0)?;
            for line in lines.lines() {
                let counted = line
                    .split_once(' ')
                    .and_then(|(count, word)| Some((word, count.parse().ok()?)));
                let (word, num_chunks) = counted.ok_or_else(|| self.damaged("its words"))?;
                found.extend(wanted.near(word, num_chunks));
            }
        }
        Ok(NearWord::ordered(found))
    }

    fn named_paths(&self, texts: &[String]) -> Result<Vec<(DocumentId, String)>> {
        let mut named: Vec<HashSet<ChunkId>> = Vec::new();
        for text in texts {
            named.push(self.named_chunks(text)?.by_name.into_iter().collect());
        }
        let all = named.into_iter().reduce(|one, other| &one & &other).unwrap_or_default();
        let ids: Vec<ChunkId> = all.into_iter().collect();
        let rows = self.query(NAMED_PATHS, &[(&numbers(&ids), Type::INT8_ARRAY)])?;
        let mut found = Vec::new();
        for row in &rows {
            let id = DocumentId(self.get(row, 0)?);
            let paths: Vec<String> = self.get(row, 1)?;
            found.extend(paths.into_iter().map(|path| (id, path)));
        }
        Ok(found)
    }

    fn chunk_sizes(&self) -> Result<ChunkSizes> {
        let rows = self.query(SIZES, &[])?;
        let mut sizes = ChunkSizes::default();
        for row in &rows {
            let added = sizes.add_block(self.get(row, 0)?, self.get(row, 1)?);
            added.ok_or_else(|| self.damaged("the sizes of its chunks"))?;
        }
        Ok(sizes)
    }

    fn rank_by_cosine(
        &self,
        vector: &[f32],
        passing: Option<&[ChunkId]>,
        depth: u32,
    ) -> Result<Vec<RankedChunk>> {
        let depth = i64::from(depth);
        let rows = match passing {
            None => self.query(NEAREST, &[(&vector, Type::FLOAT4_ARRAY), (&depth, Type::INT8)])?,
            Some(passing) => {
                self.link().run(async |client| client.batch_execute(EXACT).await)?;
                let rows = self.query(
                    NEAREST_PASSING,
                    &[
                        (&vector, Type::FLOAT4_ARRAY),
                        (&depth, Type::INT8),
                        (&numbers(passing), Type::INT8_ARRAY),
                    ],
                )?;
                self.link().run(async |client| client.batch_execute(INEXACT).await)?;
                rows
            }
        };
        let ranked = rows
            .iter()
            .map(|row| Ok(RankedChunk { chunk_id: self.id(row, 0)?, score: self.get(row, 1)? }))
            .collect::<Result<Vec<RankedChunk>>>()?;
        if !ranked.iter().all(|entry| entry.score.is_finite()) {
            return Err(self.damaged("a vector"));
        }
        Ok(ranked)
    }

    fn cosine_floor(&self) -> Result<f64> {
        Ok(self.shared.state.cosine_floor)
    }

    fn vectors(&self, ids: &[ChunkId]) -> Result<Vec<Vec<f32>>> {
        let rows = self.query(VECTORS, &[(&numbers(ids), Type::INT8_ARRAY)])?;
        rows.iter().map(|row| self.get(row, 0)).collect()
    }

    fn token_codes(&self, ids: &[ChunkId]) -> Result<HashMap<ChunkId, Vec<u8>>> {
        let rows = self.query(CODES, &[(&numbers(ids), Type::INT8_ARRAY)])?;
        rows.iter().map(|row| Ok((self.id(row, 0)?, self.get(row, 1)?))).collect()
    }

    fn hits(&self, ids: &[ChunkId]) -> Result<Vec<StoredHit>> {
        let rows = self.query(HITS, &[(&numbers(ids), Type::INT8_ARRAY)])?;
        rows.iter().map(|row| self.stored_hit(row)).collect()
    }

    fn origins(&self, ids: &[ChunkId]) -> Result<HashMap<ChunkId, ChunkOrigin>> {
        let rows = self.query(ORIGINS, &[(&numbers(ids), Type::INT8_ARRAY)])?;
        let origins = rows.iter().map(|row| {
            let document_id = DocumentId(self.get(row, 1)?);
            let (is_code, symbol) = (self.get(row, 2)?, self.get(row, 3)?);
            let is_superseded = self.get(row, 4)?;
            let path: Option<String> = self.get(row, 5)?;
            let may_be_conflict_copy = path.as_deref().and_then(ConflictName::of).is_some();
            let origin =
                ChunkOrigin { document_id, is_code, symbol, is_superseded, may_be_conflict_copy };
            Ok((self.id(row, 0)?, origin))
        });
        origins.collect()
    }

    fn passages(&self, ids: &[ChunkId]) -> Result<HashMap<ChunkId, String>> {
        let rows = self.query(PASSAGES, &[(&numbers(ids), Type::INT8_ARRAY)])?;
        let passages = rows.iter().map(|row| {
            let (context, text): (&str, &str) = (self.get(row, 1)?, self.get(row, 2)?);
            Ok((self.id(row, 0)?, Chunk::passage(context, text)))
        });
        passages.collect()
    }

    fn newest(&self, filter: &Filter) -> Result<Option<String>> {
        let rows = self.filtered(NEWEST, filter)?;
        rows.first().map_or(Ok(None), |row| self.get(row, 0))
    }

    fn chunks_between(&self, id: DocumentId, first: u32, last: u32) -> Result<Vec<StoredChunk>> {
        let (first, last) = (i64::from(first), i64::from(last));
        let wanted: [Param<'_>; 3] =
            [(&id.0, Type::INT8), (&first, Type::INT8), (&last, Type::INT8)];
        let rows = self.query(CHUNKS, &wanted)?;
        rows.iter().map(|row| self.stored_chunk(row)).collect()
    }

    fn other_paths(&self, ids: &[DocumentId]) -> Result<HashMap<DocumentId, Vec<String>>> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let rows = self.query(OTHER_PATHS, &[(&ids, Type::INT8_ARRAY)])?;
        rows.iter().map(|row| Ok((DocumentId(self.get(row, 0)?), self.get(row, 1)?))).collect()
    }
}
