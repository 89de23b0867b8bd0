//! Recognises folders and files that programs generate or fetch: by name only where the name can mean nothing else,
//! otherwise by what is in or next to them. The names of such files are in [`detect`], which ignores them in archives too.

use std::ffi::OsStr;
use std::path::Path;

use crate::extract::detect;
use crate::files::open::{EntryKind, FolderEntry};
use crate::files::reach::Reach;

/// Folders of these names are generated anywhere.
const FOLDERS: [&str; 3] = ["node_modules", "site-packages", "__pycache__"];

/// Files of a project whose `build` and `dist` are generated.
const BUILT: &[&str] = &["package.json", "pyproject.toml", "CMakeLists.txt", "build.gradle"];

/// Folders that are generated if one of the files is next to them.
const NEXT_TO: [(&str, &[&str]); 4] = [
    ("target", &["Cargo.toml"]),
    ("build", BUILT),
    ("dist", BUILT),
    ("vendor", &["go.mod", "composer.json", "Gemfile"]),
];

/// The file that makes its folder one of Python packages.
const ENVIRONMENT: &str = "pyvenv.cfg";

/// The file that makes its folder a cache, and how it begins (<https://bford.info/cachedir/>).
const CACHE_TAG: &str = "CACHEDIR.TAG";
const CACHE_SIGNATURE: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

/// A longer file is not such a tag, which has a few lines.
const MAX_TAG_BYTES: u64 = 65_536;

/// Returns the names of the folders that are generated in a folder with these entries.
pub(super) fn folders_next_to(entries: &[FolderEntry]) -> Vec<&'static str> {
    let there = NEXT_TO.into_iter().filter(|(folder, _)| has_entry(entries, folder, true));
    there
        .filter(|(_, files)| files.iter().any(|file| has_entry(entries, file, false)))
        .map(|(folder, _)| folder)
        .collect()
}

/// Whether there is an entry with this name that is a folder, or without `is_folder` anything else.
fn has_entry(entries: &[FolderEntry], name: &str, is_folder: bool) -> bool {
    entries.iter().any(|entry| entry.name == name && (entry.kind == EntryKind::Folder) == is_folder)
}

/// Whether a file or folder is generated, by its name and by `here`, the names of [`folders_next_to`].
pub(super) fn is_generated(name: &OsStr, kind: EntryKind, here: &[&'static str]) -> bool {
    let Some(name) = name.to_str() else { return false };
    match kind {
        EntryKind::Folder => FOLDERS.contains(&name) || here.contains(&name),
        EntryKind::File => detect::generated(Path::new(name)).is_some(),
        EntryKind::Link | EntryKind::Other => false,
    }
}

/// Whether a folder with these entries says that it is one of Python packages, or a cache.
pub(super) fn is_marked(reach: &Reach, folder: &Path, entries: &[FolderEntry]) -> bool {
    let has =
        |name| entries.iter().any(|entry| entry.name == name && entry.kind == EntryKind::File);
    has(ENVIRONMENT) || has(CACHE_TAG) && is_cache_tag(reach, &folder.join(CACHE_TAG))
}

/// Whether a file begins as the specification of cache tags demands.
fn is_cache_tag(reach: &Reach, path: &Path) -> bool {
    reach.read(path, MAX_TAG_BYTES).is_ok_and(|tag| tag.starts_with(CACHE_SIGNATURE))
}
