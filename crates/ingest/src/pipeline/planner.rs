//! Walks folders, reads files that may be new on all workers, and does with each what is decided
//! about it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

use crate::decision::{self, ContentDecision, Decider, FileDecision, ReadContent};
use crate::embedder::Embedder;
use crate::error::{Error, FailureKind, Result};
use crate::extract::clock::CpuBudget;
use crate::extract::containers::{self, ContainedFile, ReadingChoice};
use crate::hash;
use crate::ledger::LedgerFailure;
use crate::prepare::ReadFile;
use crate::store::{KnownPath, Store, StoredDocument};
use crate::text::paths;
use crate::trace::stage;
use crate::walk::{FoundFile, LeftOut, LeftOutReason, Start, WalkItem};
use crate::{order, prepare, walk};

use super::messages::{Message, QueuedFile, ReadOutcome};

/// Finds files and sends them to the workers, which first check whether a file may be new.
#[derive(Clone, Copy)]
pub(super) struct Planner<'a> {
    pub(super) reader: &'a Mutex<Store>,
    pub(super) decider: Decider<'a>,
    pub(super) embedder: Option<&'a dyn Embedder>,
    pub(super) is_stopped: &'a AtomicBool,
}

impl Planner<'_> {
    /// Walks until all files are found or the run is stopped.
    pub(super) fn walk(
        self,
        starts: &[Start],
        pool: &rayon::ThreadPool,
        permits: &mpsc::Receiver<()>,
        to_writer: &mpsc::Sender<Message>,
    ) {
        pool.in_place_scope(|scope| {
            let mut num_turns = 0;
            let steps = walk::walk_all(starts, &self.decider.options.walk)
                .take_while(|_| !self.is_stopped.load(Ordering::Relaxed));
            let found = steps.filter_map(|step| match step {
                Ok(WalkItem::LeftOut(left_out)) => {
                    // The writer may have stopped already.
                    let _ = to_writer.send(Message::LeftOut(left_out));
                    None
                }
                Ok(WalkItem::Found(found)) => Some(Ok(found)),
                Err(error) => Some(Err(error)),
            });
            for found in order::small_first(found) {
                for item in self.items(found) {
                    if self.is_stopped.load(Ordering::Relaxed) || permits.recv().is_err() {
                        return;
                    }
                    let turn = num_turns;
                    num_turns += 1;
                    // As below, the writer may have stopped already.
                    let _ = to_writer.send(Message::Found(num_turns));
                    let to_writer = to_writer.clone();
                    scope.spawn(move |_| {
                        let outcomes = if self.is_stopped.load(Ordering::Relaxed) {
                            vec![ReadOutcome::Stopped]
                        } else {
                            self.outcomes(item)
                        };
                        // The writer may have stopped already.
                        let _ = to_writer.send(Message::Outcomes(turn, outcomes));
                    });
                }
            }
            let _ = to_writer.send(Message::Walked(num_turns));
        });
    }

    /// Returns what happens to the files embedded in a file, and last what happens to itself.
    pub(super) fn outcomes(self, item: QueuedFile) -> Vec<ReadOutcome> {
        let (found, content) = match item {
            QueuedFile::Read(found, content) => (found, content),
            QueuedFile::Done(outcome) => return vec![outcome],
        };
        let FoundFile { path, is_named, .. } = &found;
        let (path, is_named) = (path.clone(), *is_named);
        let stamp = Some(found.stamp);
        let outcomes = prepare::guarded(|| match content {
            // The bytes are here already, so no time is compared: their hash decides.
            Some(content) => {
                let known = decision::known_path(&self.lock(), &found)?;
                let PlannedFile { outcome, members } =
                    self.decide(found, &content, known.as_ref())?;
                Ok(vec![without_members(outcome, &members.unwrap_or_default())])
            }
            None => {
                let PlannedFile { outcome, members } = self.read(found.clone())?;
                let mut outcomes = self.outcomes_of_members(&found, members)?;
                outcomes.push(outcome);
                Ok(outcomes)
            }
        });
        match outcomes {
            Ok(outcomes) => outcomes,
            Err(Error::EmptyFile { .. }) if !is_named => {
                vec![ReadOutcome::Ignored(LeftOut { path, rule: LeftOutReason::Empty, stamp })]
            }
            Err(Error::Extract { failure: FailureKind::TooSmall, .. }) if !is_named => {
                vec![ReadOutcome::Ignored(LeftOut { path, rule: LeftOutReason::Small, stamp })]
            }
            Err(error) => vec![ReadOutcome::Failed(LedgerFailure { path, error, stamp })],
        }
    }

    /// Reads a file unless it is decided by its size and time.
    fn read(self, found: FoundFile) -> Result<PlannedFile> {
        let decision = self.decider.by_stamp(&self.lock(), &found)?;
        let known = match decision {
            FileDecision::Read(known) => known,
            FileDecision::Skip(known) => return self.skip(found, known),
            FileDecision::PassOver(row) => {
                let outcome = ReadOutcome::PassedOver { path: found.path, outcome: row.outcome };
                return Ok(PlannedFile::without_look(outcome));
            }
        };
        let limit_mb = self.decider.options.walk.max_file_mb;
        let max_bytes = self.decider.options.walk.max_bytes();
        let bytes = stage("read", || self.bytes_of(&found, max_bytes));
        let bytes = bytes.map_err(|error| match error {
            // The file has grown since the walk.
            Error::OverLimit { path, .. } => Error::TooLarge { path, limit_mb },
            error => error,
        })?;
        self.decide(found, &bytes, known.as_ref())
    }

    /// Reads a file, or a file in a container once more.
    fn bytes_of(self, found: &FoundFile, max_bytes: u64) -> Result<Vec<u8>> {
        let text = paths::path_text(&found.path);
        let (container, Some(name)) = paths::split_member(&text) else {
            return found.reach.read(&found.path, max_bytes);
        };
        let container = paths::path_of(container);
        let bytes = found.reach.read(&container, max_bytes)?;
        let member = containers::unpack_one(&container, &bytes, name, &self.decider.options.pdf)?;
        member.ok_or_else(|| Error::PathNotFound { path: found.path.clone() })
    }

    /// Skips a file whose document is up to date; its path may lead elsewhere now, or show the document from now on.
    fn skip(self, found: FoundFile, known: KnownPath) -> Result<PlannedFile> {
        let real_path = found.reach.real_path();
        let leads_elsewhere = real_path.is_some() && real_path != known.stamp.real_path;
        let is_moved = !known.is_primary() && !self.is_there(&known.primary_path)?;
        let members = self.members_of_unchanged(&found)?;
        let outcome = ReadOutcome::Known {
            found,
            document_id: known.document_id,
            is_new_path: leads_elsewhere || is_moved,
            content_hash: known.content_hash,
        };
        Ok(PlannedFile { outcome, members })
    }

    /// Decides what happens to the bytes of a file.
    fn decide(
        self,
        found: FoundFile,
        bytes: &[u8],
        known: Option<&KnownPath>,
    ) -> Result<PlannedFile> {
        if bytes.is_empty() {
            return Err(Error::EmptyFile { path: found.path });
        }
        let (is_named, wanted) = (found.is_named, found.wanted(self.decider.options.wanted));
        let further = &self.decider.options.walk.text_extensions;
        let choice = ReadingChoice { is_named, wanted, further };
        let detected = containers::detect(&found.path, bytes, choice, &self.decider.options.pdf)?;
        let Some((format, content)) = detected else {
            return Ok(PlannedFile::left_out(found, LeftOutReason::Type));
        };
        let hash = hash::sha256(bytes);
        let is_generated = choice.leaves_out(format, &content);
        let read = ReadContent { format, hash: &hash, is_generated };
        let decision = self.decider.by_content(&self.lock(), &found, known, read)?;
        match decision {
            ContentDecision::LeaveOut => Ok(PlannedFile::left_out(found, LeftOutReason::Generated)),
            ContentDecision::Remember(same) => {
                let members = self.members_of_copy(&found, &same, &content)?;
                let outcome = ReadOutcome::Known {
                    found,
                    document_id: same.id,
                    content_hash: hash,
                    is_new_path: true,
                };
                Ok(PlannedFile { outcome, members: Some(members) })
            }
            ContentDecision::Make { given_title, is_known } => {
                let found = &found;
                let file =
                    ReadFile { found, bytes: &content, format, content_hash: hash, given_title };
                self.prepare(file, is_known)
            }
        }
    }

    /// Whether a remembered path still leads to a file.
    pub(super) fn is_there(self, path: &str) -> Result<bool> {
        self.decider.is_there(&self.lock(), path)
    }

    /// Returns the files in an unchanged document that the user asks for: removed ones are restored, and all get its
    /// tags. `None` if the user asks for none.
    fn members_of_unchanged(self, found: &FoundFile) -> Result<Option<Vec<ContainedFile>>> {
        let adds_tags = !self.decider.options.tags.is_empty() && !self.decider.options.keeps_tags;
        if !(found.is_named || adds_tags) || !containers::may_embed(&found.path) {
            return Ok(None);
        }
        let bytes = found.reach.read(&found.path, self.decider.options.walk.max_bytes())?;
        containers::embedded(&found.path, &bytes, &self.decider.options.pdf).map(Some)
    }

    /// Returns the files in a copy of a stored document: each of them is remembered at both places.
    fn members_of_copy(
        self,
        found: &FoundFile,
        stored: &StoredDocument,
        content: &[u8],
    ) -> Result<Vec<ContainedFile>> {
        let path = stored.path.as_deref().unwrap_or_default();
        let has_members = !self.lock().members_of(path)?.is_empty();
        if has_members {
            containers::embedded(&found.path, content, &self.decider.options.pdf)
        } else {
            Ok(Vec::new())
        }
    }

    fn prepare(self, file: ReadFile<'_>, is_known: bool) -> Result<PlannedFile> {
        let budget = Arc::new(CpuBudget::new(self.decider.options.max_cpu));
        let of_folder = file.found.folder_tags();
        let mut prepared =
            prepare::prepare_file(file, self.decider.options, self.embedder, &budget)?;
        let tags = &mut prepared.document.tags;
        if is_known && self.decider.options.keeps_tags && !self.decider.options.inline_tags {
            tags.clear();
        } else if !is_known {
            let new: Vec<String> =
                of_folder.iter().filter(|tag| !tags.contains(tag)).cloned().collect();
            tags.extend(new);
        }
        let members = Some(std::mem::take(&mut prepared.members));
        Ok(PlannedFile { outcome: ReadOutcome::Prepared(Box::new(prepared), budget), members })
    }

    /// Returns the connection for reading.
    pub(super) fn lock(&self) -> MutexGuard<'_, Store> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The outcome of a file, and the files in it.
struct PlannedFile {
    outcome: ReadOutcome,
    /// `None` if they were not looked for.
    members: Option<Vec<ContainedFile>>,
}

impl PlannedFile {
    /// Decides without a look at what is in the file.
    fn without_look(outcome: ReadOutcome) -> Self {
        Self { outcome, members: None }
    }

    fn left_out(found: FoundFile, rule: LeftOutReason) -> Self {
        let left_out = LeftOut { path: found.path, rule, stamp: Some(found.stamp) };
        Self::without_look(ReadOutcome::Ignored(left_out))
    }
}

/// Notes the files in a file that is in another file itself: these are not read.
fn without_members(outcome: ReadOutcome, members: &[ContainedFile]) -> ReadOutcome {
    let ReadOutcome::Prepared(mut prepared, budget) = outcome else { return outcome };
    if !members.is_empty() {
        let parts = prepared.document.metadata.parts.get_or_insert_default();
        for member in members {
            let size_bytes = member.content.as_ref().map_or(0, |bytes| bytes.len() as u64);
            parts.add_unread(&member.name, size_bytes, "it is in a file inside another file");
        }
    }
    ReadOutcome::Prepared(prepared, budget)
}
