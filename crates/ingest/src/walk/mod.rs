//! Finds the files of folders, one at a time, always in the same order.
//!
//! Applies ignore files, link rules and the size limit; [`kb_extract::detect`] decides what a file is.

mod generated;
mod left_out;
mod rules;
mod start;
mod tree;
mod worktrees;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::extract::detect::{self, TextExtensions, TypeOverride};
use crate::files::Metadata;
use crate::files::reach::{Reach, ResolvedFolder};
use crate::files::stamp::Stamp;
use crate::text::paths::resolved;

use tree::{FileTree, Item, WalkExtent, WalkedEntry, WalkedFile};

pub use left_out::{LeftOut, LeftOutReason};
pub use rules::{KB_IGNORE, MAX_BYTES as MAX_IGNORE_BYTES, MAX_LINES as MAX_IGNORE_LINES};
pub use start::{ReadAs, Start, Territory, innermost};

/// The size of a megabyte in `ingestion.max_file_mb`.
pub const BYTES_PER_MB: u64 = 1_000_000;

/// How to walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WalkOptions {
    /// Files larger than this many megabytes (of 1,000,000 bytes) are not read.
    pub max_file_mb: u64,
    /// Whether links below a folder are followed; a link that the user names always is.
    pub follow_links: bool,
    /// Which further names are those of plain text.
    pub text_extensions: TextExtensions,
}

impl WalkOptions {
    /// Returns the largest size of a file in bytes.
    pub fn max_bytes(&self) -> u64 {
        self.max_file_mb.saturating_mul(BYTES_PER_MB)
    }
}

/// A file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    /// Its path as reached, without `.` and `..`, with links not resolved.
    pub path: PathBuf,
    /// Its size and time.
    pub stamp: Stamp,
    /// Whether the user named it, rather than the walk finding it in a directory.
    pub is_named: bool,
    /// Whether an ignore file names it as one to read, as `!bundle.js` does.
    pub is_included: bool,
    /// Which links may be followed to open it.
    pub reach: Reach,
    /// How it is read; `None` where the options of the run say it.
    pub read_as: Option<Arc<ReadAs>>,
}

impl FoundFile {
    /// Returns the type and language that it is read as, with those of the run.
    pub(super) fn wanted(&self, of_run: TypeOverride) -> TypeOverride {
        self.read_as.as_ref().map_or(of_run, |read_as| read_as.wanted)
    }

    pub(super) fn folder_tags(&self) -> &[String] {
        self.read_as.as_ref().map(|read_as| read_as.tags.as_slice()).unwrap_or_default()
    }
}

/// An item that a walk comes across.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WalkItem {
    /// A file to read.
    Found(FoundFile),
    /// A file that is left out, or a folder that is not entered.
    LeftOut(LeftOut),
}

/// Returns the files of `starts` in the given order, and below each start in byte order of the
/// names. A file to which several links lead, or several starts that the user names, is returned
/// once, as found first. Starts that were added before return it once each. A file that belongs to
/// another folder ([`Territory`]) is neither returned nor left out.
///
/// Hidden files and files that `.gitignore` and `.kbignore` exclude are left out below a folder, but never a file that the
/// user named. Generated files are also left out, unless the options include them. Loops of links end; FIFOs, devices and
/// sockets are left out. A file over the size limit that the user did not name and that no format claims is also left out:
/// it would have been ignored anyway.
pub fn walk(
    starts: &[Start],
    options: &WalkOptions,
) -> impl Iterator<Item = Result<FoundFile>> + use<> {
    steps(starts, options, false).filter_map(|step| match step {
        Ok(WalkItem::Found(found)) => Some(Ok(found)),
        Ok(WalkItem::LeftOut(_)) => None,
        Err(error) => Some(Err(error)),
    })
}

/// Returns the files of [`walk`], and in between what is left out below folders. A folder that is
/// left out is one step, whatever is in it.
pub fn walk_all(
    starts: &[Start],
    options: &WalkOptions,
) -> impl Iterator<Item = Result<WalkItem>> + use<> {
    steps(starts, options, true)
}

fn steps(
    starts: &[Start],
    options: &WalkOptions,
    lists_all: bool,
) -> impl Iterator<Item = Result<WalkItem>> + use<> {
    let WalkOptions { max_file_mb, follow_links, .. } = *options;
    let includes_generated = options.text_extensions.includes_generated;
    let extent = WalkExtent { includes_generated, lists_all };
    let text_extensions = options.text_extensions.clone();
    let max_bytes = options.max_bytes();
    let of_files = starts.iter().filter(|start| !start.path.is_dir());
    let named: HashSet<PathBuf> = of_files.map(|start| resolved(&start.path)).collect();
    // One folder without links cannot lead to a file twice, so a plain walk remembers nothing.
    let mut seen = (starts.len() > 1 || follow_links).then(SeenFiles::default);

    let starts = starts.to_vec();
    let files = starts.into_iter().enumerate().flat_map(move |(number, start)| {
        let (read_as, known) = (start.read_as.clone(), start.reach.as_ref().map(|_| number));
        let files = files(start, follow_links, extent);
        files.map(move |(item, reach)| (item, reach, read_as.clone(), known))
    });
    files.filter_map(move |(item, reach, read_as, known)| {
        let WalkedFile { path, metadata, is_included } = match item {
            Ok(WalkedEntry::File(file)) => file,
            Ok(WalkedEntry::LeftOut(left_out)) => return Some(Ok(WalkItem::LeftOut(left_out))),
            Err(error) => return Some(Err(error)),
        };
        let is_named = !named.is_empty() && named.contains(&identity(&path, &reach));
        if seen.as_mut().is_some_and(|seen| !seen.is_new(&path, &reach, known)) {
            return None;
        }
        if metadata.len() > max_bytes {
            // A large file is a failure only if kb would read it.
            let is_wanted = is_named || detect::is_claimed(&path, &text_extensions);
            if is_wanted {
                return Some(Err(Error::TooLarge { path, limit_mb: max_file_mb }));
            }
            let stamp = Some(Stamp::of(&metadata));
            let left_out = LeftOut { path, rule: LeftOutReason::Size, stamp };
            return Some(Ok(WalkItem::LeftOut(left_out)));
        }
        Some(Ok(WalkItem::Found(FoundFile {
            path,
            stamp: Stamp::of(&metadata),
            is_named,
            is_included,
            reach,
            read_as,
        })))
    })
}

/// Files that were found already.
#[derive(Default)]
struct SeenFiles {
    /// By the number of the known start, or `None` for all others.
    files: HashSet<(Option<usize>, PathBuf)>,
    paths: HashSet<PathBuf>,
}

impl SeenFiles {
    /// Whether a file is found for the first time. A file that was added before may be remembered at
    /// several paths, so it counts at one path of each start: otherwise the other paths would be out of
    /// date for ever.
    fn is_new(&mut self, path: &Path, reach: &Reach, known: Option<usize>) -> bool {
        if known.is_some() && !self.paths.insert(path.to_owned()) {
            return false;
        }
        let may_repeat = known.is_none() || *reach == Reach::Anywhere;
        !may_repeat || self.files.insert((known, identity(path, reach)))
    }
}

/// Returns a path that is equal for two paths to the same file. Hard links stay separate: they are
/// copies that change together, and each path is remembered.
fn identity(path: &Path, reach: &Reach) -> PathBuf {
    // Without links, the path is the identity. Only where they are followed does the system have to be asked.
    match reach {
        Reach::Below(folder) => folder.within(path).unwrap_or_else(|| path.to_owned()),
        Reach::Exactly(real) => real.clone(),
        Reach::Anywhere => resolved(path),
    }
}

/// Items, each with the links that may be followed to open it.
type Items = Box<dyn Iterator<Item = (Item, Reach)>>;

/// Returns the files of one start.
fn files(start: Start, follow_links: bool, extent: WalkExtent) -> Items {
    let Start { path, reach, read_as: _, territory } = start;
    let (reach, metadata) = match look(&path, reach) {
        Ok(found) => found,
        Err(error) => return one(Err(error), Reach::Anywhere),
    };
    if metadata.is_file() {
        return one(
            Ok(WalkedEntry::File(WalkedFile { path, metadata, is_included: false })),
            reach,
        );
    }
    if !metadata.is_dir() {
        return one(Err(Error::NotAFile { path }), reach);
    }
    // Ignore rules apply from the added folder downwards, also if the walk starts below it.
    let base = match &reach {
        Reach::Below(base) => Ok(Arc::clone(base)),
        Reach::Anywhere | Reach::Exactly(_) => ResolvedFolder::at(&path).map(Arc::new),
    };
    let base = match base {
        Ok(base) => base,
        Err(error) => return one(Err(error), reach),
    };
    let reach = if follow_links || reach == Reach::Anywhere {
        Reach::Anywhere
    } else {
        Reach::Below(Arc::clone(&base))
    };
    let tree = FileTree::new(&path, &base, reach.clone(), territory, extent);
    Box::new(tree.map(move |item| (item, reach.clone())))
}

/// Returns a single item.
fn one(item: Item, reach: Reach) -> Items {
    Box::new(std::iter::once((item, reach)))
}

/// Returns the metadata of a start.
fn look(path: &Path, reach: Option<Reach>) -> Result<(Reach, Metadata)> {
    let reach = match reach {
        Some(reach) => reach,
        None => Reach::named(path)?,
    };
    let metadata = reach.look(path)?;
    Ok((reach, metadata))
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
