//! A knowledge base in, lines of JSON out; and those lines in, documents in a knowledge base out.
//!
//! ```text
//! export: store ─► lines ─► out          import: in ─► lines ─► embed, where vectors are missing ─► store
//! ```
//!
//! The first line says what the database was built with, every other is a document with all that is kept
//! of it: what is exported and imported into an empty database is exported as the same bytes.

mod lines;

use std::io::BufRead;
use std::path::Path;

use crate::document::Binding;
use crate::error::{Error, Result};
use crate::store::{RecordedChunk, Root, Store, Taken};
use crate::text::json::Line;

pub(crate) use lines::{DocumentLine, HeadLine};

/// What was exported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    /// Documents written.
    pub num_documents: u64,
    /// Chunks written with them.
    pub num_chunks: u64,
}

/// What became of lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Imported {
    /// Documents that are new here.
    pub num_documents: usize,
    /// Chunks they have.
    pub num_chunks: usize,
    /// Documents that were here already, or whose path another one has.
    pub num_skipped: usize,
    /// Lines that could not be taken in.
    pub num_failed: usize,
}

/// Gives the lines of a knowledge base.
///
/// # Errors
///
/// What `emit` gives, and what the database refuses.
pub fn export(
    store: &Store,
    with_vectors: bool,
    mut emit: impl FnMut(&Line) -> Result<()>,
) -> Result<Exported> {
    emit(&lines::encode_head(store.binding()?.as_ref(), &store.roots()?)?)?;
    let mut exported = Exported::default();
    store.export(with_vectors, |record| {
        exported.num_documents += 1;
        exported.num_chunks += record.chunks.len() as u64;
        emit(&lines::encode(&record)?)
    })?;
    Ok(exported)
}

/// Computes the vectors of chunks.
pub type Embed<'a> = dyn FnMut(&[RecordedChunk]) -> Result<Vec<Vec<f32>>> + 'a;

/// Reads the first line: what the database was built with that the others are from, and the folders that
/// were added to it.
///
/// # Errors
///
/// [`Error::Usage`] if it is no export, or one of a newer program; [`Error::Io`] if it cannot be read.
pub fn head(input: &mut impl BufRead, name: &Path) -> Result<(Option<Binding>, Vec<Root>)> {
    let mut line = String::new();
    read_line(input, name, &mut line)?;
    lines::decode_head(&line)
}

/// Reads the next line; `false` if there is none.
fn read_line(input: &mut impl BufRead, name: &Path, line: &mut String) -> Result<bool> {
    line.clear();
    let outcome = input.read_line(line);
    Ok(outcome.map_err(|source| Error::Io { path: name.to_owned(), source })? > 0)
}

/// Takes in the documents of the lines after the first, each in one transaction. Vectors are taken as
/// they are if `are_vectors_good`, else, and where there are none, `embed` computes them. A line that cannot
/// be taken in is given to `on_failure` by its number and costs no other.
///
/// # Errors
///
/// What `embed` gives, and failures of the database or of reading.
pub fn import(
    store: &mut Store,
    input: &mut impl BufRead,
    name: &Path,
    are_vectors_good: bool,
    embed: &mut Embed<'_>,
    on_failure: &mut dyn FnMut(u64, &Error),
) -> Result<Imported> {
    let mut imported = Imported::default();
    let mut line = String::new();
    for number in 2.. {
        if !read_line(input, name, &mut line)? {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        let outcome = lines::decode(&line).and_then(|mut record| {
            // Before its vectors are computed: an import that was interrupted is run again.
            if let Some(id) = store.known_document(&record)? {
                return Ok((Taken::Known(id), 0));
            }
            if !are_vectors_good || record.chunks.iter().any(|it| it.vector.is_none()) {
                let vectors = embed(&record.chunks)?;
                for (chunk, vector) in record.chunks.iter_mut().zip(vectors) {
                    chunk.vector = Some(vector);
                }
            }
            Ok((store.import(&record)?, record.chunks.len()))
        });
        match outcome {
            Ok((Taken::In(_), num_chunks)) => {
                imported.num_documents += 1;
                imported.num_chunks += num_chunks;
            }
            Ok((Taken::Known(_), _)) => imported.num_skipped += 1,
            Err(error @ Error::Usage { .. }) => {
                imported.num_failed += 1;
                on_failure(number, &error);
            }
            // The database is in trouble, or the model: the next line would fare no better.
            Err(error) => return Err(error),
        }
    }
    Ok(imported)
}
