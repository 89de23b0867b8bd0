//! Reads a document again with what the user edited, and stores both at once.

use crate::document::Format;
use crate::error::{Error, Result};
use crate::extract::clock::CpuBudget;
use crate::ingest::prepare::ReadFile;
use crate::ingest::walk::Found;
use crate::ingest::{Run, content_hash, embed, prepare};
use crate::store::{Edit, NewContent, StoredDocument};

/// Where the text of an edited document comes from.
pub enum EditedText<'a> {
    /// The text of a note, unchanged.
    Note(&'a str),
    /// The new text of a note.
    NewNote(&'a str),
    /// A file that is as it was indexed, and its bytes.
    File(&'a Found, &'a [u8]),
}

impl Run<'_> {
    /// Changes a document that was read as `before`. The title of the options goes into the context
    /// of every chunk; without one, the document's own title does.
    ///
    /// # Errors
    ///
    /// Those of reading and embedding the text, and of [`crate::store::Store::edit`]. Nothing is
    /// changed in these cases.
    pub fn edit(
        &mut self,
        before: &StoredDocument,
        edit: &Edit,
        text_source: &EditedText<'_>,
    ) -> Result<()> {
        let budget = CpuBudget::new(self.options.max_cpu);
        let num_tokens = self.services.num_tokens;
        let prepared = match text_source {
            EditedText::Note(text) | EditedText::NewNote(text) => {
                let hash = match text_source {
                    EditedText::NewNote(_) => content_hash(text.as_bytes()),
                    _ => before.content_hash.clone(),
                };
                prepare::prepare_note(text, hash, self.options, num_tokens, &budget)?
            }
            EditedText::File(found, bytes) => {
                let format = Format::named(&before.format).ok_or_else(|| {
                    let message = format!("unknown format `{}`", before.format);
                    Error::Usage { message, hint: None }
                })?;
                let content_hash = before.content_hash.clone();
                let given_title = None;
                let file = ReadFile { found, bytes, format, content_hash, given_title };
                prepare::prepare_file(file, self.options, num_tokens, &budget)?
            }
        };
        let vectors = embed(self.services, &prepared, &budget)?;
        let (document, chunks) = (&prepared.document, prepared.chunks.as_slice());
        let content = NewContent { document, chunks, vectors: &vectors };
        self.store.edit(before, edit, Some(content))
    }
}
