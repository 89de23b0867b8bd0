//! Presents documents, tags and the state of the database as tables and facts.

use std::io;
use std::path::PathBuf;

use crate::app::status::{OcrSetup, Setup};
use crate::document::Quality;
use crate::ingest::survey::OutOfDate;
use crate::present::json::PREVIEW_CHARS;
use crate::present::terminal::columns::cut;
use crate::present::terminal::paint::Meaning;
use crate::present::terminal::sheet::Sheet;
use crate::present::terminal::table::{fact, numbers, texts, words};
use crate::present::text::human::Human;
use crate::skill::install::Found;
use crate::store::{ListedDocument, PageCounts, Stats, StoredChunk, StoredDocument, TagCount};
use crate::text::number::{bytes_to_mb, counted, thousands};
use crate::text::printable::clean;

/// Said of an empty list.
const NONE: &str = "No documents indexed. Run `kb add` to get started.";

/// Said of an empty list where only some documents were asked for.
const NONE_PASSES: &str = "No documents match. `kb list` shows all there are.";

impl Human {
    /// Writes a list of documents; `is_filtered` where not all were asked for.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn list(
        &self,
        documents: &[ListedDocument],
        is_filtered: bool,
        out: &mut Sheet<'_>,
    ) -> io::Result<()> {
        if documents.is_empty() {
            return writeln!(out, "{}", if is_filtered { NONE_PASSES } else { NONE });
        }
        let has_pages = documents.iter().any(|it| it.quality.is_some());
        let rows = documents.iter().map(|it| {
            let mut row =
                vec![it.id.to_string(), it.doc_type.to_string(), it.chunk_count.to_string()];
            if has_pages {
                row.push(it.quality.as_ref().map(describe_briefly).unwrap_or_default());
            }
            row.push(it.created_at.get(..10).unwrap_or(&it.created_at).to_owned());
            row.extend([clean(&it.title), clean(&it.tags.join(", "))]);
            row
        });
        let mut columns = vec![
            numbers("ID"),
            words("TYPE"),
            numbers("CHUNKS"),
            words("CREATED").painted(Meaning::Faint),
            texts("TITLE").painted(Meaning::Title),
            texts("TAGS").painted(Meaning::Tag),
        ];
        if has_pages {
            columns.insert(3, words("PAGES"));
        }
        self.table(&columns, &rows.collect::<Vec<_>>(), out)
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
        out: &mut Sheet<'_>,
    ) -> io::Result<()> {
        let metadata = &document.metadata;
        let path = document.path.as_deref().unwrap_or("-");
        let mut facts = vec![
            fact("Title", clean(&document.title)).painted(Meaning::Title),
            fact("Path", path).painted(Meaning::Path),
            fact("Type", format!("{} ({})", document.doc_type, document.format)),
            fact("Language", document.language.as_deref().unwrap_or("-")),
            fact("Hash", &document.content_hash),
            fact("Created", &document.created_at),
            fact("Updated", &document.updated_at),
            fact("Tags", clean(&document.tags.join(", "))).painted(Meaning::Tag),
            fact("Chunks", thousands(u64::from(document.chunk_count))),
        ];
        if let Some(page_count) = metadata.page_count {
            facts.push(fact("Pages", thousands(u64::from(page_count))));
        }
        if let Some(quality) = &metadata.quality {
            let is_whole = quality.pages_unread == 0;
            facts.push(fact("Quality", describe(quality)).painted(meaning_of(is_whole)));
        }
        if let Some(author) = &metadata.author {
            facts.push(fact("Author", clean(author)));
        }
        for warning in &metadata.warnings {
            facts.push(fact("Note", clean(warning)).painted(Meaning::Warning));
        }
        writeln!(out, "Document {}", document.id)?;
        self.facts(&facts, out)?;
        for stored in chunks {
            let chunk = &stored.chunk;
            writeln!(out)?;
            let mut place = format!("({} tokens", chunk.token_count);
            if let Some(page) = chunk.page {
                place += &format!(", p.{page}");
            }
            if let (Some(first), Some(last)) = (chunk.start_line, chunk.end_line) {
                place += &format!(", lines {first}-{last}");
            }
            write!(out, "#{} ", stored.chunk_index)?;
            self.paint(Meaning::Faint, &(place + ")"), out)?;
            if let Some(name) = chunk.symbol.as_ref().or(chunk.section.as_ref()) {
                out.text(" ")?;
                self.paint(Meaning::Place, &format!("§{}", clean(name)), out)?;
            }
            let preview: String = clean(&chunk.text).chars().take(PREVIEW_CHARS).collect();
            let room = if self.is_terminal { self.width.saturating_sub(3) } else { usize::MAX };
            writeln!(out, "\n   {}", cut(preview.trim_end(), room))?;
        }
        Ok(())
    }

    /// Writes all tags.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn tags(&self, tags: &[TagCount], out: &mut Sheet<'_>) -> io::Result<()> {
        if tags.is_empty() {
            return writeln!(out, "No tags. `kb tag ID --add NAME` sets one.");
        }
        let rows = tags.iter().map(|it| vec![it.count.to_string(), clean(&it.name)]);
        let columns = [numbers("COUNT"), texts("TAG").painted(Meaning::Tag)];
        self.table(&columns, &rows.collect::<Vec<_>>(), out)
    }

    /// Writes what the database holds.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn status(&self, setup: &Setup, stats: &Stats, out: &mut Sheet<'_>) -> io::Result<()> {
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
        let database = clean(&setup.database.display().to_string());
        let is_whole = stats.pages.documents_with_unread == 0;
        let mut facts = vec![
            fact("Database", database).painted(Meaning::Path),
            fact("Size", format!("{:.1} MB", bytes_to_mb(stats.db_size_bytes))),
            fact("Documents", format!("{} ({})", thousands(total), by_type.join(", "))),
            fact("Chunks", thousands(u64::from(stats.total_chunks))),
            fact("Pages", describe_pages(&stats.pages)).painted(meaning_of(is_whole)),
            fact("OCR", describe_ocr(&setup.ocr)),
            fact("Model", clean(&model)),
            fact("Schema", stats.schema_version.to_string()),
        ];
        let skills = setup.agent_skills.iter();
        facts.extend(
            skills.map(|it| {
                fact("Agent skill", describe_skill(it)).painted(meaning_of(it.is_current))
            }),
        );
        self.facts(&facts, out)
    }

    /// Writes on one line whether files have changed since they were added.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn out_of_date(&self, files: &OutOfDate, out: &mut Sheet<'_>) -> io::Result<()> {
        if *files == OutOfDate::default() {
            return writeln!(out, "All files are as they were.");
        }
        let away = match files.num_folders_away {
            0 => String::new(),
            away => format!(", {} gone or empty", counted(away, "folder")),
        };
        let refused = match files.num_refused {
            0 => String::new(),
            refused => format!(", {refused} replaced by a link that is not followed"),
        };
        let OutOfDate { num_changed, num_new, num_missing, .. } = files;
        writeln!(
            out,
            "Out of date: {num_changed} changed, {num_new} new, {num_missing} missing{away}{refused}. \
             `kb update` follows."
        )
    }

    /// Writes what is set up.
    ///
    /// # Errors
    ///
    /// What writing gives.
    pub fn setup(&self, setup: &Setup, out: &mut Sheet<'_>) -> io::Result<()> {
        let place = |name: &'static str, it: &Option<PathBuf>| match it {
            Some(it) => fact(name, clean(&it.display().to_string())).painted(Meaning::Path),
            None => fact(name, "not installed (`kb init` fetches it)").painted(Meaning::Warning),
        };
        let mut database = clean(&setup.database.display().to_string());
        if !setup.database.exists() {
            database += " (not there yet)";
        }
        let built_with = setup.binding.as_ref().map_or_else(
            || "nothing yet".into(),
            |it| format!("{} ({} dim, {})", clean(&it.model_name), it.dim, it.precision),
        );
        let data_dir = clean(&setup.data_dir.display().to_string());
        let facts = [
            fact("Data directory", data_dir).painted(Meaning::Path),
            fact("Database", database).painted(Meaning::Path),
            fact("Model configured", clean(&setup.model_configured)),
            place("Model files", &setup.model_dir),
            place("ONNX Runtime", &setup.runtime),
            fact("OCR", describe_ocr(&setup.ocr)),
            fact("Database built with", built_with),
        ];
        self.facts(&facts, out)
    }
}

/// Returns what it means that something is as it should be, or not.
fn meaning_of(is_well: bool) -> Meaning {
    if is_well { Meaning::Plain } else { Meaning::Warning }
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
