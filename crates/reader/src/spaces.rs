//! Joins the lines of a text.

/// Returns the words of a text with a blank between two.
pub(crate) fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
