//! Compares folders and remembered files with the disk. Writes nothing, and reads only files that
//! seem changed, and only on request.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::FileOutcome;
use crate::error::Error;
use crate::extract::{containers, detect};
use crate::files::reach::Reach;
use crate::files::stamp::Stamp;
use crate::mounts::Mounts;
use crate::roots::Roots;
use crate::store::{DocumentId, LedgerRow, RememberedFile};
use crate::text::paths;
use crate::walk::{FoundFile, Start, WalkOptions, innermost};
use crate::{content_hash, member_rows, walk};

/// A missing file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Missing")]
pub struct MissingFile {
    /// Its path.
    pub path: String,
    /// Its document.
    pub document_id: DocumentId,
    /// Whether the document has another path with the same bytes, so that nothing is lost.
    #[serde(skip)]
    pub is_elsewhere: bool,
}

/// The files that are out of date below one folder, or among the files that the user named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderSurvey {
    /// The folder; `None` for files outside all folders.
    pub root: Option<PathBuf>,
    /// The folder is missing, empty or unreadable: perhaps a disk that is not mounted. Then
    /// nothing below it is compared.
    pub is_away: bool,
    /// The folder's path leads elsewhere than when it was added. Then nothing below it is compared.
    pub is_refused: bool,
    /// Remembered files.
    pub num_known: usize,
    /// Remembered documents.
    pub num_documents: usize,
    /// Remembered files whose size, time or (if they were read) bytes have changed.
    pub changed: Vec<PathBuf>,
    /// The changed files that no walk finds: named by the user, or hidden by an ignore rule since.
    pub unreached: Vec<PathBuf>,
    /// Files never seen before whose name some format claims.
    pub new: Vec<PathBuf>,
    /// Files that could not be read, and are as they were then.
    pub failed: Vec<PathBuf>,
    /// How many of those files are remembered with an earlier content.
    pub num_outdated: usize,
    /// Remembered files that are missing.
    pub missing: Vec<MissingFile>,
    /// Folders whose remembered files may be on a disk that is not mounted, so the files do not count as
    /// missing.
    pub empty_folders: BTreeSet<PathBuf>,
    /// How many files those folders contained.
    pub num_in_empty: usize,
    /// Remembered files, or the folder itself, that were replaced by a link that is not followed.
    /// They are not read, and their documents stay unchanged.
    pub refused: Vec<PathBuf>,
    /// Files that are on another file system than when they were last seen, and whether it is that of a mount.
    pub mounted: Vec<(String, bool)>,
    /// Ignore files that are not used, and why.
    pub unused_rules: Vec<(PathBuf, String)>,
}

impl FolderSurvey {
    /// Counts the documents that would be removed with the missing files.
    pub fn num_lost(&self) -> usize {
        let lost = self
            .missing
            .iter()
            .filter(|missing| !missing.is_elsewhere)
            .map(|missing| missing.document_id);
        lost.collect::<HashSet<_>>().len()
    }
}

/// Files that have changed since they were added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OutOfDate {
    /// Files whose size or time differs.
    #[serde(rename = "changed")]
    pub num_changed: usize,
    /// New files.
    #[serde(rename = "new")]
    pub num_new: usize,
    /// Missing files.
    #[serde(rename = "missing")]
    pub num_missing: usize,
    /// Missing and empty folders.
    #[serde(rename = "folders_away")]
    pub num_folders_away: usize,
    /// Files that could not be read and have not changed since.
    #[serde(rename = "failed")]
    pub num_failed: usize,
    /// Files and folders replaced by a link that is not followed.
    #[serde(rename = "links_refused")]
    pub num_refused: usize,
}

impl OutOfDate {
    /// Adds up surveys.
    pub fn of(surveys: &[FolderSurvey]) -> Self {
        let sum = |count: fn(&FolderSurvey) -> usize| surveys.iter().map(count).sum();
        Self {
            num_changed: sum(|survey| survey.changed.len()),
            num_new: sum(|survey| survey.new.len()),
            num_missing: sum(|survey| survey.missing.len()),
            num_failed: sum(|survey| survey.failed.len()),
            num_folders_away: sum(|survey| {
                usize::from(survey.is_away) + survey.empty_folders.len()
            }),
            num_refused: sum(|survey| survey.refused.len()),
        }
    }
}

/// Whether a folder is missing, empty or unreadable, as after unmounting a disk.
pub fn is_away(folder: &Path) -> bool {
    folder.read_dir().map_or(true, |mut entries| entries.next().is_none())
}

/// Whether a file is certainly missing, or replaced by a folder. A file that cannot be examined is
/// not missing.
pub fn is_missing(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(found) => found.is_dir(),
        Err(error) => {
            matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        }
    }
}

/// Returns the folder of a missing file that may be on a disk that is not mounted: one that was mounted when kb last
/// saw the file, or an empty one where kb never saw it. `files` is what is remembered of the path.
fn away_folder<'p>(
    roots: &Roots,
    mounts: &mut Mounts,
    path: &'p Path,
    files: &[&RememberedFile],
) -> Option<&'p Path> {
    let parent = path.parent().filter(|parent| is_away(parent));
    // For a file that the user named, only its folder shows whether its disk is mounted.
    if roots.folder_of(path).is_none() && parent.is_some() {
        return parent;
    }
    let there = path.ancestors().skip(1).find(|folder| folder.is_dir())?;
    if files.iter().any(|file| file.is_mounted == Some(true)) {
        let is_unmounted = mounts.is_mounted(roots, there) == Some(false);
        return is_unmounted.then_some(parent.unwrap_or(there));
    }
    let is_seen = files.iter().all(|file| file.is_mounted.is_some());
    Some(there).filter(|there| !is_seen && is_away(there))
}

/// The folders and files to survey, and the options.
#[derive(Debug, Clone)]
pub struct SurveyInput {
    /// All added folders.
    pub roots: Roots,
    /// Those that are walked, and folders in them ([`Roots::parts`]).
    pub parts: Vec<PathBuf>,
    /// Remembered files.
    pub known: Vec<RememberedFile>,
    /// Files that could not be read or have no text, by their path.
    pub without_text: BTreeMap<String, LedgerRow>,
    /// How folders are walked.
    pub walk: WalkOptions,
    /// Whether files that seem changed are read, so that a file whose time alone changed does not
    /// count.
    pub is_exact: bool,
}

/// Surveys the files of all folders and the remembered files outside them.
pub fn survey(scope: &SurveyInput) -> Vec<FolderSurvey> {
    let SurveyInput { parts, known, .. } = scope;
    let mut by_part: BTreeMap<Option<&Path>, Vec<&RememberedFile>> =
        parts.iter().map(|part| (Some(part.as_path()), Vec::new())).collect();
    for file in known {
        let path = paths::path_of(&file.stamp.path);
        by_part.entry(innermost(parts, &path).map(PathBuf::as_path)).or_default().push(file);
    }
    let mut groups: BTreeMap<Option<&Path>, Group<'_>> = by_part
        .into_iter()
        .filter(|(part, files)| part.is_some() || !files.is_empty())
        .map(|(part, files)| (part, Group::new(part, &files)))
        .collect();
    // All folders are walked at once, as for reading, so that a file to which several links lead is found once.
    let starts: Vec<Start> =
        groups.values_mut().filter_map(|group| group.start(&scope.roots)).collect();
    for found in walk::walk(&starts, &scope.walk) {
        let found = match found {
            Ok(found) => found,
            Err(Error::IgnoreFile { path, reason }) => {
                if let Some(group) = group_of(&mut groups, parts, &path) {
                    group.survey.unused_rules.push((path, reason));
                }
                continue;
            }
            // A file that cannot be reached is reported when it is ingested.
            Err(_) => continue,
        };
        if let Some(group) = group_of(&mut groups, parts, &found.path) {
            group.meet(scope, found);
        }
    }
    let with_copies = documents_with_copies(scope);
    groups.into_values().map(|group| group.finish(scope, &with_copies)).collect()
}

/// Returns the group of the innermost part that contains a path.
fn group_of<'g, 'a>(
    groups: &'g mut BTreeMap<Option<&'a Path>, Group<'a>>,
    parts: &'a [PathBuf],
    path: &Path,
) -> Option<&'g mut Group<'a>> {
    groups.get_mut(&innermost(parts, path).map(PathBuf::as_path))
}

/// Returns the documents that have both a missing file and an existing one.
fn documents_with_copies(scope: &SurveyInput) -> HashSet<DocumentId> {
    let (gone, there): (Vec<_>, Vec<_>) =
        scope.known.iter().partition(|file| is_missing(&paths::path_of(&file.stamp.path)));
    let gone: HashSet<DocumentId> = gone.into_iter().map(|file| file.document_id).collect();
    there
        .into_iter()
        .filter(|file| gone.contains(&file.document_id))
        .filter(|file| !matches!(scope.roots.look(&file.stamp), Err(Error::LinkRefused { .. })))
        .map(|file| file.document_id)
        .collect()
}

/// A folder, or the files outside all folders, with what is not found yet.
struct Group<'a> {
    survey: FolderSurvey,
    /// All files in a container have its path.
    unseen: HashMap<PathBuf, Vec<&'a RememberedFile>>,
    mounts: Mounts,
}

impl<'a> Group<'a> {
    fn new(root: Option<&Path>, files: &[&'a RememberedFile]) -> Self {
        let mut unseen: HashMap<PathBuf, Vec<&RememberedFile>> = HashMap::new();
        for file in files {
            unseen.entry(paths::path_of(&file.stamp.path)).or_default().push(file);
        }
        let documents: HashSet<_> = files.iter().map(|file| file.document_id).collect();
        let survey = FolderSurvey {
            root: root.map(Path::to_owned),
            num_known: files.len(),
            num_documents: documents.len(),
            ..FolderSurvey::default()
        };
        Self { survey, unseen, mounts: Mounts::default() }
    }

    /// Returns where the folder is walked; `None` if it cannot be, or for files outside all folders.
    fn start(&mut self, roots: &Roots) -> Option<Start> {
        let root = self.survey.root.as_ref()?;
        let start = roots.start(root);
        self.survey.is_refused = matches!(start, Err(Error::LinkRefused { .. }));
        if self.survey.is_refused {
            self.survey.refused.push(root.clone());
            return None;
        }
        self.survey.is_away = is_away(root);
        start.ok().filter(|_| !self.survey.is_away)
    }

    /// Compares a file that the walk has found with what is remembered of it.
    fn meet(&mut self, scope: &SurveyInput, found: FoundFile) {
        let survey = &mut self.survey;
        let is_claimed = |path: &Path| detect::is_claimed(path, &scope.walk.text_extensions);
        let stamp = found.stamp;
        if detect::may_be_container(&found.path) || containers::may_embed(&found.path) {
            let members = member_rows::of(&scope.without_text, &found.path);
            let failed = members
                .filter(|row| row.outcome == FileOutcome::Failed && row.stamp == Some(stamp));
            survey.failed.extend(failed.map(|row| PathBuf::from(&row.path)));
        }
        let files = self.unseen.remove(&found.path).unwrap_or_default();
        let folder = found.path.parent().filter(|_| !files.is_empty());
        if let Some(now) = folder.and_then(|folder| self.mounts.is_mounted(&scope.roots, folder)) {
            let moved = files.iter().filter(|file| file.is_mounted != Some(now));
            survey.mounted.extend(moved.map(|file| (file.stamp.path.clone(), now)));
        }
        let file = files.first().copied();
        match file {
            file if has_no_text(scope, survey, &found.path, stamp, file) => {}
            Some(file) if is_changed(scope, file, stamp, &found.reach) => {
                // The user specified its type, so walking the folder would not find it.
                if !is_claimed(&found.path) {
                    survey.unreached.push(found.path.clone());
                }
                survey.changed.push(found.path);
            }
            None if found.stamp.size_bytes > 0 && is_claimed(&found.path) => {
                survey.new.push(found.path);
            }
            _ => {}
        }
    }

    /// Looks at the files that the walk has not found: those that the user named, those hidden by an
    /// ignore rule since, and missing ones.
    fn finish(self, scope: &SurveyInput, with_copies: &HashSet<DocumentId>) -> FolderSurvey {
        let Self { mut survey, unseen, mut mounts } = self;
        if survey.is_refused || survey.is_away {
            return survey;
        }
        let mut rest: Vec<_> = unseen.into_iter().collect();
        rest.sort_by(|a, b| a.0.cmp(&b.0));
        for (path, files) in rest {
            let Some(file) = files.first() else { continue };
            let reach = scope.roots.of_file(&path, file.stamp.real_path.as_deref());
            let found = reach.and_then(|reach| Ok((reach.look(&path)?, reach)));
            match found {
                Ok((found, reach)) if found.is_file() => {
                    let stamp = Stamp::of(&found);
                    if !has_no_text(scope, &mut survey, &path, stamp, Some(file))
                        && is_changed(scope, file, stamp, &reach)
                    {
                        survey.changed.push(path.clone());
                        survey.unreached.push(path);
                    }
                }
                Err(Error::LinkRefused { .. }) => survey.refused.push(path),
                _ if is_missing(&path) => {
                    if let Some(folder) = away_folder(&scope.roots, &mut mounts, &path, &files) {
                        survey.empty_folders.insert(folder.to_owned());
                        survey.num_in_empty += files.len();
                        continue;
                    }
                    survey.missing.extend(files.iter().map(|file| MissingFile {
                        path: file.stamp.path.clone(),
                        document_id: file.document_id,
                        is_elsewhere: with_copies.contains(&file.document_id),
                    }));
                }
                _ => {}
            }
        }
        survey
    }
}

/// Whether a file could not be read or had no text when it was as it is now, or is not to be read
/// again. Failures that are not waived are counted. `file` is what is remembered of an earlier
/// content.
fn has_no_text(
    scope: &SurveyInput,
    survey: &mut FolderSurvey,
    path: &Path,
    stamp: Stamp,
    file: Option<&RememberedFile>,
) -> bool {
    if scope.without_text.is_empty() || file.is_some_and(|file| file.stamp.stamp() == stamp) {
        return false;
    }
    let row = scope.without_text.get(&paths::path_text(path));
    let row = row.filter(|row| row.outcome == FileOutcome::Waived || row.stamp == Some(stamp));
    if row.is_some_and(|row| row.outcome == FileOutcome::Failed) {
        survey.failed.push(path.to_owned());
    }
    survey.num_outdated += usize::from(row.is_some() && file.is_some());
    row.is_some()
}

/// Whether a file differs from the remembered one.
fn is_changed(scope: &SurveyInput, file: &RememberedFile, stamp: Stamp, reach: &Reach) -> bool {
    let is_same = file.stamp.stamp() == stamp;
    if is_same || !scope.is_exact {
        return !is_same;
    }
    let bytes = reach.read(&paths::path_of(&file.stamp.path), scope.walk.max_bytes());
    bytes.map_or(true, |bytes| content_hash(&bytes) != file.content_hash)
}

#[cfg(test)]
mod tests;
