//! Opens, examines and lists paths on Windows. A link can still be put into the path between the check
//! and the call.

use std::fs::{DirEntry, File, Metadata};
use std::io;
use std::path::Path;

use super::kinds::{EntryKind, FolderEntry, SymlinkPolicy};

pub(super) type Flags = ();
pub(super) type Handle = File;
pub(super) const READ: Flags = ();

/// Checks each component first; a link can still be put into the path between the check and the
/// call.
pub(super) fn by(path: &Path, links: SymlinkPolicy<'_>, (): Flags) -> io::Result<File> {
    look(path, links)?;
    File::open(path)
}

pub(super) fn look(path: &Path, links: SymlinkPolicy<'_>) -> io::Result<Metadata> {
    let SymlinkPolicy::RefuseBelow(root) = links else { return path.metadata() };
    let Ok(below) = path.strip_prefix(root) else {
        refuse_link(path)?;
        return path.metadata();
    };
    let mut place = root.to_owned();
    for component in below.components() {
        place.push(component);
        refuse_link(&place)?;
    }
    place.metadata()
}

pub(super) fn list(folder: &Path, links: SymlinkPolicy<'_>) -> io::Result<Vec<FolderEntry>> {
    look(folder, links)?;
    std::fs::read_dir(folder)?.map(|entry| examine(&entry?)).collect()
}

/// Uses what the folder says: the path of an entry such as `con` would lead to a device.
fn examine(entry: &DirEntry) -> io::Result<FolderEntry> {
    Ok(FolderEntry { name: entry.file_name(), kind: EntryKind::of(&entry.metadata()?) })
}

fn refuse_link(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_symlink() { Err(io::Error::other(RefusedLink)) } else { Ok(()) }
}

/// The error for a link that is not followed. The standard library's kind for it is not stable.
#[derive(Debug)]
struct RefusedLink;

impl std::fmt::Display for RefusedLink {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a link is not followed")
    }
}

impl std::error::Error for RefusedLink {}

/// Whether a name leads to a device: `nul`, `con` and others do in every folder.
pub(super) fn is_view_of_system(file: &File) -> bool {
    winapi_util::file::typ(file).is_ok_and(|kind| !kind.is_disk())
}

/// Returns the numbers of the volume and of the file on it.
pub(super) fn identity(path: &Path) -> Option<(u64, u64)> {
    numbers(&winapi_util::Handle::from_path_any(path).ok()?)
}

pub(super) fn identity_of(file: &File) -> Option<(u64, u64)> {
    numbers(file)
}

fn numbers(file: impl winapi_util::AsHandleRef) -> Option<(u64, u64)> {
    let found = winapi_util::file::information(file).ok()?;
    Some((found.volume_serial_number(), found.file_index()))
}

pub(super) fn is_refused_link(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|error| error.is::<RefusedLink>())
}

pub(super) fn is_no_such_device(_: &io::Error) -> bool {
    false
}
