//! Writes times of appointments as people read them: `2026-05-04 09:00 to 10:30 (Europe/Berlin)`.

use super::lines::ContentLine;

/// A day, with a time or without.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CalendarTime {
    year: u32,
    month: u32,
    day: u32,
    /// `09:00`
    time: Option<String>,
    /// `UTC`, `Europe/Berlin`; empty if none is stated.
    zone: String,
}

impl CalendarTime {
    fn parse(line: &ContentLine) -> Option<Self> {
        Self::of(line.value.trim(), line.parameter("TZID").unwrap_or_default())
    }

    /// Parses `20260504T090000Z` or `20260504`, also with the separators of ISO 8601.
    fn of(value: &str, zone: &str) -> Option<Self> {
        let (date, time) = value.split_once(['T', ' ']).unwrap_or((value, ""));
        let date = date.replace('-', "");
        let number = |from: usize, to: usize| date.get(from..to)?.parse().ok();
        let (year, month, day) = (number(0, 4)?, number(4, 6)?, number(6, 8)?);
        let digits: String = time.chars().filter(char::is_ascii_digit).collect();
        let time = digits.get(..4).map(|digits| format!("{}:{}", &digits[..2], &digits[2..]));
        let zone = match time {
            None => "",
            Some(_) if value.ends_with('Z') => "UTC",
            Some(_) => zone,
        };
        Some(Self { year, month, day, time, zone: zone.to_owned() })
    }

    fn date(&self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    fn date_and_time(&self) -> String {
        match &self.time {
            Some(time) => format!("{} {time}", self.date()),
            None => self.date(),
        }
    }

    fn with_zone(&self, words: String) -> String {
        match self.zone.as_str() {
            "" => words,
            "UTC" => words + " UTC",
            zone => format!("{words} ({zone})"),
        }
    }

    /// Returns the day before.
    fn previous_day(&self) -> Self {
        let (mut year, mut month, mut day) = (self.year, self.month, self.day);
        if day > 1 {
            day -= 1;
        } else {
            if month > 1 {
                month -= 1;
            } else {
                (year, month) = (year.saturating_sub(1), 12);
            }
            day = days_in(year, month);
        }
        Self { year, month, day, ..self.clone() }
    }
}

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// Returns the time of a line; as written if it is in another form.
pub(super) fn at(line: &ContentLine) -> String {
    match CalendarTime::parse(line) {
        Some(time) => time.with_zone(time.date_and_time()),
        None => line.value.trim().to_owned(),
    }
}

/// Returns from when to when an appointment is.
pub(super) fn from_to(start: &ContentLine, end: Option<&ContentLine>) -> String {
    let parsed = CalendarTime::parse(start);
    let (Some(from), Some(to)) = (parsed, end.and_then(CalendarTime::parse)) else {
        return at(start);
    };
    // A day at which something ends is not part of it (RFC 5545, 3.6.1).
    let to = if to.time.is_none() { to.previous_day() } else { to };
    match &to.time {
        _ if (&to.date(), &to.time) <= (&from.date(), &from.time) => {
            from.with_zone(from.date_and_time())
        }
        Some(time) if to.date() == from.date() && to.zone == from.zone => {
            from.with_zone(format!("{} to {time}", from.date_and_time()))
        }
        _ if to.zone == from.zone => {
            from.with_zone(format!("{} to {}", from.date_and_time(), to.date_and_time()))
        }
        _ => {
            let end = to.with_zone(to.date_and_time());
            format!("{} to {end}", from.with_zone(from.date_and_time()))
        }
    }
}

/// Returns a duration in words: `PT1H30M` is `1 h 30 min`.
pub(super) fn duration(written: &str) -> String {
    let (mut parts, mut number) = (Vec::new(), String::new());
    let mut is_time = false;
    for c in written.trim().trim_start_matches(['+', 'P']).chars() {
        let unit = match c {
            '0'..='9' => {
                number.push(c);
                continue;
            }
            'T' => {
                is_time = true;
                continue;
            }
            'W' if number == "1" => "week",
            'W' => "weeks",
            'D' if number == "1" => "day",
            'D' => "days",
            'H' => "h",
            'M' if is_time => "min",
            'S' => "s",
            _ => return written.to_owned(),
        };
        let number = std::mem::take(&mut number);
        if number.chars().any(|c| c != '0') {
            parts.push(format!("{number} {unit}"));
        }
    }
    parts.join(" ")
}

/// Names of the days of the week by their codes.
const DAYS: [(&str, &str); 7] = [
    ("MO", "Monday"),
    ("TU", "Tuesday"),
    ("WE", "Wednesday"),
    ("TH", "Thursday"),
    ("FR", "Friday"),
    ("SA", "Saturday"),
    ("SU", "Sunday"),
];

/// Returns how often something is repeated, in words: `FREQ=WEEKLY;INTERVAL=2;BYDAY=MO` is
/// `every 2 weeks on Monday`.
pub(super) fn repetition(rule: &str) -> String {
    let unit = match part_of(rule, "FREQ").unwrap_or_default().to_ascii_uppercase().as_str() {
        "YEARLY" => "year",
        "MONTHLY" => "month",
        "WEEKLY" => "week",
        "DAILY" => "day",
        "HOURLY" => "hour",
        _ => return rule.to_owned(),
    };
    let mut words = match part_of(rule, "INTERVAL") {
        Some(interval) if interval != "1" => format!("every {interval} {unit}s"),
        _ => format!("every {unit}"),
    };
    if let Some(days) = part_of(rule, "BYDAY") {
        let days: Vec<String> = days.split(',').map(day_of_week).collect();
        words += &format!(" on {}", days.join(", "));
    }
    if let Some(days) = part_of(rule, "BYMONTHDAY") {
        words += &format!(" on day {days}");
    }
    if let Some(count) = part_of(rule, "COUNT") {
        words += &format!(", {count} times");
    }
    if let Some(until) = part_of(rule, "UNTIL") {
        let until = CalendarTime::of(until, "").map_or(until.to_owned(), |until| until.date());
        words += &format!(" until {until}");
    }
    words
}

/// Returns the value of a part of a rule.
fn part_of<'r>(rule: &'r str, name: &str) -> Option<&'r str> {
    let mut parts = rule.split(';').filter_map(|part| part.split_once('='));
    let found = parts.find(|(known, _)| known.trim().eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.trim())
}

/// Returns the name of a day of the week, which may have a number: `2TU` is the second Tuesday of a month.
fn day_of_week(code: &str) -> String {
    let code = code.trim();
    let at = code.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(code.len());
    let (number, day) = code.split_at(at);
    let day = DAYS.iter().find(|(known, _)| *known == day).map_or(day, |(_, name)| name);
    match number.trim_start_matches('+') {
        "" => day.to_owned(),
        "1" => format!("the first {day}"),
        "2" => format!("the second {day}"),
        "3" => format!("the third {day}"),
        "4" => format!("the fourth {day}"),
        "-1" => format!("the last {day}"),
        number => format!("{day} ({number})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::lines::groups;

    /// Returns from when to when the event with these lines is.
    #[track_caller]
    fn check(lines: &str, expected: &str) {
        let found = groups(&format!("BEGIN:VEVENT\n{lines}\nEND:VEVENT"), &["VEVENT"]);
        let [start, end @ ..] = found.groups[0].lines.as_slice() else { panic!("{lines}") };
        assert_eq!(from_to(start, end.first()), expected);
    }

    #[test]
    fn times_are_written_with_their_zones() {
        check("DTSTART;TZID=Europe/Berlin:20260504T090000", "2026-05-04 09:00 (Europe/Berlin)");
        check("DTSTART:20260504T090000Z\nDTEND:20260504T103000Z", "2026-05-04 09:00 to 10:30 UTC");
        check(
            "DTSTART:20260504T220000\nDTEND:20260505T020000",
            "2026-05-04 22:00 to 2026-05-05 02:00",
        );
        check(
            "DTSTART;TZID=Europe/Berlin:20260504T220000\nDTEND;TZID=Asia/Tokyo:20260505T180000",
            "2026-05-04 22:00 (Europe/Berlin) to 2026-05-05 18:00 (Asia/Tokyo)",
        );
        check("DTSTART:soon", "soon");
    }

    #[test]
    fn the_day_after_the_last_is_no_part_of_an_event() {
        check("DTSTART;VALUE=DATE:20260504\nDTEND;VALUE=DATE:20260505", "2026-05-04");
        check("DTSTART:20240228\nDTEND:20240301", "2024-02-28 to 2024-02-29");
        check("DTSTART:20251230\nDTEND:20260101", "2025-12-30 to 2025-12-31");
    }

    #[test]
    fn durations_and_repetitions_are_words() {
        assert_eq!(duration("PT1H30M"), "1 h 30 min");
        assert_eq!(duration("P1DT0S"), "1 day");
        assert_eq!(duration("P2W"), "2 weeks");
        assert_eq!(duration("long"), "long");
        let check = |rule: &str, expected: &str| assert_eq!(repetition(rule), expected);
        check("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE", "every 2 weeks on Monday, Wednesday");
        check("FREQ=MONTHLY;BYDAY=-1FR;COUNT=5", "every month on the last Friday, 5 times");
        check("FREQ=DAILY;UNTIL=20261231T000000Z", "every day until 2026-12-31");
        check("FREQ=SOMETIMES", "FREQ=SOMETIMES");
    }
}
