//! Reads `OpenDocument` files: texts, presentations with slides as pages, spreadsheets.
//!
//! An `OpenDocument` file is a ZIP archive of XML parts (ISO/IEC 26300): `content.xml` has the text with
//! the styles it adds, `styles.xml` all other styles, `meta.xml` the metadata. A flat file is one XML text with all of
//! them.

mod annotations;
mod body;
mod flat;
mod lists;
mod object_parts;
mod objects;
mod ranges;
mod sheets;
mod styles;
mod values;

use super::parts::{self, Archive, SalvagedPart, head, optional, salvage};
use super::sheet::Budget;
use super::xml::{self, XmlEvent};
use super::{EarlyEnd, Emit, ReaderInput};
use crate::error::FailureKind;
use crate::extract::protocol::{
    AnswerLine, DocumentHead, ExtractedPage, ReadFailure, ReadingSummary,
};
use objects::Objects;
use styles::OdfStyles;

/// Most objects that are read; each is a separate part of the archive, which has to be unpacked.
const MAX_OBJECTS: usize = 2_000;

pub(crate) fn read_text(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let mut file = open(input)?;
    let pages = file.pages(input.request.omits_remarks)?;
    emit(AnswerLine::Document(file.head.clone()))?;
    for page in pages {
        emit(AnswerLine::Page(ExtractedPage { number: 1, ..page }))?;
    }
    Ok(file.tail())
}

pub(crate) fn read_slides(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let mut file = open(input)?;
    let slides = file.pages(input.request.omits_remarks)?;
    if slides.is_empty() {
        return Err(ReadFailure::new(FailureKind::NoPages, "").into());
    }
    let page_count = u32::try_from(slides.len()).unwrap_or(u32::MAX);
    emit(AnswerLine::Document(DocumentHead { page_count, ..file.head.clone() }))?;
    for page in slides {
        emit(AnswerLine::Page(page))?;
    }
    Ok(file.tail())
}

pub(crate) fn read_sheets(
    input: &ReaderInput<'_>,
    emit: &mut Emit<'_>,
) -> Result<ReadingSummary, EarlyEnd> {
    let mut file = open(input)?;
    let objects = std::mem::take(&mut file.objects);
    let omits_remarks = input.request.omits_remarks;
    let SalvagedPart { text, damage } = &file.content;
    let (writer, broken) = sheets::read(text, objects, omits_remarks, &mut file.budget);
    let pages = [writer.page(1)];
    file.budget.warnings.extend(warning(damage.clone().or(broken), &pages)?);
    emit(AnswerLine::Document(file.head.clone()))?;
    for page in pages {
        emit(AnswerLine::Page(page))?;
    }
    Ok(file.tail())
}

/// An open file.
struct OdfFile<'a> {
    /// Absent for a flat file.
    archive: Option<Archive<'a>>,
    head: DocumentHead,
    styles: String,
    content: SalvagedPart,
    objects: Objects,
    /// For the cells of sheets, and of the objects.
    budget: Budget,
}

impl OdfFile<'_> {
    /// Returns the slides, or a text as one page.
    fn pages(&mut self, omits_remarks: bool) -> Result<Vec<ExtractedPage>, ReadFailure> {
        let SalvagedPart { text, damage } = &self.content;
        let mut styles = OdfStyles::default();
        styles.read(&self.styles);
        styles.read(text);
        let objects = std::mem::take(&mut self.objects);
        let (pages, broken) = body::read(text, styles, objects, omits_remarks);
        self.budget.warnings.extend(warning(damage.clone().or(broken), &pages)?);
        Ok(pages)
    }

    /// Returns the last line of the output.
    fn tail(self) -> ReadingSummary {
        let tail =
            ReadingSummary { warnings: self.budget.into_warnings(), ..ReadingSummary::default() };
        match self.archive {
            Some(archive) => archive.account(tail),
            None => tail,
        }
    }
}

/// Returns the warning of a damaged file with text. One without is not read.
fn warning(
    damage: Option<ReadFailure>,
    pages: &[ExtractedPage],
) -> Result<Option<String>, ReadFailure> {
    match damage {
        Some(failed) if pages.iter().all(|page| page.blocks.is_empty()) => Err(failed),
        Some(failed) => {
            Ok(Some(format!("the text after the damaged part is missing: {}", failed.detail)))
        }
        None => Ok(None),
    }
}

fn open<'a>(input: &ReaderInput<'a>) -> Result<OdfFile<'a>, ReadFailure> {
    if flat::is_xml(input.bytes) {
        return open_flat(input);
    }
    let mut archive = parts::open(input.bytes)?;
    let mut is_encrypted = false;
    // An archive without a manifest can be read.
    let _ = xml::each(&optional(&mut archive, "META-INF/manifest.xml"), |event| {
        is_encrypted |=
            matches!(event, XmlEvent::Open(element) if element.name() == "encryption-data");
    });
    if is_encrypted {
        let detail = "it is protected by a password; save it without one";
        return Err(ReadFailure::new(FailureKind::EncryptionNotSupported, detail));
    }
    let content = salvage(&mut archive, "content.xml").ok_or_else(|| {
        ReadFailure::new(FailureKind::WrongFormat, "it is a ZIP archive, not OpenDocument")
    })?;
    let mut budget = Budget::default();
    Ok(OdfFile {
        head: head(&optional(&mut archive, "meta.xml")),
        styles: optional(&mut archive, "styles.xml"),
        content,
        objects: objects(&mut archive, input.request.omits_remarks, &mut budget),
        budget,
        archive: Some(archive),
    })
}

/// Opens a file that is one XML text.
fn open_flat<'a>(input: &ReaderInput<'a>) -> Result<OdfFile<'a>, ReadFailure> {
    let text = input.text()?.text;
    let flat = flat::split(&text)
        .ok_or_else(|| ReadFailure::new(FailureKind::WrongFormat, "it is XML, not OpenDocument"))?;
    let omits_remarks = input.request.omits_remarks;
    let (mut objects, mut budget) = (Objects::default(), Budget::default());
    for (number, xml) in flat.objects.iter().enumerate().take(MAX_OBJECTS) {
        if let Some(object) = object_parts::read(xml, omits_remarks, &mut budget) {
            objects.add(&format!("#{number}"), object);
        }
    }
    let content = SalvagedPart { text: flat.content, damage: None };
    let head = head(&flat.meta);
    Ok(OdfFile { archive: None, head, styles: flat.styles, content, objects, budget })
}

/// Returns the objects in an archive, by their folders.
fn objects(archive: &mut Archive<'_>, omits_remarks: bool, budget: &mut Budget) -> Objects {
    let mut objects = Objects::default();
    let names = archive.names().into_iter();
    for name in names.filter(|name| name.ends_with("/content.xml")).take(MAX_OBJECTS) {
        let folder = name.trim_end_matches("/content.xml");
        let xml = optional(archive, &name);
        if let Some(object) = object_parts::read(&xml, omits_remarks, budget) {
            objects.add(folder, object);
        }
    }
    objects
}

#[cfg(test)]
mod tests;
