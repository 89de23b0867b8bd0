-- Words in all their forms, words as they are written, and tags can be searched. kb fills all of them, and makes `chunks_grams`
-- and `chunks_exact` again: keyword/derived.rs, keyword/forms.rs, keyword/words.rs, keyword/names.rs.

-- The words of passages, to find those near a word that none has.
CREATE TABLE words (
    initial    INTEGER NOT NULL,                   -- code of the first letter
    length     INTEGER NOT NULL,                   -- in letters
    word       TEXT NOT NULL,                      -- in small letters
    num_chunks INTEGER NOT NULL,                   -- passages that have it
    PRIMARY KEY (initial, length, word)
) STRICT, WITHOUT ROWID;

DROP TRIGGER document_names_au;
DROP TRIGGER document_names_ad;
DROP TABLE document_names_fts;

-- The words of the tags, apart from those of the name: a tag of many documents is still the name of few.
ALTER TABLE document_names ADD COLUMN tags TEXT;

-- Before there are triggers: the new index has nothing to remove.
UPDATE document_names SET words = NULL;

CREATE VIRTUAL TABLE document_names_fts USING fts5 (
    words,
    tags,
    content = 'document_names',
    content_rowid = 'document_id',
    tokenize = 'porter unicode61'
);

INSERT INTO document_names_fts (document_names_fts, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER document_names_au AFTER UPDATE OF words, tags ON document_names BEGIN
    INSERT INTO document_names_fts (document_names_fts, rowid, words, tags)
    SELECT 'delete', old.document_id, old.words, old.tags WHERE old.words IS NOT NULL;
    INSERT INTO document_names_fts (rowid, words, tags)
    SELECT new.document_id, new.words, new.tags WHERE new.words IS NOT NULL;
END;

CREATE TRIGGER document_names_ad AFTER DELETE ON document_names WHEN old.words IS NOT NULL BEGIN
    INSERT INTO document_names_fts (document_names_fts, rowid, words, tags)
    VALUES ('delete', old.document_id, old.words, old.tags);
END;

CREATE TRIGGER document_tags_names_ai AFTER INSERT ON document_tags BEGIN
    UPDATE document_names SET words = NULL WHERE document_id = new.document_id;
END;

CREATE TRIGGER document_tags_names_ad AFTER DELETE ON document_tags BEGIN
    UPDATE document_names SET words = NULL WHERE document_id = old.document_id;
END;

CREATE TRIGGER tags_names_au AFTER UPDATE OF name ON tags BEGIN
    UPDATE document_names
    SET words = NULL
    WHERE document_id IN (SELECT document_id FROM document_tags WHERE tag_id = new.id);
END;
