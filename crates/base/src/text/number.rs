//! Formats numbers for people, and tells years from other numbers.

/// Returns a number with commas between thousands.
pub fn thousands(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::new();
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Whether a text is the number of a year near today: `2026`, but not `19.5` and not `1850`.
pub fn is_year(text: &str) -> bool {
    let is_number = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number && (text.starts_with("19") || text.starts_with("20"))
}

/// Returns a number with its noun: `1 chunk`, `2 chunks`.
pub fn counted(number: impl TryInto<u64>, noun: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number))
}

/// Returns a size in megabytes.
#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
pub fn bytes_to_mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Formats a duration so that it is read at a glance: `12 s`, `3 min 05 s`, `2 h 10 min`.
pub fn duration(seconds: u64) -> String {
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds:02} s"),
        (hours, minutes, _) => format!("{hours} h {minutes:02} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_847_000, "1,847,000")] {
            assert_eq!(thousands(number), text);
        }
    }

    #[test]
    fn a_year_has_four_digits() {
        for (text, expected) in [
            ("1999", true),
            ("2026", true),
            ("19.5", false),
            ("20,4", false),
            ("1850", false),
            ("20260", false),
        ] {
            assert_eq!(is_year(text), expected, "{text}");
        }
    }

    #[test]
    fn a_duration_is_shown_in_its_two_largest_units() {
        for (seconds, text) in [
            (0, "0 s"),
            (59, "59 s"),
            (65, "1 min 05 s"),
            (3600, "1 h 00 min"),
            (90_061, "25 h 01 min"),
        ] {
            assert_eq!(duration(seconds), text);
        }
    }
}
