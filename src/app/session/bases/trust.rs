//! Decides which files and folders of a knowledge base are followed.
//!
//! Neither the place of a database nor the id in it shows who wrote it: `git pull` and `kb restore` change it.
//! So kb follows only paths that the user named to it on this machine, or was shown and allowed. That is remembered
//! outside the database ([`known`]), and every connection gets it here.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::app::session::bases::known::{self, BaseTrust, KnownBases};
use crate::config::Environment;
use crate::error::Result;
use crate::files::reach::Reach;
use crate::store::{
    AddedFolder, AllowedFolder, AllowedPaths, FollowedPaths, Store, UnfollowedPaths,
};
use crate::text::number::counted;
use crate::text::paths;

/// Most names of files in a line.
const MAX_NAMES: usize = 5;

/// The facts that determine the trust in a database.
#[derive(Debug, Clone, Copy)]
pub struct TrustContext<'a> {
    /// The variables of the process.
    pub environment: &'a Environment,
    /// The folder of the database.
    pub dir: &'a Path,
    /// Whether this run creates the database.
    pub is_new: bool,
    /// Whether it is in the usual data directory: neither a flag nor a variable names another one.
    pub is_usual: bool,
    /// The command that allows more of it.
    pub command: &'a str,
}

/// Gives a new database an id, and a connection the paths to follow. Returns a message for the user.
pub fn settle(store: &mut Store, opening: &TrustContext<'_>) -> Result<Option<String>> {
    let TrustContext { environment, dir, is_new, is_usual, .. } = *opening;
    let mut found = store.base_id()?;
    if found.is_none() {
        // Another process may be about to give it an id, which it does before anything else.
        let is_blank = is_new || store.num_documents()? == 0 && store.all_roots()?.is_empty();
        if is_blank && !store.is_read_only() {
            return make_own(store, environment, dir);
        }
        found = store.base_id()?;
    }
    let known = match KnownBases::read_of(environment, dir) {
        Ok(known) => known,
        Err(error) => {
            store.follow(FollowedPaths::Nothing);
            return Ok(Some(format!("cannot read the list of knowledge bases: {error}")));
        }
    };
    let (is_old, id) = (found.is_none(), known::id(found));
    let base = known.base(dir, &id);
    // A database without an id is of an older kb, which had no list of known bases. It is taken over at the first start
    // of a kb that has one.
    let is_taken_over = match base {
        Some(base) => base.state == BaseTrust::Own,
        None => is_old && is_usual && !known.has_folder(dir),
    };
    if is_taken_over && !environment.is_of_project(dir) {
        return take_over(store, opening, &id);
    }
    store.follow(match known.into_base(dir, &id) {
        Some(base) => FollowedPaths::Listed(base.allowed),
        None => FollowedPaths::Nothing,
    });
    Ok(None)
}

/// Gives a database an id. It is remembered first, so that no other process sees an id that is not
/// known yet.
fn make_own(store: &mut Store, environment: &Environment, dir: &Path) -> Result<Option<String>> {
    store.follow(FollowedPaths::Listed(AllowedPaths::default()));
    let id = store.random_id()?;
    if let Err(error) = known::allow(environment, dir, &id, |_| {}) {
        return Ok(Some(format!("cannot record that kb created this database: {error}")));
    }
    let kept = store.keep_base_id(&id)?;
    if kept != id {
        // Another process was faster, so its id is kept and allowed.
        let _ = known::allow(environment, dir, &known::id(Some(kept)), |_| {});
    }
    Ok(None)
}

/// Follows the paths that a database in the user's own data directory remembers, once, except hidden ones and those
/// outside the home directory.
fn take_over(store: &mut Store, opening: &TrustContext<'_>, id: &str) -> Result<Option<String>> {
    let TrustContext { environment, dir, command, .. } = *opening;
    store.follow(FollowedPaths::Listed(AllowedPaths::default()));
    let UnfollowedPaths { mut folders, mut files } = store.unfollowed()?;
    let home = environment.home();
    let homes = [paths::path_of(&real_path_of(&paths::path_text(&home))), home];
    folders.retain(|(root, _)| is_usual(&root.path, &homes));
    files.retain(|path| is_usual(path, &homes));
    let taken = UnfollowedPaths { folders, files };
    match known::allow(environment, dir, id, |all| all.merge(shown(&taken))) {
        Ok(all) => store.follow(FollowedPaths::Listed(all)),
        Err(error) => {
            return Ok(Some(format!("cannot record which folders are followed: {error}")));
        }
    }
    let lines = lines(&taken).into_iter().map(|line| format!("still followed: {line}"));
    let lines: Vec<String> = lines.chain(notes(store, command)?).collect();
    Ok((!lines.is_empty()).then(|| lines.join("\n")))
}

/// Whether a path and the place to which it leads are in view.
fn is_usual(path: &str, homes: &[PathBuf]) -> bool {
    [path, &real_path_of(path)].iter().all(|path| is_in_view(&paths::path_of(path), homes))
}

/// Whether a path is in one of the spellings of the home directory, and not hidden there.
fn is_in_view(path: &Path, homes: &[PathBuf]) -> bool {
    let below = homes.iter().find_map(|home| path.strip_prefix(home).ok());
    below.is_some_and(|below| !below.components().any(is_hidden))
}

fn is_hidden(part: Component<'_>) -> bool {
    part.as_os_str().as_encoded_bytes().starts_with(b".")
}

/// Remembers the paths that the user has just named, and follows them. Returns all that is followed by now.
pub fn name(
    environment: &Environment,
    dir: &Path,
    store: &mut Store,
    named: AllowedPaths,
) -> Result<AllowedPaths> {
    if store.follows_everything() || named == AllowedPaths::default() {
        return Ok(AllowedPaths::default());
    }
    let id = known::id(store.base_id()?);
    let all = known::allow(environment, dir, &id, |all| all.merge(named))?;
    store.follow(FollowedPaths::Listed(all.clone()));
    Ok(all)
}

/// Forgets that the user named folders and files, which were removed.
pub fn remove(
    environment: &Environment,
    dir: &Path,
    store: &mut Store,
    folders: &[String],
    files: &[String],
) -> Result<()> {
    if store.follows_everything() || !store.is_allowed() {
        return Ok(());
    }
    let id = known::id(store.base_id()?);
    let all = known::allow(environment, dir, &id, |all| {
        all.folders.retain(|path, _| !folders.contains(path));
        all.files.retain(|path, _| !files.contains(path));
    })?;
    store.follow(FollowedPaths::Listed(all));
    Ok(())
}

/// Returns the paths that the user was shown, and where they lead now.
pub fn shown(unfollowed: &UnfollowedPaths) -> AllowedPaths {
    let mut shown = AllowedPaths::default();
    for (root, _) in &unfollowed.folders {
        let allowed = AllowedFolder::of(root, real_path_of(&root.path));
        shown.folders.insert(root.path.clone(), allowed);
    }
    for path in &unfollowed.files {
        let path = paths::split_member(path).0;
        shown.files.insert(path.to_owned(), real_path_of(path));
    }
    shown
}

/// Returns where the path of a text leads, without links; the text if nothing is there.
pub fn real_path_of(text: &str) -> String {
    let reach = Reach::named(&paths::path_of(text)).ok();
    reach.and_then(|reach| reach.real_path()).unwrap_or_else(|| text.to_owned())
}

/// Describes the paths that are not followed: each folder with its options, and the other files by their folders.
pub fn lines(unfollowed: &UnfollowedPaths) -> Vec<String> {
    let mut by_folder: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for text in &unfollowed.files {
        let path = paths::path_of(&real_path_of(paths::split_member(text).0));
        let parent = path.parent().unwrap_or(&path).to_owned();
        by_folder.entry(parent).or_default().push(paths::name(paths::split_member(text).0));
    }
    let folders = unfollowed.folders.iter();
    let folders = folders.map(|(root, allowed)| line_of_folder(root, allowed.as_ref()));
    let files = by_folder.into_iter().map(|(folder, names)| line_of_files(&folder, names));
    folders.chain(files).collect()
}

/// Describes a folder that is not followed, and with which options the user allowed it before.
fn line_of_folder(root: &AddedFolder, allowed: Option<&AllowedFolder>) -> String {
    let now = AllowedFolder::of(root, real_path_of(&root.path));
    let leads = if now.real_path == root.path {
        String::new()
    } else {
        format!(", points to {}", now.real_path)
    };
    match allowed {
        None => format!("{} (new, {}{leads})", root.path, options(&now)),
        Some(allowed) => {
            let (now, before) = (options(&now), options(allowed));
            format!("{} ({now}{leads}; you allowed it with {before})", root.path)
        }
    }
}

/// Describes files that are not followed, by their names in a folder.
fn line_of_files(folder: &Path, mut names: Vec<String>) -> String {
    names.dedup();
    let num = counted(names.len(), "file");
    let shown = names.iter().take(MAX_NAMES).cloned().collect::<Vec<_>>().join(", ");
    let more = if names.len() > MAX_NAMES { ", ..." } else { "" };
    format!("{num} in {}: {shown}{more}", paths::path_text(folder))
}

fn options(folder: &AllowedFolder) -> String {
    let doc_type = folder.doc_type.map(|doc_type| format!("type {}", doc_type.as_str()));
    let language = folder.language.as_ref().map(|language| format!("language {language}"));
    let follow = folder.follows_links.then(|| "links followed".to_owned());
    let options: Vec<String> = [doc_type, language, follow].into_iter().flatten().collect();
    if options.is_empty() { "no options".into() } else { options.join(", ") }
}

/// Returns a note for all that is not followed; `command` allows it.
pub fn notes(store: &Store, command: &str) -> Result<Vec<String>> {
    let lines = lines(&store.unfollowed()?).into_iter();
    Ok(lines.map(|line| format!("not followed: {line}; `{command}` allows it")).collect())
}
