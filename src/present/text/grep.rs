//! Formats matching lines for people: the document, then each line with its place, as ripgrep does.

use std::io;
use std::ops::Range;

use crate::app::query::grep::{GrepDetail, GrepDocument, GrepResults};
use crate::present::terminal::paint::Meaning;
use crate::present::terminal::sheet::CleanWriter;
use crate::present::text::grep_part::GrepPart;
use crate::present::text::human::HumanLayout;
use crate::present::text::{quote, stale};
use crate::read::grep::GrepLine;
use crate::text::number::{counted, thousands};
use crate::text::printable::{clean, clean_lines};

impl HumanLayout {
    /// Writes the documents with matching lines, and what is left out of them.
    pub fn grep(&self, part: &GrepPart<'_>, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let results = part.results;
        for (number, (found, lines)) in part.documents.iter().enumerate() {
            match results.detail {
                GrepDetail::Name => {
                    self.paint(Meaning::Path, &self.name(found), out)?;
                    writeln!(out)?;
                }
                GrepDetail::Count => {
                    self.paint(Meaning::Path, &self.name(found), out)?;
                    writeln!(out, ":{}", found.matched.num_lines)?;
                }
                GrepDetail::Lines(_) => {
                    if number > 0 {
                        writeln!(out)?;
                    }
                    self.document(found, lines, out)?;
                }
            }
        }
        match results.detail {
            GrepDetail::Name | GrepDetail::Count => Ok(()),
            // A note has said why nothing was searched.
            GrepDetail::Lines(_) if results.num_searched == 0 => Ok(()),
            GrepDetail::Lines(_) => {
                let gap = if part.documents.is_empty() { "" } else { "\n" };
                writeln!(out, "{gap}{}", summary(results))?;
                left_out(part).map_or(Ok(()), |rest| writeln!(out, "{rest}"))
            }
        }
    }

    fn document(
        &self,
        found: &GrepDocument,
        lines: &[GrepLine],
        out: &mut CleanWriter<'_>,
    ) -> io::Result<()> {
        self.paint(Meaning::Path, &self.name(found), out)?;
        if let Some(stale) = found.stale {
            self.paint(Meaning::Warning, &format!(" ({})", stale::mark(stale)), out)?;
        }
        writeln!(out)?;
        let has_context = lines.iter().any(|line| line.matches.is_empty());
        for line in lines {
            if has_context && line.is_after_gap {
                self.paint(Meaning::Faint, "--", out)?;
                writeln!(out)?;
            }
            self.paint(Meaning::Place, &exact_place(line), out)?;
            out.text(if line.matches.is_empty() { "- " } else { ": " })?;
            let mut start = 0;
            for found in &line.matches {
                out.text(&clean_lines(&line.text[start..found.start]))?;
                self.paint(Meaning::Match, &clean_lines(&line.text[found.clone()]), out)?;
                start = found.end;
            }
            out.text(&clean_lines(&line.text[start..]))?;
            writeln!(out)?;
        }
        Ok(())
    }

    /// Returns the path of a document, or the title of a note.
    fn name(&self, found: &GrepDocument) -> String {
        let document = &found.document;
        match &document.path {
            Some(path) => self.path(path),
            None => {
                let mark = self.base_mark(None);
                format!("{} (note {}){mark}", clean(&document.title), document.id)
            }
        }
    }

    /// Returns what a list of names or counts does not say: that it is empty, or what was left out.
    pub fn not_listed(part: &GrepPart<'_>) -> Option<String> {
        match part.results.detail {
            GrepDetail::Lines(_) => None,
            _ if part.results.documents.is_empty() => Some(summary(part.results)),
            _ => left_out(part),
        }
    }
}

/// Says what a budget left out, and what helps.
fn left_out(part: &GrepPart<'_>) -> Option<String> {
    let rest = part.rest()?;
    Some(format!("{rest}: narrow the search with `--path` or `--type`, or raise `--budget`"))
}

/// Returns how many lines were found in how many documents.
pub(super) fn summary(results: &GrepResults) -> String {
    let (num_found, num_searched) = (results.documents.len(), results.num_searched);
    let searched = counted(num_searched, "document");
    match (results.detail, num_found) {
        (_, 0) => format!("No line of {searched} matches."),
        (GrepDetail::Name, _) => format!("{} of {searched}", thousands(num_found)),
        _ => {
            let lines = counted(results.num_lines(), "line");
            format!("{lines} in {} of {searched}", thousands(num_found))
        }
    }
}

/// Returns the most exact place that is known of a line: its number, else page, section or chunk.
pub(super) fn exact_place(line: &GrepLine) -> String {
    let place = &line.place;
    match (place.lines, place.pages, &place.section) {
        (Some(lines), ..) => lines.to_string(),
        (None, Some(pages), _) => quote::pages(pages),
        (None, None, Some(section)) => format!("§ {}", clean(section)),
        (None, None, None) => format!("chunk {}", line.chunk_id),
    }
}

/// Returns a part of a line around its first match with at most about `max_chars` characters; `…` stands for the rest.
pub(super) fn clipped(line: &GrepLine, max_chars: usize) -> String {
    let text = &line.text;
    if text.chars().count() <= max_chars {
        return clean(text);
    }
    let at = line.matches.first().map_or(0, |found| found.start);
    let Range { start, end } = around(text, at, max_chars);
    let head = if start > 0 { "…" } else { "" };
    let tail = if end < text.len() { "…" } else { "" };
    format!("{head}{}{tail}", clean(&text[start..end]))
}

/// Returns the range of `num_chars` characters, a third of them before `at`.
fn around(text: &str, at: usize, num_chars: usize) -> Range<usize> {
    let start = text[..at].char_indices().rev().nth(num_chars / 3).map_or(0, |(start, _)| start);
    let end =
        text[start..].char_indices().nth(num_chars).map_or(text.len(), |(end, _)| start + end);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{LineRange, PageRange};
    use crate::store::{ChunkId, ChunkPlace};

    fn line(text: &str, found: Range<usize>, place: ChunkPlace) -> GrepLine {
        let matches = vec![found];
        GrepLine { chunk_id: ChunkId(7), place, text: text.into(), matches, is_after_gap: false }
    }

    #[test]
    fn the_place_is_the_most_exact_one_that_is_known() {
        let nothing = ChunkPlace::default();
        let section = ChunkPlace { section: Some("A > B".into()), ..nothing.clone() };
        let page = ChunkPlace { pages: PageRange::new(3, 3), ..section.clone() };
        let pages = ChunkPlace { pages: PageRange::new(3, 4), ..page.clone() };
        let lines = ChunkPlace { lines: LineRange::new(8, 12), ..nothing.clone() };
        let exact = ChunkPlace { lines: LineRange::new(8, 8), ..section.clone() };
        for (known, expected) in [
            (exact, "8"),
            (lines, "8-12"),
            (page, "p. 3"),
            (pages, "pp. 3-4"),
            (section, "§ A > B"),
            (nothing, "chunk 7"),
        ] {
            assert_eq!(exact_place(&line("x", 0..1, known)), expected);
        }
    }

    #[test]
    fn a_long_line_is_cut_around_its_match() {
        let text = format!("{}needle{}", "ä ".repeat(200), " é".repeat(200));
        let at = text.find("needle").unwrap();
        let shown = clipped(&line(&text, at..at + 6, ChunkPlace::default()), 60);
        assert!(shown.contains("needle") && shown.starts_with('…') && shown.ends_with('…'));
        assert!(shown.chars().count() <= 62, "{shown}");
        assert_eq!(clipped(&line(" a\tneedle", 3..9, ChunkPlace::default()), 60), "a needle");
    }
}
