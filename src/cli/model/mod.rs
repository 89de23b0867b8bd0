//! Which model a command uses, where its files are, and what the database was built with.
//!
//! A wish is what the user wrote: a flag, a variable, the file. Where nothing was written the
//! database's own binding holds, and a new database takes the default. So a default never
//! disagrees with a database, and only a written wish can be a mismatch.

mod held;
mod places;

use std::path::PathBuf;
use std::thread;

use crate::cli::context::Context;
use crate::cli::progress::FetchProgress;
use crate::cli::{config, context, ocr, skill, voice};
use crate::config::{Origin, PrecisionWord};
use crate::document::{Binding, Precision};
use crate::embed;
use crate::embed::{
    Embedder, Installed, Locations, ModelChoice, OnnxEmbedder, OpenOptions, Tokenizer,
};
use crate::error::{Error, Result};
use crate::present::Setup;

pub(super) use held::{LazyModel, Warm};
pub(super) use places::{cache_dir, locations};

/// Threads that embed a lone query: it is bound by reading the weights, which two threads share;
/// more cost more to start than they save.
const QUERY_THREADS: usize = 2;

/// The model a command uses and how.
pub(super) struct Wish {
    choice: ModelChoice,
    options: OpenOptions,
    locations: Locations,
    /// Whether the user named the model or kb knows it. One that only a database names was named by
    /// whoever made the database, and nothing is fetched for them.
    may_fetch: bool,
}

/// Returns the model that the settings and the database's binding come to.
pub(super) fn wish(context: &Context, bound: Option<&Binding>) -> Result<Wish> {
    let settings = &context.config().embedding;
    let is_written = |key: &str| *context.resolved.origin(key) != Origin::Default;
    let layer = |key: &str| context.resolved.origin(key).layer();
    let mut may_fetch = true;
    // A directory in the file does not outweigh a name in the environment.
    let is_directory = !settings.model_dir.as_os_str().is_empty()
        && layer("embedding.model_dir") >= layer("embedding.model");
    let choice = if is_directory {
        ModelChoice::Directory(context::absolute(&settings.model_dir)?)
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
    let given = |it: &String| (!it.is_empty()).then(|| it.clone());
    let passage_prefix =
        given(&settings.passage_prefix).or_else(|| bound.map(|it| it.passage_prefix.clone()));
    let options = OpenOptions {
        precision,
        num_threads: 1,
        query_prefix: given(&settings.query_prefix),
        passage_prefix,
    };
    Ok(Wish { choice, options, locations: locations(context), may_fetch })
}

/// Returns the model to change to: what is written, the binding's where nothing is, but nothing
/// of the binding where the model is another.
pub(super) fn wish_for_reindex(context: &Context, bound: Option<&Binding>) -> Result<Wish> {
    let wanted = wish(context, bound)?;
    if bound.is_some_and(|it| it.model_name != wanted.name()) {
        return wish(context, None);
    }
    Ok(wanted)
}

/// Compares names alone, before anything is looked for.
pub(super) fn check_wish(context: &Context, bound: Option<&Binding>) -> Result<()> {
    let Some(bound) = bound else { return Ok(()) };
    let wanted = wish(context, Some(bound))?;
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
pub(super) fn check_adoptable(context: &Context, given: &Binding) -> Result<()> {
    let wish = wish(context, Some(given))?;
    if let Ok(installed) = wish.locate() {
        return check_binding(given, &wish.binding(&installed));
    }
    if wish.choice.spec().is_some_and(|spec| spec.dim != given.dim) {
        return Err(Error::Usage {
            message: format!("vectors of {} do not have {} numbers", given.model_name, given.dim),
            hint: Some("export the documents again".into()),
        });
    }
    let meant = ModelChoice::named(&context.config().embedding.model);
    match meant.is_ok_and(|meant| meant.name() == given.model_name) {
        true => Ok(()),
        false => Err(Error::UntrustedModel { name: given.model_name.clone() }),
    }
}

/// Returns an error unless what would be embedded now goes with what is stored.
pub(super) fn check_binding(bound: &Binding, wanted: &Binding) -> Result<()> {
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
pub(super) fn keep_wish(
    context: &Context,
    model: Option<&String>,
    model_dir: Option<&PathBuf>,
) -> Result<()> {
    if let Some(dir) = model_dir {
        let dir = context::absolute(dir)?.display().to_string();
        return config::set(context, "embedding.model_dir", &dir);
    }
    if let Some(model) = model {
        if context.resolved.file_sets("embedding.model_dir") {
            config::set(context, "embedding.model_dir", "")?;
        }
        if context.resolved.file_sets("embedding.model") {
            config::set(context, "embedding.model", model)?;
        }
    }
    Ok(())
}

impl Wish {
    /// Returns the name databases would be bound to.
    fn name(&self) -> String {
        self.choice.name()
    }

    /// Finds model and runtime library on this machine, without network.
    pub(super) fn locate(&self) -> Result<Installed> {
        embed::locate(&self.choice, &self.locations)
    }

    /// Finds model and runtime library, fetching what is missing.
    pub(super) fn install(&self) -> Result<Installed> {
        if !self.may_fetch && embed::locate_model(&self.choice, &self.locations).is_err() {
            return Err(Error::UntrustedModel { name: self.name() });
        }
        let mut progress = FetchProgress::new();
        embed::install(&self.choice, &self.locations, &mut |event| progress.on_event(event))
    }

    /// Finds model and runtime library, or does what `kb init` does, saying so.
    pub(super) fn locate_or_install(&self) -> Result<Installed> {
        match self.locate() {
            Err(Error::NotInstalled { .. }) if !self.may_fetch => self.install(),
            Err(Error::NotInstalled { what }) => {
                voice::say(&format!("{what} is not installed: fetching it now, as `kb init` does"));
                self.install()
            }
            other => other,
        }
    }

    /// Returns what vectors of this model would be bound to.
    pub(super) fn binding(&self, installed: &Installed) -> Binding {
        installed.binding(&self.options)
    }

    /// Opens the model for one query against vectors bound to `bound`.
    pub(super) fn open_for_query(mut self, bound: Option<&Binding>) -> Result<Box<dyn Embedder>> {
        self.options.num_threads = QUERY_THREADS.min(num_cores());
        let installed = self.locate_bound(bound)?;
        self.tell(&installed);
        let mut progress = FetchProgress::new();
        embed::open_lone(&installed, &self.options, &mut |event| progress.on_event(event))
    }

    /// Opens the model for texts that come one after the other, to be compared with vectors bound to
    /// `bound`.
    pub(super) fn open_for_texts(&self, bound: Option<&Binding>) -> Result<Box<dyn Embedder>> {
        Ok(Box::new(open(&self.locate_bound(bound)?, &self.options)?))
    }

    fn tell(&self, installed: &Installed) {
        let (name, dir) = (self.name(), installed.model_dir.display());
        voice::detail(&format!("model: {name} {} in {dir}", self.options.precision));
        voice::detail(&format!("ONNX Runtime: {}", installed.runtime.display()));
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
    pub(super) fn open_for_passages(&self, installed: &Installed) -> Result<LazyModel> {
        self.tell(installed);
        Ok(LazyModel::new(
            embed::tokenizer(installed, &self.options)?,
            self.binding(installed),
            installed.clone(),
            self.options.clone(),
        ))
    }
}

/// Returns the processors this process may use, without starting the threads that rayon would.
pub(super) fn num_cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

fn open(installed: &Installed, options: &OpenOptions) -> Result<OnnxEmbedder> {
    let mut progress = FetchProgress::new();
    embed::open(installed, options, &mut |event| progress.on_event(event))
}

/// Returns the tokenizer of vectors bound to `bound`; `None` where the model is not on this machine.
pub(super) fn tokenizer(context: &Context, bound: Option<&Binding>) -> Option<Tokenizer> {
    let wish = wish(context, bound).ok()?;
    embed::tokenizer(&wish.locate().ok()?, &wish.options).ok()
}

/// Reports what is there, fetching nothing.
pub(super) fn setup(context: &Context, binding: Option<Binding>) -> Setup {
    let wish = wish(context, binding.as_ref());
    let installed = wish.as_ref().ok().and_then(|it| it.locate().ok());
    let model_dir = match (&installed, &wish) {
        (Some(installed), _) => Some(installed.model_dir.clone()),
        (None, Ok(wish)) => embed::locate_model(&wish.choice, &wish.locations).ok(),
        (None, Err(_)) => None,
    };
    Setup {
        data_dir: context.data_dir().to_owned(),
        database: context.database(),
        model_configured: wish
            .map_or_else(|_| context.config().embedding.model.clone(), |it| it.name()),
        model_dir,
        runtime: installed.map(|it| it.runtime),
        binding,
        ocr: ocr::setup(context),
        agent_skills: skill::agent_skills(&context.environment),
    }
}
