//! Recognises lines that many documents bear, and that name none of them: `FOR IMMEDIATE RELEASE`.

/// One line each, in lower case; `#` begins a comment, and `*` at an end stands for any words.
const LINES: &str = include_str!("boilerplate.txt");

/// Whether `text` is such a line, whatever its case, spaces and marks.
pub(crate) fn is_boilerplate(text: &str) -> bool {
    let text = plain(text);
    LINES.lines().filter(|line| !line.starts_with('#')).any(|line| {
        match (line.strip_suffix('*'), line.strip_prefix('*')) {
            (Some(start), _) => text.starts_with(start),
            (_, Some(end)) => text.ends_with(end),
            _ => text == line,
        }
    })
}

/// Returns the letters and digits of `text` in lower case, with one space between words.
fn plain(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_any_document_are_told_from_titles() {
        for text in [
            "FOR IMMEDIATE RELEASE",
            "- Confidential -",
            "\u{A9} 2024 Harbour. All rights reserved.",
        ] {
            assert!(is_boilerplate(text), "{text}");
        }
        for text in
            ["Release of the gates", "Confidential letters of a harbour master", "Form 10-K", ""]
        {
            assert!(!is_boilerplate(text), "{text}");
        }
    }

    #[test]
    fn every_line_of_the_list_can_match() {
        for line in LINES.lines().filter(|line| !line.starts_with('#')) {
            let words = line.trim_matches('*');
            assert!(!words.is_empty() && plain(words) == words, "{line:?}");
        }
    }
}
