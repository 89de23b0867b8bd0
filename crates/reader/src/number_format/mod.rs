//! Shows numbers and texts in the number formats of spreadsheets, as Excel does in English (USA). Pure functions.
//!
//! The code of a format has up to four sections, for numbers above zero, below zero, zero, and for text (ECMA-376,
//! 18.8.31). It is divided into pieces once, and then shows any number of cells.

mod codes;
mod conditions;
mod dates;
mod digits;
mod fractions;
mod general;
mod sections;

use codes::{FormatPiece, FormatSection, SectionKind};

pub(crate) use general::general;

/// Longest code that is read, in characters; programs allow 255.
const MAX_CODE: usize = 300;

/// Most times that a code shows the text of a cell; a short code could make a large file of a small one.
const MAX_TEXTS: usize = 4;

/// A format, for any number of cells. The default one is the general format.
#[derive(Debug, Clone, Default)]
pub(crate) struct NumberFormat {
    /// The sections for numbers, in the order in which they are tried; empty for the general format.
    numbers: Vec<FormatSection>,
    text: Option<FormatSection>,
}

impl NumberFormat {
    /// Reads a code; one that is not understood gives the general format.
    pub(crate) fn new(code: &str) -> Self {
        const TEXT_IDX: usize = 3;
        if code.is_empty() || code.chars().nth(MAX_CODE).is_some() {
            return Self::default();
        }
        let mut numbers = codes::sections(code).unwrap_or_default();
        let text = match numbers.len() {
            0 => None,
            1 => numbers.last().filter(|section| section.kind == SectionKind::Text).cloned(),
            len => numbers.pop_if(|last| len > TEXT_IDX || last.kind == SectionKind::Text),
        };
        sections::complete(&mut numbers);
        Self { numbers, text }
    }

    /// Returns a number as shown, and other text unchanged. Days are counted from 1904 or else from 1900.
    pub(crate) fn number(&self, number: &str, is_1904: bool) -> String {
        let Ok(value) = number.parse::<f64>() else { return number.to_owned() };
        let shown = value.is_finite().then(|| self.show(value, is_1904)).flatten();
        shown.unwrap_or_else(|| general(value))
    }

    /// Returns a text as shown.
    pub(crate) fn text(&self, text: &str) -> String {
        self.text.as_ref().map_or_else(|| text.to_owned(), |section| words(section, text))
    }

    /// Shows a number; `None` for the general format.
    fn show(&self, value: f64, is_1904: bool) -> Option<String> {
        let (section, has_sign) = sections::choose(&self.numbers, value)?;
        let (shown, is_zero) = match section.kind {
            SectionKind::Words => (words(section, ""), true),
            SectionKind::Text => (words(section, &general(value)), true),
            SectionKind::General => (words(section, &general(value.abs())), value == 0.0),
            SectionKind::Decimal => digits::show(value, section),
            SectionKind::Scientific => digits::scientific(value, section),
            SectionKind::Fraction => fractions::show(value.abs(), section),
            SectionKind::Date => (dates::show(value, &section.pieces, is_1904)?, true),
        };
        let shown = shown.trim();
        let has_sign = has_sign && value < 0.0 && !is_zero;
        Some(if has_sign { format!("-{shown}") } else { shown.to_owned() })
    }
}

/// Shows a section of words with a text in it.
fn words(section: &FormatSection, text: &str) -> String {
    let (mut shown, mut num_texts) = (String::new(), 0);
    for piece in &section.pieces {
        match piece {
            FormatPiece::Literal(literal) => shown.push_str(literal),
            FormatPiece::Text | FormatPiece::General if num_texts < MAX_TEXTS => {
                shown.push_str(text);
                num_texts += 1;
            }
            FormatPiece::Point => shown.push('.'),
            _ => {}
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes, values and how they are shown; its first lines explain it.
    const PAIRS: &str = include_str!("../../../../tests/fixtures/number_formats.tsv");

    #[test]
    fn numbers_are_shown_as_other_programs_show_them() {
        let (mut wrong, mut num_pairs, mut num_ruled) = (Vec::new(), 0, 0);
        for line in PAIRS.lines().filter(|line| !line.starts_with("## ")) {
            let fields: Vec<&str> = line.split('\t').collect();
            let [code, value, epoch, of_program, rest @ ..] = &fields[..] else { panic!("{line}") };
            let expected = rest.first().unwrap_or(of_program);
            let format = NumberFormat::new(code);
            let shown = match value.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
                Some(text) => format.text(text),
                None => format.number(value, *epoch == "1904"),
            };
            // Blanks align numbers.
            let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
            if shown != *expected {
                wrong.push(format!("{code} {value}: {shown}, not {expected}"));
            }
            num_pairs += 1;
            num_ruled += usize::from(!rest.is_empty());
        }
        assert!(wrong.is_empty(), "{} of {num_pairs} wrong\n{}", wrong.len(), wrong.join("\n"));
        assert!(num_pairs >= 300 && num_ruled * 10 <= num_pairs, "{num_ruled} of {num_pairs}");
    }

    #[track_caller]
    fn check(number: &str, code: &str, expected: &str) {
        assert_eq!(NumberFormat::new(code).number(number, false), expected, "{code}");
    }

    #[test]
    fn codes_that_are_not_understood_are_general() {
        for code in ["", "[h", "0/", "# ?/ ?", "#/99999999999", &"0".repeat(400)] {
            check("3.25", code, "3.25");
        }
        check("1e400", "0.0", "inf");
        check("n/a", "0.0", "n/a");
        check("1", "0\\", "1");
        check("1", "0\"kg", "1kg");
        check("1", "0_", "1");
        check("1", ";;;;;", "");
    }

    #[test]
    fn large_numbers_and_long_codes_are_shown() {
        check("1e300", "0", &format!("1{}", "0".repeat(300)));
        check("1e300", "0.0,,,", &format!("1{}.0", "0".repeat(291)));
        check("1e300", "# ?/?", &format!("1{}", "0".repeat(300)));
        check("5e-324", "0.00E+00", "4.94E-324");
        check("7", &"0".repeat(300), &format!("{}7", "0".repeat(299)));
        check("0.1", "0.00000000000000000000", "0.10000000000000000000");
    }

    #[test]
    fn what_a_code_leaves_to_the_program_is_shown() {
        check("12", "#.", "12");
        check("-5", "\"x\"", "x");
        check("2", "# 0/0", "2 0/1");
        check("-5", "0;", "");
        check("12.345", "0.0.0", "12.3.5");
        check("5", "[DBNum1]0", "5");
        check("43831", "[$-x-sysdate]dddd, mmmm dd, yyyy", "Wednesday, January 1, 2020");
        check("7", &"@".repeat(300), "7777");
    }

    proptest::proptest! {
        /// A code has at most [`MAX_CODE`] characters, and each shows few of its own but the digits of a number.
        #[test]
        fn any_code_shows_any_number(
            code in "([0#?.,%@/;_*eE+ymdhs 1-9\"\\\\-]|General|AM/PM|\\[(h|mm|Red|>=1|<0|[$]€-407)\\]){0,40}",
            number: f64,
            is_1904: bool,
        ) {
            let format = NumberFormat::new(&code);
            let shown = format.number(&number.to_string(), is_1904) + &format.text("words");
            proptest::prop_assert!(shown.len() < 100 * MAX_CODE, "{shown}");
        }
    }
}
