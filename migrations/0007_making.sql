-- How a document was made, so that a later version or other settings are noticed, and what a change
-- to a model that reads fewer tokens collects before it takes effect.

-- The reader's version, the settings of its chunks and the length of the model, as app/making.rs
-- writes them; null for a document of an older kb.
ALTER TABLE documents ADD COLUMN making TEXT;

-- The text of a note given as text, if it is stored in several chunks: chunks overlap, and what is
-- between them is not stored. Null for all other documents.
ALTER TABLE documents ADD COLUMN note_text TEXT;

-- The number of tokens that the next model counts in a chunk.
ALTER TABLE chunks_vec_next ADD COLUMN token_count INTEGER;

-- Chunks that are too long for the next model, split again; empty at all other times.
CREATE TABLE chunks_next (
    chunk_id    INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE, -- the one that is split
    piece       INTEGER NOT NULL,                  -- from 0
    text        TEXT NOT NULL,
    context     TEXT NOT NULL,
    token_count INTEGER NOT NULL,
    metadata    TEXT NOT NULL,                     -- like chunks.metadata
    embedding   BLOB NOT NULL,                     -- 32-bit floats, as vec0 takes them
    PRIMARY KEY (chunk_id, piece)
) STRICT, WITHOUT ROWID;
