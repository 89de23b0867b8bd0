//! Recognises short texts that look like headings and label something else. A pure function.

use super::number;

/// Titles of boxes with advice.
const ADVICE: &[&str] = &[
    "attention", "caution", "danger", "hint", "important", "note", "notes", "tip", "warning",
    "achtung", "hinweis", "tipp", "warnung", "wichtig", "astuce", "avertissement", "remarque",
    "advertencia", "consejo", "nota", "avvertenza",
];

/// Whether `text` only announces what comes next: the title of a box with advice (`Note`), or the
/// number of a chapter without its title (`Chapter 3`).
pub(super) fn is_label(text: &str) -> bool {
    let word = text.trim().trim_end_matches([':', '.', '!']).to_lowercase();
    ADVICE.contains(&word.as_str()) || number::is_alone(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_have_no_title() {
        for text in ["Note", "WARNING!", "Tip:", "Chapter 3", "APPENDIX B.", "CHAPTER"] {
            assert!(is_label(text), "{text}");
        }
        for text in ["Notes on tides", "Chapter 3 Tides", "Tides", "3"] {
            assert!(!is_label(text), "{text}");
        }
    }
}
