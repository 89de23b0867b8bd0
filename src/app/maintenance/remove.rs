//! Removes documents by id, all at and below a path, or all that match a filter or a query.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::indexing::edit::kept;
use crate::app::maintenance::keep_away::{self, IgnoreLine};
use crate::app::maintenance::losses::{self, UnreproducibleData};
use crate::app::query::choose::{self, SelectionCriteria};
use crate::app::session::copies::{self, OwnCopy};

use crate::app::session::export_file::{self, ExportFile};
use crate::app::session::{erase, lookup, typed};
use crate::app::{Observer, Session};
use crate::document::Filter;
use crate::error::{Error, Result};
use crate::ingest::roots::Roots;
use crate::store::{AddedFolder, DocumentId, DocumentName, ForgetOutcome, ListedDocument, Store};
use crate::text::paths;
use crate::wording::{option, wording};

/// The documents to remove, and the steps before their removal.
#[derive(Debug, Default)]
pub struct RemoveRequest {
    /// Ids, paths and titles, as typed.
    pub documents: Vec<String>,
    /// The criteria that documents must match to be removed, instead of their names.
    pub criteria: Option<SelectionCriteria>,
    /// Whether nothing is removed, and the result says what would be.
    pub is_dry_run: bool,
    /// Whether a rule that keeps the files away is written into the ignore file of their folder.
    pub keeps_away: bool,
    /// Whether the copies of the database that kb made itself are also deleted.
    pub deletes_copies: bool,
    /// The file to which the documents are written before they are removed.
    pub export: Option<ExportFile>,
}

/// The effects of the removal of one argument.
#[derive(Debug)]
pub struct Removal {
    /// The argument.
    pub named: RemovalTarget,
    /// Documents to remove.
    pub documents: Vec<DocumentName>,
    /// Paths to forget; their documents also exist elsewhere.
    copies: Vec<(String, DocumentId)>,
    /// Folders to forget.
    folders: Vec<AddedFolder>,
}

/// An argument of the removal.
#[derive(Debug)]
pub enum RemovalTarget {
    /// A document given by id or title: its title and number of chunks.
    Document(String, u32),
    /// A path.
    Path(PathBuf),
    /// All documents that match the criteria.
    Matching,
    /// The copies of the database that kb made itself: their number and size.
    Copies(usize, u64),
}

/// The result of `kb remove`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct RemoveReport {
    /// Ids of the removed documents, in the order of the arguments.
    #[serde(rename = "removed")]
    pub ids: Vec<DocumentId>,
    /// Whether nothing was removed; the other keys then say what would be.
    #[serde(rename = "dry_run")]
    pub is_dry_run: bool,
    /// The removed documents.
    pub documents: Vec<DocumentName>,
    /// How many of them the next update adds again, because their files are in an added folder.
    #[serde(skip)]
    pub num_back: usize,
    /// The data of the chosen documents that is in no file, so that adding files does not bring it back.
    #[serde(rename = "lost")]
    pub losses: UnreproducibleData,
    /// Rules that --ignore added to ignore files.
    #[serde(rename = "rules_added")]
    pub num_rules: usize,
    /// Backups that kb made itself and that may still have the removed text.
    #[serde(rename = "backups")]
    pub copies: Vec<OwnCopy>,
    /// The backups that `--backups` deleted.
    #[serde(rename = "backups_deleted")]
    pub deleted_copies: Vec<OwnCopy>,
}

/// Removes documents, lists the copies that kb made itself, and deletes them if that is requested. They come
/// last, so that they are there until the removal is complete. Calls `confirm` once for each argument before
/// anything is removed.
pub fn remove(
    session: &Session,
    request: &RemoveRequest,
    confirm: &dyn Fn(&Removal) -> Result<bool>,
    observer: &dyn Observer,
) -> Result<RemoveReport> {
    let mut removed = documents(session, request, confirm, observer)?;
    removed.copies = copies::list(session);
    if !request.deletes_copies || request.is_dry_run || removed.copies.is_empty() {
        return Ok(removed);
    }
    let named = RemovalTarget::Copies(removed.copies.len(), copies::total_bytes(&removed.copies));
    let going = Removal { named, documents: Vec::new(), copies: Vec::new(), folders: Vec::new() };
    if confirm(&going)? {
        copies::delete(&removed.copies)?;
        removed.deleted_copies = std::mem::take(&mut removed.copies);
    }
    Ok(removed)
}

fn documents(
    session: &Session,
    request: &RemoveRequest,
    confirm: &dyn Fn(&Removal) -> Result<bool>,
    observer: &dyn Observer,
) -> Result<RemoveReport> {
    let mut removed = RemoveReport { is_dry_run: request.is_dry_run, ..RemoveReport::default() };
    if !request.is_dry_run {
        session.require_writable()?;
    }
    let of_hits = match &request.criteria {
        Some(criteria) => choose::of_hits(session, criteria, observer)?,
        None => None,
    };
    let Some(mut store) = session.open_existing()? else {
        return match request.documents.first() {
            Some(typed) => Err(Error::UnknownDocument { id: typed.clone() }),
            None => Ok(removed),
        };
    };
    // All arguments are looked up before anything is removed, so that a mistyped one removes nothing.
    let typed = request.documents.iter().map(|typed| going(&store, typed));
    let mut all = typed.collect::<Result<Vec<_>>>()?;
    if let Some(criteria) = &request.criteria {
        let ids = choose::matching(&store, criteria, of_hits.as_deref(), observer)?;
        all.push(matching(&store, criteria, &ids)?);
    }
    // A document that was named twice is shown and counted once.
    let mut seen: HashSet<DocumentId> = HashSet::new();
    for going in &mut all {
        going.documents.retain(|document| seen.insert(document.id));
    }
    all.retain(|going| !going.is_empty());
    let names = || all.iter().flat_map(|going| &going.documents);
    removed.losses = losses::losses(session, &store, names())?;
    let rules = if request.keeps_away { rules(&store, &all)? } else { BTreeSet::new() };
    if request.is_dry_run {
        removed.documents = names().cloned().collect();
        removed.ids = names().map(|document| document.id).collect();
        store.close()?;
        return Ok(removed);
    }
    if let Some(text) = removed.losses.text() {
        observer.note(match request.export {
            Some(_) => format!("these are in no file: {text}"),
            None => {
                format!("these are in no file and will be lost: {text}; `--export FILE` saves them")
            }
        });
    }
    let mut confirmed = Vec::new();
    for going in all {
        if confirm(&going)? {
            confirmed.push(going);
        }
    }
    if confirmed.is_empty() {
        store.close()?;
        return Ok(removed);
    }
    if let Some(file) = &request.export {
        export(&store, &confirmed, file, observer)?;
    }
    // Rules are written first, so that an update after an interruption adds nothing again.
    removed.num_rules = keep_away::write(&rules)?;
    let folders = confirmed.iter().flat_map(|going| &going.folders).map(|root| root.path.clone());
    let folders: Vec<String> = folders.collect();
    for going in confirmed {
        apply(&mut store, going, &mut removed)?;
    }
    let files = removed.documents.iter().filter_map(|document| document.path.clone());
    if let Err(error) = session.unfollow(&mut store, &folders, &files.collect::<Vec<_>>()) {
        observer.warn(format!("could not revoke access to the removed files: {error}"));
    }
    if !request.keeps_away {
        removed.num_back = num_back(&store, &removed.documents)?;
    }
    erase::finish(store, observer)?;
    kept::erase(session.data_dir(), &removed.ids)?;
    Ok(removed)
}

/// Removes what one argument names.
fn apply(store: &mut Store, going: Removal, removed: &mut RemoveReport) -> Result<()> {
    // Folders are forgotten first, so that an update after an interruption adds nothing again.
    for folder in going.folders {
        store.forget_root(&folder.path)?;
    }
    for (path, id) in going.copies {
        // The other paths of the document may have been forgotten with another folder, so it may also be removed.
        if let ForgetOutcome::Document(id) = store.forget_path(&path, id, true)? {
            removed.ids.push(id);
        }
    }
    for document in going.documents {
        if store.remove(document.id)? {
            removed.ids.push(document.id);
            removed.documents.push(document);
        }
    }
    Ok(())
}

/// Writes the documents that will be removed to a file.
fn export(
    store: &Store,
    confirmed: &[Removal],
    file: &ExportFile,
    observer: &dyn Observer,
) -> Result<()> {
    let folders: Vec<AddedFolder> =
        confirmed.iter().flat_map(|going| going.folders.clone()).collect();
    let documents = confirmed.iter().flat_map(|going| &going.documents);
    // A document that is also elsewhere is removed if its other paths are forgotten.
    let copies = confirmed.iter().flat_map(|going| &going.copies).map(|copy| copy.1);
    let mut ids: Vec<DocumentId> = documents.map(|document| document.id).chain(copies).collect();
    ids.sort_unstable();
    ids.dedup();
    export_file::export_documents(store, &ids, &folders, file, observer)
}

/// Returns the rules that keep the files of all arguments away.
fn rules(store: &Store, all: &[Removal]) -> Result<BTreeSet<IgnoreLine>> {
    let roots = Roots::of(store, false)?;
    let mut files: BTreeMap<DocumentId, Vec<String>> = BTreeMap::new();
    for file in store.known_files()? {
        files.entry(file.document_id).or_default().push(file.stamp.path);
    }
    let mut rules = BTreeSet::new();
    for going in all {
        if let RemovalTarget::Path(path) = &going.named
            && !files.values().flatten().any(|file| paths::path_of(file) == *path)
        {
            rules.insert(keep_away::rule(&roots, path, true)?);
            continue;
        }
        for document in &going.documents {
            let files = files.get(&document.id).map(Vec::as_slice).unwrap_or_default();
            rules.extend(rules_of_files(&roots, document.id, files)?);
        }
    }
    Ok(rules)
}

/// Returns the rules that keep the files of a document away.
fn rules_of_files(roots: &Roots, id: DocumentId, files: &[String]) -> Result<Vec<IgnoreLine>> {
    if files.iter().any(|file| paths::split_member(file).1.is_some()) {
        return Err(Error::usage(format!("document {id} is a part of a file"))
            .with_hint("name the file to ignore all of it"));
    }
    let mut files: Vec<PathBuf> = files.iter().map(|file| paths::path_of(file)).collect();
    let Some(first) = files.first().cloned() else {
        return Err(Error::usage(format!("document {id} has no file to ignore"))
            .with_hint(wording!("remove it without `{}`", option("--ignore"))));
    };
    files.retain(|file| roots.folder_of(file).is_some());
    // Without a file below a folder, the first one is reported as the reason why there is no rule.
    let files = if files.is_empty() { vec![first] } else { files };
    files.iter().map(|file| keep_away::rule(roots, file, false)).collect()
}

/// Counts the removed documents that the next update adds again.
fn num_back(store: &Store, removed: &[DocumentName]) -> Result<usize> {
    let roots = Roots::of(store, false)?;
    let mut num_back = 0;
    for text in removed.iter().filter_map(|document| document.path.as_deref()) {
        let path = paths::path_of(text);
        let (file, member) = paths::split_member(text);
        // An unchanged e-mail that is still a document is not unpacked again.
        let is_attachment = member.is_some() && store.known_path(file)?.is_some();
        let is_back = !is_attachment
            && roots.folder_of(&path).is_some()
            && path.symlink_metadata().is_ok_and(|found| found.is_file());
        num_back += usize::from(is_back);
    }
    Ok(num_back)
}

impl Removal {
    fn is_empty(&self) -> bool {
        self.documents.is_empty() && self.copies.is_empty() && self.folders.is_empty()
    }
}

fn name(document: ListedDocument) -> DocumentName {
    DocumentName { id: document.id, title: document.title, path: document.path }
}

/// Looks up what an argument names: a document by its id, all at and below a path, or else a document
/// by its title or a unique part of it, as [`lookup::find`] does.
fn going(store: &Store, typed: &str) -> Result<Removal> {
    if let Ok(id) = typed::document_id(typed)
        && let Some(document) = store.document(id)?
    {
        let named = RemovalTarget::Document(document.title.clone(), document.chunk_count);
        let name = DocumentName { id: document.id, title: document.title, path: document.path };
        return Ok(Removal {
            named,
            documents: vec![name],
            copies: Vec::new(),
            folders: Vec::new(),
        });
    }
    if lookup::member(store, typed)?.is_some() {
        let id = lookup::find_in(store, typed)?.id;
        return going(store, &id.to_string());
    }
    let path = typed::typed(Path::new(typed))?;
    let filter = Filter { paths: vec![paths::path_text(&path)], ..Filter::default() };
    let documents = store.documents(&filter)?.into_iter();
    let mut documents: Vec<DocumentName> = documents.map(name).collect();
    // Folders that are not followed can also be removed.
    let mut folders = store.all_roots()?;
    folders.retain(|folder| paths::path_of(&folder.path).starts_with(&path));
    let copies = copies_below(store, &filter.paths, &mut documents)?;
    if documents.is_empty() && copies.is_empty() && folders.is_empty() {
        // A text that is a path is never taken for a part of a title or of another path.
        if Path::new(typed).is_absolute() || path.symlink_metadata().is_ok() {
            return Err(Error::UnknownDocument { id: typed.to_owned() });
        }
        return going(store, &lookup::find_in(store, typed)?.id.to_string());
    }
    Ok(Removal { named: RemovalTarget::Path(path), documents, copies, folders })
}

/// Returns what is removed with the documents that match. Those that are also outside of the path
/// of the filter only lose the paths within it.
fn matching(store: &Store, criteria: &SelectionCriteria, ids: &[DocumentId]) -> Result<Removal> {
    let documents = store.documents(&criteria.filter)?.into_iter();
    let mut documents: Vec<DocumentName> =
        documents.filter(|document| ids.contains(&document.id)).map(name).collect();
    let (named, places) = store.meant_by_paths(&criteria.filter)?;
    let copies = match places.as_slice() {
        [] => Vec::new(),
        places => {
            // A document that is named by its id is removed wherever it is.
            let (mut whole, mut below): (Vec<_>, Vec<_>) =
                documents.into_iter().partition(|document| named.contains(&document.id));
            let copies = copies_below(store, places, &mut below)?;
            whole.extend(below);
            whole.sort_by_key(|document| document.id);
            documents = whole;
            copies
        }
    };
    Ok(Removal { named: RemovalTarget::Matching, documents, copies, folders: Vec::new() })
}

/// Takes the documents that are also outside of `places` out of `documents`; returns their paths
/// within these.
fn copies_below(
    store: &Store,
    places: &[String],
    documents: &mut Vec<DocumentName>,
) -> Result<Vec<(String, DocumentId)>> {
    let ids: HashSet<DocumentId> = documents.iter().map(|document| document.id).collect();
    let (within, outside): (Vec<_>, Vec<_>) = store
        .known_files()?
        .into_iter()
        .map(|file| (file.stamp.path, file.document_id))
        .filter(|known| ids.contains(&known.1))
        .partition(|known| places.iter().any(|place| paths::is_within(&known.0, place)));
    let elsewhere: HashSet<DocumentId> = outside.into_iter().map(|known| known.1).collect();
    documents.retain(|document| !elsewhere.contains(&document.id));
    Ok(within.into_iter().filter(|known| elsewhere.contains(&known.1)).collect())
}

#[cfg(test)]
mod tests;
