-- A copy of a knowledge base. Everything is derived from kb.db and can be dropped and pushed again.

CREATE EXTENSION IF NOT EXISTS vector;

-- format, base_id, the settings of the vectors, cosine_floor; is_complete: whether the last push has ended
CREATE TABLE IF NOT EXISTS kb_state (
    key   text PRIMARY KEY,
    value text NOT NULL
);

CREATE TABLE IF NOT EXISTS kb_documents (
    id           bigint PRIMARY KEY,
    fingerprint  bytea NOT NULL,             -- of everything in this row
    title        text NOT NULL,
    path         text,                       -- on the machine that pushed
    paths        text[] NOT NULL,            -- every path of its content
    doc_type     text NOT NULL,
    language     text,
    tags         text[] NOT NULL,
    date         text COLLATE "C",           -- a day: 2026-11-24
    date_origin  text,
    content_hash text NOT NULL,
    metadata     jsonb NOT NULL,
    total_chunks integer NOT NULL,
    added        text COLLATE "C"            -- when it was added, RFC 3339, UTC
);

CREATE TABLE IF NOT EXISTS kb_chunks (
    id          bigint PRIMARY KEY,
    document_id bigint NOT NULL,
    chunk_index integer NOT NULL,
    text        text NOT NULL,
    context     text NOT NULL,
    token_count integer NOT NULL,
    metadata    jsonb NOT NULL,
    codes       bytea                        -- of its tokens
);

CREATE INDEX IF NOT EXISTS kb_chunks_document_id ON kb_chunks (document_id);

-- Unit vectors. They are apart from the texts, so that comparing all vectors reads nothing else.
CREATE TABLE IF NOT EXISTS kb_vectors (
    chunk_id  bigint PRIMARY KEY,
    embedding vector({dim}) NOT NULL
);

-- A push compares and replaces whole blocks: 256 chunks with consecutive ids.
CREATE TABLE IF NOT EXISTS kb_blocks (
    block       bigint PRIMARY KEY,          -- the ids of its chunks, without the last 8 bits
    fingerprint bytea NOT NULL,
    sizes       bytea NOT NULL               -- document and tokens of each chunk, 32 bits each
);

-- Where a term occurs in the chunks of a block; crates/store/src/remote/postings.rs has the format.
CREATE TABLE IF NOT EXISTS kb_postings (
    index   smallint NOT NULL,               -- 0: words, 1: pairs of characters and other forms, 2: exact terms, 3: names, 4: tags
    term    text COLLATE "C" NOT NULL,
    block   bigint NOT NULL,
    entries bytea NOT NULL,
    PRIMARY KEY (index, term, block)
);

-- Words of passages as they are written, to find those near a word that none has.
CREATE TABLE IF NOT EXISTS kb_words (
    initial     bigint NOT NULL,             -- code of the first letter
    length      bigint NOT NULL,             -- in letters
    fingerprint bytea NOT NULL,              -- of the words
    words       text NOT NULL,               -- one line per word: how many passages have it, and the word
    PRIMARY KEY (initial, length)
);

CREATE INDEX IF NOT EXISTS kb_postings_block ON kb_postings (block);
