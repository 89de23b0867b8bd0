//! Recognises glossaries: terms, and their meanings in a second column.

use super::lines::TextLine;
use super::numbers::is_number;
use super::words::Word;

/// Fewest entries; two lines with a gap may be a heading next to its text.
const MIN_ENTRIES: usize = 3;

/// Longest term, in words; the mean is shorter. Longer ones are text in columns.
const MAX_TERM: usize = 6;
const MAX_MEAN_TERM: usize = 3;

/// Most lines of a meaning, on average: longer ones are the text below headings in the margin.
const MAX_MEAN_LINES: usize = 3;

/// How far the left ends of a column may differ, as a fraction of the size.
const ALIGNED: f64 = 0.3;

/// Whether lines, with their words in two columns, are entries of a glossary.
pub(super) fn is_glossary(lines: &[&TextLine], cells: &[Vec<Vec<Word>>]) -> bool {
    if cells.first().is_none_or(|row| row.len() != 2) || lines.iter().any(|line| line.is_mono) {
        return false;
    }
    let entries: Vec<&Vec<Vec<Word>>> =
        cells.iter().filter(|cells| cells.iter().all(|cell| !cell.is_empty())).collect();
    let num_other_terms = cells.iter().filter(|cells| cells[1].is_empty()).count();
    let num_words: usize = entries.iter().map(|cells| cells[0].len()).sum();

    let num_phrases = entries.iter().filter(|cells| cells[1].len() > 1).count();
    entries.len() >= MIN_ENTRIES
        // Meanings of one word each are the values of a form.
        && num_phrases * 2 > entries.len()
        && lines.len() <= entries.len() * MAX_MEAN_LINES
        && num_words <= entries.len() * MAX_MEAN_TERM
        // Terms without a meaning are headings of groups, or a column of text of its own if there are many.
        && num_other_terms * 5 <= lines.len()
        && entries.iter().all(|cells| is_term(&cells[0]))
        && is_aligned(&entries, 0)
        && is_aligned(&entries, 1)
}

/// Whether a cell reads like a term: a few words that are not a label or an amount.
fn is_term(cell: &[Word]) -> bool {
    let (first, last) = (cell.first(), cell.last());
    let starts = first.is_some_and(|word| word.text.starts_with(char::is_alphanumeric));
    let is_label = last.is_some_and(|word| word.text.ends_with([':', '.', ',', ';']));
    starts && !is_label && cell.len() <= MAX_TERM && !cell.iter().all(|word| is_number(&word.text))
}

/// Whether the cells of a column have their left ends below each other.
fn is_aligned(entries: &[&Vec<Vec<Word>>], column: usize) -> bool {
    let mut ends = entries.iter().filter_map(|cells| {
        let words = cells[column].iter();
        words.map(|word| (word.area.left, word.size)).min_by(|a, b| a.0.total_cmp(&b.0))
    });
    let Some((left, size)) = ends.next() else { return false };
    ends.all(|(other, _)| (other - left).abs() <= ALIGNED * size)
}
