//! Chooses between the forms in which a message offers the same text.

use std::collections::HashSet;

use mail_parser::decoders::html::html_to_text;

/// The plain text is read if it has at least one in this many of the different words of the page: programs leave out
/// tables and buttons. Otherwise it only says that there is a page.
const MIN_SHARE: usize = 2;

/// The page is not read either if the plain text has more words than this many times those of the page.
const MAX_RATIO: usize = 4;

/// Scripts from this letter on are written without blanks, so that each letter counts as a word.
const FIRST_WITHOUT_BLANKS: char = '\u{2E80}';

/// Returns the words of a page, which are not its text: those of one line may be on several.
pub(super) fn without_tags(page: &str) -> String {
    // The library joins the first word of a line to the next if it is in an element.
    html_to_text(&page.replace("</", " </"))
}

/// Whether the page of a message is read and not its plain text. `page` is without tags.
pub(super) fn prefers_page(plain: &str, page: &str) -> bool {
    let (plain, page) = (words(plain), words(page));
    let num_common = plain.intersection(&page).count();
    num_common * MIN_SHARE < page.len() && plain.len() <= page.len() * MAX_RATIO
}

/// Returns the share, from 0 to 1, of the words of a text that another has too.
pub(super) fn share_of_words(text: &str, other: &HashSet<String>) -> f64 {
    let words = words(text);
    let num_common = u32::try_from(words.intersection(other).count()).unwrap_or(u32::MAX);
    let num_words = u32::try_from(words.len()).unwrap_or(u32::MAX);
    f64::from(num_common) / f64::from(num_words.max(1))
}

/// Returns the different words of a text without its addresses of pages, which only one of the forms shows.
pub(super) fn words(text: &str) -> HashSet<String> {
    let shown = text.split_whitespace().filter(|word| !word.contains("://"));
    shown.flat_map(parts).collect()
}

fn parts(word: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for c in word.chars() {
        match parts.last_mut() {
            Some(last) if c.is_alphanumeric() && c < FIRST_WITHOUT_BLANKS => {
                last.extend(c.to_lowercase());
            }
            _ if c.is_alphanumeric() => parts.extend([c.to_string(), String::new()]),
            _ => parts.push(String::new()),
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(plain: &str, page: &str, expected: bool) {
        assert_eq!(prefers_page(plain, page), expected);
    }

    #[test]
    fn a_plain_text_that_only_mentions_the_page_is_not_read() {
        let page =
            "Dear reader, the ferry leaves at noon from pier nine. Tickets are sold on board.";
        check("View this message in your browser: https://example.org/a-ferry-at-noon", page, true);
        check("", page, true);
        check(
            "Your client does not support HTML. You may want to use another one, or ask for help.",
            page,
            true,
        );
    }

    #[test]
    fn a_plain_text_with_the_words_of_the_page_is_read() {
        check("The ferry leaves\nat NOON.", "The ferry leaves at noon. Reply", false);
        check("渡船は正午に出る。", "渡船は正午に 出る。返信", false);
        check("", "", false);
    }

    #[test]
    fn a_page_that_only_mentions_the_plain_text_is_not_read() {
        let plain = "Dear reader, the ferry leaves at noon from pier nine.";
        check(plain, "See below", false);
    }

    #[test]
    fn the_words_of_a_page_are_separate() {
        assert_eq!(words(&without_tags("<p><b>High</b> water<br><i>at</i> ten")).len(), 4);
    }

    #[test]
    fn the_share_of_common_words_ignores_their_order() {
        let other = words("Bring the drawings, and the rope");
        assert!((share_of_words("the rope: BRING boots", &other) - 0.75).abs() < 1e-9);
        assert!(share_of_words("", &other) < 1e-9);
    }
}
