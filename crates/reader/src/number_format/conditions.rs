//! Reads the conditions of number formats, such as `[>=1000]`.

use std::cmp::Ordering;

/// Which numbers a section is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct NumberCondition {
    /// How numbers may compare with the limit.
    allowed: &'static [Ordering],
    limit: f64,
}

pub(super) const BELOW: &[Ordering] = &[Ordering::Less];
pub(super) const ABOVE: &[Ordering] = &[Ordering::Greater];
pub(super) const AT_LEAST: &[Ordering] = &[Ordering::Greater, Ordering::Equal];

/// The longer of two operators that begin alike is first.
const OPERATORS: &[(&str, &[Ordering])] = &[
    ("<=", &[Ordering::Less, Ordering::Equal]),
    ("<>", &[Ordering::Less, Ordering::Greater]),
    (">=", AT_LEAST),
    ("<", BELOW),
    (">", ABOVE),
    ("=", &[Ordering::Equal]),
];

impl NumberCondition {
    /// Reads a condition (`>=1000`).
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (limit, allowed) = OPERATORS.iter().find_map(|(operator, allowed)| {
            let limit = text.strip_prefix(operator)?;
            Some((limit.trim().parse().ok()?, *allowed))
        })?;
        Some(Self { allowed, limit })
    }

    /// A comparison with zero.
    pub(super) fn of(allowed: &'static [Ordering]) -> Self {
        Self { allowed, limit: 0.0 }
    }

    pub(super) fn holds(&self, value: f64) -> bool {
        value.partial_cmp(&self.limit).is_some_and(|order| self.allowed.contains(&order))
    }

    /// Whether it holds for no number above zero.
    pub(super) fn is_below_zero(&self) -> bool {
        match self.limit {
            limit if self.allowed.contains(&Ordering::Greater) || limit > 0.0 => false,
            limit if limit < 0.0 => true,
            _ => self.allowed.contains(&Ordering::Less),
        }
    }

    /// Whether it holds for all numbers above zero.
    pub(super) fn is_all_above_zero(&self) -> bool {
        self.limit <= 0.0 && self.allowed.contains(&Ordering::Greater)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_words_are_no_condition() {
        for text in ["Red", ">", ">x", "", "=>1", "h"] {
            assert_eq!(NumberCondition::parse(text), None, "{text}");
        }
    }
}
