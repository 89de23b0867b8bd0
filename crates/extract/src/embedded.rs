//! Defines how a document refers to a file that is embedded in it, which is a document of its own.

/// Returns the line that stands for an embedded file in the text of its document.
pub fn reference(name: &str) -> String {
    format!("Embedded file: {name}")
}
