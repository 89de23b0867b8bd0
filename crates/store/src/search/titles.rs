//! Compares the titles and the days of documents. Pure.

use jiff::civil::Date;

use crate::text::number::is_year;

/// Returns the words of a title in small letters, without years, which tell the editions of a text: `Travel policy 2025`.
pub(super) fn without_years(title: &str) -> String {
    let kept: Vec<String> = words(title).filter(|word| !is_year(word)).collect();
    // A title that is only a year keeps it.
    if kept.is_empty() { title.to_lowercase() } else { kept.join(" ") }
}

pub(super) fn words(text: &str) -> impl DoubleEndedIterator<Item = String> + use<'_> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}

/// Returns the number of a day, counted from any fixed one; `None` if it is not one like `2026-05-17`.
pub(super) fn day_number(date: &str) -> Option<i32> {
    let day: Date = date.parse().ok()?;
    Some((day - Date::ZERO).get_days())
}
