//! Writes texts as expressions of FTS5.

/// Returns the FTS5 expression for a text: a phrase, or a prefix if the text ends in `*`.
pub(crate) fn expr(text: &str) -> String {
    match text.strip_suffix('*') {
        Some(beginning) => format!("{} *", quote(beginning)),
        None => quote(text),
    }
}

/// Quotes any text as a string for FTS5, whatever it contains; NUL would end it early.
pub(crate) fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\"").replace('\0', " "))
}
