//! Reduces the formatting codes of POD to their words.

use crate::mime;

/// How deep codes may be nested; deeper ones are words.
const MAX_CODES: usize = 8;

/// Longest row of angles around a code: `C<<<< a->b >>>>`.
const MAX_ANGLES: usize = 6;

/// Characters of `E<>` that are not those of HTML.
const CHARACTERS: &[(&str, &str)] =
    &[("verbar", "|"), ("sol", "/"), ("lchevron", "«"), ("rchevron", "»")];

/// A code that is open.
struct PodCode {
    letter: char,
    num_angles: usize,
    /// Where its words begin.
    start: usize,
}

/// Returns the words of a text, with as many line breaks.
pub(super) fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut codes: Vec<PodCode> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some((num_angles, len)) = opened(rest).filter(|_| codes.len() < MAX_CODES) {
            codes.push(PodCode { letter: first, num_angles, start: out.len() });
            rest = &rest[len..];
            continue;
        }
        let closed = codes.last().and_then(|code| closed(rest, code.num_angles));
        if let (Some(len), Some(_)) = (closed, codes.last())
            && let Some(code) = codes.pop()
        {
            let words = out.split_off(code.start);
            out.push_str(&meaning(code.letter, &words));
            let num_lines = rest[..len].matches('\n').count();
            out.push_str(&"\n".repeat(num_lines));
            rest = &rest[len..];
            continue;
        }
        out.push(first);
        rest = &rest[first.len_utf8()..];
    }
    for code in codes.iter().rev() {
        let angles = "<".repeat(code.num_angles);
        out.insert_str(code.start, &format!("{}{angles}", code.letter));
    }
    out
}

/// Returns the angles of a code that begins a text, and the length of its opening: `C<`, `C<< `.
fn opened(text: &str) -> Option<(usize, usize)> {
    if !text.starts_with(|first: char| first.is_ascii_uppercase()) {
        return None;
    }
    let num_angles = text[1..].bytes().take(MAX_ANGLES).take_while(|byte| *byte == b'<').count();
    match num_angles {
        0 => None,
        1 => Some((1, 2)),
        _ if text[1 + num_angles..].starts_with([' ', '\n']) => Some((num_angles, 2 + num_angles)),
        // The angles after the first one are words.
        _ => Some((1, 2)),
    }
}

/// Returns the length of the closing of a code with this many angles, if a text begins with it.
fn closed(text: &str, num_angles: usize) -> Option<usize> {
    if num_angles == 1 {
        return text.starts_with('>').then_some(1);
    }
    let angles = text.strip_prefix([' ', '\n'])?;
    let num_there = angles.bytes().take(num_angles).take_while(|byte| *byte == b'>').count();
    (num_there == num_angles).then_some(1 + num_angles)
}

/// Returns the text for a code with these words.
fn meaning(letter: char, words: &str) -> String {
    match letter {
        'C' if !words.trim().is_empty() => format!("`{words}`"),
        'E' => character(words),
        'L' => link(words),
        // `X` is an entry of an index, and `Z` is nothing.
        'X' | 'Z' => "\n".repeat(words.matches('\n').count()),
        _ => words.to_owned(),
    }
}

/// Returns the character that `E<name>` stands for.
fn character(name: &str) -> String {
    if let Some((_, known)) = CHARACTERS.iter().find(|(known, _)| *known == name) {
        return (*known).to_owned();
    }
    let number = match name.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None if name.len() > 1 && name.starts_with('0') => u32::from_str_radix(name, 8).ok(),
        None => name.parse().ok(),
    };
    match number.and_then(char::from_u32) {
        Some(c) => c.to_string(),
        None => mime::character(name),
    }
}

/// Returns the words of a link: `text|page`, `page/section`.
fn link(words: &str) -> String {
    if let Some((text, target)) = words.split_once('|') {
        return text.to_owned() + &"\n".repeat(target.matches('\n').count());
    }
    if words.contains("://") {
        return words.to_owned();
    }
    match words.split_once('/') {
        Some(("", section)) => section.trim_matches('"').to_owned(),
        Some((page, section)) => format!("{} in {page}", section.trim_matches('"')),
        None => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(inline(text), expected);
    }

    #[test]
    fn codes_become_their_words() {
        check("B<bold> I<it> F</etc/passwd> S<a b>", "bold it /etc/passwd a b");
        check("C<$x E<gt> 1> and C<< $x->{a} >>", "`$x > 1` and `$x->{a}`");
        check("B<a I<b C<c>>> d", "a b `c` d");
        check("E<eacute>E<0xe9>E<233>E<verbar>E<sol>", "ééé|/");
        check("see X<index>Z<>here", "see here");
    }

    #[test]
    fn a_link_becomes_its_text_or_where_it_leads() {
        check("L<the manual|perlpod/Links>", "the manual");
        check("L<perlpod/\"Links\"> L</Options> L<perlpod>", "Links in perlpod Options perlpod");
        check("L<https://example.org/a/b>", "https://example.org/a/b");
    }

    #[test]
    fn what_nothing_closes_stays() {
        check("if X < 3", "if X < 3");
        check("B<open", "B<open");
        check("B<a I<b>", "B<a b");
        check("a > b", "a > b");
    }
}
