-- Whether a file was on another file system than its added folder when kb last saw it there: only then can an empty
-- folder be a disk that is not mounted. kb sets it: ingest/mounts.rs.

ALTER TABLE document_paths ADD COLUMN on_mount INTEGER; -- 1: it was; 0: it was not; null: not seen by this kb
