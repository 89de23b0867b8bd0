//! Spells text as Markdown: fences that a text does not hold itself, blanks that say nothing left out.

/// Returns source text between fences that it does not hold itself; nothing for blank text.
pub(in crate::extract) fn fenced(language: &str, text: &str) -> String {
    let text = text.trim_end();
    let text = text.trim_start_matches('\n');
    if text.trim().is_empty() {
        return String::new();
    }
    let longest = text.split(|it| it != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

/// Returns text without what is there to steer line breaks, each run of blanks one space; line
/// breaks stay.
pub(in crate::extract) fn tidy(text: &str) -> String {
    let is_seen = |it: &char| {
        !matches!(it, '\u{AD}' | '\u{200B}' | '\u{2060}' | '\u{FEFF}')
            && (it.is_whitespace() || !it.is_control())
    };
    let seen: String = text.chars().filter(is_seen).collect();
    let lines = seen.lines().map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n")
}
