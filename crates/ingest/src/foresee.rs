//! Says what adding files would do, and writes nothing. It reads the first and the last bytes of files, and all of PDFs,
//! pictures and compressed files.

use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;

use crate::document::{FileOutcome, Format};
use crate::error::{Error, FailureKind, Result};
use crate::extract::containers::{self, ReadingChoice};
use crate::extract::{detect, pdf};
use crate::ledger::LedgerBefore;
use crate::store::Store;
use crate::text::paths;
use crate::walk::{FoundFile, LeftOut, LeftOutReason, Start, WalkStep};
use crate::{IngestOptions, walk};

/// What adding would do with a file.
#[derive(Debug)]
pub enum Foresight {
    /// It is read for the first time.
    New,
    /// It is read again.
    Changed,
    /// Its size and time are those of the indexed file, so it is skipped.
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
    /// What would happen.
    pub prospect: Foresight,
    /// How many of its pages need OCR.
    pub ocr_pages: usize,
}

impl ForeseenFile {
    /// Returns the kind of the file: its extension, or `folder`.
    pub fn kind(&self) -> String {
        if self.is_folder { "folder".into() } else { detect::kind(&self.path) }
    }
}

/// Returns what adding `starts` would do, in the order of the walk; without a store, everything is
/// new.
pub fn foresee(
    starts: &[Start],
    options: &IngestOptions,
    store: Option<&Store>,
) -> Result<Vec<ForeseenFile>> {
    let before = store.map(|store| LedgerBefore::load(store, starts, options)).transpose()?;
    let mut all = Vec::new();
    for step in walk::walk_all(starts, &options.walk) {
        all.push(match step {
            Ok(WalkStep::LeftOut(LeftOut { path, rule, stamp })) => ForeseenFile {
                path,
                is_folder: stamp.is_none(),
                prospect: Foresight::Ignored(rule),
                ocr_pages: 0,
            },
            Ok(WalkStep::Found(found)) => {
                let (prospect, ocr_pages) = prospect(&found, options, store, before.as_ref())?;
                ForeseenFile { path: found.path, is_folder: false, prospect, ocr_pages }
            }
            // An ignore file is not a document.
            Err(Error::IgnoreFile { .. }) => continue,
            Err(error) => {
                let path = error.path().map(PathBuf::from).unwrap_or_default();
                let is_folder = path.is_dir();
                ForeseenFile { path, is_folder, prospect: Foresight::Fails(error), ocr_pages: 0 }
            }
        });
    }
    Ok(all)
}

fn prospect(
    found: &FoundFile,
    options: &IngestOptions,
    store: Option<&Store>,
    before: Option<&LedgerBefore>,
) -> Result<(Foresight, usize)> {
    let known = match store {
        Some(store) => store.known_path(&paths::path_text(&found.path))?,
        None => None,
    };
    if known.as_ref().is_some_and(|known| {
        known.stamp.stamp() == found.stamp
            && found.wanted(options.wanted).allows(known.doc_type, known.language.as_deref())
    }) {
        return Ok((Foresight::Unchanged, 0));
    }
    if before.is_some_and(|before| before.is_read(found)) {
        return Ok((Foresight::Unchanged, 0));
    }
    if let Some(row) = before.and_then(|before| before.passed_over(found)) {
        let message = row.message.clone().unwrap_or_default();
        let prospect = match row.outcome {
            FileOutcome::Waived => Foresight::Waived(row.reason.clone()),
            FileOutcome::Failed | FileOutcome::Ignored => {
                Foresight::HasFailed(row.reason.clone(), message)
            }
        };
        return Ok((prospect, 0));
    }
    let further = &options.walk.text_extensions;
    let is_changed = known.is_some() || before.is_some_and(|before| before.was_container(found));
    let head = head(found);
    let is_container = |head: &Vec<u8>| detect::container(&found.path, head).is_some();
    let wanted = found.wanted(options.wanted);
    if wanted.is_open() && head.as_ref().is_ok_and(is_container) {
        return Ok((if is_changed { Foresight::Changed } else { Foresight::New }, 0));
    }
    let mut is_generated = false;
    let detected = head.and_then(|head| {
        let head = match detect::is_compressed(&found.path, &head) {
            true => found.reach.read(&found.path, options.walk.max_bytes())?,
            false => head,
        };
        let (path, is_named) = (&found.path, found.is_named);
        let choice = ReadingChoice { is_named, wanted, further };
        let detected = containers::detect(path, &head, choice, &options.pdf)?;
        let Some((format, content)) = detected else { return Ok(None) };
        // Of a large file, the beginning speaks for the rest.
        let is_new = known.is_none() && !found.is_included;
        is_generated = is_new && choice.leaves_out(format, &content);
        if !matches!(format, Format::Pdf | Format::Image(_)) {
            return Ok(Some(0));
        }
        // A document that cannot be read is reported when it is added.
        let bytes = found.reach.read(path, options.walk.max_bytes())?;
        let bytes = containers::content(path, &bytes, &options.pdf)?;
        match pdf::pages_for_ocr(&bytes, format, &options.pdf) {
            Err(error @ Error::Extract { failure: FailureKind::TooSmall, .. }) => Err(error),
            pages => Ok(Some(pages.unwrap_or(0))),
        }
    });
    let ocr_pages = detected.as_ref().ok().copied().flatten().unwrap_or(0);
    let prospect = match detected {
        Ok(Some(_)) if is_generated => Foresight::Ignored(LeftOutReason::Generated),
        Ok(Some(_)) if known.is_some() => Foresight::Changed,
        Ok(Some(_)) => Foresight::New,
        Ok(None) if found.stamp.size_bytes == 0 => Foresight::Ignored(LeftOutReason::Empty),
        Ok(None) => Foresight::Ignored(LeftOutReason::Type),
        Err(Error::EmptyFile { .. }) if !found.is_named => Foresight::Ignored(LeftOutReason::Empty),
        Err(Error::Extract { failure: FailureKind::TooSmall, .. }) if !found.is_named => {
            Foresight::Ignored(LeftOutReason::Small)
        }
        Err(error) => Foresight::Fails(error),
    };
    Ok((prospect, ocr_pages))
}

/// Returns the first and the last bytes of a file.
fn head(found: &FoundFile) -> Result<Vec<u8>> {
    let mut file = found.reach.open(&found.path)?;
    let mut head = Vec::new();
    let read = || {
        (&mut file).take(detect::HEAD_BYTES as u64).read_to_end(&mut head)?;
        let at = found.stamp.size_bytes.saturating_sub(detect::TAIL_BYTES).max(head.len() as u64);
        file.seek(SeekFrom::Start(at))?;
        file.take(detect::TAIL_BYTES).read_to_end(&mut head)
    };
    read().map_err(|source| Error::of_file(&found.path, source))?;
    Ok(head)
}
