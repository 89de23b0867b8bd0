//! Defines what reading a file gives, and checks that it is something.

use std::path::Path;

use crate::containers::ContainedFile;
use crate::document::{DocType, Document, Format};
use crate::error::{Error, FailureKind, Result};
use crate::words;

/// The content of a file: a document, and the files embedded in it.
#[derive(Debug)]
pub struct ExtractedFile {
    /// The document; without blocks if it has no text.
    pub document: Document,
    /// The format that the file turned out to be.
    pub format: Format,
    /// The files in it; each is a separate document.
    pub members: Vec<ContainedFile>,
}

impl ExtractedFile {
    pub(crate) fn new(document: Document, format: Format) -> Self {
        Self { document, format, members: Vec::new() }
    }

    /// Checks that there is something to index. A PDF without text is a document: OCR may read it later.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyFile`] if no part of the file holds text; [`Error::Extract`] if it has text that was not read.
    pub fn require_text(&self, path: &Path) -> Result<()> {
        let has_text = !self.document.blocks.is_empty() || !self.members.is_empty();
        if has_text || self.format.doc_type() == DocType::Pdf {
            return Ok(());
        }
        match words::unread(&self.document.metadata) {
            Some(detail) => Err(Error::Extract { failure: FailureKind::Unread, detail }),
            None => Err(Error::EmptyFile { path: path.to_owned() }),
        }
    }
}
