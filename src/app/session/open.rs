//! Opens the database and the models of a session, and keeps them for the next query.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use super::Session;
use crate::app::Observer;
use crate::app::session::bases::trust;
use crate::app::session::kept_connection::KeptConnection;
use crate::app::session::{copies, model};
use crate::document::Binding;
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::files::private;
use crate::store::{AllowedPaths, Store};
use crate::trace::stage;

/// Most models that are kept loaded. One is replaced when its database gets another one.
const MAX_MODELS: usize = 3;

impl Session {
    /// Creates the data directory if it is missing; only its owner can access it.
    pub fn make_data_dir(&self) -> Result<()> {
        let dir = self.data_dir();
        private::create_folder(dir).map_err(|source| Error::of_file(dir, source))
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
        let is_new = creates && database.metadata().map_or(true, |found| found.len() == 0);
        let opened = stage("open database", || {
            Store::open_guarded(&database, creates, &|old| copies::before_migration(self, old))
        })?;
        let Some(mut store) = opened else { return Ok(None) };
        if !self.is_temporary {
            self.settle(&mut store, is_new)?;
        }
        Ok(Some(store))
    }

    /// Gives a connection which of the files that the database names are followed.
    fn settle(&self, store: &mut Store, is_new: bool) -> Result<()> {
        let opening = trust::TrustContext {
            environment: self.environment(),
            dir: self.data_dir(),
            is_new,
            is_usual: !self.place().is_project() && !self.resolved().names_data_dir(),
            command: &self.allow_command(),
        };
        let notice = trust::settle(store, &opening)?;
        let notice = notice.or_else(|| {
            let error = Error::UntrustedBase { path: self.database() };
            let hint = error.hint().filter(|_| !store.is_allowed());
            hint.map(|hint| format!("{error}; {hint}"))
        });
        if let Some(notice) = notice
            && !self.opened.was_warned.swap(true, Ordering::Relaxed)
        {
            notice.lines().for_each(|line| self.notify(line));
        }
        // The user may have added indexes to an own database. In another one, nothing is expected that kb did not make.
        let added = store.added_indexes();
        if !added.is_empty() && !store.is_allowed() {
            return Err(Error::AlteredSchema { path: self.database(), objects: added });
        }
        Ok(())
    }

    /// Follows the paths that the user has just named, and remembers them. Returns all followed paths.
    pub fn follow_named(&self, store: &mut Store, named: AllowedPaths) -> Result<AllowedPaths> {
        trust::name(self.environment(), self.data_dir(), store, named)
    }

    /// Stops following paths that the user has removed: if they come back, the user is asked.
    pub fn unfollow(&self, store: &mut Store, folders: &[String], files: &[String]) -> Result<()> {
        trust::remove(self.environment(), self.data_dir(), store, folders, files)
    }

    /// Returns a note for every folder of the database that is not followed, and for the files outside of them.
    pub fn unfollowed_notes(&self, store: &Store) -> Result<Vec<String>> {
        trust::notes(store, &self.allow_command())
    }

    /// Returns the command that shows the paths that are not followed, and follows them after a yes.
    fn allow_command(&self) -> String {
        let is_plain = self.place().is_project()
            || self.place().is_default() && !self.resolved().names_data_dir();
        if is_plain {
            "kb base allow --files".to_owned()
        } else {
            format!("kb base allow --files {}", self.data_dir().display())
        }
    }

    /// Refuses to follow the files of a database whose use the user has not allowed.
    pub fn require_files(&self, store: &Store) -> Result<()> {
        if store.is_allowed() {
            return Ok(());
        }
        Err(Error::UntrustedBase { path: self.database() })
    }

    /// Returns the binding of the database; `None` before the first document.
    pub fn binding(&self) -> Result<Option<Binding>> {
        self.read_with_retry(|| match self.open_existing()? {
            Some(store) => store.binding(),
            None => Ok(None),
        })
    }

    /// Returns a read connection: one kept by an earlier query, if it still belongs to the current database
    /// file, or a new one. Returns `None` if there is no database.
    pub fn store(&self) -> Result<Option<Store>> {
        let left = self.stores().pop();
        // The connection belongs to an earlier request, which may have been cancelled; this request has another flag.
        let left = left.and_then(|mut store| store.renew_cancellation().is_ok().then_some(store));
        let Some(mut store) = left.filter(Store::is_current) else { return self.open_existing() };
        // The user may have allowed or named folders since the connection was opened.
        if !self.is_temporary {
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
        self.kept_connection().take();
        let stores = std::mem::take(&mut *self.stores());
        stores.into_iter().try_for_each(Store::close)
    }

    /// Returns the mark that fetching a model has failed.
    pub(crate) fn fetching_has_failed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.opened.fetching_has_failed)
    }

    pub(crate) fn kept_connection(&self) -> MutexGuard<'_, Option<KeptConnection>> {
        self.opened.kept_connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stores(&self) -> MutexGuard<'_, Vec<Store>> {
        self.opened.stores.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the model for queries against vectors bound to `bound`, loading it at the first call.
    pub fn embedder(
        &self,
        bound: Option<&Binding>,
        observer: &dyn Observer,
    ) -> Result<Arc<dyn Embedder>> {
        let mut models = self.opened.models.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = models.iter();
        let fitting = all.find(|model| bound.is_none_or(|bound| bound.fits(model.binding())));
        if let Some(embedder) = fitting {
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
}
