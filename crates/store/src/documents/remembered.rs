//! Names what the database remembers about files and folders.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::DocType;
use crate::files::stamp::Stamp;
use crate::ids::DocumentId;

/// A path with the properties that show, without reading, whether its file is unchanged. An
/// export has it too.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PathLine", description = "A path at which a document was found.")]
pub struct PathStamp {
    /// Absolute path.
    pub path: String,
    /// Size of the file in bytes.
    pub size_bytes: u64,
    /// When the file was last changed: nanoseconds since 1970, UTC.
    pub mtime_ns: i64,
    /// The path with links resolved, if the user named the file itself; `None` for a file found in
    /// a folder, imported, or added by an older kb.
    #[serde(skip)]
    pub real_path: Option<String>,
}

impl PathStamp {
    /// Returns size and time, by which a file is compared.
    pub fn stamp(&self) -> Stamp {
        Stamp { size_bytes: self.size_bytes, mtime_ns: self.mtime_ns }
    }
}

/// A remembered path and the document found there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownPath {
    /// The file as it was last seen.
    pub stamp: PathStamp,
    /// The document.
    pub document_id: DocumentId,
    /// The path shown for the document: this one, or that of another copy.
    pub primary_path: String,
    /// SHA-256 of the document's bytes, lower-case hex.
    pub content_hash: String,
    /// The title, if the user gave it. Replacing keeps it, so chunks must be made with it.
    pub title_given: Option<String>,
    /// The document's type.
    pub doc_type: DocType,
    /// The programming language, as [`crate::document::Language`] names it; `None` outside code.
    pub language: Option<String>,
    /// Pages that are not read yet because they need OCR.
    pub pages_awaiting_ocr: u32,
}

impl KnownPath {
    /// Whether it is the path shown for the document.
    pub fn is_primary(&self) -> bool {
        self.stamp.path == self.primary_path
    }
}

/// An added folder with the options given for its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedFolder {
    /// Absolute path.
    pub path: String,
    /// Tags for new files in it.
    pub tags: Vec<String>,
    /// The type given by the user for its files.
    pub doc_type: Option<DocType>,
    /// The language given by the user, as [`crate::document::Language`] names it.
    pub language: Option<String>,
    /// Whether links in it are followed.
    pub follows_links: bool,
    /// The path with links resolved when the user named it; `None` if an older kb added the folder,
    /// or an import.
    pub real_path: Option<String>,
}
