//! `kb remove`.

use std::collections::HashSet;
use std::io;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use crate::cli::context::Context;
use crate::cli::exit::ExitStatus;
use crate::cli::{args, context, erase, voice};
use crate::document::{DocumentId, Filter};
use crate::error::{Error, Result};
use crate::ingest::survey::root_of;
use crate::present::json;
use crate::present::terminal::number::counted;
use crate::store::{DocumentName, Forgotten, Store};
use crate::text::paths;
use crate::text::printable::clean;

/// What goes, if the user says yes once.
struct Going {
    question: String,
    documents: Vec<DocumentName>,
    /// Paths that are to be forgotten: their documents are elsewhere as well.
    copies: Vec<(String, DocumentId)>,
    /// Folders that are to be forgotten.
    folders: Vec<String>,
}

pub(super) fn run(context: &Context, args: &args::Remove) -> Result<ExitStatus> {
    let unknown = || Error::UnknownDocument { id: args.documents[0].clone() };
    let mut store = context.open_existing()?.ok_or_else(unknown)?;
    // All are looked up before the first document goes.
    let going = args.documents.iter().map(|it| going(&store, it)).collect::<Result<Vec<_>>>()?;
    if !args.yes && !io::stdin().is_terminal() {
        return Err(Error::Usage {
            message: "removing needs `--yes` where nobody can be asked".into(),
            hint: Some(format!("kb remove --yes {}", args.documents.join(" "))),
        });
    }
    let mut removed: Vec<DocumentId> = Vec::new();
    let mut files: Vec<PathBuf> = Vec::new();
    for Going { question, mut documents, copies, folders } in going {
        // What was named twice is asked about once.
        documents.retain(|it| !removed.contains(&it.id));
        let is_done = documents.is_empty() && copies.is_empty() && folders.is_empty();
        if is_done || !args.yes && !context::confirm(&question)? {
            continue;
        }
        // First, so that an update after an interruption adds nothing again.
        for folder in folders {
            store.forget_root(&folder)?;
        }
        for (path, id) in copies {
            // The others may have gone with another folder.
            if let Forgotten::Document(id) = store.forget_path(&path, id, true)? {
                removed.push(id);
            }
        }
        for document in documents {
            if store.remove(document.id)? {
                removed.push(document.id);
                files.extend(document.path.as_deref().map(paths::path_of));
            }
        }
    }
    let roots: Vec<PathBuf> = store.roots()?.iter().map(|it| paths::path_of(&it.path)).collect();
    erase::finish(store)?;
    context.present(
        args.format.format,
        |out| json::removed(&removed, out),
        |human, out| human.removed(&removed, out),
    )?;
    let is_back = |path: &&PathBuf| {
        root_of(&roots, path).is_some()
            && path.symlink_metadata().is_ok_and(|found| found.is_file())
    };
    let num_back = files.iter().filter(is_back).count();
    if num_back > 0 {
        voice::say(&format!(
            "note: `kb update` will add {} again, for their files lie in a folder that was added; \
             name them in `.kbignore` or remove the folder",
            counted(num_back, "document"),
        ));
    }
    Ok(ExitStatus::Success)
}

/// Looks up what an argument names: a document by its id, or all at and below a path.
fn going(store: &Store, typed: &str) -> Result<Going> {
    let unknown = || Error::UnknownDocument { id: typed.to_owned() };
    if let Ok(id) = context::document_id(typed) {
        let document = store.document(id)?.ok_or_else(unknown)?;
        let (title, count) = (clean(&document.title), document.chunk_count);
        let question = format!("Remove '{title}' and its {count} chunks?");
        let name = DocumentName { id: document.id, title: document.title, path: document.path };
        return Ok(Going {
            question,
            documents: vec![name],
            copies: Vec::new(),
            folders: Vec::new(),
        });
    }
    let path = context::typed(Path::new(typed))?;
    let path_prefix = Some(paths::path_text(&path));
    let documents = store.documents(&Filter { path_prefix, ..Filter::default() })?.into_iter();
    let documents: Vec<DocumentName> =
        documents.map(|it| DocumentName { id: it.id, title: it.title, path: it.path }).collect();
    let folders: Vec<String> = store.roots()?.into_iter().map(|it| it.path).collect();
    let folders: Vec<String> =
        folders.into_iter().filter(|it| paths::path_of(it).starts_with(&path)).collect();
    let (within, outside): (Vec<_>, Vec<_>) = store
        .known_files()?
        .into_iter()
        .map(|it| (it.stamp.path, it.document_id))
        .partition(|it| paths::path_of(&it.0).starts_with(&path));
    let elsewhere: HashSet<DocumentId> = outside.into_iter().map(|it| it.1).collect();
    let copies: Vec<_> = within.into_iter().filter(|it| elsewhere.contains(&it.1)).collect();
    let documents: Vec<_> =
        documents.into_iter().filter(|it| !elsewhere.contains(&it.id)).collect();
    if documents.is_empty() && copies.is_empty() && folders.is_empty() {
        return Err(unknown());
    }
    let count = counted(documents.len(), "document");
    let question = format!("Remove {count} from {}?", clean(&path.display().to_string()));
    Ok(Going { question, documents, copies, folders })
}
