//! Groups the words of a column into lines, top to bottom.

use super::script;
use super::sheet::PageArea;
use super::words::Word;

/// A line of text.
#[derive(Debug, Clone)]
pub(super) struct TextLine {
    /// In reading order.
    pub(super) words: Vec<Word>,
    pub(super) area: PageArea,
    /// Base line of most of its words.
    pub(super) base: f64,
    /// Font height of most of its words.
    pub(super) size: f64,
    pub(super) ink: f64,
    pub(super) is_bold: bool,
    /// Whether most of its letters are monospaced.
    pub(super) is_mono: bool,
    pub(super) tagged_level: u8,
    pub(super) is_rtl: bool,
    /// Width of its characters as a fraction of the size, if all are equal.
    pub(super) pitch: Option<f64>,
    /// Whether its letters would have different widths in a proportional font.
    pub(super) shows_fixed_pitch: bool,
}

/// Largest distance of a word from the base line of its line, as a fraction of the size. Lines are farther apart, and
/// raised or lowered words, which are smaller, are added by their overlap.
const MAX_DRIFT: f64 = 0.35;

/// Smallest overlap of a raised or lowered word with its line, as a fraction of its height.
const MIN_OVERLAP: f64 = 0.5;

/// Size below which a word of a line is raised or lowered, as a fraction of the size of the line.
const RAISED: f64 = 0.8;

/// Gap below which two words touch, and below which two ideographs belong to one word.
const TOUCHING: f64 = 0.12;
const TOUCHING_IDEOGRAPHS: f64 = 0.9;

/// How far the widths of words may differ in a line of a monospaced font, as a fraction of the size: as far as those
/// of glyphs within a word.
const SAME_PITCH: f64 = 0.02;

/// Fewest letters before a raised number that is a note reference rather than an exponent: units and variables have
/// up to three, as in `cm2`.
const WORD_BEFORE_REFERENCE: usize = 4;

/// Groups words into lines, top to bottom.
pub(super) fn gather(words: Vec<Word>) -> Vec<TextLine> {
    let mut lines: Vec<TextLine> = group(words).into_iter().filter_map(finish).collect();
    lines.sort_by(|a, b| a.base.total_cmp(&b.base));
    lines
}

/// Groups the words of the usual size by line, adds those of other sizes that belong to them, and groups the rest in
/// the same way: a small table among larger text has its own raised notes.
fn group(words: Vec<Word>) -> Vec<Vec<Word>> {
    let median = median_size(&words);
    let (mut main, rest): (Vec<Word>, Vec<Word>) =
        words.into_iter().partition(|word| (RAISED * median..=1.6 * median).contains(&word.size));
    if main.is_empty() {
        return rest.into_iter().map(|word| vec![word]).collect();
    }
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
    let rest = add_odd_sizes(&mut lines, rest);
    lines.extend(group(rest));
    lines
}

/// Adds words that are smaller or larger than most to the lines next to them (exponents, note
/// references, initials), and returns the others.
fn add_odd_sizes(lines: &mut [Vec<Word>], mut words: Vec<Word>) -> Vec<Word> {
    words.sort_by(|a, b| a.base.total_cmp(&b.base));
    let mut others = Vec::new();
    for word in words {
        let best = lines
            .iter_mut()
            .filter(|line| {
                let is_larger = word.size > 1.6 * line[0].size;
                !is_larger || starts_with_initial(line, &word)
            })
            .filter_map(|line| Some((overlap(line, &word)?, line)))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        match best {
            Some((_, line)) => line.push(word),
            None => others.push(word),
        }
    }
    others
}

/// Returns the fraction of its height that a word shares with a line next to it, if it is large.
fn overlap(line: &[Word], word: &Word) -> Option<f64> {
    let area = PageArea::around(line.iter().map(|other| other.area));
    let height = word.area.height().min(area.height());
    let share = word.area.shared_height(&area) / height;
    let gap = -word.area.shared_width(&area) / word.size.max(line[0].size);
    // At the same height but farther away, a word belongs to another column.
    (share >= MIN_OVERLAP && gap < 3.0).then_some(share)
}

/// Whether `initial` is a large first letter and `line` the first of the lines next to it.
fn starts_with_initial(line: &[Word], initial: &Word) -> bool {
    let top = line.iter().map(|word| word.area.top).fold(f64::INFINITY, f64::min);
    initial.text.chars().count() <= 2
        && (initial.area.top - top).abs() < 0.5 * line[0].size
        && line.iter().all(|word| word.area.left >= initial.area.right - 0.2 * word.size)
}

pub(super) fn median_size(words: &[Word]) -> f64 {
    let mut sizes: Vec<(f64, usize)> =
        words.iter().map(|word| (word.size, word.text.len())).collect();
    sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: usize = sizes.iter().map(|(_, len)| len).sum();
    let mut sum = 0;
    let middle = sizes.iter().find(|(_, len)| {
        sum += len;
        sum * 2 >= total
    });
    middle.map_or(0.0, |(size, _)| *size)
}

fn finish(mut words: Vec<Word>) -> Option<TextLine> {
    words.sort_by(|a, b| a.area.left.total_cmp(&b.area.left));
    let (num_rtl, num_ltr) = words.iter().fold((0, 0), |(rtl, ltr), word| {
        let is_rtl = word.text.contains(script::is_rtl);
        (
            rtl + usize::from(is_rtl),
            ltr + usize::from(!is_rtl && word.text.contains(char::is_alphabetic)),
        )
    });
    let is_rtl = num_rtl > num_ltr;
    if num_rtl > 0 {
        if is_rtl {
            script::order(&mut words, |word| word.text.contains(script::is_rtl));
        } else {
            reverse_rtl_runs(&mut words);
        }
    }
    let size = median_size(&words);
    let main = words.iter().find(|word| (word.size - size).abs() < 0.01 * size)?;
    let (base, tagged_level) = (main.base, main.tagged_level);
    let area = PageArea::around(words.iter().map(|word| word.area));
    let (mut inked, mut width, mut bold, mut mono, mut all) = (0.0, 0.0, 0, 0, 0);
    // The ink of a monospaced font cannot be compared with that of another font.
    let is_code = words.iter().all(|word| word.is_mono);
    for word in &words {
        if word.ink > 0.0 && word.is_mono == is_code {
            inked += word.ink * word.area.width();
            width += word.area.width();
        }
        bold += if word.is_bold { word.text.len() } else { 0 };
        mono += if word.is_mono { word.text.len() } else { 0 };
        all += word.text.len();
    }
    let ink = if width > 0.0 { inked / width } else { 0.0 };
    let pitch = words[0].pitch.filter(|first| {
        words.iter().all(|word| word.pitch.is_some_and(|pitch| (pitch - first).abs() < SAME_PITCH))
    });
    Some(TextLine {
        area,
        base,
        size,
        ink,
        // A line with a bold term in it is not bold.
        is_bold: bold * 10 > all * 8,
        is_mono: mono * 2 > all,
        tagged_level,
        is_rtl,
        pitch,
        shows_fixed_pitch: pitch.is_some() && words.iter().any(|word| word.shows_fixed_pitch),
        words,
    })
}

/// Reverses the runs of right-to-left words in a left-to-right line.
fn reverse_rtl_runs(words: &mut [Word]) {
    let mut start = 0;
    while start < words.len() {
        let len =
            words[start..].iter().take_while(|word| word.text.contains(script::is_rtl)).count();
        words[start..start + len].reverse();
        start += len.max(1);
    }
}

impl TextLine {
    /// Returns the text of the line in reading order.
    pub(super) fn text(&self) -> String {
        join_words(&self.words)
    }
}

/// Joins words in reading order, with a space where there is a gap.
pub(super) fn join_words(words: &[Word]) -> String {
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
    let is_reference = is_raised
        && next.text.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '*'))
        && last.text.chars().rev().take_while(|c| c.is_alphabetic()).count()
            >= WORD_BEFORE_REFERENCE;
    let are_ideographs = last.text.ends_with(script::is_ideographic)
        && next.text.starts_with(script::is_ideographic);
    let has_space = next.is_after_space && next.order == last.order + 1 && !are_ideographs;
    has_space || gap > if are_ideographs { TOUCHING_IDEOGRAPHS } else { TOUCHING } || is_reference
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pdf::layout::testing::{word, words};

    #[track_caller]
    fn check(words: Vec<Word>, expected: &[&str]) {
        let lines: Vec<String> = gather(words).iter().map(TextLine::text).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn words_on_one_base_line_form_a_line() {
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
    fn raised_words_of_a_small_table_stay_in_its_lines() {
        let mut page = words("the tide turns at noon and runs out for six hours and some minutes");
        page.push(word("Loans", 0.0, 40.0, 7.0));
        page.push(word("(b)", 18.0, 37.5, 4.6));
        page.push(word("5,357", 60.0, 40.0, 7.0));
        let text = page[..14].iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        check(page, &[&text, "Loans(b) 5,357"]);
    }

    #[test]
    fn a_note_reference_is_not_part_of_the_word() {
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
    fn right_to_left_lines_are_read_from_the_right() {
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
