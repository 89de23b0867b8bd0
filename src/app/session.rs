//! Holds the settings, paths, open connections and loaded model that use cases share.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::app::bases::place::Place;
use crate::app::bases::{self, trust};
use crate::app::push::Kept;
use crate::app::{Observer, copies, model};
use crate::config::{Config, Environment, Flags, Freshness, Resolved};
use crate::document::Binding;
use crate::embed::{self, Embedder, Locations};
use crate::error::{Error, Result};
use crate::files::private;
use crate::store::{Allowed, DocumentId, Store, Unmigrated};
use crate::text::paths;
use crate::trace::stage;

pub use crate::app::bases::place::DATABASE;

/// Most models that are kept loaded. One is replaced when its database gets another one.
const MAX_MODELS: usize = 3;

/// Settings, paths, connections and the loaded models. Threads may share it.
pub struct Session {
    /// Variables of the process.
    pub environment: Environment,
    /// Settings with their origins; its data directory is the folder of the knowledge base.
    pub resolved: Resolved,
    /// Which knowledge base it is.
    pub place: Place,
    /// The data directory, in which the named knowledge bases are.
    pub home: PathBuf,
    /// What the user should be told about the choice of the knowledge base.
    pub notices: Vec<String>,
    /// The settings given as flags.
    flags: Flags,
    /// The knowledge base that the user named.
    named: Option<String>,
    /// The program `kb`, started to read untrusted formats; `None` means this program.
    pub reader: Option<PathBuf>,
    /// Receives what is worth reading when there is no observer, while the database is opened.
    pub notify: fn(&str),
    /// The loaded models, each loaded by the first query that needs it. Sessions of several knowledge bases
    /// share them.
    models: Arc<Mutex<Vec<Arc<dyn Embedder>>>>,
    /// Whether a database may be without an owner: one that kb makes for itself.
    is_scratch: bool,
    /// Whether the user was told that files are not followed.
    was_warned: AtomicBool,
    /// Read connections kept by earlier queries.
    stores: Mutex<Vec<Store>>,
    /// The connection to PostgreSQL kept by an earlier query.
    kept_link: Mutex<Option<Kept>>,
}

impl Session {
    /// Reads the settings, for the project's knowledge base if the user allowed its use, else for the
    /// default one.
    pub fn new(environment: Environment, flags: &Flags) -> Result<Self> {
        Self::of_base(environment, flags, None)
    }

    /// Like [`Session::new`] for the knowledge base with a name.
    pub fn of_base(environment: Environment, flags: &Flags, base: Option<&str>) -> Result<Self> {
        let chosen = bases::choose(&environment, flags, base)?;
        let mut resolved = chosen.resolved;
        resolved.config.data_dir = absolute(&resolved.config.data_dir)?;
        let session = Self::over(environment, resolved, chosen.place, chosen.home);
        let (flags, named) = (flags.clone(), base.map(str::to_owned));
        Ok(Self { notices: chosen.notices, flags, named, ..session })
    }

    /// Returns a session for another knowledge base, which shares the models.
    pub fn beside(&self, base: &str) -> Result<Self> {
        self.like(Some(base))
    }

    /// Chooses the knowledge base again, after the working directory has changed. Returns `None` if it is the
    /// same.
    pub fn chosen_again(&self) -> Result<Option<Self>> {
        let other = self.like(self.named.as_deref())?;
        Ok(Some(other).filter(|other| other.place != self.place))
    }

    fn like(&self, base: Option<&str>) -> Result<Self> {
        let other = Self::of_base(self.environment.clone(), &self.flags, base)?;
        let (reader, models) = (self.reader.clone(), Arc::clone(&self.models));
        Ok(Self { reader, models, notify: self.notify, ..other })
    }

    /// Returns a session with the same settings for a database that kb makes for itself.
    pub fn at(&self, data_dir: &Path) -> Result<Self> {
        let mut resolved = self.resolved.clone();
        resolved.config.data_dir = absolute(data_dir)?;
        let place = Place::default_in(&resolved.config.data_dir);
        let home = place.dir.clone();
        let session = Self::over(self.environment.clone(), resolved, place, home);
        let reader = self.reader.clone();
        Ok(Self { reader, notify: self.notify, is_scratch: true, ..session })
    }

    /// Returns a session with the same settings for a knowledge base to make.
    pub fn own_at(&self, place: Place) -> Result<Self> {
        Ok(Self { is_scratch: false, ..self.at(&place.dir)? }.at_place(place))
    }

    fn at_place(self, place: Place) -> Self {
        Self { place, ..self }
    }

    fn over(environment: Environment, resolved: Resolved, place: Place, home: PathBuf) -> Self {
        Self {
            environment,
            resolved,
            place,
            home,
            notices: Vec::new(),
            flags: Flags::new(),
            named: None,
            reader: None,
            notify: |_| {},
            models: Arc::default(),
            is_scratch: false,
            was_warned: AtomicBool::new(false),
            stores: Mutex::default(),
            kept_link: Mutex::default(),
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
    pub fn make_data_dir(&self) -> Result<()> {
        let dir = self.data_dir();
        private::create_folder(dir).map_err(|source| Error::Io { path: dir.to_owned(), source })
    }

    /// Opens the database for writing; creates directory and file if they are missing.
    pub fn open_store(&self) -> Result<Store> {
        self.make_data_dir()?;
        self.open(true)?.ok_or_else(|| Error::PathNotFound { path: self.database() })
    }

    /// Opens the database; returns `None` if it does not exist. Where it cannot be written, it is only
    /// read.
    pub fn open_existing(&self) -> Result<Option<Store>> {
        self.open(false)
    }

    fn open(&self, creates: bool) -> Result<Option<Store>> {
        let database = self.database();
        let before_migration = |database: &Unmigrated<'_>| copies::before_migration(self, database);
        let is_new = creates && database.metadata().map_or(true, |found| found.len() == 0);
        let opened =
            stage("open database", || Store::open_guarded(&database, creates, &before_migration))?;
        let Some(mut store) = opened else { return Ok(None) };
        if !self.is_scratch {
            self.settle(&mut store, is_new)?;
        }
        Ok(Some(store))
    }

    /// Gives a connection which of the files that the database names are followed.
    fn settle(&self, store: &mut Store, is_new: bool) -> Result<()> {
        let opening = trust::Opening {
            environment: &self.environment,
            dir: self.data_dir(),
            is_new,
            is_usual: !self.place.is_project() && !self.resolved.names_data_dir(),
            command: &self.allow_command(),
        };
        let told = trust::settle(store, &opening)?;
        let told = told.or_else(|| {
            let error = Error::UntrustedBase { path: self.database() };
            let hint = error.hint().unwrap_or_default();
            (!store.is_allowed()).then(|| format!("{error}; {hint}"))
        });
        if let Some(told) = told
            && !self.was_warned.swap(true, Ordering::Relaxed)
        {
            told.lines().for_each(|line| (self.notify)(line));
        }
        Ok(())
    }

    /// Follows what the user has just named, and remembers it. Returns all that is followed by now.
    pub fn follow_named(&self, store: &mut Store, named: Allowed) -> Result<Allowed> {
        trust::name(&self.environment, self.data_dir(), store, named)
    }

    /// No longer follows what the user has removed: if it comes back, the user is asked.
    pub fn unfollow(&self, store: &mut Store, folders: &[String], files: &[String]) -> Result<()> {
        trust::remove(&self.environment, self.data_dir(), store, (folders, files))
    }

    /// Returns a note for every folder of the database that is not followed, and for the files outside of them.
    pub fn unfollowed_notes(&self, store: &Store) -> Result<Vec<String>> {
        trust::notes(store, &self.allow_command())
    }

    /// Returns the command that shows what is not followed, and follows it after a yes.
    fn allow_command(&self) -> String {
        let is_plain =
            self.place.is_project() || self.place.is_default() && !self.resolved.names_data_dir();
        match is_plain {
            true => "kb base allow --files".to_owned(),
            false => format!("kb base allow --files {}", self.data_dir().display()),
        }
    }

    /// Refuses to follow the files of a database whose use the user has not allowed.
    pub fn require_files(&self, store: &Store) -> Result<()> {
        match store.is_allowed() {
            true => Ok(()),
            false => Err(Error::UntrustedBase { path: self.database() }),
        }
    }

    /// Returns the binding of the database; `None` before the first document.
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
    pub fn steadily<T>(&self, mut work: impl FnMut() -> Result<T>) -> Result<T> {
        match self.once(&mut work) {
            Err(Error::ChangedMeanwhile { .. }) => self.once(work),
            outcome => outcome,
        }
    }

    /// Returns a read connection: one kept by an earlier query, if it still belongs to the current database
    /// file, or a new one. Returns `None` if there is no database.
    pub fn store(&self) -> Result<Option<Store>> {
        let left = self.stores().pop();
        let Some(mut store) = left.filter(Store::is_current) else { return self.open_existing() };
        // The user may have allowed or named something since.
        if !self.is_scratch {
            self.settle(&mut store, false)?;
        }
        Ok(Some(store))
    }

    /// Keeps a connection for the next query.
    pub fn give_back(&self, store: Store) {
        self.stores().push(store);
    }

    /// Closes the kept connections.
    pub fn close(&self) -> Result<()> {
        self.kept_link().take();
        let stores = std::mem::take(&mut *self.stores());
        stores.into_iter().try_for_each(Store::close)
    }

    pub(super) fn kept_link(&self) -> MutexGuard<'_, Option<Kept>> {
        self.kept_link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stores(&self) -> MutexGuard<'_, Vec<Store>> {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the model for queries against vectors bound to `bound`, loading it at the first call.
    pub fn embedder(
        &self,
        bound: Option<&Binding>,
        observer: &dyn Observer,
    ) -> Result<Arc<dyn Embedder>> {
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |model: &&Arc<dyn Embedder>| bound.is_none_or(|bound| bound == model.binding());
        if let Some(embedder) = models.iter().find(fits) {
            return Ok(Arc::clone(embedder));
        }
        let selection = model::select(self, bound)?;
        let embedder: Arc<dyn Embedder> = selection.open_for_query(bound, observer)?.into();
        if models.len() == MAX_MODELS {
            models.remove(0);
        }
        models.push(Arc::clone(&embedder));
        Ok(embedder)
    }

    /// Returns the tokenizer of vectors bound to `bound`; `None` if the model is not on this machine.
    pub fn tokenizer(&self, bound: Option<&Binding>) -> Option<embed::Tokenizer> {
        model::tokenizer(self, bound)
    }
}

/// Returns an absolute path without `.` and `..`, without resolving links. An empty path is refused: it
/// would mean the current directory, but is probably an unset variable.
pub fn absolute(path: &Path) -> Result<PathBuf> {
    if path.as_os_str().is_empty() {
        return Err(Error::usage("a path is empty"));
    }
    #[expect(clippy::disallowed_methods, reason = "requests name paths as a user types them")]
    let current =
        std::env::current_dir().map_err(|source| Error::Io { path: PathBuf::from("."), source })?;
    Ok(paths::clean(&current.join(path)))
}

/// Returns the absolute path for a typed one, which may be written as kb prints a path that is not valid
/// text.
pub fn typed(path: &Path) -> Result<PathBuf> {
    Ok(paths::path_of(&paths::typed_text(&absolute(path)?)))
}

/// Returns an absolute path in the database's notation, for filters.
pub fn path_prefix(path: &Path) -> Result<String> {
    Ok(paths::typed_text(&absolute(path)?))
}

/// Parses a document id.
pub fn document_id(typed: &str) -> Result<DocumentId> {
    typed.parse().map_err(|_| Error::UnknownDocument { id: typed.to_owned() })
}
