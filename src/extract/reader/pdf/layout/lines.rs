//! Groups the words of a column into lines, top to bottom.

use super::script;
use super::sheet::Area;
use super::words::Word;

/// A line of text.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// In the order in which they are read.
    pub(super) words: Vec<Word>,
    pub(super) area: Area,
    /// Base line of most of it.
    pub(super) base: f64,
    /// Height of the typeface of most of it.
    pub(super) size: f64,
    pub(super) ink: f64,
    pub(super) is_bold: bool,
    pub(super) tagged_level: u8,
    pub(super) is_rtl: bool,
    /// Width of its characters as a share of the size, if all have the same.
    pub(super) pitch: Option<f64>,
    /// Whether it has letters that show that this is so of the typeface.
    pub(super) tells_pitch: bool,
}

/// Farther off, as a share of the size, and a word is on another line.
const MAX_DRIFT: f64 = 0.35;

/// Share of its height that a raised or lowered word lies beside a line.
const MIN_BESIDE: f64 = 0.5;

/// Gap below which two words touch, and below which two ideographs are of one word.
const TOUCHING: f64 = 0.12;
const TOUCHING_IDEOGRAPHS: f64 = 0.9;

/// How far widths may differ in a typeface of one pitch, as a share of the size.
const SAME_PITCH: f64 = 0.02;

/// Letters before a raised number that make it a note's mark rather than an exponent.
const WORD_BEFORE_MARK: usize = 4;

/// Gathers words into lines, top to bottom.
pub(super) fn gather(words: Vec<Word>) -> Vec<Line> {
    let median = median_size(&words);
    let (mut main, rest): (Vec<Word>, Vec<Word>) =
        words.into_iter().partition(|it| (0.8 * median..=1.6 * median).contains(&it.size));
    main.sort_by(|a, b| a.base.total_cmp(&b.base));
    let mut lines: Vec<Vec<Word>> = Vec::new();
    for word in main {
        match lines.last_mut() {
            Some(line) if word.base - line[0].base <= MAX_DRIFT * word.size.min(line[0].size) => {
                line.push(word);
            }
            _ => lines.push(vec![word]),
        }
    }
    add_odd_sizes(&mut lines, rest);
    let mut lines: Vec<Line> = lines.into_iter().filter_map(finish).collect();
    lines.sort_by(|a, b| a.base.total_cmp(&b.base));
    lines
}

/// Adds words that are smaller or larger than most to the lines they stand beside: exponents,
/// marks of notes, initials; or to lines of their own.
fn add_odd_sizes(lines: &mut Vec<Vec<Word>>, mut words: Vec<Word>) {
    let num_main = lines.len();
    words.sort_by(|a, b| a.base.total_cmp(&b.base));
    for word in words {
        let beside = |line: &Vec<Word>| {
            let area = Area::around(line.iter().map(|it| it.area));
            let height = word.area.height().min(area.height());
            let share = word.area.shared_height(&area) / height;
            let gap = -word.area.shared_width(&area) / word.size.max(line[0].size);
            (share >= MIN_BESIDE && gap < 3.0).then_some(share)
        };
        let is_larger = |line: &Vec<Word>| word.size > 1.6 * line[0].size;
        let best = lines[..num_main]
            .iter_mut()
            .filter(|it| !is_larger(it) || starts(it, &word))
            .filter_map(|it| Some((beside(it)?, it)))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, line)) = best else {
            let own = lines[num_main..].last_mut().filter(|line| {
                (word.base - line[0].base).abs() <= MAX_DRIFT * word.size.min(line[0].size)
            });
            match own {
                Some(line) => line.push(word),
                None => lines.push(vec![word]),
            }
            continue;
        };
        line.push(word);
    }
}

/// Whether `initial` is a large first letter and `line` the first of the lines beside it.
fn starts(line: &[Word], initial: &Word) -> bool {
    let top = line.iter().map(|it| it.area.top).fold(f64::INFINITY, f64::min);
    initial.text.chars().count() <= 2
        && (initial.area.top - top).abs() < 0.5 * line[0].size
        && line.iter().all(|it| it.area.left >= initial.area.right - 0.2 * it.size)
}

pub(super) fn median_size(words: &[Word]) -> f64 {
    let mut sizes: Vec<(f64, usize)> = words.iter().map(|it| (it.size, it.text.len())).collect();
    sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: usize = sizes.iter().map(|it| it.1).sum();
    let mut sum = 0;
    let middle = sizes.iter().find(|(_, len)| {
        sum += len;
        sum * 2 >= total
    });
    middle.map_or(0.0, |it| it.0)
}

fn finish(mut words: Vec<Word>) -> Option<Line> {
    words.sort_by(|a, b| a.area.left.total_cmp(&b.area.left));
    let (num_rtl, num_ltr) = words.iter().fold((0, 0), |(rtl, ltr), it| {
        let is_rtl = it.text.contains(script::is_rtl);
        (
            rtl + usize::from(is_rtl),
            ltr + usize::from(!is_rtl && it.text.contains(char::is_alphabetic)),
        )
    });
    let is_rtl = num_rtl > num_ltr;
    if num_rtl > 0 {
        if is_rtl {
            script::order(&mut words, |it| it.text.contains(script::is_rtl));
        } else {
            turn_foreign(&mut words);
        }
    }
    let size = median_size(&words);
    let main = words.iter().find(|it| (it.size - size).abs() < 0.01 * size)?;
    let (base, tagged_level) = (main.base, main.tagged_level);
    let area = Area::around(words.iter().map(|it| it.area));
    let (mut inked, mut width, mut bold, mut all) = (0.0, 0.0, 0, 0);
    for it in &words {
        if it.ink > 0.0 {
            inked += it.ink * it.area.width();
            width += it.area.width();
        }
        bold += if it.is_bold { it.text.len() } else { 0 };
        all += it.text.len();
    }
    let ink = if width > 0.0 { inked / width } else { 0.0 };
    let pitch = words[0].pitch.filter(|first| {
        words.iter().all(|it| it.pitch.is_some_and(|it| (it - first).abs() < SAME_PITCH))
    });
    Some(Line {
        area,
        base,
        size,
        ink,
        is_bold: bold * 10 > all * 8,
        tagged_level,
        is_rtl,
        pitch,
        tells_pitch: pitch.is_some() && words.iter().any(|it| it.has_pitch),
        words,
    })
}

/// Turns round the words that run to the left within a line that runs to the right.
fn turn_foreign(words: &mut [Word]) {
    let mut start = 0;
    while start < words.len() {
        let len = words[start..].iter().take_while(|it| it.text.contains(script::is_rtl)).count();
        words[start..start + len].reverse();
        start += len.max(1);
    }
}

impl Line {
    /// Returns the line as it is read.
    pub(super) fn text(&self) -> String {
        spell(&self.words)
    }
}

/// Joins words as they are read, a space where there is one.
pub(super) fn spell(words: &[Word]) -> String {
    let mut text = String::new();
    let mut last: Option<&Word> = None;
    for word in words {
        if last.is_some_and(|last| is_apart(last, word)) {
            text.push(' ');
        }
        text.push_str(&word.text);
        last = Some(word);
    }
    text
}

fn is_apart(last: &Word, next: &Word) -> bool {
    let gap = -last.area.shared_width(&next.area) / last.size.max(next.size);
    let is_raised = next.base < last.base - 0.15 * last.size && next.size < 0.9 * last.size;
    let is_mark = is_raised
        && next.text.chars().all(|it| it.is_ascii_digit() || matches!(it, ',' | '*'))
        && last.text.chars().rev().take_while(|it| it.is_alphabetic()).count() >= WORD_BEFORE_MARK;
    let are_ideographs = last.text.ends_with(script::is_ideographic)
        && next.text.starts_with(script::is_ideographic);
    gap > if are_ideographs { TOUCHING_IDEOGRAPHS } else { TOUCHING } || is_mark
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::reader::pdf::layout::testing::{word, words};

    #[track_caller]
    fn check(words: Vec<Word>, expected: &[&str]) {
        let lines: Vec<String> = gather(words).iter().map(Line::text).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn words_on_one_base_line_are_a_line() {
        check(words("the tide\nturns"), &["the tide", "turns"]);
        check(Vec::new(), &[]);
    }

    #[test]
    fn raised_and_lowered_words_stay_in_their_line() {
        let mut formula = words("x  = H O\nnext");
        formula.push(word("2", 5.0, 8.0, 6.0));
        formula.push(word("10", 30.0, 14.0, 5.0));
        check(formula, &["x2 = H10O", "next"]);
    }

    #[test]
    fn the_mark_of_a_note_is_no_part_of_its_word() {
        let mut text = words("noon");
        text.push(word("1", 20.0, 8.0, 6.0));
        check(text, &["noon 1"]);
    }

    #[test]
    fn a_large_first_letter_begins_its_first_line() {
        let mut text = words("     he tide\n     turns");
        text.push(word("T", 10.0, 27.0, 28.0));
        check(text, &["The tide", "turns"]);
    }

    #[test]
    fn lines_that_run_to_the_left_are_read_from_the_right() {
        check(words("\u{5D1}\u{5D1} 2 1 \u{5D0}\u{5D0}"), &["\u{5D0}\u{5D0} 2 1 \u{5D1}\u{5D1}"]);
        check(
            words("see \u{5D1}\u{5D1} \u{5D0}\u{5D0} there too"),
            &["see \u{5D0}\u{5D0} \u{5D1}\u{5D1} there too"],
        );
    }

    #[test]
    fn ideographs_need_no_spaces() {
        let mut text = vec![word("\u{6F6E}\u{6C50}", 0.0, 10.0, 10.0)];
        text.push(word("\u{8868}", 12.0, 10.0, 10.0));
        check(text, &["\u{6F6E}\u{6C50}\u{8868}"]);
    }
}
