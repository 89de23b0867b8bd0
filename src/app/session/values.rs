//! Validates tags, dates and pages given by users and programs.

use jiff::civil::Date;

use crate::document::PageRange;

/// Returns a tag without surrounding whitespace.
pub fn tag(typed: &str) -> Result<String, String> {
    let tag = typed.trim();
    if tag.is_empty() { Err("a tag must not be empty".into()) } else { Ok(tag.to_owned()) }
}

/// The message for a text that is not understood as a date.
pub(crate) const NOT_A_DATE: &str = "not a date";

/// The names of the months.
const MONTHS: [&str; 12] = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
];

/// Says why there is no such day; `None` if there is, or if these are not three numbers.
pub(crate) fn no_such_day(year: &str, month: &str, day: &str) -> Option<String> {
    let (year, month, day): (i16, i8, i8) =
        (year.parse().ok()?, month.parse().ok()?, day.parse().ok()?);
    let Ok(first) = Date::new(year, month, 1) else {
        return Some(format!("there is no month {month}"));
    };
    let last = first.days_in_month();
    let name = MONTHS[usize::try_from(month - 1).ok()?];
    match day {
        0 => Some("there is no day 0".into()),
        day if day <= last => None,
        _ if month == 2 => Some(format!("{name} {year} has {last} days")),
        _ => Some(format!("{name} has {last} days")),
    }
}

/// Returns a valid day, month or year unchanged.
pub fn date(typed: &str) -> Result<String, String> {
    const MOLD: &str = "0000-00-00";
    let is_date = matches!(typed.len(), 4 | 7 | 10)
        && typed.chars().zip(MOLD.chars()).all(|(c, mold)| match mold {
            '0' => c.is_ascii_digit(),
            _ => c == mold,
        });
    let first_day = format!("{typed}{}", &"0000-01-01"[typed.len().min(MOLD.len())..]);
    if !is_date {
        return Err(NOT_A_DATE.into());
    }
    match no_such_day(&first_day[..4], &first_day[5..7], &first_day[8..]) {
        Some(reason) => Err(reason),
        None => Ok(typed.to_owned()),
    }
}

/// Parses a page or pages, also as citations have them: `3`, `3-4`, `p. 3`, `pp. 3-4`.
pub fn pages(typed: &str) -> Result<PageRange, String> {
    PageRange::parse_cited(typed)
        .ok_or_else(|| "expected a page such as 3 or pages such as 3-4".into())
}

/// Returns a day as it was written; `None` for an empty text.
pub fn day(typed: &str) -> Result<Option<String>, String> {
    match typed.trim() {
        "" => Ok(None),
        day => match date(day) {
            Ok(day) if day.len() == 10 => Ok(Some(day)),
            Err(reason) if reason != NOT_A_DATE => Err(reason),
            _ => Err("expected a day such as 2026-05-17".into()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_that_does_not_exist_is_not_one_that_is_not_understood() {
        for (typed, expected) in [
            ("2026-11-31", "November has 30 days"),
            ("2026-02-29", "February 2026 has 28 days"),
            ("2024-02-30", "February 2024 has 29 days"),
            ("2026-13", "there is no month 13"),
            ("2026-00-10", "there is no month 0"),
            ("2026-01-00", "there is no day 0"),
            ("2026-1-1", NOT_A_DATE),
            ("last-week", NOT_A_DATE),
            ("", NOT_A_DATE),
        ] {
            assert_eq!(date(typed), Err(expected.to_owned()), "{typed}");
        }
        for typed in ["2024-02-29", "2026-11", "2026", "0001-01-01"] {
            assert_eq!(date(typed), Ok(typed.to_owned()));
        }
    }
}
