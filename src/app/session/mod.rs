//! Holds the settings, paths, connections and models that use cases share.
//!
//! `open` opens the database and the models, which are kept here. All other wings use this one; it uses none of them.

pub mod absent;
pub mod bases;
mod builder;
pub mod copies;
pub mod erase;
pub mod error_log;
pub(crate) mod export_file;
pub(crate) mod kept_connection;
pub mod lookup;
pub mod message;
pub mod model;
pub mod observer;
mod open;
pub mod running;
pub mod settings;
pub mod typed;
pub mod typed_dates;
pub mod values;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use crate::app::session::bases::place::NamedBase;
use crate::app::session::kept_connection::KeptConnection;
use crate::config::{self, Config, Environment, Freshness, ResolvedConfig};
use crate::embed::{Embedder, Locations};
use crate::error::{Error, Result};
use crate::search::ShownPaths;
use crate::store::Store;

pub use crate::app::session::bases::place::DATABASE;
pub use crate::app::session::builder::SessionBuilder;
pub use crate::app::session::typed::{absolute, add_paths, document_id, path_prefix, typed};

/// Settings, paths, connections and the loaded models. Threads may share it.
pub struct Session {
    made_of: SessionBuilder,
    /// Settings with their origins; its data directory is the folder of the knowledge base.
    resolved: ResolvedConfig,
    /// Which knowledge base it is.
    place: NamedBase,
    /// The data directory, in which the named knowledge bases are.
    home: PathBuf,
    /// Notices for the user about the choice of the knowledge base.
    notices: Vec<String>,
    /// Whether a database may be without an owner: one that kb makes for itself.
    is_temporary: bool,
    /// Its connections and models.
    opened: OpenedParts,
}

impl Session {
    /// Returns a builder of sessions for a process with these variables.
    pub fn builder(environment: Environment) -> SessionBuilder {
        SessionBuilder::new(environment)
    }

    /// Returns a session for another knowledge base, which shares the models.
    pub fn for_base(&self, base: &str) -> Result<Self> {
        self.like(Some(base))
    }

    /// Chooses the knowledge base again, after the working directory has changed. Returns `None` if it is the
    /// same.
    pub fn chosen_again(&self) -> Result<Option<Self>> {
        let other = self.like(self.made_of.base.as_deref())?;
        Ok(Some(other).filter(|other| other.place != self.place))
    }

    /// Returns the name of the knowledge base of commands that name none.
    pub fn default_base_name(&self) -> Result<String> {
        match self.made_of.base {
            None => Ok(self.place.name.clone()),
            Some(_) => Ok(self.like(None)?.place.name),
        }
    }

    fn like(&self, base: Option<&str>) -> Result<Self> {
        let other = self.made_of.clone().base(base).build()?;
        Ok(Self { opened: OpenedParts::sharing_models(&self.opened), ..other })
    }

    /// Returns a session with the same settings for a database that kb makes for itself.
    pub fn scratch_in(&self, data_dir: &Path) -> Result<Self> {
        let place = NamedBase::default_in(&absolute(data_dir)?);
        Ok(Self { is_temporary: true, ..self.for_new_base(place) })
    }

    /// Returns a session with the same settings for a knowledge base to make.
    pub fn for_new_base(&self, place: NamedBase) -> Self {
        let mut resolved = self.resolved.clone();
        resolved.config.data_dir.clone_from(&place.dir);
        Self {
            made_of: self.made_of.clone().working_dir(None),
            resolved,
            home: place.dir.clone(),
            place,
            notices: Vec::new(),
            is_temporary: false,
            opened: OpenedParts::default(),
        }
    }

    /// Makes searches mark changed files instead of reading them again: nothing may be written.
    pub fn forbid_refresh(&mut self) {
        self.made_of.can_refresh = false;
    }

    /// Returns which path of a document is shown: one in `named`, which a filter or the user named, and for a person
    /// one in the working directory.
    pub(crate) fn shown_paths<'a>(&'a self, named: &'a [String]) -> ShownPaths<'a> {
        ShownPaths::at(named.iter().map(String::as_str).chain(self.made_of.working_dir.as_deref()))
    }

    /// Returns the settings.
    pub fn config(&self) -> &Config {
        &self.resolved.config
    }

    /// Returns the settings with their origins.
    pub fn resolved(&self) -> &ResolvedConfig {
        &self.resolved
    }

    /// Returns the variables of the process.
    pub fn environment(&self) -> &Environment {
        &self.made_of.environment
    }

    /// Returns which knowledge base it is.
    pub fn place(&self) -> &NamedBase {
        &self.place
    }

    /// Returns the data directory, in which the named knowledge bases are.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Returns the notices for the user about the choice of the knowledge base.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Returns the program that reads untrusted formats; `None` for this program.
    pub fn reader(&self) -> Option<&Path> {
        self.made_of.reader.as_deref()
    }

    /// Says a line when there is no observer, while the database is opened.
    pub fn notify(&self, text: &str) {
        (self.made_of.notify)(text);
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
        model::locations(self.environment())
    }

    /// Whether there is a database that can only be read.
    pub fn is_read_only(&self) -> bool {
        Store::is_read_only_at(&self.database())
    }

    /// Refuses to change a database that can only be read.
    pub fn require_writable(&self) -> Result<()> {
        if self.is_read_only() {
            return Err(Error::ReadOnly { path: self.database() });
        }
        Ok(())
    }

    /// Returns the treatment of stale hits. A database that can only be read is not refreshed.
    pub fn freshness(&self, requested: Option<Freshness>) -> Freshness {
        let configured = match self.config().search.freshness {
            Freshness::Refresh if !self.made_of.can_refresh => Freshness::Mark,
            freshness => freshness,
        };
        match requested.unwrap_or(configured) {
            Freshness::Refresh if self.is_read_only() => Freshness::Mark,
            freshness => freshness,
        }
    }

    /// Reads the database once. Fails if it was read without locks and has changed meanwhile.
    pub fn read_consistent<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let database = self.database();
        let Some(before) = Store::mark(&database) else { return work() };
        let outcome = work();
        if before.is_current(&database) {
            outcome
        } else {
            Err(Error::ChangedMeanwhile { path: database })
        }
    }

    /// Reads the database like [`Self::read_consistent`], and a second time if it has changed meanwhile.
    pub fn read_with_retry<T>(&self, mut work: impl FnMut() -> Result<T>) -> Result<T> {
        match self.read_consistent(&mut work) {
            Err(Error::ChangedMeanwhile { .. }) => self.read_consistent(work),
            outcome => outcome,
        }
    }
}

impl SessionBuilder {
    /// Reads the settings and chooses the knowledge base. Opens nothing.
    pub fn build(self) -> Result<Session> {
        let settings = config::load(&self.environment, &self.flags)?;
        self.build_with(settings)
    }

    /// Builds it with the settings of these flags and variables, which were read before.
    pub fn build_with(self, settings: ResolvedConfig) -> Result<Session> {
        let home = absolute(&settings.config.data_dir)?;
        let mut notices = Vec::new();
        let place = self.place(&home, &settings, &mut notices)?;
        let mut resolved = if place.is_default() {
            settings
        } else {
            config::load_base(&self.environment, &self.flags, &place.dir)?
        };
        resolved.config.data_dir = absolute(&resolved.config.data_dir)?;
        Ok(Session {
            made_of: self,
            resolved,
            place,
            home,
            notices,
            is_temporary: false,
            opened: OpenedParts::default(),
        })
    }
}

/// The connections and models that a session has opened.
#[derive(Default)]
struct OpenedParts {
    /// The loaded models, each loaded by the first query that needs it. Sessions of several knowledge bases
    /// share them.
    models: Arc<Mutex<Vec<Arc<dyn Embedder>>>>,
    /// Whether fetching a model has failed.
    fetching_has_failed: Arc<AtomicBool>,
    /// Whether the user was told that files are not followed.
    was_warned: AtomicBool,
    /// Read connections kept by earlier queries.
    stores: Mutex<Vec<Store>>,
    /// The connection to PostgreSQL kept by an earlier query.
    kept_connection: Mutex<Option<KeptConnection>>,
}

impl OpenedParts {
    /// Returns nothing opened but the models of another session.
    fn sharing_models(other: &Self) -> Self {
        Self { models: Arc::clone(&other.models), ..Self::default() }
    }
}
