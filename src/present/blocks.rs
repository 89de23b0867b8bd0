//! The text of a passage in, its blocks out: paragraphs, headings, items, lines of code. Pure.

use crate::present::clean::clean;
use crate::present::matches::Match;
use crate::store::grams;

/// Spaces that a tab becomes.
const TAB: &str = "    ";

/// A piece of the passage that begins a line of its own.
pub(super) struct Block {
    pub(super) text: String,
    /// Lines are kept, not filled.
    pub(super) is_verbatim: bool,
    pub(super) matches: Vec<Match>,
    /// Where lines of the passage begin in `text`, and their numbers from 0.
    pub(super) sources: Vec<(usize, usize)>,
}

/// Cuts a text into blocks.
pub(super) fn blocks(text: &str, is_code: bool) -> Vec<Block> {
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
            let block = found.last_mut().expect("an open block is there");
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
    if is_code {
        dedent(&mut found);
    }
    found
}

fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    text.len() < line.len() && (text.is_empty() || text.starts_with(' '))
}

/// Whether a line begins an item of a list or a quotation.
fn is_item(line: &str) -> bool {
    let number = line.trim_start_matches(|it: char| it.is_ascii_digit());
    let is_numbered =
        number.len() < line.len() && (number.starts_with(". ") || number.starts_with(") "));
    is_numbered || ["- ", "* ", "+ ", "> ", "• "].iter().any(|it| line.starts_with(it))
}

/// Takes away the indentation that all lines have.
fn dedent(blocks: &mut [Block]) {
    let indent = |it: &Block| it.text.len() - it.text.trim_start_matches(' ').len();
    let common = blocks.iter().map(indent).min().unwrap_or(0);
    for block in blocks {
        block.text.drain(..common);
    }
}

/// Whether no space belongs where a line ends between two such letters. Korean has spaces.
fn joins(c: char) -> bool {
    grams::is_unspaced(c) && !matches!(c, '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7af}')
}

/// Returns where sentences begin, the first one aside.
pub(super) fn sentences(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((_, c)) = chars.next() {
        let needs_space = match c {
            '.' | '!' | '?' | '؟' | '।' => true,
            '。' | '！' | '？' => false,
            _ => continue,
        };
        let mut has_space = false;
        while chars.next_if(|it| it.1 == ' ').is_some() {
            has_space = true;
        }
        if let Some((at, next)) = chars.peek()
            && (has_space || !needs_space)
            && !next.is_lowercase()
        {
            found.push(*at);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, is_code: bool, expected: &[&str]) {
        let found = blocks(text, is_code);
        let texts: Vec<&str> = found.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, expected);
    }

    #[test]
    fn paragraphs_are_filled_and_all_else_keeps_its_lines() {
        check(
            "# Head\nOne\ntwo.\n\nThree\n- four\n  five\n2. six\n| a | b |\n```sh\nls  -l\n\n  cd\n```\nend",
            false,
            &[
                "# Head",
                "One two.",
                "Three",
                "- four five",
                "2. six",
                "| a | b |",
                "ls  -l",
                "  cd",
                "end",
            ],
        );
    }

    #[test]
    fn code_keeps_its_lines_less_the_indentation_they_share() {
        check(
            "    def f():\n\treturn 1\n\n        # x\n",
            true,
            &["def f():", "return 1", "    # x"],
        );
    }

    #[test]
    fn scripts_without_spaces_get_none() {
        check("東京\n都は\nabc\n한국\n어", false, &["東京都は abc 한국 어"]);
    }

    #[test]
    fn a_block_knows_its_lines() {
        let found = blocks("a\n\nb\nc", false);
        assert_eq!(found[1].sources, [(0, 2), (2, 3)]);
    }

    #[test]
    fn sentences_begin_after_a_stop() {
        let text = "One. Two 3.5 etc. and so on! Drei? 四。五";
        let found: Vec<&str> = sentences(text).into_iter().map(|it| &text[it..]).collect();
        assert_eq!(found, ["Two 3.5 etc. and so on! Drei? 四。五", "Drei? 四。五", "四。五", "五"]);
    }
}
