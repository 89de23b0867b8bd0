//! Decides which section of a number format a number is shown in.

use super::codes::FormatSection;
use super::conditions::{ABOVE, AT_LEAST, BELOW, NumberCondition};

/// Gives the sections for numbers the conditions that they have by their place if they state none: the first is for
/// numbers above zero, also for zero if there is no third, the second for those below zero. The last is for all others.
pub(super) fn complete(numbers: &mut [FormatSection]) {
    let by_place = match numbers.len() {
        2 if numbers[0].condition.is_none() => [Some(AT_LEAST), None],
        3.. => [Some(ABOVE), Some(BELOW)],
        _ => [None, None],
    };
    for (section, allowed) in numbers.iter_mut().zip(by_place) {
        section.condition = section.condition.or(allowed.map(NumberCondition::of));
    }
}

/// Returns the section of a number, and whether the number has its sign in it: no sign is shown where only numbers
/// below zero are. `None` if no section is for the number.
pub(super) fn choose(numbers: &[FormatSection], value: f64) -> Option<(&FormatSection, bool)> {
    let mut sections = numbers.iter();
    let idx = sections.position(|section| section.condition.is_none_or(|own| own.holds(value)))?;
    let before = numbers[..idx].iter().filter_map(|section| section.condition);
    let drops_sign = numbers[idx].condition.is_some_and(|own| own.is_below_zero())
        || before.into_iter().any(|other| other.is_all_above_zero());
    Some((&numbers[idx], !drops_sign))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number_format::codes;

    #[track_caller]
    fn check(code: &str, expected: &[(f64, Option<(usize, bool)>)]) {
        let mut numbers = codes::sections(code).unwrap();
        complete(&mut numbers);
        for (value, expected) in expected {
            let chosen = choose(&numbers, *value).map(|(section, has_sign)| {
                (numbers.iter().position(|other| std::ptr::eq(other, section)).unwrap(), has_sign)
            });
            assert_eq!(chosen, *expected, "{code} {value}");
        }
    }

    #[test]
    fn sections_are_chosen_by_condition_or_place() {
        check("0", &[(1.0, Some((0, true))), (-1.0, Some((0, true)))]);
        check("0;0", &[(0.0, Some((0, true))), (-1.0, Some((1, false)))]);
        check(
            "0;0;0",
            &[(1.0, Some((0, true))), (-1.0, Some((1, false))), (0.0, Some((2, false)))],
        );
        check("[>=1000]0;0", &[(-1.0, Some((1, true))), (1000.0, Some((0, true)))]);
        check("[>=0]0;0", &[(-1.0, Some((1, false)))]);
        check("[<0]0;0", &[(-1.0, Some((0, false))), (1.0, Some((1, true)))]);
        check("[<>0]0;0", &[(-1.0, Some((0, true))), (0.0, Some((1, false)))]);
        check("[ < -25 ]0;[>25]0;0", &[(-30.0, Some((0, false))), (-1.0, Some((2, true)))]);
        check("[>100]0", &[(1.0, None)]);
        check("[<5]0;[>10]0", &[(7.0, None)]);
        check("0;[<-100]0", &[(-5.0, None), (-200.0, Some((1, false)))]);
    }
}
