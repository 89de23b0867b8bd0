-- When the user edited a document, so that an import can merge the edits of two machines.

-- JSON: `title`, `date` and `text` have the times of all edits, RFC 3339 with milliseconds, UTC; `former` has the
-- SHA-256 of a note's earlier texts. Null for a document that was never edited.
ALTER TABLE documents ADD COLUMN edits TEXT;

-- Few documents are edited.
CREATE INDEX documents_edits ON documents (id) WHERE edits IS NOT NULL;

UPDATE documents
SET edits = json_object('title', json_array(strftime('%Y-%m-%dT%H:%M:%fZ', updated_at)))
WHERE title_given = 1;

UPDATE documents
SET edits = json_set(
    coalesce(edits, '{}'), '$.date', json_array(strftime('%Y-%m-%dT%H:%M:%fZ', updated_at))
)
WHERE metadata ->> '$.date' IS NOT NULL;

CREATE TRIGGER documents_edits_ai AFTER INSERT ON documents
WHEN new.title_given = 1 AND new.edits IS NULL BEGIN
    UPDATE documents
    SET edits = json_object('title', json_array(strftime('%Y-%m-%dT%H:%M:%fZ', created_at)))
    WHERE id = new.id;
END;

CREATE TRIGGER documents_title_au AFTER UPDATE OF title, title_given ON documents
WHEN new.title_given = 1 AND (new.title <> old.title OR old.title_given = 0) BEGIN
    UPDATE documents
    SET edits = json_insert(
        json_insert(coalesce(edits, '{}'), '$.title', json('[]')),
        '$.title[#]', strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
    )
    WHERE id = new.id;
END;

CREATE TRIGGER documents_date_au AFTER UPDATE OF metadata ON documents
WHEN new.metadata ->> '$.date' IS NOT old.metadata ->> '$.date' BEGIN
    UPDATE documents
    SET edits = json_insert(
        json_insert(coalesce(edits, '{}'), '$.date', json('[]')),
        '$.date[#]', strftime('%Y-%m-%dT%H:%M:%fZ', 'now')
    )
    WHERE id = new.id;
END;

-- A note that has a file is edited in the file.
CREATE TRIGGER documents_text_au AFTER UPDATE OF content_hash ON documents
WHEN new.content_hash <> old.content_hash
    AND old.doc_type = 'note' AND old.source_path IS NULL AND new.source_path IS NULL BEGIN
    UPDATE documents
    SET edits = json_insert(
        json_insert(coalesce(edits, '{}'), '$.text', json('[]'), '$.former', json('[]')),
        '$.text[#]', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), '$.former[#]', old.content_hash
    )
    WHERE id = new.id;
END;
