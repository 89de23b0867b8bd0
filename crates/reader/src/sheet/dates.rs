//! Shows numbers of days as dates and times. Pure functions.

use super::codes::Piece;

/// The last day that programs show: 31 December 9999.
const MAX_DAYS: f64 = 2_958_466.0;

const MONTHS: [&str; 12] = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
];
const DAYS: [&str; 7] =
    ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Shows a number of days as a date or time.
pub(super) fn show(value: f64, pieces: &[Piece], is_1904: bool) -> Option<String> {
    if !(0.0..MAX_DAYS).contains(&value) {
        return None;
    }
    let has_fraction = pieces.iter().any(|piece| match piece {
        Piece::Digits(digits) => digits.contains('0'),
        _ => false,
    });
    // Rounds to what is shown, so that 12:00 is not 11:59:59.
    let unit = if has_fraction { 1000.0 } else { 1.0 };
    let total = (value * 86_400.0 * unit).round() / unit;
    let day = (total / 86_400.0).floor();
    let seconds = total - day * 86_400.0;
    let (year, month, day_of_month) = calendar(day, is_1904);
    let (hour, minute, second) =
        ((seconds / 3600.0).floor(), (seconds / 60.0).floor() % 60.0, seconds.floor() % 60.0);
    let has_half = pieces.contains(&Piece::Half);
    let mut shown = String::new();
    let mut is_after_hour = false;
    for (idx, piece) in pieces.iter().enumerate() {
        match piece {
            Piece::Literal(text) => shown.push_str(text),
            Piece::Elapsed(unit) => {
                let elapsed = match unit {
                    'h' => total / 3600.0,
                    'm' => total / 60.0,
                    _ => total,
                };
                shown.push_str(&elapsed.floor().to_string());
                is_after_hour = *unit == 'h';
            }
            Piece::Half => shown.push_str(if hour < 12.0 { "AM" } else { "PM" }),
            Piece::Date('y', len) => {
                let year = if *len > 2 { year } else { year % 100 };
                shown.push_str(&format!("{year:02}"));
            }
            Piece::Date('d', len) => shown.push_str(&match len {
                1 => day_of_month.to_string(),
                2 => format!("{day_of_month:02}"),
                len => {
                    // Day 1 is a Sunday in the calendar of 1900.
                    let offset = if is_1904 { 5.0 } else { 6.0 };
                    let name = DAYS[count((day + offset) % 7.0)];
                    if *len == 3 { name[..3].to_owned() } else { name.to_owned() }
                }
            }),
            Piece::Date('h', len) => {
                let hour = match (has_half, hour % 12.0) {
                    (false, _) => hour,
                    (true, 0.0) => 12.0,
                    (true, hour) => hour,
                };
                shown.push_str(&padded(hour, *len));
                is_after_hour = true;
            }
            Piece::Date('s', len) => {
                shown.push_str(&padded(second, *len));
                is_after_hour = false;
            }
            Piece::Date(_, len) => {
                let next =
                    pieces[idx + 1..].iter().find(|piece| !matches!(piece, Piece::Literal(_)));
                let is_minute = is_after_hour || matches!(next, Some(Piece::Date('s', _)));
                is_after_hour = false;
                if is_minute {
                    shown.push_str(&padded(minute, *len));
                    continue;
                }
                let name = MONTHS[month - 1];
                shown.push_str(&match len {
                    1 => month.to_string(),
                    2 => format!("{month:02}"),
                    3 => name[..3].to_owned(),
                    5 => name[..1].to_owned(),
                    _ => name.to_owned(),
                });
            }
            Piece::Digits(pattern) => match pattern.strip_prefix('.') {
                Some(places) if places.contains('0') => {
                    let fraction = format!("{:.*}", places.len().min(3), seconds - seconds.floor());
                    shown.push_str(fraction.trim_start_matches('0'));
                }
                _ => shown.push_str(pattern),
            },
            Piece::Percent | Piece::Exponent(_) => return None,
        }
    }
    Some(shown.trim().to_owned())
}

fn padded(number: f64, len: usize) -> String {
    if len > 1 { format!("{number:02}") } else { number.to_string() }
}

/// Returns year, month and day of a day, counted from 1 January 1900 or 1904. Programs believe that
/// 1900 was a leap year.
fn calendar(day: f64, is_1904: bool) -> (usize, usize, usize) {
    let day = count(day);
    if !is_1904 && day == 60 {
        return (1900, 2, 29);
    }
    // Days since 1 March of the year 0, in eras of 400 years.
    let since_1970 = 719_468;
    let first =
        if is_1904 { since_1970 - 24_107 } else { since_1970 - 25_569 + usize::from(day < 60) };
    let days = first + day;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + usize::from(month <= 2), month, day)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float cast saturates, and negative numbers become zero"
)]
pub(super) fn count(value: f64) -> usize {
    value as usize
}
