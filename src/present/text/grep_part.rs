//! Cuts matching lines to a budget of tokens, and counts the ones that are left out.

use std::io;

use crate::app::query::grep::{GrepDetail, GrepDocument, GrepResults};
use crate::present::terminal::sheet::CleanWriter;
use crate::read::grep::GrepLine;
use crate::text::number::{counted, thousands};
use crate::text::tokens;

/// Some of the matching lines, or of the documents if only these were wanted, in order.
pub struct GrepPart<'a> {
    /// Everything that was found.
    pub results: &'a GrepResults,
    /// The documents of this part, each with the lines of it that are shown.
    pub(super) documents: Vec<(&'a GrepDocument, &'a [GrepLine])>,
    /// Matching lines after this part.
    num_more_matches: usize,
    /// Documents that have some of them.
    num_more_documents: usize,
    /// Where the next part begins; `None` after the last one.
    pub(super) next: Option<usize>,
}

impl<'a> GrepPart<'a> {
    /// Whether a part begins at a place; the first one always does.
    pub fn begins_at(results: &GrepResults, place: usize) -> bool {
        place == 0 || place < results.documents.iter().map(num_places).sum()
    }

    /// Returns the longest part from place `first` on whose text, as `write` writes it, has at most `budget` tokens; the
    /// whole rest without a budget. A part without lines means that not even one fits.
    pub fn within(
        results: &'a GrepResults,
        first: usize,
        budget: Option<usize>,
        write: impl Fn(&Self, &mut CleanWriter<'_>) -> io::Result<()>,
    ) -> io::Result<Self> {
        let most = results.documents.iter().map(num_places).sum::<usize>().saturating_sub(first);
        let Some(budget) = budget else { return Ok(Self::of(results, first, most)) };
        // Steps grow, so that the work depends on the budget and not on the number of lines.
        let (mut fitting, mut step) = (0, 1);
        while step > 0 {
            let next = (fitting + step).min(most);
            if next > fitting && Self::of(results, first, next).fits(budget, &write)? {
                fitting = next;
                step *= 2;
            } else {
                step /= 2;
            }
        }
        Ok(Self::of(results, first, fitting))
    }

    /// Whether the text of a part, as `write` writes it, has at most `budget` tokens.
    fn fits(
        &self,
        budget: usize,
        write: impl Fn(&Self, &mut CleanWriter<'_>) -> io::Result<()>,
    ) -> io::Result<bool> {
        let mut bytes = Vec::new();
        write(self, &mut CleanWriter::new(&mut bytes))?;
        Ok(tokens::estimate(&String::from_utf8_lossy(&bytes)) <= budget)
    }

    /// Returns the part of `num_shown` places from place `first` on.
    fn of(results: &'a GrepResults, first: usize, num_shown: usize) -> Self {
        let end = first + num_shown;
        let mut part = Self {
            results,
            documents: Vec::new(),
            num_more_matches: 0,
            num_more_documents: 0,
            next: None,
        };
        let mut start = 0;
        for found in &results.documents {
            let (from, to) = (first.max(start), end.min(start + num_places(found)));
            let lines = &found.matched.lines;
            if from < to {
                let shown = lines.get(from - start..to - start).unwrap_or_default();
                part.documents.push((found, shown));
            }
            let num_more = if lines.is_empty() && start >= end {
                found.matched.num_lines
            } else {
                let after = lines.get(end.max(start) - start..).unwrap_or_default();
                after.iter().filter(|line| !line.matches.is_empty()).count()
            };
            part.num_more_matches += num_more;
            part.num_more_documents += usize::from(num_more > 0);
            start += num_places(found);
        }
        part.next = (end < start && part.num_more_matches > 0).then_some(end);
        part
    }

    /// Says how many matches are not shown, if there are any.
    pub(super) fn rest(&self) -> Option<String> {
        self.next?;
        let documents = self.num_more_documents;
        if self.results.detail == GrepDetail::Name {
            return Some(format!("... {}", counted(documents, "more document")));
        }
        let noun = if self.num_more_matches == 1 { "match" } else { "matches" };
        let matches = thousands(self.num_more_matches);
        Some(format!("... {matches} more {noun} in {}", counted(documents, "document")))
    }

    /// Whether none of the matches fits.
    pub(super) fn is_void(&self) -> bool {
        self.documents.is_empty() && !self.results.documents.is_empty()
    }
}

/// Returns how many places of a part a document has: one for each line, or one if its lines were not wanted.
fn num_places(found: &GrepDocument) -> usize {
    found.matched.lines.len().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{DocType, LineRange};
    use crate::present::text::compact::{self, AnswerInterface};
    use crate::read::grep::MatchedDocument;
    use crate::store::{ChunkId, ChunkPlace, DocumentId, PassingDocument};

    /// Returns documents with so many matching lines each, every third after a line of context.
    fn results(num_lines: &[usize], detail: GrepDetail) -> GrepResults {
        let has_lines = matches!(detail, GrepDetail::Lines(_));
        let line = |number: usize, is_match: bool| GrepLine {
            chunk_id: ChunkId(1),
            place: ChunkPlace { lines: LineRange::new(1, 1), ..ChunkPlace::default() },
            text: format!("line {number} of the gauge"),
            matches: is_match.then_some(0..4).into_iter().collect(),
            is_after_gap: false,
        };
        let document = |(id, num_lines): (i64, &usize)| {
            let lines = (0..*num_lines).flat_map(|number| {
                let before = (number % 3 == 0).then(|| line(number, false));
                before.into_iter().chain([line(number, true)])
            });
            GrepDocument {
                document: PassingDocument {
                    id: DocumentId(id),
                    title: format!("Log {id}"),
                    path: Some(format!("/sea/{id}.log")),
                    doc_type: DocType::Code,
                    format: "log".into(),
                },
                matched: MatchedDocument {
                    document_id: DocumentId(id),
                    first_chunk: ChunkId(1),
                    num_lines: if detail == GrepDetail::Name { 1 } else { *num_lines },
                    lines: if has_lines { lines.collect() } else { Vec::new() },
                },
                stale: None,
            }
        };
        GrepResults {
            typed: "gauge".into(),
            detail,
            num_searched: 9,
            documents: (1..).zip(num_lines).map(document).collect(),
            notes: vec!["a note".into()],
        }
    }

    fn text(part: &GrepPart<'_>) -> String {
        let mut bytes = Vec::new();
        compact::grep(part, AnswerInterface::Mcp, &mut CleanWriter::new(&mut bytes)).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    fn cut(results: &GrepResults, first: usize, budget: Option<usize>) -> GrepPart<'_> {
        let write = |part: &GrepPart<'_>, out: &mut CleanWriter<'_>| {
            compact::grep(part, AnswerInterface::Mcp, out)
        };
        GrepPart::within(results, first, budget, write).unwrap()
    }

    #[test]
    fn no_part_is_above_its_budget_and_a_large_one_is_used() {
        let all = results(&[40, 3, 200], GrepDetail::Lines(1));
        for budget in [20, 60, 120, 150, 500, 1_000, 2_000] {
            let tokens = tokens::estimate(&text(&cut(&all, 0, Some(budget))));
            assert!(tokens <= budget, "{tokens} of {budget}");
            assert!(budget < 120 || budget - tokens < 20, "{tokens} of {budget}");
        }
        assert_eq!(
            text(&cut(&all, 0, Some(20))),
            "243 lines in 3 of 9 documents; none fits: raise budget\n"
        );
        assert_eq!(text(&cut(&all, 0, None)), text(&cut(&all, 0, Some(99_999))));
    }

    #[test]
    fn parts_lead_to_the_end_and_have_each_line_once() {
        for detail in [GrepDetail::Lines(1), GrepDetail::Count, GrepDetail::Name] {
            let all = results(&[40, 3, 200, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], detail);
            let (mut next, mut lines, mut num_parts) = (Some(0), Vec::new(), 0);
            while let Some(first) = next {
                assert!(GrepPart::begins_at(&all, first));
                let part = cut(&all, first, Some(200));
                let shown = part.documents.iter().map(|(found, lines)| (found.document.id, *lines));
                lines.extend(shown.flat_map(|(id, lines)| {
                    let texts = lines.iter().map(|line| line.text.as_str());
                    let texts: Vec<&str> =
                        if lines.is_empty() { vec![""] } else { texts.collect() };
                    texts.into_iter().map(move |text| (id, text)).collect::<Vec<_>>()
                }));
                (next, num_parts) = (part.next, num_parts + 1);
            }
            let whole = cut(&all, 0, None);
            let expected: usize = whole.documents.iter().map(|(found, _)| num_places(found)).sum();
            assert_eq!(lines.len(), expected, "{detail:?}");
            assert!(num_parts > 1, "{detail:?}");
            assert!(!GrepPart::begins_at(&all, expected));
        }
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let rest = |detail, first, num_shown| {
            GrepPart::of(&results(&[2, 3, 1], detail), first, num_shown).rest()
        };
        let check = |detail, first, num_shown, expected: Option<&str>| {
            assert_eq!(rest(detail, first, num_shown).as_deref(), expected);
        };
        // The first line of each document is one of context.
        check(GrepDetail::Lines(1), 0, 2, Some("... 5 more matches in 3 documents"));
        check(GrepDetail::Lines(1), 0, 3, Some("... 4 more matches in 2 documents"));
        check(GrepDetail::Lines(1), 3, 3, Some("... 2 more matches in 2 documents"));
        check(GrepDetail::Lines(1), 0, 8, Some("... 1 more match in 1 document"));
        check(GrepDetail::Lines(1), 0, 9, None);
        check(GrepDetail::Count, 0, 1, Some("... 4 more matches in 2 documents"));
        check(GrepDetail::Name, 0, 1, Some("... 2 more documents"));
        check(GrepDetail::Name, 1, 2, None);
    }
}
