//! Writes documents and tags as text.

use std::collections::HashMap;
use std::io;

use crate::app::maintenance::remove::RemoveReport;
use crate::app::maintenance::tag::{RenamedTag, TaggedDocuments};
use crate::app::query::read::DocumentInfo;
use crate::app::session::absent::no_documents;
use crate::app::session::copies;
use crate::document::Quality;
use crate::present::json::PREVIEW_CHARS;
use crate::present::terminal::columns::cut;
use crate::present::terminal::paint::Meaning;
use crate::present::terminal::sheet::CleanWriter;
use crate::present::terminal::table::{fact, numbers, paths, texts, words};
use crate::present::text::human::HumanLayout;
use crate::present::text::read::other_ends;
use crate::present::text::stale::advice_for;
use crate::store::{ListedDocument, StoredDocument, TagCount};
use crate::text::number::{counted, thousands};
use crate::text::printable::clean;
use crate::wording::{kb, wording};

/// Returns the folder of a document's file; empty without one.
fn folder_of(document: &ListedDocument) -> &str {
    let path = document.path.as_deref().unwrap_or_default();
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns for each document what distinguishes it from others with its title: its folder, or its path if one of them is in
/// the same folder; empty for a document without a file, or with a title that no other document has.
fn telling_paths(documents: &[ListedDocument]) -> Vec<&str> {
    let mut with_title: HashMap<&str, usize> = HashMap::new();
    for document in documents {
        *with_title.entry(&document.title).or_default() += 1;
    }
    let shared: Vec<bool> =
        documents.iter().map(|document| with_title[&*document.title] > 1).collect();
    let mut in_folder: HashMap<(&str, &str), usize> = HashMap::new();
    for (document, _) in documents.iter().zip(&shared).filter(|(_, is_shared)| **is_shared) {
        *in_folder.entry((&document.title, folder_of(document))).or_default() += 1;
    }
    let telling = documents.iter().zip(shared).map(|(document, is_shared)| {
        let path = document.path.as_deref().filter(|_| is_shared)?;
        let folder = folder_of(document);
        Some(if in_folder[&(&*document.title, folder)] > 1 { path } else { folder })
    });
    telling.map(Option::unwrap_or_default).collect()
}

impl HumanLayout {
    /// Writes a list of documents; `is_filtered` if the user gave a filter.
    pub fn list(
        &self,
        documents: &[ListedDocument],
        is_filtered: bool,
        out: &mut CleanWriter<'_>,
    ) -> io::Result<()> {
        if documents.is_empty() {
            if !is_filtered {
                return self.nothing_added(out);
            }
            let text = wording!("No documents match. `{}` without filters shows all.", kb("list"));
            return self.labelled(text, out);
        }
        let telling = telling_paths(documents);
        let has_file = documents
            .iter()
            .zip(&telling)
            .any(|(document, telling)| document.path.as_deref() == Some(telling));
        let rows = documents.iter().zip(&telling).map(|(document, telling)| {
            vec![
                document.id.to_string(),
                clean(&document.format),
                thousands(document.chunk_count),
                document.quality.as_ref().map(describe_briefly).unwrap_or_default(),
                document.date.clone().unwrap_or_default(),
                clean(&document.title),
                if telling.is_empty() { String::new() } else { self.path(telling) },
                clean(&document.tags.join(", ")),
            ]
        });
        let columns = [
            numbers("ID"),
            words("TYPE"),
            numbers("CHUNKS").left_out(2),
            words("PAGES").optional().left_out(4),
            words("DATE").left_out(3).painted(Meaning::Faint),
            texts("TITLE").painted(Meaning::Title),
            // The path distinguishes documents with the same title.
            paths(if has_file { "PATH" } else { "FOLDER" }).optional().painted(Meaning::Path),
            texts("TAGS").optional().left_out(1).painted(Meaning::Tag),
        ];
        self.table(&columns, rows, out)
    }

    /// Writes one document with its chunks.
    pub fn info(&self, info: &DocumentInfo, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let DocumentInfo { document, chunks, stale, links } = info;
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
            fact("Chunks", thousands(document.chunk_count)),
        ];
        if let Some(page_count) = metadata.page_count {
            facts.push(fact("Pages", thousands(page_count)));
        }
        if let Some(quality) = &metadata.quality {
            let is_whole = quality.pages_unread == 0;
            facts.push(fact("Quality", describe(quality)).painted(Meaning::of(is_whole)));
        }
        if let Some(words) = &metadata.words {
            facts.push(fact("Words", words.describe()));
        }
        if let Some(parts) = &metadata.parts {
            facts.push(fact("Parts", clean(&parts.describe())));
        }
        if let Some(encoding) = &metadata.encoding {
            let fact = fact("Encoding", clean(&encoding.describe()));
            facts.push(fact.painted(Meaning::of(!encoding.is_uncertain())));
        }
        if let Some(date) = &document.date_given {
            facts.push(fact("Date", clean(date)));
        }
        if let Some(author) = &metadata.author {
            facts.push(fact("Author", clean(author)));
        }
        if let Some(mark) = &metadata.superseded {
            facts.push(fact("Status", clean(&mark.describe())).painted(Meaning::Warning));
        }
        facts.extend(other_ends(links).map(|(name, ends)| fact(name, ends)));
        if let Some(stale) = stale {
            facts.push(fact("File", self.worded(&advice_for(*stale))).painted(Meaning::Warning));
        }
        for warning in &metadata.warnings {
            facts.push(fact("Note", clean(warning)).painted(Meaning::Warning));
        }
        writeln!(out, "Document {}{}", document.id, self.base_mark(None))?;
        self.facts(&facts, out)?;
        for stored in chunks {
            let chunk = &stored.chunk;
            writeln!(out)?;
            let mut place = format!("({}", counted(chunk.token_count, "token"));
            if let Some(pages) = chunk.pages {
                place += &format!(", p.{}", pages.first());
            }
            if let Some(lines) = chunk.lines {
                place += &format!(", lines {}-{}", lines.first(), lines.last());
            }
            write!(out, "Chunk {} ", stored.id)?;
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

    /// Writes that there are no documents, in place of a list of what they have.
    pub fn nothing_added(&self, out: &mut CleanWriter<'_>) -> io::Result<()> {
        self.labelled(no_documents(), out)
    }

    /// Writes all tags.
    pub fn tags(&self, tags: &[TagCount], out: &mut CleanWriter<'_>) -> io::Result<()> {
        if tags.is_empty() {
            let tag = kb("tag").arg("DOC").option("--add", "NAME");
            return self.labelled(wording!("No tags. `{}` adds one.", tag), out);
        }
        let rows = tags.iter().map(|tag| vec![thousands(tag.count), clean(&tag.name)]);
        let columns = [numbers("COUNT"), texts("TAG").painted(Meaning::Tag)];
        self.table(&columns, rows, out)
    }

    /// Writes the tags of a document after a change.
    pub fn tagged(&self, document: &StoredDocument, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let tags = if document.tags.is_empty() { "none".into() } else { document.tags.join(", ") };
        writeln!(out, "Tags of '{}': {}", clean(&document.title), clean(&tags))
    }

    /// Writes the edited fields of a document.
    pub fn edited(
        &self,
        document: &StoredDocument,
        changed: &[&'static str],
        out: &mut CleanWriter<'_>,
    ) -> io::Result<()> {
        match changed {
            [] => writeln!(out, "Nothing changed."),
            names => {
                let (id, title) = (document.id, clean(&document.title));
                writeln!(out, "Changed {} of document {id}, '{title}'.", names.join(", "))
            }
        }
    }

    /// Writes how many documents were selected and changed.
    pub fn tagged_all(
        &self,
        tagged: &TaggedDocuments,
        out: &mut CleanWriter<'_>,
    ) -> io::Result<()> {
        let selected = counted(tagged.documents.len(), "document");
        let changed = thousands(tagged.changed.len());
        writeln!(out, "Selected {selected}; changed the tags of {changed}.")
    }

    /// Writes the result of renaming a tag.
    pub fn renamed_tag(&self, renamed: &RenamedTag, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let (verb, join) = if renamed.is_merged { ("Merged", "into") } else { ("Renamed", "to") };
        let documents = counted(renamed.num_documents, "document");
        let (from, to) = (clean(&renamed.from), clean(&renamed.to));
        writeln!(out, "{verb} '{from}' {join} '{to}': {documents}.")
    }

    /// Writes the ids of removed documents.
    pub fn removed(&self, removed: &RemoveReport, out: &mut CleanWriter<'_>) -> io::Result<()> {
        let documents = counted(removed.ids.len(), "document");
        if removed.is_dry_run {
            for document in &removed.documents {
                let path = document.path.as_deref().map(clean).unwrap_or_else(|| "note".into());
                writeln!(out, "{} {} ({path})", document.id, clean(&document.title))?;
            }
            if let Some(text) = removed.losses.text() {
                writeln!(out, "These are in no file: {text}.")?;
            }
            return writeln!(out, "Would remove {documents}.");
        }
        write!(out, "Removed {documents}.")?;
        if removed.num_rules > 0 {
            write!(out, " Added {} to .kbignore.", counted(removed.num_rules, "rule"))?;
        }
        if !removed.deleted_copies.is_empty() {
            write!(out, " Deleted {}.", copies::counted(removed.deleted_copies.len()))?;
        }
        writeln!(out)
    }
}

/// Smallest share of words without spaces between their parts that is reported.
const MIN_SHARE_GLUED: f64 = 0.01;

/// Describes how well a document's pages could be read.
fn describe(quality: &Quality) -> String {
    let parts = [
        (quality.pages_read, "read"),
        (quality.pages_ocr, "of them by OCR"),
        (quality.pages_empty, "empty"),
        (quality.pages_unread, "not read"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let mut text: Vec<String> =
        parts.map(|(count, what)| format!("{} {what}", thousands(*count))).collect();
    if quality.num_not_text > 0 {
        let percent = quality.share_not_text() * 100.0;
        text.push(format!("{percent:.1} % of the characters are not text"));
    }
    if quality.share_glued() >= MIN_SHARE_GLUED {
        let percent = quality.share_glued() * 100.0;
        text.push(format!("{percent:.1} % of the words had no spaces between their parts"));
    }
    if quality.num_unsure > 0 {
        let percent = quality.share_unsure() * 100.0;
        text.push(format!("OCR is not sure of {percent:.1} % of its words"));
    }
    format!("pages: {}", text.join(", "))
}

/// Like [`describe`], but short enough for a column.
fn describe_briefly(quality: &Quality) -> String {
    let total = quality.pages_read + quality.pages_empty + quality.pages_unread;
    let parts = [(quality.pages_ocr, "OCR"), (quality.pages_unread, "unread")];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, what)| format!("{count} {what}")).collect();
    if parts.is_empty() { total.to_string() } else { format!("{total} ({})", parts.join(", ")) }
}
