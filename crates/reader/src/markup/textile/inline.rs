//! Reduces the inline markup of Textile to its words.

use super::attributes::attributes;
use crate::markup::inline::{MAX_SPAN_BYTES, push_between, push_code, scan, until};
use crate::markup::writer::within;

/// Marks around words, the longer ones first.
const MARKS: &[&str] = &["**", "__", "??", "*", "_", "-", "+", "^", "~", "%"];

/// How deep marks are followed in each other: bounds the recursion on a hostile file.
const MAX_DEPTH: usize = 6;

/// Returns the words of a text, with as many line breaks.
pub(super) fn inline(text: &str) -> String {
    read(text, 0)
}

fn read(text: &str, depth: usize) -> String {
    scan(text, |rest, out| {
        let before = out.chars().next_back();
        let may_open = before.is_none_or(|c| c.is_whitespace() || "([{'\"|>".contains(c));
        match rest.chars().next() {
            Some('"') => link(rest, depth, out),
            Some('!') if may_open => picture(rest, out),
            Some('@') if may_open => between(rest, "@", out),
            Some('=') if rest.starts_with("==") => verbatim(rest, out),
            Some('<') => tag(rest, out),
            Some('(') if before.is_some_and(char::is_uppercase) => expansion(rest, out),
            Some(_) if may_open && depth < MAX_DEPTH => emphasis(rest, depth, out),
            _ => 0,
        }
    })
}

/// Reads `"text":address` and `"text(title)":address`.
fn link(text: &str, depth: usize, out: &mut String) -> usize {
    let Some(end) = within(&text[1..], MAX_SPAN_BYTES).find("\":") else { return 0 };
    let inside = &text[1..=end];
    let address = &text[end + 3..];
    let address = &address[..address.find(char::is_whitespace).unwrap_or(address.len())];
    if inside.is_empty() || inside.contains('"') || address.is_empty() {
        return 0;
    }
    // Marks after the address end the sentence.
    let address =
        address.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '*', '_', '"', '|', ']']);
    let (_, inside) = attributes(inside);
    if depth < MAX_DEPTH {
        out.push_str(&read(inside, depth + 1));
    } else {
        out.push_str(inside);
    }
    end + 3 + address.len()
}

/// Reads `!address(words)!`, perhaps with `:address`.
fn picture(text: &str, out: &mut String) -> usize {
    let Some(end) = within(&text[1..], MAX_SPAN_BYTES).find(['!', ' ', '\n']) else { return 0 };
    let has_words = within(&text[1..], MAX_SPAN_BYTES).find(")!");
    let (inside, len) = match has_words {
        Some(at) if text[1..=at].find('(').is_some_and(|open| open < end) => {
            (&text[1..=at], at + 3)
        }
        _ if text[1 + end..].starts_with('!') && text[1..=end].contains('.') => {
            (&text[1..=end], end + 2)
        }
        _ => return 0,
    };
    if inside.contains('\n') {
        return 0;
    }
    if let Some((_, words)) = inside.split_once('(') {
        out.push_str(words);
    }
    let address = text[len..].strip_prefix(':');
    let address_len =
        address.map_or(0, |address| 1 + address.find(char::is_whitespace).unwrap_or(address.len()));
    len + address_len
}

/// Reads `@source@`.
fn between(text: &str, mark: &str, out: &mut String) -> usize {
    let Some(inside) = until(&text[1..], mark, |_, _| true) else { return 0 };
    if inside.contains('\n') {
        return 0;
    }
    push_code(inside, out);
    inside.len() + 2
}

/// Reads `==text without markup==`.
fn verbatim(text: &str, out: &mut String) -> usize {
    let Some(inside) = until(&text[2..], "==", |_, _| true) else { return 0 };
    out.push_str(inside);
    inside.len() + 4
}

/// Skips a tag of HTML.
fn tag(text: &str, out: &mut String) -> usize {
    let inside = within(&text[1..], MAX_SPAN_BYTES);
    let is_tag = inside.trim_start_matches('/').starts_with(|c: char| c.is_ascii_alphabetic());
    match inside.find(['>', '<']).filter(|end| is_tag && inside[*end..].starts_with('>')) {
        Some(end) => {
            let num_lines = inside[..end].matches('\n').count();
            out.push_str(&"\n".repeat(num_lines));
            end + 2
        }
        None => 0,
    }
}

/// Reads `(what the capitals before stand for)`.
fn expansion(text: &str, out: &mut String) -> usize {
    let Some(inside) = until(&text[1..], ")", |_, _| true) else { return 0 };
    push_between([" (", ")"], inside, out);
    inside.len() + 2
}

/// Reads `*words*`, and the same with other marks.
fn emphasis(text: &str, depth: usize, out: &mut String) -> usize {
    let Some(mark) = MARKS.iter().find(|mark| text.starts_with(**mark)) else { return 0 };
    let inside = &text[mark.len()..];
    if inside.starts_with(char::is_whitespace) || inside.starts_with(*mark) {
        return 0;
    }
    let inside = until(inside, mark, |before, after| {
        !before.ends_with(char::is_whitespace) && after.is_none_or(|c| !c.is_alphanumeric())
    });
    let Some(inside) = inside else { return 0 };
    if inside.contains("\n\n") {
        return 0;
    }
    let words = match *mark {
        "%" => attributes(inside).1,
        _ => inside,
    };
    out.push_str(&read(words, depth + 1));
    inside.len() + 2 * mark.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(inline(text), expected);
    }

    #[test]
    fn marks_around_words_are_removed() {
        check(
            "*strong* _em_ **b** __i__ ??cite?? +in+ -out- ^up^ ~down~",
            "strong em b i cite in out up down",
        );
        check("a *b _c_ d*, (*e*)", "a b c d, (e)");
        check("%{color:red}warning% @a_b_c@", "warning `a_b_c`");
        check(
            "2 * 3 * 4 and snake_case_name, well-known, x - y - z",
            "2 * 3 * 4 and snake_case_name, well-known, x - y - z",
        );
        check("==*raw*== <b>bold</b> a < b", "*raw* bold a < b");
    }

    #[test]
    fn links_and_pictures_have_their_words() {
        check(
            "see \"the tide *table*\":https://example.org/a_b_c. Next",
            "see the tide table. Next",
        );
        check("he said \"no\": and \"yes\"", "he said \"no\": and \"yes\"");
        check("!gauge.png! !>a.png(the gauge)!:https://x.y end!", " the gauge end!");
        check("Wow! Really!", "Wow! Really!");
        check("NASA(National Agency) said", "NASA (National Agency) said");
    }
}
