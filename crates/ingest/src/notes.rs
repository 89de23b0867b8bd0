//! Ingests notes: texts that have no file.

use std::sync::atomic::Ordering;

use crate::document::{DocType, Metadata};
use crate::error::{Error, Result};
use crate::extract::clock::CpuBudget;
use crate::store::DocumentId;
use crate::wording::{kb, phrase, wording};
use crate::{IngestOptions, IngestRun, content_hash, prepare};

/// Refuses an empty note before a model is loaded.
pub fn check_note(text: &str) -> Result<()> {
    if !text.trim().is_empty() {
        return Ok(());
    }
    let add = kb("add").option("--note", phrase("what to remember"));
    Err(Error::usage("the note is empty").with_hint(wording!("`{}`", add)))
}

impl IngestRun<'_> {
    /// Ingests a note given as text. It replaces the note with the id `replaced`, if there is one. A
    /// note that is already stored gets the title and the tags of the options.
    pub fn ingest_note(&mut self, text: &str, replaced: Option<DocumentId>) -> Result<()> {
        check_note(text)?;
        let mut options = self.options.clone();
        if let Some(id) = replaced {
            let Some(note) = self.store.document(id)? else {
                return Err(Error::UnknownDocument { id: id.to_string() });
            };
            if note.doc_type != DocType::Note || note.path.is_some() {
                return Err(Error::NotANote { id: id.to_string() });
            }
            if options.title.is_none() && note.is_title_given {
                options.title = Some(note.title);
            }
        }
        let hash = content_hash(text.as_bytes());
        let stored = self.store.document_by_hash(&hash)?;
        let stored = stored.filter(|note| note.doc_type == DocType::Note && note.path.is_none());
        let retitled = stored.as_ref().filter(|note| {
            let title = (note.is_title_given).then_some(&note.title);
            options.title.is_some() && title != options.title.as_ref()
        });
        let is_retitled = replaced.is_none() && retitled.is_some();
        let is_tagged = replaced.is_none()
            && stored
                .as_ref()
                .is_some_and(|note| options.tags.iter().any(|tag| !note.tags.contains(tag)));
        // A title is in the context of every chunk, so a note with a new title is rebuilt.
        let replaced = replaced.or_else(|| retitled.map(|note| note.id));
        let budget = CpuBudget::new(options.max_cpu);
        let prepared = prepare::prepare_note(text, hash, &options, self.embedder, &budget)?;
        self.keep(&prepared, &budget, replaced)?;
        self.report.retitled += usize::from(is_retitled);
        self.report.tagged += usize::from(is_tagged);
        Ok(())
    }

    /// Splits stored notes again.
    pub fn reread_notes(&mut self, ids: &[DocumentId]) -> Result<()> {
        for id in ids {
            if self.options.is_cancelled.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            // Another process may have removed it meanwhile.
            let Some(note) = self.store.document(*id)? else { continue };
            let Some(text) = self.store.note_text(*id)? else { continue };
            let title = note.is_title_given.then_some(note.title);
            let options = IngestOptions { title, ..self.options.clone() };
            let budget = CpuBudget::new(options.max_cpu);
            let hash = note.content_hash;
            let mut prepared =
                prepare::prepare_note(&text, hash, &options, self.embedder, &budget)?;
            let natural_language = prepared.document.metadata.natural_language;
            prepared.document.metadata = Metadata { natural_language, ..note.metadata };
            self.keep(&prepared, &budget, Some(*id))?;
        }
        Ok(())
    }
}
