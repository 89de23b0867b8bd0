//! A file's bytes in, a document ready to be embedded and stored out.

use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use crate::document::{Chunk, Document, Format};
use crate::error::{Error, Result};
use crate::ingest::walk::Found;
use crate::ingest::{IngestOptions, NumTokens, chunk, extract, walk};
use crate::store::{NewDocument, PathStamp};

/// A document with its chunks, before embedding.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) document: NewDocument,
    pub(super) chunks: Vec<Chunk>,
    pub(super) warnings: Vec<String>,
}

impl Prepared {
    /// Returns what the model reads, one text a chunk.
    pub(super) fn passages(&self) -> Vec<String> {
        self.chunks.iter().map(|it| Chunk::passage(&it.context, &it.text)).collect()
    }
}

/// Returns the SHA-256 of bytes in lower-case hex.
pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// Extracts and chunks the bytes of a file.
///
/// `given_title` is what the user once called this document; the run's own title goes before.
///
/// # Errors
///
/// [`Error::EmptyFile`] for text without a single visible character, else what the extractor
/// gives.
pub(super) fn prepare_file(
    found: &Found,
    bytes: &[u8],
    format: Format,
    content_hash: String,
    given_title: Option<String>,
    options: &IngestOptions,
    num_tokens: &NumTokens<'_>,
) -> Result<Prepared> {
    let document = extract::extract(bytes, format, &options.pdf)?;
    if document.blocks.is_empty() && format != Format::Pdf {
        return Err(Error::EmptyFile { path: found.path.clone() });
    }
    let given_title = options.title.clone().or(given_title);
    let title = given_title
        .clone()
        .or_else(|| document.title.clone())
        .unwrap_or_else(|| file_name(&found.path));
    let path = walk::path_text(&found.path);
    let stamp = PathStamp { path, size_bytes: found.size_bytes, mtime_ns: found.mtime_ns };
    Ok(assemble(
        document,
        Head {
            format,
            context_title: title.clone(),
            title,
            title_given: given_title.is_some(),
            stamp: Some(stamp),
            content_hash,
        },
        options,
        num_tokens,
    ))
}

/// Chunks a note given as text.
pub(super) fn prepare_note(
    text: &str,
    content_hash: String,
    options: &IngestOptions,
    num_tokens: &NumTokens<'_>,
) -> Prepared {
    let document = extract::text::extract_note(text);
    let title_given = options.title.is_some();
    let stated = options.title.clone().or_else(|| document.title.clone());
    // A title made of the note's own words would only count them twice.
    let context_title = stated.clone().unwrap_or_default();
    let title = stated.unwrap_or_else(|| extract::text::note_title(text));
    assemble(
        document,
        Head { format: Format::Note, title, context_title, title_given, stamp: None, content_hash },
        options,
        num_tokens,
    )
}

/// What is known of a document beside its content.
struct Head {
    format: Format,
    title: String,
    /// What chunks are read with; empty if the title says nothing that the text does not.
    context_title: String,
    title_given: bool,
    stamp: Option<PathStamp>,
    content_hash: String,
}

fn assemble(
    document: Document,
    head: Head,
    options: &IngestOptions,
    num_tokens: &NumTokens<'_>,
) -> Prepared {
    let chunk_options = options.chunking.of(head.format.doc_type());
    let chunks = chunk::chunk(&document, &head.context_title, &|it| num_tokens(it), chunk_options);
    let mut warnings = document.metadata.warnings.clone();
    if head.format == Format::Note && chunks.len() > 1 {
        warnings.push(format!(
            "the note is longer than the model reads and was split into {} chunks",
            chunks.len()
        ));
    }
    let mut tags = options.tags.clone();
    for tag in document.tags {
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    let document = NewDocument {
        title: head.title,
        is_title_given: head.title_given,
        stamp: head.stamp,
        content_hash: head.content_hash,
        format: head.format,
        metadata: document.metadata,
        tags,
    };
    Prepared { document, chunks, warnings }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
