//! Stores documents and ranks chunks in one `kb.db`. All SQL is here.
//!
//! Connections, rows and statements are private to this crate. One method is one transaction, so a
//! process killed at any moment leaves the database as it was before or after the method.

#![expect(
    clippy::missing_errors_doc,
    reason = "every method may fail with errors of the database, which `Store` names once; others are documented"
)]

use kb_base::{
    cancel, document, embedder, error, files, limits, numeric, text, token_codes, trace, wording,
};

mod db;
mod documents;
mod followed;
mod ids;
mod integrity;
mod keyword;
mod life;
#[cfg(feature = "postgres")]
pub mod remote;
pub mod search;
pub mod skills;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod testing;
pub mod transfer;
mod vectors;

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rusqlite::{Connection, TransactionBehavior};

use crate::document::Binding;
use crate::error::{Error, Result};

use db::access::OpenMode;
use db::fault::Step;
use db::layout::DirectReadSupport;
use db::seen_schema::SeenSchema;

pub use db::access::FileMark;
pub use db::last_update::LastUpdate;
pub use documents::chunks::PassageHash;
pub use documents::edit::{DocumentEdit, NewContent};
pub use documents::edits::Edits;
pub use documents::ledger::{CONTAINER, LedgerRow};
pub use documents::making::MadeDocument;
pub use documents::merge::{Conflict, EditableField, ImportOutcome, MergedDocument};
pub use documents::mirror::{
    Fingerprint, Mirror, MirroredChunk, MirroredDocument, MirroredWords, fingerprint,
};
pub use documents::paths::PathRole;
pub use documents::relocate::Relocation;
pub use documents::remembered::{AddedFolder, KnownPath, PathStamp};
pub use documents::replace::StoredChange;
pub use documents::roots::{ForgetOutcome, RememberedFile};
pub use documents::rows::ChunkPlace;
pub use documents::stamps::DocumentFiles;
pub use documents::stored::{
    ChunkOrigin, DocumentName, ListedDocument, StoredChunk, StoredDocument, StoredHit,
};
pub use documents::tags::{RenamedTag, TagCount};
pub use documents::texts::{PassingDocument, RawChunk, RawPlace};
pub use documents::transfer::{DocumentRecord, RecordedChunk};
pub use documents::unfollowed::UnfollowedPaths;
pub use documents::write::NewDocument;
pub use followed::{AllowedFolder, AllowedPaths, FollowedPaths};
pub use ids::{ChunkId, DocumentId, RankedChunk};
pub use integrity::finding::{Damage, DatabaseFinding};
pub use keyword::lookup::Phrase;
pub use keyword::names::NamedChunks;
pub use keyword::occurrence::Occurrence;
pub use keyword::sizes::{BLOCK_BITS, ChunkSizes};
pub use keyword::splitter::{Splitter, TermIndex, TermPlace};
pub use keyword::words::NearWord;
pub use life::backup::{CopyVerification, ExistingTarget, OldDatabase};
pub use life::erase::Erasure;
pub use life::open::BeforeMigration;
pub use life::stats::{PageCounts, RoomBytes, Stats};
pub use skills::SkillRow;
pub use vectors::reindex::{ReindexExtent, ReindexProgress, RenewedChunk, UnembeddedChunk};

/// One connection to a knowledge base.
///
/// Vectors passed to it belong to the binding it first returned ([`Store::binding`]) or was given
/// ([`Store::bind`]). If the database has been bound to another model since, methods that store or
/// compare vectors fail with [`crate::error::Error::ModelMismatch`] instead of mixing the two
/// models; a store opened later uses the other model.
///
/// Any method may fail with an error of the database, such as [`Error::Corrupt`]; one that changes it also with
/// [`Error::ReadOnly`], [`Error::Locked`] and [`Error::DiskFull`]. Methods document their other errors.
#[derive(Debug)]
pub struct Store {
    /// Readers left by an earlier ranking. They are closed before `connection`, so that the last
    /// connection to close can write and checkpoints the log.
    idle: RefCell<Vec<Self>>,
    /// Whether the pages of the vectors have been read ahead.
    has_read_ahead: Cell<bool>,
    connection: Connection,
    /// The schema that was compared last.
    seen: SeenSchema,
    /// Ends statements that run when it is set.
    ended_by: Option<Arc<AtomicBool>>,
    path: PathBuf,
    access: OpenMode,
    /// Identity of the file when it was opened.
    file: Option<(u64, u64)>,
    bound: RefCell<Option<Binding>>,
    reindexing: Option<Binding>,
    /// Which remembered files and folders are returned.
    followed: Arc<FollowedPaths>,
    /// Whether kb may read the tables behind the indexes; known after the first check.
    layout: Cell<Option<DirectReadSupport>>,
}

impl Store {
    /// Runs `work` on one state of the database.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Step<T>) -> Result<T> {
        self.read_snapshot(work).map_err(|fault| fault.at(&self.path))
    }

    fn read_snapshot<T>(&self, work: impl FnOnce(&Connection) -> Step<T>) -> Step<T> {
        let snapshot = Snapshot::begin(&self.connection)?;
        self.seen.confirm(snapshot.0)?;
        let value = work(snapshot.0)?;
        snapshot.end()?;
        Ok(value)
    }

    /// Runs `work` in one transaction that holds the write lock from its start, so that the state
    /// it reads is the state it changes; an error rolls back everything.
    fn write<T>(&mut self, work: impl FnOnce(&Connection) -> Step<T>) -> Result<T> {
        if self.is_read_only() {
            return Err(Error::ReadOnly { path: self.path.clone() });
        }
        self.run_transaction(work).map_err(|fault| match fault.at(&self.path) {
            // SQLite reports used-up ids as a full disk or as a failed check constraint.
            Error::DiskFull { .. } | Error::Store(_) if self.has_used_up_its_ids() => {
                let detail = "its ids are used up".to_owned();
                Error::Corrupt { path: self.path.clone(), detail }
            }
            error => error,
        })
    }

    fn run_transaction<T>(&mut self, work: impl FnOnce(&Connection) -> Step<T>) -> Step<T> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        self.seen.doubt();
        self.seen.confirm(&transaction)?;
        let value = work(&transaction)?;
        keyword::names::settle(&transaction)?;
        transaction.commit()?;
        Ok(value)
    }

    /// Whether there are no ids left for a new document or chunk. Only a database that was tampered
    /// with gets there: four thousand million chunks do not fit on a disk.
    fn has_used_up_its_ids(&self) -> bool {
        let last = self.connection.query_row(LAST_ID, [], |row| row.get::<_, Option<i64>>(0));
        matches!(last, Ok(Some(last)) if last >= i64::from(u32::MAX))
    }
}

/// A transaction that reads. A search needs three dozen, so their statements are prepared once per connection.
struct Snapshot<'a>(&'a Connection);

impl<'a> Snapshot<'a> {
    fn begin(db: &'a Connection) -> rusqlite::Result<Self> {
        db.prepare_cached("BEGIN")?.execute([])?;
        Ok(Self(db))
    }

    fn end(self) -> rusqlite::Result<()> {
        self.0.prepare_cached("COMMIT")?.execute([]).map(|_| ())
    }
}

impl Drop for Snapshot<'_> {
    /// Ends a transaction that an error or a panic has interrupted.
    fn drop(&mut self) {
        if !self.0.is_autocommit() {
            // An error leaves nothing to undo: only the connection itself is affected.
            let _ = self.0.execute_batch("ROLLBACK");
        }
    }
}

const LAST_ID: &str = "
    SELECT max(id) FROM (
        SELECT max(seq) AS id FROM sqlite_sequence WHERE name IN ('documents', 'chunks', 'tags')
        UNION ALL SELECT max(id) FROM documents
        UNION ALL SELECT max(id) FROM chunks
        UNION ALL SELECT max(id) FROM tags
    )";
