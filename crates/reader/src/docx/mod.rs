//! Reads a DOCX file: headings, paragraphs, lists, tables, notes, comments, charts, formulas and the
//! descriptions of pictures.
//!
//! A DOCX file is a ZIP archive of XML parts (ECMA-376): `word/document.xml` has the text, and
//! other parts define its styles, lists and notes. A part is found by the relation that the text has
//! to it, or has its usual name. Only the text is needed: a document is read without any other part.

mod attached;
mod body;
mod comments;
mod fields;
mod lists;
mod merged;
mod notes;
mod paragraph;
mod runs;
mod styles;
mod symbols;
mod values;

use std::collections::BTreeMap;

use super::embedded::{self, EmbeddedFiles};
use super::figures::Figures;
use super::members::Members;
use super::parts::{self, Archive, RelatedPart, head, optional};
use super::xml::{self, XmlEvent};
use super::{EarlyEnd, Emit, ReaderInput};
use crate::document::{WordAccount, WordDestination};
use crate::error::FailureKind;
use crate::extract::protocol::{AnswerLine, ReadFailure, ReadingSummary};
use body::BodyReferences;
use comments::OpenComments;
use lists::Lists;
pub(crate) use merged::ARCHIVE;
use merged::{MergedFiles, MergedRest, ReaderOfMerged};
use notes::{DocxNotes, NoteReader};
use styles::DocxStyles;

/// Reads a DOCX file. Without readers of other files, those that are merged into it are not read.
pub(crate) fn read(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
    reader_of: Option<ReaderOfMerged>,
) -> Result<ReadingSummary, EarlyEnd> {
    let mut archive = parts::open_office(input.bytes, ".doc")?;
    let main = parts::main_part(&mut archive, "word/document.xml")?;
    let text = parts::salvage(&mut archive, &main).ok_or_else(|| {
        ReadFailure::new(FailureKind::WrongFormat, "it is a ZIP archive, not DOCX")
    })?;
    let related = parts::relations(&mut archive, &main).unwrap_or_default();
    let mut parts = RelatedParts { archive, main, related };
    emit(AnswerLine::Document(head(&parts.properties())))?;

    // The body comes last, as it refers to all of these by their ids.
    let styles = DocxStyles::read(&parts.text("styles", "styles.xml"));
    let lists = Lists::read(&parts.text("numbering", "numbering.xml"));
    let shows_hidden = input.request.keeps_all;
    let mut reader = NoteReader { styles: &styles, shows_hidden, left_out: WordAccount::default() };
    let notes = DocxNotes {
        footnotes: reader.read(&parts.text("footnotes", "footnotes.xml"), "footnote"),
        endnotes: reader.read(&parts.text("endnotes", "endnotes.xml"), "endnote"),
    };
    let comments = parts.comments(&mut reader);
    let figures = Figures::read(&mut parts.archive, &parts.related);
    let mut rest = MergedRest::default();
    let merged = MergedFiles::read(&mut parts.archive, &parts.related, input, reader_of, &mut rest);
    let mut files = EmbeddedFiles::default();
    let names = files.add(&mut parts.archive, &parts.related);

    let references = BodyReferences { lists, notes, comments, figures, merged, embedded: names };
    let read = body::read(&text.text, &styles, references, input.request);
    let mut writer = read.writer;
    // A damaged text is kept up to the damage, unless nothing is left of it.
    if let Some(damage) = text.damage.or(read.damage) {
        if writer.is_empty() {
            return Err(damage.into());
        }
        let warning = format!("the text is damaged and ends early: {}", damage.detail);
        rest.warnings.insert(0, warning);
    }
    writer.left_out.merge(&reader.left_out);
    writer.left_out.merge(&rest.left_out);
    parts.leave_out_furniture(&mut writer.left_out);
    emit(AnswerLine::Page(writer.page(1)))?;

    let mut members = Members::new(emit);
    rest.warnings.extend(files.emit(&mut parts.archive, &mut members)?);
    for member in rest.members {
        let outcome = members.add(&member.name, member.bytes);
        rest.warnings.extend(embedded::left_out(&member.name, outcome)?);
    }
    Ok(parts
        .archive
        .account(ReadingSummary { warnings: rest.warnings, ..ReadingSummary::default() }))
}

/// The parts that the text of a document refers to.
struct RelatedParts<'a> {
    archive: Archive<'a>,
    /// The name of the part with the text.
    main: String,
    /// The other parts by the ids that the text uses.
    related: BTreeMap<String, RelatedPart>,
}

impl RelatedParts<'_> {
    /// Returns the text of the part with this relation to the text, or else with its usual name;
    /// empty if there is none, or if it is damaged.
    fn text(&mut self, kind: &str, usual: &str) -> String {
        let mut related = self.related.values().filter(|related| related.kind == kind);
        if let Some(related) = related.find(|related| self.archive.has(&related.name)) {
            return optional(&mut self.archive, &related.name);
        }
        let (folder, _) = self.main.rsplit_once('/').unwrap_or_default();
        optional(&mut self.archive, &parts::resolve(folder, usual))
    }

    /// Returns the part with the metadata of the document.
    fn properties(&mut self) -> String {
        const USUAL: &str = "docProps/core.xml";
        if self.archive.has(USUAL) {
            return optional(&mut self.archive, USUAL);
        }
        let of_package = parts::relations(&mut self.archive, "").unwrap_or_default();
        let found = of_package.into_values().find(|related| related.kind == "core-properties");
        found.map(|related| optional(&mut self.archive, &related.name)).unwrap_or_default()
    }

    /// Returns the comments of the document.
    fn comments(&mut self, reader: &mut NoteReader<'_>) -> OpenComments {
        let comments = reader.read(&self.text("comments", "comments.xml"), "comment");
        if comments.is_empty() {
            return OpenComments::default();
        }
        OpenComments::new(comments, &self.text("commentsExtended", "commentsExtended.xml"))
    }

    /// Counts the words of the heads and feet of pages.
    fn leave_out_furniture(&mut self, left_out: &mut WordAccount) {
        for related in self.related.values() {
            if !matches!(&*related.kind, "header" | "footer") {
                continue;
            }
            // A damaged one is no loss.
            let part = optional(&mut self.archive, &related.name);
            let _ = xml::each(&part, |event| {
                if let XmlEvent::Text(text) = event {
                    left_out.add(WordDestination::RunningHead, text);
                }
            });
        }
    }
}

#[cfg(test)]
mod tests;
