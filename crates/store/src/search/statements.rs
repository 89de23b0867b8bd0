//! Splits a text into its sentences, and into lines where lines are kept. Pure.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::text::line_kinds::LineKind;
use crate::text::sentences;

/// Words of a sentence that sends the reader elsewhere, in the languages with most readers.
const REFERRING: [&str; 7] = ["see", "refer", "siehe", "voir", "véase", "consulte", "vedi"];

/// Words before these.
const POLITE: [&str; 4] = ["please", "also", "and", "or"];

/// A sentence, or a line that is kept whole.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    pub(super) bytes: Range<usize>,
    pub(super) kind: LineKind,
    /// Columns before it; `None` in a paragraph.
    pub(super) indent: Option<usize>,
    /// Whether it ends with a colon, and what it announces follows.
    pub(super) is_announcing: bool,
    /// Whether it ends its section and sends the reader elsewhere.
    pub(super) is_referring: bool,
    /// The terms in it.
    pub(super) terms: BTreeSet<usize>,
    pub(super) rating: usize,
}

impl Statement {
    pub(super) fn is_head(&self) -> bool {
        matches!(self.kind, LineKind::Heading | LineKind::TableHead)
    }

    /// Whether it is within what another one announces.
    pub(super) fn is_below(&self, above: &Self) -> bool {
        self.indent.is_none_or(|own| above.indent.is_none_or(|indent| indent < own))
    }

    /// Whether it may be an answer, rather than lead to one.
    pub(super) fn is_answer(&self) -> bool {
        !self.is_head() && !self.is_announcing
    }
}

/// Splits a text into sentences, and into lines where lines are kept.
pub(super) fn statements(text: &str, kinds: &[LineKind], starts: &[usize]) -> Vec<Statement> {
    let mut found: Vec<Statement> = Vec::new();
    let mut line = 0;
    while line < kinds.len() {
        let kind = kinds[line];
        let first = line;
        line += 1;
        if matches!(kind, LineKind::Blank | LineKind::Fence | LineKind::TableRule) {
            continue;
        }
        let is_prose = matches!(kind, LineKind::Prose | LineKind::Item);
        while is_prose && kinds.get(line) == Some(&LineKind::Prose) {
            line += 1;
        }
        let begin = text[starts[first]..].trim_start();
        let end = starts.get(line).map_or(text.len(), |next| next - 1);
        let bytes = text.len() - begin.len()..end;
        let next = (line..kinds.len()).find(|next| kinds[*next] != LineKind::Blank);
        let is_last = next.is_none_or(|next| kinds[next] == LineKind::Heading);
        let indent = (kind != LineKind::Prose).then(|| indent_at(text, starts[first]));
        let has_inner =
            next.is_some_and(|next| indent_at(text, starts[next]) > indent_at(text, starts[first]));
        let may_announce = is_prose && !is_last || kind == LineKind::Record && has_inner;
        let begins = if is_prose { sentence_begins(&text[bytes.clone()]) } else { Vec::new() };
        let begins = begins.into_iter().map(|at| bytes.start + at);
        let places: Vec<usize> =
            [bytes.start].into_iter().chain(begins).chain([bytes.end]).collect();
        for (number, place) in places.windows(2).enumerate() {
            let sentence = &text[place[0]..place[1]];
            let ends = number + 2 == places.len();
            found.push(Statement {
                bytes: place[0]..place[1],
                kind,
                indent,
                is_announcing: may_announce && ends && ends_with_colon(sentence),
                is_referring: is_prose && ends && is_last && refers(sentence),
                terms: BTreeSet::new(),
                rating: 0,
            });
        }
    }
    found
}

/// Returns the number of spaces with which the line at `start` begins.
fn indent_at(text: &str, start: usize) -> usize {
    text[start..].bytes().take_while(|byte| *byte == b' ').count()
}

/// Returns where the sentences of a paragraph begin, except the first; the number of an item is no sentence.
fn sentence_begins(paragraph: &str) -> Vec<usize> {
    let text = paragraph.trim_start_matches(|c: char| {
        c.is_ascii_digit() || c.is_whitespace() || "-*+>•.)".contains(c)
    });
    let body = paragraph.len() - text.len();
    let begins = sentences::begins(&paragraph.replace('\n', " "));
    begins.into_iter().filter(|at| *at > body).collect()
}

/// Whether a sentence ends with a colon. `AsciiDoc` continues an item with a plus sign.
fn ends_with_colon(sentence: &str) -> bool {
    sentence.trim_end_matches([' ', '\n', '+', '*', '_']).ends_with([':', '：'])
}

/// Whether a sentence sends the reader elsewhere: at the beginning of a clause ("For the limits, see …"), or for something
/// ("For the limits see …").
fn refers(sentence: &str) -> bool {
    let all = words(sentence);
    if !all.iter().any(|word| is_referring(word)) {
        return false;
    }
    let is_for = all.first().is_some_and(|word| word == "for");
    let mut clauses = sentence.split([',', ';', ':', '(']);
    is_for || clauses.any(|clause| words(clause).first().is_some_and(|word| is_referring(word)))
}

/// Returns the words of a text in small letters, without the polite ones.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).filter(|word| !POLITE.contains(&word.as_str())).collect()
}

fn is_referring(word: &str) -> bool {
    REFERRING.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_refers_if_a_clause_of_it_tells_the_reader_where_to_look() {
        for (sentence, expected) in [
            ("For the limits, see the [manual](a.md).", true),
            ("For more about\nthe limits see page 4.", true),
            ("Please also refer to the manual.", true),
            ("(Siehe auch Kapitel 3.)", true),
            ("If you see ice, call 311.", false),
            ("We refer to it as the gauge.", false),
        ] {
            assert_eq!(refers(sentence), expected, "{sentence}");
        }
    }
}
