//! Turns the bytes of a file into a document that is ready to be embedded and stored.

use std::cell::Cell;
use std::collections::HashSet;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use crate::IngestOptions;
use crate::chunk;
use crate::document::{Chunk, DocType, Document, Format, Metadata};
use crate::embedder::Embedder;
use crate::error::{Error, FailureKind, Result};
use crate::extract;
use crate::extract::ExtractedFile;
use crate::extract::clock::{Clock, CpuBudget};
use crate::extract::containers::{self, ContainedFile};
use crate::making::IndexingSettings;
use crate::passages::num_tokens;
use crate::store::{NewDocument, PathStamp};
use crate::text::language::NaturalLanguage;
use crate::text::{links, paths};
use crate::trace::stage;
use crate::walk::FoundFile;

/// How many texts are counted between two checks of the clock, each of which is a system call.
const COUNTS_PER_CHECK: u32 = 16;

/// A document with its chunks, before embedding.
#[derive(Debug)]
pub struct PreparedDocument {
    /// The document.
    pub document: NewDocument,
    /// Its chunks.
    pub chunks: Vec<Chunk>,
    /// The warnings of the reader.
    pub warnings: Vec<String>,
    /// The files embedded in it.
    pub(super) members: Vec<ContainedFile>,
}

impl PreparedDocument {
    /// Returns the file that the document was read from.
    pub(super) fn path(&self) -> PathBuf {
        let stamp = self.document.stamp.as_ref();
        stamp.map(|stamp| paths::path_of(&stamp.path)).unwrap_or_default()
    }

    /// Returns the texts that the model embeds, one per chunk.
    pub(super) fn passages(&self) -> Vec<String> {
        self.chunks.iter().map(|chunk| Chunk::passage(&chunk.context, &chunk.text)).collect()
    }
}

/// A file that was read, with the properties found so far.
pub(super) struct ReadFile<'a> {
    pub(super) found: &'a FoundFile,
    pub(super) bytes: &'a [u8],
    pub(super) format: Format,
    pub(super) content_hash: String,
    /// The title that the user once gave this document; the title of the run overrides it.
    pub(super) given_title: Option<String>,
}

/// Does the work on one file. A panic is a bug, but a bug on one file must not lose the rest of the run.
pub fn guarded<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(Error::Extract { failure: FailureKind::Crashed, detail: String::new() })
    })
}

/// Extracts and chunks the bytes of a file.
pub(super) fn prepare_file(
    file: ReadFile<'_>,
    options: &IngestOptions,
    embedder: Option<&dyn Embedder>,
    budget: &CpuBudget,
) -> Result<PreparedDocument> {
    let ReadFile { found, bytes, format, content_hash, given_title } = file;
    let extracted = budget.spend(|| {
        stage("extract", || {
            let content = containers::content(&found.path, bytes, &options.pdf)?;
            extract::extract(&content, format, &options.pdf)
        })
    })?;
    budget.check()?;
    extracted.require_text(&found.path)?;
    let ExtractedFile { document, format, members } = extracted;
    let given_title = options.title.clone().or(given_title);
    let stated = given_title.clone().or_else(|| document.title.clone());
    let context_title = stated.clone().unwrap_or_else(|| file_words(&found.path));
    let title = stated.unwrap_or_else(|| paths::title(&paths::path_text(&found.path)));
    let head = DocumentProperties {
        format,
        title,
        context_title,
        title_given: given_title.is_some(),
        stamp: Some(path_stamp(found)),
        content_hash,
    };
    let prepared = assemble(document, head, options, embedder, budget)?;
    Ok(PreparedDocument { members, ..prepared })
}

/// Returns what is remembered of a file.
pub(super) fn path_stamp(found: &FoundFile) -> PathStamp {
    PathStamp {
        path: paths::path_text(&found.path),
        size_bytes: found.stamp.size_bytes,
        mtime_ns: found.stamp.mtime_ns,
        real_path: found.reach.real_path(),
    }
}

/// Chunks a note given as text.
pub(super) fn prepare_note(
    text: &str,
    content_hash: String,
    options: &IngestOptions,
    embedder: Option<&dyn Embedder>,
    budget: &CpuBudget,
) -> Result<PreparedDocument> {
    let document = extract::plain::extract_note(text);
    let title_given = options.title.is_some();
    let stated = options.title.clone().or_else(|| document.title.clone());
    // A title made of the note's words would only count them twice.
    let context_title = stated.clone().unwrap_or_default();
    let title = stated.unwrap_or_else(|| extract::plain::note_title(text));
    let head = DocumentProperties {
        format: Format::Note,
        title,
        context_title,
        title_given,
        stamp: None,
        content_hash,
    };
    let mut prepared = assemble(document, head, options, embedder, budget)?;
    prepared.document.note_text = (prepared.chunks.len() > 1).then(|| text.to_owned());
    Ok(prepared)
}

/// The properties of a document apart from its content.
struct DocumentProperties {
    format: Format,
    title: String,
    /// The title that is part of each chunk's context; empty if it would add nothing to the text.
    context_title: String,
    title_given: bool,
    stamp: Option<PathStamp>,
    content_hash: String,
}

fn assemble(
    document: Document,
    head: DocumentProperties,
    options: &IngestOptions,
    embedder: Option<&dyn Embedder>,
    budget: &CpuBudget,
) -> Result<PreparedDocument> {
    let chunk_options = options.chunking.of(head.format.doc_type());
    let (clock, left) = (Clock::start(), budget.left());
    let (num_counted, is_late) = (Cell::new(0_u32), Cell::new(false));
    // Once the time is used up or the run is cancelled, every text counts as 0 tokens: chunking then
    // ends soon, and its result is dropped.
    let count = |text: &str| {
        num_counted.set(num_counted.get().wrapping_add(1));
        if num_counted.get().is_multiple_of(COUNTS_PER_CHECK)
            && (options.is_cancelled.load(Ordering::Relaxed) || clock.elapsed() >= left)
        {
            is_late.set(true);
        }
        if is_late.get() { 0 } else { num_tokens(embedder, text) }
    };
    let (chunks, of_tables) = budget.spend(|| {
        stage("chunk", || {
            chunk::chunk_and_warn(&document, &head.context_title, &count, chunk_options)
        })
    });
    budget.check()?;
    if options.is_cancelled.load(Ordering::Relaxed) {
        return Err(Error::Cancelled);
    }
    let mut warnings = document.metadata.warnings.clone();
    warnings.extend(of_tables);
    if head.format == Format::Note && chunks.len() > 1 {
        warnings.push(format!(
            "the note is too long for the model and was split into {} chunks",
            chunks.len()
        ));
    }
    let mut tags = options.tags.clone();
    let mut known: HashSet<String> = tags.iter().cloned().collect();
    let mut inline = Vec::new();
    if options.inline_tags && matches!(head.format, Format::Markdown | Format::Note) {
        // Tags are looked for after the front matter, which is in no block, and whose tags are known.
        let start = document.blocks.first().map_or(0, |block| block.bytes.start);
        inline.extend(links::tags(&document.text[start..]).into_iter().map(str::to_owned));
    }
    let stated = document.tags.into_iter().chain(inline);
    tags.extend(stated.filter(|tag| known.insert(tag.clone())));
    let (ocr, keeps_all) = (&options.pdf.ocr, options.pdf.keeps_all);
    let inline_tags = options.inline_tags;
    let omits_remarks = options.pdf.omits_remarks;
    let chunking = &options.chunking;
    let is_estimated = embedder.is_none();
    let making =
        IndexingSettings { chunking, is_estimated, ocr, keeps_all, omits_remarks, inline_tags };
    let making = making.text(head.format, &document.metadata);
    let language = natural_language(&document.text, head.format.doc_type());
    let metadata = Metadata { natural_language: language, ..document.metadata };
    let document = NewDocument {
        making: Some(making),
        note_text: None,
        title: head.title,
        is_title_given: head.title_given,
        stamp: head.stamp,
        content_hash: head.content_hash,
        format: head.format,
        metadata,
        tags,
    };
    Ok(PreparedDocument { document, chunks, warnings, members: Vec::new() })
}

/// Returns the code of the language that a text is written in; source code has none.
fn natural_language(text: &str, doc_type: DocType) -> Option<String> {
    let language = NaturalLanguage::of(text).filter(|_| doc_type != DocType::Code)?;
    Some(language.code().to_owned())
}

/// Returns the words of a file's name without its extension; empty if there are only numbers and
/// codes like `d000012`.
pub(super) fn file_words(path: &Path) -> String {
    let path = paths::unpacked(path);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let parts = stem.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    if parts.clone().any(is_word) { parts.collect::<Vec<_>>().join(" ") } else { String::new() }
}

/// Whether a part of a name is a word: two or more letters and nothing else.
fn is_word(part: &str) -> bool {
    part.chars().nth(1).is_some() && part.chars().all(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_file_name_are_found() {
        for (path, words) in [
            ("/n/setup-notes.md", "setup notes"),
            ("/n/tide_table.py", "tide table"),
            ("/n/2024-05-01-standup.md", "2024 05 01 standup"),
            ("/n/d000012.md", ""),
            ("/n/42.txt", ""),
            ("/n/東京.md", "東京"),
            ("/n/setup-notes.md.gz", "setup notes"),
        ] {
            assert_eq!(file_words(Path::new(path)), words);
        }
    }
}
