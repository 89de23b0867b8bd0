-- What lets a search read little of a database of a million chunks: sizes of chunks side by side,
-- and a few bits of each vector.

-- Which document a chunk is part of and how long it is, in blocks of 256 chunk ids: eight bytes an
-- id, two big-endian numbers (document id, tokens), zeros where there is no such chunk.
CREATE TABLE chunks_sizes_blocks (
    block INTEGER PRIMARY KEY,                     -- chunks.id >> 8
    sizes BLOB NOT NULL CHECK (length(sizes) = 2048)
) STRICT;

INSERT INTO chunks_sizes_blocks (block, sizes)
WITH RECURSIVE places (place) AS (
    SELECT 0
    UNION ALL
    SELECT place + 1 FROM places WHERE place < 255
)
SELECT
    blocks.block,
    unhex(group_concat(
        printf('%08x%08x', ifnull(chunks.document_id, 0), ifnull(chunks.token_count, 0)), ''
        ORDER BY places.place
    ))
FROM (SELECT DISTINCT id >> 8 AS block FROM chunks) AS blocks
CROSS JOIN places
LEFT JOIN chunks ON chunks.id = ((blocks.block << 8) | places.place)
GROUP BY blocks.block;

DROP INDEX chunks_sizes;

CREATE TRIGGER chunks_sizes_ai AFTER INSERT ON chunks BEGIN
    INSERT OR IGNORE INTO chunks_sizes_blocks (block, sizes) VALUES (new.id >> 8, zeroblob(2048));
    UPDATE chunks_sizes_blocks
    SET sizes = CAST(
        substr(sizes, 1, (new.id & 255) * 8)
        || unhex(printf('%08x%08x', new.document_id, ifnull(new.token_count, 0)))
        || substr(sizes, (new.id & 255) * 8 + 9)
        AS BLOB)
    WHERE block = new.id >> 8;
END;

CREATE TRIGGER chunks_sizes_au AFTER UPDATE OF document_id, token_count ON chunks BEGIN
    UPDATE chunks_sizes_blocks
    SET sizes = CAST(
        substr(sizes, 1, (new.id & 255) * 8)
        || unhex(printf('%08x%08x', new.document_id, ifnull(new.token_count, 0)))
        || substr(sizes, (new.id & 255) * 8 + 9)
        AS BLOB)
    WHERE block = new.id >> 8;
END;

CREATE TRIGGER chunks_sizes_ad AFTER DELETE ON chunks BEGIN
    UPDATE chunks_sizes_blocks
    SET sizes = CAST(
        substr(sizes, 1, (old.id & 255) * 8)
        || zeroblob(8)
        || substr(sizes, (old.id & 255) * 8 + 9)
        AS BLOB)
    WHERE block = old.id >> 8;
    DELETE FROM chunks_sizes_blocks WHERE block = old.id >> 8 AND sizes = zeroblob(2048);
END;

-- Coarse codes of the vectors in one block of vec0, in the order of its places; see store/codes.rs.
-- Only of full blocks, and only in a large database. A trigger made with the first of them removes
-- a block's codes with any of its chunks.
CREATE TABLE chunks_vec_codes (
    block INTEGER PRIMARY KEY,                     -- chunks_vec_chunks.chunk_id
    codes BLOB NOT NULL
) STRICT;

-- The day a document is of, and who says so: the document itself, its file, or the day it was added.
CREATE VIEW document_dates AS
SELECT
    documents.id AS document_id,
    coalesce(
        date(json_extract(documents.metadata, '$.created')),
        date(document_paths.mtime_ns / 1000000000, 'unixepoch'),
        date(documents.created_at)
    ) AS date,
    CASE
        WHEN date(json_extract(documents.metadata, '$.created')) IS NOT NULL THEN 'document'
        WHEN document_paths.mtime_ns IS NOT NULL THEN 'file'
        ELSE 'added'
    END AS origin
FROM documents
LEFT JOIN document_paths ON document_paths.path = documents.source_path;
