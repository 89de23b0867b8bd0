//! Shows numbers by the places of their digits, also in scientific notation.
//!
//! Works on decimal digits, so that scaling by powers of ten is exact and halves are rounded up.

use std::fmt::{self, Write as _};

use super::codes::{FormatPiece, FormatSection};

/// Digits that spreadsheets keep of a number with decimal places; further digits are noise of binary fractions.
const SIGNIFICANT: usize = 15;

/// Whole numbers up to here have all their digits, so that identifiers are found.
pub(super) const MAX_EXACT: f64 = 1e17;

/// A number that is not negative as decimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DecimalNumber {
    /// Without zeros at the ends; empty for zero.
    digits: Vec<u8>,
    /// Number of digits before the decimal point; may be negative, or more than the number of digits.
    point: i32,
}

impl DecimalNumber {
    /// Returns the digits of a finite number.
    pub(super) fn new(value: f64) -> Self {
        let value = value.abs();
        let text = if value.fract() == 0.0 && value < MAX_EXACT {
            format!("{value}")
        } else {
            format!("{value:.*e}", SIGNIFICANT - 1)
        };
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, ""));
        let exponent: Option<i32> = exponent.parse().ok();
        let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
        let point = exponent.map_or(saturated(digits.len()), |exponent| exponent + 1);
        let mut number = Self { digits, point };
        number.trim();
        number
    }

    fn trim(&mut self) {
        let num_used =
            self.digits.iter().rposition(|digit| *digit != b'0').map_or(0, |idx| idx + 1);
        self.digits.truncate(num_used);
        let num_zeros = self.digits.iter().take_while(|digit| **digit == b'0').count();
        self.digits.drain(..num_zeros);
        self.point = if self.is_zero() { 0 } else { self.point - saturated(num_zeros) };
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Multiplies by a power of ten.
    pub(super) fn scale(&mut self, power: i32) {
        if !self.is_zero() {
            self.point = self.point.saturating_add(power);
        }
    }

    /// Rounds to a number of decimal places, halves up.
    pub(super) fn round(&mut self, num_places: usize) {
        let Ok(kept) = usize::try_from(self.point.saturating_add(saturated(num_places))) else {
            *self = Self { digits: Vec::new(), point: 0 };
            return;
        };
        let is_up = self.digits.get(kept).is_some_and(|digit| *digit >= b'5');
        if kept >= self.digits.len() {
            return;
        }
        self.digits.truncate(kept);
        if is_up {
            let num_nines = self.digits.iter().rev().take_while(|digit| **digit == b'9').count();
            self.digits.truncate(kept - num_nines);
            match self.digits.last_mut() {
                Some(last) => *last += 1,
                None => {
                    self.digits.push(b'1');
                    self.point += 1;
                }
            }
        }
        self.trim();
    }

    /// Returns the number of digits before the point.
    pub(super) fn num_whole(&self) -> usize {
        usize::try_from(self.point).unwrap_or(0)
    }

    /// Returns the whole digit with this position from the point, 0 for the ones.
    fn whole(&self, position: usize) -> char {
        let idx = self.num_whole() - 1 - position;
        self.digits.get(idx).map_or('0', |digit| char::from(*digit))
    }

    /// Returns the number of decimal places that are not zeros at the end.
    fn num_decimals(&self) -> usize {
        usize::try_from(saturated(self.digits.len()) - self.point).unwrap_or(0)
    }

    /// Returns the decimal place with this position from the point, 0 for tenths.
    fn decimal(&self, position: usize) -> char {
        let idx = usize::try_from(self.point.saturating_add(saturated(position)));
        let digit = idx.ok().and_then(|idx| self.digits.get(idx));
        digit.map_or('0', |digit| char::from(*digit))
    }
}

/// All digits, with a zero before the point if there are no others.
impl fmt::Display for DecimalNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..self.num_whole().max(1)).rev().try_for_each(|position| {
            let is_digit = position < self.num_whole();
            formatter.write_char(if is_digit { self.whole(position) } else { '0' })
        })?;
        for position in 0..self.num_decimals() {
            if position == 0 {
                formatter.write_char('.')?;
            }
            formatter.write_char(self.decimal(position))?;
        }
        Ok(())
    }
}

fn saturated(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn is_place(piece: &&FormatPiece) -> bool {
    matches!(piece, FormatPiece::Digit(_))
}

fn num_places(pieces: &[FormatPiece]) -> usize {
    pieces.iter().filter(is_place).count()
}

/// Divides pieces at the first point.
fn at_point(pieces: &[FormatPiece]) -> (&[FormatPiece], &[FormatPiece]) {
    let point = pieces.iter().position(|piece| *piece == FormatPiece::Point);
    pieces.split_at(point.unwrap_or(pieces.len()))
}

/// Shows a number in a section with places for its digits. Returns also whether it was rounded to zero.
pub(super) fn show(value: f64, section: &FormatSection) -> (String, bool) {
    let mut number = DecimalNumber::new(value);
    number.scale(section.power);
    number.round(num_places(at_point(&section.pieces).1));
    let mut shown = String::new();
    lay_out(&section.pieces, &number, section.has_groups, &mut shown);
    (shown, number.is_zero())
}

/// Writes the digits of a rounded number into their places, and the text around them. The first place has all digits
/// before it; those after the point are followed by no other.
pub(super) fn lay_out(
    pieces: &[FormatPiece],
    number: &DecimalNumber,
    has_groups: bool,
    shown: &mut String,
) {
    // Before the point, the first place also takes the digits for which the code has no place.
    let (whole, decimals) = at_point(pieces);
    let num_whole = num_places(whole);
    let mut places_left = num_whole;
    for piece in whole {
        match piece {
            FormatPiece::Digit(place) => {
                let is_first = places_left == num_whole;
                let first =
                    if is_first { places_left.max(number.num_whole()) } else { places_left };
                places_left -= 1;
                for position in (places_left..first).rev() {
                    whole_digit(number, position, *place, has_groups, shown);
                }
            }
            other => push_other(other, shown),
        }
    }
    if num_whole == 0 && !decimals.is_empty() {
        (0..number.num_whole()).rev().for_each(|position| shown.push(number.whole(position)));
    }
    // Behind the point, `0` keeps zeros at the end, and `?` leaves blanks for them.
    let places: Vec<&FormatPiece> = decimals.iter().filter(is_place).collect();
    let last_zero = places.iter().rposition(|place| **place == FormatPiece::Digit('0'));
    let num_kept = number.num_decimals().max(last_zero.map_or(0, |idx| idx + 1));
    let has_blanks = places.contains(&&FormatPiece::Digit('?'));
    let mut position = 0;
    for (idx, piece) in decimals.iter().enumerate() {
        match piece {
            FormatPiece::Digit(place) => {
                match place {
                    _ if position < num_kept => shown.push(number.decimal(position)),
                    '?' => shown.push(' '),
                    _ => {}
                }
                position += 1;
            }
            FormatPiece::Point if idx > 0 || num_kept > 0 || has_blanks => shown.push('.'),
            FormatPiece::Point => {}
            other => push_other(other, shown),
        }
    }
}

fn whole_digit(
    number: &DecimalNumber,
    position: usize,
    place: char,
    has_groups: bool,
    shown: &mut String,
) {
    const GROUP: usize = 3;
    match place {
        _ if position < number.num_whole() => shown.push(number.whole(position)),
        '0' => shown.push('0'),
        '?' => {
            shown.push(' ');
            return;
        }
        _ => return,
    }
    if has_groups && position > 0 && position.is_multiple_of(GROUP) {
        shown.push(',');
    }
}

fn push_other(piece: &FormatPiece, shown: &mut String) {
    if let FormatPiece::Literal(text) = piece {
        shown.push_str(text);
    }
}

/// Shows a number in scientific notation. With several places before the point the exponent is a multiple of their
/// number (`##0.0E+0`). Returns also whether the number is zero.
pub(super) fn scientific(value: f64, section: &FormatSection) -> (String, bool) {
    let pieces = &section.pieces;
    let at = pieces.iter().position(|piece| matches!(piece, FormatPiece::Exponent { .. }));
    let (mantissa_pieces, rest) = pieces.split_at(at.unwrap_or(pieces.len()));
    let (whole, decimals) = at_point(mantissa_pieces);
    let step = saturated(num_places(whole).max(1));
    let mut number = DecimalNumber::new(value);
    number.scale(section.power);
    let order = if number.is_zero() { 0 } else { number.point - 1 };
    let mut exponent = order.div_euclid(step) * step;
    let mut mantissa = number.clone();
    mantissa.scale(-exponent);
    mantissa.round(num_places(decimals));
    if mantissa.point > step {
        exponent += step;
        mantissa.scale(-step);
    }
    let mut shown = String::new();
    lay_out(mantissa_pieces, &mantissa, section.has_groups, &mut shown);
    if let Some((FormatPiece::Exponent { mark, shows_plus }, places)) = rest.split_first() {
        shown.push(*mark);
        match exponent {
            ..0 => shown.push('-'),
            _ if *shows_plus => shown.push('+'),
            _ => {}
        }
        lay_out(places, &DecimalNumber::new(f64::from(exponent)), false, &mut shown);
    }
    (shown, mantissa.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: f64, power: i32, num_places: usize, digits: &str, point: i32) {
        let mut number = DecimalNumber::new(value);
        number.scale(power);
        number.round(num_places);
        assert_eq!(number, DecimalNumber { digits: digits.into(), point }, "{value}");
    }

    #[test]
    fn numbers_are_scaled_exactly_and_halves_are_rounded_up() {
        check(1.005, 0, 2, "101", 1);
        check(2.5, 0, 0, "3", 1);
        check(999.5, 0, 0, "1", 4);
        check(0.4, 0, 0, "", 0);
        check(0.5, 0, 0, "1", 1);
        check(12_345_678.0, -6, 1, "123", 2);
        check(0.07, 2, 15, "7", 1);
        check(0.1 + 0.2, 0, 20, "3", 0);
        check(0.0, -6, 2, "", 0);
        check(1e300, 0, 2, "1", 301);
        check(5e-324, 0, 30, "", 0);
        check(1_234_567_890_123_456.0, 0, 0, "1234567890123456", 16);
    }
}
