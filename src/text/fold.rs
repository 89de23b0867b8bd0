//! Folds case, so that names can be compared.

/// Returns text as it is compared where case does not count; Unicode, not ASCII alone.
pub fn fold(text: &str) -> String {
    text.to_uppercase().to_lowercase()
}
