//! Decides which model a use case works with, and when that contradicts the database.
//!
//! What the user wrote (a flag, a variable, the settings file) overrides the database's own binding, and a
//! new database takes the default. So a default never disagrees with a database; only what was written can.

mod lazy;
mod places;

use std::path::PathBuf;
use std::thread;

use crate::app::observer::{Event, Observer};
use crate::app::session::absolute;
use crate::app::{Session, settings};
use crate::config::{Origin, PrecisionWord};
use crate::document::{Binding, Precision};
use crate::embed::{
    self, Embedder, Installed, Locations, ModelChoice, OnnxEmbedder, OpenOptions, Tokenizer,
};
use crate::error::{Error, Result};

pub use crate::embed::model_names as names;
pub use lazy::LazyModel;
pub(super) use places::locations;

/// Threads that embed a lone query: it is bound by reading the weights, which two threads share;
/// more cost more to start than they save.
const QUERY_THREADS: usize = 2;

/// The model a use case works with, and how.
pub struct ModelSelection {
    choice: ModelChoice,
    options: OpenOptions,
    locations: Locations,
    /// Whether the user named the model or kb knows it. One that only a database names was named by
    /// the one who made the database, and nothing is fetched for them.
    may_fetch: bool,
}

/// Returns the model that the settings and the database's binding come to.
///
/// # Errors
///
/// [`Error::UnknownModel`], or [`Error::NoModelFiles`] for a model that only a database names.
pub fn select(session: &Session, bound: Option<&Binding>) -> Result<ModelSelection> {
    let settings = &session.config().embedding;
    let is_written = |key: &str| *session.resolved.origin(key) != Origin::Default;
    let layer = |key: &str| session.resolved.origin(key).layer();
    let mut may_fetch = true;
    // A directory in the file does not outweigh a name in the environment.
    let is_directory = !settings.model_dir.as_os_str().is_empty()
        && layer("embedding.model_dir") >= layer("embedding.model");
    let choice = if is_directory {
        ModelChoice::Directory(absolute(&settings.model_dir)?)
    } else if is_written("embedding.model") {
        ModelChoice::named(&settings.model)?
    } else if let Some(bound) = bound {
        let choice = ModelChoice::named(&bound.model_name)
            .map_err(|_| Error::NoModelFiles { name: bound.model_name.clone(), path: None })?;
        may_fetch = choice.spec().is_some();
        choice
    } else {
        ModelChoice::named(&settings.model)?
    };
    let configured = match settings.precision {
        PrecisionWord::Int8 => Precision::Int8,
        PrecisionWord::Fp32 => Precision::Fp32,
    };
    let precision = match bound {
        Some(bound) if !is_written("embedding.precision") => bound.precision,
        _ => configured,
    };
    let given = |prefix: &String| (!prefix.is_empty()).then(|| prefix.clone());
    let passage_prefix =
        given(&settings.passage_prefix).or_else(|| bound.map(|bound| bound.passage_prefix.clone()));
    let options = OpenOptions {
        precision,
        num_threads: 1,
        query_prefix: given(&settings.query_prefix),
        passage_prefix,
    };
    Ok(ModelSelection { choice, options, locations: session.locations(), may_fetch })
}

/// Returns the model to change to: what is written, the binding's where nothing is, but nothing
/// of the binding where the model is another.
///
/// # Errors
///
/// Those of [`select`].
pub fn select_for_reindex(session: &Session, bound: Option<&Binding>) -> Result<ModelSelection> {
    let wanted = select(session, bound)?;
    if bound.is_some_and(|bound| bound.model_name != wanted.name()) {
        return select(session, None);
    }
    Ok(wanted)
}

/// Compares names alone, before anything is looked for.
///
/// # Errors
///
/// [`Error::ModelMismatch`], and those of [`select`].
pub fn check_selection(session: &Session, bound: Option<&Binding>) -> Result<()> {
    let Some(bound) = bound else { return Ok(()) };
    let wanted = select(session, Some(bound))?;
    if wanted.choice.name() == bound.model_name && wanted.options.precision == bound.precision {
        return Ok(());
    }
    let error = mismatch(bound, &wanted.choice.name(), wanted.options.precision);
    match (error, &wanted.choice) {
        // A directory's name alone could not be typed after `--model`.
        (Error::ModelMismatch { bound: name, bound_dim, .. }, ModelChoice::Directory(dir))
            if name == bound.model_name =>
        {
            let wanted = dir.display().to_string();
            Err(Error::ModelMismatch { bound: name, bound_dim, wanted })
        }
        (error, _) => Err(error),
    }
}

/// Refuses a binding that only a file asks for: its model must be the one that would be used anyway, or be
/// installed and be as the file says. So no file decides what is fetched, now or by a later command.
///
/// # Errors
///
/// [`Error::UntrustedModel`], [`Error::ModelMismatch`], and [`Error::Usage`] for a wrong number of dimensions.
pub fn check_adoptable(session: &Session, given: &Binding) -> Result<()> {
    let selection = select(session, Some(given))?;
    if let Ok(installed) = selection.locate() {
        return check_binding(given, &selection.binding(&installed));
    }
    if selection.choice.spec().is_some_and(|spec| spec.dim != given.dim) {
        return Err(Error::Usage {
            message: format!("vectors of {} do not have {} numbers", given.model_name, given.dim),
            hint: Some("export the documents again".into()),
        });
    }
    let meant = ModelChoice::named(&session.config().embedding.model);
    match meant.is_ok_and(|meant| meant.name() == given.model_name) {
        true => Ok(()),
        false => Err(Error::UntrustedModel { name: given.model_name.clone() }),
    }
}

/// Returns an error unless what would be embedded now goes with what is stored.
///
/// # Errors
///
/// [`Error::ModelMismatch`].
pub fn check_binding(bound: &Binding, wanted: &Binding) -> Result<()> {
    if bound == wanted {
        return Ok(());
    }
    Err(mismatch(bound, &wanted.model_name, wanted.precision))
}

fn mismatch(bound: &Binding, name: &str, precision: Precision) -> Error {
    let (mut bound_name, mut wanted) = (bound.model_name.clone(), name.to_owned());
    if bound_name == wanted {
        bound_name = format!("{bound_name} {}", bound.precision);
        wanted = if bound.precision == precision {
            format!("{wanted} with another length or passage prefix")
        } else {
            format!("{wanted} {precision}")
        };
    }
    Error::ModelMismatch { bound: bound_name, bound_dim: bound.dim, wanted }
}

/// Brings the settings file in line with the model that flags chose, where it names another: what a
/// command did once, the next one must not find wrong.
///
/// # Errors
///
/// Those of [`settings::set`].
pub(in crate::app) fn keep_selection(session: &Session, observer: &dyn Observer) -> Result<()> {
    let chosen = &session.config().embedding;
    let is_flag = |key: &str| matches!(session.resolved.origin(key), Origin::Flag(_));
    if is_flag("embedding.model_dir") && !chosen.model_dir.as_os_str().is_empty() {
        let dir = absolute(&chosen.model_dir)?.display().to_string();
        return settings::set(session, "embedding.model_dir", &dir, observer);
    }
    if is_flag("embedding.model") {
        if session.resolved.file_sets("embedding.model_dir") {
            settings::set(session, "embedding.model_dir", "", observer)?;
        }
        if session.resolved.file_sets("embedding.model") {
            settings::set(session, "embedding.model", &chosen.model, observer)?;
        }
    }
    Ok(())
}

impl ModelSelection {
    /// Returns the name databases would be bound to.
    pub(in crate::app) fn name(&self) -> String {
        self.choice.name()
    }

    /// Finds the model alone on this machine.
    pub(in crate::app) fn locate_model(&self) -> Result<PathBuf> {
        embed::locate_model(&self.choice, &self.locations)
    }

    /// Finds model and runtime library on this machine, without network.
    ///
    /// # Errors
    ///
    /// [`Error::NotInstalled`].
    pub fn locate(&self) -> Result<Installed> {
        embed::locate(&self.choice, &self.locations)
    }

    /// Finds model and runtime library, fetching what is missing.
    ///
    /// # Errors
    ///
    /// [`Error::UntrustedModel`] for a model that only a database names, and what fetching gives.
    pub fn install(&self, observer: &dyn Observer) -> Result<Installed> {
        if !self.may_fetch && self.locate_model().is_err() {
            return Err(Error::UntrustedModel { name: self.name() });
        }
        embed::install(&self.choice, &self.locations, &mut |event| {
            observer.on_event(Event::Fetch(event));
        })
    }

    /// Finds model and runtime library, or does what `kb init` does, saying so.
    ///
    /// # Errors
    ///
    /// Those of [`Self::install`].
    pub fn locate_or_install(&self, observer: &dyn Observer) -> Result<Installed> {
        match self.locate() {
            Err(Error::NotInstalled { .. }) if !self.may_fetch => self.install(observer),
            Err(Error::NotInstalled { what }) => {
                observer
                    .note(&format!("{what} is not installed: fetching it now, as `kb init` does"));
                self.install(observer)
            }
            other => other,
        }
    }

    /// Returns what vectors of this model would be bound to.
    pub fn binding(&self, installed: &Installed) -> Binding {
        installed.binding(&self.options)
    }

    /// Opens the model for one query against vectors bound to `bound`.
    ///
    /// # Errors
    ///
    /// [`Error::NotInstalled`], [`Error::ModelMismatch`], and what opening the model gives.
    pub fn open_for_query(
        mut self,
        bound: Option<&Binding>,
        observer: &dyn Observer,
    ) -> Result<Box<dyn Embedder>> {
        self.options.num_threads = QUERY_THREADS.min(num_cores());
        let installed = self.locate_bound(bound)?;
        self.report(&installed, observer);
        embed::open_single(&installed, &self.options, &mut |event| {
            observer.on_event(Event::Fetch(event));
        })
    }

    /// Opens the model for texts that come one after the other, to be compared with vectors bound to
    /// `bound`.
    ///
    /// # Errors
    ///
    /// Those of [`Self::open_for_query`].
    pub fn open_for_texts(
        &self,
        bound: Option<&Binding>,
        observer: &dyn Observer,
    ) -> Result<Box<dyn Embedder>> {
        Ok(Box::new(open(&self.locate_bound(bound)?, &self.options, observer)?))
    }

    fn report(&self, installed: &Installed, observer: &dyn Observer) {
        let (name, dir) = (self.name(), installed.model_dir.display());
        observer.detail(&format!("model: {name} {} in {dir}", self.options.precision));
        observer.detail(&format!("ONNX Runtime: {}", installed.runtime.display()));
    }

    /// Finds model and runtime library, and makes sure that its vectors may be compared with those
    /// bound to `bound`.
    fn locate_bound(&self, bound: Option<&Binding>) -> Result<Installed> {
        let installed = self.locate()?;
        if let Some(bound) = bound {
            check_binding(bound, &self.binding(&installed))?;
        }
        Ok(installed)
    }

    /// Opens the tokenizer now and the model when the first passage comes.
    ///
    /// # Errors
    ///
    /// What reading the tokenizer gives.
    pub fn open_for_passages<'a>(
        &self,
        installed: &Installed,
        observer: &'a dyn Observer,
    ) -> Result<LazyModel<'a>> {
        self.report(installed, observer);
        Ok(LazyModel::new(
            embed::tokenizer(installed, &self.options)?,
            self.binding(installed),
            installed.clone(),
            self.options.clone(),
            observer,
        ))
    }
}

fn open(
    installed: &Installed,
    options: &OpenOptions,
    observer: &dyn Observer,
) -> Result<OnnxEmbedder> {
    embed::open(installed, options, &mut |event| observer.on_event(Event::Fetch(event)))
}

/// Returns the processors this process may use, without starting the threads that rayon would.
pub fn num_cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the tokenizer of vectors bound to `bound`; `None` where the model is not on this machine.
pub fn tokenizer(session: &Session, bound: Option<&Binding>) -> Option<Tokenizer> {
    let selection = select(session, bound).ok()?;
    embed::tokenizer(&selection.locate().ok()?, &selection.options).ok()
}
