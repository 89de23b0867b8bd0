//! Chooses the line of a hit that is cited, and says where that line is. Pure.
//!
//! The choice depends on the query and the text alone, so that every form of an answer cites the same place, however wide or
//! long it is.

use std::collections::{BTreeMap, BTreeSet};

use crate::StoredHit;
use crate::document::{Chunk, DocType};
use crate::search::matches::{Match, QueryTerms, RARE};

/// The place of the line of a hit that best answers the query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CitedPlace {
    /// The line of the chunk's text, from 0.
    pub in_text: usize,
    /// The line in the file, from 1; the first one of the chunk if lines of the text are not known in the file, `None` if the
    /// document has no lines.
    pub line: Option<u32>,
    /// The page of the line, from 1; the first one of the chunk if `is_exact` is not set.
    pub page: Option<u32>,
    /// The same page, or the last one of the chunk.
    pub last_page: Option<u32>,
    /// Headings above the line, joined by ` > `.
    pub section: Option<String>,
    /// Qualified name of the definition that the line is in.
    pub symbol: Option<String>,
    /// Whether the page, the section and the symbol are those of the line. An older kb stored only those with which a chunk
    /// begins.
    pub is_exact: bool,
}

impl CitedPlace {
    /// Chooses the place to cite of a chunk.
    pub(super) fn of(stored: &StoredHit, wanted: &QueryTerms) -> Self {
        let chunk = &stored.chunk.chunk;
        let found = wanted.find_in(&chunk.text, stored.natural_language);
        Self::in_chunk(chunk, best_line(&chunk.text, stored.doc_type == DocType::Code, &found))
    }

    fn in_chunk(chunk: &Chunk, in_text: usize) -> Self {
        let lines = chunk.file_lines();
        let num_lines = || chunk.text.lines().count();
        let line = lines.map(|lines| lines.line(in_text, num_lines()).unwrap_or(lines.first));
        let place = chunk.place_of_line(in_text);
        let (page, section, symbol) = match place {
            Some(place) => (place.page, &place.section, &place.symbol),
            None => (chunk.page, &chunk.section, &chunk.symbol),
        };
        let is_exact = chunk.new_places.is_some();
        Self {
            in_text,
            line,
            page,
            last_page: if is_exact { page } else { chunk.last_page },
            section: section.clone(),
            symbol: symbol.clone(),
            is_exact,
        }
    }
}

/// Returns the line of a text, from 0, that has most of the words found in it, rare ones first. The lines around it count half, and
/// so do the heading above it and the head of its table, which are no answer themselves.
fn best_line(text: &str, is_code: bool, found: &[Match]) -> usize {
    let lines = CitableLines::of(text, is_code);
    let mut terms: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); lines.starts.len()];
    for found in found {
        terms[lines.at(found.bytes.start)].insert(found.term);
    }
    let mut num_lines: BTreeMap<usize, usize> = BTreeMap::new();
    terms.iter().flatten().for_each(|term| *num_lines.entry(*term).or_default() += 1);
    let weigh = |term: &usize| RARE / num_lines[term];
    let worth = |line: &usize| {
        let own: usize = terms[*line].iter().map(weigh).sum();
        let around: BTreeSet<usize> =
            lines.around(*line).flat_map(|other| terms[other].iter().copied()).collect();
        own + around.difference(&terms[*line]).map(weigh).sum::<usize>() / 2
    };
    let answering = (0..lines.starts.len()).filter(|line| lines.kinds[*line] == LineKind::Answer);
    let rated = answering.map(|line| (worth(&line), line));
    let best = rated.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.map_or(0, |(_, line)| line)
}

/// What a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Blank,
    Heading,
    /// A row of the head of a table, or the rule below it.
    TableHead,
    Answer,
}

struct CitableLines {
    /// Where each begins.
    starts: Vec<usize>,
    kinds: Vec<LineKind>,
    /// The heading above each, and the head of its table.
    heads: Vec<[Option<usize>; 2]>,
}

impl CitableLines {
    fn of(text: &str, is_code: bool) -> Self {
        let (mut starts, mut kinds, mut heads) = (Vec::new(), Vec::new(), Vec::new());
        let (mut start, mut heading, mut table_head) = (0, None, None);
        let mut lines = text.split('\n').peekable();
        while let Some(line) = lines.next() {
            let is_rule = |line: &str| line.starts_with('|') && line.contains("---");
            let kind = match () {
                () if line.trim().is_empty() => LineKind::Blank,
                () if is_code => LineKind::Answer,
                () if line.trim_start_matches('#').starts_with(' ') && line.starts_with('#') => {
                    LineKind::Heading
                }
                () if is_rule(line) || lines.peek().is_some_and(|next| is_rule(next)) => {
                    LineKind::TableHead
                }
                () => LineKind::Answer,
            };
            match kind {
                LineKind::Heading => heading = Some(starts.len()),
                LineKind::TableHead if !is_rule(line) => table_head = Some(starts.len()),
                _ => {}
            }
            if !line.starts_with('|') {
                table_head = None;
            }
            heads.push([heading, table_head]);
            starts.push(start);
            kinds.push(kind);
            start += line.len() + 1;
        }
        Self { starts, kinds, heads }
    }

    /// Returns the line of a position.
    fn at(&self, position: usize) -> usize {
        self.starts.partition_point(|start| *start <= position).saturating_sub(1)
    }

    /// Returns the lines that count half for a line.
    fn around(&self, line: usize) -> impl Iterator<Item = usize> {
        let next_to = [line.checked_sub(1), Some(line + 1)].into_iter().flatten();
        let answers = next_to.filter(|other| self.kinds.get(*other) == Some(&LineKind::Answer));
        answers.chain(self.heads[line].into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::NewPlace;
    use crate::testing::chunk;

    #[track_caller]
    fn check(text: &str, query: &str, is_code: bool, expected: usize) {
        let found = QueryTerms::new(query).find(text);
        assert_eq!(best_line(text, is_code, &found), expected, "{query}");
    }

    #[test]
    fn the_line_with_most_of_the_rare_words_is_cited() {
        let text = "The gauge stands here.\nThe gauge freezes in frost.\nThe gauge and its tide";
        check(text, "gauge", false, 0);
        check(text, "gauge frost", false, 1);
        check(text, "tide", false, 2);
        check(text, "snow", false, 0);
        check("frost\nin the\n\nthe frost\nof the gauge", "gauge frost", false, 4);
    }

    #[test]
    fn a_heading_and_the_head_of_a_table_are_no_answer() {
        check("# Risks\n\nFloods\n\n# Costs\n\nMoney", "risks", false, 2);
        check("# Risks\n\nFloods\n\n# Costs\n\nMoney", "costs", false, 6);
        check("# only", "only", false, 0);
        check(
            "| name | phone |\n| --- | --- |\n| Ana | 1 |\n| Ben | 2 |",
            "phone of Ben",
            false,
            3,
        );
        check("a = 1\n# the gauge\nb = 2", "gauge", true, 1);
        // The head of a table says nothing of prose below the table, and the heading above both goes on.
        let text = "# Brest\n\nA quay\n\n| name | phone |\n| --- | --- |\n| Ana | 1 |\n\nA quay with lamps\n\n\
                    # Emden\n\nA quay, too";
        check(text, "phone quay lamps", false, 8);
        check(text, "brest ana quay", false, 6);
        check(text, "emden quay", false, 12);
    }

    #[test]
    fn the_place_is_that_of_the_line() {
        let places =
            vec![NewPlace { line: 2, page: Some(6), section: Some("Risks".into()), symbol: None }];
        let mut deck = Chunk {
            page: Some(4),
            last_page: Some(6),
            section: Some("Plan".into()),
            new_places: Some(places),
            ..chunk("When we build\n\n# Risks\n\nFloods of the burn")
        };
        let at = |chunk: &Chunk, query: &str| {
            let found = QueryTerms::new(query).find(&chunk.text);
            let at = CitedPlace::in_chunk(chunk, best_line(&chunk.text, false, &found));
            (at.page, at.last_page, at.section)
        };
        assert_eq!(at(&deck, "floods"), (Some(6), Some(6), Some("Risks".into())));
        assert_eq!(at(&deck, "build"), (Some(4), Some(4), Some("Plan".into())));
        deck.new_places = None;
        assert_eq!(at(&deck, "floods"), (Some(4), Some(6), Some("Plan".into())));
    }
}
