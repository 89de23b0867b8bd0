//! Says what adding files would do, and writes nothing. It reads the first and the last bytes of files, and all of PDFs,
//! pictures, compressed files and those that may be copies of an indexed file.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::PathBuf;

use crate::decision::{ContentDecision, Decider, FileDecision, ReadContent};
use crate::document::{FileOutcome, Format};
use crate::error::{Error, FailureKind, Result};
use crate::extract::containers::{self, ReadingChoice};
use crate::extract::{detect, pdf};
use crate::ledger::LedgerBefore;
use crate::roots::Roots;
use crate::store::{KnownPath, LedgerRow, Store};
use crate::walk::{FoundFile, LeftOut, LeftOutReason, Start, WalkItem};
use crate::{IngestOptions, hash, walk};

/// The expected outcome of adding a file.
#[derive(Debug)]
pub enum DryRunOutcome {
    /// It is read for the first time.
    New,
    /// It is read again.
    Changed,
    /// Its content is indexed, here or at another path, so it is skipped.
    Unchanged,
    /// This rule leaves it out.
    Ignored(LeftOutReason),
    /// It cannot be read.
    Fails(Error),
    /// It failed with this code and message, and has not changed since.
    HasFailed(String, String),
    /// Its failure is waived.
    Waived(String),
}

/// A file, or a folder that is not entered, and what adding would do with it.
#[derive(Debug)]
pub struct ForeseenFile {
    /// Where it is.
    pub path: PathBuf,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// The expected outcome.
    pub outcome: DryRunOutcome,
    /// How many of its pages need OCR.
    pub ocr_pages: usize,
}

impl ForeseenFile {
    /// Returns the kind of the file: its extension, or `folder`.
    pub fn kind(&self) -> String {
        if self.is_folder { "folder".into() } else { detect::kind(&self.path) }
    }
}

/// The records of files, as a run would compare files with them.
struct Remembered<'a> {
    store: &'a Store,
    roots: Roots,
    before: LedgerBefore,
    options: &'a IngestOptions,
    /// Sizes of the files of all documents, once they are needed: only a file of such a size can be a copy.
    sizes: OnceCell<HashSet<u64>>,
}

impl<'a> Remembered<'a> {
    fn load(store: &'a Store, starts: &[Start], options: &'a IngestOptions) -> Result<Self> {
        let roots = Roots::of(store, options.walk.follow_links)?;
        let before = LedgerBefore::load(store, starts, options)?;
        Ok(Self { store, roots, before, options, sizes: OnceCell::new() })
    }

    fn decider(&self) -> Decider<'_> {
        Decider { roots: &self.roots, before: &self.before, options: self.options }
    }

    /// Whether a document has a file of this size.
    fn has_size(&self, size_bytes: u64) -> Result<bool> {
        if let Some(sizes) = self.sizes.get() {
            return Ok(sizes.contains(&size_bytes));
        }
        let sizes = self.store.file_sizes()?;
        Ok(self.sizes.get_or_init(|| sizes).contains(&size_bytes))
    }
}

/// Returns what adding `starts` would do, in the order of the walk; without a store, everything is
/// new.
pub fn foresee(
    starts: &[Start],
    options: &IngestOptions,
    store: Option<&Store>,
) -> Result<Vec<ForeseenFile>> {
    let remembered = store.map(|store| Remembered::load(store, starts, options)).transpose()?;
    let mut all = Vec::new();
    for step in walk::walk_all(starts, &options.walk) {
        all.push(match step {
            Ok(WalkItem::LeftOut(LeftOut { path, rule, stamp })) => ForeseenFile {
                path,
                is_folder: stamp.is_none(),
                outcome: DryRunOutcome::Ignored(rule),
                ocr_pages: 0,
            },
            Ok(WalkItem::Found(found)) => {
                let (outcome, ocr_pages) = outcome(&found, options, remembered.as_ref())?;
                ForeseenFile { path: found.path, is_folder: false, outcome, ocr_pages }
            }
            // An ignore file is not a document.
            Err(Error::IgnoreFile { .. }) => continue,
            Err(error) => {
                let path = error.path().map(PathBuf::from).unwrap_or_default();
                let is_folder = path.is_dir();
                ForeseenFile { path, is_folder, outcome: DryRunOutcome::Fails(error), ocr_pages: 0 }
            }
        });
    }
    Ok(all)
}

/// Returns what would be done with a file, and how many of its pages need OCR.
fn outcome(
    found: &FoundFile,
    options: &IngestOptions,
    remembered: Option<&Remembered<'_>>,
) -> Result<(DryRunOutcome, usize)> {
    let decision = match remembered {
        Some(remembered) => remembered.decider().by_stamp(remembered.store, found)?,
        None => FileDecision::Read(None),
    };
    let known = match decision {
        FileDecision::Read(known) => known,
        FileDecision::Skip(_) => return Ok((DryRunOutcome::Unchanged, 0)),
        FileDecision::PassOver(row) => return Ok((passed_over(row), 0)),
    };
    if remembered.is_some_and(|remembered| remembered.before.is_read(found)) {
        return Ok((DryRunOutcome::Unchanged, 0));
    }
    let head = head(found);
    let wanted = found.wanted(options.wanted);
    if wanted.is_open()
        && head.as_ref().is_ok_and(|head| detect::container(&found.path, head).is_some())
    {
        let is_known = known.is_some()
            || remembered.is_some_and(|remembered| remembered.before.was_container(found));
        return Ok((if is_known { DryRunOutcome::Changed } else { DryRunOutcome::New }, 0));
    }
    let foreseen =
        head.and_then(|head| by_content(found, head, options, remembered, known.as_ref()));
    match foreseen {
        Ok(foreseen) => Ok(foreseen),
        Err(Error::EmptyFile { .. }) if !found.is_named => {
            Ok((DryRunOutcome::Ignored(LeftOutReason::Empty), 0))
        }
        Err(Error::Extract { failure: FailureKind::TooSmall, .. }) if !found.is_named => {
            Ok((DryRunOutcome::Ignored(LeftOutReason::Small), 0))
        }
        Err(error) if error.is_fatal() => Err(error),
        Err(error) => Ok((DryRunOutcome::Fails(error), 0)),
    }
}

fn passed_over(row: &LedgerRow) -> DryRunOutcome {
    match row.outcome {
        FileOutcome::Waived => DryRunOutcome::Waived(row.reason.clone()),
        FileOutcome::Failed | FileOutcome::Ignored => {
            let message = row.message.clone().unwrap_or_default();
            DryRunOutcome::HasFailed(row.reason.clone(), message)
        }
    }
}

/// Returns what would be done with a file that is read. `head` has its first and last bytes.
fn by_content(
    found: &FoundFile,
    head: Vec<u8>,
    options: &IngestOptions,
    remembered: Option<&Remembered<'_>>,
    known: Option<&KnownPath>,
) -> Result<(DryRunOutcome, usize)> {
    let path = &found.path;
    let max_bytes = options.walk.max_bytes();
    let head =
        if detect::is_compressed(path, &head) { found.reach.read(path, max_bytes)? } else { head };
    let choice = ReadingChoice {
        is_named: found.is_named,
        wanted: found.wanted(options.wanted),
        further: &options.walk.text_extensions,
    };
    let Some((format, content)) = containers::detect(path, &head, choice, &options.pdf)? else {
        let is_empty = found.stamp.size_bytes == 0;
        let reason = if is_empty { LeftOutReason::Empty } else { LeftOutReason::Type };
        return Ok((DryRunOutcome::Ignored(reason), 0));
    };
    // Only the beginning of a large file is known here; it represents the rest.
    let is_generated = choice.leaves_out(format, &content);
    let made = if known.is_some() { DryRunOutcome::Changed } else { DryRunOutcome::New };
    let has_size = match remembered {
        Some(remembered) => remembered.has_size(found.stamp.size_bytes)?,
        None => false,
    };
    // Only a file with the size of a document can be its copy, so few files are hashed.
    if let Some(remembered) = remembered.filter(|_| has_size) {
        let bytes = found.reach.read(path, max_bytes)?;
        let content = ReadContent { format, hash: &hash::sha256(&bytes), is_generated };
        let decision = remembered.decider().by_content(remembered.store, found, known, content)?;
        match decision {
            ContentDecision::Remember(same)
                if known.is_none_or(|known| known.document_id == same.id) =>
            {
                return Ok((DryRunOutcome::Unchanged, 0));
            }
            ContentDecision::Remember(_) => return Ok((DryRunOutcome::Changed, 0)),
            ContentDecision::LeaveOut => {
                return Ok((DryRunOutcome::Ignored(LeftOutReason::Generated), 0));
            }
            // The document has moved, and only its title changes, which follows the name of the file.
            ContentDecision::Make { is_known: true, .. } if known.is_none() => {
                return Ok((DryRunOutcome::Unchanged, 0));
            }
            ContentDecision::Make { .. } => {}
        }
    } else if known.is_none() && !found.is_included && is_generated {
        return Ok((DryRunOutcome::Ignored(LeftOutReason::Generated), 0));
    }
    Ok((made, pages_for_ocr(found, format, options)?))
}

/// Returns how many pages of a PDF or a picture need OCR.
fn pages_for_ocr(found: &FoundFile, format: Format, options: &IngestOptions) -> Result<usize> {
    if !matches!(format, Format::Pdf | Format::Image(_)) {
        return Ok(0);
    }
    let bytes = found.reach.read(&found.path, options.walk.max_bytes())?;
    let bytes = containers::content(&found.path, &bytes, &options.pdf)?;
    match pdf::pages_for_ocr(&bytes, format, &options.pdf) {
        Err(error @ Error::Extract { failure: FailureKind::TooSmall, .. }) => Err(error),
        // A document that cannot be read is reported when it is added.
        pages => Ok(pages.unwrap_or(0)),
    }
}

/// Returns the first and the last bytes of a file.
fn head(found: &FoundFile) -> Result<Vec<u8>> {
    let file = found.reach.open(&found.path)?;
    read_ends(file, found.stamp.size_bytes).map_err(|source| Error::of_file(&found.path, source))
}

/// Reads the first bytes of a file, then those of its last bytes that come after them.
fn read_ends(mut file: impl Read + Seek, size_bytes: u64) -> io::Result<Vec<u8>> {
    let mut ends = Vec::new();
    (&mut file).take(detect::HEAD_BYTES as u64).read_to_end(&mut ends)?;
    let at = size_bytes.saturating_sub(detect::TAIL_BYTES).max(ends.len() as u64);
    file.seek(SeekFrom::Start(at))?;
    file.take(detect::TAIL_BYTES).read_to_end(&mut ends)?;
    Ok(ends)
}
