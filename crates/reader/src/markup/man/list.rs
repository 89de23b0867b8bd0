//! Defines a list, as mdoc describes it.

/// A list of `.Bl`.
pub(super) struct List {
    pub(super) mark: &'static str,
    pub(super) has_terms: bool,
    pub(super) is_code: bool,
}
