//! Checks what all readers of markup have in common.

use proptest::prelude::*;

use super::*;
use crate::fuzzing::max_output;

/// Pieces of all markup languages.
const PIECES: &[&str] = &[
    "word ",
    "\n",
    "\n\n",
    "é",
    "  ",
    "\t",
    "* ",
    "** ",
    "- ",
    "# ",
    "= ",
    "==\n",
    "----\n",
    "|",
    "|===\n",
    "+---+\n",
    ".. note:: ",
    ".. |a| replace:: ",
    "::\n\n  ",
    "``",
    "`",
    "*",
    "_",
    "[[",
    "]]",
    "{{",
    "}}",
    "\\begin{itemize}",
    "\\item ",
    "\\end{itemize}",
    "\\section{",
    "{",
    "}",
    "$",
    "%",
    "\\",
    "\\begin{tabular}{l}",
    "\\end{tabular}",
    "&",
    "\\\\",
    ".SH ",
    ".TP\n",
    ".TS\n",
    ".nf\n",
    "\\fB",
    "\\(",
    ".Bl -tag\n",
    ".It ",
    ".Dd x\n",
    "#+BEGIN_SRC\n",
    "#+END_SRC\n",
    "00:00:01,000 --> 00:00:02,000\n",
    "<v A>",
];

proptest! {
    #[test]
    fn every_line_has_a_line_of_the_file(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60)) {
        let text = pieces.concat();
        let num_lines = text.lines().count().max(1);
        for dialect in Dialect::ALL {
            let document = extract(&text, dialect);
            prop_assert!(document.text.len() <= max_output(text.len()));
            let numbers = &document.line_numbers;
            prop_assert!(numbers.is_empty() || numbers.len() == document.text.split('\n').count());
            prop_assert!(numbers.is_sorted());
            prop_assert!(numbers.iter().all(|number| (1..=num_lines).contains(&(*number as usize))));
            let mut end = 0;
            for block in &document.blocks {
                prop_assert!(block.bytes.start >= end && !document.text[block.bytes.clone()].is_empty());
                end = block.bytes.end;
            }
        }
    }

    #[test]
    fn plain_words_stay(words in prop::collection::vec("[a-z]{2,9}", 1..40)) {
        let text = words.join(" ");
        for dialect in Dialect::ALL.into_iter().filter(|dialect| *dialect != Dialect::Subtitles) {
            prop_assert_eq!(&extract(&text, dialect).text, &text);
        }
    }
}
