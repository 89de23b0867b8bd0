//! Reads the dates that people and programs type to narrow a list: days, months and years, timestamps, and dates that
//! are relative to today.
//!
//! A relative date is resolved once, in local time, and then compared like any other.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned};

use crate::app::session::values::{self, NOT_A_DATE};
use crate::error::{Error, Result};

/// The hint for a text that is not a date.
const DATES: &str =
    "write 2026-11-01, 2026-11 or 2026; 1.11.2026, 7d, yesterday and 'last month' also work";

/// A date as typed, and the days that it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedDate {
    typed: String,
    /// Its first and its last day: dates or beginnings of one.
    first: String,
    last: String,
    /// When the first day begins, in UTC.
    begins: String,
    is_relative: bool,
}

/// The date from which, or up to which, documents are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DateLimit {
    /// As a filter compares it.
    pub date: String,
    /// The meaning of a relative date, for people.
    pub note: Option<String>,
}

impl DateLimit {
    /// Adds its meaning to the notes of a filter, and returns the date.
    pub fn noted(self, notes: &mut Vec<String>) -> String {
        notes.extend(self.note);
        self.date
    }
}

impl TypedDate {
    /// Reads a date that is typed now.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] says what is wrong with it, and what to type if it is not understood.
    pub fn now(typed: &str) -> Result<Self> {
        Self::parse(typed, &Zoned::now()).map_err(|reason| match reason.as_str() {
            NOT_A_DATE => Error::usage(reason).with_hint(DATES),
            _ => Error::usage(reason),
        })
    }

    fn parse(typed: &str, now: &Zoned) -> Result<Self, String> {
        let words: Vec<String> = typed.split_whitespace().map(str::to_lowercase).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if let Some((first, last)) = relative(&words, now.date()) {
            let begins = midnight(first, now.time_zone()).unwrap_or_else(|| first.to_string());
            let (first, last) = (first.to_string(), last.to_string());
            return Ok(Self { typed: words.join(" "), first, last, begins, is_relative: true });
        }
        let typed = typed.trim();
        if let Ok(instant) = typed.parse::<Timestamp>() {
            // The day is that of the place where the time was written, so it is not converted.
            let day = typed.get(..10).unwrap_or(typed).to_owned();
            let begins = instant.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
            return Ok(Self::absolute(typed, day, begins));
        }
        let day = match with_dots(typed) {
            Some(day) => day.to_string(),
            None => values::date(typed).map_err(|reason| refusal(typed, reason))?,
        };
        Ok(Self::absolute(typed, day.clone(), day))
    }

    fn absolute(typed: &str, day: String, begins: String) -> Self {
        let (typed, last) = (typed.to_owned(), day.clone());
        Self { typed, first: day, last, begins, is_relative: false }
    }

    /// Returns the limit of documents from this date on.
    pub fn since(self) -> DateLimit {
        let note = format!("`{}` is from {} on", self.typed, self.first);
        DateLimit { note: self.is_relative.then_some(note), date: self.first }
    }

    /// Returns the limit of documents up to this date.
    pub fn until(self) -> DateLimit {
        let note = format!("`{}` is up to {}", self.typed, self.last);
        DateLimit { note: self.is_relative.then_some(note), date: self.last }
    }

    /// Returns the limit of documents that were added on this date or later.
    pub fn added_since(self) -> DateLimit {
        let note = format!("`{}` is from {} on", self.typed, self.begins);
        DateLimit { note: self.is_relative.then_some(note), date: self.begins }
    }
}

/// Returns the first and the last day that words mean today; `None` if they are not relative to it.
fn relative(words: &[&str], today: Date) -> Option<(Date, Date)> {
    match words {
        ["today"] => one_day(today),
        ["yesterday"] => one_day(today.yesterday().ok()?),
        ["last", "week"] => {
            let monday = today.tomorrow().ok()?.nth_weekday(-1, Weekday::Monday).ok()?;
            let first = monday.checked_sub(Span::new().weeks(1)).ok()?;
            Some((first, monday.yesterday().ok()?))
        }
        ["last", "month"] => {
            let last = today.first_of_month().yesterday().ok()?;
            Some((last.first_of_month(), last))
        }
        ["last", "year"] => {
            let last = today.first_of_year().yesterday().ok()?;
            Some((last.first_of_year(), last))
        }
        ["last", words @ ..] | [words @ .., "ago"] => one_day(back(words, today)?),
        words => one_day(back(words, today)?),
    }
}

fn one_day(day: Date) -> Option<(Date, Date)> {
    Some((day, day))
}

/// Returns the day that is a number of days, weeks, months or years back: `7d`, `2 weeks`.
fn back(words: &[&str], today: Date) -> Option<Date> {
    let typed = words.concat();
    let end = typed.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = typed.split_at(end);
    let number: i32 = number.parse().ok()?;
    let span = Span::new();
    let span = match unit {
        "d" | "day" | "days" => span.try_days(number),
        "w" | "week" | "weeks" => span.try_weeks(number),
        "m" | "month" | "months" => span.try_months(number),
        "y" | "year" | "years" => span.try_years(number),
        _ => return None,
    };
    today.checked_sub(span.ok()?).ok()
}

/// Returns when a day begins, as times of documents are stored.
fn midnight(day: Date, zone: &TimeZone) -> Option<String> {
    let begins = day.to_zoned(zone.clone()).ok()?.timestamp();
    Some(begins.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
}

/// Returns a day that is written with dots, day first.
fn with_dots(typed: &str) -> Option<Date> {
    let [day, month, year] = numbers(typed, '.')?;
    (year.len() == 4).then(|| date_of(year, month, day))?
}

/// Returns three numbers of up to four digits between separators.
fn numbers(typed: &str, separator: char) -> Option<[&str; 3]> {
    let parts: Vec<&str> = typed.split(separator).map(str::trim).collect();
    let are_numbers = parts.iter().all(|part| {
        (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    });
    are_numbers.then(|| <[&str; 3]>::try_from(parts).ok())?
}

fn date_of(year: &str, month: &str, day: &str) -> Option<Date> {
    Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()
}

/// Says why a date is refused, by default for a `reason`. With slashes, its day may be its month.
fn refusal(typed: &str, reason: String) -> String {
    if let Some([day, month, year]) = numbers(typed, '.')
        && year.len() == 4
        && let Some(reason) = values::no_such_day(year, month, day)
    {
        return reason;
    }
    let Some([first, second, third]) = numbers(typed, '/') else { return reason };
    let mut meanings: Vec<String> = if first.len() == 4 {
        date_of(first, second, third).iter().map(Date::to_string).collect()
    } else {
        let dates = [date_of(third, second, first), date_of(third, first, second)];
        dates.iter().flatten().map(Date::to_string).collect()
    };
    meanings.dedup();
    if meanings.is_empty() || third.len() != 4 && first.len() != 4 {
        return reason;
    }
    format!("dates with slashes are ambiguous: write {}", meanings.join(" or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Sunday.
    const NOW: &str = "2026-11-29T08:00:00+09:00[+09:00]";

    fn parsed(typed: &str) -> Result<TypedDate, String> {
        TypedDate::parse(typed, &NOW.parse().unwrap())
    }

    #[track_caller]
    fn check(typed: &str, since: &str, until: &str) {
        let date = parsed(typed).unwrap();
        assert_eq!(
            (date.clone().since().date.as_str(), date.until().date.as_str()),
            (since, until)
        );
    }

    #[test]
    fn days_months_and_years_are_compared_as_typed() {
        check("2026", "2026", "2026");
        check("2026-05", "2026-05", "2026-05");
        check(" 2026-05-17 ", "2026-05-17", "2026-05-17");
        check("20.11.2026", "2026-11-20", "2026-11-20");
        check("4.10.2025", "2025-10-04", "2025-10-04");
        check("2026-11-20T10:00:00Z", "2026-11-20", "2026-11-20");
        check("2026-11-20T23:30:00-05:00", "2026-11-20", "2026-11-20");
        assert_eq!(parsed("2026-05").unwrap().since().note, None);
    }

    #[test]
    fn relative_dates_are_days_of_the_calendar() {
        check("today", "2026-11-29", "2026-11-29");
        check("Yesterday", "2026-11-28", "2026-11-28");
        check("last week", "2026-11-16", "2026-11-22");
        check("last  month", "2026-10-01", "2026-10-31");
        check("last year", "2025-01-01", "2025-12-31");
        check("7d", "2026-11-22", "2026-11-22");
        check("2w", "2026-11-15", "2026-11-15");
        check("9m", "2026-02-28", "2026-02-28");
        check("1y", "2025-11-29", "2025-11-29");
        check("3 days ago", "2026-11-26", "2026-11-26");
        check("last 2 weeks", "2026-11-15", "2026-11-15");
    }

    #[test]
    fn a_week_begins_on_monday() {
        let week = |today: &str| {
            let (first, last) = relative(&["last", "week"], today.parse().unwrap()).unwrap();
            format!("{first} {last}")
        };
        assert_eq!(week("2026-11-30"), "2026-11-23 2026-11-29");
        assert_eq!(week("2026-12-01"), "2026-11-23 2026-11-29");
        assert_eq!(week("2026-11-29"), "2026-11-16 2026-11-22");
    }

    #[test]
    fn what_a_relative_date_means_is_said() {
        let note = |limit: DateLimit| limit.note.unwrap();
        let month = parsed("last month").unwrap();
        assert_eq!(note(month.clone().since()), "`last month` is from 2026-10-01 on");
        assert_eq!(note(month.until()), "`last month` is up to 2026-10-31");
        // Documents were added at a time in UTC, and days begin in local time.
        let today = parsed("today").unwrap().added_since();
        assert_eq!(today.date, "2026-11-28T15:00:00Z");
        assert_eq!(note(today), "`today` is from 2026-11-28T15:00:00Z on");
        let instant = parsed("2026-11-20T10:00:00+02:00").unwrap().added_since();
        assert_eq!((&*instant.date, instant.note), ("2026-11-20T08:00:00Z", None));
        assert_eq!(parsed("2026-11").unwrap().added_since().date, "2026-11");
    }

    #[test]
    fn a_date_that_may_mean_two_days_is_refused() {
        let refused = |typed: &str| parsed(typed).unwrap_err();
        let unclear = "dates with slashes are ambiguous: write ";
        assert_eq!(refused("20/11/2026"), format!("{unclear}2026-11-20"));
        assert_eq!(refused("5/6/2026"), format!("{unclear}2026-06-05 or 2026-05-06"));
        assert_eq!(refused("2026/11/20"), format!("{unclear}2026-11-20"));
        for typed in ["", "May", "7", "d", "7x", "20.11.26", "last", "99999999999d", "1/2", "ago"] {
            assert_eq!(refused(typed), NOT_A_DATE, "{typed}");
        }
        assert_eq!(refused("31.2.2026"), "February 2026 has 28 days");
        assert_eq!(refused("2026-11-31"), "November has 30 days");
        let hint = |typed: &str| TypedDate::now(typed).unwrap_err().hint();
        assert!(hint("2026-11-31").is_none());
        assert!(
            hint("last-week").unwrap().to_string().starts_with("write 2026-11-01, 2026-11 or 2026")
        );
    }
}
