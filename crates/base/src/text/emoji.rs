//! Finds emoji in a text, and writes each as a term for an index of words, which knows letters only. Pure.

use std::iter;

use unicode_properties::UnicodeEmoji;

/// Joins emoji to one picture.
const JOINER: char = '\u{200d}';

/// Arrows and older signs below this are text by default, and `©` is not an emoji to people.
const FIRST: char = '\u{2300}';

/// An emoji in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Emoji<'a> {
    /// As it is written.
    pub written: &'a str,
    /// The same as letters and digits, whatever the colour of the skin.
    pub term: String,
}

/// Returns the emoji of a text in order. A flag and a picture that is joined from several are one.
pub fn emoji(text: &str) -> Vec<Emoji<'_>> {
    let mut chars = text.char_indices().peekable();
    let mut found = Vec::new();
    while let Some((start, c)) = chars.next() {
        if !is_emoji(c) {
            continue;
        }
        let mut term = letters(c);
        if is_flag_letter(c) {
            term.extend(chars.next_if(|next| is_flag_letter(next.1)).map(|next| letters(next.1)));
        }
        loop {
            while chars.next_if(|next| is_variant(next.1)).is_some() {}
            if chars.next_if(|next| next.1 == JOINER).is_none() {
                break;
            }
            let Some(joined) = chars.next_if(|next| is_emoji(next.1)) else { break };
            term += &letters(joined.1);
        }
        let end = chars.peek().map_or(text.len(), |next| next.0);
        found.push(Emoji { written: &text[start..end], term });
    }
    found
}

/// Whether a character is an emoji, without those that are text elsewhere.
pub fn is_emoji(c: char) -> bool {
    c >= FIRST && !is_variant(c) && c.is_emoji_char()
}

/// Whether a character only says how the one before looks: its skin, or that it is in colour.
fn is_variant(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}' | '\u{fe0e}' | '\u{fe0f}')
}

/// Two of these are the flag of a country.
fn is_flag_letter(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

fn letters(c: char) -> String {
    iter::once('u').chain(format!("{:x}", u32::from(c)).chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let terms: Vec<String> = emoji(text).into_iter().map(|emoji| emoji.term).collect();
        assert_eq!(terms, expected, "{text}");
    }

    #[test]
    fn an_emoji_is_one_term_whatever_its_skin() {
        check("Launch 🚀 and 🚀!", &["u1f680", "u1f680"]);
        check("👍🏽 👍", &["u1f44d", "u1f44d"]);
        check("❤️ ❤", &["u2764", "u2764"]);
        check("👩🏾‍💻", &["u1f469u1f4bb"]);
        check("🇳🇴🇩🇪", &["u1f1f3u1f1f4", "u1f1e9u1f1ea"]);
    }

    #[test]
    fn an_emoji_is_known_as_it_is_written() {
        let written: Vec<&str> = emoji("a👩🏾‍💻b❤️🇳🇴").into_iter().map(|emoji| emoji.written).collect();
        assert_eq!(written, ["👩🏾‍💻", "❤️", "🇳🇴"]);
    }

    #[test]
    fn signs_of_text_are_no_emoji() {
        check("© 2024 ™ → 5# * 1️⃣ “a” é 東", &[]);
    }
}
