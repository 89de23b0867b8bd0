//! Reads files and notes into the session's database; what `kb add`, `kb update` and a search of changed files share.

pub(crate) mod options;
pub(crate) mod request;

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Instant;

use self::options::ingest_options;
use self::request::{AddRequest, DocumentSource};
use crate::app::indexing::relocate::follow_database;
use crate::app::indexing::vectors::PassageModel;
use crate::app::indexing::{languages, last_update};
use crate::app::session::erase;
use crate::app::session::error_log::ErrorLog;
use crate::app::session::observer::AppEvent;
use crate::app::session::running::Announcement;
use crate::app::{Observer, Session};
use crate::error::{Error, Result};
use crate::extract::detect::TypeOverride;
use crate::extract::sandbox::NO_SANDBOX;
use crate::files::reach::Reach;
use crate::ingest::roots::Roots;
use crate::ingest::walk::Start;
use crate::ingest::{self, IngestReport, mounts};
use crate::store::{AddedFolder, AllowedFolder, AllowedPaths, Store};
use crate::text::paths;
use crate::wording::{kb, wording};

/// Which files a run reads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Walks<'a> {
    /// Those at paths that the user names; folders are remembered.
    Named(&'a [PathBuf]),
    /// Those of known folders and files. Nothing is remembered, and documents keep their tags.
    Known(&'a [Start]),
}

/// Ingests files, or the text of the request, into the session's database.
pub(crate) fn ingest(
    session: &Session,
    request: &AddRequest,
    walks: Walks<'_>,
    observer: &dyn Observer,
) -> Result<IngestReport> {
    let mut store = session.open_store()?;
    if matches!(walks, Walks::Known(_)) {
        // The data that the caller read before may have changed: the list of bases can have become unreadable.
        session.require_files(&store)?;
    }
    if let Some(limit) = request.time_limit {
        store.wait_at_most(limit)?;
    }
    let is_announced =
        matches!(request.source, DocumentSource::Paths(_)) && request.time_limit.is_none();
    let mut announcement = is_announced.then(|| Announcement::begin(session, request.command));
    let model = PassageModel::open(session, &mut store, request.time_limit, observer)?;
    let mut options = ingest_options(session, request, model.chunking(session), observer)?;
    options.keeps_tags = matches!(walks, Walks::Known(_));
    let (new_roots, starts) = match walks {
        Walks::Named(named) => {
            follow_database(session, &mut store, observer)?;
            let new_roots = remember_named(session, &mut store, request, named, observer)?;
            (new_roots, starts(session, Some(&store), named, options.wanted)?)
        }
        Walks::Known(starts) => (Vec::new(), starts.to_vec()),
    };

    let mut log = ErrorLog::of(session);
    let is_single = matches!(starts.as_slice(), [start] if !start.path().is_dir());
    let walk = matches!(request.source, DocumentSource::Paths(_)).then(|| options.walk.clone());
    if let (Some(announcement), Some(walk)) = (&mut announcement, &walk) {
        announcement.will_read(&starts, walk);
    }
    if let Some(note) = NO_SANDBOX.filter(|_| matches!(walks, Walks::Named(_)) && walk.is_some()) {
        observer.note(wording!("{} (`{}` says more)", note, kb("doctor")));
    }
    observer.on_event(AppEvent::IngestBegins { starts: &starts, walk, is_single });
    let mut run = ingest::IngestRun {
        store: &mut store,
        embedder: model.embedder(),
        options: &options,
        on_event: &mut |event| {
            if let ingest::IngestEvent::Failed { path, error } = &event
                && request.time_limit.is_none()
            {
                log.append(path, error, observer);
            }
            if let Some(announcement) = &mut announcement {
                announcement.on_event(&event);
            }
            observer.on_event(AppEvent::Ingest(&event));
        },
        report: IngestReport::default(),
    };
    let start = Instant::now();
    let outcome = match &request.source {
        DocumentSource::Note(text, replaced) => run.ingest_note(text, *replaced),
        DocumentSource::Bytes(bytes) => run.ingest_bytes(bytes),
        DocumentSource::StoredNotes(ids) => run.reread_notes(ids),
        DocumentSource::Paths(_) => run.ingest(&starts),
    };
    let report = run.report;
    observer.on_event(AppEvent::IngestEnds {
        report: &report,
        error: outcome.as_ref().err(),
        log: log.path(),
    });
    // A cancelled run has stored some documents, whose old versions must not stay readable.
    if matches!(outcome, Err(Error::Cancelled)) {
        erase::finish(store, observer)?;
        return Err(Error::Cancelled);
    }
    outcome?;
    // A new folder without documents is forgotten; otherwise every update would report a mistyped one as empty.
    if report.found_nothing() {
        for root in &new_roots {
            store.forget_root(root)?;
        }
    }
    // This also runs if files have only moved, which count as skipped.
    let roots = Roots::of(&store, false)?;
    mounts::note_new(&mut store, &roots)?;
    store.encode_vectors()?;
    if matches!(walks, Walks::Named(_)) {
        if let Some(name) = model.name() {
            languages::note(name, &report, start.elapsed(), &store, observer)?;
        }
        if last_update::covers_all(&store, &starts)? {
            last_update::remember(&mut store)?;
        }
    }
    erase::finish(store, observer)?;
    Ok(report)
}

/// Returns where the walks of named paths start: each also at the added folders below it.
pub(crate) fn starts(
    session: &Session,
    store: Option<&Store>,
    named: &[PathBuf],
    wanted: TypeOverride,
) -> Result<Vec<Start>> {
    let follows_all = session.config().ingestion.follow_links;
    let roots = store.map(|store| Roots::of(store, follows_all)).transpose()?.unwrap_or_default();
    Ok(named.iter().flat_map(|path| roots.starts_of_named(path, wanted)).collect())
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
    let mut named = AllowedPaths::default();
    let mut roots = Vec::new();
    let followed = Roots::of(store, false)?;
    for path in paths {
        let path = &paths::clean(path);
        let Some(real_path) = Reach::named(path).ok().and_then(|reach| reach.real_path()) else {
            // A missing path is reported when it is read.
            continue;
        };
        let text = paths::path_text(path);
        if !path.is_dir() {
            if followed.folder_of(path).is_none() || real_path != text {
                named.files.insert(text, real_path);
            }
            continue;
        }
        let root = AddedFolder {
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
        let update = kb("update");
        observer.warn(
            wording!("`{}` will not read these files and folders again: ", update)
                .then(error.message()),
        );
        AllowedPaths::default()
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
        let root = AddedFolder { doc_type, language, follows_links: folder.follows_links, ..root };
        store.remember_root(&root)?;
        if !store.roots()?.iter().any(|followed| followed.path == root.path) {
            // The database has the folder with options of someone else, which are replaced by those that were allowed.
            store.forget_root(&root.path)?;
            store.remember_root(&root)?;
        }
    }
    Ok(new)
}
