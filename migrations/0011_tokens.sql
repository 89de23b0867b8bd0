-- The vectors of a passage's tokens in a few bits each, by which the first hits are compared again; see
-- embed/token_codes.rs. A chunk without a row keeps its place.
CREATE TABLE chunks_tokens (
    chunk_id INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
    codes    BLOB NOT NULL,
    sum      BLOB NOT NULL CHECK (length(sum) = 8)  -- checksum; see store/vectors/sums.rs
) STRICT;

-- Those of the model that a reindex changes to.
ALTER TABLE chunks_vec_next ADD COLUMN codes BLOB;

ALTER TABLE chunks_next ADD COLUMN codes BLOB;
