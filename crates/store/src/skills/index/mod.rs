//! Stores the sections of one skill in a small FTS5 database, and answers queries from it.
//!
//! The index is not part of `kb.db`: its path, tables and keys are those of `skc`, schema version
//! 2, so that each program reads what the other wrote. kb adds one table, `source_files`, so that
//! changes can be detected by length and times; an index without it is checked by content.
//!
//! Any error while reading only means that the index cannot be used.

mod draft;

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use rusqlite::{Connection, OpenFlags, named_params};
use schemars::JsonSchema;
use serde::Serialize;

use crate::cancel;
use crate::db::connection::{end_with, harden_tables};
use crate::db::fault::Step;
use crate::db::sql;
use crate::text::fields;

pub use draft::IndexDraft;

/// The schema version this program writes, and the oldest it reads.
pub const SCHEMA_VERSION: i64 = 2;

fields::words! {
    /// How text is split into words.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FtsTokenizer {
        /// `porter unicode61`: words are stemmed.
        Porter = "porter",
        /// `unicode61`: words are unchanged.
        Unicode61 = "unicode61",
    }
}

impl FtsTokenizer {
    /// Returns this tokenizer if SQLite has it, otherwise the one without stems.
    pub fn or_available(self) -> Self {
        match self {
            Self::Porter if !is_available(PROBE_PORTER) => Self::Unicode61,
            available => available,
        }
    }
}

/// The metadata of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexMeta {
    /// Hash over its source files.
    pub source_hash: String,
    /// Directory of the source files.
    pub skill_path: String,
    /// Version of its schema.
    pub schema_version: i64,
    /// [`FtsTokenizer::as_str`] of its tokenizer.
    pub tokenizer: String,
}

/// A heading in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedHeading {
    /// Path relative to the skill's directory.
    pub file: String,
    /// Without `#`.
    pub text: String,
    /// 1 to 6.
    pub level: u8,
    /// The lines of its section, from 1, as untrusted as the index: the end may be before the start.
    pub lines: Range<u32>,
}

/// A section that contains all words of the query.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Hit")]
pub struct SkillHit {
    /// File, relative to the skill.
    pub file: String,
    /// Its heading; empty if it has none.
    pub section: String,
    /// The text around the words.
    pub snippet: String,
    /// Larger is better; comparable only within one answer.
    pub score: f64,
}

/// The state of a file when it was indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedFile {
    /// Path relative to the skill's directory.
    pub path: String,
    /// Its length.
    pub size_bytes: u64,
    /// When its content was last changed, since 1970.
    pub mtime_ns: i64,
    /// When its content or metadata was last changed, since 1970; 0 if the system has no such time.
    pub ctime_ns: i64,
    /// Whether any later change is sure to change these times.
    pub is_settled: bool,
    /// Lower-case hex.
    pub sha256: String,
}

const PROBE_PORTER: &str =
    "CREATE VIRTUAL TABLE probe USING fts5 (content, tokenize = 'porter unicode61')";

const META: &str = "SELECT key, value FROM index_meta";

const HAS_KNOWN_FILES: &str =
    "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'source_files')";

const KNOWN_FILES: &str = "
    SELECT path, size_bytes, mtime_ns, ctime_ns, is_settled, sha256
    FROM source_files
    ORDER BY path";

const HEADINGS: &str = "
    SELECT file, text, level, start_line, end_line
    FROM headings
    ORDER BY file, start_line, id";

/// Snippets are made only for the sections that are shown. A file's name matches like any text, but
/// with nearly no weight; a heading weighs twice as much as the text below it. FTS5 finds the best
/// snippet by comparing each match with every other, so a long section is shown at its first match
/// instead.
const RANK_BY_BM25: &str = "
    WITH best AS MATERIALIZED (
        SELECT rowid AS id, bm25(sections, 0.05, 2.0, 1.0) AS bm25
        FROM sections
        WHERE sections MATCH :match_expr
        ORDER BY bm25, id
        LIMIT :limit
    )
    SELECT
        sections.file,
        sections.section,
        CASE WHEN length(sections.content) <= 20000
            THEN snippet(sections, 2, '[MATCH]', '[/MATCH]', '...', 32)
        END AS snippet,
        CASE WHEN length(sections.content) > 20000
            THEN highlight(sections, 2, '[MATCH]', '[/MATCH]')
        END AS marked,
        -best.bm25 AS score
    FROM best
    JOIN sections ON sections.rowid = best.id
    WHERE sections MATCH :match_expr
    ORDER BY best.bm25, best.id";

/// Reads a little of each table.
const LOOK: &str = "
    SELECT
        (SELECT 1 FROM sections WHERE sections MATCH 'a' LIMIT 1),
        (SELECT 1 FROM headings LIMIT 1)";

/// An open index with readable metadata.
#[derive(Debug)]
pub struct SkillIndex {
    connection: Connection,
    /// Its metadata.
    pub meta: IndexMeta,
}

impl SkillIndex {
    /// Opens an index for reading; `None` if it is missing or corrupt. Never changes the file.
    pub fn open(path: &Path) -> Option<Self> {
        // Only a file is opened: SQLite would wait for the data of a pipe.
        path.is_file().then_some(())?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).ok()?;
        harden_tables(&connection).ok()?;
        end_with(&mut connection, cancel::current()).ok()?;
        let meta = read_meta(&connection)?;
        Some(Self { connection, meta })
    }

    /// Returns the state of the files when they were indexed; empty for an index that another
    /// program wrote.
    pub fn known_files(&self) -> Vec<IndexedFile> {
        let has_them: Step<bool> = sql::value(&self.connection, HAS_KNOWN_FILES, []);
        if !has_them.is_ok_and(|has_them| has_them) {
            return Vec::new();
        }
        let files = sql::rows(&self.connection, KNOWN_FILES, [], |row| {
            Ok(IndexedFile {
                path: row.get("path")?,
                size_bytes: row.get::<_, i64>("size_bytes")?.try_into().unwrap_or(0),
                mtime_ns: row.get("mtime_ns")?,
                ctime_ns: row.get("ctime_ns")?,
                is_settled: row.get("is_settled")?,
                sha256: row.get("sha256")?,
            })
        });
        // An unreadable state counts as unknown: the files themselves decide.
        files.unwrap_or_default()
    }

    /// Returns all headings, by file in byte order, then by line; `None` if they cannot be read.
    pub fn headings(&self) -> Option<Vec<IndexedHeading>> {
        let headings = sql::rows(&self.connection, HEADINGS, [], |row| {
            Ok(IndexedHeading {
                file: row.get("file")?,
                text: row.get("text")?,
                level: row.get("level")?,
                lines: row.get("start_line")?..row.get("end_line")?,
            })
        });
        headings.ok()
    }

    /// Whether its tables can be read, not only its metadata.
    pub fn is_readable(&self) -> bool {
        self.connection.query_row(LOOK, [], |_| Ok(())).is_ok()
    }

    /// Returns the sections that match an FTS5 expression, best first, ties ordered by file; `None`
    /// if the index cannot be read.
    pub fn search(&self, match_expr: &str, limit: u32) -> Option<Vec<SkillHit>> {
        let params = named_params! { ":match_expr": match_expr, ":limit": limit };
        let hits = sql::rows(&self.connection, RANK_BY_BM25, params, |row| {
            Ok(SkillHit {
                file: row.get("file")?,
                section: row.get("section")?,
                snippet: match row.get::<_, Option<String>>("marked")? {
                    Some(marked) => around_first_match(&marked),
                    None => row.get("snippet")?,
                },
                score: row.get("score")?,
            })
        });
        hits.ok()
    }
}

/// Maximum characters before and after the first match in an excerpt of a long section.
const EXCERPT_CHARS: (usize, usize) = (60, 240);

/// Returns the text around the first match, or the beginning of the text if only the heading
/// matches; cut between words if possible.
fn around_first_match(marked: &str) -> String {
    let (before, after) = marked.split_at(marked.find("[MATCH]").unwrap_or(0));
    let start = before.char_indices().rev().nth(EXCERPT_CHARS.0).map(|found| found.0);
    let before = match start {
        Some(start) => {
            let kept = &before[start..];
            kept.split_once(char::is_whitespace).map_or(kept, |halves| halves.1)
        }
        None => before,
    };
    let end = after.char_indices().nth(EXCERPT_CHARS.1).map(|found| found.0);
    let mut excerpt = before.to_owned();
    match end {
        Some(end) => {
            let kept = &after[..end];
            let kept = kept.rsplit_once(char::is_whitespace).map_or(kept, |halves| halves.0);
            // A mark that is cut is left out, one that is open is closed.
            let cut = kept.rfind('[').filter(|at| {
                let tail = &kept[*at..];
                !tail.ends_with(']')
                    && ("[MATCH]".starts_with(tail) || "[/MATCH]".starts_with(tail))
            });
            excerpt += &kept[..cut.unwrap_or(kept.len())];
            if excerpt.matches("[MATCH]").count() > excerpt.matches("[/MATCH]").count() {
                excerpt += "[/MATCH]";
            }
        }
        None => excerpt += after,
    }
    let before = if start.is_some() { "..." } else { "" };
    let after = if end.is_some() { "..." } else { "" };
    format!("{before}{}{after}", excerpt.trim())
}

fn read_meta(connection: &Connection) -> Option<IndexMeta> {
    // A value that is not a text becomes `None`, and the index is rebuilt.
    let values: Vec<(String, Option<String>)> = sql::rows(connection, META, [], |row| {
        Ok((row.get(0)?, row.get_ref(1)?.as_str().ok().map(str::to_owned)))
    })
    .ok()?;
    let values = values.into_iter().map(|(key, value)| Some((key, value?)));
    let mut values: HashMap<String, String> = values.collect::<Option<_>>()?;
    Some(IndexMeta {
        source_hash: values.remove("source_hash")?,
        skill_path: values.remove("skill_path")?,
        schema_version: values.remove("schema_version")?.parse().ok()?,
        tokenizer: values.remove("tokenizer")?,
    })
}

fn is_available(probe: &str) -> bool {
    Connection::open_in_memory().is_ok_and(|connection| connection.execute_batch(probe).is_ok())
}

#[cfg(test)]
mod tests;
