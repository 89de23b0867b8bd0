-- Folders that were added, so that `kb update` can look there again.

CREATE TABLE roots (
    path     TEXT PRIMARY KEY,                     -- absolute
    tags     TEXT NOT NULL DEFAULT '[]',           -- JSON array: what new files in it bear
    doc_type TEXT,                                 -- what the user said its files are; null: nothing
    language TEXT,                                 -- the same of their programming language
    follow   INTEGER NOT NULL DEFAULT 0 CHECK (follow IN (0, 1)) -- 1: links in it are followed
) STRICT;
