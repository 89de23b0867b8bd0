-- Files that were seen and not indexed, so that each can be listed with its reason and no failure is repeated.
-- Indexed files are in document_paths.

CREATE TABLE ledger (
    path       TEXT PRIMARY KEY,                   -- absolute; of a folder: nothing below it is listed
    outcome    TEXT NOT NULL CHECK (outcome IN ('ignored', 'failed', 'waived')),
    reason     TEXT NOT NULL,                      -- ignored: the rule; otherwise the code of the error
    message    TEXT,                               -- what failed, for people; null: ignored
    reader     TEXT,                               -- the version and settings that failed; null: ignored
    size_bytes INTEGER,                            -- null: a folder
    mtime_ns   INTEGER,                            -- since 1970, as in document_paths; null: a folder
    seen_at    INTEGER NOT NULL DEFAULT (unixepoch()) -- seconds since 1970: since when it is so
) STRICT, WITHOUT ROWID;
