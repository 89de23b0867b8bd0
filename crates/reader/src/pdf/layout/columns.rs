//! Decides whether the text on the two sides of a gap is read down, as columns, or across, as rows of a
//! table.

use super::gaps::{CELL_GAP, SplitLine};
use super::lines::{self, TextLine};
use super::numbers::is_number;
use super::piece::WordOrTable;

/// Fewest words on the smaller side, as a fraction of all: fewer are notes next to the text, which need more evidence.
const MIN_SHARE: f64 = 1.0 / 6.0;

/// Fewest words per line of prose, on average, not counting numbers; labels and cells of a table have fewer.
const PROSE_WORDS: f64 = 2.2;

/// Smallest fraction of the column width that a line of prose fills, on average; cells of a table leave more of it
/// free.
const PROSE_FILL: f64 = 0.55;

/// Fewest lines on a side: a single line next to others may be a heading or a row of a table.
const MIN_LINES: usize = 2;

/// Words per line, and fraction of the width filled, from which a side is prose whatever is on the other side: notes
/// in the margin need not look like prose.
const SURE_WORDS: f64 = 4.0;
const SURE_FILL: f64 = 0.65;

/// Fraction of lines with a neighbour on the same base line from which two sides are aligned, as rows of a table are.
/// Columns of text may be so too: it decides only together with their words.
const ALIGNED: f64 = 0.6;

/// Fraction of a side's lines that are numbers from which it may be a column of a table; heads and cells of words are
/// the others.
const MIN_NUMBERS: f64 = 0.25;

/// Fraction of aligned lines of one side from which two sides may be the rows of a table of words, and the largest
/// fraction of the width that one column of it fills, on average.
const ROWS_ALIGNED: f64 = 0.9;
const ROWS_FILL: f64 = 0.85;

/// Fewest rows that a further gap divides, and most lines per such row, as its cells may be wrapped.
const MIN_ROWS: usize = 3;
const MAX_LINES_PER_ROW: usize = 3;

/// One of this many lines on each side must begin with a capital or a number: in prose, most go on in lower case.
const MAX_LINES_PER_START: usize = 2;

/// A horizontal range without any pieces.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap {
    pub(super) left: f64,
    pub(super) right: f64,
    /// Whether there are pieces on both sides of it.
    pub(super) is_inner: bool,
}

impl Gap {
    pub(super) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(super) fn is_crossed_by(&self, band: &[WordOrTable]) -> bool {
        band.iter()
            .map(WordOrTable::area)
            .any(|area| area.left < self.right && area.right > self.left)
    }
}

/// Whether both sides of a gap are read down rather than across.
pub(super) fn separates_columns(pieces: &[&WordOrTable], gap: &Gap, body: f64) -> bool {
    let middle = f64::midpoint(gap.left, gap.right);
    let (left, right): (Vec<&WordOrTable>, Vec<&WordOrTable>) =
        pieces.iter().partition(|piece| piece.area().right < middle);
    if left.is_empty() || right.is_empty() {
        return false;
    }
    let (one, other) = (GapSide::of(&left), GapSide::of(&right));
    // Numbers next to labels are rows, however much the labels read like prose.
    if one.has_numbers_for(&other) || other.has_numbers_for(&one) {
        return false;
    }
    let fewest = one.num_words.min(other.num_words);
    let has_share = fewest as f64 >= MIN_SHARE * (one.num_words + other.num_words) as f64;
    let (one_aligned, other_aligned) = (one.aligned_share(&other), other.aligned_share(&one));
    let has_lines = one.bases.len() >= MIN_LINES && other.bases.len() >= MIN_LINES;
    let is_aligned = one_aligned.min(other_aligned) >= ALIGNED;
    let sides = [&one, &other];
    let has_words = sides.iter().all(|side| side.words_per_line() > PROSE_WORDS);
    let reads_down = sides.iter().all(|side| side.fill >= PROSE_FILL)
        || sides.iter().all(|side| side.words_per_line() >= SURE_WORDS)
        || !is_aligned;
    if has_share && has_lines && has_words && reads_down {
        let may_be_rows = is_aligned && one_aligned.max(other_aligned) >= ROWS_ALIGNED;
        return !(may_be_rows && are_rows([(&left, &one), (&right, &other)]));
    }
    // Too little text for columns: one side must be surely prose, and the other not aligned with it. The rows of a
    // table are aligned; side notes and labels of a figure are not. The gap must be wider than that of columns.
    let is_wide = gap.width() >= 1.2 * body;
    is_wide
        && ((one.is_surely_prose() && other_aligned < ALIGNED)
            || (other.is_surely_prose() && one_aligned < ALIGNED))
}

/// Whether the lines of two sides begin like cells, and a further gap divides those of one side.
fn are_rows(sides: [(&[&WordOrTable], &GapSide); 2]) -> bool {
    let mut is_divided = false;
    let are_cells = sides.into_iter().all(|(pieces, side)| {
        let words = pieces.iter().filter_map(|piece| piece.word()).cloned();
        let mut lines = lines::gather(words.collect());
        let num_split = lines.iter().filter(|line| is_split(line)).count();
        if num_split >= MIN_ROWS && num_split * MAX_LINES_PER_ROW >= lines.len() {
            is_divided = true;
            lines.retain(is_split);
        } else if side.fill >= ROWS_FILL {
            return false;
        }
        let starts =
            lines.iter().filter(|line| !line.words[0].text.starts_with(char::is_lowercase));
        starts.count() * MAX_LINES_PER_START >= lines.len()
    });
    are_cells && is_divided
}

/// Whether a gap as wide as that between cells divides a line, apart from one behind a marker.
fn is_split(line: &TextLine) -> bool {
    SplitLine::new(line, CELL_GAP).with_marker().is_split()
}

/// The text on one side of a gap.
struct GapSide {
    num_words: usize,
    /// Base lines, top to bottom.
    bases: Vec<f64>,
    /// Base lines of the lines that are mostly numbers.
    number_bases: Vec<f64>,
    /// Fraction of the side's width that its lines fill, on average.
    fill: f64,
}

impl GapSide {
    fn of(pieces: &[&WordOrTable]) -> Self {
        let mut words: Vec<_> = pieces.iter().filter_map(|piece| piece.word()).collect();
        words.sort_by(|a, b| a.base.total_cmp(&b.base));
        let left = words.iter().map(|word| word.area.left).fold(f64::INFINITY, f64::min);
        let right = words.iter().map(|word| word.area.right).fold(f64::NEG_INFINITY, f64::max);
        let mut lines: Vec<SideLine> = Vec::new();
        for word in &words {
            let area = word.area;
            // Nearer base lines are those of one line with raised or lowered words.
            if lines.last().is_none_or(|line| word.base - line.base >= 0.4 * word.size) {
                lines.push(SideLine {
                    base: word.base,
                    from: area.left,
                    to: area.right,
                    balance: 0,
                });
            }
            if let Some(line) = lines.last_mut() {
                line.from = line.from.min(area.left);
                line.to = line.to.max(area.right);
                line.balance += if is_number(&word.text) { 1 } else { -1 };
            }
        }
        let filled: f64 = lines.iter().map(|line| line.to - line.from).sum();
        let fill = filled / (lines.len() as f64 * (right - left)).max(1.0);
        let number_bases =
            lines.iter().filter(|line| line.balance >= 0).map(|line| line.base).collect();
        let bases = lines.into_iter().map(|line| line.base).collect();
        // Numbers belong to tables, entries to their labels.
        let num_words = words
            .iter()
            .filter(|word| word.text.contains(char::is_alphabetic) && !word.is_entry)
            .map(|word| word.num_words())
            .sum();
        Self { num_words, bases, number_bases, fill }
    }

    /// Whether many lines of this side are numbers that are aligned with `labels`.
    fn has_numbers_for(&self, labels: &Self) -> bool {
        self.number_bases.len() as f64 >= MIN_NUMBERS * self.bases.len() as f64
            && share_with_neighbour(&self.number_bases, &labels.bases) >= ALIGNED
    }

    /// Whether it has several lines with enough words that fill its width.
    fn is_surely_prose(&self) -> bool {
        self.words_per_line() >= SURE_WORDS && self.fill >= SURE_FILL && self.bases.len() >= 4
    }

    fn words_per_line(&self) -> f64 {
        self.num_words as f64 / self.bases.len().max(1) as f64
    }

    /// Returns the fraction of lines that have a line of the other side on their base line.
    fn aligned_share(&self, other: &Self) -> f64 {
        share_with_neighbour(&self.bases, &other.bases)
    }
}

/// A line of one side.
struct SideLine {
    base: f64,
    from: f64,
    to: f64,
    /// Count of its numbers minus count of its other words.
    balance: i32,
}

/// Returns the fraction of base lines that have one of `others` next to them.
fn share_with_neighbour(bases: &[f64], others: &[f64]) -> f64 {
    let num_aligned = bases.iter().filter(|base| has_neighbour(**base, others)).count();
    num_aligned as f64 / bases.len().max(1) as f64
}

fn has_neighbour(base: f64, others: &[f64]) -> bool {
    // Within a point of each other, base lines count as the same: the distance of two lines is many times that.
    let at = others.partition_point(|other| *other < base - 1.0);
    others.get(at).is_some_and(|other| *other <= base + 1.0)
}
