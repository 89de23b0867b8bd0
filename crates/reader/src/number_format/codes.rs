//! Divides the code of a number format into its sections and pieces (ECMA-376, 18.8.31).
//!
//! Colours, languages and numeral systems are left out, as text has none.

use std::iter::Peekable;
use std::str::Chars;

use super::conditions::NumberCondition;

/// Most sections: numbers above zero, below zero, zero, and text.
const MAX_SECTIONS: usize = 4;

/// The codes that Windows in English (USA) uses where a code leaves the form of a date or a time to the system.
const OF_SYSTEM: &[(&str, &str)] = &[
    ("$-F800", "dddd, mmmm d, yyyy"),
    ("$-x-sysdate", "dddd, mmmm d, yyyy"),
    ("$-F400", "h:mm:ss AM/PM"),
    ("$-x-systime", "h:mm:ss AM/PM"),
];

/// The codes for the halves of a day, and the words of each.
const DAY_PERIODS: &[(&str, &str, &str)] =
    &[("AM/PM", "AM", "PM"), ("A/P", "A", "P"), ("上午/下午", "上午", "下午")];

/// A section of a code.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct FormatSection {
    /// The numbers that it is for, if it states any.
    pub(super) condition: Option<NumberCondition>,
    pub(super) kind: SectionKind,
    pub(super) pieces: Vec<FormatPiece>,
    /// Whether commas divide the digits into groups of three.
    pub(super) has_groups: bool,
    /// The power of ten that a number is multiplied by before it is shown.
    pub(super) power: i32,
}

/// The content that a section shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum SectionKind {
    /// Words alone, or nothing.
    #[default]
    Words,
    /// The text of a cell, or a number as text.
    Text,
    /// A number without a format of its own among words.
    General,
    Decimal,
    Scientific,
    Fraction,
    Date,
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FormatPiece {
    /// Shown unchanged.
    Literal(String),
    /// The place of a digit: `0`, `#` or `?`.
    Digit(char),
    Point,
    /// Divides digits into groups or the number by a thousand; no section has one once it is complete.
    Comma,
    /// `E+` or `E-`; the places of the exponent follow.
    Exponent {
        mark: char,
        shows_plus: bool,
    },
    /// The slash of a fraction and its denominator.
    Denominator(Denominator),
    /// The number without a format.
    General,
    /// The text of the cell.
    Text,
    /// A run of one letter of a date or time, in lower case: `yyyy`, `h`. Minutes are `n`, months `m`.
    Date(char, usize),
    /// The same as time that has passed, also beyond a day: `[h]`.
    Elapsed(char, usize),
    /// Tenths of a second and so on, by their number.
    SecondFraction(usize),
    /// The words for the halves of a day: `AM/PM`.
    Half(&'static str, &'static str),
}

impl FormatPiece {
    pub(super) fn is_digit(&self) -> bool {
        matches!(self, Self::Digit(_))
    }
}

/// The denominator of a fraction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Denominator {
    Fixed(u32),
    /// At most as large as its places allow.
    Places(Vec<FormatPiece>),
}

/// Returns the sections of a code; `None` for a code that is not understood.
pub(super) fn sections(code: &str) -> Option<Vec<FormatSection>> {
    let mut rest = CodeReader { chars: code.chars().peekable() };
    let mut sections = Vec::new();
    while sections.len() < MAX_SECTIONS {
        let (section, has_next) = rest.section()?;
        sections.push(section);
        if !has_next {
            break;
        }
    }
    Some(sections)
}

struct CodeReader<'a> {
    chars: Peekable<Chars<'a>>,
}

impl CodeReader<'_> {
    /// Returns the next section, and whether another follows.
    fn section(&mut self) -> Option<(FormatSection, bool)> {
        let mut section = FormatSection::default();
        let pieces = &mut section.pieces;
        let mut of_system = None;
        let mut has_next = false;
        while let Some(first) = self.chars.next() {
            match first {
                ';' => {
                    has_next = true;
                    break;
                }
                '"' => {
                    let quoted: String = self.chars.by_ref().take_while(|c| *c != '"').collect();
                    literal(pieces, &quoted);
                }
                '\\' => self.chars.next().into_iter().for_each(|c| literal_char(pieces, c)),
                // A blank as wide as the next character, or that character as often as it fits.
                '_' => {
                    self.chars.next();
                    literal(pieces, " ");
                }
                '*' => {
                    self.chars.next();
                }
                '[' => {
                    let inside = self.bracket()?;
                    of_system = of_system.or(self::of_system(&inside));
                    match NumberCondition::parse(&inside) {
                        Some(condition) => section.condition = Some(condition),
                        None => in_brackets(pieces, &inside),
                    }
                }
                '0' | '#' | '?' => pieces.push(FormatPiece::Digit(first)),
                '.' => pieces.push(FormatPiece::Point),
                ',' => pieces.push(FormatPiece::Comma),
                '%' => {
                    section.power += 2;
                    literal(pieces, "%");
                }
                '@' => pieces.push(FormatPiece::Text),
                '/' if matches!(pieces.last(), Some(FormatPiece::Digit(_))) => {
                    pieces.push(FormatPiece::Denominator(self.denominator()?));
                }
                'E' | 'e' if matches!(self.chars.peek(), Some('+' | '-')) => {
                    let shows_plus = self.chars.next() == Some('+');
                    pieces.push(FormatPiece::Exponent { mark: first, shows_plus });
                }
                'G' | 'g' if self.eat("eneral") => pieces.push(FormatPiece::General),
                _ => self.letter(first, pieces),
            }
        }
        if let Some(code) = of_system {
            let replaced = CodeReader { chars: code.chars().peekable() }.section()?.0;
            return Some((replaced, has_next));
        }
        section.complete();
        Some((section, has_next))
    }

    /// Adds a letter of a date or time with those like it, or any other character unchanged.
    fn letter(&mut self, first: char, pieces: &mut Vec<FormatPiece>) {
        if let Some(half) = self.half(first) {
            pieces.push(half);
            return;
        }
        match first.to_ascii_lowercase() {
            letter @ ('y' | 'm' | 'd' | 'h' | 's') => {
                let len = 1 + self.run(letter);
                pieces.push(FormatPiece::Date(letter, len));
            }
            // The year of an era and its name, which are shown as the year that all know.
            'e' => {
                self.run('e');
                pieces.push(FormatPiece::Date('y', 4));
            }
            'g' => {
                self.run('g');
            }
            // In codes from Japan, this is the day of the week.
            'a' if self.eat("aa") => {
                let len = 3 + self.run('a');
                pieces.push(FormatPiece::Date('d', len));
            }
            _ => literal_char(pieces, first),
        }
    }

    /// Skips more of a letter, and returns how many there were.
    fn run(&mut self, letter: char) -> usize {
        let mut len = 0;
        while self.chars.next_if(|c| c.eq_ignore_ascii_case(&letter)).is_some() {
            len += 1;
        }
        len
    }

    /// Skips a word, if it is the next one.
    fn eat(&mut self, word: &str) -> bool {
        let mut ahead = self.chars.clone();
        let is_next = word.chars().all(|c| {
            let next = ahead.next();
            next.is_some_and(|next| next.eq_ignore_ascii_case(&c))
        });
        if is_next {
            self.chars = ahead;
        }
        is_next
    }

    /// Returns the words for the halves of a day that begin with this character.
    fn half(&mut self, first: char) -> Option<FormatPiece> {
        let (_, morning, afternoon) = DAY_PERIODS.iter().find(|(word, ..)| {
            let rest = word.strip_prefix(first.to_ascii_uppercase());
            rest.is_some_and(|rest| self.eat(rest))
        })?;
        if first == 'a' && morning.len() == 1 {
            return Some(FormatPiece::Half("a", "p"));
        }
        Some(FormatPiece::Half(morning, afternoon))
    }

    /// Returns the text in brackets; `None` if they are not closed.
    fn bracket(&mut self) -> Option<String> {
        let mut inside = String::new();
        loop {
            match self.chars.next()? {
                ']' => return Some(inside),
                c => inside.push(c),
            }
        }
    }

    /// Returns the denominator after the slash of a fraction; `None` if nothing fits.
    fn denominator(&mut self) -> Option<Denominator> {
        let mut text = String::new();
        while let Some(c) = self.chars.next_if(|c| c.is_ascii_digit() || matches!(c, '#' | '?')) {
            text.push(c);
        }
        if text.contains(|c: char| matches!(c, '1'..='9')) {
            return text.parse().ok().map(Denominator::Fixed);
        }
        // Denominators are aligned on the left, so no blanks are before them.
        let places = text.chars().map(|c| FormatPiece::Digit(if c == '?' { '#' } else { c }));
        (!text.is_empty()).then(|| Denominator::Places(places.collect()))
    }
}

fn literal(pieces: &mut Vec<FormatPiece>, text: &str) {
    match pieces.last_mut() {
        Some(FormatPiece::Literal(before)) => before.push_str(text),
        _ => pieces.push(FormatPiece::Literal(text.to_owned())),
    }
}

fn literal_char(pieces: &mut Vec<FormatPiece>, c: char) {
    literal(pieces, c.encode_utf8(&mut [0; 4]));
}

fn of_system(inside: &str) -> Option<&'static str> {
    OF_SYSTEM.iter().find(|(name, _)| name.eq_ignore_ascii_case(inside)).map(|(_, code)| *code)
}

/// Adds a currency (`[$€-407]`) or time that has passed (`[hh]`). Anything else has no text.
fn in_brackets(pieces: &mut Vec<FormatPiece>, inside: &str) {
    if let Some(currency) = inside.strip_prefix('$') {
        literal(pieces, currency.split('-').next().unwrap_or_default());
        return;
    }
    let lower = inside.to_ascii_lowercase();
    let Some(unit @ ('h' | 'm' | 's')) = lower.chars().next() else { return };
    if lower.chars().all(|c| c == unit) {
        pieces.push(FormatPiece::Elapsed(unit, lower.len()));
    }
}

impl FormatSection {
    /// Determines the content that the section shows, and with it the meaning of its commas, points and letters.
    fn complete(&mut self) {
        self.kind = if self.has(|piece| {
            matches!(
                piece,
                FormatPiece::Date(..) | FormatPiece::Elapsed(..) | FormatPiece::Half(..)
            )
        }) {
            SectionKind::Date
        } else if self.has(|piece| matches!(piece, FormatPiece::Denominator(_))) {
            SectionKind::Fraction
        } else if self.has(|piece| matches!(piece, FormatPiece::Exponent { .. })) {
            SectionKind::Scientific
        } else if self.has(FormatPiece::is_digit) {
            SectionKind::Decimal
        } else if self.has(|piece| matches!(piece, FormatPiece::General)) {
            SectionKind::General
        } else if self.has(|piece| matches!(piece, FormatPiece::Text)) {
            SectionKind::Text
        } else {
            SectionKind::Words
        };
        match self.kind {
            SectionKind::Date => self.complete_date(),
            _ => self.complete_number(),
        }
    }

    fn has(&self, is_kind: impl Fn(&FormatPiece) -> bool) -> bool {
        self.pieces.iter().any(is_kind)
    }

    /// Commas between the places of whole digits group them; commas right after a place divide by a thousand each; others
    /// are shown.
    fn complete_number(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        let point = pieces.iter().position(|piece| *piece == FormatPiece::Point);
        let end_of_whole = point.unwrap_or(pieces.len());
        let last_whole =
            pieces[..end_of_whole].iter().rposition(FormatPiece::is_digit).unwrap_or(0);
        let mut is_after_place = false;
        for (idx, piece) in pieces.into_iter().enumerate() {
            if piece != FormatPiece::Comma {
                is_after_place = piece.is_digit();
                match piece {
                    FormatPiece::Literal(text) => literal(&mut self.pieces, &text),
                    piece => self.pieces.push(piece),
                }
            } else if !is_after_place {
                literal(&mut self.pieces, ",");
            } else if idx < last_whole {
                self.has_groups = true;
            } else {
                self.power -= 3;
            }
        }
    }

    /// An `m` after hours or before seconds is a minute; zeros after a point are parts of a second.
    fn complete_date(&mut self) {
        let pieces = std::mem::take(&mut self.pieces);
        let mut pieces = pieces.into_iter().peekable();
        let mut previous = ' ';
        while let Some(piece) = pieces.next() {
            match piece {
                FormatPiece::Point if previous == 's' => {
                    let mut num_places = 0;
                    while pieces.next_if_eq(&FormatPiece::Digit('0')).is_some() {
                        num_places += 1;
                    }
                    match num_places {
                        0 => literal(&mut self.pieces, "."),
                        _ => self.pieces.push(FormatPiece::SecondFraction(num_places)),
                    }
                }
                FormatPiece::Point => literal(&mut self.pieces, "."),
                FormatPiece::Comma => literal(&mut self.pieces, ","),
                FormatPiece::Digit(c) => literal_char(&mut self.pieces, c),
                FormatPiece::Literal(text) => literal(&mut self.pieces, &text),
                FormatPiece::Date('s', _) if previous == 'm' => {
                    self.minutes_before_seconds();
                    self.pieces.push(piece);
                    previous = 's';
                }
                FormatPiece::Date('m', len @ (1 | 2)) if previous == 'h' => {
                    self.pieces.push(FormatPiece::Date('n', len));
                    previous = 'n';
                }
                FormatPiece::Date(unit, _) | FormatPiece::Elapsed(unit, _) => {
                    self.pieces.push(piece);
                    previous = unit;
                }
                piece => self.pieces.push(piece),
            }
        }
    }

    fn minutes_before_seconds(&mut self) {
        let mut pieces = self.pieces.iter_mut().rev();
        let last = pieces.find(|piece| !matches!(piece, FormatPiece::Literal(_)));
        if let Some(FormatPiece::Date(unit, 1 | 2)) = last {
            *unit = 'n';
        }
    }
}
