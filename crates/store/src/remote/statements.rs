//! Lists the statements that a search sends to a copy.

/// One state of the copy for a whole search. The number of candidates must not exceed what an index of
/// neighbours returns, if there is one: 1,000 is the most that pgvector allows.
pub(super) const BEGIN: &str = "
    BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;
    SET LOCAL hnsw.ef_search = 1000;
    SET LOCAL jit = off";

/// An index of neighbours would leave out those that do not pass.
pub(super) const EXACT: &str = "SET LOCAL enable_indexscan = off";

pub(super) const INEXACT: &str = "SET LOCAL enable_indexscan = on";

/// The condition of a filter.
macro_rules! passes {
    () => {
        "($1::text IS NULL OR doc_type = $1)
        AND ($2::text IS NULL OR language = $2)
        AND tags @> $3
        AND NOT tags && $4
        AND ($5::text IS NULL OR date >= $5)
        AND ($6::text IS NULL OR left(date, length($6)) <= $6)
        AND (cardinality($7::text[]) = 0 AND cardinality($11::bigint[]) = 0 OR document.id = ANY ($11) OR EXISTS (
            SELECT 1
            FROM unnest(paths || path) AS place, unnest($7) AS wanted
            WHERE place = wanted OR starts_with(place, wanted || '/')
        ) OR EXISTS (
            SELECT 1
            FROM unnest(paths || path) AS place, unnest($8::text[]) AS wanted
            WHERE normalize(place) = wanted OR starts_with(normalize(place), wanted || '/')
        ))
        AND ($9::text IS NULL OR added >= $9)
        AND (cardinality($10::text[]) = 0 OR document.metadata ->> 'format' = ANY ($10))"
    };
}

pub(super) const KNOWN_DOCUMENTS: &str = "SELECT id FROM kb_documents WHERE id = ANY ($1)";

/// A search with filters.
pub(super) const PASSING: &str = concat!(
    "SELECT kb_chunks.id
    FROM kb_documents AS document
    JOIN kb_chunks ON kb_chunks.document_id = document.id
    WHERE ",
    passes!(),
    " ORDER BY kb_chunks.id"
);

pub(super) const NEWEST: &str =
    concat!("SELECT max(date) FROM kb_documents AS document WHERE ", passes!());

pub(super) const POSTINGS: &str = "
    SELECT block, entries
    FROM kb_postings
    WHERE index = $1 AND term = $2
    ORDER BY block";

/// The last character is after all others.
pub(super) const POSTINGS_OF_PREFIX: &str = "
    SELECT block, entries
    FROM kb_postings
    WHERE index = $1 AND term >= $2 AND term < $2 || chr(1114111)
    ORDER BY block";

pub(super) const NEAR_WORDS: &str = "
    SELECT words
    FROM kb_words
    WHERE initial = $1 AND length BETWEEN $2 AND $3
    ORDER BY length";

pub(super) const SIZES: &str = "SELECT block, sizes FROM kb_blocks ORDER BY block";

/// `<#>` is the negative inner product; vectors have length 1.
pub(super) const NEAREST: &str = "
    SELECT chunk_id, score
    FROM (
        SELECT chunk_id, -(embedding <#> $1::real[]::vector) AS score
        FROM kb_vectors
        ORDER BY embedding <#> $1::real[]::vector
        LIMIT $2
    ) AS nearest
    ORDER BY score DESC, chunk_id";

pub(super) const NEAREST_PASSING: &str = "
    SELECT chunk_id, -(embedding <#> $1::real[]::vector) AS score
    FROM kb_vectors
    WHERE chunk_id = ANY ($3)
    ORDER BY embedding <#> $1::real[]::vector, chunk_id
    LIMIT $2";

pub(super) const VECTORS: &str = "
    SELECT embedding::real[]
    FROM unnest($1::bigint[]) WITH ORDINALITY AS wanted (id, place)
    JOIN kb_vectors ON chunk_id = wanted.id
    ORDER BY wanted.place";

/// Longer codes are not what kb writes.
pub(super) const CODES: &str = "
    SELECT id, codes
    FROM kb_chunks
    WHERE id = ANY ($1) AND codes IS NOT NULL AND octet_length(codes) <= 1048576";

pub(super) const ORIGINS: &str = "
    SELECT chunk.id, document.id, document.doc_type = 'code', chunk.metadata ->> 'symbol_name',
        document.metadata ? 'superseded', document.path
    FROM kb_chunks AS chunk
    JOIN kb_documents AS document ON document.id = chunk.document_id
    WHERE chunk.id = ANY ($1)";

pub(super) const PASSAGES: &str = "SELECT id, context, text FROM kb_chunks WHERE id = ANY ($1)";

pub(super) const OTHER_PATHS: &str = "
    SELECT id, array_remove(paths, path) FROM kb_documents WHERE id = ANY ($1) AND cardinality(paths) > 1";

/// The paths of the documents of these chunks.
pub(super) const NAMED_PATHS: &str = "
    SELECT id, array_remove(paths || path, NULL)
    FROM kb_documents
    WHERE id IN (SELECT document_id FROM kb_chunks WHERE id = ANY ($1))
    ORDER BY id";

pub(super) const HITS: &str = "
    SELECT
        chunk.id, chunk.chunk_index, chunk.text, chunk.context, chunk.token_count,
        chunk.metadata::text, document.id, document.title, document.path, document.doc_type,
        document.language, document.tags, document.total_chunks, document.date,
        document.date_origin,
        coalesce(document.metadata ->> 'format', document.language, document.doc_type),
        coalesce(document.metadata -> 'superseded', 'null')::text,
        coalesce(document.metadata -> 'aliases', '[]')::text, document.metadata ->> 'natural_language'
    FROM unnest($1::bigint[]) WITH ORDINALITY AS wanted (id, place)
    JOIN kb_chunks AS chunk ON chunk.id = wanted.id
    JOIN kb_documents AS document ON document.id = chunk.document_id
    ORDER BY wanted.place";

pub(super) const CHUNKS: &str = "
    SELECT id, chunk_index, text, context, token_count, metadata::text
    FROM kb_chunks
    WHERE document_id = $1 AND chunk_index BETWEEN $2 AND $3
    ORDER BY chunk_index";

/// Scripts without spaces are rare, and every word would be looked for among their pairs, too.
pub(super) const HAS_PAIRS: &str = "SELECT EXISTS (SELECT 1 FROM kb_postings WHERE index = 1)";

/// Every document has its language in its metadata.
pub(super) const LANGUAGES: &str = "
    SELECT DISTINCT metadata ->> 'natural_language'
    FROM kb_documents
    WHERE metadata ? 'natural_language'
    ORDER BY 1";
