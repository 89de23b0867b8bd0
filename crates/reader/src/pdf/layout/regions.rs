//! Divides a page into regions of one column each, in reading order.
//!
//! A page is divided into bands: pieces between two horizontal strips of white space. Adjacent
//! bands with a common gap are columns if both sides read like text. A table also has such gaps,
//! but its sides are short and aligned. Columns are separated and then divided again.

use super::columns::{Gap, separates_columns};
use super::piece::WordOrTable;

/// Narrowest gap between columns, as a fraction of the text size. Gaps between words are narrower; that they go on
/// over many lines shows the columns.
const MIN_GAP: f64 = 0.9;

/// Largest distance of a line from the run below it that it may begin, as a fraction of the text
/// size.
const MAX_LEAD: f64 = 2.0;

/// Deepest nesting of columns: bounds the recursion on a page that is made of ever smaller columns.
const MAX_DEPTH: u8 = 6;

/// Divides the pieces of a page into regions, in reading order.
pub(super) fn divide(pieces: Vec<WordOrTable>, body: f64) -> Vec<Vec<WordOrTable>> {
    let mut regions = Vec::new();
    divide_into(pieces, body, 0, &mut regions);
    regions
}

fn divide_into(
    pieces: Vec<WordOrTable>,
    body: f64,
    depth: u8,
    regions: &mut Vec<Vec<WordOrTable>>,
) {
    // Two columns have at least two lines each, of a word or more.
    if depth >= MAX_DEPTH || pieces.len() < 4 {
        regions.push(pieces);
        return;
    }
    let mut rest: Vec<WordOrTable> = Vec::new();
    for run in with_first_lines(runs(bands(pieces), body), body) {
        match split(run, body) {
            Ok((first, second)) => {
                if !rest.is_empty() {
                    regions.push(std::mem::take(&mut rest));
                }
                divide_into(first, body, depth + 1, regions);
                divide_into(second, body, depth + 1, regions);
            }
            Err(run) => rest.extend(run.bands.into_iter().flatten()),
        }
    }
    if !rest.is_empty() {
        regions.push(rest);
    }
}

/// Groups pieces that overlap vertically, directly or through other pieces, top to bottom.
fn bands(mut pieces: Vec<WordOrTable>) -> Vec<Vec<WordOrTable>> {
    pieces.sort_by(|a, b| a.area().top.total_cmp(&b.area().top));
    let mut bands: Vec<Vec<WordOrTable>> = Vec::new();
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

/// Consecutive bands with common gaps.
struct BandRun {
    bands: Vec<Vec<WordOrTable>>,
    gaps: Vec<Gap>,
}

impl BandRun {
    /// Whether one of its gaps separates columns.
    fn has_columns(&self, body: f64) -> bool {
        let pieces: Vec<&WordOrTable> = self.bands.iter().flatten().collect();
        self.gaps.iter().any(|gap| separates_columns(&pieces, gap, body))
    }
}

fn runs(bands: Vec<Vec<WordOrTable>>, body: f64) -> Vec<BandRun> {
    let areas = bands.iter().flatten().map(WordOrTable::area);
    let left = areas.clone().map(|area| area.left).fold(f64::INFINITY, f64::min);
    let right = areas.map(|area| area.right).fold(f64::NEG_INFINITY, f64::max);
    let mut runs: Vec<BandRun> = Vec::new();
    for band in bands {
        let gaps = gaps(&band, left, right, body);
        if let Some(run) = runs.last_mut()
            && let Some(common) = common(&run.gaps, &gaps, body)
        {
            run.gaps = common;
            run.bands.push(band);
        } else {
            runs.push(BandRun { bands: vec![band], gaps });
        }
    }
    runs
}

/// Moves lines directly above a run with an inner gap into the run if text begins right of the gap
/// and none crosses it: the right column may begin higher than the left one, or next to the heading
/// of the left one.
fn with_first_lines(mut runs: Vec<BandRun>, body: f64) -> Vec<BandRun> {
    for at in 1..runs.len() {
        let (before, run) = runs.split_at_mut(at);
        let (Some(before), Some(run)) = (before.last_mut(), run.first_mut()) else { continue };
        let Some(gap) = run.gaps.iter().find(|gap| gap.is_inner).copied() else { continue };
        if has_inner(&before.gaps) && before.has_columns(body) {
            continue;
        }
        let mut below = top(run.bands.first());
        let mut len = before.bands.len();
        while let Some(band) = len.checked_sub(1).and_then(|last| before.bands.get(last)) {
            let bottom = band.iter().map(|piece| piece.area().bottom).fold(0.0, f64::max);
            let is_near = below - bottom < MAX_LEAD * body;
            let fits = !gap.is_crossed_by(band)
                && band.iter().any(|piece| (piece.area().left - gap.right).abs() < 2.0 * body);
            if !(is_near && fits) {
                break;
            }
            below = top(Some(band));
            len -= 1;
        }
        let moved = before.bands.split_off(len);
        run.gaps.retain(|gap| !moved.iter().any(|band| gap.is_crossed_by(band)));
        run.bands.splice(0..0, moved);
    }
    runs.retain(|run| !run.bands.is_empty());
    runs
}

/// Returns the upper edge of a band.
fn top(band: Option<&Vec<WordOrTable>>) -> f64 {
    let tops = band.into_iter().flatten().map(|piece| piece.area().top);
    tops.fold(f64::INFINITY, f64::min)
}

/// Returns the gaps of a band between the edges of its region.
fn gaps(band: &[WordOrTable], left: f64, right: f64, body: f64) -> Vec<Gap> {
    let mut extents: Vec<(f64, f64)> =
        band.iter().map(|piece| (piece.area().left, piece.area().right)).collect();
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

/// Returns the gaps that two adjacent bands share; `None` if they do not show that the bands belong
/// together: if one of them has an inner gap, a shared margin is not enough.
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
    let is_split = has_inner(some) || has_inner(others);
    let belong_together = !common.is_empty() && (has_inner(&common) || !is_split);
    belong_together.then_some(common)
}

fn has_inner(gaps: &[Gap]) -> bool {
    gaps.iter().any(|gap| gap.is_inner)
}

/// Splits a run at its widest gap between columns; returns the run if there is none.
fn split(mut run: BandRun, body: f64) -> Result<(Vec<WordOrTable>, Vec<WordOrTable>), BandRun> {
    run.gaps.sort_by(|a, b| b.width().total_cmp(&a.width()));
    let pieces: Vec<&WordOrTable> = run.bands.iter().flatten().collect();
    let Some(gap) = run.gaps.iter().find(|gap| separates_columns(&pieces, gap, body)) else {
        return Err(run);
    };
    let middle = f64::midpoint(gap.left, gap.right);
    let is_rtl = pieces.iter().filter(|piece| piece.is_rtl()).count() * 2 > pieces.len();
    let pieces = run.bands.into_iter().flatten();
    let (left, right) = pieces.partition(|piece| piece.area().right < middle);
    Ok(if is_rtl { (right, left) } else { (left, right) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::layout::testing;

    /// Checks the regions of a picture, each as its words.
    #[track_caller]
    fn check(picture: &str, expected: &[&str]) {
        let pieces = testing::words(picture).into_iter().map(WordOrTable::Word).collect();
        let text = |mut region: Vec<WordOrTable>| {
            region.sort_by_key(|piece| piece.word().map(|word| word.order));
            let words: Vec<&str> =
                region.iter().map(|piece| piece.word().unwrap().text.as_str()).collect();
            words.join(" ")
        };
        let regions: Vec<String> = divide(pieces, testing::SIZE).into_iter().map(text).collect();
        assert_eq!(regions, expected);
    }

    #[test]
    fn columns_are_read_one_after_another_below_text_that_spans_them() {
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
    fn columns_may_share_a_margin_with_text_that_spans_them() {
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
    fn a_right_column_may_begin_next_to_the_heading_of_the_left_one() {
        check(
            "         a title in the middle of\n\
             \x20             its two authors\n\
             Abstract              and one two three\n\
             one two three four    four five six sev\n\
             five six seven eig    eight nine ten el\n\
             nine ten eleven tw    twelve and one mo",
            &[
                "a title in the middle of its two authors",
                "Abstract one two three four five six seven eig nine ten eleven tw",
                "and one two three four five six sev eight nine ten el twelve and one mo",
            ],
        );
    }

    #[test]
    fn a_paragraph_is_not_divided_at_the_gap_of_the_heading_below_it() {
        let text = "     some lines of an abstract that\n\
                    \x20    are set in from the margin and\n\
                    \x20    end above a section with a num\n\
                    1    Introduction";
        check(text, &[&text.split_whitespace().collect::<Vec<_>>().join(" ")]);
    }

    #[test]
    fn three_columns_are_separated() {
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
    fn a_table_is_not_split_into_columns() {
        let table = "Sales of products      55,893    51,386\n\
                     Sales of services      10,715    10,900\n\
                     Total revenues         66,608    62,286";
        check(table, &[&table.split_whitespace().collect::<Vec<_>>().join(" ")]);
    }

    #[test]
    fn numbers_stay_with_their_labels() {
        let table = "Gain recognised        Three Months Ended December\n\
                     in income of           in millions of dollars\n\
                     Commodity contracts           4      6\n\
                     Treasury locks                5      7\n\
                     Interest rate swaps           9      3";
        check(table, &[&table.split_whitespace().collect::<Vec<_>>().join(" ")]);
    }

    #[test]
    fn side_notes_are_separated_from_the_text() {
        let text = "some words that fill a line of the text well enough";
        let mut words: Vec<_> = (1..7)
            .flat_map(|row| {
                testing::words(text).into_iter().map(move |mut word| {
                    word.base += 12.0 * f64::from(row);
                    word.area.top += 12.0 * f64::from(row);
                    word.area.bottom += 12.0 * f64::from(row);
                    word
                })
            })
            .collect();
        words.push(testing::word("note", 300.0, 31.0, 8.0));
        words.push(testing::word("here", 300.0, 40.0, 8.0));
        let regions = divide(words.into_iter().map(WordOrTable::Word).collect(), testing::SIZE);
        assert_eq!(regions.iter().map(Vec::len).collect::<Vec<_>>(), [66, 2]);
    }

    #[test]
    fn an_empty_page_is_one_empty_region() {
        assert_eq!(divide(Vec::new(), 10.0).len(), 1);
    }
}
