//! Normalises the white space of text that becomes Markdown.

/// Returns text without characters that only control line breaks, and with each run of blanks as
/// one space; line breaks stay.
pub fn tidy(text: &str) -> String {
    let lines = text.lines().map(tidy_line);
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Returns text as [`tidy`] does, with line breaks as spaces.
pub fn tidy_line(text: &str) -> String {
    let visible = text.chars().filter(|c| {
        !matches!(c, '\u{AD}' | '\u{200B}' | '\u{2060}' | '\u{FEFF}')
            && (c.is_whitespace() || !c.is_control())
    });
    let visible: String = visible.collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}
