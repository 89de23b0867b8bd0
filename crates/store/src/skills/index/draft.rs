//! Writes the index of a skill and moves it into place in one step.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, named_params};

use crate::db::connection::harden_tables;
use crate::db::fault::DatabaseFault;
use crate::error::{Error, Result};
use crate::files::write::{self, Draft};

use super::{FtsTokenizer, IndexedFile, IndexedHeading, SCHEMA_VERSION};

const CREATE_TABLES: &str = "
    CREATE TABLE headings (
        id INTEGER PRIMARY KEY,
        file TEXT NOT NULL,
        text TEXT NOT NULL,
        level INTEGER NOT NULL,
        start_line INTEGER NOT NULL,
        end_line INTEGER NOT NULL
    );
    CREATE INDEX idx_headings_text ON headings (text COLLATE NOCASE);
    CREATE TABLE index_meta (key TEXT PRIMARY KEY, value TEXT);
    CREATE TABLE source_files (
        path TEXT PRIMARY KEY,
        size_bytes INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        ctime_ns INTEGER NOT NULL,
        is_settled INTEGER NOT NULL,
        sha256 TEXT NOT NULL
    ) WITHOUT ROWID;";

const CREATE_PORTER: &str = "
    CREATE VIRTUAL TABLE sections
    USING fts5 (file, section, content, tokenize = 'porter unicode61')";

const CREATE_UNICODE61: &str = "
    CREATE VIRTUAL TABLE sections
    USING fts5 (file, section, content, tokenize = 'unicode61')";

/// No other process sees the file before it is complete, so no journal is needed.
const DRAFT_PRAGMAS: &str = "
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    PRAGMA cache_size = -65536;
    PRAGMA temp_store = MEMORY;
    BEGIN";

const ADD_SECTION: &str = "
    INSERT INTO sections (file, section, content)
    VALUES (:file, :section, :content)";

const ADD_HEADING: &str = "
    INSERT INTO headings (file, text, level, start_line, end_line)
    VALUES (:file, :text, :level, :start_line, :end_line)";

const ADD_META: &str = "INSERT INTO index_meta (key, value) VALUES (:key, :value)";

const ADD_KNOWN_FILE: &str = "
    INSERT INTO source_files (path, size_bytes, mtime_ns, ctime_ns, is_settled, sha256)
    VALUES (:path, :size_bytes, :mtime_ns, :ctime_ns, :is_settled, :sha256)";

/// One tree of terms instead of many halves the time of a query.
const OPTIMIZE: &str = "INSERT INTO sections (sections) VALUES ('optimize')";

/// An unfinished index, in a temporary file next to its path.
#[derive(Debug)]
pub struct IndexDraft {
    /// Declared before the draft, so that it is closed before the draft is removed.
    connection: Option<Connection>,
    draft: Draft,
    path: PathBuf,
    tokenizer: FtsTokenizer,
}

impl IndexDraft {
    /// Begins an index for `path`.
    pub fn begin(path: &Path, tokenizer: FtsTokenizer) -> Result<Self> {
        let draft = Draft::create_own(path).map_err(|error| Error::of_file(path, error))?;
        let mut this = Self { connection: None, draft, path: path.to_owned(), tokenizer };
        let connection = Connection::open(this.draft.path())
            .and_then(|connection| harden_tables(&connection).map(|()| connection));
        this.connection = Some(connection.map_err(|error| this.fault(error))?);
        let create = match tokenizer {
            FtsTokenizer::Porter => CREATE_PORTER,
            FtsTokenizer::Unicode61 => CREATE_UNICODE61,
        };
        this.with(|db| {
            db.execute_batch(DRAFT_PRAGMAS)?;
            db.execute_batch(create)?;
            db.execute_batch(CREATE_TABLES)
        })?;
        Ok(this)
    }

    /// Removes drafts left by older versions of kb that were killed while they wrote an index at
    /// `path`. Call it only if no other process is writing one.
    pub fn remove_abandoned(path: &Path) {
        let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else {
            return;
        };
        for entry in
            path.parent().and_then(|folder| folder.read_dir().ok()).into_iter().flatten().flatten()
        {
            let draft = entry.file_name().to_string_lossy().into_owned();
            if draft.strip_prefix(&name).is_some_and(|rest| rest.ends_with(".draft")) {
                // A draft that cannot be removed only takes space.
                let _ = write::remove(&entry.path());
            }
        }
    }

    /// Adds a section. Texts have no zero bytes, which would end them for SQLite.
    pub fn add_section(&self, file: &str, section: &str, content: &str) -> Result<()> {
        self.with(|db| {
            db.prepare_cached(ADD_SECTION)?
                .execute(named_params! { ":file": file, ":section": section, ":content": content })
        })
    }

    /// Adds a heading.
    pub fn add_heading(&self, heading: &IndexedHeading) -> Result<()> {
        self.with(|db| {
            db.prepare_cached(ADD_HEADING)?.execute(named_params! {
                ":file": heading.file,
                ":text": heading.text,
                ":level": heading.level,
                ":start_line": heading.lines.start,
                ":end_line": heading.lines.end,
            })
        })
    }

    /// Stores the known state of a file.
    pub fn add_known_file(&self, file: &IndexedFile) -> Result<()> {
        self.with(|db| {
            db.prepare_cached(ADD_KNOWN_FILE)?.execute(named_params! {
                ":path": file.path,
                ":size_bytes": i64::try_from(file.size_bytes).unwrap_or(i64::MAX),
                ":mtime_ns": file.mtime_ns,
                ":ctime_ns": file.ctime_ns,
                ":is_settled": file.is_settled,
                ":sha256": file.sha256,
            })
        })
    }

    /// Syncs the index to disk and moves it to its path in one step, replacing any file there.
    pub fn finish(mut self, source_hash: &str, skill_path: &str, indexed_at: &str) -> Result<()> {
        let schema_version = SCHEMA_VERSION.to_string();
        self.with(|db| {
            for (key, value) in [
                ("source_hash", source_hash),
                ("skill_path", skill_path),
                ("schema_version", &schema_version),
                ("indexed_at", indexed_at),
                ("tokenizer", self.tokenizer.as_str()),
            ] {
                db.execute(ADD_META, named_params! { ":key": key, ":value": value })?;
            }
            db.execute_batch(OPTIMIZE)?;
            db.execute_batch("COMMIT")
        })?;
        if let Some(connection) = self.connection.take() {
            connection.close().map_err(|(_, error)| self.fault(error))?;
        }
        self.draft.publish().map_err(|error| Error::of_file(&self.path, error))
    }

    fn with<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<()> {
        let connection = self.connection.as_ref().expect("taken by `finish` alone");
        work(connection).map(drop).map_err(|error| self.fault(error))
    }

    fn fault(&self, error: rusqlite::Error) -> Error {
        DatabaseFault::from(error).at(&self.path)
    }
}
