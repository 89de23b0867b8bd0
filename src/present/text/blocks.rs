//! Splits the text of a passage into blocks: paragraphs, headings, items, lines of code. A pure function.

use std::ops::Range;

use crate::search::matches::Match;
use crate::text::line_kinds::{LineKind, line_kinds};
use crate::text::printable::clean;
use crate::text::scripts;

const TAB: &str = "    ";

/// A piece of the passage that begins on a new line.
pub(crate) struct PassageBlock {
    pub(crate) text: String,
    /// The kind of its first line.
    pub(crate) kind: LineKind,
    pub(crate) matches: Vec<Match>,
    /// Its lines in the passage, from 0.
    pub(crate) lines: Range<usize>,
    /// Bytes of `text` and of the passage that are the same place, in order: where lines begin, and after each cut.
    sources: Vec<[usize; 2]>,
    /// Where it ends in the passage.
    end: usize,
}

/// Splits a text into blocks.
pub(crate) fn blocks(text: &str, is_code: bool) -> Vec<PassageBlock> {
    let mut found: Vec<PassageBlock> = Vec::new();
    let mut start = 0;
    let lines = text.split('\n').zip(line_kinds(text, is_code)).enumerate();
    for (number, (line, kind)) in lines {
        let begin = start + line.len() - line.trim_start().len();
        start += line.len() + 1;
        if matches!(kind, LineKind::Blank | LineKind::Fence) {
            continue;
        }
        let is_kept = kind.is_verbatim() || kind == LineKind::Record;
        let text =
            if is_kept { line.replace('\t', TAB).trim_end().to_owned() } else { clean(line) };
        let end = start - 1;
        let indent = text.len() - text.trim_start().len();
        let open = found.last_mut().filter(|open| {
            kind == LineKind::Prose
                && open.lines.end == number
                && matches!(open.kind, LineKind::Prose | LineKind::Item)
        });
        if let Some(block) = open {
            if !(block.text.ends_with(joins) && text.starts_with(joins)) {
                block.text.push(' ');
            }
            block.sources.push([block.text.len(), begin]);
            block.text.push_str(&text);
            (block.lines.end, block.end) = (number + 1, end);
        } else {
            let (lines, sources) = (number..number + 1, vec![[indent, begin]]);
            found.push(PassageBlock { text, kind, matches: Vec::new(), lines, sources, end });
        }
    }
    let prose =
        found.iter_mut().filter(|block| !block.is_verbatim() && block.kind != LineKind::Record);
    prose.for_each(PassageBlock::simplify);
    found
}

impl PassageBlock {
    /// Whether its text is kept unchanged, and cut rather than wrapped.
    pub(crate) fn is_verbatim(&self) -> bool {
        self.kind.is_verbatim()
    }

    /// Returns the byte of the passage that a byte of the text is.
    pub(crate) fn in_passage(&self, at: usize) -> usize {
        let after = self.sources.partition_point(|source| source[0] <= at);
        let [from, to] = self.sources[after.saturating_sub(1)];
        let most = self.sources.get(after).map_or(self.end, |next| next[1]);
        (to + at.saturating_sub(from)).min(most)
    }

    /// Returns the byte of the text that a byte of the passage is, if that is in the block.
    pub(crate) fn in_text(&self, at: usize) -> Option<usize> {
        if at >= self.end {
            return None;
        }
        let after = self.sources.partition_point(|source| source[1] <= at);
        let [to, from] = self.sources[after.checked_sub(1)?];
        let most = self.sources.get(after).map_or(self.text.len(), |next| next[0]);
        Some((to + at - from).min(most))
    }

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
            let after = self.in_passage(place.end);
            self.text.replace_range(place.clone(), "");
            for source in self.sources.iter_mut().filter(|source| source[0] > place.start) {
                source[0] = place.start.max(source[0].saturating_sub(place.len()));
            }
            let at = self.sources.partition_point(|source| source[0] <= place.start);
            self.sources.insert(at, [place.start, after]);
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
    fn yaml_and_logs_keep_their_lines() {
        check("a:\n  b: 1\n  - c\n\nx: 1\ny: 2", false, &["a:", "  b: 1", "  - c", "x: 1", "y: 2"]);
        check(
            "12:00:01 INFO up\n12:00:02 WARN **  down",
            false,
            &["12:00:01 INFO up", "12:00:02 WARN **  down"],
        );
    }

    #[test]
    fn a_block_knows_its_place_in_the_passage() {
        let text = "a\n\nb [cd](ef)  g\n  h **i** j";
        let found = blocks(text, false);
        assert_eq!((found[1].text.as_str(), found[1].lines.clone()), ("b cd g h i j", 2..4));
        for c in "bcghij".chars() {
            let [short, long] = [&found[1].text, text].map(|text| text.find(c).unwrap());
            // The second of two spaces is not in the block.
            let long = if c == 'g' { long - 1 } else { long };
            assert_eq!(
                (found[1].in_passage(short), found[1].in_text(long)),
                (long, Some(short)),
                "{c}"
            );
        }
        assert_eq!(
            (found[0].in_text(0), found[0].in_text(3), found[1].in_text(1)),
            (Some(0), None, None)
        );
    }
}
