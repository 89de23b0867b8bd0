//! Replaces a container by the files in it, each of which goes the way of any file, and adds the files embedded in a
//! document.
//!
//! The container or the document comes last: it is recorded as read once everything in it is committed, so that a
//! run that was killed reads it again.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::extract::containers::{self, ContainedFile};
use crate::extract::detect;
use crate::ledger::LedgerFailure;
use crate::text::paths;
use crate::trace::stage;
use crate::walk::{FoundFile, LeftOut, LeftOutReason};

use super::messages::{FinishedContainer, QueuedFile, ReadOutcome};
use super::planner::Planner;

impl Planner<'_> {
    /// Returns what has a turn for a file that was found: itself, or the files in it.
    pub(super) fn items(self, found: Result<FoundFile>) -> Vec<QueuedFile> {
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                let path = error.path().unwrap_or(Path::new("")).to_owned();
                return vec![QueuedFile::Done(ReadOutcome::Failed(LedgerFailure {
                    path,
                    error,
                    stamp: None,
                }))];
            }
        };
        match self.unpacked(&found) {
            Ok(Some(items)) => items,
            Ok(None) => vec![QueuedFile::Read(found, None)],
            Err(error) => {
                let stamp = Some(found.stamp);
                vec![QueuedFile::Done(ReadOutcome::Failed(LedgerFailure {
                    path: found.path,
                    error,
                    stamp,
                }))]
            }
        }
    }

    /// Returns the files in a container, and the container itself; `None` for any other file, and for
    /// a container that is treated like one.
    fn unpacked(self, found: &FoundFile) -> Result<Option<Vec<QueuedFile>>> {
        // The name alone decides whether a file is opened here.
        if !detect::may_be_container(&found.path)
            || !found.wanted(self.decider.options.wanted).is_open()
        {
            return Ok(None);
        }
        let is_asked_for = found.is_named
            || self.decider.options.title.is_some()
            || !self.decider.options.rereads.is_empty();
        let adds_tags = !self.decider.options.tags.is_empty() && !self.decider.options.keeps_tags;
        if !is_asked_for && !adds_tags && self.decider.before.is_read(found) {
            let sealed =
                FinishedContainer { found: found.clone(), members: None, is_document: false };
            return Ok(Some(vec![QueuedFile::Done(ReadOutcome::Container(sealed))]));
        }
        if self.decider.before.passed_over(found).is_some() {
            return Ok(None);
        }
        let max_bytes = self.decider.options.walk.max_bytes();
        // A container that cannot be read is reported later, like any other file.
        let Ok(bytes) = stage("read", || found.reach.read(&found.path, max_bytes)) else {
            return Ok(None);
        };
        let Some(container) = detect::container(&found.path, &bytes) else { return Ok(None) };
        let pdf_options = &self.decider.options.pdf;
        let members = stage("unpack", || containers::unpack(&bytes, container, pdf_options))?;
        let Some(members) = members else { return Ok(None) };
        let (mut items, sealed) = items_of(found, members, false);
        items.push(QueuedFile::Done(ReadOutcome::Container(sealed)));
        Ok(Some(items))
    }

    /// Returns the outcomes of the files embedded in a document, which come before it; `None` for files that were
    /// not looked for, because the document is unchanged.
    pub(super) fn outcomes_of_members(
        self,
        found: &FoundFile,
        members: Option<Vec<ContainedFile>>,
    ) -> Result<Vec<ReadOutcome>> {
        if members.as_ref().is_none_or(Vec::is_empty) && !containers::may_embed(&found.path) {
            return Ok(Vec::new());
        }
        let path = paths::path_text(&found.path);
        let is_known = self.decider.before.has_members(&found.path)
            || !self.lock().members_of(&path)?.is_empty();
        let members = match members {
            Some(members) if is_known || !members.is_empty() => members,
            None if is_known => {
                let sealed =
                    FinishedContainer { found: found.clone(), members: None, is_document: true };
                return Ok(vec![ReadOutcome::Container(sealed)]);
            }
            _ => return Ok(Vec::new()),
        };
        let (items, sealed) = items_of(found, members, true);
        let mut outcomes: Vec<ReadOutcome> =
            items.into_iter().flat_map(|item| self.outcomes(item)).collect();
        outcomes.push(ReadOutcome::Container(sealed));
        Ok(outcomes)
    }
}

/// Returns the files in a container or a document, and the record for the writer when all of them were seen.
fn items_of(
    found: &FoundFile,
    members: Vec<ContainedFile>,
    is_document: bool,
) -> (Vec<QueuedFile>, FinishedContainer) {
    let text = paths::path_text(&found.path);
    let mut seen = HashSet::new();
    let mut items = Vec::new();
    for member in members {
        let path = paths::member_text(&text, &member.name);
        items.push(item(found, &path, member));
        seen.insert(path);
    }
    (items, FinishedContainer { found: found.clone(), members: Some(seen), is_document })
}

fn item(container: &FoundFile, path: &str, member: ContainedFile) -> QueuedFile {
    let stamp = Some(container.stamp);
    let path = PathBuf::from(path);
    let mut parts = member.name.split('/');
    // macOS puts attributes of files into `__MACOSX` of an archive.
    if parts.any(|part| part.starts_with('.') || part == "__MACOSX") {
        return QueuedFile::Done(ReadOutcome::Ignored(LeftOut {
            path,
            rule: LeftOutReason::Hidden,
            stamp,
        }));
    }
    match member.content {
        Ok(bytes) => {
            QueuedFile::Read(FoundFile { path, is_named: false, ..container.clone() }, Some(bytes))
        }
        Err(error) => QueuedFile::Done(ReadOutcome::Failed(LedgerFailure { path, error, stamp })),
    }
}
