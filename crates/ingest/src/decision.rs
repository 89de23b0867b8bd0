//! Decides what a run does with a file, from what is remembered of it: first by its size and time, then by its bytes.
//!
//! A run and its preview ask the same functions, so that the preview says what the run then does.

use crate::IngestOptions;
use crate::document::{Format, Language};
use crate::error::Result;
use crate::ledger::LedgerBefore;
use crate::roots::Roots;
use crate::store::{KnownPath, LedgerRow, Store, StoredDocument};
use crate::text::paths;
use crate::walk::FoundFile;

/// Decides what a run does with files, from the data that it compares them with.
#[derive(Clone, Copy)]
pub(super) struct Decider<'a> {
    pub(super) roots: &'a Roots,
    pub(super) before: &'a LedgerBefore,
    pub(super) options: &'a IngestOptions,
}

/// A decision about a file before its bytes are read.
pub(super) enum FileDecision<'a> {
    /// The file is skipped: its document is what a run would make of it.
    Skip(KnownPath),
    /// It failed before and would only fail again, or its failure is waived.
    PassOver(&'a LedgerRow),
    /// It is read. Has the record of its path, if there is one.
    Read(Option<KnownPath>),
}

/// A decision about the bytes of a file.
pub(super) enum ContentDecision {
    /// A document with a file has these bytes. The path is remembered for it.
    Remember(Box<StoredDocument>),
    /// They look generated, and no one asked for them.
    LeaveOut,
    /// A document is made of them.
    Make {
        /// The title that the user gave to the document that is replaced.
        given_title: Option<String>,
        /// Whether a document is replaced, which keeps its tags.
        is_known: bool,
    },
}

/// The bytes of a file, as far as a decision needs them.
#[derive(Clone, Copy)]
pub(super) struct ReadContent<'a> {
    /// The format in which they are read.
    pub(super) format: Format,
    /// Their SHA-256, lower-case hex.
    pub(super) hash: &'a str,
    /// Whether they look generated.
    pub(super) is_generated: bool,
}

impl<'a> Decider<'a> {
    /// Decides by what shows without reading a file.
    pub(super) fn by_stamp(self, store: &Store, found: &FoundFile) -> Result<FileDecision<'a>> {
        let known = known_path(store, found)?;
        match known {
            Some(known) if self.is_up_to_date(&known, found) => Ok(FileDecision::Skip(known)),
            known => Ok(match self.before.passed_over(found) {
                Some(row) => FileDecision::PassOver(row),
                None => FileDecision::Read(known),
            }),
        }
    }

    /// Whether the document of an unchanged file is what a run would make of it.
    fn is_up_to_date(self, known: &KnownPath, found: &FoundFile) -> bool {
        let may_have_more_text = self.has_ocr() && known.pages_awaiting_ocr > 0;
        known.stamp.stamp() == found.stamp
            && !self.is_retitled(known)
            && !self.is_reread(known)
            && !may_have_more_text
            && found.wanted(self.options.wanted).allows(known.doc_type, known.language.as_deref())
    }

    /// Decides by the bytes of a file that was read. `known` is the record of its path.
    pub(super) fn by_content(
        self,
        store: &Store,
        found: &FoundFile,
        known: Option<&KnownPath>,
        content: ReadContent<'_>,
    ) -> Result<ContentDecision> {
        let stored = store.document_by_hash(content.hash)?;
        let same = stored.filter(|stored| self.is_what_is_made(stored, known, content.format));
        // Generated files are left out only if they are new: indexed files stay indexed, also at another path.
        let is_new = known.is_none() && same.is_none();
        if is_new && !found.is_included && content.is_generated {
            return Ok(ContentDecision::LeaveOut);
        }
        let is_misnamed = match &same {
            Some(same) => self.is_misnamed(store, same, found)?,
            None => false,
        };
        Ok(match same {
            Some(same) if same.path.is_some() && !is_misnamed => {
                ContentDecision::Remember(Box::new(same))
            }
            // A document without a file is rebuilt: its text may come from an import that lied about the hash.
            without_file => {
                let given = without_file.filter(|same| same.is_title_given).map(|same| same.title);
                ContentDecision::Make {
                    given_title: known.and_then(|known| known.title_given.clone()).or(given),
                    // A moved document keeps its tags.
                    is_known: known.is_some() || is_misnamed,
                }
            }
        })
    }

    /// Whether a document with the same bytes is what a run would make of them.
    fn is_what_is_made(
        self,
        stored: &StoredDocument,
        known: Option<&KnownPath>,
        format: Format,
    ) -> bool {
        let num_awaiting = stored.metadata.quality.map_or(0, |quality| quality.pages_awaiting_ocr);
        let may_have_more_text = self.has_ocr() && num_awaiting > 0;
        let is_retitled =
            known.is_some_and(|known| known.document_id == stored.id && self.is_retitled(known));
        let is_reread = known.is_some_and(|known| self.is_reread(known))
            && self.options.rereads.contains(&stored.id);
        !may_have_more_text
            && !is_retitled
            && !is_reread
            && stored.doc_type == format.doc_type()
            && stored.language.as_deref() == format.language().map(Language::as_str)
    }

    fn has_ocr(self) -> bool {
        self.options.pdf.ocr.is_available()
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
    fn is_misnamed(self, store: &Store, same: &StoredDocument, found: &FoundFile) -> Result<bool> {
        let Some(old) = same.path.as_deref().filter(|_| !same.is_title_given) else {
            return Ok(false);
        };
        let is_from_name = paths::is_title(&same.title, old)
            && paths::name(&paths::path_text(&found.path)) != paths::name(old);
        Ok(is_from_name && !self.is_there(store, old)?)
    }

    /// Whether a remembered path still leads to a file.
    pub(super) fn is_there(self, store: &Store, path: &str) -> Result<bool> {
        let known = store.known_path(path)?;
        let found = known.map(|known| self.roots.look(&known.stamp));
        Ok(found.is_some_and(|found| found.is_ok_and(|metadata| metadata.is_file())))
    }
}

/// Returns what is stored for a file, also under the text that older versions used for its path.
pub(super) fn known_path(store: &Store, found: &FoundFile) -> Result<Option<KnownPath>> {
    let text = paths::path_text(&found.path);
    let known = store.known_path(&text)?;
    match paths::old_text(&text) {
        Some(old) if known.is_none() && paths::path_of(&old) == found.path => {
            store.known_path(&old)
        }
        _ => Ok(known),
    }
}
