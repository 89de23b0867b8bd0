//! Writes documents and their parts for models.

use std::io;

use crate::app::maintenance::status::StatusReport;
use crate::app::query::read::DocumentInfo;
use crate::app::session::absent::no_documents;
use crate::app::session::message::{AppMessage, MessageLevel};
use crate::ingest::IngestReport;
use crate::present::terminal::sheet::CleanWriter;
use crate::present::text::compact::search::notes;
use crate::present::text::human::HumanLayout;
use crate::present::text::{read, stale};
use crate::read::{DocumentOutline, OpenedDocument, ShownPart};
use crate::store::{ListedDocument, StoredDocument, TagCount};
use crate::text::number::counted;
use crate::text::paths::{path_text, shown_text};
use crate::text::printable::clean;

/// The width of tables; they are not cut to it.
const WIDTH: usize = 80;

/// Most failed files that a report names.
const MAX_FAILED: usize = 20;

/// Writes some of the documents: one per line, with its id. `start` is how many of `total` come before them.
pub fn list(
    documents: &[ListedDocument],
    start: usize,
    total: usize,
    remarks: &[String],
    out: &mut CleanWriter<'_>,
) -> io::Result<()> {
    writeln!(out, "{} of {}", documents.len(), counted(total, "document"))?;
    notes(remarks, out)?;
    if total == 0 && remarks.is_empty() {
        writeln!(out, "{}", no_documents())?;
    }
    for document in documents {
        let path = document.path.as_deref().map(|path| format!(" {}", shown_text(path)));
        let tags = match document.tags.as_slice() {
            [] => String::new(),
            tags => format!(" [{}]", clean(&tags.join(", "))),
        };
        writeln!(
            out,
            "{} **{}** {}, {}, {}{}{tags}",
            document.id,
            clean(&document.title),
            clean(&document.format),
            counted(document.chunk_count, "chunk"),
            document.date.as_deref().unwrap_or("-"),
            path.unwrap_or_default(),
        )?;
    }
    let next = start + documents.len();
    if next < total { writeln!(out, "more: cursor {next}, or filters") } else { Ok(()) }
}

/// Writes the parts of a document. `left_out` is the level down to which they are, and the number of deeper ones.
pub fn outline(
    outline: &DocumentOutline,
    left_out: Option<(u32, usize)>,
    out: &mut CleanWriter<'_>,
) -> io::Result<()> {
    let path = outline.document.path.as_deref().map(|path| shown_text(path).to_string());
    read::outline(outline, "", path.as_deref(), out)?;
    let Some((level, num_more)) = left_out.filter(|(_, num_more)| *num_more > 0) else {
        return Ok(());
    };
    writeln!(out, "{} left out below level {level}: raise level", counted(num_more, "deeper part"))
}

/// Writes a part of a document: where it is from, then its text.
pub fn show(shown: &ShownPart, out: &mut CleanWriter<'_>) -> io::Result<()> {
    let part = &shown.part;
    let mut facts = vec![titled(&shown.document)];
    facts.extend(part.section.as_deref().map(|section| format!("§ {}", clean(section))));
    facts.extend(shown.symbol.as_deref().map(clean));
    facts.extend(read::facts(part));
    if shown.num_matches > 1 {
        facts.push(format!("first of {} parts of this name", shown.num_matches));
    }
    writeln!(out, "{}", facts.join(", "))?;
    if let Some(stale) = shown.stale {
        writeln!(out, "its file {}", stale::advice_for(stale))?;
    }
    writeln!(out)?;
    read::show(shown, out)
}

/// Writes lines of the file of a document: where they are from, then the lines.
pub fn open(opened: &OpenedDocument, out: &mut CleanWriter<'_>) -> io::Result<()> {
    let lines = format!("lines {}-{} of {}", opened.start_line, opened.end_line, opened.num_lines);
    let mut facts = vec![titled(&opened.document), lines];
    if opened.has_changed == Some(true) {
        facts.push("changed since it was indexed".into());
    }
    facts.extend(opened.file_error.as_deref().map(|error| {
        format!("from the database, because the file cannot be read: {}", clean(error))
    }));
    writeln!(out, "{}\n", facts.join(", "))?;
    out.text(&opened.text)?;
    if opened.num_cut > 0 {
        writeln!(out, "... ({} more lines)", opened.num_cut)?;
    }
    Ok(())
}

/// Writes a document without its chunks, and how to get them.
pub fn info(info: &DocumentInfo, out: &mut CleanWriter<'_>) -> io::Result<()> {
    let mut info = info.clone();
    let path = &mut info.document.path;
    *path = path.as_deref().map(|path| shown_text(path).into_owned());
    HumanLayout::plain(WIDTH).info(&info, out)?;
    writeln!(out, "its parts: kb_outline; its chunks: detail full")
}

/// Writes all tags.
pub fn tags(tags: &[TagCount], out: &mut CleanWriter<'_>) -> io::Result<()> {
    HumanLayout::plain(WIDTH).tags(tags, out)
}

/// Writes the status.
pub fn status(status: &StatusReport, out: &mut CleanWriter<'_>) -> io::Result<()> {
    HumanLayout::plain(WIDTH).status(status, out)
}

/// Writes the documents that were added.
pub fn report(report: &IngestReport, out: &mut CleanWriter<'_>) -> io::Result<()> {
    writeln!(out, "{}", HumanLayout::summary(report))?;
    notes(&report.notes, out)?;
    let ids: Vec<String> = report.document_ids.iter().map(ToString::to_string).collect();
    if !ids.is_empty() {
        writeln!(out, "documents {}", ids.join(", "))?;
    }
    for (path, error) in report.failed.iter().chain(&report.warnings).take(MAX_FAILED) {
        let path = path_text(path);
        let path = shown_text(&path);
        let failure = format!("{path}: {}", clean(&error.to_string())).into();
        writeln!(out, "{}", AppMessage::new(MessageLevel::Failure, &failure).line())?;
    }
    let num_more = (report.failed.len() + report.warnings.len()).saturating_sub(MAX_FAILED);
    if num_more > 0 { writeln!(out, "... ({num_more} more)") } else { Ok(()) }
}

/// Returns the title, id and path of a document.
fn titled(document: &StoredDocument) -> String {
    let path = document.path.as_deref().map(|path| format!(" ({})", shown_text(path)));
    let title = clean(&document.title);
    format!("**{title}**{}, document {}", path.unwrap_or_default(), document.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;
    use crate::store::DocumentId;

    /// Checks the lines after the summary.
    #[track_caller]
    fn check(report: &IngestReport, expected: &[&str]) {
        let mut out = Vec::new();
        super::report(report, &mut CleanWriter::new(&mut out)).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_ids_of_added_documents_are_listed() {
        check(&IngestReport::default(), &[]);
        let document_ids = vec![DocumentId(3), DocumentId(5)];
        let report = IngestReport { added: 2, document_ids, ..IngestReport::default() };
        check(&report, &["documents 3, 5"]);
    }

    #[test]
    fn failures_beyond_the_first_are_counted() {
        let failed = |num_failed| IngestReport {
            failed: (0..)
                .take(num_failed)
                .map(|number| ("/a.md".into(), Error::UnknownChunk { id: number }))
                .collect(),
            ..IngestReport::default()
        };
        check(&failed(0), &[]);
        let line =
            |number: usize| format!("failed: /a.md: {}", failed(number + 1).failed[number].1);
        let lines: Vec<String> = (0..MAX_FAILED).map(line).collect();
        let mut lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        check(&failed(MAX_FAILED), &lines);
        lines.push("... (2 more)");
        check(&failed(MAX_FAILED + 2), &lines);
    }
}
