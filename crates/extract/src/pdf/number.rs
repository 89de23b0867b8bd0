//! Recognises the numbers of chapters, sections and appendices at the beginning of titles. A pure
//! function.

/// Words before the number of a chapter or an appendix.
const LABELS: &[&str] = &[
    "annex", "annexe", "anexo", "anhang", "appendice", "appendix", "ap\u{E9}ndice", "abschnitt",
    "cap\u{ED}tulo", "capitolo", "chapitre", "chapter", "kapitel", "part", "parte", "partie",
    "section", "teil",
];

/// Longest part of a number between two full stops, in characters: as `XVIII`; a longer one is a date or a code.
const MAX_PART: usize = 5;

/// Returns `title` without its number: `Tides` for `3.1 Tides`, `B.2 Tides`, `IV. Tides` and
/// `Appendix B: Tides`. A title that is only a number is returned unchanged.
pub(super) fn without(title: &str) -> &str {
    let title = title.trim();
    let (label, after) = first_word(title);
    let is_labelled = is_label(label);
    let (number, rest) = if is_labelled { first_word(after) } else { (label, after) };
    let rest = rest.trim_start_matches(|c: char| {
        c.is_whitespace() || matches!(c, '.' | ':' | '-' | '\u{2013}' | '\u{2014}')
    });
    if is_number(number, is_labelled) && rest.chars().any(char::is_alphanumeric) {
        rest
    } else {
        title
    }
}

/// Whether `title` is a word such as `Chapter`, alone or with a number.
pub(super) fn is_alone(title: &str) -> bool {
    let (label, after) = first_word(title.trim());
    let (number, rest) = first_word(after);
    is_label(label) && rest.is_empty() && (number.is_empty() || is_number(number, true))
}

/// Returns `title` without a letter or Roman numeral that may be its number or its first word: bookmarks
/// number appendices as in `A Tides`.
pub(super) fn without_letter(title: &str) -> Option<&str> {
    let (letter, rest) = first_word(title.trim());
    (is_number(letter, true) && !rest.is_empty()).then_some(rest)
}

fn is_label(word: &str) -> bool {
    LABELS.contains(&word.to_lowercase().as_str())
}

fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

/// Whether a word is a number of parts between full stops, and not a word of the title. After a
/// label, letters and Roman numerals need no full stop: `Appendix B`, but not `A Tide`.
fn is_number(word: &str, is_labelled: bool) -> bool {
    let has_end = word.ends_with(['.', ':', ')']);
    let number = word.trim_end_matches(['.', ':', ')']);
    let mut parts = number.split('.');
    let first = parts.next().unwrap_or_default();
    let has_more = number.len() > first.len();
    let is_letter = first.len() == 1 && first.chars().all(|c| c.is_ascii_uppercase());
    let first_fits = is_digits(first)
        || ((is_letter || is_roman(first)) && (is_labelled || has_end || has_more));
    first_fits && parts.all(is_digits)
}

fn is_digits(part: &str) -> bool {
    (1..=MAX_PART).contains(&part.len()) && part.chars().all(|c| c.is_ascii_digit())
}

fn is_roman(part: &str) -> bool {
    (1..=MAX_PART).contains(&part.len()) && part.chars().all(|c| matches!(c, 'I' | 'V' | 'X' | 'L'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(title: &str, expected: &str) {
        assert_eq!(without(title), expected);
    }

    #[test]
    fn numbers_of_chapters_and_appendices_are_removed() {
        for title in [
            "Tides",
            "3 Tides",
            "3. Tides",
            "3.1.4 Tides",
            "B.1 Tides",
            "A. Tides",
            "IV. Tides",
            "Chapter 3 Tides",
            "CHAPTER IV: Tides",
            "Appendix B Tides",
            "Appendix B. \u{2014} Tides",
            "Anhang C.2 Tides",
        ] {
            check(title, "Tides");
        }
    }

    #[test]
    fn words_of_the_title_are_kept() {
        for title in
            ["A tide", "I am late", "V1 gauges", "Chapter 3", "12", "Part of it", "B.1", "X-rays"]
        {
            check(title, title);
        }
    }

    #[test]
    fn a_letter_may_be_a_number() {
        assert_eq!(without_letter("A Tides"), Some("Tides"));
        assert_eq!(without_letter("IX Tides"), Some("Tides"));
        assert_eq!(without_letter("Tides at noon"), None);
        assert_eq!(without_letter("A"), None);
    }
}
