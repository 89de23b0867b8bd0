//! Divides a page into regions of one column each, in reading order.
//!
//! A page is looked at in bands, pieces between two stretches of white from edge to edge.
//! Neighbouring bands that leave a common gap are columns if both sides read like text; a table
//! has such gaps too, but its sides are short and stand in line. Columns are parted and looked
//! at again, each for itself.

use super::gaps::is_number;
use super::piece::Piece;
use super::words::Word;

/// Narrowest gap between columns, as a share of the body's size.
const MIN_GAP: f64 = 0.9;

/// Deepest parting: columns in columns in columns.
const MAX_DEPTH: u8 = 6;

/// Fewest words of the smaller side, as a share of all.
const MIN_SHARE: f64 = 1.0 / 6.0;

/// Words, numbers not among them, that a line of prose has at least, on average.
const PROSE_WORDS: f64 = 2.2;

/// Share of its column that a line of prose fills at least, on average.
const PROSE_FILL: f64 = 0.55;

/// Lines a side must have.
const MIN_LINES: usize = 2;

/// Words a line and the share filled from which one side alone is prose beyond doubt.
const SURE_WORDS: f64 = 4.0;
const SURE_FILL: f64 = 0.65;

/// Share of lines with a neighbour on the same base line from which two sides are in step.
const IN_STEP: f64 = 0.6;

/// Share of a side's lines that are figures from which it may be a table's.
const MIN_FIGURES: f64 = 0.25;

/// Parts the pieces of a page into regions, in the order in which they are read.
pub(super) fn part(pieces: Vec<Piece>, body: f64) -> Vec<Vec<Piece>> {
    let mut regions = Vec::new();
    part_into(pieces, body, 0, &mut regions);
    regions
}

fn part_into(pieces: Vec<Piece>, body: f64, depth: u8, regions: &mut Vec<Vec<Piece>>) {
    if depth >= MAX_DEPTH || pieces.len() < 4 {
        regions.push(pieces);
        return;
    }
    let mut rest: Vec<Piece> = Vec::new();
    for run in with_first_lines(runs(bands(pieces), body), body) {
        match split(run, body) {
            Ok((first, second)) => {
                if !rest.is_empty() {
                    regions.push(std::mem::take(&mut rest));
                }
                part_into(first, body, depth + 1, regions);
                part_into(second, body, depth + 1, regions);
            }
            Err(run) => rest.extend(run.bands.into_iter().flatten()),
        }
    }
    if !rest.is_empty() {
        regions.push(rest);
    }
}

/// Groups pieces that stand beside each other or beside a common neighbour, top to bottom.
fn bands(mut pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
    pieces.sort_by(|a, b| a.area().top.total_cmp(&b.area().top));
    let mut bands: Vec<Vec<Piece>> = Vec::new();
    let mut bottom = f64::NEG_INFINITY;
    for piece in pieces {
        let area = piece.area();
        match bands.last_mut() {
            Some(band) if area.top < bottom => band.push(piece),
            _ => bands.push(vec![piece]),
        }
        bottom = bottom.max(area.bottom);
    }
    bands
}

/// Bands that leave common gaps.
struct Run {
    bands: Vec<Vec<Piece>>,
    gaps: Vec<Gap>,
}

/// A stretch from left to right in which nothing stands.
#[derive(Debug, Clone, Copy)]
struct Gap {
    left: f64,
    right: f64,
    /// Whether something stands on both sides of it.
    is_inner: bool,
}

impl Gap {
    fn width(&self) -> f64 {
        self.right - self.left
    }
}

fn runs(bands: Vec<Vec<Piece>>, body: f64) -> Vec<Run> {
    let areas = || bands.iter().flatten().map(Piece::area);
    let left = areas().map(|it| it.left).fold(f64::INFINITY, f64::min);
    let right = areas().map(|it| it.right).fold(f64::NEG_INFINITY, f64::max);
    let mut runs: Vec<Run> = Vec::new();
    for band in bands {
        let gaps = gaps(&band, left, right, body);
        if let Some(run) = runs.last_mut()
            && let Some(common) = common(&run.gaps, &gaps, body)
        {
            run.gaps = common;
            run.bands.push(band);
        } else {
            runs.push(Run { bands: vec![band], gaps });
        }
    }
    runs
}

/// Gives runs with an inner gap the lines above them that stand behind that gap: the right column
/// may begin higher than the left one.
fn with_first_lines(mut runs: Vec<Run>, body: f64) -> Vec<Run> {
    for at in 1..runs.len() {
        let (before, run) = runs.split_at_mut(at);
        let (Some(before), Some(run)) = (before.last_mut(), run.first_mut()) else { continue };
        let Some(gap) = run.gaps.iter().find(|it| it.is_inner) else { continue };
        if has_inner(&before.gaps) {
            continue;
        }
        let stands_behind = |piece: &Piece| (piece.area().left - gap.right).abs() < 2.0 * body;
        let stays = |band: &Vec<Piece>| {
            let first = band.iter().min_by(|a, b| a.area().left.total_cmp(&b.area().left));
            !first.is_some_and(stands_behind)
        };
        let len = before.bands.iter().rposition(stays).map_or(0, |it| it + 1);
        run.bands.splice(0..0, before.bands.drain(len..));
    }
    runs
}

/// Returns the gaps of a band between the edges of its region.
fn gaps(band: &[Piece], left: f64, right: f64, body: f64) -> Vec<Gap> {
    let mut extents: Vec<(f64, f64)> =
        band.iter().map(|it| (it.area().left, it.area().right)).collect();
    extents.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut gaps = Vec::new();
    let mut reached = left;
    for (from, to) in extents.into_iter().chain([(right, right)]) {
        if from - reached >= MIN_GAP * body {
            gaps.push(Gap { left: reached, right: from, is_inner: reached > left && from < right });
        }
        reached = reached.max(to);
    }
    gaps
}

/// Returns the gaps that two neighbours share; `None` if those are no sign that they go together:
/// where one of them has an inner gap, a shared margin is none.
fn common(some: &[Gap], others: &[Gap], body: f64) -> Option<Vec<Gap>> {
    let mut common = Vec::new();
    for a in some {
        for b in others {
            let gap = Gap {
                left: a.left.max(b.left),
                right: a.right.min(b.right),
                is_inner: a.is_inner || b.is_inner,
            };
            if gap.width() >= MIN_GAP * body {
                common.push(gap);
            }
        }
    }
    let is_parted = has_inner(some) || has_inner(others);
    let go_together = !common.is_empty() && (has_inner(&common) || !is_parted);
    go_together.then_some(common)
}

fn has_inner(gaps: &[Gap]) -> bool {
    gaps.iter().any(|it| it.is_inner)
}

/// Parts a run at its widest gap that lies between columns; gives it back if there is none.
fn split(mut run: Run, body: f64) -> Result<(Vec<Piece>, Vec<Piece>), Run> {
    run.gaps.sort_by(|a, b| b.width().total_cmp(&a.width()));
    let pieces: Vec<&Piece> = run.bands.iter().flatten().collect();
    let Some(gap) = run.gaps.iter().find(|gap| parts_columns(&pieces, gap, body)) else {
        return Err(run);
    };
    let middle = f64::midpoint(gap.left, gap.right);
    let is_rtl = pieces.iter().filter(|it| it.is_rtl()).count() * 2 > pieces.len();
    let pieces = run.bands.into_iter().flatten();
    let (left, right) = pieces.partition(|it| it.area().right < middle);
    Ok(if is_rtl { (right, left) } else { (left, right) })
}

/// Whether what stands on both sides of a gap reads down rather than across.
fn parts_columns(pieces: &[&Piece], gap: &Gap, body: f64) -> bool {
    let middle = f64::midpoint(gap.left, gap.right);
    let (left, right): (Vec<&Piece>, Vec<&Piece>) =
        pieces.iter().partition(|it| it.area().right < middle);
    if left.is_empty() || right.is_empty() {
        return false;
    }
    let (one, other) = (Side::of(&left), Side::of(&right));
    if one.has_figures_of(&other) || other.has_figures_of(&one) {
        return false;
    }
    let fewest = one.num_words.min(other.num_words);
    let has_share = fewest as f64 >= MIN_SHARE * (one.num_words + other.num_words) as f64;
    let (one_steps, other_steps) = (one.share_in_step(&other), other.share_in_step(&one));
    let has_lines = one.bases.len() >= MIN_LINES && other.bases.len() >= MIN_LINES;
    let is_in_step = one_steps.min(other_steps) >= IN_STEP;
    let both = |claim: fn(&Side) -> bool| claim(&one) && claim(&other);
    let has_words = both(|it| it.words_per_line() > PROSE_WORDS);
    let reads_down = both(|it| it.fill >= PROSE_FILL)
        || both(|it| it.words_per_line() >= SURE_WORDS)
        || !is_in_step;
    if has_share && has_lines && has_words && reads_down {
        return true;
    }
    // A table's rows are in step; notes in a margin and labels of a figure are not.
    let sure = |it: &Side| {
        it.words_per_line() >= SURE_WORDS && it.fill >= SURE_FILL && it.bases.len() >= 4
    };
    let is_wide = gap.width() >= 1.2 * body;
    is_wide && ((sure(&one) && other_steps < IN_STEP) || (sure(&other) && one_steps < IN_STEP))
}

/// What stands on one side of a gap.
struct Side {
    num_words: usize,
    /// Base lines, top to bottom.
    bases: Vec<f64>,
    /// Those of lines that are numbers for the most part.
    figures: Vec<f64>,
    /// Share of the side's width that its lines fill, on average.
    fill: f64,
}

impl Side {
    fn of(pieces: &[&Piece]) -> Self {
        let mut words: Vec<_> = pieces.iter().filter_map(|it| it.word()).collect();
        words.sort_by(|a, b| a.base.total_cmp(&b.base));
        let left = words.iter().map(|it| it.area.left).fold(f64::INFINITY, f64::min);
        let right = words.iter().map(|it| it.area.right).fold(f64::NEG_INFINITY, f64::max);
        let mut lines: Vec<Extent> = Vec::new();
        for word in &words {
            let area = word.area;
            if lines.last().is_none_or(|it| word.base - it.base >= 0.4 * word.size) {
                lines.push(Extent { base: word.base, from: area.left, to: area.right, lead: 0 });
            }
            if let Some(line) = lines.last_mut() {
                line.from = line.from.min(area.left);
                line.to = line.to.max(area.right);
                line.lead += if is_number(&word.text) { 1 } else { -1 };
            }
        }
        let filled: f64 = lines.iter().map(|it| it.to - it.from).sum();
        let fill = filled / (lines.len() as f64 * (right - left)).max(1.0);
        let figures = lines.iter().filter(|it| it.lead >= 0).map(|it| it.base).collect();
        let bases = lines.into_iter().map(|it| it.base).collect();
        // Numbers are of tables.
        let has_letters = |it: &&&Word| it.text.contains(char::is_alphabetic);
        let num_words = words.iter().filter(has_letters).map(|it| it.num_words()).sum();
        Self { num_words, bases, figures, fill }
    }

    /// Whether this side is, for a good part, figures in line with what `labels` says they are.
    fn has_figures_of(&self, labels: &Self) -> bool {
        self.figures.len() as f64 >= MIN_FIGURES * self.bases.len() as f64
            && share_met(&self.figures, &labels.bases) >= IN_STEP
    }

    fn words_per_line(&self) -> f64 {
        self.num_words as f64 / self.bases.len().max(1) as f64
    }

    /// Returns the share of lines that have one of the other side on their base line.
    fn share_in_step(&self, other: &Self) -> f64 {
        share_met(&self.bases, &other.bases)
    }
}

/// A line of a side.
struct Extent {
    base: f64,
    from: f64,
    to: f64,
    /// Numbers in it less other words.
    lead: i32,
}

/// Returns the share of base lines that have one of `others` beside them.
fn share_met(bases: &[f64], others: &[f64]) -> f64 {
    let is_met = |base: &&f64| {
        let at = others.partition_point(|it| *it < **base - 1.0);
        others.get(at).is_some_and(|it| *it <= **base + 1.0)
    };
    bases.iter().filter(is_met).count() as f64 / bases.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::reader::pdf::layout::testing;

    /// The regions of a picture, each as its words.
    #[track_caller]
    fn check(picture: &str, expected: &[&str]) {
        let pieces = testing::words(picture).into_iter().map(Piece::Word).collect();
        let text = |mut region: Vec<Piece>| {
            region.sort_by_key(|it| it.word().map(|it| it.order));
            let words: Vec<&str> =
                region.iter().map(|it| it.word().unwrap().text.as_str()).collect();
            words.join(" ")
        };
        let regions: Vec<String> = part(pieces, testing::SIZE).into_iter().map(text).collect();
        assert_eq!(regions, expected);
    }

    #[test]
    fn columns_are_read_one_after_the_other_below_what_spans_them() {
        check(
            "a title that spans both of the two columns\n\
             one two three four    and one two three\n\
             five six seven eig    four five six sev\n\
             nine ten eleven tw    eight nine ten el",
            &[
                "a title that spans both of the two columns",
                "one two three four five six seven eig nine ten eleven tw",
                "and one two three four five six sev eight nine ten el",
            ],
        );
    }

    #[test]
    fn columns_that_share_a_margin_with_what_spans_them_are_columns() {
        check(
            "     an abstract that spans both columns\n\
             \x20    and is set in from both of the mar\n\
             \x20                     and one two three\n\
             \x20    two three four    four five six sev\n\
             five six seven eig    eight nine ten el\n\
             nine ten eleven tw    twelve and one mo",
            &[
                "an abstract that spans both columns and is set in from both of the mar",
                "two three four five six seven eig nine ten eleven tw",
                "and one two three four five six sev eight nine ten el twelve and one mo",
            ],
        );
    }

    #[test]
    fn three_columns_are_three() {
        check(
            "aa bb cc dd   ee ff gg hh   ii jj kk ll\n\
             aa bb cc dd   ee ff gg hh   ii jj kk ll\n\
             aa bb cc dd   ee ff gg hh   ii jj kk ll",
            &[
                "aa bb cc dd aa bb cc dd aa bb cc dd",
                "ee ff gg hh ee ff gg hh ee ff gg hh",
                "ii jj kk ll ii jj kk ll ii jj kk ll",
            ],
        );
    }

    #[test]
    fn a_table_is_no_columns() {
        let table = "Sales of products      55,893    51,386\n\
                     Sales of services      10,715    10,900\n\
                     Total revenues         66,608    62,286";
        check(table, &[&table.split_whitespace().collect::<Vec<_>>().join(" ")]);
    }

    #[test]
    fn figures_stay_with_what_they_are_of() {
        let table = "Gain recognised        Three Months Ended December\n\
                     in income of           in millions of dollars\n\
                     Commodity contracts           4      6\n\
                     Treasury locks                5      7\n\
                     Interest rate swaps           9      3";
        check(table, &[&table.split_whitespace().collect::<Vec<_>>().join(" ")]);
    }

    #[test]
    fn notes_in_a_margin_are_apart_from_the_text() {
        let text = "some words that fill a line of the text well enough";
        let mut words: Vec<_> = (1..7)
            .flat_map(|row| {
                testing::words(text).into_iter().map(move |mut it| {
                    it.base += 12.0 * f64::from(row);
                    it.area.top += 12.0 * f64::from(row);
                    it.area.bottom += 12.0 * f64::from(row);
                    it
                })
            })
            .collect();
        words.push(testing::word("note", 300.0, 31.0, 8.0));
        words.push(testing::word("here", 300.0, 40.0, 8.0));
        let regions = part(words.into_iter().map(Piece::Word).collect(), testing::SIZE);
        assert_eq!(regions.iter().map(Vec::len).collect::<Vec<_>>(), [66, 2]);
    }

    #[test]
    fn nothing_is_one_region_without_anything() {
        assert_eq!(part(Vec::new(), 10.0).len(), 1);
    }
}
