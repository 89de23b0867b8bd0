-- Names of documents and exact terms can be searched. kb fills all three: keyword/names.rs, keyword/derived.rs.

-- Versions, options, paths and other terms that punctuation holds together; `chunks_fts` has their parts.
CREATE VIRTUAL TABLE chunks_exact USING fts5 (
    context,
    text,
    content = '',
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
);

CREATE VIRTUAL TABLE chunks_exact_terms USING fts5vocab (chunks_exact, instance);

INSERT INTO chunks_exact (chunks_exact, rank) VALUES ('secure-delete', 1);

-- The words of a document's file name, aliases and nearest folder.
CREATE TABLE document_names (
    document_id INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
    words       TEXT                               -- null: to be made before the transaction ends
) STRICT;

CREATE INDEX document_names_unmade ON document_names (document_id) WHERE words IS NULL;

CREATE VIRTUAL TABLE document_names_fts USING fts5 (
    words,
    content = 'document_names',
    content_rowid = 'document_id',
    tokenize = 'porter unicode61'
);

INSERT INTO document_names_fts (document_names_fts, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER document_names_au AFTER UPDATE OF words ON document_names BEGIN
    INSERT INTO document_names_fts (document_names_fts, rowid, words)
    SELECT 'delete', old.document_id, old.words WHERE old.words IS NOT NULL;
    INSERT INTO document_names_fts (rowid, words)
    SELECT new.document_id, new.words WHERE new.words IS NOT NULL;
END;

CREATE TRIGGER document_names_ad AFTER DELETE ON document_names WHEN old.words IS NOT NULL BEGIN
    INSERT INTO document_names_fts (document_names_fts, rowid, words)
    VALUES ('delete', old.document_id, old.words);
END;

CREATE TRIGGER documents_names_ai AFTER INSERT ON documents BEGIN
    INSERT INTO document_names (document_id) VALUES (new.id);
END;

CREATE TRIGGER documents_names_au AFTER UPDATE OF source_path, metadata ON documents
WHEN old.source_path IS NOT new.source_path
    OR old.metadata ->> '$.aliases' IS NOT new.metadata ->> '$.aliases' BEGIN
    UPDATE document_names SET words = NULL WHERE document_id = new.id;
END;

INSERT INTO document_names (document_id) SELECT id FROM documents;
