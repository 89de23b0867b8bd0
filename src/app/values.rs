//! Validates tags and dates given by users and programs.

/// Returns a tag without surrounding whitespace.
pub fn tag(typed: &str) -> Result<String, String> {
    let tag = typed.trim();
    if tag.is_empty() { Err("a tag must not be empty".into()) } else { Ok(tag.to_owned()) }
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
    match is_date && first_day.parse::<jiff::civil::Date>().is_ok() {
        true => Ok(typed.to_owned()),
        false => Err("not a date like 2026-05-17".into()),
    }
}

/// Returns a day as it was written; `None` for an empty text.
pub fn day(typed: &str) -> Result<Option<String>, String> {
    match typed.trim() {
        "" => Ok(None),
        day if day.len() == 10 => date(day).map(Some),
        _ => Err("not a day like 2026-05-17".into()),
    }
}
