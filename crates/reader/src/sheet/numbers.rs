//! Shows numbers in the format codes of spreadsheets. Pure functions.
//!
//! A code has up to four sections for positive numbers, negative numbers, zero and text (ECMA-376,
//! 18.8.31). A code that is not understood gives the general format.

use super::codes::{Piece, pieces, sections};
use super::dates::{self, count};

/// Longest code that is read, in characters; programs allow 255.
const MAX_CODE: usize = 300;

/// Most decimal places.
const MAX_PLACES: usize = 15;

/// Returns a number in the format with this code; other text stays.
pub(crate) fn shown(number: &str, code: &str, is_1904: bool) -> String {
    let Ok(value) = number.parse::<f64>() else { return number.to_owned() };
    show(value, code, is_1904).unwrap_or_else(|| general(value))
}

/// Returns a number in the general format.
pub(crate) fn general(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return value.to_string();
    }
    // Long numbers keep all their digits, so that they are found.
    if value.abs() < 1e17 && value.fract() == 0.0 {
        return value.to_string();
    }
    if value.abs() >= 1e15 || value.abs() < 1e-9 {
        return trimmed(&format!("{value:.5e}")).replace('e', "E");
    }
    // Programs show 11 digits; the last of the 17 stored ones are noise of binary fractions.
    let whole = value.abs().log10().floor().max(0.0);
    let places = (0..MAX_PLACES).find(|places| {
        let shown = format!("{value:.places$}");
        *places + count(whole) >= 11
            || shown.parse::<f64>().is_ok_and(|shown| (shown - value).abs() <= value.abs() * 1e-14)
    });
    trimmed(&format!("{value:.*}", places.unwrap_or(MAX_PLACES)))
}

/// Removes zeros at the end of the fraction.
fn trimmed(number: &str) -> String {
    let (mantissa, exponent) = number.split_once('e').unwrap_or((number, ""));
    let mantissa = if mantissa.contains('.') {
        mantissa.trim_end_matches('0').trim_end_matches('.')
    } else {
        mantissa
    };
    if exponent.is_empty() { mantissa.to_owned() } else { format!("{mantissa}e{exponent}") }
}

/// Returns a number in a format; `None` for the general format and for codes that are not understood.
fn show(value: f64, code: &str, is_1904: bool) -> Option<String> {
    if code.is_empty() || code.chars().count() > MAX_CODE || !value.is_finite() {
        return None;
    }
    let sections = sections(code);
    // Sections with conditions of their own are rare.
    if sections.iter().any(|section| section.contains(['<', '>'])) {
        return None;
    }
    let (section, has_sign) = match (sections.len(), value) {
        (2.., value) if value < 0.0 => (&sections[1], false),
        (3.., 0.0) => (&sections[2], true),
        _ => (&sections[0], true),
    };
    let pieces = pieces(section)?;
    if pieces.iter().any(|piece| matches!(piece, Piece::Date(..) | Piece::Elapsed(_) | Piece::Half))
    {
        return dates::show(value, &pieces, is_1904);
    }
    let shown = number(value.abs(), &pieces)?;
    let is_negative = has_sign && value < 0.0 && shown.contains(|c: char| matches!(c, '1'..='9'));
    let shown = shown.trim();
    Some(if is_negative { format!("-{shown}") } else { shown.to_owned() })
}

/// Shows a number that is not negative.
fn number(value: f64, pieces: &[Piece]) -> Option<String> {
    let num_percents = pieces.iter().filter(|piece| **piece == Piece::Percent).count();
    let value = value * 100_f64.powi(i32::try_from(num_percents).ok()?);
    let exponent = pieces.iter().find_map(|piece| match piece {
        Piece::Exponent(digits) => Some(*digits),
        _ => None,
    });
    let mut shown = String::new();
    let mut has_digits = false;
    for piece in pieces {
        match piece {
            Piece::Literal(text) => shown.push_str(text),
            Piece::Percent => shown.push('%'),
            Piece::Digits(pattern) if !has_digits && pattern.contains(['0', '#', '?']) => {
                has_digits = true;
                shown.push_str(&match exponent {
                    Some(digits) => scientific(value, pattern, digits),
                    None => digits(value, pattern),
                });
            }
            Piece::Digits(pattern) if has_digits && pattern.contains(['0', '#', '?']) => {
                return None;
            }
            Piece::Digits(pattern) => shown.push_str(pattern),
            Piece::Exponent(_) => {}
            Piece::Date(..) | Piece::Elapsed(_) | Piece::Half => return None,
        }
    }
    // A section of words alone is shown instead of the number.
    Some(shown)
}

fn places(fraction: &str) -> (usize, usize) {
    let most = fraction.chars().filter(|c| matches!(c, '0' | '#' | '?')).count();
    let least = fraction.chars().filter(|c| *c == '0').count();
    (most.min(MAX_PLACES), least.min(MAX_PLACES))
}

/// Shows a number in a pattern of digits: `#,##0.00`.
fn digits(value: f64, pattern: &str) -> String {
    let (whole, fraction) = pattern.split_once('.').unwrap_or((pattern, ""));
    // Commas at the end divide by a thousand each.
    let num_scales = whole.len() - whole.trim_end_matches(',').len();
    let value = value / 1000_f64.powi(i32::try_from(num_scales).unwrap_or(0));
    // Programs round halves up, and so do not see the noise of binary fractions.
    let value = if value < 1e12 { value * (1.0 + 1e-15) } else { value };
    let has_groups = whole.trim_end_matches(',').contains(',');
    let least_whole = whole.chars().filter(|c| *c == '0').count();
    let (most, least) = places(fraction);
    let shown = format!("{value:.most$}");
    let (digits, fraction) = shown.split_once('.').unwrap_or((&shown, ""));
    let kept = fraction.trim_end_matches('0').len().max(least);
    let digits = if least_whole == 0 && digits == "0" { "" } else { digits };
    let mut whole = "0".repeat(least_whole.saturating_sub(digits.len()).min(MAX_CODE)) + digits;
    if has_groups {
        let mut at = whole.len();
        while at > 3 {
            at -= 3;
            whole.insert(at, ',');
        }
    }
    if kept == 0 { whole } else { format!("{whole}.{}", &fraction[..kept]) }
}

fn scientific(value: f64, pattern: &str, num_digits: usize) -> String {
    let (_, fraction) = pattern.split_once('.').unwrap_or((pattern, ""));
    let shown = format!("{value:.*e}", places(fraction).0);
    let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
    let sign = if exponent.starts_with('-') { '-' } else { '+' };
    let exponent = exponent.trim_start_matches('-');
    format!("{mantissa}E{sign}{exponent:0>num_digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: f64, code: &str, expected: &str) {
        assert_eq!(show(value, code, false).as_deref(), Some(expected), "{code}");
    }

    #[test]
    fn numbers_are_shown_in_their_format() {
        check(1234.5, "#,##0.00", "1,234.50");
        check(-1234.5, "#,##0.00", "-1,234.50");
        check(-1234.5, "#,##0;(#,##0)", "(1,235)");
        check(0.125, "0.00", "0.13");
        check(0.125, "0.0%", "12.5%");
        check(1_234_567.0, "[$€-407] #,##0", "€ 1,234,567");
        check(1_234_567.0, "\"$\"#,##0,\"k\"", "$1,235k");
        check(12345.0, "0.00E+00", "1.23E+04");
        check(7.0, "000", "007");
        check(0.5, "#.##", ".5");
        check(0.0, "0;-0;\"none\"", "none");
        check(5.0, "[Red]0_);(0)", "5");
        check(-0.001, "0.0", "0.0");
    }

    #[test]
    fn dates_are_shown_in_their_format() {
        check(43831.0, "yyyy-mm-dd", "2020-01-01");
        check(43831.5, "d mmmm yyyy h:mm AM/PM", "1 January 2020 12:00 PM");
        check(43890.0, "dd/mm/yy", "29/02/20");
        check(43831.0, "dddd, mmm d", "Wednesday, Jan 1");
        check(0.75, "hh:mm:ss", "18:00:00");
        check(1.5, "[h]:mm", "36:00");
        check(0.999_999_99, "h:mm", "0:00");
        check(60.0, "yyyy-mm-dd", "1900-02-29");
        check(59.0, "yyyy-mm-dd", "1900-02-28");
        check(1.0, "yyyy-mm-dd", "1900-01-01");
        check(0.000_705_324, "mm:ss.0", "01:00.9");
        assert_eq!(show(0.0, "yyyy-mm-dd", true).as_deref(), Some("1904-01-01"));
    }

    #[test]
    fn what_is_not_understood_is_general() {
        for code in ["", "General", "@", "# ?/?", "[>100]0;0", "0 0", &"0".repeat(400)] {
            assert_eq!(show(3.25, code, false), None, "{code}");
        }
        assert_eq!(show(-1.0, "yyyy", false), None);
        assert_eq!(show(1e300, "yyyy", false), None);
        for (value, expected) in [
            (0.1 + 0.2, "0.3"),
            (3.0, "3"),
            (-2.5, "-2.5"),
            (1e20, "1E20"),
            (1_234_567_890_123_450.0, "1234567890123450"),
            (1_234_567_890.123, "1234567890.12"),
            (1.0 / 3.0, "0.33333333333"),
            (0.0, "0"),
        ] {
            assert_eq!(general(value), expected);
        }
    }
}
