//! Estimates how many tokens a language model pays for a text, and cuts a text into pages.
//!
//! The estimate does not know a tokenizer: it is for keeping answers below a limit. For prose and source code it is
//! about 1.5 times what current tokenizers count, for Chinese and Japanese up to 3 times. For random letters they may
//! count twice as many.

/// Letters of a word per token.
const LETTERS: usize = 5;

/// Returns roughly how many tokens a text has.
pub fn estimate(text: &str) -> usize {
    ends(text).last().map_or(0, |(_, count)| count)
}

/// Returns the part of a text from byte `start` on that has at most `max_tokens`, and where the rest begins, if there
/// is one. Cuts after a line if a line fits. `None` if `start` is not a place in the text.
pub fn page(text: &str, start: usize, max_tokens: usize) -> Option<(&str, Option<usize>)> {
    let rest = text.get(start..)?;
    if start > 0 && rest.is_empty() {
        return None;
    }
    let mut fitting = ends(rest).take_while(|(_, count)| *count <= max_tokens);
    let end = fitting.by_ref().last().map_or(0, |(end, _)| end);
    if end == rest.len() {
        return Some((rest, None));
    }
    let line_end = rest[..end].rfind('\n').map(|at| at + 1);
    // Always go on, even if the first character is above the limit.
    let least = rest.chars().next().map_or(0, char::len_utf8);
    let end = line_end.unwrap_or(end).max(least);
    Some((&rest[..end], Some(start + end)))
}

/// What a character belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Digit,
    Space,
    Mark,
    Other,
}

/// Returns the end of each character, with the tokens up to there.
fn ends(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let (mut count, mut last, mut run) = (0, Kind::Mark, 0);
    text.char_indices().map(move |(at, letter)| {
        let kind = match letter {
            'a'..='z' | 'A'..='Z' => Kind::Letter,
            '0'..='9' => Kind::Digit,
            ' ' | '\n' | '\t' | '\r' => Kind::Space,
            _ if letter.is_ascii() => Kind::Mark,
            _ => Kind::Other,
        };
        run = if kind == last { run + 1 } else { 0 };
        count += match kind {
            // A capital inside a word begins another one.
            Kind::Letter => usize::from(run % LETTERS == 0 || letter.is_ascii_uppercase()),
            Kind::Digit => usize::from(run % 2 == 0),
            // One space belongs to the next word.
            Kind::Space => usize::from(run == 1 || letter == '\n' && run == 0),
            Kind::Mark => 1,
            // An accented letter splits a word; other scripts have up to one token per letter, signs more.
            Kind::Other => match letter.len_utf8() {
                2 => 1,
                len => len - 1,
            },
        };
        last = kind;
        (at + letter.len_utf8(), count)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_above_what_tokenizers_count() {
        // The numbers are those of o200k.
        for (text, real) in [
            ("", 0),
            ("The ferry leaves at nine, and the last boat leaves at ten.", 14),
            ("fn estimate(text: &str) -> usize { ends(text).last() }", 16),
            ("Der Wasserstand steigt bei Südwestwind über die Brücke.", 13),
            ("潮位は毎日観測されています。", 9),
            ("Прилив поднимается дважды в день.", 10),
            ("3f2a9b7c0d", 10),
        ] {
            let estimate = estimate(text);
            assert!(estimate >= real && estimate <= 3 * real + 4, "{text}: {estimate} for {real}");
        }
    }

    #[test]
    fn pages_are_whole_lines_and_together_the_text() {
        let text =
            "one two three\nfour five six\nseven\n".repeat(20) + &"long".repeat(50) + "ü潮\n";
        for max_tokens in [1, 5, 12, 40, 10_000] {
            let (mut start, mut all) = (0, String::new());
            loop {
                let (part, next) = page(&text, start, max_tokens).unwrap();
                assert!(!part.is_empty(), "{start}");
                all += part;
                let Some(next) = next else { break };
                assert!(max_tokens < 12 || part.ends_with('\n') || next > 680, "{part}");
                start = next;
            }
            assert_eq!(all, text);
        }
        assert_eq!(page("", 0, 5), Some(("", None)));
        assert_eq!(page("ü", 1, 5), None);
        assert_eq!(page("ab", 2, 5), None);
        assert_eq!(page("ab", 9, 5), None);
    }
}
