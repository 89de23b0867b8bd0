//! Holds the settings, paths, open connections and loaded model that use cases share.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::app::{Observer, copies, model};
use crate::config::{self, Config, Environment, Flags, Freshness, Resolved};
use crate::document::{Binding, DocumentId};
use crate::embed::{self, Embedder, Locations};
use crate::error::{Error, Result};
use crate::files::private;
use crate::store::{Store, Unmigrated};
use crate::text::paths;
use crate::trace::stage;

/// Name of the database in the data directory.
pub const DATABASE: &str = "kb.db";

/// Settings, paths, connections and the loaded model. Threads may share it.
pub struct Session {
    /// Variables of the process.
    pub environment: Environment,
    /// Settings with their origins.
    pub resolved: Resolved,
    /// The program `kb`, started to read untrusted formats; `None` means this program.
    pub reader: Option<PathBuf>,
    /// Receives what is worth reading when there is no observer, while the database is opened.
    pub notify: fn(&str),
    /// The model, loaded by the first query that needs it.
    model: Mutex<Option<Arc<dyn Embedder>>>,
    /// Read connections kept by earlier queries.
    stores: Mutex<Vec<Store>>,
}

impl Session {
    /// Reads the settings.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] and [`Error::Io`] if they cannot be read.
    pub fn new(environment: Environment, flags: &Flags) -> Result<Self> {
        let mut resolved = config::load(&environment, flags)?;
        resolved.config.data_dir = absolute(&resolved.config.data_dir)?;
        Ok(Self::of(environment, resolved))
    }

    /// Returns a session with the same settings for another data directory.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] for an empty path.
    pub fn at(&self, data_dir: &Path) -> Result<Self> {
        let mut resolved = self.resolved.clone();
        resolved.config.data_dir = absolute(data_dir)?;
        let reader = self.reader.clone();
        let notify = self.notify;
        Ok(Self { reader, notify, ..Self::of(self.environment.clone(), resolved) })
    }

    fn of(environment: Environment, resolved: Resolved) -> Self {
        Self {
            environment,
            resolved,
            reader: None,
            notify: |_| {},
            model: Mutex::default(),
            stores: Mutex::default(),
        }
    }

    /// Makes searches mark changed files instead of reading them again: nothing may be written.
    pub fn forbid_refresh(&mut self) {
        let freshness = &mut self.resolved.config.search.freshness;
        if *freshness == Freshness::Refresh {
            *freshness = Freshness::Mark;
        }
    }

    /// Returns the settings.
    pub fn config(&self) -> &Config {
        &self.resolved.config
    }

    /// Returns where the database and the configuration are.
    pub fn data_dir(&self) -> &Path {
        &self.resolved.config.data_dir
    }

    /// Returns the path of the database, whether it exists or not.
    pub fn database(&self) -> PathBuf {
        self.data_dir().join(DATABASE)
    }

    /// Returns where models and the runtime library may be.
    pub fn locations(&self) -> Locations {
        model::locations(&self.environment)
    }

    /// Creates the data directory if it is missing; only its owner can access it.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn make_data_dir(&self) -> Result<()> {
        let dir = self.data_dir();
        private::create_folder(dir).map_err(|source| Error::Io { path: dir.to_owned(), source })
    }

    /// Opens the database for writing; creates directory and file if they are missing.
    ///
    /// # Errors
    ///
    /// Those of [`Store::open`].
    pub fn open_store(&self) -> Result<Store> {
        self.make_data_dir()?;
        self.open(true)?.ok_or_else(|| Error::PathNotFound { path: self.database() })
    }

    /// Opens the database; returns `None` if it does not exist. Where it cannot be written, it is only
    /// read.
    ///
    /// # Errors
    ///
    /// Those of [`Store::open_existing`].
    pub fn open_existing(&self) -> Result<Option<Store>> {
        self.open(false)
    }

    fn open(&self, creates: bool) -> Result<Option<Store>> {
        let before_migration = |database: &Unmigrated<'_>| copies::before_migration(self, database);
        stage("open database", || Store::open_guarded(&self.database(), creates, &before_migration))
    }

    /// Returns the binding of the database; `None` before the first document.
    ///
    /// # Errors
    ///
    /// Those of [`Store::open_existing`].
    pub fn binding(&self) -> Result<Option<Binding>> {
        self.steadily(|| match self.open_existing()? {
            Some(store) => store.binding(),
            None => Ok(None),
        })
    }

    /// Whether there is a database that can only be read.
    pub fn is_read_only(&self) -> bool {
        Store::is_read_only_at(&self.database())
    }

    /// Refuses to change a database that can only be read.
    ///
    /// # Errors
    ///
    /// [`Error::ReadOnly`].
    pub fn require_writable(&self) -> Result<()> {
        match self.is_read_only() {
            true => Err(Error::ReadOnly { path: self.database() }),
            false => Ok(()),
        }
    }

    /// Returns what is done about stale hits. A database that can only be read is not refreshed.
    pub fn freshness(&self, requested: Option<Freshness>) -> Freshness {
        match requested.unwrap_or(self.config().search.freshness) {
            Freshness::Refresh if self.is_read_only() => Freshness::Mark,
            freshness => freshness,
        }
    }

    /// Reads the database once. Fails if it was read without locks and has changed meanwhile.
    ///
    /// # Errors
    ///
    /// [`Error::ChangedMeanwhile`] instead of the outcome of `work`, and errors of `work`.
    pub fn once<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let database = self.database();
        let Some(before) = Store::mark(&database) else { return work() };
        let outcome = work();
        match before.is_current(&database) {
            true => outcome,
            false => Err(Error::ChangedMeanwhile { path: database }),
        }
    }

    /// Reads the database like [`Self::once`], and a second time if it has changed meanwhile.
    ///
    /// # Errors
    ///
    /// Those of [`Self::once`].
    pub fn steadily<T>(&self, mut work: impl FnMut() -> Result<T>) -> Result<T> {
        match self.once(&mut work) {
            Err(Error::ChangedMeanwhile { .. }) => self.once(work),
            outcome => outcome,
        }
    }

    /// Returns a read connection: one kept by an earlier query, if it still belongs to the current database
    /// file, or a new one. Returns `None` if there is no database.
    ///
    /// # Errors
    ///
    /// Those of [`Store::open`].
    pub fn store(&self) -> Result<Option<Store>> {
        let left = self.stores().pop();
        match left.filter(Store::is_current) {
            Some(store) => Ok(Some(store)),
            None => self.open_existing(),
        }
    }

    /// Keeps a connection for the next query.
    pub fn give_back(&self, store: Store) {
        self.stores().push(store);
    }

    /// Closes the kept connections.
    ///
    /// # Errors
    ///
    /// Those of [`Store::close`].
    pub fn close(&self) -> Result<()> {
        let stores = std::mem::take(&mut *self.stores());
        stores.into_iter().try_for_each(Store::close)
    }

    fn stores(&self) -> MutexGuard<'_, Vec<Store>> {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the model for queries against vectors bound to `bound`, loading it at the first call.
    ///
    /// # Errors
    ///
    /// [`Error::NotInstalled`], [`Error::ModelMismatch`], [`Error::Inference`].
    pub fn embedder(
        &self,
        bound: Option<&Binding>,
        observer: &dyn Observer,
    ) -> Result<Arc<dyn Embedder>> {
        let mut slot = self.model.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(embedder) = &*slot
            && bound.is_none_or(|bound| bound == embedder.binding())
        {
            return Ok(Arc::clone(embedder));
        }
        let selection = model::select(self, bound)?;
        let embedder: Arc<dyn Embedder> = selection.open_for_query(bound, observer)?.into();
        *slot = Some(Arc::clone(&embedder));
        Ok(embedder)
    }

    /// Returns the tokenizer of vectors bound to `bound`; `None` if the model is not on this machine.
    pub fn tokenizer(&self, bound: Option<&Binding>) -> Option<embed::Tokenizer> {
        model::tokenizer(self, bound)
    }
}

/// Returns an absolute path without `.` and `..`, without resolving links. An empty path is refused: it
/// would mean the current directory, but is probably an unset variable.
///
/// # Errors
///
/// [`Error::Usage`] for an empty path, [`Error::Io`] if there is no current directory.
pub fn absolute(path: &Path) -> Result<PathBuf> {
    if path.as_os_str().is_empty() {
        return Err(Error::Usage { message: "a path is empty".into(), hint: None });
    }
    #[expect(clippy::disallowed_methods, reason = "requests name paths as a user types them")]
    let current =
        std::env::current_dir().map_err(|source| Error::Io { path: PathBuf::from("."), source })?;
    Ok(paths::clean(&current.join(path)))
}

/// Returns the absolute path for a typed one, which may be written as kb prints a path that is not valid
/// text.
///
/// # Errors
///
/// Those of [`absolute`].
pub fn typed(path: &Path) -> Result<PathBuf> {
    Ok(paths::path_of(&paths::typed_text(&absolute(path)?)))
}

/// Returns an absolute path in the database's notation, for filters.
///
/// # Errors
///
/// Those of [`absolute`].
pub fn path_prefix(path: &Path) -> Result<String> {
    Ok(paths::typed_text(&absolute(path)?))
}

/// Parses a document id.
///
/// # Errors
///
/// [`Error::UnknownDocument`] if it is not a number.
pub fn document_id(typed: &str) -> Result<DocumentId> {
    typed.parse().map_err(|_| Error::UnknownDocument { id: typed.to_owned() })
}
