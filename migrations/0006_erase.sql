-- What is removed leaves nothing behind, and a vector that changed by itself is noticed.

-- A database in which an older kb removed something still holds some of it; `kb doctor --fix` cleans it and
-- removes this row.
INSERT INTO config (key, value)
SELECT 'leftovers', 'yes'
WHERE EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'chunks')
    AND (
        (SELECT count(*) FROM chunks) < (SELECT seq FROM sqlite_sequence WHERE name = 'chunks')
        OR (SELECT freelist_count FROM pragma_freelist_count) > 0
    );

-- Terms are taken out of the index where they stand, instead of being marked as removed until some merge.
INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('secure-delete', 1);

-- Made again without contentless_delete, which only hides what is removed: entries are now removed by their text
-- (store/grams.rs). Filled by store/migrate.rs.
DROP TABLE IF EXISTS chunks_grams_terms;

DROP TABLE IF EXISTS chunks_grams;

CREATE VIRTUAL TABLE chunks_grams USING fts5 (
    context,
    text,
    content = '',
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
);

CREATE VIRTUAL TABLE chunks_grams_terms USING fts5vocab (chunks_grams, instance);

INSERT INTO chunks_grams (chunks_grams, rank) VALUES ('secure-delete', 1);

-- Checksums of the vectors in one block of vec0, in the order of its places; see store/sums.rs.
CREATE TABLE chunks_vec_sums (
    block INTEGER PRIMARY KEY,                     -- chunks_vec_chunks.chunk_id
    sums  BLOB NOT NULL                            -- eight bytes a place; zeros where there is no vector
) STRICT;
