//! Reads the file of a document, or some lines of it, and reports whether it has changed since it
//! was stored.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::LineRange;
use crate::error::{Error, Result};
use crate::files::reach::Reach;
use crate::ingest::content_hash;
use crate::ingest::roots::Roots;
use crate::read::cut::cut;
use crate::read::parts::StoredText;
use crate::store::{DocumentId, Store, StoredDocument};
use crate::text::number::counted;
use crate::text::{decode, fields, headings, paths};
use crate::wording::{kb, wording};

/// Which lines of a file to return.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// The lines, whose last may be past the end; `None` for all lines.
    pub lines: Option<LineRange>,
    /// How many lines to return at most; `None` for no limit.
    pub max_lines: Option<u32>,
    /// Whether links are followed in all added folders.
    pub follows_links: bool,
    /// Largest size of a file; a longer one is not read.
    pub max_bytes: u64,
}

/// Returns a file in a container from the container's path and bytes, by its name there, or without a name what a
/// compressed file contains; `None` if it is not in there any more, or for any other file.
pub type Unpack<'a> = dyn Fn(&Path, &[u8], Option<&str>) -> Result<Option<Vec<u8>>> + 'a;

fields::words! {
    /// Where a text was read from.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum TextOrigin {
        /// The document's file.
        File = "file",
        /// The database: there is no file, or it is not text.
        Database = "database",
    }
}

/// A document's text, or some lines of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OpenedDocument {
    /// The document.
    #[serde(skip)]
    pub document: StoredDocument,
    /// Where the text is from: `file`, or `database` if there is no file or it is not text.
    pub origin: TextOrigin,
    /// Whether the file has changed since it was added; null if there is no file.
    #[serde(rename = "changed")]
    pub has_changed: Option<bool>,
    /// Why the document's file was not read; null if it was, or if there is none.
    pub file_error: Option<String>,
    /// First line of the text, from 1.
    pub start_line: u32,
    /// Last line of the text, inclusive; before the first if there is none.
    pub end_line: u32,
    /// Total number of lines.
    #[serde(rename = "total_lines")]
    pub num_lines: u32,
    /// The requested lines.
    pub text: String,
    /// The bytes of these lines in the file, if they differ from `text`.
    #[serde(skip)]
    pub raw: Option<Vec<u8>>,
    /// Whether `--max-lines` cut the text.
    #[serde(rename = "truncated", serialize_with = "fields::is_any")]
    #[schemars(with = "bool")]
    pub num_cut: usize,
}

/// Reads a document's file, or its text in the database. A link that has replaced the file is not
/// followed.
pub fn open(
    store: &Store,
    document: StoredDocument,
    options: &OpenOptions,
    unpack: &Unpack<'_>,
) -> Result<OpenedDocument> {
    let (bytes, file_error) = match read(store, &document, options, unpack) {
        Ok(bytes) => (bytes, None),
        Err(error) => (None, Some(error.to_string())),
    };
    let has_changed = bytes.as_deref().map(|bytes| content_hash(bytes) != document.content_hash);
    let name = document.path.as_deref().map(paths::name);
    let content = name.zip(bytes.as_deref());
    let content = content.map(|(name, bytes)| unpack(Path::new(&name), bytes, None));
    let bytes = content.transpose()?.flatten().or(bytes);
    // The encoding of an unchanged file is known, and not guessed again.
    let known = document.metadata.encoding.as_ref().filter(|_| has_changed == Some(false));
    let known = known.map(|encoding| encoding.name.as_bytes());
    // A PDF may be decoded as text without being any.
    let text = bytes.as_deref().filter(|_| document.format != "pdf");
    let text = text.and_then(|bytes| decode::decode_as(bytes, known));
    let (origin, text) = match text {
        Some(text) => (TextOrigin::File, text),
        None => (TextOrigin::Database, StoredText::read(store, document.id)?.joined.text),
    };
    let starts = headings::line_starts(text.as_bytes());
    let num_lines = u32::try_from(starts.len()).unwrap_or(u32::MAX);
    let first = options.lines.map_or(1, LineRange::first);
    let last = options.lines.map_or(num_lines, LineRange::last);
    if options.lines.is_some() && first > num_lines {
        let lines = counted(num_lines, "line");
        return Err(Error::usage(format!("line {first} is past the end: there are only {lines}")));
    }
    let start = line_start(&starts, first.saturating_sub(1), text.len());
    let wanted = &text[start..line_start(&starts, last, text.len())];
    let (end, num_cut) = cut(wanted, options.max_lines);
    let num_kept = u32::try_from(headings::line_starts(&wanted.as_bytes()[..end]).len());
    let num_kept = num_kept.unwrap_or(u32::MAX);
    let raw = bytes.as_deref().filter(|_| origin == TextOrigin::File);
    let raw = raw.and_then(|bytes| lines_of(bytes, first, num_kept, num_lines));
    let raw = raw.filter(|bytes| *bytes != &wanted.as_bytes()[..end]);
    Ok(OpenedDocument {
        origin,
        has_changed,
        file_error,
        start_line: first,
        end_line: first.saturating_add(num_kept).saturating_sub(1),
        num_lines,
        raw: raw.map(<[u8]>::to_owned),
        text: wanted[..end].to_owned(),
        num_cut,
        document,
    })
}

/// Returns the bytes that a document was read from; refused if it has no file, or if the file has other bytes now.
pub fn unchanged(
    store: &Store,
    document: &StoredDocument,
    options: &OpenOptions,
    unpack: &Unpack<'_>,
) -> Result<Vec<u8>> {
    let bytes = read(store, document, options, unpack)?.ok_or_else(|| no_file(document.id))?;
    if content_hash(&bytes) != document.content_hash {
        return Err(Error::usage(format!(
            "the file of document {} has changed since it was added",
            document.id
        ))
        .with_hint(wording!("`{}` reads it again", kb("update"))));
    }
    let name = document.path.as_deref().map(paths::name).unwrap_or_default();
    Ok(unpack(Path::new(&name), &bytes, None)?.unwrap_or(bytes))
}

/// Says that a document has no file.
pub fn no_file(id: DocumentId) -> Error {
    Error::usage(format!("document {id} has no file"))
        .with_hint(wording!("`{}` prints it", kb("show").arg(id.0)))
}

/// Returns lines of a file as its bytes; `None` if line ends cannot be found in the bytes.
fn lines_of(bytes: &[u8], first: u32, num_kept: u32, num_lines: u32) -> Option<&[u8]> {
    if (first, num_kept) == (1, num_lines) {
        return Some(bytes);
    }
    if !decode::has_line_bytes(bytes) {
        return None;
    }
    let ends = (0..bytes.len()).filter(|at| is_line_end(bytes, *at)).map(|at| at + 1);
    let mut starts: Vec<usize> = [0].into_iter().chain(ends).collect();
    starts.retain(|start| *start < bytes.len());
    let first = first.saturating_sub(1);
    let start = line_start(&starts, first, bytes.len());
    Some(&bytes[start..line_start(&starts, first.saturating_add(num_kept), bytes.len())])
}

/// Whether a line ends with the byte at a position: `\r\n` ends it once.
fn is_line_end(bytes: &[u8], at: usize) -> bool {
    match bytes[at] {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    }
}

/// Returns where a line begins, counted from 0; the end of the text if it has fewer lines.
fn line_start(starts: &[usize], line: u32, end: usize) -> usize {
    starts.get(line as usize).copied().unwrap_or(end)
}

/// Reads a document's file; `None` if it has none.
fn read(
    store: &Store,
    document: &StoredDocument,
    options: &OpenOptions,
    unpack: &Unpack<'_>,
) -> Result<Option<Vec<u8>>> {
    let Some(text) = &document.path else { return Ok(None) };
    let reach = reach(store, text, options.follows_links)?;
    let path = paths::path_of(text);
    let bytes = reach.read(&path, options.max_bytes)?;
    let (_, Some(name)) = paths::split_member(text) else { return Ok(Some(bytes)) };
    let member = unpack(&path, &bytes, Some(name))?;
    member.map(Some).ok_or_else(|| Error::PathNotFound { path: text.into() })
}

/// Returns how the file at a remembered path may be reached.
pub fn reach(store: &Store, path: &str, follows_links: bool) -> Result<Reach> {
    let Some(known) = store.known_path(path)? else {
        return Err(Error::UntrustedBase { path: store.path().to_owned() });
    };
    let real_path = known.stamp.real_path;
    let roots = Roots::of(store, follows_links)?;
    roots.of_file(&paths::path_of(path), real_path.as_deref())
}

#[cfg(test)]
mod tests;
