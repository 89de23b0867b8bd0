//! Finds where sentences begin.

/// Returns where sentences begin, except the first.
pub fn begins(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((_, c)) = chars.next() {
        let needs_space = match c {
            '.' | '!' | '?' | '؟' | '।' => true,
            '。' | '！' | '？' => false,
            _ => continue,
        };
        let mut has_space = false;
        while chars.next_if(|next| next.1 == ' ').is_some() {
            has_space = true;
        }
        if let Some((at, next)) = chars.peek()
            && (has_space || !needs_space)
            && !next.is_lowercase()
        {
            found.push(*at);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_begin_after_a_stop() {
        let text = "One. Two 3.5 etc. and so on! Drei? 四。五";
        let found: Vec<&str> = begins(text).into_iter().map(|at| &text[at..]).collect();
        assert_eq!(found, ["Two 3.5 etc. and so on! Drei? 四。五", "Drei? 四。五", "四。五", "五"]);
    }
}
