//! Names what the first line of an export says.

use crate::Root;
use crate::document::Binding;

/// The first line of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The settings of its vectors; `None` before its first document.
    pub binding: Option<Binding>,
    /// The folders that were added.
    pub roots: Vec<Root>,
}
