//! Splits the text of a passage into blocks: paragraphs, headings, items, lines of code. A pure function.

use std::ops::Range;

use crate::search::matches::Match;
use crate::text::printable::clean;
use crate::text::scripts;

const TAB: &str = "    ";

/// A piece of the passage that begins on a new line.
pub(in crate::present) struct Block {
    pub(in crate::present) text: String,
    /// Whether lines are kept rather than filled.
    pub(in crate::present) is_verbatim: bool,
    pub(in crate::present) matches: Vec<Match>,
    /// Where lines of the passage begin in `text`, with their numbers from 0.
    pub(in crate::present) sources: Vec<(usize, usize)>,
}

/// Splits a text into blocks.
pub(in crate::present) fn blocks(text: &str, is_code: bool) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut is_open = false;
    let mut is_fenced = false;
    for (number, line) in text.split('\n').enumerate() {
        let line = line.replace('\t', TAB);
        let line = line.trim_end();
        let is_fence = !is_code && line.trim_start().starts_with("```");
        if is_fence || line.is_empty() {
            is_fenced ^= is_fence;
            is_open = false;
            continue;
        }
        let is_verbatim = is_code || is_fenced || line.trim_start().starts_with('|');
        let text = if is_verbatim { line.to_owned() } else { clean(line) };
        let heading = !is_verbatim && is_heading(&text);
        if is_open && !is_verbatim && !heading && !is_item(&text) {
            let block = found.last_mut().expect("a block is open");
            if !(block.text.ends_with(joins) && text.starts_with(joins)) {
                block.text.push(' ');
            }
            block.sources.push((block.text.len(), number));
            block.text.push_str(&text);
        } else {
            let sources = vec![(0, number)];
            found.push(Block { text, is_verbatim, matches: Vec::new(), sources });
        }
        is_open = !is_verbatim && !heading;
    }
    found.iter_mut().filter(|block| !block.is_verbatim).for_each(Block::simplify);
    found
}

fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    text.len() < line.len() && (text.is_empty() || text.starts_with(' '))
}

/// Whether a line begins an item of a list or a quotation.
fn is_item(line: &str) -> bool {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered =
        number.len() < line.len() && (number.starts_with(". ") || number.starts_with(") "));
    is_numbered || ["- ", "* ", "+ ", "> ", "• "].iter().any(|mark| line.starts_with(mark))
}

impl Block {
    /// Removes Markdown markup around words: targets of links, `**`.
    fn simplify(&mut self) {
        self.cut(&links(&self.text));
        let stars: Vec<Range<usize>> =
            self.text.match_indices("**").map(|found| found.0..found.0 + found.1.len()).collect();
        if stars.len().is_multiple_of(2) {
            self.cut(&stars);
        }
    }

    /// Removes ranges, which are in order and disjoint.
    fn cut(&mut self, places: &[Range<usize>]) {
        for place in places.iter().rev() {
            self.text.replace_range(place.clone(), "");
            for (at, _) in self.sources.iter_mut().filter(|source| source.0 > place.start) {
                *at = place.start.max(at.saturating_sub(place.len()));
            }
        }
    }
}

/// Returns the ranges of `[`, `![` and `](target)` of links and pictures, in order.
pub(super) fn links(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut brackets = Vec::new();
    let bytes = text.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'[' => brackets.push(at),
            b']' => {
                let Some(open) = brackets.pop() else { continue };
                let target =
                    text[at + 1..].strip_prefix('(').and_then(|target| target.split_once(')'));
                if let Some((target, _)) = target {
                    let is_picture = open > 0 && bytes[open - 1] == b'!';
                    found.push(open - usize::from(is_picture)..open + 1);
                    found.push(at..at + target.len() + 3);
                }
            }
            _ => {}
        }
    }
    found.sort_by_key(|range| range.start);
    // A target may contain text that looks like a link.
    let mut end = 0;
    found.retain(|range| {
        let is_apart = range.start >= end;
        end = end.max(range.end);
        is_apart
    });
    found
}

/// Whether lines are joined without a space after such a letter. Korean uses spaces.
fn joins(c: char) -> bool {
    scripts::is_unspaced(c) && !matches!(c, '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7af}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, is_code: bool, expected: &[&str]) {
        let found = blocks(text, is_code);
        let texts: Vec<&str> = found.iter().map(|block| block.text.as_str()).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn paragraphs_are_filled_and_all_else_keeps_its_lines() {
        check(
            "# Head\nOne\ntwo.\n\nThree\n- four\n  five\n2. six\n| a | b |\n```sh\nls  -l\n\n  cd\n```\nend",
            false,
            &[
                "# Head", "One two.", "Three", "- four five", "2. six", "| a | b |", "ls  -l",
                "  cd", "end",
            ],
        );
    }

    #[test]
    fn code_keeps_its_lines() {
        check(
            "    def f():\n\treturn 1\n\n        # **x**\n",
            true,
            &["    def f():", "    return 1", "        # **x**"],
        );
    }

    #[test]
    fn scripts_without_spaces_get_none() {
        check("東京\n都は\nabc\n한국\n어", false, &["東京都は abc 한국 어"]);
    }

    #[test]
    fn links_are_their_words() {
        check("a [b\nc](http://x_y**z) **d**!", false, &["a b c d!"]);
        check("![logo](x.png)[y] a[1] (b) **", false, &["logo[y] a[1] (b) **"]);
        check("[[a](b)](c [d](e", false, &["[a](c [d](e"]);
        check("[a](b[c](d) e", false, &["a e"]);
    }

    #[test]
    fn a_block_knows_its_lines() {
        let found = blocks("a\n\nb\nc", false);
        assert_eq!(found[1].sources, [(0, 2), (2, 3)]);
        let found = blocks("[a](http://b)\nc", false);
        assert_eq!(found[0].sources, [(0, 0), (2, 1)]);
    }
}
