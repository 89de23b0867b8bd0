//! Adds files, folders, a note, or a document from a stream.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::app::chunking::chunking;
use crate::app::error_log::ErrorLog;
use crate::app::observer::Event;
use crate::app::read::walk_options;
use crate::app::relocate::follow_database;
use crate::app::session::absolute;
use crate::app::{Observer, Session, erase, languages, last_update, model, ocr};
use crate::document::{DocType, Language};
use crate::error::{Error, Result};
use crate::extract::sandbox::ReadOptions;
use crate::ingest::detect::TypeOverride;
use crate::ingest::reach::Reach;
use crate::ingest::roots::Roots;
use crate::ingest::walk::Start;
use crate::ingest::{self, ChunkingOptions, IngestOptions, IngestReport, Services};
use crate::store::{Allowed, AllowedFolder, DocumentId, Root, Store};
use crate::text::paths;

/// The variable with the password of encrypted documents.
const PASSWORD_VARIABLE: &str = "KB_PASSWORD";

/// The source of documents.
#[derive(Debug, Clone)]
pub enum Source {
    /// Files and folders, as typed.
    Paths(Vec<PathBuf>),
    /// The bytes of a document from a stream.
    Bytes(Vec<u8>),
    /// The text of a note, and the note that it replaces.
    Note(String, Option<DocumentId>),
    /// Notes that are stored and are split again.
    StoredNotes(Vec<DocumentId>),
}

/// A request to add documents.
#[derive(Debug, Clone)]
pub struct AddRequest {
    /// Where the documents come from.
    pub source: Source,
    /// Title that overrides the document's own; for a single document only.
    pub title: Option<String>,
    /// Tags for every document.
    pub tags: Vec<String>,
    /// Type of the files; overrides the one their names suggest.
    pub doc_type: Option<DocType>,
    /// Programming language of the files.
    pub language: Option<Language>,
    /// Whether links in folders are followed, whatever the settings.
    pub follows_links: bool,
    /// Password of encrypted documents; by default that of the variable `KB_PASSWORD`.
    pub password: Option<String>,
    /// Time for a run that the user did not ask for: longer documents fail, failures are not logged, the model
    /// is not fetched, and a database in use is not waited for.
    pub time_limit: Option<Duration>,
    /// Documents whose files are read even if they are unchanged.
    pub rereads: Arc<HashSet<DocumentId>>,
}

impl AddRequest {
    /// Returns a request for a source without options.
    pub fn of(source: Source) -> Self {
        Self {
            source,
            title: None,
            tags: Vec::new(),
            doc_type: None,
            language: None,
            follows_links: false,
            password: None,
            time_limit: None,
            rereads: Arc::default(),
        }
    }
}

/// Adds documents. Returns the report, and the given paths as absolute paths.
pub fn add(
    session: &Session,
    request: &AddRequest,
    observer: &dyn Observer,
) -> Result<(IngestReport, Vec<PathBuf>)> {
    session.require_writable()?;
    let roots = check(request)?;
    let report = ingest(session, request, Walks::Named(&roots), observer)?;
    Ok((report, roots))
}

/// Returns the paths that a request names, made absolute, if what it asks for goes together.
pub(super) fn check(request: &AddRequest) -> Result<Vec<PathBuf>> {
    let typed: &[PathBuf] = match &request.source {
        Source::Paths(paths) => paths,
        Source::Bytes(_) | Source::Note(..) | Source::StoredNotes(_) => &[],
    };
    let roots = typed.iter().map(|path| absolute(path)).collect::<Result<Vec<_>>>()?;
    check_title(request, &roots)?;
    check_kind(request)?;
    if let Source::Note(text, _) = &request.source {
        ingest::check_note(text)?;
    }
    // Conflicting options are refused before files are read.
    TypeOverride::new(request.doc_type, request.language)?;
    if let [root] = roots.as_slice()
        && root.symlink_metadata().is_err()
    {
        return Err(Error::PathNotFound { path: typed[0].clone() });
    }
    Ok(roots)
}

/// Returns where the walks of named paths start: each also at the added folders below it.
pub(super) fn starts(
    session: &Session,
    store: Option<&Store>,
    named: &[PathBuf],
    wanted: TypeOverride,
) -> Result<Vec<Start>> {
    let follows_all = session.config().ingestion.follow_links;
    let roots = store.map(|store| Roots::of(store, follows_all)).transpose()?.unwrap_or_default();
    Ok(named.iter().flat_map(|path| roots.starts_of_named(path, wanted)).collect())
}

/// Returns the error of a run that added nothing: that of the only file, if it was named itself, or that
/// there are no files. Callers that show the complete report do not need it.
pub fn failure(
    request: &AddRequest,
    roots: &[PathBuf],
    report: &mut IngestReport,
) -> Option<Error> {
    let Source::Paths(typed) = &request.source else { return None };
    if report.is_success() {
        return None;
    }
    if let ([root], [typed], [(path, _)]) = (roots, typed.as_slice(), report.failed.as_slice())
        && root == path
    {
        return report.failed.pop().map(|(_, error)| error.in_file(typed));
    }
    if !report.found_nothing() {
        return None;
    }
    let names: Vec<String> = typed.iter().map(|path| path.display().to_string()).collect();
    Some(Error::Usage {
        message: format!("there are no files in {}", names.join(", ")),
        hint: Some("hidden files and those listed in .gitignore are left out".into()),
    })
}

/// Which files a run reads.
#[derive(Debug, Clone, Copy)]
pub(super) enum Walks<'a> {
    /// Those at paths that the user names; folders are remembered.
    Named(&'a [PathBuf]),
    /// Those of known folders and files. Nothing is remembered, and documents keep their tags.
    Known(&'a [Start]),
}

/// Ingests files, or the text of the request, into the session's database.
pub(super) fn ingest(
    session: &Session,
    request: &AddRequest,
    walks: Walks<'_>,
    observer: &dyn Observer,
) -> Result<IngestReport> {
    let mut store = session.open_store()?;
    if matches!(walks, Walks::Known(_)) {
        // What the caller read before may have changed: the list of bases can have become unreadable.
        session.require_files(&store)?;
    }
    if let Some(limit) = request.time_limit {
        store.wait_at_most(limit)?;
    }
    let bound = store.binding()?;
    model::check_selection(session, bound.as_ref())?;
    let selection = model::select(session, bound.as_ref())?;
    let installed = match request.time_limit {
        Some(_) => selection.locate()?,
        None => selection.locate_or_install(observer)?,
    };
    store.bind(&selection.binding(&installed))?;
    let model = selection.open_for_passages(&installed, observer)?;
    let tokenizer = &model.tokenizer;
    let chunking = chunking(session.config(), tokenizer.max_tokens(), tokenizer.num_overhead());
    let mut options = options(session, request, chunking, observer)?;
    options.keeps_tags = matches!(walks, Walks::Known(_));
    let (new_roots, starts) = match walks {
        Walks::Named(named) => {
            follow_database(session, &mut store, observer)?;
            let new_roots = remember_named(session, &mut store, request, named, observer)?;
            (new_roots, starts(session, Some(&store), named, options.wanted)?)
        }
        Walks::Known(starts) => (Vec::new(), starts.to_vec()),
    };
    let num_tokens = |text: &str| model.tokenizer.num_tokens(text);
    let services = Services { num_tokens: &num_tokens, embedder: &model };

    let mut log = ErrorLog::of(session);
    let is_single = matches!(starts.as_slice(), [start] if !start.path().is_dir());
    let walk = matches!(request.source, Source::Paths(_)).then(|| options.walk.clone());
    observer.on_event(Event::IngestBegins { starts: &starts, walk, is_single });
    let mut on_event = |event: ingest::Event<'_>| {
        if let ingest::Event::Failed { path, error } = &event
            && request.time_limit.is_none()
        {
            log.append(path, error, observer);
        }
        observer.on_event(Event::Ingest(&event));
    };
    let mut run = ingest::Run {
        store: &mut store,
        services: &services,
        options: &options,
        on_event: &mut on_event,
        report: IngestReport::default(),
    };
    let start = Instant::now();
    let outcome = match &request.source {
        Source::Note(text, replaced) => run.ingest_note(text, *replaced),
        Source::Bytes(bytes) => run.ingest_bytes(bytes),
        Source::StoredNotes(ids) => run.reread_notes(ids),
        Source::Paths(_) => run.ingest(&starts),
    };
    let report = run.report;
    observer.on_event(Event::IngestEnds {
        report: &report,
        error: outcome.as_ref().err(),
        log: log.path(),
    });
    if matches!(outcome, Err(Error::Cancelled)) {
        erase::finish(store, observer)?;
        return Err(Error::Cancelled);
    }
    outcome?;
    // Otherwise every update would report a mistyped folder as empty.
    if report.found_nothing() {
        for root in &new_roots {
            store.forget_root(root)?;
        }
    }
    store.encode_vectors()?;
    if matches!(walks, Walks::Named(_)) {
        let name = selection.binding(&installed).model_name;
        languages::note(&name, &report, start.elapsed(), &store, observer)?;
        if last_update::covers_all(&store, &starts)? {
            last_update::note(&mut store)?;
        }
    }
    erase::finish(store, observer)?;
    Ok(report)
}

/// Remembers the named folders before reading them, so that they are also remembered after an interruption,
/// and follows them and the named files. Returns the folders that are new.
fn remember_named(
    session: &Session,
    store: &mut Store,
    request: &AddRequest,
    paths: &[PathBuf],
    observer: &dyn Observer,
) -> Result<Vec<String>> {
    let mut named = Allowed::default();
    let mut roots = Vec::new();
    let followed = Roots::of(store, false)?;
    for path in paths {
        let path = &paths::clean(path);
        let Some(real_path) = Reach::named(path).ok().and_then(|reach| reach.real_path()) else {
            // It is reported when it is read.
            continue;
        };
        let text = paths::path_text(path);
        if !path.is_dir() {
            if followed.folder_of(path).is_none() || real_path != text {
                named.files.insert(text, real_path);
            }
            continue;
        }
        let root = Root {
            path: text.clone(),
            tags: request.tags.clone(),
            doc_type: request.doc_type,
            language: request.language.map(|language| language.as_str().to_owned()),
            follows_links: request.follows_links,
            real_path: Some(real_path.clone()),
        };
        named.folders.insert(text, AllowedFolder::of(&root, real_path));
        roots.push(root);
    }
    let allowed = session.follow_named(store, named).unwrap_or_else(|error| {
        observer.warn(&format!("`kb update` will not follow what you named: {error}"));
        Allowed::default()
    });
    let known: HashSet<String> = store.all_roots()?.into_iter().map(|root| root.path).collect();
    let mut new = Vec::new();
    for root in roots {
        let path = paths::path_of(&root.path);
        if let Some(old) = paths::old_text(&root.path).filter(|old| paths::path_of(old) == path) {
            store.rename_path(&old, &root.path)?;
        } else if !known.contains(&root.path) {
            new.push(root.path.clone());
        }
        let Some(folder) = allowed.folders.get(&root.path) else {
            store.remember_root(&root)?;
            continue;
        };
        let (doc_type, language) = (folder.doc_type, folder.language.clone());
        let root = Root { doc_type, language, follows_links: folder.follows_links, ..root };
        store.remember_root(&root)?;
        if !store.roots()?.iter().any(|followed| followed.path == root.path) {
            // Someone else had given it other options.
            store.forget_root(&root.path)?;
            store.remember_root(&root)?;
        }
    }
    Ok(new)
}

/// Refuses a type or language for a note.
fn check_kind(request: &AddRequest) -> Result<()> {
    let is_other = request.doc_type.is_some_and(|doc_type| doc_type != DocType::Note)
        || request.language.is_some();
    if !matches!(request.source, Source::Note(..)) || !is_other {
        return Ok(());
    }
    Err(Error::usage("`--type` and `--language` apply to files, not to `--note`"))
}

/// Refuses a title for more than one document.
fn check_title(request: &AddRequest, roots: &[PathBuf]) -> Result<()> {
    let is_single = match request.source {
        Source::Paths(_) => matches!(roots, [root] if !root.is_dir()),
        Source::Bytes(_) | Source::Note(..) | Source::StoredNotes(_) => true,
    };
    if request.title.is_none() || is_single {
        return Ok(());
    }
    Err(Error::Usage {
        message: "`--title` applies to a single file or a note".into(),
        hint: Some("add the files one by one, or leave out the title".into()),
    })
}

/// Returns how files are read, with the settings and the options of the request.
pub(super) fn options(
    session: &Session,
    request: &AddRequest,
    chunking: ChunkingOptions,
    observer: &dyn Observer,
) -> Result<IngestOptions> {
    let config = session.config();
    let mut pdf = ReadOptions::new(reading_program(session)?);
    pdf.password = password(session, request)?;
    pdf.ocr = ocr::options(session);
    let limit = request.time_limit;
    if let Some(limit) = limit {
        (pdf.wall, pdf.wall_per_page) = (limit, Duration::ZERO);
    }
    let settings = &config.ingestion;
    pdf.notebook_outputs = settings.notebook_outputs;
    pdf.max_cpu = limit.unwrap_or(Duration::from_secs(settings.max_cpu_seconds.into()));
    pdf.is_cancelled = observer.cancel_flag();
    Ok(IngestOptions {
        walk: walk_options(session, request.follows_links),
        wanted: TypeOverride::new(request.doc_type, request.language)?,
        title: request.title.clone(),
        tags: request.tags.clone(),
        chunking,
        num_workers: settings.workers as usize,
        batch_size: settings.batch_size as usize,
        num_embedders: model::num_cores(),
        max_cpu: pdf.max_cpu,
        is_cancelled: Arc::clone(&pdf.is_cancelled),
        pdf,
        keeps_tags: false,
        rereads: Arc::clone(&request.rereads),
    })
}

/// Returns the program that reads untrusted formats.
pub(super) fn reading_program(session: &Session) -> Result<PathBuf> {
    let this = || {
        std::env::current_exe().map_err(|source| Error::Io { path: PathBuf::from("kb"), source })
    };
    session.reader.clone().map_or_else(this, Ok)
}

/// Returns the password of encrypted documents: from the flag, else from the variable, which other users
/// of the machine cannot see.
fn password(session: &Session, request: &AddRequest) -> Result<Option<String>> {
    let variable = || {
        let value = session.environment.get(PASSWORD_VARIABLE)?;
        Some(value.to_str().map(str::to_owned).ok_or_else(|| Error::Config {
            path: PASSWORD_VARIABLE.into(),
            message: "not UTF-8".into(),
            hint: Some(format!("set {PASSWORD_VARIABLE} to UTF-8 text, or use `--password`")),
        }))
    };
    request.password.clone().map(Ok).or_else(variable).transpose()
}
