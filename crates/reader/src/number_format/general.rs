//! Shows numbers in the general format, which has no code.

use super::digits::{DecimalNumber, MAX_EXACT};

/// Digits that programs show of a number with decimal places; the last of the 17 stored ones are noise of binary fractions.
const NUM_DIGITS: usize = 12;

/// From here on numbers with decimal places are shown in scientific notation, and below [`MIN_PLAIN`].
const MAX_PLAIN: f64 = 1e15;
const MIN_PLAIN: f64 = 1e-9;

/// Returns a number in the general format.
pub(crate) fn general(value: f64) -> String {
    let size = value.abs();
    // Long whole numbers keep all their digits, so that they are found.
    if !value.is_finite() || (size < MAX_EXACT && value.fract() == 0.0) {
        return if value == 0.0 { "0".to_owned() } else { value.to_string() };
    }
    let sign = if value < 0.0 { "-" } else { "" };
    if (MIN_PLAIN..MAX_PLAIN).contains(&size) {
        let mut number = DecimalNumber::new(size);
        number.round(NUM_DIGITS - number.num_whole().clamp(1, NUM_DIGITS));
        return format!("{sign}{number}");
    }
    let shown = format!("{size:.5e}");
    let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    format!("{sign}{mantissa}E{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_general_format_keeps_the_digits_that_count() {
        for (value, expected) in [
            (0.1 + 0.2, "0.3"),
            (3.0, "3"),
            (-2.5, "-2.5"),
            (1e20, "1E20"),
            (-1.5e-10, "-1.5E-10"),
            (1_234_567_890_123_450.0, "1234567890123450"),
            (1_234_567_890.123, "1234567890.12"),
            (1.0 / 3.0, "0.33333333333"),
            (0.000_012_345, "0.000012345"),
            (-0.0, "0"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(general(value), expected);
        }
    }
}
