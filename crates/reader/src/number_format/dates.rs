//! Shows numbers of days as dates and times. Pure functions.

use std::fmt::Write as _;

use super::codes::FormatPiece;

/// The day after the last that programs show: 31 December 9999.
const MAX_DAYS: f64 = 2_958_466.0;

const MONTHS: [&str; 12] = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
];
const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

const MS_PER_SECOND: u64 = 1000;
const MS_PER_DAY: u64 = 86_400 * MS_PER_SECOND;

/// Digits of a millisecond, the smallest part of a second that is shown.
const MAX_PLACES: usize = 3;

/// Letters of a short name of a day or month.
const SHORT: usize = 3;

/// Shows a number of days as a date or time; `None` for one outside of the calendar.
pub(super) fn show(value: f64, pieces: &[FormatPiece], is_1904: bool) -> Option<String> {
    let has_passed = pieces.iter().any(|piece| matches!(piece, FormatPiece::Elapsed(..)));
    // Time that has passed may be owed; there is no date before the first.
    if value.abs() >= MAX_DAYS || (value < 0.0 && !has_passed) {
        return None;
    }
    let num_places = pieces.iter().find_map(|piece| match piece {
        FormatPiece::SecondFraction(num_places) => Some((*num_places).min(MAX_PLACES)),
        _ => None,
    });
    // A millisecond is coarser than the noise of binary fractions, so that 12:00 is not 11:59:59. Elapsed time is
    // rounded to the places that are shown, as are parts of seconds; a clock shows seconds that are complete.
    let mut ms = whole(value.abs() * 86_400_000.0);
    if has_passed || num_places.is_some() {
        let unit = unit(num_places.unwrap_or(0));
        ms = (ms + unit / 2) / unit * unit;
    }
    let moment = DayAndTime::of(ms, pieces, is_1904);
    let mut shown = if value < 0.0 { "-".to_owned() } else { String::new() };
    pieces.iter().for_each(|piece| moment.push(piece, &mut shown));
    Some(shown)
}

/// Returns how many milliseconds a unit of the last place has, of this many decimal places of a second.
fn unit(num_places: usize) -> u64 {
    (num_places..MAX_PLACES).fold(1, |unit, _| unit * 10)
}

/// A day and a time of it.
struct DayAndTime {
    ms: u64,
    is_1904: bool,
    year: u64,
    /// From 1.
    month: u64,
    day: u64,
    /// Whether hours are counted twice a day.
    has_halves: bool,
}

impl DayAndTime {
    fn of(ms: u64, pieces: &[FormatPiece], is_1904: bool) -> Self {
        let (year, month, day) = calendar(ms / MS_PER_DAY, is_1904);
        let has_halves = pieces.iter().any(|piece| matches!(piece, FormatPiece::Half(..)));
        Self { ms, is_1904, year, month, day, has_halves }
    }

    fn push(&self, piece: &FormatPiece, shown: &mut String) {
        let seconds = self.ms / MS_PER_SECOND;
        let hour = seconds / 3600 % 24;
        match piece {
            FormatPiece::Literal(text) => shown.push_str(text),
            FormatPiece::Half(morning, afternoon) => {
                shown.push_str(if hour < 12 { morning } else { afternoon });
            }
            FormatPiece::Elapsed('h', len) => pad(seconds / 3600, *len, shown),
            FormatPiece::Elapsed('m', len) => pad(seconds / 60, *len, shown),
            FormatPiece::Elapsed(_, len) => pad(seconds, *len, shown),
            FormatPiece::Date('y', 1 | 2) => pad(self.year % 100, 2, shown),
            FormatPiece::Date('y', _) => pad(self.year, 4, shown),
            FormatPiece::Date('m', len @ (1 | 2)) => pad(self.month, *len, shown),
            FormatPiece::Date('m', len) => {
                // Five letters stand for the first of the name.
                let len = if *len == 5 { 1 } else { *len };
                name(&MONTHS, self.month - 1, len, shown);
            }
            FormatPiece::Date('d', len @ (1 | 2)) => pad(self.day, *len, shown),
            FormatPiece::Date('d', len) => {
                // Day 1 is a Sunday in the calendar of 1900, day 0 a Friday in that of 1904.
                let first = if self.is_1904 { 5 } else { 6 };
                name(&DAYS, (self.ms / MS_PER_DAY + first) % 7, *len, shown);
            }
            FormatPiece::Date('h', len) => {
                let hour = if self.has_halves { (hour + 11) % 12 + 1 } else { hour };
                pad(hour, *len, shown);
            }
            FormatPiece::Date('n', len) => pad(seconds / 60 % 60, *len, shown),
            FormatPiece::Date(_, len) => pad(seconds % 60, *len, shown),
            FormatPiece::SecondFraction(num_places) => {
                let num_places = (*num_places).min(MAX_PLACES);
                let fraction = self.ms % MS_PER_SECOND / unit(num_places);
                shown.push('.');
                pad(fraction, num_places, shown);
            }
            _ => {}
        }
    }
}

fn pad(number: u64, len: usize, shown: &mut String) {
    // Longer runs of a letter mean the same as those of the year, which has four.
    let len = len.min(4);
    let _ = write!(shown, "{number:0len$}");
}

/// Adds a name, or as many letters of it if they are few.
fn name(names: &[&str], idx: u64, len: usize, shown: &mut String) {
    let name = usize::try_from(idx).ok().and_then(|idx| names.get(idx)).copied().unwrap_or("");
    let len = if len > SHORT { name.len() } else { len };
    shown.push_str(name.get(..len).unwrap_or(name));
}

/// Returns year, month and day of a day, counted from 31 December 1899 or 1 January 1904. Programs believe that
/// 1900 was a leap year, and that a day 0 was before its first.
fn calendar(day: u64, is_1904: bool) -> (u64, u64, u64) {
    match day {
        0 if !is_1904 => return (1900, 1, 0),
        60 if !is_1904 => return (1900, 2, 29),
        _ => {}
    }
    // Days from 1 March of the year 0 on, in eras of 400 years; the two systems count days from 1904 or 1899 on.
    let days_to_1970 = 719_468;
    let first =
        if is_1904 { days_to_1970 - 24_107 } else { days_to_1970 - 25_569 + u64::from(day < 60) };
    let days = first + day;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float cast saturates, and negative numbers become zero"
)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}

#[cfg(test)]
mod tests {
    use crate::number_format::NumberFormat;

    #[track_caller]
    fn check(value: &str, code: &str, expected: &str) {
        assert_eq!(NumberFormat::new(code).number(value, false), expected, "{code}");
    }

    #[test]
    fn noise_of_binary_fractions_is_no_earlier_second() {
        check("43831.4305555555", "h:mm:ss", "10:20:00");
        check("43831.9999999999", "yyyy-mm-dd hh:mm", "2020-01-02 00:00");
        check("0.99999", "h:mm", "23:59");
    }

    #[test]
    fn numbers_outside_of_the_calendar_have_no_date() {
        check("-1", "yyyy", "-1");
        check("1e300", "yyyy", "1E300");
        check("2958466", "yyyy", "2958466");
        check("2958465", "yyyy-mm-dd", "9999-12-31");
        check("0", "yyyy-mm-dd", "1900-01-00");
    }

    #[test]
    fn letters_without_a_meaning_of_their_own_are_shown_as_others() {
        check("43831", "[$-411]ggge\"年\"m\"月\"d\"日\"(aaa)", "2020年1月1日(Wed)");
        check("0.75", "[$-804]上午/下午h\"时\"mm\"分\"", "下午6时00分");
    }
}
