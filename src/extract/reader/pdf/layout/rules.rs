//! Finds the rules of a page, horizontal and vertical, and joins their pieces.

use super::sheet::Area;

/// How far rules that meet may miss each other, in points.
pub(super) const NEAR: f64 = 3.0;

/// A rule: `at` its place across, `from` and `to` its ends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) at: f64,
    pub(super) from: f64,
    pub(super) to: f64,
}

/// The level and the upright rules of a page, pieces joined.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) level: Vec<Rule>,
    pub(super) upright: Vec<Rule>,
}

impl Rules {
    pub(super) fn of(areas: &[Area]) -> Self {
        let (level, upright): (Vec<&Area>, Vec<&Area>) =
            areas.iter().partition(|it| it.width() >= it.height());
        let level = level.iter().map(|it| Rule {
            at: f64::midpoint(it.top, it.bottom),
            from: it.left,
            to: it.right,
        });
        let upright = upright.iter().map(|it| Rule {
            at: f64::midpoint(it.left, it.right),
            from: it.top,
            to: it.bottom,
        });
        Self { level: join(level.collect()), upright: join(upright.collect()) }
    }
}

/// Joins pieces of one rule, and rules drawn twice.
fn join(mut rules: Vec<Rule>) -> Vec<Rule> {
    rules.sort_by(|a, b| a.at.total_cmp(&b.at).then(a.from.total_cmp(&b.from)));
    let mut joined: Vec<Rule> = Vec::new();
    let mut start = 0;
    while start < rules.len() {
        let at = rules[start].at;
        let len = rules[start..].iter().take_while(|it| it.at - at <= NEAR / 2.0).count();
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
