//! Finds the complete dates in a query, and writes them as documents that are named by a date. Pure.

/// The names of the months in the languages of Western Europe; a word of at least three letters with which one of them
/// begins means it, too.
const MONTHS: [&[&str]; 12] = [
    &["january", "januar", "janvier", "enero", "gennaio", "janeiro", "januari"],
    &["february", "februar", "février", "febrero", "febbraio", "fevereiro", "februari"],
    &["march", "märz", "mars", "marzo", "março", "maart"],
    &["april", "avril", "abril", "aprile"],
    &["may", "mai", "mayo", "maggio", "maio", "mei", "maj"],
    &["june", "juni", "juin", "junio", "giugno", "junho"],
    &["july", "juli", "juillet", "julio", "luglio", "julho"],
    &["august", "août", "agosto", "augustus", "augusti"],
    &["september", "septembre", "septiembre", "settembre", "setembro", "sept"],
    &["october", "oktober", "octobre", "octubre", "ottobre", "outubro"],
    &["november", "novembre", "noviembre", "novembro"],
    &["december", "dezember", "décembre", "diciembre", "dicembre", "dezembro"],
];

/// Fewest letters of an abbreviated month; two begin several months, as in `Ma` and `Ju`.
const MIN_MONTH_LETTERS: usize = 3;

/// Most dates of a query that are looked up, each in several notations.
const MAX_DAYS: usize = 4;

/// A day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CalendarDay {
    year: u32,
    month: u32,
    day: u32,
}

/// The complete dates of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct QueryDays {
    /// In their order, each once.
    pub(super) days: Vec<CalendarDay>,
    /// Whether the query has nothing else.
    pub(super) is_all: bool,
}

impl QueryDays {
    /// Finds `2025-10-04`, `4.10.2025`, `4 October 2025`, `the 4th of October, 2025` and `October 4, 2025`. Months, years
    /// and days relative to today are no complete dates.
    pub(super) fn of(query: &str) -> Self {
        let words: Vec<&str> = query
            .split(|c: char| c.is_whitespace() || c == ',')
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
            .filter(|word| {
                !matches!(
                    *word,
                    "" | "of" | "the" | "de" | "di" | "den" | "am" | "le" | "el" | "il"
                )
            })
            .collect();
        let mut found = Self { days: Vec::new(), is_all: !words.is_empty() };
        let mut rest = words.as_slice();
        while let Some(first) = rest.first() {
            let named = rest.first_chunk::<3>().and_then(|words| by_name(*words));
            let (day, num_words) = match (by_numbers(first), named) {
                (Some(day), _) => (Some(day), 1),
                (None, Some(day)) => (Some(day), 3),
                (None, None) => (None, 1),
            };
            found.is_all &= day.is_some();
            found.days.extend(day.filter(|day| !found.days.contains(day)));
            rest = &rest[num_words..];
        }
        found.days.truncate(MAX_DAYS);
        found
    }
}

impl CalendarDay {
    fn new(year: u32, month: u32, day: u32) -> Option<Self> {
        let is_date =
            (1000..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
        is_date.then_some(Self { year, month, day })
    }

    /// Returns it as ISO 8601 does.
    pub(super) fn shown(self) -> String {
        let Self { year, month, day } = self;
        format!("{year}-{month:02}-{day:02}")
    }

    /// Returns the words, in their order, of names that have it in a notation which means no other day.
    pub(super) fn names(self) -> Vec<String> {
        let Self { year, month, day } = self;
        let name = MONTHS[month as usize - 1][0];
        let short = &name[..MIN_MONTH_LETTERS];
        let mut names = vec![
            format!("{year} {month:02} {day:02}"),
            format!("{year}{month:02}{day:02}"),
            format!("{day:02} {month:02} {year}"),
            format!("{day} {name} {year}"),
            format!("{name} {day} {year}"),
            format!("{day} {short} {year}"),
            format!("{short} {day} {year}"),
        ];
        if day < 10 || month < 10 {
            names.extend([format!("{year} {month} {day}"), format!("{day} {month} {year}")]);
        }
        names
    }

    /// Returns the names of a file and its folder, `04` and `10`, where a folder for each year has one for each month.
    pub(super) fn in_folders(self) -> [String; 2] {
        [format!("{:02}", self.day), format!("{:02}", self.month)]
    }

    /// Whether a path ends in such folders: `2025/10/04.md`.
    pub(super) fn is_in_folders(self, path: &str) -> bool {
        let mut parts = path.rsplit(['/', '\\']);
        let file = parts.next().unwrap_or_default();
        let month = parts.next().unwrap_or_default();
        let year = parts.next().unwrap_or_default();
        let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
        [stem, month] == self.in_folders().each_ref().map(String::as_str)
            && year == self.year.to_string()
    }
}

/// Reads `2025-10-04`, also with a time after it, `2025/10/4`, `2025.10.04` or `4.10.2025`.
fn by_numbers(word: &str) -> Option<CalendarDay> {
    let date = word.split_once('T').map_or(word, |(date, _)| date);
    let joint = date.chars().find(|c| matches!(c, '-' | '/' | '.'))?;
    let parts: Vec<&str> = date.split(joint).collect();
    let [first, month, last] = parts.as_slice() else { return None };
    match (first.len(), last.len()) {
        (4, 1 | 2) => CalendarDay::new(number(first)?, number(month)?, number(last)?),
        (1 | 2, 4) if joint == '.' => {
            CalendarDay::new(number(last)?, number(month)?, number(first)?)
        }
        _ => None,
    }
}

/// Reads `4 October 2025` and `October 4 2025`.
fn by_name([first, second, year]: [&str; 3]) -> Option<CalendarDay> {
    let year = number(year).filter(|_| year.len() == 4)?;
    match (day_of_month(first), month(second)) {
        (Some(day), Some(month)) => CalendarDay::new(year, month, day),
        _ => CalendarDay::new(year, month(first)?, day_of_month(second)?),
    }
}

/// Returns the number of a day, which may end like `4th`.
fn day_of_month(word: &str) -> Option<u32> {
    let digits = ["st", "nd", "rd", "th", "º", "er"].iter().find_map(|end| word.strip_suffix(end));
    number(digits.unwrap_or(word)).filter(|_| word.len() <= 4)
}

/// Returns the number of a month by its name or the beginning of it.
fn month(word: &str) -> Option<u32> {
    let word = word.to_lowercase();
    if word.chars().count() < MIN_MONTH_LETTERS {
        return None;
    }
    let place = MONTHS.iter().position(|names| names.iter().any(|name| name.starts_with(&word)))?;
    u32::try_from(place + 1).ok()
}

fn number(word: &str) -> Option<u32> {
    if word.chars().all(|c| c.is_ascii_digit()) { word.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: &[&str], is_all: bool) {
        let found = QueryDays::of(query);
        let shown: Vec<String> = found.days.iter().map(|day| day.shown()).collect();
        assert_eq!(
            (shown, found.is_all),
            (expected.iter().map(|&day| day.to_owned()).collect(), is_all),
            "{query}"
        );
    }

    #[test]
    fn complete_dates_are_found_anywhere() {
        check("2025-10-04", &["2025-10-04"], true);
        check("log of 2025-10-04T08:30, please", &["2025-10-04"], false);
        check("(2025/10/4)", &["2025-10-04"], true);
        check("4.10.2025", &["2025-10-04"], true);
        check("what happened on 4 October 2025?", &["2025-10-04"], false);
        check("October 4, 2025", &["2025-10-04"], true);
        check("the 4th of Oct. 2025", &["2025-10-04"], true);
        check("4. Oktober 2025", &["2025-10-04"], true);
        check("4 de octubre de 2025 and Sept 26, 2025", &["2025-10-04", "2025-09-26"], false);
    }

    #[test]
    fn other_dates_and_numbers_are_not() {
        for query in [
            "yesterday", "October 2025", "2025", "2025-10", "4/10/2025", "10.0.2025", "2.30.2",
            "32.1.2025", "version 4 of 2025", "4 may be 2025", "192.168.10.2025", "+49 30 1234",
            "march on 2025-13-01",
        ] {
            check(query, &[], false);
        }
    }

    #[test]
    fn a_day_is_written_as_in_names() {
        let day = QueryDays::of("2025-10-04").days[0];
        let names = day.names();
        for expected in
            ["2025 10 04", "20251004", "04 10 2025", "4 october 2025", "oct 4 2025", "4 10 2025"]
        {
            assert!(names.iter().any(|name| name == expected), "{expected}");
        }
        assert!(day.is_in_folders("/journal/2025/10/04.md"));
        for path in ["/journal/2024/10/04.md", "/2025/04/10.md", "04.md", "/2025/10/x/04.md"] {
            assert!(!day.is_in_folders(path), "{path}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_query_panics(query in "[0-9a-zäT,./ -]{0,40}") {
            for day in QueryDays::of(&query).days {
                proptest::prop_assert_eq!(QueryDays::of(&day.shown()).days, vec![day]);
            }
        }
    }
}
