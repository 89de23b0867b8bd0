//! Reads a document again with what the user edited, and stores both at once.

use std::path::Path;

use crate::chunk::recut;
use crate::document::{CHAIN_SEPARATOR, Chunk, DocType, Format};
use crate::error::{Error, Result};
use crate::extract::clock::CpuBudget;
use crate::passages::{embed, num_tokens};
use crate::prepare::{ReadFile, file_words};
use crate::store::{DocumentEdit, NewContent, StoredDocument};
use crate::walk::FoundFile;
use crate::{IngestRun, content_hash, prepare};

/// Where the text of an edited document comes from.
pub enum EditedText<'a> {
    /// The text of a note, unchanged.
    Note(&'a str),
    /// The new text of a note.
    NewNote(&'a str),
    /// A file that is as it was indexed, and its bytes.
    File(&'a FoundFile, &'a [u8]),
}

impl IngestRun<'_> {
    /// Changes a document that was read as `before`. The title of the options goes into the context
    /// of every chunk; without one, the document's own title does.
    pub fn edit(
        &mut self,
        before: &StoredDocument,
        edit: &DocumentEdit,
        text_source: &EditedText<'_>,
    ) -> Result<()> {
        let budget = CpuBudget::new(self.options.max_cpu);
        let prepared = match text_source {
            EditedText::Note(text) | EditedText::NewNote(text) => {
                let hash = match text_source {
                    EditedText::NewNote(_) => content_hash(text.as_bytes()),
                    _ => before.content_hash.clone(),
                };
                prepare::prepare_note(text, hash, self.options, self.embedder, &budget)?
            }
            EditedText::File(found, bytes) => {
                let format = Format::named(&before.format).ok_or_else(|| {
                    let message = format!("unknown format `{}`", before.format);
                    Error::usage(message)
                })?;
                let content_hash = before.content_hash.clone();
                let given_title = None;
                let file = ReadFile { found, bytes, format, content_hash, given_title };
                prepare::prepare_file(file, self.options, self.embedder, &budget)?
            }
        };
        let embeddings = embed(self.embedder, Some(self.store), &prepared.chunks, &budget)?;
        let (document, chunks) = (Some(&prepared.document), prepared.chunks.as_slice());
        let content = NewContent { document, chunks, embeddings: &embeddings };
        self.store.edit(before, edit, Some(content))
    }

    /// Changes a document whose text is only in the database, and puts its new title into the
    /// context of its chunks. A chunk that is then longer than the model reads is cut again.
    pub fn edit_stored(&mut self, before: &StoredDocument, edit: &DocumentEdit) -> Result<()> {
        let budget = CpuBudget::new(self.options.max_cpu);
        let options = self.options.chunking.of(before.doc_type);
        let title = edit.title.as_ref().unwrap_or(&before.title);
        let mut chunks: Vec<Chunk> = Vec::new();
        for stored in self.store.chunks(before.id)? {
            let context = with_title(&stored.chunk.context, &before.title, title.trim());
            let passage = Chunk::passage(&context, &stored.chunk.text);
            let num_tokens_now = num_tokens(self.embedder, &passage) + options.reserved_tokens;
            let token_count = u32::try_from(num_tokens_now).unwrap_or(u32::MAX);
            let chunk = Chunk { context, token_count, ..stored.chunk };
            if num_tokens_now > options.model_tokens {
                let is_code = before.doc_type == DocType::Code;
                chunks.extend(recut(
                    &chunk,
                    is_code,
                    &|text| num_tokens(self.embedder, text),
                    options,
                ));
            } else {
                chunks.push(chunk);
            }
        }
        let embeddings = embed(self.embedder, Some(self.store), &chunks, &budget)?;
        let content = NewContent { document: None, chunks: &chunks, embeddings: &embeddings };
        self.store.edit(before, edit, Some(content))
    }
}

/// Returns a context with another title. Its first part is the old title, the words of a file's name,
/// or the beginning of a long title; a context without a title gets one.
fn with_title(context: &str, old: &str, new: &str) -> String {
    let (first, rest) = context.split_once(CHAIN_SEPARATOR).unwrap_or((context, ""));
    let is_title = !first.is_empty()
        && (old.trim().starts_with(first) || first == file_words(Path::new(old.trim())));
    let rest = if is_title { rest } else { context };
    if rest.is_empty() { new.to_owned() } else { format!("{new}{CHAIN_SEPARATOR}{rest}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_title_takes_the_place_of_the_old_one() {
        for (context, old, new) in [
            ("Old", "Old", "New"),
            ("Old > Winter", "Old", "New > Winter"),
            ("tide table > Table", "tide_table.py", "New > Table"),
            ("A very", "A very long title", "New"),
            ("Winter", "Old", "New > Winter"),
            ("", "Old", "New"),
        ] {
            assert_eq!(with_title(context, old, "New"), new);
        }
    }
}
