//! Tells the database where an added folder is now.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::indexing::ingestion::options::walk_options;
use crate::app::session::erase;
use crate::app::session::typed::{absolute, typed};
use crate::app::{Observer, Session};
use crate::error::{Error, Result};
use crate::files::reach::{Reach, ResolvedFolder};
use crate::files::stamp::Stamp;
use crate::ingest::content_hash;
use crate::ingest::roots::Roots;
use crate::ingest::survey::{is_away, is_missing};
use crate::store::{
    AddedFolder, AllowedFolder, AllowedPaths, PathStamp, Relocation, RememberedFile, Store,
};
use crate::text::number::counted;
use crate::text::{fields, paths};
use crate::wording::{kb, wording};

/// A request to relocate a folder.
#[derive(Debug, Clone, Default)]
pub struct RelocateRequest {
    /// Where the folder was, as typed.
    pub from: PathBuf,
    /// Where it is, as typed.
    pub to: PathBuf,
    /// Whether it is relocated even if no file there has its remembered content.
    pub is_forced: bool,
    /// Whether the files are compared and nothing is written.
    pub is_dry_run: bool,
}

/// The report of `kb relocate`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RelocateReport {
    /// Where the folder was.
    #[serde(serialize_with = "fields::path")]
    pub from: PathBuf,
    /// Where it is.
    #[serde(serialize_with = "fields::path")]
    pub to: PathBuf,
    /// Whether nothing was written.
    #[serde(rename = "dry_run")]
    pub is_dry_run: bool,
    /// Remembered files below the folder.
    #[serde(rename = "files")]
    pub num_files: usize,
    /// How many of them have their remembered content.
    #[serde(rename = "matching")]
    pub num_matching: usize,
    /// New paths of files that have other content, or cannot be read.
    pub changed: Vec<String>,
    /// New paths at which there is no file.
    pub missing: Vec<String>,
}

/// Moves everything remembered below one folder to another, after comparing the files.
pub fn relocate(
    session: &Session,
    request: &RelocateRequest,
    observer: &dyn Observer,
) -> Result<RelocateReport> {
    let (from, to) = (typed(&request.from)?, absolute(&request.to)?);
    if !request.is_dry_run {
        session.require_writable()?;
    }
    check_folders(&from, &to)?;
    let Some(mut store) = session.open_existing()? else {
        return Err(Error::PathNotFound { path: session.database() });
    };
    session.require_files(&store)?;
    let plan = RelocationPlan::of(session, &store, &from, &to, ComparisonDepth::Content)?;
    if plan.is_empty {
        return Err(Error::usage(format!("nothing was added from {}", from.display())).with_hint(
            wording!("`{}` lists the added folders, `{}` all documents", kb("status"), kb("list")),
        ));
    }
    let num_files = plan.relocated.num_files;
    if num_files > 0 && plan.relocated.num_matching == 0 && !request.is_forced {
        return Err(Error::usage(format!(
            "{} has none of the {} that kb remembers below {}",
            to.display(),
            counted(num_files, "file"),
            from.display()
        ))
        .with_hint(
            "name the folder that has them now; --force relocates even if all have changed",
        ));
    }
    let relocated = RelocateReport { is_dry_run: request.is_dry_run, ..plan.relocated.clone() };
    if request.is_dry_run {
        store.close()?;
    } else {
        let named = plan.named(&store)?;
        session.follow_named(&mut store, named)?;
        store.relocate(&plan.relocation())?;
        erase::finish(store, observer)?;
    }
    Ok(relocated)
}

/// Refuses folders that cannot be two places of one folder.
fn check_folders(from: &Path, to: &Path) -> Result<()> {
    if to.starts_with(from) || from.starts_with(to) {
        let message = if from == to {
            format!("{} is both the old and the new folder", from.display())
        } else {
            format!("one of {} and {} contains the other", from.display(), to.display())
        };
        return Err(Error::usage(message).with_hint(wording!(
            "`{}` follows files that moved inside an added folder",
            kb("update")
        )));
    }
    match to.metadata() {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => {
            Err(Error::usage(format!("{} is not a folder", to.display())).with_hint(wording!(
                "name the folder that has the files now; `{}` recognises a single file that moved",
                kb("add").arg("FILE")
            )))
        }
        Err(_) => Err(Error::PathNotFound { path: to.to_owned() }),
    }
}

/// How files are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ComparisonDepth {
    /// By size, and by content if the time differs.
    Content,
    /// By size alone.
    Size,
}

/// The changes of a relocation.
#[derive(Default)]
struct RelocationPlan {
    /// Whether nothing is remembered below the folder.
    is_empty: bool,
    texts: (String, String),
    relocated: RelocateReport,
    found: Vec<(PathStamp, String)>,
    roots: Vec<AddedFolder>,
}

/// How a file is at its new path.
enum RelocatedFile {
    Same(PathStamp),
    Changed,
    Missing,
}

impl RelocationPlan {
    /// Compares the remembered files below the first folder with the second one.
    fn of(
        session: &Session,
        store: &Store,
        from: &Path,
        to: &Path,
        depth: ComparisonDepth,
    ) -> Result<Self> {
        // Folders that are not followed are relocated, too: nothing at the old place is read.
        let (all_roots, mut known) = (store.all_roots()?, store.all_files()?);
        known.retain(|file| {
            below(&file.stamp.path, from).is_some_and(|rest| !rest.as_os_str().is_empty())
        });
        let mut roots = moved_roots(&all_roots, from, to)?;
        let texts = (paths::path_text(from), paths::path_text(to));
        let is_empty =
            known.is_empty() && roots.is_empty() && store.ledger_at(&texts.0)?.is_empty();
        if roots.is_empty() && !known.is_empty() {
            roots.extend(root_of_part(&all_roots, from, to)?);
        }
        let mut followed = store.roots()?.into_iter().filter(|root| {
            below(&root.path, from).is_some() || from.starts_with(paths::path_of(&root.path))
        });
        let follows =
            session.config().ingestion.follow_links || followed.any(|root| root.follows_links);
        let reach = if follows { Reach::Anywhere } else { Reach::below(to)? };
        let max_bytes = walk_options(session, false).max_bytes();
        let relocated = RelocateReport {
            from: from.to_owned(),
            to: to.to_owned(),
            ..RelocateReport::default()
        };
        let mut plan = Self { is_empty, texts, relocated, roots, found: Vec::new() };
        for file in known {
            plan.relocated.num_files += 1;
            let path = to.join(below(&file.stamp.path, from).unwrap_or_default());
            match compare(&file, &path, &reach, depth, max_bytes) {
                RelocatedFile::Same(stamp) => {
                    plan.relocated.num_matching += 1;
                    plan.found.push((stamp, file.content_hash));
                }
                RelocatedFile::Changed => plan.relocated.changed.push(paths::path_text(&path)),
                RelocatedFile::Missing => plan.relocated.missing.push(paths::path_text(&path)),
            }
        }
        Ok(plan)
    }

    /// Returns the paths that the user names with the new folder: that folder, and the paths that were followed in the
    /// old one. A link that is there now is not followed.
    fn named(&self, store: &Store) -> Result<AllowedPaths> {
        let RelocateReport { from, to, .. } = &self.relocated;
        let mut roots = moved_roots(&store.roots()?, from, to)?;
        let new = self.roots.iter().find(|root| paths::path_of(&root.path) == *to);
        if let Some(new) = new.filter(|new| !roots.iter().any(|root| root.path == new.path)) {
            let outer = root_of_part(&store.roots()?, from, to)?;
            let plain =
                AddedFolder { doc_type: None, language: None, follows_links: false, ..new.clone() };
            roots.push(outer.unwrap_or(plain));
        }
        let folder = ResolvedFolder::at(to)?;
        let real = |path: &Path| folder.within(path).map(|real| paths::path_text(&real));
        let mut named = AllowedPaths::default();
        for root in &roots {
            if let Some(real_path) = real(&paths::path_of(&root.path)) {
                named.folders.insert(root.path.clone(), AllowedFolder::of(root, real_path));
            }
        }
        let known = store.known_files()?.into_iter();
        for file in known.filter(|file| file.stamp.real_path.is_some()) {
            let Some(rest) = below(&file.stamp.path, from) else { continue };
            let path = to.join(rest);
            if let Some(real_path) = real(&path) {
                named.files.insert(paths::path_text(&path), real_path);
            }
        }
        Ok(named)
    }

    fn relocation(&self) -> Relocation<'_> {
        let (from, to) = (&self.texts.0, &self.texts.1);
        Relocation { from, to, found: &self.found, roots: &self.roots }
    }
}

/// Returns the part of a remembered path below a folder; empty for the folder itself.
fn below(text: &str, folder: &Path) -> Option<PathBuf> {
    paths::path_of(text).strip_prefix(folder).map(Path::to_owned).ok()
}

/// Returns the added folders at and below `from` as they are below `to`.
fn moved_roots(all: &[AddedFolder], from: &Path, to: &Path) -> Result<Vec<AddedFolder>> {
    let mut moved = Vec::new();
    for root in all {
        let Some(rest) = below(&root.path, from) else { continue };
        let path = if rest.as_os_str().is_empty() { to.to_owned() } else { to.join(rest) };
        moved.push(placed(root, &path)?);
    }
    Ok(moved)
}

/// Returns the folder to remember if only a part of an added folder has moved out of it.
fn root_of_part(all: &[AddedFolder], from: &Path, to: &Path) -> Result<Option<AddedFolder>> {
    let roots = Roots::new(all.to_vec(), false);
    let outer = roots.of_path(from).filter(|_| roots.of_path(to).is_none());
    outer.map(|outer| placed(outer, to)).transpose()
}

fn placed(root: &AddedFolder, path: &Path) -> Result<AddedFolder> {
    let real_path = if is_missing(path) { None } else { Reach::named(path)?.real_path() };
    Ok(AddedFolder { path: paths::path_text(path), real_path, ..root.clone() })
}

fn compare(
    file: &RememberedFile,
    path: &Path,
    reach: &Reach,
    depth: ComparisonDepth,
    max_bytes: u64,
) -> RelocatedFile {
    let found = match reach.look(path) {
        Ok(found) => found,
        Err(_) if is_missing(path) => return RelocatedFile::Missing,
        Err(_) => return RelocatedFile::Changed,
    };
    let Stamp { size_bytes, mtime_ns } = Stamp::of(&found);
    if !found.is_file() || size_bytes != file.stamp.size_bytes {
        return RelocatedFile::Changed;
    }
    let has_content = mtime_ns == file.stamp.mtime_ns
        || depth == ComparisonDepth::Size
        || reach.read(path, max_bytes).is_ok_and(|bytes| content_hash(&bytes) == file.content_hash);
    if !has_content {
        return RelocatedFile::Changed;
    }
    let real_path = match file.stamp.real_path {
        Some(_) => Reach::named(path).ok().and_then(|reach| reach.real_path()),
        None => None,
    };
    // A file that was compared by size only keeps its old time, so that the next update reads it.
    let mtime_ns = if depth == ComparisonDepth::Size { file.stamp.mtime_ns } else { mtime_ns };
    RelocatedFile::Same(PathStamp { path: paths::path_text(path), size_bytes, mtime_ns, real_path })
}

/// Relocates the added folders that have moved together with the database: those that are missing, and
/// have a counterpart at the same place as seen from the database, with at least half of their files.
/// Remembers where the database is.
pub fn follow_database(
    session: &Session,
    store: &mut Store,
    observer: &dyn Observer,
) -> Result<()> {
    let Ok(place) = paths::canonical(session.data_dir()) else { return Ok(()) };
    let text = paths::path_text(&place);
    let before = store.last_folder()?;
    if before.as_ref() == Some(&text) {
        return Ok(());
    }
    let mut is_all_found = true;
    for root in store.roots()? {
        let from = paths::path_of(&root.path);
        if !is_away(&from) {
            continue;
        }
        let to = before
            .as_ref()
            .and_then(|before| counterpart(&from, &paths::path_of(before), &place))
            .filter(|to| !is_away(to) && check_folders(&from, to).is_ok());
        let plan = to
            .map(|to| RelocationPlan::of(session, store, &from, &to, ComparisonDepth::Size))
            .transpose()?;
        let Some(plan) = plan.filter(|plan| {
            let (num_matching, num_files) = (plan.relocated.num_matching, plan.relocated.num_files);
            // Half of the files are enough, because some may have changed since; fewer may be another folder of that
            // name.
            num_matching > 0 && num_matching * 2 >= num_files
        }) else {
            is_all_found = false;
            continue;
        };
        match store.relocate(&plan.relocation()) {
            Ok(()) => observer.info(format!(
                "{} has moved with the database to {}",
                from.display(),
                plan.relocated.to.display()
            )),
            Err(Error::Usage { message, .. }) => {
                observer.warn(format!("{} was not relocated: {message}", from.display()));
                is_all_found = false;
            }
            Err(error) => return Err(error),
        }
    }
    // The old place is kept until all folders are found, so that a later run can find the others.
    if is_all_found || before.is_none() {
        store.set_last_folder(&text)?;
    }
    Ok(())
}

/// Returns where a folder is after both it and the database moved from a common folder to another one.
fn counterpart(folder: &Path, before: &Path, place: &Path) -> Option<PathBuf> {
    let common = folder.ancestors().find(|above| before.starts_with(above))?;
    let (rest, tail) = (folder.strip_prefix(common).ok()?, before.strip_prefix(common).ok()?);
    if !place.ends_with(tail) {
        return None;
    }
    let above = place.ancestors().nth(tail.components().count())?;
    Some(if rest.as_os_str().is_empty() { above.to_owned() } else { above.join(rest) })
}

#[cfg(test)]
mod tests;
