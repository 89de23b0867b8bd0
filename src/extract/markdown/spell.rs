//! Formats text as Markdown: encloses source in fences and normalises white space.

/// Returns source text between fences longer than any in the text; empty for blank text.
pub(in crate::extract) fn fenced(language: &str, text: &str) -> String {
    let text = text.trim_end();
    let text = text.trim_start_matches('\n');
    if text.trim().is_empty() {
        return String::new();
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Returns text without characters that only control line breaks, and with each run of blanks as
/// one space; line breaks stay.
pub(in crate::extract) fn tidy(text: &str) -> String {
    let is_visible = |c: &char| {
        !matches!(c, '\u{AD}' | '\u{200B}' | '\u{2060}' | '\u{FEFF}')
            && (c.is_whitespace() || !c.is_control())
    };
    let visible: String = text.chars().filter(is_visible).collect();
    let lines = visible.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}
