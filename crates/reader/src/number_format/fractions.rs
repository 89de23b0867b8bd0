//! Shows numbers as fractions: `# ?/?`, `# ??/100`.

use super::codes::{Denominator, FormatPiece, FormatSection};
use super::digits::{DecimalNumber, lay_out};

/// Most digits of a denominator; more are finer than the numbers themselves.
const MAX_DIGITS: usize = 7;

/// Most steps to the best fraction. Each step of Euclid's algorithm at least doubles the denominator every second time, so
/// that a denominator of [`MAX_DIGITS`] is reached before.
const MAX_STEPS: usize = 64;

/// Shows a number that is not negative as a fraction, with a whole number before it if there are places for one. Returns
/// also whether the number is rounded to zero.
pub(super) fn show(value: f64, section: &FormatSection) -> (String, bool) {
    let value = value * 10_f64.powi(section.power);
    let pieces = &section.pieces;
    let slash = pieces.iter().position(|piece| matches!(piece, FormatPiece::Denominator(_)));
    let (before, after) = pieces.split_at(slash.unwrap_or(pieces.len()));
    let Some((FormatPiece::Denominator(kind), after)) = after.split_first() else {
        return (String::new(), true);
    };
    let start = before.iter().rposition(|piece| !piece.is_digit()).map_or(0, |idx| idx + 1);
    let (before, places) = before.split_at(start);
    let has_whole = before.iter().any(FormatPiece::is_digit);

    let mut whole = value.floor();
    let (mut numerator, denominator) = match kind {
        Denominator::Fixed(denominator) => {
            let denominator = f64::from(*denominator);
            ((value.fract() * denominator).round(), denominator)
        }
        Denominator::Places(places) => nearest(value.fract(), max_denominator(places.len())),
    };
    if !has_whole {
        numerator += whole * denominator;
    } else if numerator >= denominator {
        whole += 1.0;
        numerator = 0.0;
    }
    let mut shown = String::new();
    let has_groups = section.has_groups;
    lay_out(before, &DecimalNumber::new(whole), has_groups, &mut shown);
    let is_shown = numerator > 0.0 || !has_whole || places.contains(&FormatPiece::Digit('0'));
    if is_shown {
        lay_out(places, &DecimalNumber::new(numerator), has_groups, &mut shown);
        shown.push('/');
        match kind {
            Denominator::Fixed(denominator) => shown.push_str(&denominator.to_string()),
            Denominator::Places(places) => {
                lay_out(places, &DecimalNumber::new(denominator), has_groups, &mut shown);
            }
        }
    } else if whole == 0.0 && !shown.contains('0') {
        // A cell that is not empty shows a digit.
        shown.push('0');
    }
    // The blanks of a fraction that is not shown keep the words apart.
    if !is_shown && !after.is_empty() {
        shown.push(' ');
    }
    lay_out(after, &DecimalNumber::new(0.0), false, &mut shown);
    (shown, whole == 0.0 && numerator == 0.0)
}

/// Returns the largest denominator with this many digits.
fn max_denominator(num_digits: usize) -> f64 {
    let num_digits = i32::try_from(num_digits.min(MAX_DIGITS)).unwrap_or(1);
    10_f64.powi(num_digits) - 1.0
}

/// Returns numerator and denominator of the fraction nearest to a number from 0 to 1, by continued fractions.
fn nearest(value: f64, max_denominator: f64) -> (f64, f64) {
    let (mut before, mut last) = ((0.0, 1.0), (1.0, 0.0));
    let mut rest = value;
    for _ in 0..MAX_STEPS {
        let step = rest.floor();
        let next = (before.0 + step * last.0, before.1 + step * last.1);
        if next.1 > max_denominator {
            let step = ((max_denominator - before.1) / last.1).floor();
            let between = (before.0 + step * last.0, before.1 + step * last.1);
            let error = |fraction: (f64, f64)| (value - fraction.0 / fraction.1).abs();
            return if error(between) < error(last) { between } else { last };
        }
        (before, last) = (last, next);
        if rest == step {
            break;
        }
        rest = 1.0 / (rest - step);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: f64, max_denominator: f64, expected: (f64, f64)) {
        assert_eq!(nearest(value, max_denominator), expected, "{value}");
    }

    #[test]
    fn the_nearest_fraction_is_found() {
        check(0.5, 9.0, (1.0, 2.0));
        check(0.0, 9.0, (0.0, 1.0));
        check(0.99, 9.0, (1.0, 1.0));
        check(0.01, 9.0, (0.0, 1.0));
        check(0.12, 99.0, (3.0, 25.0));
        check(0.141_592_65, 99.0, (14.0, 99.0));
        check(0.141_592_65, 999.0, (16.0, 113.0));
        check(0.9, 9.0, (8.0, 9.0));
    }
}
