//! Holds the objects that are embedded in a document, until it refers to them.

use std::collections::HashMap;

use crate::extract::protocol::ExtractedPage;
use crate::figures::Figure;
use crate::writer::BlockWriter;

/// An object that is embedded at a place of a document.
#[derive(Debug)]
pub(super) enum OdfObject {
    /// A formula on one line.
    Formula(String),
    Chart(Figure),
    /// A text, a presentation or a spreadsheet.
    Document(Vec<ExtractedPage>),
}

impl OdfObject {
    pub(super) fn write(self, writer: &mut BlockWriter) {
        match self {
            Self::Formula(text) => writer.paragraph(&text),
            Self::Chart(figure) => figure.write(writer),
            Self::Document(pages) => pages.into_iter().for_each(|page| writer.embed(page)),
        }
    }
}

/// The objects of a file by the names with which it refers to them.
#[derive(Debug, Default)]
pub(super) struct Objects {
    by_name: HashMap<String, OdfObject>,
}

impl Objects {
    pub(super) fn add(&mut self, name: &str, object: OdfObject) {
        self.by_name.insert(name.to_owned(), object);
    }

    /// Returns the object that is referred to, once: a short file with many references stays short.
    pub(super) fn take(&mut self, reference: &str) -> Option<OdfObject> {
        self.by_name.remove(reference.trim_start_matches("./").trim_end_matches('/'))
    }
}
