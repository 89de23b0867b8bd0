//! Rates the lines and sentences of a text by how well they answer a query. Pure.
//!
//! This is the only rating of lines: the cited place, the lines that people see, and the part of a passage that fits into a
//! budget are chosen by it. It depends on the query and the text alone, and on the other hits if they are given.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::search::matches::{Match, QueryTerms};
use crate::search::statements::{Statement, statements};
use crate::text::line_kinds::{LineKind, line_kinds};

/// The factor for the weight of a word among the hits if one sentence has the word; if two sentences have it, the factor is
/// half of this. Large enough for whole numbers.
const RARE: usize = 1 << 20;

/// Shares of the weight of a word that is not in the sentence itself, of [`ALL`].
const ALL: usize = 4;
const HALF: usize = 2;
const QUARTER: usize = 1;

/// The sentences of a text, and the lines of its code, tables and records, with their ratings for a query.
#[derive(Debug, Clone, Default)]
pub struct RatedLines {
    statements: Vec<Statement>,
    /// Where each line begins.
    starts: Vec<usize>,
    /// The weight of each term.
    weights: BTreeMap<usize, usize>,
    matches: Vec<Match>,
}

impl RatedLines {
    /// Rates the lines of a text in which `found` are the words of a query. `wanted` says what each counts among the hits
    /// ([`QueryTerms::by_rarity`]).
    pub fn new(text: &str, is_code: bool, found: &[Match], wanted: &QueryTerms) -> Self {
        let targets = link_targets(text);
        let shown = found.iter().filter(|found| {
            let Range { start, end } = found.bytes;
            !targets.iter().any(|target| target.start <= start && end <= target.end)
        });
        let matches: Vec<Match> = shown.cloned().collect();
        let starts: Vec<usize> =
            [0].into_iter().chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let kinds = line_kinds(text, is_code);
        let mut rated = Self {
            statements: statements(text, &kinds, &starts),
            starts,
            weights: BTreeMap::new(),
            matches,
        };
        for found in &rated.matches {
            let at =
                rated.statements.partition_point(|known| known.bytes.start <= found.bytes.start);
            if let Some(statement) = at.checked_sub(1).map(|at| &mut rated.statements[at]) {
                statement.terms.insert(found.term);
            }
        }
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        let terms = rated.statements.iter().flat_map(|statement| &statement.terms);
        terms.for_each(|term| *counts.entry(*term).or_default() += 1);
        rated.weights = counts
            .into_iter()
            .map(|(term, count)| (term, RARE * wanted.weight(term) / count))
            .collect();
        rated.rate();
        rated
    }

    /// Returns the byte range of the sentence or line that answers best: the first of equal ones, and empty if there is none.
    pub fn best(&self) -> Range<usize> {
        self.best_statement().map_or(0..0, |statement| statement.bytes.clone())
    }

    /// Returns the line, from 0, that answers best: of the best sentence the one with most of its words.
    pub fn best_line(&self) -> usize {
        let Some(best) = self.best_statement() else { return 0 };
        let first = self.line_at(best.bytes.start);
        let lines = first..=self.line_at(best.bytes.end.saturating_sub(1).max(best.bytes.start));
        let rated = lines.map(|line| (self.own(&self.bytes_of(line, &best.bytes)), line));
        rated
            .reduce(|best, next| if next.0 > best.0 { next } else { best })
            .map_or(first, |found| found.1)
    }

    /// Returns the byte range of the best sentence of a line, from 0.
    pub fn best_at(&self, line: usize) -> Range<usize> {
        let best = self
            .on_line(line)
            .reduce(|best, next| if next.rating > best.rating { next } else { best });
        best.map_or_else(|| self.best(), |known| known.bytes.clone())
    }

    /// Returns the rating of a line, from 0: that of the best sentence in it; 0 for a heading and the head of a table.
    pub fn rating(&self, line: usize) -> usize {
        self.on_line(line).map(|known| known.rating).max().unwrap_or(0)
    }

    /// Returns the sentences that a line has something of.
    fn on_line(&self, line: usize) -> impl Iterator<Item = &Statement> {
        let start = self.starts.get(line).copied().unwrap_or(usize::MAX);
        let end = self.starts.get(line + 1).copied().unwrap_or(usize::MAX);
        let statements = self.statements.iter();
        statements.filter(move |known| known.bytes.start < end && known.bytes.end > start)
    }

    /// Returns what a part of the text counts: each word in it once, and half if it is only in headings and heads of tables.
    pub fn within(&self, bytes: &Range<usize>) -> usize {
        let mut shares: BTreeMap<usize, usize> = BTreeMap::new();
        for found in self.matches_in(bytes) {
            let is_head = self.statement_at(found.bytes.start).is_some_and(Statement::is_head);
            let share = shares.entry(found.term).or_default();
            *share = (*share).max(if is_head { HALF } else { ALL });
        }
        self.sum(&shares)
    }

    /// Returns the byte range of the head of the table that a position is in, without the rule below it.
    pub fn table_head(&self, position: usize) -> Option<Range<usize>> {
        let at = self.statements.partition_point(|known| known.bytes.start <= position);
        let mut above = self.statements[..at].iter().rev();
        let head = above.find(|known| known.kind != LineKind::TableRow)?;
        (head.kind == LineKind::TableHead).then(|| head.bytes.clone())
    }

    /// Returns the byte range of the sentence at a position if it announces the text after it.
    pub fn announcing(&self, position: usize) -> Option<Range<usize>> {
        let known = self.statement_at(position).filter(|known| known.is_announcing)?;
        Some(known.bytes.clone())
    }

    /// Returns the byte range of what announces the sentence or line at a position, right above it.
    pub fn announced_by(&self, position: usize) -> Option<Range<usize>> {
        let at = self.statements.partition_point(|known| known.bytes.start <= position);
        let above = self.statements.get(at.checked_sub(2)?).filter(|above| above.is_announcing)?;
        Some(above.bytes.clone())
    }

    fn best_statement(&self) -> Option<&Statement> {
        let answers = self.statements.iter().filter(|known| known.is_answer());
        let best = answers.reduce(|best, next| if next.rating > best.rating { next } else { best });
        best.or(self.statements.first())
    }

    /// Rates the statements by their own words and those around them.
    fn rate(&mut self) {
        let (mut heading, mut head) = (None, None);
        // `announcing` has the statements that announce the next ones, the outermost first.
        let mut announcing: Vec<usize> = Vec::new();
        for idx in 0..self.statements.len() {
            let known = &self.statements[idx];
            match known.kind {
                LineKind::Heading => (heading, head) = (Some(idx), None),
                LineKind::TableHead => head = Some(idx),
                LineKind::TableRow => {}
                _ => head = None,
            }
            if known.kind == LineKind::Heading {
                announcing.clear();
            }
            announcing.retain(|above| known.is_below(&self.statements[*above]));
            let mut shares: BTreeMap<usize, usize> = BTreeMap::new();
            self.lend(idx, ALL, &mut shares);
            heading.into_iter().for_each(|from| self.lend(from, HALF, &mut shares));
            // For a row or an item that the query names, the text above all of them counts in full.
            let is_named = !known.terms.is_empty();
            for from in head.into_iter().chain(announcing.iter().copied()) {
                let is_announced = from + 1 == idx && self.statements[from].is_announcing;
                self.lend(from, if is_named || is_announced { ALL } else { HALF }, &mut shares);
            }
            for other in [idx.checked_sub(1), Some(idx + 1)].into_iter().flatten() {
                if self.statements.get(other).is_some_and(Statement::is_answer) {
                    self.lend(other, self.nearness(idx.min(other)), &mut shares);
                }
            }
            // A paragraph ends what a colon announced, a list or code does not.
            if known.kind == LineKind::Prose {
                announcing.clear();
            }
            if known.is_announcing {
                announcing.push(idx);
            }
            let sum = self.sum(&shares);
            let is_answer = known.is_answer();
            let is_referring = known.is_referring;
            self.statements[idx].rating = match () {
                () if !is_answer => 0,
                () if is_referring => sum / 2,
                () => sum,
            };
        }
    }

    /// Lets the terms of a statement count with a share for another one, for which they may already count with others.
    fn lend(&self, from: usize, share: usize, shares: &mut BTreeMap<usize, usize>) {
        for term in &self.statements[from].terms {
            let known = shares.entry(*term).or_default();
            *known = (*known).max(share);
        }
    }

    /// Returns the share with which a word of a statement counts in the next one.
    fn nearness(&self, idx: usize) -> usize {
        let [above, below] = [&self.statements[idx], &self.statements[idx + 1]];
        let is_next = self.line_at(below.bytes.start) <= self.line_at(above.bytes.end - 1) + 1;
        if is_next { HALF } else { QUARTER }
    }

    /// Returns what terms count of which these shares count.
    fn sum(&self, shares: &BTreeMap<usize, usize>) -> usize {
        shares.iter().map(|(term, share)| self.weights[term] * share / ALL).sum()
    }

    /// Returns what the words in a part of the text count.
    fn own(&self, bytes: &Range<usize>) -> usize {
        let terms: BTreeSet<usize> = self.matches_in(bytes).map(|found| found.term).collect();
        terms.iter().map(|term| self.weights[term]).sum()
    }

    fn matches_in(&self, bytes: &Range<usize>) -> impl Iterator<Item = &Match> {
        let bytes = bytes.clone();
        self.matches
            .iter()
            .filter(move |found| bytes.start <= found.bytes.start && found.bytes.end <= bytes.end)
    }

    fn statement_at(&self, position: usize) -> Option<&Statement> {
        let at = self.statements.partition_point(|known| known.bytes.start <= position);
        self.statements.get(at.checked_sub(1)?)
    }

    /// Returns the line of a position.
    fn line_at(&self, position: usize) -> usize {
        self.starts.partition_point(|start| *start <= position).saturating_sub(1)
    }

    /// Returns the part of a line that is within a range.
    fn bytes_of(&self, line: usize, within: &Range<usize>) -> Range<usize> {
        let end = self.starts.get(line + 1).map_or(within.end, |next| *next);
        self.starts[line].max(within.start)..end.min(within.end)
    }
}

/// Returns the ranges of the targets of links in Markdown, which people do not read.
fn link_targets(text: &str) -> Vec<Range<usize>> {
    let opened = text.match_indices("](").map(|(at, _)| at);
    opened.filter_map(|at| Some(at..at + text[at..].find([')', '\n'])?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rated(text: &str, query: &str) -> RatedLines {
        let wanted = QueryTerms::new(query);
        RatedLines::new(text, false, &wanted.find(text), &wanted)
    }

    /// Checks which sentence or line is the best one.
    #[track_caller]
    fn check(text: &str, query: &str, expected: &str) {
        let best = rated(text, query).best();
        assert_eq!(text[best].trim(), expected, "{query}");
    }

    #[test]
    fn the_sentence_with_the_rare_words_near_each_other_is_the_best() {
        let text = "The gauge is in the well, and the gauge has a float. The well is deep. The float of the\n\
                    gauge freezes in frost. The well is old.";
        check(text, "gauge well frost", "The float of the\ngauge freezes in frost.");
        check(text, "float", "The gauge is in the well, and the gauge has a float.");
        check(text, "snow", "The gauge is in the well, and the gauge has a float.");
    }

    #[test]
    fn what_follows_a_heading_or_a_colon_is_better_than_they_are() {
        let text = "# Clear the cache\n\nThere are two ways to clear the cache:\n\n- `prune` keeps some\n- `clean`\n\nIt is large.";
        check(text, "clear cache", "- `prune` keeps some");
        check(text, "clear cache clean", "- `clean`");
        check("# Risks\n\nFloods.\n\n# Costs\n\nMoney. Time.", "costs", "Money.");
        check("It ends with a cache:", "cache", "It ends with a cache:");
    }

    #[test]
    fn a_row_has_the_words_of_the_head_of_its_table() {
        let text = "Each phone in a room is grey.\n\n| name | phone | room |\n| --- | --- | --- |\n| Ana | 1 | 2 |\n| Ben | 3 | 4 |";
        check(text, "phone room Ben", "| Ben | 3 | 4 |");
        check("name | phone\n--- | ---\nAna | 1\nBen | 2", "phone of Ben", "Ben | 2");
    }

    #[test]
    fn a_sentence_that_ends_a_section_and_refers_to_another_place_is_not_the_best() {
        let text = "The gauge freezes in frost. Heat it. For more about the gauge in frost, see the [manual](gauge.md).";
        check(text, "gauge frost", "The gauge freezes in frost.");
        check("Read [this](gauge.md) first. The gauge is cold.", "gauge", "The gauge is cold.");
    }

    #[test]
    fn lines_of_records_are_rated_one_by_one() {
        let text = "gauge:\n  port: 80\npump:\n  port: 90\n  limit: 7";
        check(text, "pump port", "port: 90");
        assert_eq!(rated(text, "limit").best_line(), 4);
    }

    #[test]
    fn a_word_counts_by_how_many_sentences_and_hits_have_it() {
        let text = "One gauge.\nTwo floats.";
        let wanted = QueryTerms::new("gauge float");
        let best = |wanted: &QueryTerms| {
            RatedLines::new(text, true, &wanted.find(text), wanted).best_line()
        };
        assert_eq!(best(&wanted), 0);
        let found = ["gauge", text].map(|passage| wanted.find(passage));
        assert_eq!(best(&wanted.by_rarity(&found)), 1);
        let rated = rated("A gauge. A gauge.\n\n# Floats\n\nend", "gauge float");
        assert!(rated.rating(0) > 0 && rated.rating(2) == 0 && rated.rating(9) == 0);
        assert_eq!(rated.within(&(0..9)) * 2, rated.within(&(0..40)) * 2 - rated.weights[&1]);
    }

    /// Checks which line is the best one.
    #[track_caller]
    fn check_line(text: &str, query: &str, is_code: bool, expected: usize) {
        let wanted = QueryTerms::new(query);
        let rated = RatedLines::new(text, is_code, &wanted.find(text), &wanted);
        assert_eq!(rated.best_line(), expected, "{query}");
    }

    #[test]
    fn the_line_with_most_of_the_rare_words_is_the_best() {
        let text = "The gauge stands here.\nThe gauge freezes in frost.\nThe gauge and its tide";
        check_line(text, "gauge", false, 0);
        check_line(text, "gauge frost", false, 1);
        check_line(text, "tide", false, 2);
        check_line(text, "snow", false, 0);
        check_line("frost\nin the\n\nthe frost\nof the gauge", "gauge frost", false, 4);
    }

    #[test]
    fn a_heading_and_the_head_of_a_table_are_no_answer() {
        check_line("# Risks\n\nFloods\n\n# Costs\n\nMoney", "risks", false, 2);
        check_line("# Risks\n\nFloods\n\n# Costs\n\nMoney", "costs", false, 6);
        check_line("# only", "only", false, 0);
        check_line(
            "| name | phone |\n| --- | --- |\n| Ana | 1 |\n| Ben | 2 |",
            "phone of Ben",
            false,
            3,
        );
        check_line("a = 1\n# the gauge\nb = 2", "gauge", true, 1);
        // The head of a table says nothing of prose below the table, and the heading above both goes on.
        let text = "# Brest\n\nA quay\n\n| name | phone |\n| --- | --- |\n| Ana | 1 |\n\nA quay with lamps\n\n\
                    # Emden\n\nA quay, too";
        check_line(text, "phone quay lamps", false, 8);
        check_line(text, "brest ana quay", false, 6);
        check_line(text, "emden quay", false, 12);
    }

    proptest::proptest! {
        #[test]
        fn the_best_sentence_is_on_the_best_line(text in "(\\PC|[.:|#\n -]){0,80}", query in "\\PC{0,8}", is_code: bool) {
            let wanted = QueryTerms::new(&query);
            let rated = RatedLines::new(&text, is_code, &wanted.find(&text), &wanted);
            let best = rated.best();
            proptest::prop_assert!(text.get(best.clone()).is_some());
            proptest::prop_assert!(rated.line_at(best.start) <= rated.best_line());
            proptest::prop_assert!(rated.best_line() <= text.matches('\n').count());
        }
    }
}
