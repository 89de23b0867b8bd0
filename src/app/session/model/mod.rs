//! Selects the model of a use case, and reports when it contradicts the database.
//!
//! A model that the user named (by flag, variable or settings file) overrides the database's binding; a
//! new database gets the default. So only a model that the user named can disagree with a database.

mod lazy;
mod places;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use crate::app::Session;
use crate::app::session::observer::{AppEvent, Observer};
use crate::app::session::settings;
use crate::app::session::typed::absolute;
use crate::config::SettingOrigin;
use crate::document::{Binding, Precision};
use crate::embed::{
    self, Embedder, InstalledModel, Locations, ModelChoice, ModelOptions, ModelSpec,
};
use crate::error::{Error, Result};
use crate::wording::{kb, wording};

pub use crate::embed::model_names as names;
pub use lazy::LazyModel;
use lazy::open;
pub(crate) use places::locations;

/// Threads for embedding a single query. Reading the weights is the bottleneck, and two threads share
/// that work; starting more takes longer than it saves.
const QUERY_THREADS: usize = 2;

/// The selected model and its settings.
pub struct ModelSelection {
    choice: ModelChoice,
    options: ModelOptions,
    locations: Locations,
    /// Whether fetching has failed in this session: it is not tried again for each document.
    has_failed: Arc<AtomicBool>,
    /// Whether the user named the model or kb knows it. Otherwise only a database or the settings of a
    /// project name it, and kb does not fetch what their author chose.
    may_fetch: bool,
}

/// Returns the model that follows from the settings and the database's binding.
pub fn select(session: &Session, bound: Option<&Binding>) -> Result<ModelSelection> {
    let settings = &session.config().embedding;
    let is_written = |key: &str| *session.resolved().origin(key) != SettingOrigin::Default;
    let layer = |key: &str| session.resolved().origin(key).layer();
    let mut may_fetch = true;
    // A model name in the environment overrides a directory in the file.
    let is_directory = !settings.model_dir.as_os_str().is_empty()
        && layer("embedding.model_dir") >= layer("embedding.model");
    let choice = if is_directory {
        // A directory has its own name unless both were typed together, as they are when the name
        // must be the same on two machines; the database then remembers it.
        let is_named = is_written("embedding.model")
            && (is_flag(session, "embedding.model") && is_flag(session, "embedding.model_dir")
                || bound.is_some_and(|bound| bound.model_name == settings.model));
        ModelChoice::Directory {
            path: absolute(&settings.model_dir)?,
            name: is_named.then(|| settings.model.clone()),
        }
    } else if is_written("embedding.model") {
        let choice = ModelChoice::named(&settings.model)?;
        may_fetch = choice.spec().is_some() || !is_of_project(session);
        choice
    } else if let Some(bound) = bound {
        let choice = ModelChoice::named(&bound.model_name)
            .map_err(|_| Error::NoModelFiles { name: bound.model_name.clone(), path: None })?;
        may_fetch = choice.spec().is_some();
        choice
    } else {
        ModelChoice::named(&settings.model)?
    };
    let precision = match bound {
        Some(bound) if !is_written("embedding.precision") => bound.precision,
        _ => settings.precision,
    };
    let passage_prefix =
        given(&settings.passage_prefix).or_else(|| bound.map(|bound| bound.passage_prefix.clone()));
    let options = ModelOptions {
        precision,
        query_prefix: given(&settings.query_prefix),
        passage_prefix,
        dim: Some(settings.dim).filter(|dim| *dim > 0),
        keeps_tokens: settings.token_vectors,
        ..ModelOptions::default()
    };
    let mut locations = session.locations();
    if let Some(bound) = bound.filter(|bound| bound.model_name == choice.name()) {
        locations.files = bound.files.clone();
    }
    let has_failed = session.fetching_has_failed();
    Ok(ModelSelection { choice, options, locations, has_failed, may_fetch })
}

/// Whether a flag of this command says the value of a setting.
fn is_flag(session: &Session, key: &str) -> bool {
    matches!(session.resolved().origin(key), SettingOrigin::Flag(_))
}

/// Returns a prefix of the settings; `None` if none is written there.
fn given(prefix: &str) -> Option<String> {
    (!prefix.is_empty()).then(|| prefix.to_owned())
}

/// Whether the name of the model is from the settings of a project, which others can write.
fn is_of_project(session: &Session) -> bool {
    let SettingOrigin::File(file) = session.resolved().origin("embedding.model") else {
        return false;
    };
    file.parent().is_some_and(|dir| session.environment().is_of_project(dir))
}

/// Returns the model to switch to: the one that the user named, else the bound one. If the model
/// differs, nothing else of the binding is used.
pub fn select_for_reindex(session: &Session, bound: Option<&Binding>) -> Result<ModelSelection> {
    let wanted = select(session, bound)?;
    if bound.is_some_and(|bound| bound.model_name != wanted.name()) {
        return select(session, None);
    }
    Ok(wanted)
}

/// Returns the bound model, if kb knows it by name.
pub fn select_known(session: &Session, bound: &Binding) -> Option<ModelSelection> {
    let choice =
        ModelChoice::named(&bound.model_name).ok().filter(|choice| choice.spec().is_some());
    let options = ModelOptions { precision: bound.precision, ..ModelOptions::default() };
    let locations = session.locations();
    let has_failed = session.fetching_has_failed();
    choice.map(|choice| ModelSelection { choice, options, locations, has_failed, may_fetch: false })
}

/// Compares only the names, before any file is searched for.
pub fn check_selection(session: &Session, bound: Option<&Binding>) -> Result<()> {
    let Some(bound) = bound else { return Ok(()) };
    let wanted = select(session, Some(bound))?;
    let ModelOptions { precision, dim, .. } = wanted.options;
    let dim = dim.unwrap_or(bound.dim);
    let is_same = wanted.choice.name() == bound.model_name;
    if is_same && precision == bound.precision && dim == bound.dim {
        return Ok(());
    }
    let error = mismatch(bound, &wanted.choice.name(), precision, dim);
    match (error, &wanted.choice) {
        // `--model` does not accept the name of a directory.
        (
            Error::ModelMismatch { bound: name, bound_dim, .. },
            ModelChoice::Directory { path: dir, .. },
        ) if name == bound.model_name => {
            let wanted = dir.display().to_string();
            Err(Error::ModelMismatch { bound: name, bound_dim, wanted })
        }
        (error, _) => Err(error),
    }
}

/// Refuses the binding of an imported file unless its model would be used anyway, or is installed and
/// agrees with the file. So a file cannot decide what kb fetches, now or later.
pub fn check_adoptable(session: &Session, given: &Binding) -> Result<()> {
    let selection = select(session, Some(given))?;
    if let Ok(installed) = selection.locate() {
        return check_binding(given, &selection.binding(&installed));
    }
    let cut = selection.options.dim;
    if selection.choice.spec().is_some_and(|spec| cut.unwrap_or(spec.dim) != given.dim) {
        return Err(Error::usage(format!(
            "vectors of {} do not have {} dimensions",
            given.model_name, given.dim
        ))
        .with_hint("export the documents again"));
    }
    let meant = ModelChoice::named(&session.config().embedding.model);
    if meant.is_ok_and(|meant| meant.name() == given.model_name) {
        return Ok(());
    }
    Err(Error::UntrustedModel { name: given.model_name.clone() })
}

/// Returns an error unless new vectors are comparable with the stored ones.
pub fn check_binding(bound: &Binding, wanted: &Binding) -> Result<()> {
    if bound.fits(wanted) {
        return Ok(());
    }
    if !bound.files.fits(&wanted.files) && bound.model_name == wanted.model_name {
        let (bound, bound_dim, wanted) = (describe(bound), bound.dim, describe(wanted));
        return Err(Error::ModelMismatch { bound, bound_dim, wanted });
    }
    Err(mismatch(bound, &wanted.model_name, wanted.precision, wanted.dim))
}

fn describe(binding: &Binding) -> String {
    format!("{} ({})", binding.model_name, binding.files)
}

fn mismatch(bound: &Binding, name: &str, precision: Precision, dim: u32) -> Error {
    let (mut bound_name, mut wanted) = (bound.model_name.clone(), name.to_owned());
    if bound_name == wanted {
        bound_name = format!("{bound_name} {}", bound.precision);
        wanted = if bound.precision != precision {
            format!("{wanted} {precision}")
        } else if bound.dim != dim {
            format!("{wanted} with {dim} dim")
        } else {
            format!("{wanted} with another length or passage prefix")
        };
    }
    Error::ModelMismatch { bound: bound_name, bound_dim: bound.dim, wanted }
}

/// Writes the model chosen by flags to the settings file if that names another one. Otherwise the next
/// command would report a mismatch.
pub(crate) fn keep_selection(session: &Session, observer: &dyn Observer) -> Result<()> {
    let chosen = &session.config().embedding;
    if is_flag(session, "embedding.model_dir") && !chosen.model_dir.as_os_str().is_empty() {
        let dir = absolute(&chosen.model_dir)?.display().to_string();
        if is_flag(session, "embedding.model") {
            settings::set(session, "embedding.model", &chosen.model, observer)?;
        }
        return settings::set(session, "embedding.model_dir", &dir, observer);
    }
    if is_flag(session, "embedding.model") {
        if session.resolved().file_sets("embedding.model_dir") {
            settings::set(session, "embedding.model_dir", "", observer)?;
        }
        if session.resolved().file_sets("embedding.model") {
            settings::set(session, "embedding.model", &chosen.model, observer)?;
        }
    }
    Ok(())
}

impl ModelSelection {
    /// Returns the model name for a binding.
    pub(crate) fn name(&self) -> String {
        self.choice.name()
    }

    /// Returns the model's row of `models.toml`, if there is one.
    pub(crate) fn spec(&self) -> Option<&'static ModelSpec> {
        self.choice.spec()
    }

    /// Leaves out the codes of tokens, which only a database keeps.
    #[must_use]
    pub fn without_token_codes(mut self) -> Self {
        self.options.keeps_tokens = false;
        self
    }

    /// Finds the model on this machine, without the runtime library.
    pub(crate) fn locate_model(&self) -> Result<PathBuf> {
        embed::locate_model(&self.choice, &self.locations)
    }

    /// Finds model and runtime library on this machine, without network.
    pub fn locate(&self) -> Result<InstalledModel> {
        self.fitting(embed::locate(&self.choice, &self.locations)?)
    }

    /// Refuses more numbers than the model's vectors have.
    fn fitting(&self, installed: InstalledModel) -> Result<InstalledModel> {
        let (dim, full) = (self.options.dim.unwrap_or(0), installed.facts.vector_dim());
        if dim <= full {
            return Ok(installed);
        }
        Err(Error::usage(format!(
            "embedding.dim is {dim}, but vectors of {} have {full} dimensions",
            self.name()
        ))
        .with_hint(wording!(
            "`{}` keeps all dimensions",
            kb("config set").arg("embedding.dim").arg(0)
        )))
    }

    /// Finds model and runtime library, fetching missing files.
    pub fn install(&self, observer: &dyn Observer) -> Result<InstalledModel> {
        if !self.may_fetch && self.locate_model().is_err() {
            return Err(Error::UntrustedModel { name: self.name() });
        }
        self.fitting(embed::install(&self.choice, &self.locations, &mut |event| {
            observer.on_event(AppEvent::Fetch(event));
        })?)
    }

    /// Finds model and runtime library. If they are missing, reports that and fetches them, as `kb init`
    /// does, once in a session.
    pub fn locate_or_install(&self, observer: &dyn Observer) -> Result<InstalledModel> {
        match self.locate() {
            Err(Error::NotInstalled { .. }) if !self.may_fetch => self.install(observer),
            Err(Error::NotInstalled { what }) if !self.has_failed.load(Ordering::Relaxed) => {
                let init = kb("init");
                observer.info(wording!(
                    "{} is not installed: fetching it now, as `{}` does",
                    what,
                    init
                ));
                let installed = self.install(observer);
                self.has_failed.store(installed.is_err(), Ordering::Relaxed);
                installed
            }
            other => other,
        }
    }

    /// Returns the binding for vectors of this model.
    pub fn binding(&self, installed: &InstalledModel) -> Binding {
        installed.binding(&self.options)
    }

    /// Opens the model for one query against vectors bound to `bound`.
    pub fn open_for_query(
        mut self,
        bound: Option<&Binding>,
        observer: &dyn Observer,
    ) -> Result<Box<dyn Embedder>> {
        self.options.num_threads = QUERY_THREADS.min(num_cores());
        let installed = self.locate_bound(bound)?;
        self.report(&installed, observer);
        embed::open_single(&installed, &self.options, &mut |event| {
            observer.on_event(AppEvent::Fetch(event));
        })
    }

    /// Opens the model for a series of texts to compare with vectors bound to `bound`.
    pub fn open_for_texts(
        &self,
        bound: Option<&Binding>,
        observer: &dyn Observer,
    ) -> Result<Box<dyn Embedder>> {
        open(&self.locate_bound(bound)?, &self.options, observer)
    }

    fn report(&self, installed: &InstalledModel, observer: &dyn Observer) {
        let (name, dir) = (self.name(), installed.model_dir.display());
        observer.detail(format!("model: {name} {} in {dir}", self.options.precision));
        observer.detail(format!("ONNX Runtime: {}", installed.runtime.display()));
    }

    /// Finds model and runtime library, and checks that its vectors are comparable with those bound to
    /// `bound`.
    fn locate_bound(&self, bound: Option<&Binding>) -> Result<InstalledModel> {
        let installed = self.locate()?;
        if let Some(bound) = bound {
            check_binding(bound, &self.binding(&installed))?;
        }
        Ok(installed)
    }

    /// Opens the tokenizer now and the model for the first passage.
    pub fn open_for_passages<'a>(
        &self,
        installed: &InstalledModel,
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

/// Returns the number of processors available to this process, without starting rayon's threads.
pub fn num_cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests;
