//! Parses the table of words that Tesseract prints (TSV).
//!
//! ```text
//! level page_num block_num par_num line_num word_num left top width height conf text
//! ```

use super::ink::Frame;

/// Level of the lines of the table that are words.
const WORD: &str = "5";

/// Most words of a page; a page of a newspaper has 5,000.
const MAX_WORDS: usize = 50_000;

/// Longest word, in bytes; no script has words as long, but noise may be read as one.
const MAX_WORD_BYTES: usize = 1_000;

/// A word as Tesseract reads it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RecognizedWord {
    pub(super) text: String,
    /// Its position in pixels, close around its ink.
    pub(super) frame: Frame,
    /// How sure Tesseract is, 0 to 100.
    pub(super) confidence: f64,
    /// Number of its line: those of one line are equal.
    pub(super) line: usize,
}

/// Returns the words of the table, in Tesseract's order. Lines that are not words of a picture of
/// this size are left out.
pub(super) fn parse(table: &str, width: usize, height: usize) -> Vec<RecognizedWord> {
    let mut words: Vec<RecognizedWord> = Vec::new();
    let mut last = [""; 3];
    let mut line = 0;
    for row in table.lines() {
        let fields: Vec<&str> = row.splitn(12, '\t').collect();
        let [WORD, _, block, paragraph, number, _, left, top, wide, high, confidence, text] =
            fields[..]
        else {
            continue;
        };
        let numbers = [left, top, wide, high].map(|field| field.parse::<u32>().ok());
        let [Some(left), Some(top), Some(wide), Some(high)] =
            numbers.map(|number| number.map(|number| number as usize))
        else {
            continue;
        };
        let text = text.trim();
        let frame = Frame {
            left,
            top,
            right: left.saturating_add(wide).min(width),
            bottom: top.saturating_add(high).min(height),
        };
        let is_word = !text.is_empty() && text.len() <= MAX_WORD_BYTES;
        if !is_word || frame.width() == 0 || frame.height() == 0 {
            continue;
        }
        let place = [block, paragraph, number];
        // Tesseract restarts the numbers of lines in each paragraph, and those of paragraphs in
        // each block.
        line += usize::from(place != last);
        last = place;
        let confidence = confidence.parse::<f64>().unwrap_or(0.0).clamp(0.0, 100.0);
        words.push(RecognizedWord { text: text.to_owned(), frame, confidence, line });
        if words.len() == MAX_WORDS {
            break;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_have_positions_and_lines() {
        let table = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext\n\
            4\t1\t1\t1\t1\t0\t16\t71\t632\t24\t-1\t\n\
            5\t1\t1\t1\t1\t1\t16\t71\t44\t21\t96.64\tThe\n\
            5\t1\t1\t1\t1\t2\t69\t74\t109\t21\t31\ttide\n\
            5\t1\t1\t1\t2\t1\t16\t99\t44\t21\t0.5\t \n\
            5\t1\t1\t1\t2\t2\t69\t99\t9000\t21\t-1\tturns\n";
        let words = parse(table, 700, 500);
        let found: Vec<(&str, usize, usize, f64)> = words
            .iter()
            .map(|word| (word.text.as_str(), word.line, word.frame.right, word.confidence))
            .collect();
        assert_eq!(found, [("The", 1, 60, 96.64), ("tide", 1, 178, 31.0), ("turns", 2, 700, 0.0)]);
        assert_eq!(parse("some plain text\nof another program\n", 700, 500), []);
        assert_eq!(parse("5\t1\t1\t1\t1\t1\t900\t71\t44\t21\t96\toutside\n", 700, 500), []);
    }

    proptest! {
        #[test]
        fn no_table_is_too_odd(table in "([0-9]{1,12}\t|-|5\t|\n|[a-z.]){0,80}") {
            for word in parse(&table, 700, 500) {
                prop_assert!(word.frame.right <= 700 && word.frame.bottom <= 500);
                prop_assert!(word.confidence.is_finite());
            }
        }
    }
}
