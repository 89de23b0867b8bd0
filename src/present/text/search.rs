//! Presents hits: for each its line and the words that answer, marked.

use std::io;

use crate::document::{CHAIN_SEPARATOR, DocType};
use crate::present::terminal::paint::Meaning;
use crate::present::terminal::sheet::Sheet;
use crate::present::text::human::Human;
use crate::present::text::passage::{Excerpt, Room, Span, excerpt};
use crate::search::evidence::Evidence;
use crate::search::fuse::Leg;
use crate::search::matches::QueryTerms;
use crate::search::{Confidence, Hit, SearchResults, TermMatch};
use crate::text::number::{counted, thousands};
use crate::text::paths;
use crate::text::printable::{clean, clean_name};

/// Columns before the preview of a hit.
const INDENT: usize = 3;

/// Lines of preview a hit gets at most, of prose and of code.
const PREVIEW_LINES: [usize; 2] = [3, 6];

impl Human {
    /// Writes the answer to a query.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn search(&self, results: &SearchResults, out: &mut Sheet<'_>) -> io::Result<()> {
        writeln!(
            out,
            "Search: \"{}\" ({} matches, showing top {})",
            clean(&results.typed),
            thousands(results.total_matches as u64),
            results.hits.len()
        )?;
        self.hits(&results.hits, &QueryTerms::new(&results.typed), out)?;
        if results.confidence == Some(Confidence::None) && !results.hits.is_empty() {
            writeln!(out, "\nNothing here looks like an answer.")?;
        }
        Ok(())
    }

    /// Writes hits in their order, each after an empty line.
    fn hits<'a>(
        &self,
        hits: impl IntoIterator<Item = &'a Hit>,
        wanted: &QueryTerms,
        out: &mut Sheet<'_>,
    ) -> io::Result<()> {
        for (rank, hit) in (1..).zip(hits) {
            writeln!(out)?;
            self.hit(rank, hit, wanted, out)?;
        }
        Ok(())
    }

    /// Writes what is like a document or a chunk.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn similar(&self, hits: &[Hit], out: &mut Sheet<'_>) -> io::Result<()> {
        writeln!(out, "Similar: {}", counted(hits.len(), "passage"))?;
        self.hits(hits, &QueryTerms::default(), out)
    }

    /// Writes the passages that answer a query.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn evidence(&self, evidence: &Evidence, out: &mut Sheet<'_>) -> io::Result<()> {
        let budget = evidence.budget.map(|it| format!(" of {}", thousands(it as u64)));
        writeln!(
            out,
            "Search: \"{}\" ({} matches, showing {} with {}{} tokens)",
            clean(&evidence.typed),
            thousands(evidence.total_matches as u64),
            counted(evidence.passages.len(), "passage"),
            thousands(evidence.num_tokens as u64),
            budget.unwrap_or_default()
        )?;
        let hits = evidence.passages.iter().map(|it| &it.hit);
        self.hits(hits, &QueryTerms::new(&evidence.typed), out)
    }

    fn hit(
        &self,
        rank: u32,
        hit: &Hit,
        wanted: &QueryTerms,
        out: &mut Sheet<'_>,
    ) -> io::Result<()> {
        let (document, chunk) = (&hit.stored, &hit.stored.chunk.chunk);
        write!(out, "{rank}.")?;
        let mut paint = |meaning: Meaning, text: &str| {
            out.text(" ")?;
            self.paint(meaning, text, out)
        };
        paint(Meaning::Faint, &format!("[{:.3}]", hit.score))?;
        paint(Meaning::Title, &clean(&document.title))?;
        if let Some(page) = chunk.page {
            paint(Meaning::Place, &format!("(p.{page})"))?;
        }
        // The last part of the header chain names the place; the whole chain is in the JSON.
        let section = chunk.section.as_deref().and_then(|it| it.rsplit(CHAIN_SEPARATOR).next());
        if let Some(section) = section {
            paint(Meaning::Place, &format!("§{}", clean(section)))?;
        }
        paint(Meaning::Faint, &format!("[{}]", document.doc_type))?;
        if !document.tags.is_empty() {
            paint(Meaning::Tag, &format!("[{}]", clean(&document.tags.join(", "))))?;
        }
        writeln!(out)?;
        let shown = self.excerpt(hit, wanted);
        self.preview(&shown, out)?;
        write!(out, "{:INDENT$}", "")?;
        self.location(hit, &shown, out)?;
        writeln!(out)?;
        if !hit.terms.is_empty() {
            let leg = |name: &str, leg: Option<Leg>| match leg {
                Some(it) => format!(
                    "{name} rank {}, {:.3}, weight {:.2}: {:.4}",
                    it.rank, it.raw, it.weight, it.term
                ),
                None => format!("{name}: not ranked"),
            };
            let legs = [leg("keywords", hit.keyword), leg("vectors", hit.vector)].join("; ");
            writeln!(out, "{:INDENT$}{legs}", "")?;
            self.terms(&hit.terms, out)?;
        }
        Ok(())
    }

    /// Returns the line of its file where a hit answers a query; `None` where there are no lines.
    pub fn line(&self, hit: &Hit, typed: &str) -> Option<u32> {
        hit.line(self.excerpt(hit, &QueryTerms::new(typed)).first_line)
    }

    /// Chooses what is shown of a hit.
    fn excerpt(&self, hit: &Hit, wanted: &QueryTerms) -> Excerpt {
        let (document, chunk) = (&hit.stored, &hit.stored.chunk.chunk);
        let is_code = document.doc_type == DocType::Code;
        let room = Room {
            columns: self.width.saturating_sub(INDENT),
            lines: PREVIEW_LINES[usize::from(is_code)],
            is_code,
        };
        let sections = chunk.section.iter().flat_map(|it| it.split(CHAIN_SEPARATOR));
        let known: Vec<&str> = sections.chain([document.title.as_str()]).collect();
        excerpt(&chunk.text, &known, wanted, room)
    }

    /// Writes the lines of a passage; an ellipsis before them where it begins earlier.
    fn preview(&self, shown: &Excerpt, out: &mut Sheet<'_>) -> io::Result<()> {
        for (number, line) in shown.lines.iter().enumerate() {
            if number == 0 && shown.is_cut_before {
                out.text(" ")?;
                self.paint(Meaning::Faint, "…", out)?;
                out.text(" ")?;
            } else {
                write!(out, "{:INDENT$}", "")?;
            }
            for Span { text, is_match } in line {
                let meaning = if *is_match { Meaning::Match } else { Meaning::Plain };
                self.paint(meaning, text, out)?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// Writes where a hit stands: file with line or page; what shows it, if it has no file.
    fn location(&self, hit: &Hit, shown: &Excerpt, out: &mut Sheet<'_>) -> io::Result<()> {
        let (document, chunk) = (&hit.stored, &hit.stored.chunk.chunk);
        let Some(path) = &document.path else {
            return self.paint(Meaning::Path, &format!("kb show {}", document.document_id), out);
        };
        let place = match (hit.line(shown.first_line), chunk.page) {
            (Some(line), _) => format!(":{line}"),
            (None, Some(page)) => format!(" p.{page}"),
            (None, None) => String::new(),
        };
        let text = format!("{}{place}", clean_name(path));
        if self.has_links {
            let path = paths::path_of(path);
            return out.linked(&path, |out| self.paint(Meaning::Path, &text, out));
        }
        self.paint(Meaning::Path, &text, out)
    }

    /// Writes what each term did for a chunk.
    pub(in crate::present) fn terms(
        &self,
        terms: &[TermMatch],
        out: &mut Sheet<'_>,
    ) -> io::Result<()> {
        for it in terms {
            writeln!(
                out,
                "{:INDENT$}{}: {:.3} (weight {:.2}, in {}; here {} times in the text, {} in the context, \
                 {} in the document)",
                "",
                clean(&it.term),
                it.score,
                it.weight,
                counted(it.num_chunks as usize, "chunk"),
                it.in_text,
                it.in_context,
                it.in_document,
            )?;
        }
        Ok(())
    }
}
