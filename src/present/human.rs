//! Text for people. Colour and width are fields, so that the same answer gives the same bytes.
//!
//! Whatever comes from a document or a path is cleaned of control characters first: no escape
//! sequence of theirs reaches the terminal.
//!
//! Over 400 lines because every kind of result has its method here; text helpers could move out.

use std::io;
use std::io::Write;
use std::path::Path;

use crate::document::Quality;
use crate::error::Error;
use crate::ingest::IngestReport;
use crate::present::json::PREVIEW_CHARS;
use crate::present::{OcrSetup, Setting, Setup};
use crate::read::Evidence;
use crate::search::fuse::Leg;
use crate::search::{Confidence, Hit, SearchResults, TermMatch};
use crate::skill::install::Found;
use crate::store::{PageCounts, Stats, StoredChunk, StoredDocument, TagCount};
use crate::transfer::Imported;

/// How to draw.
#[derive(Debug, Clone, Copy)]
pub struct Human {
    /// Columns there are.
    pub width: usize,
    /// Whether escape sequences for colour are written.
    pub is_coloured: bool,
}

/// Columns before the preview of a hit.
const INDENT: usize = 3;

/// Lines of preview a hit gets at most.
const PREVIEW_LINES: usize = 3;

impl Human {
    /// Writes the answer to a query.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn search(&self, results: &SearchResults, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "Search: \"{}\" ({} matches, showing top {})",
            clean(&results.typed),
            thousands(results.total_matches as u64),
            results.hits.len()
        )?;
        self.hits(&results.hits, out)?;
        if results.confidence == Some(Confidence::None) && !results.hits.is_empty() {
            writeln!(out, "\nNothing here looks like an answer.")?;
        }
        Ok(())
    }

    /// Writes hits in their order, each after an empty line.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn hits<'a>(
        &self,
        hits: impl IntoIterator<Item = &'a Hit>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for (rank, hit) in (1..).zip(hits) {
            writeln!(out)?;
            self.hit(rank, hit, out)?;
        }
        Ok(())
    }

    /// Writes what is like a document or a chunk.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn similar(&self, hits: &[Hit], out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "Similar: {}", counted(hits.len(), "passage"))?;
        self.hits(hits, out)
    }

    /// Writes the passages that answer a query.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn evidence(&self, evidence: &Evidence, out: &mut dyn Write) -> io::Result<()> {
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
        self.hits(evidence.passages.iter().map(|it| &it.hit), out)
    }

    fn hit(&self, rank: u32, hit: &Hit, out: &mut dyn Write) -> io::Result<()> {
        let (document, chunk) = (&hit.stored, &hit.stored.chunk.chunk);
        write!(out, "{rank}. [{:.3}] {}", hit.score, self.bold(&clean(&document.title)))?;
        if let Some(page) = chunk.page {
            write!(out, " (p.{page})")?;
        }
        // The last part of the header chain names the place; the whole chain is in the JSON.
        let section = chunk.section.as_deref().and_then(|it| it.rsplit(" > ").next());
        if let Some(section) = section {
            write!(out, " §{}", clean(section))?;
        }
        write!(out, " [{}]", document.doc_type)?;
        if !document.tags.is_empty() {
            write!(out, " [{}]", clean(&document.tags.join(", ")))?;
        }
        writeln!(out)?;
        for line in wrap(&clean(&chunk.text), self.width.saturating_sub(INDENT), PREVIEW_LINES) {
            writeln!(out, "{:INDENT$}{line}", "")?;
        }
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

    /// Writes what each term did for a chunk.
    pub(super) fn terms(&self, terms: &[TermMatch], out: &mut dyn Write) -> io::Result<()> {
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

    /// Writes a list of documents.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn list(&self, documents: &[StoredDocument], out: &mut dyn Write) -> io::Result<()> {
        if documents.is_empty() {
            return writeln!(out, "No documents indexed. Run `kb add` to get started.");
        }
        let has_pages = documents.iter().any(|it| it.metadata.quality.is_some());
        let rows = documents.iter().map(|it| {
            let mut row =
                vec![it.id.to_string(), it.doc_type.to_string(), it.chunk_count.to_string()];
            if has_pages {
                row.push(it.metadata.quality.as_ref().map(describe_briefly).unwrap_or_default());
            }
            row.push(it.created_at.get(..10).unwrap_or(&it.created_at).to_owned());
            row.extend([clean(&it.title), clean(&it.tags.join(", "))]);
            row
        });
        let mut head = vec!["ID", "TYPE", "CHUNKS", "CREATED", "TITLE", "TAGS"];
        if has_pages {
            head.insert(3, "PAGES");
        }
        self.table(&head, rows.collect(), out)
    }

    /// Writes one document with its chunks.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn info(
        &self,
        document: &StoredDocument,
        chunks: &[StoredChunk],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let metadata = &document.metadata;
        let mut facts = vec![
            ("Title", clean(&document.title)),
            ("Path", document.path.as_deref().map_or_else(|| "-".into(), clean)),
            ("Type", format!("{} ({})", document.doc_type, document.format)),
            ("Language", document.language.clone().unwrap_or_else(|| "-".into())),
            ("Hash", document.content_hash.clone()),
            ("Created", document.created_at.clone()),
            ("Updated", document.updated_at.clone()),
            ("Tags", clean(&document.tags.join(", "))),
            ("Chunks", document.chunk_count.to_string()),
        ];
        if let Some(page_count) = metadata.page_count {
            facts.push(("Pages", page_count.to_string()));
        }
        if let Some(quality) = &metadata.quality {
            facts.push(("Quality", describe(quality)));
        }
        if let Some(author) = &metadata.author {
            facts.push(("Author", clean(author)));
        }
        for warning in &metadata.warnings {
            facts.push(("Note", clean(warning)));
        }
        writeln!(out, "Document {}", document.id)?;
        self.facts(&facts, out)?;
        for stored in chunks {
            let chunk = &stored.chunk;
            writeln!(out)?;
            write!(out, "#{} ({} tokens", stored.chunk_index, chunk.token_count)?;
            if let Some(page) = chunk.page {
                write!(out, ", p.{page}")?;
            }
            if let (Some(first), Some(last)) = (chunk.start_line, chunk.end_line) {
                write!(out, ", lines {first}-{last}")?;
            }
            write!(out, ")")?;
            if let Some(name) = chunk.symbol.as_ref().or(chunk.section.as_ref()) {
                write!(out, " §{}", clean(name))?;
            }
            let preview: String = clean(&chunk.text).chars().take(PREVIEW_CHARS).collect();
            writeln!(out, "\n   {}", preview.trim_end())?;
        }
        Ok(())
    }

    /// Writes all tags.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn tags(&self, tags: &[TagCount], out: &mut dyn Write) -> io::Result<()> {
        if tags.is_empty() {
            return writeln!(out, "No tags. `kb tag ID --add NAME` sets one.");
        }
        let rows = tags.iter().map(|it| vec![it.count.to_string(), clean(&it.name)]);
        self.table(&["COUNT", "TAG"], rows.collect(), out)
    }

    /// Writes the tags of a document after a change.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn tagged(&self, document: &StoredDocument, out: &mut dyn Write) -> io::Result<()> {
        let tags = if document.tags.is_empty() { "none".into() } else { document.tags.join(", ") };
        writeln!(out, "Tags of '{}': {}", clean(&document.title), clean(&tags))
    }

    /// Writes the ids of removed documents.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn removed(&self, ids: &[i64], out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "Removed {}.", counted(ids.len(), "document"))
    }

    /// Writes what a copy of the database holds.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn backup(
        &self,
        file: &Path,
        is_verified: bool,
        stats: &Stats,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(
            out,
            "{} {}: {}, {}, {:.1} MB.",
            if is_verified { "Sound:" } else { "Copied to" },
            clean(&file.display().to_string()),
            counted(stats.total_documents() as usize, "document"),
            counted(stats.total_chunks as usize, "chunk"),
            bytes_to_mb(stats.db_size_bytes),
        )
    }

    /// Writes what a run of `kb import` did.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn imported(&self, imported: &Imported, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "Imported {} ({}), skipped {}, failed {}.",
            counted(imported.num_documents, "document"),
            counted(imported.num_chunks, "chunk"),
            imported.num_skipped,
            imported.num_failed,
        )
    }

    /// Writes what the database holds.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn status(&self, setup: &Setup, stats: &Stats, out: &mut dyn Write) -> io::Result<()> {
        let total: u64 = stats.documents.iter().map(|(_, count)| u64::from(*count)).sum();
        let by_type: Vec<String> = stats
            .documents
            .iter()
            .map(|(doc_type, count)| format!("{} {doc_type}", thousands(u64::from(*count))))
            .collect();
        let model = setup.binding.as_ref().map_or_else(
            || "none yet".into(),
            |it| {
                format!(
                    "{} ({} dim, {}, {} tokens)",
                    it.model_name, it.dim, it.precision, it.max_tokens
                )
            },
        );
        let mut facts = vec![
            ("Database", clean(&setup.database.display().to_string())),
            ("Size", format!("{:.1} MB", bytes_to_mb(stats.db_size_bytes))),
            ("Documents", format!("{} ({})", thousands(total), by_type.join(", "))),
            ("Chunks", thousands(u64::from(stats.total_chunks))),
            ("Pages", describe_pages(&stats.pages)),
            ("OCR", describe_ocr(&setup.ocr)),
            ("Model", clean(&model)),
            ("Schema", stats.schema_version.to_string()),
        ];
        facts.extend(setup.agent_skills.iter().map(|it| ("Agent skill", describe_skill(it))));
        self.facts(&facts, out)
    }

    /// Writes what is set up.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn setup(&self, setup: &Setup, out: &mut dyn Write) -> io::Result<()> {
        let place = |it: &Option<std::path::PathBuf>| {
            it.as_ref().map_or_else(
                || "not installed (`kb init` fetches it)".into(),
                |it| clean(&it.display().to_string()),
            )
        };
        let database = clean(&setup.database.display().to_string());
        let facts = [
            ("Data directory", clean(&setup.data_dir.display().to_string())),
            (
                "Database",
                if setup.database.exists() {
                    database
                } else {
                    format!("{database} (not there yet)")
                },
            ),
            ("Model configured", clean(&setup.model_configured)),
            ("Model files", place(&setup.model_dir)),
            ("ONNX Runtime", place(&setup.runtime)),
            ("OCR", describe_ocr(&setup.ocr)),
            (
                "Database built with",
                setup.binding.as_ref().map_or_else(
                    || "nothing yet".into(),
                    |it| format!("{} ({} dim, {})", clean(&it.model_name), it.dim, it.precision),
                ),
            ),
        ];
        self.facts(&facts, out)
    }

    /// Writes what a run of `kb reindex` did.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn reindexed(
        &self,
        num_chunks: u64,
        model_name: &str,
        embedding_dim: u32,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let chunks = counted(usize::try_from(num_chunks).unwrap_or(usize::MAX), "chunk");
        writeln!(out, "Embedded {chunks} with {} ({embedding_dim} dim).", clean(model_name))
    }

    /// Writes every setting.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn settings(&self, settings: &[Setting], out: &mut dyn Write) -> io::Result<()> {
        let rows = settings
            .iter()
            .map(|it| vec![clean(&it.key), clean(&it.value), clean(&it.origin)])
            .collect();
        self.table(&["KEY", "VALUE", "FROM"], rows, out)
    }

    /// Returns the line that ends a run of `kb add`.
    pub fn summary(report: &IngestReport) -> String {
        let mut text = format!(
            "Added {}. {} failed. {} skipped (already indexed).",
            counted(report.added, "document"),
            thousands(report.failed.len() as u64),
            thousands(report.skipped as u64)
        );
        if report.updated > 0 {
            text += &format!(" {} updated.", thousands(report.updated as u64));
        }
        if report.ignored > 0 {
            text += &format!(
                " {} ignored (empty or of another type).",
                thousands(report.ignored as u64)
            );
        }
        text
    }

    /// Writes an error: what failed, and what to do next.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn error(&self, error: &Error, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "error: {}", clean(&error.to_string()))?;
        if let Some(hint) = error.hint() {
            writeln!(out, "hint: {}", clean(&hint))?;
        }
        Ok(())
    }

    /// Writes lines of name and value, values aligned.
    fn facts(&self, facts: &[(&str, String)], out: &mut dyn Write) -> io::Result<()> {
        let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 1;
        for (name, value) in facts {
            let name = format!("{name}:");
            writeln!(out, "{}", format!("{name:width$} {value}").trim_end())?;
        }
        Ok(())
    }

    /// Writes rows in columns as wide as their widest cell; the last column is not padded.
    pub(super) fn table(
        &self,
        head: &[&str],
        rows: Vec<Vec<String>>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut widths: Vec<usize> = head.iter().map(|it| it.len()).collect();
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        let head = head.iter().map(|it| (*it).to_owned()).collect();
        for (is_head, row) in
            std::iter::once((true, head)).chain(rows.into_iter().map(|it| (false, it)))
        {
            let cells: Vec<String> =
                row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
            let line = cells.join("  ");
            let line = line.trim_end();
            if is_head { writeln!(out, "{}", self.bold(line))? } else { writeln!(out, "{line}")? }
        }
        Ok(())
    }

    fn bold(&self, text: &str) -> String {
        if self.is_coloured { format!("\u{1b}[1m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// Says how well a document's pages could be read.
fn describe(quality: &Quality) -> String {
    let parts = [
        (quality.pages_read, "read"),
        (quality.pages_ocr, "of them by OCR"),
        (quality.pages_empty, "empty"),
        (quality.pages_unread, "not read"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let mut text: Vec<String> =
        parts.map(|(count, what)| format!("{} {what}", thousands(u64::from(*count)))).collect();
    if quality.num_not_text > 0 {
        let percent = quality.share_not_text() * 100.0;
        text.push(format!("{percent:.1} % of the characters are no text"));
    }
    format!("pages: {}", text.join(", "))
}

/// As [`describe`], for a column.
fn describe_briefly(quality: &Quality) -> String {
    let total = quality.pages_read + quality.pages_empty + quality.pages_unread;
    let parts = [(quality.pages_ocr, "OCR"), (quality.pages_unread, "unread")];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, what)| format!("{count} {what}")).collect();
    if parts.is_empty() { total.to_string() } else { format!("{total} ({})", parts.join(", ")) }
}

fn describe_pages(pages: &PageCounts) -> String {
    let total = thousands(pages.read + pages.empty + pages.unread);
    let (ocr, unread) = (thousands(pages.ocr), thousands(pages.unread));
    match pages.documents_with_unread {
        0 => format!("{total} ({ocr} read by OCR)"),
        count => {
            let documents = counted(count as usize, "document");
            format!("{total} ({ocr} read by OCR, {unread} of {documents} not read)")
        }
    }
}

/// Says where an agent finds kb's own skill, and what to do if it is not that of this program.
fn describe_skill(skill: &Found) -> String {
    let path = clean(&skill.path.display().to_string());
    let version = skill
        .version
        .as_deref()
        .map_or("without a version".into(), |it| format!("version {}", clean(it)));
    if skill.is_current {
        return format!("{path} ({version})");
    }
    let current = env!("CARGO_PKG_VERSION");
    format!("{path} ({version}, not that of kb {current}: `kb skill install` replaces it)")
}

fn describe_ocr(ocr: &OcrSetup) -> String {
    match (&ocr.tesseract, ocr.mode.as_str()) {
        (_, "never") => "off (ingestion.enable_ocr)".into(),
        (None, _) => "not installed (scans are read by Tesseract)".into(),
        (Some(program), mode) => {
            let program = clean(&program.display().to_string());
            format!("{program} ({mode}, {})", clean(&ocr.languages))
        }
    }
}

/// Returns text on one line without control characters, runs of white space made one space.
pub fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() {
            if !cleaned.ends_with(' ') && !cleaned.is_empty() {
                cleaned.push(' ');
            }
        } else if c.is_control() || is_bidi_control(c) {
            cleaned.push(char::REPLACEMENT_CHARACTER);
        } else {
            cleaned.push(c);
        }
    }
    cleaned.truncate(cleaned.trim_end().len());
    cleaned
}

/// Returns text with its lines and tabs, without other control characters.
pub fn clean_lines(text: &str) -> String {
    let is_kept = |it: char| matches!(it, '\n' | '\t') || !(it.is_control() || is_bidi_control(it));
    text.chars().map(|it| if is_kept(it) { it } else { char::REPLACEMENT_CHARACTER }).collect()
}

/// Whether a character reorders the text around it: what is shown would not be what is there.
fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns a number with commas between thousands.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

pub(super) fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", thousands(number as u64))
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn bytes_to_mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Breaks text into at most `max_lines` lines of `width` columns; an ellipsis marks what is cut.
fn wrap(text: &str, width: usize, max_lines: usize) -> Vec<String> {
    /// Narrower than this nothing can be read anyway.
    const MIN_WIDTH: usize = 20;
    let width = width.max(MIN_WIDTH);
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("starts with one line");
        let used = line.chars().count();
        if used > 0 && used + 1 + word.chars().count() > width {
            if lines.len() == max_lines {
                let line = lines.last_mut().expect("starts with one line");
                *line = line.chars().take(width - 1).chain(['…']).collect();
                return lines;
            }
            lines.push(word.to_owned());
        } else {
            if used > 0 {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    for line in &mut lines {
        if line.chars().count() > width {
            *line = line.chars().take(width - 1).chain(['…']).collect();
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_survives() {
        assert_eq!(clean("a\u{1b}[31mb\r\nc\td\u{202e}e"), "a\u{fffd}[31mb c d\u{fffd}e");
    }

    #[test]
    fn thousands_are_separated() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_847_000, "1,847,000")] {
            assert_eq!(thousands(number), text);
        }
    }

    #[test]
    fn a_long_text_ends_in_an_ellipsis() {
        let lines = wrap(&"word ".repeat(100), 30, 2);
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with('…') && lines.iter().all(|it| it.chars().count() <= 30));
    }

    #[test]
    fn a_summary_counts_everything() {
        let report = IngestReport { added: 1847, skipped: 141, ..IngestReport::default() };
        assert_eq!(
            Human::summary(&report),
            "Added 1,847 documents. 0 failed. 141 skipped (already indexed)."
        );
    }
}
