//! Finds the rules of a page, horizontal and vertical, and joins their pieces.

use super::sheet::PageArea;

/// How far intersecting rules may miss each other, in points: about the thickest line that counts as a rule, because
/// middles are compared.
pub(super) const NEAR: f64 = 3.0;

/// A rule: `at` is its position across its direction, `from` and `to` are its ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct RuledLine {
    pub(super) at: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

impl RuledLine {
    /// Whether a horizontal rule intersects a vertical one, or nearly does.
    pub(super) fn meets(&self, upright: &Self) -> bool {
        (self.from - NEAR..=self.to + NEAR).contains(&upright.at)
            && (upright.from - NEAR..=upright.to + NEAR).contains(&self.at)
    }
}

/// Returns where the first of the rules begins and the last one ends.
pub(super) fn ends(rules: &[RuledLine]) -> [f64; 2] {
    let from = rules.iter().map(|rule| rule.from).fold(f64::INFINITY, f64::min);
    [from, rules.iter().map(|rule| rule.to).fold(f64::NEG_INFINITY, f64::max)]
}

/// The horizontal and vertical rules of a page, with pieces joined.
#[derive(Debug, Default)]
pub(super) struct RuledLines {
    pub(super) level: Vec<RuledLine>,
    pub(super) upright: Vec<RuledLine>,
}

impl RuledLines {
    pub(super) fn of(areas: &[PageArea]) -> Self {
        let (level, upright): (Vec<&PageArea>, Vec<&PageArea>) =
            areas.iter().partition(|area| area.width() >= area.height());
        let level = level.iter().map(|area| RuledLine {
            at: f64::midpoint(area.top, area.bottom),
            from: area.left,
            to: area.right,
        });
        let upright = upright.iter().map(|area| RuledLine {
            at: f64::midpoint(area.left, area.right),
            from: area.top,
            to: area.bottom,
        });
        Self { level: join(level.collect()), upright: join(upright.collect()) }
    }
}

/// Joins pieces of the same rule, and rules that are drawn twice.
fn join(mut rules: Vec<RuledLine>) -> Vec<RuledLine> {
    rules.sort_by(|a, b| a.at.total_cmp(&b.at).then(a.from.total_cmp(&b.from)));
    let mut joined: Vec<RuledLine> = Vec::new();
    let mut start = 0;
    while start < rules.len() {
        let at = rules[start].at;
        let len = rules[start..].iter().take_while(|rule| rule.at - at <= NEAR / 2.0).count();
        let group = &mut rules[start..start + len];
        group.sort_by(|a, b| a.from.total_cmp(&b.from));
        let first = joined.len();
        for rule in group.iter() {
            match joined[first..].last_mut() {
                Some(last) if rule.from <= last.to + NEAR => last.to = last.to.max(rule.to),
                _ => joined.push(*rule),
            }
        }
        start += len;
    }
    joined
}
