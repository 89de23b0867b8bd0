//! Text from documents and paths in, text that no terminal obeys out.

/// Returns text on one line without control characters, runs of white space made one space.
pub fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() {
            if !cleaned.ends_with(' ') && !cleaned.is_empty() {
                cleaned.push(' ');
            }
        } else {
            cleaned.push(if is_obeyed(c) { char::REPLACEMENT_CHARACTER } else { c });
        }
    }
    cleaned.truncate(cleaned.trim_end().len());
    cleaned
}

/// Returns the name of a file without control characters, its spaces as they are.
pub fn clean_name(name: &str) -> String {
    name.chars().map(|it| if is_obeyed(it) { char::REPLACEMENT_CHARACTER } else { it }).collect()
}

/// Returns text with its lines and tabs, without other control characters.
pub fn clean_lines(text: &str) -> String {
    let is_kept = |it: char| matches!(it, '\n' | '\t') || !is_obeyed(it);
    text.chars().map(|it| if is_kept(it) { it } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// Whether a terminal does something other than show this character, or shows by it something other
/// than is there: the second are those that reorder the text around them.
fn is_obeyed(c: char) -> bool {
    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_survives() {
        assert_eq!(clean("a\u{1b}[31mb\r\nc\td\u{202e}e"), "a\u{fffd}[31mb c d\u{fffd}e");
        assert_eq!(clean_name("a  b\u{1b}[31m\nc"), "a  b\u{fffd}[31m\u{fffd}c");
        assert_eq!(clean_lines("a\u{9b}1m\n\tb\u{2066}"), "a\u{fffd}1m\n\tb\u{fffd}");
    }
}
