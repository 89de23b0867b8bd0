//! Recognises the kinds of cells in a table: words, numbers, years, dates.

use crate::text::number::is_year;

/// Longest unit after a number, in letters: `kWh`, `EUR`, `Mio`.
const MAX_UNIT: usize = 3;

/// Longest text that may be a value, in bytes. Longer ones are words, however many digits they have.
const MAX_VALUE: usize = 40;

/// Characters between the digits of numbers and dates.
const SEPARATORS: &[char] =
    &['.', ',', '\'', '’', ' ', '\u{A0}', '\u{202F}', '-', '/', ':', '+', '−', '–'];

/// The kind of content in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CellKind {
    Words,
    /// Words that end in a colon: the label of what is next to them.
    Label,
    /// A number, perhaps with a sign or a unit.
    Number,
    /// A number that may be a year.
    Year,
    /// A date or a time.
    Date,
}

impl CellKind {
    /// Returns the kind of a text; `None` for a blank one.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.is_empty() {
            return None;
        }
        Some(if text.len() > MAX_VALUE {
            Self::Words
        } else if let Some(value) = value(text) {
            value
        } else if text.ends_with([':', '：']) {
            Self::Label
        } else {
            Self::Words
        })
    }

    pub(crate) fn is_value(self) -> bool {
        !matches!(self, Self::Words | Self::Label)
    }
}

/// Returns the kind of a number or a date; `None` for other texts.
fn value(text: &str) -> Option<CellKind> {
    let bare = text.trim_start_matches(|c| is_sign(c) || is_currency(c) || c == ' ');
    let digits_end =
        bare.find(|c: char| !c.is_ascii_digit() && !SEPARATORS.contains(&c)).unwrap_or(bare.len());
    let (number, unit) = bare.split_at(digits_end);
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    // A time may have a zone: `2026-05-01T10:00`.
    let is_time = unit.starts_with('T') && unit[1..].starts_with(|c: char| c.is_ascii_digit());
    let unit = unit.trim_matches(|c: char| {
        is_currency(c) || c.is_whitespace() || matches!(c, '%' | '‰' | ')' | '*' | '°' | '.')
    });
    let letters = unit.chars().count();
    let is_unit = letters <= MAX_UNIT
        && unit.chars().all(|c| c.is_alphabetic() || matches!(c, '²' | '³' | 'µ' | '/'))
        && !is_word(unit);
    if !is_unit && !is_time {
        return None;
    }
    let number = number.trim_matches(SEPARATORS);
    let num_digits = number.bytes().filter(u8::is_ascii_digit).count();
    let parts = number.split(['-', '/', '.', ':']);
    let is_date = is_time
        || number.contains(':')
        || (parts.clone().count() == 3
            && parts.clone().all(|part| matches!(part.len(), 1 | 2 | 4))
            // From `1.5.2026` to `01.05.2026`; other numbers of three parts are versions and addresses.
            && (6..=8).contains(&num_digits)
            && letters == 0);
    Some(match () {
        () if is_date => CellKind::Date,
        () if is_year(number) && letters == 0 && bare == text => CellKind::Year,
        () => CellKind::Number,
    })
}

/// Whether a character may be before a number, as its sign, a limit or an estimate.
fn is_sign(c: char) -> bool {
    matches!(c, '+' | '-' | '−' | '–' | '(' | '<' | '>' | '~' | '±' | '≈')
}

fn is_currency(c: char) -> bool {
    matches!(c, '$' | '€' | '£' | '¥' | '₹')
}

/// Whether a unit is written as the name of a month is: `5 May`.
fn is_word(unit: &str) -> bool {
    let mut letters = unit.chars();
    letters.next().is_some_and(char::is_uppercase)
        && letters.next().is_some_and(char::is_lowercase)
        && letters.next().is_some_and(char::is_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], expected: Option<CellKind>) {
        for text in texts {
            assert_eq!(CellKind::of(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers_have_signs_and_short_units() {
        let numbers = [
            "12", "-3.5", "1,234.50", "1 234,50 €", "$98.8", "(12)", "47.5%", "12.3M", "18 kWh",
            "5 m²", "120 EUR", "~4",
        ];
        check(&numbers, Some(CellKind::Number));
        check(
            &["Q1", "EUR", "E23", "5 May", "12 boats", "3rd floor", "Hull"],
            Some(CellKind::Words),
        );
        check(&["", " \n"], None);
    }

    #[test]
    fn years_dates_and_labels_are_told_apart() {
        check(&["1995", "2026"], Some(CellKind::Year));
        check(
            &[
                "2026-05-01", "01.05.2026", "5/1/2026", "10:30", "2026-05-01T10:00",
                "2026-05-01 10:00:00",
            ],
            Some(CellKind::Date),
        );
        check(&["Kontonummer:", "Serial :"], Some(CellKind::Label));
        check(&["DE00 1234"], Some(CellKind::Words));
        check(&["2345", "192.168"], Some(CellKind::Number));
    }
}
