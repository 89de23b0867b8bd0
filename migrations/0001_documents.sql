-- Documents, their chunks, the keyword index over them, tags, and what the database was built
-- with. The vector table is made by store/vectors.rs: its width is the model's.

CREATE TABLE documents (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    title        TEXT NOT NULL,
    title_given  INTEGER NOT NULL DEFAULT 0 CHECK (title_given IN (0, 1)), -- 1: by the user; kept
    source_path  TEXT,                             -- absolute; null for a note given as text
    content_hash TEXT NOT NULL,                    -- SHA-256 of the file's bytes, lower-case hex
    doc_type     TEXT NOT NULL CHECK (doc_type IN ('pdf', 'markdown', 'code', 'note')),
    language     TEXT,                             -- python, bash, go; null for all but code
    created_at   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')), -- RFC 3339, UTC
    updated_at   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
    metadata     TEXT NOT NULL DEFAULT '{}'        -- JSON: format, page_count, author, ...
) STRICT;

CREATE INDEX documents_content_hash ON documents (content_hash);
CREATE INDEX documents_source_path ON documents (source_path);

-- Every path at which a document's bytes were seen, so that an unchanged file is not read again
-- and nothing is lost when one of several copies changes.
CREATE TABLE document_paths (
    path        TEXT PRIMARY KEY,                  -- absolute
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    size_bytes  INTEGER NOT NULL,
    mtime_ns    INTEGER NOT NULL                   -- since 1970, as the file system says
) STRICT;

CREATE INDEX document_paths_document_id ON document_paths (document_id);

CREATE TABLE chunks (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id  INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    chunk_index  INTEGER NOT NULL,                 -- from 0, without gaps
    text         TEXT NOT NULL,                    -- the chunk's own text
    context      TEXT NOT NULL DEFAULT '',         -- title > headers, or module > class
    token_count  INTEGER,                          -- of exactly what is embedded
    passage_hash BLOB NOT NULL,                    -- SHA-256 of context and text, first 16 bytes
    metadata     TEXT NOT NULL DEFAULT '{}',       -- JSON: page, section_header, symbol_name, ...
    created_at   TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
) STRICT;

CREATE UNIQUE INDEX chunks_document_id ON chunks (document_id, chunk_index);
CREATE INDEX chunks_passage_hash ON chunks (passage_hash);

-- What BM25 asks of every chunk, without reading their texts.
CREATE INDEX chunks_sizes ON chunks (id, document_id, token_count);

CREATE VIRTUAL TABLE chunks_fts USING fts5 (
    context,
    text,
    content = 'chunks',
    content_rowid = 'id',
    tokenize = 'porter unicode61'
);

-- Where each term of the keyword index occurs; a view of the index, nothing is stored.
CREATE VIRTUAL TABLE chunks_terms USING fts5vocab (chunks_fts, instance);

-- Pairs and single letters of scripts that put no space between words (store/grams.rs); chunks
-- without such letters are not in it. Filled with the chunks, emptied before them.
CREATE VIRTUAL TABLE chunks_grams USING fts5 (
    context,
    text,
    content = '',
    contentless_delete = 1,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
);

CREATE VIRTUAL TABLE chunks_grams_terms USING fts5vocab (chunks_grams, instance);

CREATE TRIGGER chunks_ai AFTER INSERT ON chunks BEGIN
    INSERT INTO chunks_fts (rowid, context, text) VALUES (new.id, new.context, new.text);
END;

CREATE TRIGGER chunks_ad AFTER DELETE ON chunks BEGIN
    INSERT INTO chunks_fts (chunks_fts, rowid, context, text)
    VALUES ('delete', old.id, old.context, old.text);
END;

CREATE TRIGGER chunks_au AFTER UPDATE OF id, context, text ON chunks BEGIN
    INSERT INTO chunks_fts (chunks_fts, rowid, context, text)
    VALUES ('delete', old.id, old.context, old.text);
    INSERT INTO chunks_fts (rowid, context, text) VALUES (new.id, new.context, new.text);
END;

CREATE TABLE tags (
    id   INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE document_tags (
    document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    tag_id      INTEGER NOT NULL REFERENCES tags (id) ON DELETE CASCADE,
    PRIMARY KEY (document_id, tag_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX document_tags_tag_id ON document_tags (tag_id);

-- A tag lives as long as some document bears it.
CREATE TRIGGER document_tags_ad AFTER DELETE ON document_tags
WHEN NOT EXISTS (SELECT 1 FROM document_tags WHERE tag_id = old.tag_id) BEGIN
    DELETE FROM tags WHERE id = old.tag_id;
END;

-- Vectors of the model a reindex is changing to; empty at all other times. Nothing searches here.
CREATE TABLE chunks_vec_next (
    chunk_id  INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    embedding BLOB NOT NULL                        -- 32-bit floats, as vec0 takes them
) STRICT;

-- schema_version, model_name, embedding_dim, model_max_tokens, model_precision, passage_prefix;
-- the last five once more with the prefix next_ while a reindex is under way
CREATE TABLE config (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
