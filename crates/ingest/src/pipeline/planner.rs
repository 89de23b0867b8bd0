//! Walks folders, reads files that may be new on all workers, and decides what happens to each
//! file.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

use crate::document::Language;
use crate::embedder::Embedder;
use crate::error::{Error, FailureKind, Result};
use crate::extract::clock::CpuBudget;
use crate::extract::containers::{self, ContainedFile, ReadingChoice};
use crate::hash;
use crate::ledger::{LedgerBefore, LedgerFailure};
use crate::prepare::ReadFile;
use crate::roots::Roots;
use crate::store::{KnownPath, Store, StoredDocument};
use crate::text::paths;
use crate::trace::stage;
use crate::walk::{FoundFile, LeftOut, LeftOutReason, Start, WalkStep};
use crate::{IngestOptions, order, prepare, walk};

use super::messages::{Message, QueuedFile, ReadOutcome};

/// Finds files and sends them to the workers, which first check whether a file may be new.
#[derive(Clone, Copy)]
pub(super) struct Planner<'a> {
    pub(super) reader: &'a Mutex<Store>,
    pub(super) roots: &'a Roots,
    pub(super) before: &'a LedgerBefore,
    pub(super) embedder: Option<&'a dyn Embedder>,
    pub(super) options: &'a IngestOptions,
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
            let steps = walk::walk_all(starts, &self.options.walk)
                .take_while(|_| !self.is_stopped.load(Ordering::Relaxed));
            let found = steps.filter_map(|step| match step {
                Ok(WalkStep::LeftOut(left_out)) => {
                    // The writer may have stopped already.
                    let _ = to_writer.send(Message::LeftOut(left_out));
                    None
                }
                Ok(WalkStep::Found(found)) => Some(Ok(found)),
                Err(error) => Some(Err(error)),
            });
            for found in order::small_first(found) {
                for item in self.items(found) {
                    if self.is_stopped.load(Ordering::Relaxed) || permits.recv().is_err() {
                        return;
                    }
                    let turn = num_turns;
                    num_turns += 1;
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
            // The bytes are at hand, so the time says nothing.
            Some(content) => {
                let known = self.known(&found)?;
                let Decision { outcome, members } = self.decide(found, &content, known)?;
                Ok(vec![without_members(outcome, &members.unwrap_or_default())])
            }
            None => {
                let Decision { outcome, members } = self.read(found.clone())?;
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

    /// Reads a file unless its size and time are unchanged and its document gets no other title.
    fn read(self, found: FoundFile) -> Result<Decision> {
        let known = self.known(&found)?;
        let has_ocr = self.options.pdf.ocr.is_available();
        if let Some(known) = &known
            && !self.is_retitled(known)
            && !self.is_reread(known)
            && !(has_ocr && known.pages_awaiting_ocr > 0)
            && known.stamp.stamp() == found.stamp
            && found.wanted(self.options.wanted).allows(known.doc_type, known.language.as_deref())
        {
            let real_path = found.reach.real_path();
            let leads_elsewhere = real_path.is_some() && real_path != known.stamp.real_path;
            let is_moved = !known.is_primary() && !self.is_there(&known.primary_path)?;
            let members = self.members_of_unchanged(&found)?;
            let outcome = ReadOutcome::Known {
                found,
                document_id: known.document_id,
                is_new_path: leads_elsewhere || is_moved,
                content_hash: known.content_hash.clone(),
            };
            return Ok(Decision { outcome, members });
        }
        if let Some(row) = self.before.passed_over(&found) {
            let outcome = ReadOutcome::PassedOver { path: found.path, outcome: row.outcome };
            return Ok(Decision::without_look(outcome));
        }
        let limit_mb = self.options.walk.max_file_mb;
        let max_bytes = self.options.walk.max_bytes();
        let bytes = stage("read", || self.bytes_of(&found, max_bytes));
        let bytes = bytes.map_err(|error| match error {
            // The file has grown since the walk.
            Error::OverLimit { path, .. } => Error::TooLarge { path, limit_mb },
            error => error,
        })?;
        self.decide(found, &bytes, known)
    }

    /// Reads a file, or a file in a container once more.
    fn bytes_of(self, found: &FoundFile, max_bytes: u64) -> Result<Vec<u8>> {
        let text = paths::path_text(&found.path);
        let (container, Some(name)) = paths::split_member(&text) else {
            return found.reach.read(&found.path, max_bytes);
        };
        let container = paths::path_of(container);
        let bytes = found.reach.read(&container, max_bytes)?;
        let member = containers::unpack_one(&container, &bytes, name, &self.options.pdf)?;
        member.ok_or_else(|| Error::PathNotFound { path: found.path.clone() })
    }

    /// Decides what happens to the bytes of a file.
    fn decide(self, found: FoundFile, bytes: &[u8], known: Option<KnownPath>) -> Result<Decision> {
        let is_reread = known.as_ref().is_some_and(|known| self.is_reread(known));
        let has_ocr = self.options.pdf.ocr.is_available();
        let retitled = known.as_ref().filter(|known| self.is_retitled(known));
        let retitled = retitled.map(|known| known.document_id);
        if bytes.is_empty() {
            return Err(Error::EmptyFile { path: found.path });
        }
        let (is_named, wanted) = (found.is_named, found.wanted(self.options.wanted));
        let further = &self.options.walk.text_extensions;
        let choice = ReadingChoice { is_named, wanted, further };
        let detected = containers::detect(&found.path, bytes, choice, &self.options.pdf)?;
        let Some((format, content)) = detected else {
            let stamp = Some(found.stamp);
            let left_out = LeftOut { path: found.path, rule: LeftOutReason::Type, stamp };
            return Ok(Decision::without_look(ReadOutcome::Ignored(left_out)));
        };
        let hash = hash::sha256(bytes);
        let same = self.lock().document_by_hash(&hash)?.filter(|stored| {
            let num_awaiting =
                stored.metadata.quality.map_or(0, |quality| quality.pages_awaiting_ocr);
            let may_have_more_text = has_ocr && num_awaiting > 0;
            !may_have_more_text
                && retitled != Some(stored.id)
                && !(is_reread && self.options.rereads.contains(&stored.id))
                && stored.doc_type == format.doc_type()
                && stored.language.as_deref() == format.language().map(Language::as_str)
        });
        // What is indexed stays, also at another path.
        let is_new = known.is_none() && same.is_none();
        if is_new && !found.is_included && choice.leaves_out(format, &content) {
            let stamp = Some(found.stamp);
            let left_out = LeftOut { path: found.path, rule: LeftOutReason::Generated, stamp };
            return Ok(Decision::without_look(ReadOutcome::Ignored(left_out)));
        }
        let is_misnamed = match &same {
            Some(same) => self.is_misnamed(same, &found)?,
            None => false,
        };
        match same {
            Some(same) if same.path.is_some() && !is_misnamed => {
                let members = self.members_of_copy(&found, &same, &content)?;
                let outcome = ReadOutcome::Known {
                    found,
                    document_id: same.id,
                    content_hash: hash,
                    is_new_path: true,
                };
                Ok(Decision { outcome, members: Some(members) })
            }
            // The stored text may come from an import, and the import may have lied about the hash.
            without_file => {
                let given = without_file.filter(|same| same.is_title_given).map(|same| same.title);
                // The tags of a moved document stay what they are.
                let is_known = known.is_some() || is_misnamed;
                let given_title = known.and_then(|known| known.title_given).or(given);
                let found = &found;
                let file =
                    ReadFile { found, bytes: &content, format, content_hash: hash, given_title };
                self.prepare(file, is_known)
            }
        }
    }

    /// Returns what is stored for a file, also under the text that older versions used for its
    /// path.
    fn known(self, found: &FoundFile) -> Result<Option<KnownPath>> {
        let text = paths::path_text(&found.path);
        let known = self.lock().known_path(&text)?;
        match paths::old_text(&text) {
            Some(old) if known.is_none() && paths::path_of(&old) == found.path => {
                self.lock().known_path(&old)
            }
            _ => Ok(known),
        }
    }

    /// Whether the run makes a document again.
    fn is_reread(self, known: &KnownPath) -> bool {
        known.is_primary() && self.options.rereads.contains(&known.document_id)
    }

    /// Whether the user gives a document a title that it does not have yet.
    pub(super) fn is_retitled(self, known: &KnownPath) -> bool {
        self.options.title.is_some() && known.title_given != self.options.title
    }

    /// Whether the title of a document is the name of its file, and the file has moved to `found` with
    /// another name, which the title follows.
    fn is_misnamed(self, same: &StoredDocument, found: &FoundFile) -> Result<bool> {
        let Some(old) = same.path.as_deref().filter(|_| !same.is_title_given) else {
            return Ok(false);
        };
        let is_from_name = paths::is_title(&same.title, old)
            && paths::name(&paths::path_text(&found.path)) != paths::name(old);
        Ok(is_from_name && !self.is_there(old)?)
    }

    /// Whether a remembered path still leads to a file.
    pub(super) fn is_there(self, path: &str) -> Result<bool> {
        let known = self.lock().known_path(path)?;
        let found = known.map(|known| self.roots.look(&known.stamp));
        Ok(found.is_some_and(|found| found.is_ok_and(|metadata| metadata.is_file())))
    }

    /// Returns the files in an unchanged document that the user asks for: those that were removed come back, and all
    /// get its tags. `None` if nobody asks.
    fn members_of_unchanged(self, found: &FoundFile) -> Result<Option<Vec<ContainedFile>>> {
        let adds_tags = !self.options.tags.is_empty() && !self.options.keeps_tags;
        if !(found.is_named || adds_tags) || !containers::may_embed(&found.path) {
            return Ok(None);
        }
        let bytes = found.reach.read(&found.path, self.options.walk.max_bytes())?;
        containers::embedded(&found.path, &bytes, &self.options.pdf).map(Some)
    }

    /// Returns the files in a copy of a stored document: each of them is remembered at both places.
    fn members_of_copy(
        self,
        found: &FoundFile,
        stored: &StoredDocument,
        content: &[u8],
    ) -> Result<Vec<ContainedFile>> {
        let path = stored.path.as_deref().unwrap_or_default();
        match self.lock().members_of(path)?.is_empty() {
            true => Ok(Vec::new()),
            false => containers::embedded(&found.path, content, &self.options.pdf),
        }
    }

    fn prepare(self, file: ReadFile<'_>, is_known: bool) -> Result<Decision> {
        let budget = Arc::new(CpuBudget::new(self.options.max_cpu));
        let of_folder = file.found.folder_tags();
        let mut prepared = prepare::prepare_file(file, self.options, self.embedder, &budget)?;
        let tags = &mut prepared.document.tags;
        if is_known && self.options.keeps_tags && !self.options.inline_tags {
            tags.clear();
        } else if !is_known {
            let new: Vec<String> =
                of_folder.iter().filter(|tag| !tags.contains(tag)).cloned().collect();
            tags.extend(new);
        }
        let members = Some(std::mem::take(&mut prepared.members));
        Ok(Decision { outcome: ReadOutcome::Prepared(Box::new(prepared), budget), members })
    }

    /// Returns the connection for reading.
    pub(super) fn lock(&self) -> MutexGuard<'_, Store> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What happens to a file, and the files in it.
struct Decision {
    outcome: ReadOutcome,
    /// `None` if nobody looked for them.
    members: Option<Vec<ContainedFile>>,
}

impl Decision {
    /// Decides without a look at what is in the file.
    fn without_look(outcome: ReadOutcome) -> Self {
        Self { outcome, members: None }
    }
}

/// Notes the files in a file that is in another file itself: these are not read.
fn without_members(outcome: ReadOutcome, members: &[ContainedFile]) -> ReadOutcome {
    let ReadOutcome::Prepared(mut prepared, budget) = outcome else { return outcome };
    if !members.is_empty() {
        let parts = prepared.document.metadata.parts.get_or_insert_default();
        for member in members {
            let size_bytes = member.content.as_ref().map_or(0, |bytes| bytes.len() as u64);
            parts.add_unread(&member.name, size_bytes, "it is in a file that is in another file");
        }
    }
    ReadOutcome::Prepared(prepared, budget)
}
