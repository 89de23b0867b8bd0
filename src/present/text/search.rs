//! Formats search results for people: a line per hit, and a preview with the matched words marked.

use std::io;

use crate::document::{CHAIN_SEPARATOR, DocType};
use crate::present::terminal::columns::{cut_middle, wrap};
use crate::present::terminal::paint::Meaning;
use crate::present::terminal::sheet::CleanWriter;
use crate::present::text::human::HumanLayout;
use crate::present::text::passage::{Excerpt, LineSpan, PassageRoom, excerpt};
use crate::present::text::{quote, stale};
use crate::search::fuse::LegScore;
use crate::search::matches::QueryTerms;
use crate::search::{EvidenceSummary, Hit, Reranking, SearchAnswer, TermMatch};
use crate::text::number::{counted, thousands};
use crate::text::paths;
use crate::text::printable::{clean, clean_name};

/// Indentation of the preview of a hit.
const INDENT: usize = 3;

/// Most preview lines of a hit, for prose and for code.
const PREVIEW_LINES: [usize; 2] = [3, 6];

impl HumanLayout {
    /// Writes the answer to a query.
    pub fn search(&self, answer: &SearchAnswer, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let shown = match answer.gathered {
            None => format!("top {}", answer.hits.len()),
            Some(EvidenceSummary { budget, num_tokens }) => format!(
                "{} with {}{} tokens",
                counted(answer.hits.len(), "passage"),
                thousands(num_tokens),
                budget.map(|most| format!(" of {}", thousands(most))).unwrap_or_default()
            ),
        };
        let phrasings = answer.phrasings().map(|typed| format!("\"{}\"", clean(typed)));
        let heading = format!(
            "Search: {} ({} matches, showing {shown})",
            phrasings.collect::<Vec<_>>().join(", "),
            thousands(answer.total_matches),
        );
        self.labelled(heading, out)?;
        self.hits(&answer.hits, &answer.wanted, out)?;
        for line in verdict(answer) {
            writeln!(out)?;
            self.labelled(line, out)?;
        }
        advise(self, &answer.hits, out)
    }

    /// Writes hits in order. Consecutive hits of one document are grouped.
    fn hits<'a>(
        &self,
        hits: impl IntoIterator<Item = &'a Hit>,
        wanted: &QueryTerms,
        out: &mut CleanWriter<'_>,
    ) -> io::Result<()> {
        let mut last = None;
        for (rank, hit) in (1..).zip(hits) {
            let document = (hit.base.as_deref(), hit.stored.document_id);
            let is_same_document = last.replace(document) == Some(document);
            if !is_same_document {
                writeln!(out)?;
            }
            let excerpt = self.excerpt(hit, wanted);
            self.head(rank, hit, out)?;
            self.preview(&excerpt, out)?;
            write!(out, "{:INDENT$}", "")?;
            self.location(hit, is_same_document, out)?;
            writeln!(out)?;
            self.explanation(hit, out)?;
        }
        Ok(())
    }

    /// Writes parts separated by spaces; on a terminal, wrapped.
    fn wrapped(&self, parts: &[(Meaning, String)], out: &mut CleanWriter<'_>) -> io::Result<()> {
        let texts: Vec<&str> = parts.iter().map(|(_, text)| text.as_str()).collect();
        let all = texts.join(" ");
        let room = if self.is_terminal { self.width.saturating_sub(INDENT) } else { usize::MAX };
        for (number, line) in wrap(&all, room).enumerate() {
            if number > 0 {
                write!(out, "{:INDENT$}", "")?;
            }
            let mut start = 0;
            for (meaning, text) in parts {
                let part = start.max(line.start)..(start + text.len()).min(line.end);
                if part.start < part.end {
                    if part.start > line.start {
                        out.text(" ")?;
                    }
                    self.paint(*meaning, &all[part], out)?;
                }
                start += text.len() + 1;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// Writes passages similar to a document or a chunk.
    pub fn similar(&self, hits: &[Hit], out: &mut CleanWriter<'_>) -> io::Result<()> {
        writeln!(out, "Similar: {}", counted(hits.len(), "passage"))?;
        self.hits(hits, &QueryTerms::default(), out)?;
        advise(self, hits, out)
    }

    /// Writes the header of a hit; on a terminal, wrapped.
    fn head(&self, rank: u32, hit: &Hit, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let document = &hit.stored;
        let mut parts = vec![
            (Meaning::Plain, format!("{rank}.")),
            (Meaning::Faint, format!("[{:.3}]", hit.score)),
            (Meaning::Title, clean(&document.title)),
        ];
        if let Some(score) = hit.rerank_score {
            parts.insert(2, (Meaning::Faint, format!("[rerank {score:.3}]")));
        }
        if hit.at.pages.is_some() {
            let pages = quote::short_place(None, hit.at.pages);
            parts.push((Meaning::Place, format!("({pages})")));
        }
        // Only the last heading of the header chain is shown; the JSON has the complete chain.
        let section =
            hit.at.section.as_deref().and_then(|section| section.rsplit(CHAIN_SEPARATOR).next());
        if let Some(section) = section {
            parts.push((Meaning::Place, format!("§{}", clean(section))));
        }
        let mark = self.base_mark(hit.base.as_deref());
        parts.push((Meaning::Faint, format!("[{}]{mark}", clean(&document.format))));
        if !document.tags.is_empty() {
            parts.push((Meaning::Tag, format!("[{}]", clean(&document.tags.join(", ")))));
        }
        if let Some(symbol) = &hit.at.symbol {
            parts.push((Meaning::Place, clean(symbol)));
        }
        if hit.num_copies > 0 {
            parts.push((Meaning::Faint, format!("[{}]", quote::copies(hit.num_copies))));
        }
        if let Some(mark) = &document.superseded {
            parts.push((Meaning::Warning, format!("[{}]", clean(&mark.describe()))));
        }
        if hit.conflict_of.is_some() {
            parts.push((Meaning::Warning, "[conflict copy]".into()));
        }
        if let Some(stale) = hit.stale {
            parts.push((Meaning::Warning, format!("[{}]", stale.as_str())));
        }
        self.wrapped(&parts, out)
    }

    /// Writes how a hit got its score, if requested.
    fn explanation(&self, hit: &Hit, out: &mut CleanWriter<'_>) -> io::Result<()> {
        if !hit.terms.is_empty() {
            let (keywords, vectors) = (leg("keywords", hit.keyword), leg("vectors", hit.vector));
            let legs = format!("{keywords}; {vectors}");
            let tokens = hit.token_match.map(|found| format!("; token match {found:.3}"));
            let document = format!("; document weight {:.2}", hit.document_weight);
            let date = hit.stored.date.as_deref().unwrap_or("unknown");
            let age = hit.recency.map(|share| format!(", recency of {date} {share:.3}"));
            let (tokens, age) = (tokens.unwrap_or_default(), age.unwrap_or_default());
            writeln!(out, "{:INDENT$}{legs}{tokens}{document}{age}", "")?;
            for (number, found) in (1..).zip(&hit.contributions) {
                let (bm25, cosine) = (score(found.bm25), score(found.cosine));
                writeln!(out, "{:INDENT$}phrasing {number}: BM25 {bm25}, cosine {cosine}", "")?;
            }
            self.terms(&hit.terms, out)?;
        }
        Ok(())
    }

    /// Returns what to do about stale hits: a line for each knowledge base that has any.
    pub fn advice<'a>(&self, hits: impl IntoIterator<Item = &'a Hit>) -> Vec<String> {
        let mut by_base: Vec<(Option<&str>, Vec<&Hit>)> = Vec::new();
        for hit in hits {
            let base = hit.base.as_deref();
            match by_base.iter_mut().find(|known| known.0 == base) {
                Some((_, hits)) => hits.push(hit),
                None => by_base.push((base, vec![hit])),
            }
        }
        let mut advice = Vec::new();
        for (base, hits) in by_base {
            advice.extend(stale::advice(hits).map(|text| self.worded_about(&text, base)));
        }
        advice
    }

    /// Selects the lines of a hit to show.
    fn excerpt(&self, hit: &Hit, wanted: &QueryTerms) -> Excerpt {
        excerpt_of(hit, wanted, self.width.saturating_sub(INDENT), PREVIEW_LINES)
    }

    /// Writes the lines of a passage, with an ellipsis where others are left out before them.
    fn preview(&self, shown: &Excerpt, out: &mut CleanWriter<'_>) -> io::Result<()> {
        for (number, line) in shown.lines.iter().enumerate() {
            if shown.cuts.contains(&number) {
                out.text(" ")?;
                self.paint(Meaning::Faint, "…", out)?;
                out.text(" ")?;
            } else {
                write!(out, "{:INDENT$}", "")?;
            }
            for LineSpan { text, is_match } in line {
                let meaning = if *is_match { Meaning::Match } else { Meaning::Plain };
                self.paint(meaning, text, out)?;
            }
            writeln!(out)?;
        }
        Ok(())
    }

    /// Writes the location of a hit: file with line or page, or the command that shows it if it has no file.
    /// If the hit above is in the same document, only the file name is written.
    fn location(
        &self,
        hit: &Hit,
        is_same_document: bool,
        out: &mut CleanWriter<'_>,
    ) -> io::Result<()> {
        let document = &hit.stored;
        let Some(path) = &document.path else {
            let rest = format!("show {}", document.document_id);
            return self.paint(Meaning::Path, &self.command(hit.base.as_deref(), &rest), out);
        };
        let place = quote::behind_path(hit.at.line, hit.at.pages);
        let name = match path.rsplit_once('/') {
            Some((_, name)) if is_same_document && self.is_terminal => clean_name(name),
            _ => self.path(path),
        };
        let room = if self.is_terminal { self.width.saturating_sub(INDENT) } else { usize::MAX };
        let text = format!("{}{place}", cut_middle(&name, room.saturating_sub(place.len())));
        if self.has_links {
            let path = paths::path_of(path);
            return out.linked(&path, |out| self.paint(Meaning::Path, &text, out));
        }
        self.paint(Meaning::Path, &text, out)
    }

    /// Writes the contribution of each term to a chunk.
    pub(crate) fn terms(&self, terms: &[TermMatch], out: &mut CleanWriter<'_>) -> io::Result<()> {
        for term in terms {
            writeln!(
                out,
                "{:INDENT$}{}: {:.3} (weight {:.2}, in {}; here {} in the text, {} in the context, \
                 {} in the document{})",
                "",
                clean(&term.term),
                term.score,
                term.weight,
                counted(term.num_chunks, "chunk"),
                counted(term.in_text, "time"),
                term.in_context,
                term.in_document,
                if term.in_name { ", and in the name" } else { "" },
            )?;
        }
        Ok(())
    }
}

/// Returns the share of a leg in the score of a hit.
fn leg(name: &str, leg: Option<LegScore>) -> String {
    let Some(leg) = leg else { return format!("{name}: not ranked") };
    let LegScore { rank, raw, weight, term, .. } = leg;
    format!("{name} rank {rank}, {raw:.3}, weight {weight:.2}: {term:.4}")
}

fn score(score: Option<f64>) -> String {
    score.map_or_else(|| "-".into(), |score| format!("{score:.3}"))
}

/// Selects the lines of a hit to show; `num_lines` is for prose and for code.
pub(crate) fn excerpt_of(
    hit: &Hit,
    wanted: &QueryTerms,
    columns: usize,
    num_lines: [usize; 2],
) -> Excerpt {
    let (document, chunk) = (&hit.stored, &hit.stored.chunk.chunk);
    let is_code = document.doc_type == DocType::Code;
    let room = PassageRoom { columns, lines: num_lines[usize::from(is_code)], is_code };
    let sections = chunk.section.iter().flat_map(|section| section.split(CHAIN_SEPARATOR));
    let known: Vec<&str> = sections.chain([document.title.as_str()]).collect();
    // A joined passage has other lines than its chunk, so the cited place does not apply.
    let cited = hit.passage.is_none().then_some(hit.at.in_text);
    excerpt(&chunk.text, &known, wanted, cited, room)
}

/// Returns sentences about an answer as a whole: whether it is one, and how its hits are ordered.
pub fn verdict(answer: &SearchAnswer) -> Vec<String> {
    let confidence = match answer.confidence {
        _ if answer.hits.is_empty() => None,
        Some(confidence) => confidence.sentence().map(str::to_owned),
        None => Some(format!("Unknown confidence: {}.", answer.confidence_reason())),
    };
    let order = answer.reranking.as_ref().map(|reranking| match reranking {
        Reranking::Done => "Ordered by search.rerank_command.".into(),
        Reranking::Failed(reason) => format!("Not reranked: {}", clean(reason)),
    });
    confidence.into_iter().chain(order).collect()
}

/// Writes what to do about stale hits, if there are any.
fn advise<'a>(
    layout: &HumanLayout,
    hits: impl IntoIterator<Item = &'a Hit>,
    out: &mut CleanWriter<'_>,
) -> io::Result<()> {
    for (number, advice) in layout.advice(hits).iter().enumerate() {
        if number == 0 {
            writeln!(out)?;
        }
        layout.labelled(format!("{advice}."), out)?;
    }
    Ok(())
}
