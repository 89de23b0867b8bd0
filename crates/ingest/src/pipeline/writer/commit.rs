//! Stores what became of a file, and counts and reports it.

use crate::IngestEvent;
use crate::document::{Embedding, FileOutcome};
use crate::error::{Error, Result};
use crate::ledger::{FailureNews, LedgerFailure};
use crate::passages::embed;
use crate::pipeline::messages::{FinishedContainer, QueuedFile, ReadOutcome};
use crate::pipeline::remember;
use crate::prepare::PreparedDocument;
use crate::store::{DocumentId, KnownPath, StoredChange};
use crate::text::paths;
use crate::trace::stage;
use crate::walk::FoundFile;

use super::{PipelineWriter, WaitingDocument, too_slow};

impl PipelineWriter<'_, '_> {
    /// Stores what became of a file, and counts and reports it.
    pub(super) fn commit(&mut self, waiting: WaitingDocument) -> Result<()> {
        match waiting.outcome {
            ReadOutcome::Stopped => {}
            ReadOutcome::Ignored(left_out) => {
                self.run.report.count_ignored(&left_out);
                self.recorder.left_out(&left_out, self.run.store)?;
                (self.run.on_event)(IngestEvent::Ignored);
            }
            ReadOutcome::PassedOver { path, outcome } => {
                self.recorder.passed_over(&path);
                self.pass_over(outcome);
            }
            ReadOutcome::Failed(LedgerFailure {
                path,
                error: error @ Error::IgnoreFile { .. },
                ..
            }) => {
                (self.run.on_event)(IngestEvent::Warned(&error));
                self.run.report.warnings.push((path, error));
            }
            ReadOutcome::Failed(failed) => {
                if failed.error.is_fatal() {
                    return Err(failed.error);
                }
                match self.recorder.failed(&failed, self.run.store)? {
                    FailureNews::Yes => {
                        let LedgerFailure { path, error, .. } = failed;
                        (self.run.on_event)(IngestEvent::Failed { path: &path, error: &error });
                        self.run.report.failed.push((path, error));
                    }
                    FailureNews::No => self.pass_over(FileOutcome::Failed),
                    FailureNews::Waived => self.pass_over(FileOutcome::Waived),
                }
            }
            ReadOutcome::Known { found, document_id, content_hash, is_new_path } => {
                let path = paths::path_text(&found.path);
                remember::rename(self.run.store, &path)?;
                if !is_new_path && self.run.options.title.is_none() {
                    // Nearly every file of a repeated run ends here.
                    return self.skip(&found, document_id, false);
                }
                let before = self.run.store.known_path(&path)?;
                let document = (document_id, content_hash.as_str());
                if is_new_path
                    && !remember::remember(self.run.store, self.planner, &found, document)?
                {
                    return self.read_again(found);
                }
                // A copy of a document gives it its title, too: now the path is known.
                let now = self.run.store.known_path(&path)?;
                if now.is_some_and(|known| self.planner.decider.is_retitled(&known)) {
                    return self.read_again(found);
                }
                self.count_copy(&path, before.as_ref())?;
                let is_change =
                    is_new_path && before.is_some_and(|known| known.document_id != document_id);
                self.skip(&found, document_id, is_change)?;
            }
            ReadOutcome::Container(sealed) => self.seal(&sealed)?,
            ReadOutcome::Prepared(prepared, _) => {
                let embeddings = waiting.embeddings.into_iter().flatten().collect::<Vec<_>>();
                self.replace(&prepared, &embeddings)?;
            }
        }
        Ok(())
    }

    /// Forgets the files that are no longer in a container, and records that it was read. The files in
    /// an unchanged one count as skipped.
    fn seal(&mut self, sealed: &FinishedContainer) -> Result<()> {
        let FinishedContainer { found, members, is_document } = sealed;
        let known = self.run.store.members_of(&paths::path_text(&found.path))?;
        match members {
            None => {
                self.run.report.skipped += known.len();
                self.recorder.passed_over(&found.path);
                self.run.report.known_failed += self.recorder.members_passed_over(&found.path);
                (self.run.on_event)(IngestEvent::PassedOver);
                return Ok(());
            }
            Some(seen) => {
                for (path, id) in known.into_iter().filter(|(path, _)| !seen.contains(path)) {
                    self.run.store.forget_path(&path, id, true)?;
                }
            }
        }
        (self.run.on_event)(IngestEvent::Ignored);
        // A container that is also a document, such as an e-mail, needs no row: the stamp of the document says that it
        // was read.
        if *is_document { Ok(()) } else { self.recorder.container(found, self.run.store) }
    }

    /// Counts a file that is not reported again.
    fn pass_over(&mut self, outcome: FileOutcome) {
        self.run.report.known_failed += usize::from(outcome == FileOutcome::Failed);
        (self.run.on_event)(IngestEvent::PassedOver);
    }

    /// Counts a skipped file as a copy if it was new, and its document is shown under another path.
    fn count_copy(&mut self, path: &str, before: Option<&KnownPath>) -> Result<()> {
        if before.is_none() {
            let now = self.run.store.known_path(path)?;
            self.run.report.copies += usize::from(now.is_some_and(|known| !known.is_primary()));
        }
        Ok(())
    }

    /// Ingests a file whose document no longer has its bytes, or gets another title. In the first
    /// case another file of the same run has changed that document (a copy was made, then the
    /// original changed).
    fn read_again(&mut self, found: FoundFile) -> Result<()> {
        for mut outcome in self.planner.outcomes(QueuedFile::Read(found, None)) {
            let mut embeddings = Vec::new();
            if let ReadOutcome::Prepared(prepared, budget) = &outcome {
                let embedded =
                    embed(self.planner.embedder, Some(self.run.store), &prepared.chunks, budget);
                match embedded {
                    Ok(embedded) => embeddings = embedded.into_iter().map(Some).collect(),
                    Err(error @ Error::TooSlow { .. }) => {
                        outcome = ReadOutcome::Failed(too_slow(prepared, error));
                    }
                    Err(error) => return Err(error),
                }
            }
            self.commit(WaitingDocument { outcome, embeddings, num_missing: 0 })?;
        }
        Ok(())
    }

    /// Counts a file whose bytes are already stored: as updated if the file changed, else as
    /// skipped.
    fn skip(&mut self, found: &FoundFile, document_id: DocumentId, is_change: bool) -> Result<()> {
        if !self.run.options.tags.is_empty() && !self.run.options.keeps_tags {
            let num_new = self.run.store.add_tags(document_id, &self.run.options.tags)?;
            self.run.report.tagged += usize::from(num_new > 0);
        }
        *(if is_change { &mut self.run.report.updated } else { &mut self.run.report.skipped }) += 1;
        self.recorder.indexed(&paths::path_text(&found.path));
        (self.run.on_event)(IngestEvent::Skipped { path: Some(&found.path), document_id });
        Ok(())
    }

    fn replace(&mut self, prepared: &PreparedDocument, embeddings: &[Embedding]) -> Result<()> {
        let planner = self.planner;
        let path = prepared.document.stamp.as_ref().map(|stamp| stamp.path.as_str());
        let path = path.unwrap_or_default();
        remember::rename(self.run.store, path)?;
        let before = self.run.store.known_path(path)?;
        let is_tagged = match &before {
            Some(known) => self.has_new_tag(known)?,
            None => false,
        };
        let change = stage("store", || {
            let PreparedDocument { document, chunks, .. } = prepared;
            self.run.store.replace(document, chunks, embeddings, &|stamp| {
                remember::is_unchanged(planner, stamp)
            })
        })?;
        // Two copies were read before the first was stored, and this is the second.
        if let StoredChange::Unchanged(_) = change {
            self.count_copy(path, before.as_ref())?;
        }
        let is_retitled = before.is_some_and(|known| {
            known.content_hash == prepared.document.content_hash
                && planner.decider.is_retitled(&known)
        });
        self.run.report.retitled += usize::from(is_retitled);
        self.run.report.tagged += usize::from(is_tagged);
        self.recorder.indexed(path);
        self.run.report.count(change, prepared, self.run.on_event);
        Ok(())
    }

    /// Whether the user gives a document a tag that it does not have yet.
    fn has_new_tag(&self, known: &KnownPath) -> Result<bool> {
        let options = self.run.options;
        if options.tags.is_empty() || options.keeps_tags {
            return Ok(false);
        }
        let document = self.run.store.document(known.document_id)?;
        let tags = document.map(|document| document.tags).unwrap_or_default();
        Ok(options.tags.iter().any(|tag| !tags.contains(tag)))
    }
}
