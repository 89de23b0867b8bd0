//! Recognises amounts, as tables have them.

/// Whether a word is a number, or a sign next to one.
pub(super) fn is_number(text: &str) -> bool {
    let num_digits = text.chars().filter(char::is_ascii_digit).count();
    num_digits * 2 >= text.chars().count() && num_digits > 0
        || matches!(
            text,
            "$" | "%" | "\u{20AC}" | "\u{A3}" | "-" | "\u{2013}" | "\u{2014}" | ")" | "("
        )
}

/// Whether a word is the sign of a currency.
pub(super) fn is_currency(text: &str) -> bool {
    matches!(text, "$" | "US$" | "\u{20AC}" | "\u{A3}" | "\u{A5}")
}
