//! Updates the database to match the added files and folders.

mod report;

use std::collections::HashMap;
use std::path::Path;

use crate::app::indexing::edit::kept;
use crate::app::indexing::ingestion::options::{is_claimed, walk_options};
use crate::app::indexing::ingestion::request::{AddRequest, DocumentSource};
use crate::app::indexing::ingestion::{Walks, ingest};
use crate::app::indexing::relocate::follow_database;
use crate::app::indexing::reread::{outdated, reread};
use crate::app::indexing::{last_update, scope};
use crate::app::session::running::LongCommand;
use crate::app::session::{erase, export_file};
use crate::app::{Observer, Session};
use crate::document::Filter;
use crate::error::{Error, Result};
use crate::ingest::content_hash;
use crate::ingest::survey::{FolderSurvey, SurveyInput, is_away, is_missing, survey};
use crate::store::{DocumentId, ForgetOutcome, Store};
use crate::text::paths;

pub use report::{Move, RefusedFolder, UpdateReport, UpdateRequest};

/// Largest share of a folder's documents, in percent, removed without `--force`. If more are missing, the folder has
/// probably moved, or its disk is away.
const MAX_PERCENT_LOST: usize = 30;

/// Updates the database to match the added files and folders.
pub fn update(
    session: &Session,
    request: &UpdateRequest,
    observer: &dyn Observer,
) -> Result<UpdateReport> {
    if !request.is_dry_run {
        session.require_writable()?;
    }
    let mut report = match &request.rereads {
        Some(selection) if selection.is_partial() => {
            UpdateReport { is_dry_run: request.is_dry_run, ..UpdateReport::default() }
        }
        _ => follow_files(session, request, observer)?,
    };
    if let Some(selection) = &request.rereads
        && !request.is_dry_run
    {
        let made = reread(session, selection, request.password.as_deref(), observer)?;
        report.reread = made.num_made;
        report.failed.extend(made.failed);
    }
    if let Some(store) = session.open_existing()? {
        report.made_differently = outdated(session, &store)?.len();
        report.notes = session.unfollowed_notes(&store)?;
    }
    Ok(report)
}

/// Reads new and changed files, and reports or removes documents whose files are missing.
fn follow_files(
    session: &Session,
    request: &UpdateRequest,
    observer: &dyn Observer,
) -> Result<UpdateReport> {
    let report = UpdateReport { is_dry_run: request.is_dry_run, ..UpdateReport::default() };
    let Some(mut store) = session.open_existing()? else {
        return Ok(UpdateReport { is_nothing_added: true, ..report });
    };
    session.require_files(&store)?;
    if !request.is_dry_run {
        follow_database(session, &mut store, observer)?;
    }
    let scope = scope::read(session, &store, &request.named)?;
    let scope = SurveyInput { is_exact: request.is_dry_run, ..scope };
    let has_files =
        !scope.parts.is_empty() || !scope.known.is_empty() || !scope.without_text.is_empty();
    let is_nothing_added = !has_files && !store.has_document(&Filter::default())?;
    let report = UpdateReport { is_nothing_added, ..report };
    store.close()?;
    let before = survey(&scope);
    let mut run = UpdateRun { session, request, observer, scope: &scope, report };
    run.report.away = before
        .iter()
        .flat_map(|survey| {
            survey.root.iter().filter(|_| survey.is_away).chain(&survey.empty_folders)
        })
        .cloned()
        .collect();
    for path in before.iter().flat_map(|survey| &survey.refused) {
        let error = Error::LinkRefused { path: path.clone() };
        observer.failure(error.message());
        run.report.failed.push((path.clone(), error));
    }
    if request.is_dry_run {
        run.foresee(before);
    } else {
        run.read(&before)?;
        run.settle(&before)?;
    }
    Ok(run.report)
}

/// An update in progress.
struct UpdateRun<'a> {
    session: &'a Session,
    request: &'a UpdateRequest,
    observer: &'a dyn Observer,
    scope: &'a SurveyInput,
    report: UpdateReport,
}

impl UpdateRun<'_> {
    /// Fills the report of a dry run.
    fn foresee(&mut self, surveys: Vec<FolderSurvey>) {
        let max_bytes = walk_options(self.session, false).max_bytes();
        // New files are hashed only if others are missing, because only then one of them may have moved.
        let is_any_missing = surveys.iter().any(|survey| !survey.missing.is_empty());
        let new = surveys.iter().filter(|_| is_any_missing).flat_map(|survey| &survey.new);
        let mut new_files: HashMap<String, String> = HashMap::new();
        for path in new {
            if let Some(hash) = self.hash(path, max_bytes) {
                new_files.insert(hash, paths::path_text(path));
            }
        }
        for (path, reason) in surveys.iter().flat_map(|survey| &survey.unused_rules) {
            let error = Error::IgnoreFile { path: path.clone(), reason: reason.clone() };
            self.observer.warn(error.message());
        }
        // Nothing is known about the files of a folder that is away.
        for mut survey in surveys.into_iter().filter(|survey| !survey.is_away && !survey.is_refused)
        {
            self.report.updated += survey.changed.len();
            self.report.added += survey.new.len();
            self.report.unchanged += num_unchanged(&survey);
            self.report.known_failed += survey.failed.len();
            let num_missing = survey.missing.len();
            let known = &self.scope.known;
            let moves = &mut self.report.moves;
            survey.missing.retain(|missing| {
                let to = match known.iter().find(|file| file.stamp.path == missing.path) {
                    Some(file) if !missing.is_elsewhere => new_files.get(&file.content_hash),
                    _ => known
                        .iter()
                        .filter(|file| file.document_id == missing.document_id)
                        .map(|file| &file.stamp.path)
                        .find(|path| !is_missing(&paths::path_of(path))),
                };
                moves.extend(to.map(|to| Move {
                    from: missing.path.clone(),
                    to: to.clone(),
                    document_id: missing.document_id,
                }));
                to.is_none() && !missing.is_elsewhere
            });
            let num_moved = num_missing - survey.missing.len();
            self.report.moved += num_moved;
            self.report.added = self.report.added.saturating_sub(num_moved);
            if self.request.prunes && !is_too_much(&survey, self.request.is_forced) {
                self.report
                    .removed
                    .extend(survey.missing.iter().map(|missing| missing.document_id));
                self.report
                    .removed_paths
                    .extend(survey.missing.into_iter().map(|missing| missing.path));
            } else {
                self.refuse(&survey);
                self.report.missing.extend(survey.missing);
            }
        }
        self.report.removed.sort_unstable();
        self.report.removed.dedup();
    }

    /// Returns the hash of a new file; `None` if it cannot be read.
    fn hash(&self, path: &Path, max_bytes: u64) -> Option<String> {
        let reach = self.scope.roots.of_file(path, None).ok()?;
        Some(content_hash(&reach.read(path, max_bytes).ok()?))
    }

    /// Reads new and changed files.
    fn read(&mut self, before: &[FolderSurvey]) -> Result<()> {
        // Named files come before the folders that they are in, because the first start that reaches a file decides how
        // it is read.
        let mut starts = Vec::new();
        // These include files that a newer ignore rule hides, because the user once added them.
        for survey in before {
            // No walk finds files outside all folders, so they are counted here.
            if survey.root.is_none() {
                self.report.unchanged += num_unchanged(survey);
                self.report.known_failed += survey.failed.len();
            }
            // Empty files in folders are skipped. But if the file had text, the text is kept and the file reported.
            let emptied = survey.changed.iter().filter(|path| {
                path.symlink_metadata().is_ok_and(|found| found.len() == 0)
                    && !survey.unreached.contains(path)
            });
            self.report.failed.extend(
                emptied.map(|path| (path.clone(), Error::EmptyFile { path: path.clone() })),
            );
            for path in &survey.unreached {
                let text = paths::path_text(path);
                let known = self.scope.known.iter().find(|file| {
                    file.stamp.path == text || paths::path_of(&file.stamp.path) == *path
                });
                let Some(known) = known else { continue };
                let language = known.language.as_deref();
                let is_claimed = is_claimed(self.session, path);
                match self
                    .scope
                    .roots
                    .start_of_file(&known.stamp, known.doc_type, language, is_claimed)
                {
                    Ok(start) => starts.push(start),
                    Err(error) => self.report.failed.push((path.clone(), error)),
                }
            }
        }
        let parts = self.scope.parts.iter().filter(|part| !is_away(part));
        starts.extend(parts.filter_map(|part| self.scope.roots.start(part).ok()));
        if starts.is_empty() {
            return Ok(());
        }
        let add = AddRequest {
            password: self.request.password.clone(),
            command: if self.request.is_watched { LongCommand::Watch } else { LongCommand::Update },
            ..AddRequest::of(DocumentSource::Paths(Vec::new()))
        };
        let found = ingest(self.session, &add, Walks::Known(&starts), self.observer)?;
        self.report.added += found.added;
        self.report.updated += found.updated;
        self.report.unchanged += found.skipped;
        self.report.failed.extend(found.failed);
        self.report.known_failed += found.known_failed;
        self.report.lossy += found.lossy;
        self.report.uncertain_encodings += found.uncertain_encodings;
        Ok(())
    }

    /// Follows moved files, and removes the documents of missing files if requested.
    fn settle(&mut self, before: &[FolderSurvey]) -> Result<()> {
        let Some(mut store) = self.session.open_existing()? else { return Ok(()) };
        let mut to_remove = Vec::new();
        for survey in before {
            store.set_mounted(&survey.mounted)?;
            let mut left = FolderSurvey { missing: Vec::new(), ..survey.clone() };
            for missing in &survey.missing {
                let path = paths::path_of(&missing.path);
                // A disk may have been unmounted while the files were read.
                if survey.root.as_deref().is_some_and(is_away) || !is_missing(&path) {
                    continue;
                }
                let document = store.document(missing.document_id)?;
                let shown = document.and_then(|document| document.path);
                let to = shown.filter(|shown| {
                    let shown = paths::path_of(shown);
                    shown != path && !is_missing(&shown)
                });
                let Some(to) = to else {
                    left.missing.push(missing.clone());
                    continue;
                };
                if store.forget_path(&missing.path, missing.document_id, false)?
                    == ForgetOutcome::Path
                {
                    self.report.moved += 1;
                    let (from, document_id) = (missing.path.clone(), missing.document_id);
                    self.report.moves.push(Move { from, to, document_id });
                    // The run has counted the file at its new path as unchanged.
                    self.report.unchanged = self.report.unchanged.saturating_sub(1);
                }
            }
            left.missing.iter_mut().for_each(|missing| missing.is_elsewhere = false);
            if !self.request.prunes || is_too_much(&left, self.request.is_forced) {
                self.refuse(&left);
                self.report.missing.extend(left.missing);
                continue;
            }
            to_remove.extend(left.missing);
        }
        if let Some(file) = &self.request.export {
            let mut ids: Vec<DocumentId> =
                to_remove.iter().map(|missing| missing.document_id).collect();
            ids.sort_unstable();
            ids.dedup();
            export_file::export_documents(&store, &ids, &[], file, self.observer)?;
        }
        for missing in to_remove {
            let forgotten = store.forget_path(&missing.path, missing.document_id, true)?;
            if let ForgetOutcome::Document(id) = forgotten {
                self.report.removed.push(id);
                self.report.removed_paths.push(missing.path);
            }
        }
        // An update of named files says nothing about the others.
        if self.request.named.is_empty() {
            last_update::remember(&mut store)?;
        }
        self.forget_named_failures(&mut store)?;
        erase::finish(store, self.observer)?;
        kept::erase(self.session.data_dir(), &self.report.removed)
    }

    /// Forgets files that failed when they were named, outside all folders, and are missing now.
    fn forget_named_failures(&self, store: &mut Store) -> Result<()> {
        if !self.request.named.is_empty() {
            return Ok(());
        }
        let failures = store.files_without_text()?.into_iter().map(|row| row.path);
        let gone = failures.filter(|path| {
            let path = paths::path_of(path);
            self.scope.roots.folder_of(&path).is_none() && is_missing(&path)
        });
        let gone: Vec<String> = gone.collect();
        store.update_ledger(&[], &gone)
    }

    fn refuse(&mut self, survey: &FolderSurvey) {
        if self.request.prunes && survey.num_lost() > 0 {
            self.report.refused.push(RefusedFolder {
                root: survey.root.clone(),
                num_lost: survey.num_lost(),
                num_documents: survey.num_documents,
            });
        }
    }
}

/// Counts the unchanged files.
fn num_unchanged(survey: &FolderSurvey) -> usize {
    let num_others = survey.changed.len() + survey.missing.len() + survey.refused.len();
    survey.num_known - num_others - survey.num_in_empty - survey.num_outdated
}

fn is_too_much(survey: &FolderSurvey, is_forced: bool) -> bool {
    !is_forced && survey.num_lost() * 100 > survey.num_documents * MAX_PERCENT_LOST
}

#[cfg(test)]
mod tests;
