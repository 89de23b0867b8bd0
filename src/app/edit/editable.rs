//! Describes what can be edited of a document, and what changes.

use crate::store::StoredDocument;

/// What is edited of a document; `None` leaves it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// The title.
    pub title: Option<String>,
    /// All tags.
    pub tags: Option<Vec<String>>,
    /// The day; `Some(None)` is the day that the document or its file states.
    pub date: Option<Option<String>>,
    /// The text of a note.
    pub text: Option<String>,
}

impl Changes {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the names of what changes.
    pub fn names(&self) -> Vec<&'static str> {
        let parts = [
            ("title", self.title.is_some()),
            ("tags", self.tags.is_some()),
            ("date", self.date.is_some()),
            ("text", self.text.is_some()),
        ];
        parts.into_iter().filter(|part| part.1).map(|part| part.0).collect()
    }
}

/// A document as it can be edited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Editable {
    /// The document.
    pub document: StoredDocument,
    /// Its text, if it is a note given as text.
    pub text: Option<String>,
}

impl Editable {
    /// Leaves out of the changes what is so already.
    #[must_use]
    pub fn differing(&self, changes: Changes) -> Changes {
        let document = &self.document;
        let sorted = |tags: &[String]| {
            let mut tags = tags.to_vec();
            tags.sort_unstable();
            tags.dedup();
            tags
        };
        Changes {
            title: changes
                .title
                .filter(|title| *title != document.title || !document.is_title_given),
            tags: changes.tags.filter(|tags| sorted(tags) != sorted(&document.tags)),
            date: changes.date.filter(|date| *date != document.date_given),
            text: changes.text,
        }
    }
}
