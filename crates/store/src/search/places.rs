//! Finds the chunks of the files and days that a query names.

use std::collections::BTreeSet;

use crate::error::Result;
use crate::ids::{ChunkId, DocumentId};
use crate::search::Searchable;
use crate::search::calendar_day::CalendarDay;
use crate::search::locator::FileLocator;
use crate::{ChunkSizes, NamedChunks, Occurrence, StoredChunk};

/// Returns the chunks of the files that a query names, ordered by id; with a line, those that hold it.
pub(super) fn chunks_at(
    store: &impl Searchable,
    file: &FileLocator,
    sizes: &ChunkSizes,
) -> Result<NamedChunks> {
    Ok(NamedChunks { by_name: chunks_of_files(store, file, sizes)?, ..NamedChunks::default() })
}

fn chunks_of_files(
    store: &impl Searchable,
    file: &FileLocator,
    sizes: &ChunkSizes,
) -> Result<Vec<ChunkId>> {
    let mut paths = store.named_paths(&file.names())?;
    paths.retain(|(_, path)| file.is_at(path));
    let documents = paths.into_iter().map(|(id, _)| id).collect();
    let Some(line) = file.line else { return Ok(chunks_of(&documents, sizes)) };
    let mut found = Vec::new();
    for id in documents {
        found.extend(at_line(&store.chunks_between(id, 0, u32::MAX)?, line));
    }
    found.sort_unstable();
    Ok(found)
}

/// Returns the chunks of a document that hold a line, else the last one before it; all if the document has no lines.
fn at_line(chunks: &[StoredChunk], line: u32) -> Vec<ChunkId> {
    let before: Vec<&StoredChunk> = chunks
        .iter()
        .filter(|stored| stored.chunk.lines.is_some_and(|lines| lines.first() <= line))
        .collect();
    let holding: Vec<ChunkId> = before
        .iter()
        .filter(|stored| stored.chunk.lines.is_some_and(|lines| lines.contains(line)))
        .map(|stored| stored.id)
        .collect();
    if !holding.is_empty() {
        return holding;
    }
    match before.last() {
        Some(last) => vec![last.id],
        None => chunks.iter().map(|stored| stored.id).collect(),
    }
}

/// Returns the chunks of documents that are named by a day, ordered by id.
pub(super) fn chunks_of_day(
    store: &impl Searchable,
    day: CalendarDay,
    sizes: &ChunkSizes,
) -> Result<NamedChunks> {
    let mut found = BTreeSet::new();
    for name in day.names() {
        found.extend(store.named_chunks(&name)?.by_name);
    }
    let paths = store.named_paths(&day.in_folders())?;
    let in_folders = paths.iter().filter(|(_, path)| day.is_in_folders(path));
    found.extend(chunks_of(&in_folders.map(|(id, _)| *id).collect(), sizes));
    Ok(NamedChunks { by_name: found.into_iter().collect(), ..NamedChunks::default() })
}

/// Returns where passages have a day, in any notation that means no other day.
pub(super) fn occurrences_of_day(
    store: &impl Searchable,
    day: CalendarDay,
) -> Result<Vec<Occurrence>> {
    let mut found = Vec::new();
    for name in day.names() {
        found = Occurrence::merged(found, store.occurrences(&name)?, u32::max);
    }
    Ok(found)
}

/// Returns the chunks of documents, ordered by id.
fn chunks_of(documents: &BTreeSet<DocumentId>, sizes: &ChunkSizes) -> Vec<ChunkId> {
    if documents.is_empty() {
        return Vec::new();
    }
    let own = (0..sizes.num_places())
        .filter(|place| sizes.document_id(*place).is_some_and(|id| documents.contains(&id)));
    own.map(|place| sizes.chunk_id(place)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Chunk, LineRange};
    use crate::search::TermStatistics;
    use crate::search::calendar_day::QueryDays;
    use crate::search::look_up::look_up;
    use crate::search::parse::parse;
    use crate::testing::{TestDb, chunk};

    /// A database whose chunks have the ids 1 to 8.
    fn db() -> TestDb {
        let mut db = TestDb::new();
        db.add("/p/src/http/retry.ts", &["again", "and again"], &[]);
        db.add("/p/src/cache/retry.ts", &["once"], &[]);
        db.add("/p/notes/http.md", &["src/http/retry.ts src/http/retry.ts:3 retry.ts"], &[]);
        db.add("/p/journal/2025-10-04.md", &["fence"], &[]);
        db.add("/p/journal/2025-10-05.md", &["4 October 2025, 2025-10-04 and 4.10.2025"], &[]);
        db.add("/p/2025/10/04.md", &["boat"], &[]);
        db.add("/p/notes/Oct 4, 2025 call.md", &["call"], &[]);
        db
    }

    fn ids(found: &[ChunkId]) -> Vec<i64> {
        found.iter().map(|id| id.0).collect()
    }

    #[test]
    fn a_file_is_found_by_the_end_of_its_path() {
        let db = db();
        let sizes = db.store.chunk_sizes().unwrap();
        for (query, expected) in [
            ("src/http/retry.ts", &[1, 2][..]),
            ("p\\src\\cache\\RETRY.ts", &[3]),
            ("retry.ts", &[1, 2, 3]),
            ("http/retry.ts:3", &[1, 2]),
            ("oct 4, 2025 call.md", &[8]),
            ("http/retry", &[]),
            ("lib/retry.ts", &[]),
        ] {
            let file = FileLocator::of(query).unwrap();
            assert_eq!(
                ids(&chunks_at(&db.store, &file, &sizes).unwrap().by_name),
                expected,
                "{query}"
            );
        }
    }

    #[test]
    fn a_day_is_found_in_the_names_of_documents() {
        let db = db();
        let sizes = db.store.chunk_sizes().unwrap();
        let of = |query: &str| {
            let days = QueryDays::of(query).days;
            ids(&chunks_of_day(&db.store, days[0], &sizes).unwrap().by_name)
        };
        assert_eq!(of("4 October 2025"), [5, 7, 8]);
        assert_eq!(of("2025-10-05"), [6]);
        assert!(of("2025-10-06").is_empty());
    }

    #[test]
    fn a_day_is_found_in_texts_in_any_notation() {
        let db = db();
        let of = |query: &str| {
            let found = occurrences_of_day(&db.store, QueryDays::of(query).days[0]).unwrap();
            ids(&found.iter().map(|found| found.chunk_id).collect::<Vec<_>>())
        };
        assert_eq!(of("Oct 4, 2025"), [6]);
        assert!(of("2025-04-10").is_empty());
    }

    #[test]
    fn what_a_query_names_comes_before_what_mentions_it() {
        let db = db();
        for (query, first) in [
            ("src/http/retry.ts", &[1, 2][..]),
            ("src/cache/retry.ts", &[3]),
            ("2025-10-04", &[5, 7, 8]),
            ("notes/http.md", &[4]),
        ] {
            let (keywords, _) =
                look_up(&db.store, &[parse(query).unwrap()], &TermStatistics::default(), None)
                    .unwrap();
            let ranked = keywords.unwrap().rank(None, 99);
            let mut found =
                ids(&ranked.iter().take(first.len()).map(|hit| hit.chunk_id).collect::<Vec<_>>());
            found.sort_unstable();
            assert_eq!(found, first, "{query}");
        }
    }

    #[test]
    fn a_line_is_in_the_chunk_that_holds_it_or_in_the_one_before() {
        let stored = |id: i64, lines: Option<LineRange>| StoredChunk {
            id: ChunkId(id),
            chunk_index: 0,
            chunk: Chunk { lines, ..chunk("text") },
        };
        let chunks = [
            stored(1, LineRange::new(1, 4)),
            stored(2, LineRange::new(6, 9)),
            stored(3, LineRange::new(9, 12)),
        ];
        for (line, expected) in
            [(1, &[1][..]), (5, &[1]), (7, &[2]), (9, &[2, 3]), (99, &[3]), (0, &[1, 2, 3])]
        {
            assert_eq!(ids(&at_line(&chunks, line)), expected, "{line}");
        }
        assert_eq!(ids(&at_line(&[stored(1, None), stored(2, None)], 5)), [1, 2]);
    }
}
