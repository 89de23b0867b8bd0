//! Shows the values of cells that have no text, as programs write them that leave showing to others.

use crate::number_format::general;

/// The value that a cell states.
#[derive(Debug, Default)]
pub(super) struct CellValue {
    /// `float`, `date`, `string`; empty for a cell without a value.
    pub(super) kind: String,
    /// The value in the form of its kind.
    pub(super) value: String,
    /// The code of the currency.
    pub(super) currency: String,
    /// How the value is computed, in the notation of the format; empty if it is not.
    pub(super) formula: String,
}

impl CellValue {
    /// Whether there is a formula without its value. One that gives a text may give an empty one.
    pub(super) fn is_missing(&self) -> bool {
        !self.formula.is_empty() && self.value.trim().is_empty() && self.kind != "string"
    }

    /// Returns the formula as programs show it: `of:=SUM([.B2:.B9])` is `=SUM(B2:B9)`.
    pub(super) fn shown_formula(&self) -> String {
        let formula = self.formula.trim();
        let formula = formula.split_once('=').map_or(formula, |(_, formula)| formula);
        let (mut shown, mut is_quoted, mut is_reference) = ("=".to_owned(), false, false);
        let mut previous = ' ';
        for c in formula.chars() {
            is_quoted ^= c == '"';
            match c {
                '[' | ']' if !is_quoted => is_reference = c == '[',
                // The sheet of the cell itself has no name.
                '.' if is_reference && matches!(previous, '[' | ':') => {}
                c => shown.push(c),
            }
            previous = c;
        }
        shown
    }

    /// Returns the value as text; empty for a cell without one.
    pub(super) fn show(&self) -> String {
        let value = self.value.trim();
        match self.kind.as_str() {
            "percentage" => match value.parse::<f64>() {
                // Two places more than the share has, so that 0.07 is not 7.000000000000001.
                Ok(share) => general((share * 1e12).round() / 1e10) + "%",
                Err(_) => value.to_owned(),
            },
            "currency" => format!("{value} {}", self.currency).trim().to_owned(),
            "boolean" => value.to_uppercase(),
            "time" => duration(value).unwrap_or_else(|| value.to_owned()),
            "date" => value.replacen('T', " ", 1),
            _ => value.to_owned(),
        }
    }
}

/// Returns a duration (`PT26H30M`, ISO 8601) as hours and minutes, with seconds if there are any: `26:30`.
fn duration(value: &str) -> Option<String> {
    const HOURS_OF_A_DAY: u64 = 24;
    let (sign, rest) = value.strip_prefix('-').map_or(("", value), |rest| ("-", rest));
    let (days, time) = rest.strip_prefix('P')?.split_once('T')?;
    let days: u64 = match days.strip_suffix('D') {
        Some(days) => days.parse().ok()?,
        None if days.is_empty() => 0,
        None => return None,
    };
    let (mut hours, mut minutes, mut seconds) = (0_u64, 0_u64, String::new());
    let mut rest = time;
    while let Some(end) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        let (number, unit) = rest.split_at(end);
        match unit.as_bytes().first()? {
            b'H' => hours = number.parse().ok()?,
            b'M' => minutes = number.parse().ok()?,
            b'S' => {
                // Programs write a fraction of zeros: `PT08H30M00.000000000S`.
                let (whole, fraction) = number.split_once(['.', ',']).unwrap_or((number, ""));
                let fraction = fraction.trim_end_matches('0');
                let dot = if fraction.is_empty() { "" } else { "." };
                let whole: u64 = whole.parse().ok()?;
                if whole > 0 || !fraction.is_empty() {
                    seconds = format!(":{whole:02}{dot}{fraction}");
                }
            }
            _ => return None,
        }
        rest = &unit[1..];
    }
    let hours = days.checked_mul(HOURS_OF_A_DAY)?.checked_add(hours)?;
    Some(format!("{sign}{hours}:{minutes:02}{seconds}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(kind: &str, value: &str, expected: &str) {
        let cell = CellValue {
            kind: kind.to_owned(),
            value: value.to_owned(),
            currency: "EUR".to_owned(),
            formula: String::new(),
        };
        assert_eq!(cell.show(), expected);
    }

    #[test]
    fn a_formula_without_a_value_is_shown() {
        for (formula, expected) in [
            ("of:=SUM([.B2:.B9])", "=SUM(B2:B9)"),
            ("of:=[.B2]*0.5+[$Rates.C3]", "=B2*0.5+$Rates.C3"),
            ("msoxl:=IF(A1=2;\"[.B1]\";0)", "=IF(A1=2;\"[.B1]\";0)"),
            ("=1", "=1"),
        ] {
            let cell = CellValue { formula: formula.to_owned(), ..CellValue::default() };
            assert!(cell.is_missing());
            assert_eq!(cell.shown_formula(), expected);
        }
        let empty = CellValue {
            kind: "string".to_owned(),
            formula: "of:=T(1)".to_owned(),
            ..CellValue::default()
        };
        assert!(!empty.is_missing());
    }

    #[test]
    fn values_without_text_are_shown() {
        check("float", "0.475", "0.475");
        check("percentage", "0.07", "7%");
        check("percentage", "0.125", "12.5%");
        check("currency", "12.50", "12.50 EUR");
        check("boolean", "true", "TRUE");
        check("date", "2026-05-04", "2026-05-04");
        check("date", "2026-05-04T10:30:00", "2026-05-04 10:30:00");
        check("string", "Dauer", "Dauer");
        check("", "", "");
    }

    #[test]
    fn durations_are_hours_minutes_and_seconds() {
        check("time", "PT26H30M", "26:30");
        check("time", "PT08H30M00.000000000S", "8:30");
        check("time", "P1DT2H0M7.50S", "26:00:07.5");
        check("time", "-PT45M", "-0:45");
        for other in ["P1Y", "PT", "PTH", "P1DT9X", "PT99999999999999999999H", "26:30"] {
            check("time", other, if other == "PT" { "0:00" } else { other });
        }
    }
}
