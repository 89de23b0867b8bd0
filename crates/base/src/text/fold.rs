//! Folds case to compare names.

/// Returns text for comparison without case; Unicode, not only ASCII.
pub fn fold(text: &str) -> String {
    text.to_uppercase().to_lowercase()
}
