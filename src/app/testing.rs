//! Provides a home directory with a knowledge base to tests of use cases. It needs no model: documents are
//! stored with vectors made for tests.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::app::Session;
use crate::app::session::message::MessageLevel;
use crate::app::session::observer::{AppEvent, Observer};
use crate::config::Environment;
use crate::document::Embedding;
use crate::files::reach::Reach;
use crate::files::stamp::Stamp;
use crate::ingest::content_hash;
use crate::store::testing::{binding, chunk, document, embedding};
use crate::store::{
    AddedFolder, AllowedFolder, AllowedPaths, DocumentId, NewDocument, PathStamp, Store,
};

/// A home directory, and a session in it. It observes use cases, and remembers their messages.
pub(crate) struct World {
    pub(crate) session: Session,
    home: tempfile::TempDir,
    heard: Mutex<Vec<String>>,
}

impl World {
    /// Returns a world with the usual data directory and no database.
    pub(crate) fn new() -> Self {
        Self::with(tempfile::tempdir().unwrap(), &[])
    }

    /// Returns one with the data directory at a path in the home directory.
    pub(crate) fn at(data_dir: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join(data_dir).display().to_string();
        Self::with(home, &[("KB_DATA_DIR", &dir)])
    }

    /// Returns the same home directory with a data directory at another path.
    pub(crate) fn now_at(self, data_dir: &str) -> Self {
        let dir = self.path(data_dir).display().to_string();
        Self::with(self.home, &[("KB_DATA_DIR", &dir)])
    }

    /// Returns one with variables of the process.
    pub(crate) fn with(home: tempfile::TempDir, variables: &[(&str, &str)]) -> Self {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), value.into()));
        let environment: Environment =
            variables.chain([("HOME".to_owned(), home.path().into())]).collect();
        let session = Session::builder(environment).build().unwrap();
        Self { session, home, heard: Mutex::default() }
    }

    /// Returns the session and the home directory, which is deleted when it is dropped.
    pub(crate) fn into_parts(self) -> (Session, tempfile::TempDir) {
        (self.session, self.home)
    }

    /// Returns a path in the home directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Returns a path below the home directory without that.
    pub(crate) fn short(&self, path: &str) -> String {
        let below = Path::new(path).strip_prefix(self.home.path()).unwrap();
        below.display().to_string()
    }

    /// Opens the database.
    pub(crate) fn store(&self) -> Store {
        let mut store = self.session.open_store().unwrap();
        store.bind(&binding("small")).unwrap();
        store
    }

    /// Writes a file, and stores its document as if it had just been added with a folder.
    pub(crate) fn add(&self, name: &str, text: &str) -> DocumentId {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        let Stamp { size_bytes, mtime_ns } = Stamp::of(&path.metadata().unwrap());
        let path = path.to_str().unwrap().to_owned();
        let stamp = PathStamp { path, size_bytes, mtime_ns, real_path: None };
        self.put(Some(stamp), name, text)
    }

    /// Does so as if the file had been named itself.
    pub(crate) fn add_named(&self, name: &str, text: &str) -> DocumentId {
        let id = self.add(name, text);
        let mut store = self.store();
        self.follow_file(&mut store, name);
        store.close().unwrap();
        id
    }

    /// Follows a file that was named itself.
    pub(crate) fn follow_file(&self, store: &mut Store, name: &str) {
        let path = self.path(name).to_str().unwrap().to_owned();
        let files = [(path.clone(), path)].into();
        let named = AllowedPaths { files, ..AllowedPaths::default() };
        self.session.follow_named(store, named).unwrap();
    }

    /// Stores a note.
    pub(crate) fn add_note(&self, title: &str, text: &str) -> DocumentId {
        self.put(None, title, text)
    }

    /// Stores a note in a named knowledge base that exists.
    pub(crate) fn add_to(&self, base: &str, title: &str, text: &str) {
        let mut store = self.session.for_base(base).unwrap().open_store().unwrap();
        store.bind(&binding("small")).unwrap();
        Self::put_into(store, None, title, text);
    }

    fn put(&self, stamp: Option<PathStamp>, title: &str, text: &str) -> DocumentId {
        Self::put_into(self.store(), stamp, title, text)
    }

    fn put_into(mut store: Store, stamp: Option<PathStamp>, title: &str, text: &str) -> DocumentId {
        let new = NewDocument {
            stamp,
            title: title.to_owned(),
            content_hash: content_hash(text.as_bytes()),
            ..document("", &[], &[])
        };
        let embeddings: [Embedding; 1] = [embedding(text)];
        let change = store.replace(&new, &[chunk(text)], &embeddings, &|_| true).unwrap();
        store.close().unwrap();
        change.document_id()
    }

    /// Remembers an added folder, and follows it.
    pub(crate) fn add_folder(&self, name: &str) {
        let path = self.path(name).to_str().unwrap().to_owned();
        let real_path = Reach::named(Path::new(&path)).unwrap().real_path();
        let (tags, doc_type, language) = (Vec::new(), None, None);
        let root = AddedFolder { path, tags, doc_type, language, follows_links: false, real_path };
        let real_path = root.real_path.clone().unwrap();
        let allowed = AllowedFolder::of(&root, real_path);
        let folders = [(root.path.clone(), allowed)].into();
        let mut store = self.store();
        let named = AllowedPaths { folders, ..AllowedPaths::default() };
        self.session.follow_named(&mut store, named).unwrap();
        store.remember_root(&root).unwrap();
        store.close().unwrap();
    }

    /// Whether something with this text was reported; forgets all that was.
    pub(crate) fn heard(&self, text: &str) -> bool {
        self.lines().iter().any(|line| line.contains(text))
    }

    /// Returns the messages, and forgets them.
    pub(crate) fn lines(&self) -> Vec<String> {
        std::mem::take(&mut *self.heard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Observer for World {
    fn on_event(&self, event: AppEvent<'_>) {
        if let AppEvent::Message(message) = event
            && message.level != MessageLevel::Detail
        {
            self.heard
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(message.line().to_string());
        }
    }
}
