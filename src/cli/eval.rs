//! `kb eval`.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::app::add::{AddRequest, Source};
use crate::app::session::absolute;
use crate::app::{self, model};
use crate::cli::args;
use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::ui::ended;
use crate::document::{DocumentId, Filter};
use crate::embed::Embedder;
use crate::error::{Error, Result};
use crate::eval::{self, Evaluation, Judged, beir, known_item};
use crate::files::open::{self, Links};
use crate::files::write;
use crate::present::json;
use crate::search::{LegSelection, SearchOptions};
use crate::store::Store;

pub(super) fn run(context: &Context, args: &args::Eval) -> Result<ExitStatus> {
    let evaluations = match &args.folder {
        Some(folder) => of_folder(context, args, folder)?,
        None => of_own(context, args)?,
    };
    context.present(
        args.format.format,
        |out| json::eval(&evaluations, out),
        |human, out| human.eval(&evaluations, out),
    )?;
    Ok(ExitStatus::Success)
}

/// Asks what the documents themselves say.
fn of_own(context: &Context, args: &args::Eval) -> Result<Vec<(String, Evaluation)>> {
    let store = context
        .session
        .open_existing()?
        .filter(|it| it.stats().is_ok_and(|it| it.total_chunks > 0));
    let store = store.ok_or_else(|| Error::Usage {
        message: "there is nothing to search yet".into(),
        hint: Some("add documents with `kb add`, or name a folder with judgments".into()),
    })?;
    let found = known_item::questions(&store, args.queries as usize)?;
    [("headings", found.headings), ("phrases", found.phrases)]
        .into_iter()
        .map(|(name, judged)| Ok((name.to_owned(), measure(context, &store, &judged)?)))
        .collect()
}

/// Adds the documents of a folder to a database of its own and asks the folder's questions.
fn of_folder(
    context: &Context,
    args: &args::Eval,
    folder: &Path,
) -> Result<Vec<(String, Evaluation)>> {
    let collection = beir::read(folder)?;
    let folder = absolute(folder)?;
    let name = folder.file_name().map_or("eval".into(), |it| it.to_string_lossy().into_owned());
    let work = match &args.work {
        Some(work) => absolute(work)?,
        None => context.session.data_dir().join("eval").join(&name),
    };
    let files = work.join("files");
    let io = |path: &Path, source| Error::Io { path: path.to_owned(), source };
    write::create_folder(&files).map_err(|source| io(&files, source))?;
    let mut names: HashMap<String, PathBuf> = HashMap::new();
    for (number, document) in collection.documents.iter().enumerate() {
        let path = files.join(format!("d{number:06}.{}", args.extension));
        let title = document.title.trim();
        let head = if title.is_empty() || args.extension != "md" {
            String::new()
        } else {
            format!("# {title}\n\n")
        };
        let text = format!("{head}{}\n", document.text.trim());
        let before = open::read(&path, Links::RefuseBelow(&files), text.len() as u64);
        if before.ok().as_deref() != Some(text.as_bytes()) {
            write::renew(&path, text.as_bytes()).map_err(|source| io(&path, source))?;
        }
        names.insert(document.id.clone(), path);
    }
    // What an earlier corpus of this name left goes, and nothing that is not written here: the
    // directory is the user's choice, and may hold documents of theirs.
    let wanted: HashSet<&PathBuf> = names.values().collect();
    let is_left = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.parent() == Some(&files) && is_written_here(&name) && !wanted.contains(path)
    };
    for entry in open::list(&files, Links::Follow)? {
        let path = files.join(entry.name);
        if is_left(&path) {
            write::remove(&path).map_err(|source| io(&path, source))?;
        }
    }
    let context = context.at(&work)?;
    let request = AddRequest::of(Source::Paths(vec![files.clone()]));
    let interrupt = context.ui.listen();
    ended(app::add::add(&context.session, &request, &context.ui), &interrupt)?;
    let mut store = context.session.open_store()?;
    let mut documents: HashMap<String, DocumentId> = store
        .documents(&Filter::default())?
        .into_iter()
        .filter_map(|it| Some((it.path?, it.id)))
        .collect();
    for (_, id) in documents.extract_if(|path, _| is_left(&crate::text::paths::path_of(path))) {
        store.remove(id)?;
    }
    let of_document = |(id, grade): (&String, &u32)| {
        let path = crate::text::paths::path_text(names.get(id)?);
        Some((*documents.get(&path)?, *grade))
    };
    let judged: Vec<Judged> = collection
        .queries
        .iter()
        .take(args.queries as usize)
        .map(|query| Judged {
            query: query.text.clone(),
            relevant: collection.judgments[&query.id].iter().filter_map(of_document).collect(),
        })
        .collect();
    Ok(vec![(name, measure(&context, &store, &judged)?)])
}

/// Whether a file of a corpus is called so: `d000042.md`.
fn is_written_here(name: &str) -> bool {
    let number = name.strip_prefix('d').and_then(|it| it.split_once('.')).map(|it| it.0);
    number.is_some_and(|it| it.len() >= 6 && it.chars().all(|it| it.is_ascii_digit()))
}

fn measure(context: &Context, store: &Store, judged: &[Judged]) -> Result<Evaluation> {
    let binding = store.binding()?;
    let load = || -> Result<Box<dyn Embedder>> {
        model::select(&context.session, binding.as_ref())?
            .open_for_query(binding.as_ref(), &context.ui)
    };
    let settings = &context.config().search;
    let options = SearchOptions {
        limit: settings.default_top,
        filter: Filter::default(),
        legs: LegSelection::Both,
        rrf_k: settings.rrf_k,
        threshold: None,
        per_document: None,
        keeps_copies: true,
        is_explained: false,
    };
    eval::evaluate(store, &load, judged, &options)
}
