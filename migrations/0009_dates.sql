-- The day that the user gave a document (`$.date` of its metadata) takes precedence over all other dates.

DROP VIEW document_dates;

-- The day a document is of, and who says so: the user, the document itself, its file, or the day it was added.
CREATE VIEW document_dates AS
SELECT
    documents.id AS document_id,
    coalesce(
        date(json_extract(documents.metadata, '$.date')),
        date(json_extract(documents.metadata, '$.created')),
        date(document_paths.mtime_ns / 1000000000, 'unixepoch'),
        date(documents.created_at)
    ) AS date,
    CASE
        WHEN date(json_extract(documents.metadata, '$.date')) IS NOT NULL THEN 'user'
        WHEN date(json_extract(documents.metadata, '$.created')) IS NOT NULL THEN 'document'
        WHEN document_paths.mtime_ns IS NOT NULL THEN 'file'
        ELSE 'added'
    END AS origin
FROM documents
LEFT JOIN document_paths ON document_paths.path = documents.source_path;
