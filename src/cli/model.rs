//! Which model a command uses, where its files are, and what the database was built with.
//!
//! A wish is what the user wrote: a flag, a variable, the file. Where nothing was written the
//! database's own binding holds, and a new database takes the default. So a default never
//! disagrees with a database, and only a written wish can be a mismatch.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{panic, thread};

use crate::cli::context::Context;
use crate::cli::progress::FetchProgress;
use crate::cli::{config, context, ocr, skill, voice};
use crate::config::{Origin, PrecisionWord};
use crate::document::{Binding, Precision};
use crate::embed;
use crate::embed::{
    Embedder, Installed, Locations, ModelChoice, OnnxEmbedder, OpenOptions, Side, Tokenizer,
};
use crate::error::{Error, Result};
use crate::present::Setup;
use crate::store::Store;

/// Threads that embed a lone query: it is bound by reading the weights, which two threads share;
/// more cost more to start than they save.
const QUERY_THREADS: usize = 2;

/// The model a command uses and how.
pub(super) struct Wish {
    choice: ModelChoice,
    options: OpenOptions,
    locations: Locations,
}

/// Returns the model that the settings and the database's binding come to.
pub(super) fn wish(context: &Context, bound: Option<&Binding>) -> Result<Wish> {
    let settings = &context.config().embedding;
    let is_written = |key: &str| *context.resolved.origin(key) != Origin::Default;
    let layer = |key: &str| context.resolved.origin(key).layer();
    // A directory in the file does not outweigh a name in the environment.
    let is_directory = !settings.model_dir.as_os_str().is_empty()
        && layer("embedding.model_dir") >= layer("embedding.model");
    let choice = if is_directory {
        ModelChoice::Directory(context::absolute(&settings.model_dir)?)
    } else if is_written("embedding.model") {
        ModelChoice::named(&settings.model)?
    } else if let Some(bound) = bound {
        ModelChoice::named(&bound.model_name)
            .map_err(|_| Error::NoModelFiles { name: bound.model_name.clone(), path: None })?
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
    Ok(Wish { choice, options, locations: locations(context) })
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
        let mut progress = FetchProgress::new();
        embed::install(&self.choice, &self.locations, &mut |event| progress.on_event(event))
    }

    /// Finds model and runtime library, or does what `kb init` does, saying so.
    pub(super) fn locate_or_install(&self) -> Result<Installed> {
        match self.locate() {
            Err(Error::NotInstalled { what }) => {
                voice::say(&format!("{what} is not installed: fetching it now, as `kb init` does"));
                self.install()
            }
            other => other,
        }
    }

    /// Compares every byte of the model's files and of the runtime library with the checksums that
    /// are known; `false` if none of the model's is.
    pub(super) fn verify(&self, installed: &Installed) -> Result<bool> {
        embed::verify_runtime(&installed.runtime, &self.locations)?;
        let Some(spec) = installed.spec else { return Ok(false) };
        embed::verify(&installed.model_dir, spec)?;
        Ok(true)
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
        Ok(LazyModel {
            tokenizer: embed::tokenizer(installed, &self.options)?,
            binding: self.binding(installed),
            installed: installed.clone(),
            options: self.options.clone(),
            embedder: Mutex::new(None),
        })
    }
}

fn open(installed: &Installed, options: &OpenOptions) -> Result<OnnxEmbedder> {
    let mut progress = FetchProgress::new();
    embed::open(installed, options, &mut |event| progress.on_event(event))
}

/// Returns the processors this process may use.
pub(super) fn num_cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does `work` on every item, on all processors; the answers are in the order of the items. What
/// fails first ends it.
pub(super) fn on_all_cores<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let next = AtomicUsize::new(0);
    let share = || -> Result<Vec<(usize, R)>> {
        let mut done = Vec::new();
        while let idx = next.fetch_add(1, Ordering::Relaxed)
            && let Some(item) = items.get(idx)
        {
            // Nobody needs the rest of what has failed.
            let answer = work(item).inspect_err(|_| next.store(items.len(), Ordering::Relaxed))?;
            done.push((idx, answer));
        }
        Ok(done)
    };
    let mut done = thread::scope(|scope| {
        let workers: Vec<_> = (0..num_cores()).map(|_| scope.spawn(share)).collect();
        let mut done = Vec::with_capacity(items.len());
        for worker in workers {
            let answers = worker.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
            done.extend(answers?);
        }
        Ok::<_, Error>(done)
    })?;
    done.sort_unstable_by_key(|it| it.0);
    Ok(done.into_iter().map(|it| it.1).collect())
}

/// What answers one query after the other: a model that is loaded when the first comes, and the
/// connections that earlier ones have left.
#[derive(Default)]
pub(super) struct Warm {
    slot: Mutex<Option<Arc<dyn Embedder>>>,
    stores: Mutex<Vec<Store>>,
}

impl Warm {
    /// Returns the database to read, `None` where there is none: opened, or left by an earlier query
    /// and still what would be opened.
    pub(super) fn store(&self, context: &Context) -> Result<Option<Store>> {
        let left = self.stores().pop();
        match left.filter(Store::is_current) {
            Some(store) => Ok(Some(store)),
            None => context.open_existing(),
        }
    }

    /// Keeps a connection for the next query.
    pub(super) fn give_back(&self, store: Store) {
        self.stores().push(store);
    }

    /// Closes all connections.
    pub(super) fn close(&self) -> Result<()> {
        let stores = std::mem::take(&mut *self.stores());
        stores.into_iter().try_for_each(Store::close)
    }

    fn stores(&self) -> MutexGuard<'_, Vec<Store>> {
        self.stores.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the embedder for vectors bound to `bound`, loading it if another one is loaded.
    pub(super) fn get(
        &self,
        context: &Context,
        bound: Option<&Binding>,
    ) -> Result<Arc<dyn Embedder>> {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(embedder) = &*slot
            && bound.is_none_or(|it| it == embedder.binding())
        {
            return Ok(Arc::clone(embedder));
        }
        let embedder: Arc<dyn Embedder> = wish(context, bound)?.open_for_query(bound)?.into();
        *slot = Some(Arc::clone(&embedder));
        Ok(embedder)
    }
}

/// Returns the tokenizer of vectors bound to `bound`; `None` where the model is not on this machine.
pub(super) fn tokenizer(context: &Context, bound: Option<&Binding>) -> Option<Tokenizer> {
    let wish = wish(context, bound).ok()?;
    embed::tokenizer(&wish.locate().ok()?, &wish.options).ok()
}

/// A model that is loaded when the first passage comes: a run that finds nothing new never
/// loads it.
pub(super) struct LazyModel {
    /// Counts tokens as the model does.
    pub(super) tokenizer: Tokenizer,
    binding: Binding,
    installed: Installed,
    options: OpenOptions,
    embedder: Mutex<Option<Arc<OnnxEmbedder>>>,
}

impl LazyModel {
    /// Loads the model, if that has not happened yet.
    pub(super) fn get(&self) -> Result<Arc<OnnxEmbedder>> {
        let mut slot = self.embedder.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(embedder) = &*slot {
            return Ok(Arc::clone(embedder));
        }
        let embedder = Arc::new(open(&self.installed, &self.options)?);
        *slot = Some(Arc::clone(&embedder));
        Ok(embedder)
    }
}

impl Embedder for LazyModel {
    fn embed_passages(&self, passages: &[&str]) -> Result<Vec<Vec<f32>>> {
        self.get()?.embed_passages(passages)
    }

    fn embed_cut(&self, text: &str, side: Side) -> Result<(Vec<f32>, bool)> {
        self.get()?.embed_cut(text, side)
    }

    fn num_tokens(&self, text: &str) -> usize {
        self.tokenizer.num_tokens(text)
    }

    fn num_unknown(&self, text: &str) -> usize {
        self.tokenizer.num_unknown(text)
    }

    fn binding(&self) -> &Binding {
        &self.binding
    }
}

/// Returns where models and the runtime library may be, as the environment says.
pub(super) fn locations(context: &Context) -> Locations {
    let environment = &context.environment;
    let home = environment.home();
    let user_cache = environment.path("XDG_CACHE_HOME").unwrap_or_else(|| home.join(".cache"));
    let hf_home = environment.path("HF_HOME").unwrap_or_else(|| user_cache.join("huggingface"));
    let text = |name: &str| environment.get(name).map(|it| it.to_string_lossy().into_owned());
    Locations {
        cache_dir: environment.path("KB_CACHE_DIR").unwrap_or_else(|| user_cache.join("kb")),
        hf_cache_dir: environment.path("HF_HUB_CACHE").unwrap_or_else(|| hf_home.join("hub")),
        hf_endpoint: text("HF_ENDPOINT"),
        hf_token: text("HF_TOKEN"),
        runtime_path: environment.path("ORT_DYLIB_PATH"),
        library_dirs: Locations::system_library_dirs(),
        python: python(),
    }
}

/// Returns where kb keeps what it derives from models.
pub(super) fn cache_dir(context: &Context) -> PathBuf {
    locations(context).cache_dir
}

/// Returns the Python of the environment this program was installed in, if it was installed as a
/// Python package, for that has an ONNX Runtime; else the one that is found by its name.
fn python() -> PathBuf {
    let program = std::env::current_exe().and_then(|it| it.canonicalize());
    let beside = program.map(|it| it.with_file_name("python3"));
    beside.ok().filter(|it| it.is_file()).unwrap_or_else(|| PathBuf::from("python3"))
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
