//! Removes line numbers from the margin of a page.
//!
//! Drafts, briefs and bills number their lines in the margin; such numbers would end up in the
//! middle of sentences.

use super::words::Word;
use crate::document::{WordAccount, WordDestination};

/// Fewest numbers that count as line numbers: a list or a column of a table with fewer could look the same.
const MIN_NUMBERS: usize = 15;

/// How far numbers may be out of line, and how far their distances may differ, as fractions of the
/// size.
const MAX_DRIFT: f64 = 0.35;

/// Smallest gap between a number and its line, as a fraction of the size; a number in a sentence is nearer to the
/// next word.
const MIN_GAP: f64 = 0.7;

/// Fewest words per numbered line, on average; rows of a table have fewer.
const MIN_WORDS: f64 = 4.0;

/// Removes line numbers, and counts them.
pub(super) fn without_line_numbers(mut words: Vec<Word>, left_out: &mut WordAccount) -> Vec<Word> {
    let numbers = line_numbers(&words);
    if numbers.is_empty() {
        return words;
    }
    left_out
        .add_count(WordDestination::RunningHead, u32::try_from(numbers.len()).unwrap_or(u32::MAX));
    let mut idx = 0;
    words.retain(|_| {
        idx += 1;
        numbers.binary_search(&(idx - 1)).is_err()
    });
    words
}

/// Returns the indices of the line numbers, in order.
fn line_numbers(words: &[Word]) -> Vec<usize> {
    let numbers: Vec<(usize, u32)> = words
        .iter()
        .enumerate()
        // Pages have at most some hundred lines; longer numbers are years and amounts.
        .filter(|(_, word)| word.text.len() <= 3)
        .filter_map(|(at, word)| Some((at, word.text.parse().ok()?)))
        .collect();
    if numbers.len() < MIN_NUMBERS {
        return Vec::new();
    }
    let mut by_edge = numbers;
    by_edge.sort_by(|a, b| words[a.0].area.right.total_cmp(&words[b.0].area.right));
    let mut found = Vec::new();
    let mut columns: Vec<Vec<(usize, u32)>> = Vec::new();
    for number in by_edge {
        let Word { area, size, .. } = &words[number.0];
        match columns.last_mut() {
            Some(column) if area.right - words[column[0].0].area.right <= MAX_DRIFT * size => {
                column.push(number);
            }
            _ => columns.push(vec![number]),
        }
    }
    for mut column in columns {
        column.sort_by(|a, b| words[a.0].base.total_cmp(&words[b.0].base));
        if are_line_numbers(&column, words) {
            found.extend(column.iter().map(|(at, _)| at));
        }
    }
    found.sort_unstable();
    found
}

/// Whether the numbers in one column, top to bottom, number the lines of prose next to them.
fn are_line_numbers(column: &[(usize, u32)], words: &[Word]) -> bool {
    if column.len() < MIN_NUMBERS {
        return false;
    }
    let steps = column.windows(2);
    let mut distances: Vec<f64> = steps.clone().map(|pair| distance(pair, words)).collect();
    let middle = distances.len() / 2;
    let usual = *distances.select_nth_unstable_by(middle, f64::total_cmp).1;
    let regular = steps.clone().filter(|pair| {
        pair[1].1 == pair[0].1 + 1
            && (distance(pair, words) - usual).abs() <= MAX_DRIFT * words[pair[0].0].size
    });
    // Blank lines, headings and the end of a column interrupt the steps: four in five must be regular.
    if regular.count() * 10 < steps.len() * 8 {
        return false;
    }
    let (mut num_lines, mut num_words, mut is_outside) = (0_u32, 0_u32, true);
    let (mut to_left, mut to_right) = (false, false);
    for &(at, _) in column {
        let number = &words[at];
        let mut neighbours = words.iter().filter(|word| {
            (word.base - number.base).abs() <= MAX_DRIFT * number.size
                && !std::ptr::eq(*word, number)
        });
        let mut count = 0;
        for word in &mut neighbours {
            count += 1;
            let gap = -word.area.shared_width(&number.area);
            is_outside &= gap >= MIN_GAP * number.size;
            to_left |= word.area.left < number.area.left;
            to_right |= word.area.left > number.area.left;
        }
        num_words += count;
        num_lines += u32::from(count > 0);
    }
    is_outside
        // Numbers with text on both sides are a column of a table.
        && to_left != to_right
        && f64::from(num_words) >= MIN_WORDS * f64::from(num_lines)
        && num_lines > 0
}

/// Returns how far the second of two numbers is below the first one.
fn distance(pair: &[(usize, u32)], words: &[Word]) -> f64 {
    words[pair[1].0].base - words[pair[0].0].base
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::layout::testing;

    #[track_caller]
    fn check(lines: impl Iterator<Item = String>, num_left: usize) {
        let picture: Vec<String> = lines.collect();
        let words = testing::words(&picture.join("\n"));
        let (num_words, mut left_out) = (words.len(), WordAccount::default());
        assert_eq!(without_line_numbers(words, &mut left_out).len(), num_left);
        let num_counted: u32 = left_out.counts().map(|(_, count)| count).sum();
        assert_eq!(num_counted as usize, num_words - num_left);
    }

    #[test]
    fn line_numbers_are_removed() {
        check((1..=20).map(|number| format!("{number:>2}   the tide turns at noon")), 20 * 5);
        check((1..=20).map(|number| format!("the tide turns at noon   {number:>2}")), 20 * 5);
    }

    #[test]
    fn numbers_of_a_table_or_of_a_few_lines_are_kept() {
        check((1..=20).map(|number| format!("{number:>2}   Austria   86.2")), 20 * 3);
        check((1..=9).map(|number| format!("{number:>2}   the tide turns at noon")), 9 * 6);
        check((1..=20).map(|number| format!("{:>2}   the tide turns at noon", number * 3)), 20 * 6);
    }
}
