//! Validates tags, dates and pages given by users and programs.

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

/// Parses a page or pages, also as citations have them: `3`, `3-4`, `p. 3`, `pp. 3-4`.
pub fn pages(typed: &str) -> Result<(u32, u32), String> {
    let numbers = typed.trim_start_matches(|letter: char| "p. ".contains(letter));
    let (first, last) = numbers.split_once(['-', '–']).unwrap_or((numbers, numbers));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) if 0 < first && first <= last => Ok((first, last)),
        _ => Err("neither a page like 3 nor pages like 3-4".into()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_may_be_written_as_citations_have_them() {
        for typed in ["3-4", "pp. 3-4", "pp.3–4", " p. 3 - 4 "] {
            assert_eq!(pages(typed), Ok((3, 4)), "{typed}");
        }
        for typed in ["3", "p. 3", " 3 "] {
            assert_eq!(pages(typed), Ok((3, 3)), "{typed}");
        }
        for typed in ["", "0", "4-3", "three", "3-", "3-4-5", "-3"] {
            assert!(pages(typed).is_err(), "{typed}");
        }
    }
}
