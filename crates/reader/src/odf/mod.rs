//! Reads `OpenDocument` files: texts, presentations with slides as pages, spreadsheets.
//!
//! An `OpenDocument` file is a ZIP archive of XML parts (ISO/IEC 26300): `content.xml` has the text with
//! the styles it adds, `styles.xml` all other styles, `meta.xml` the metadata.

mod body;
mod sheets;
mod styles;

use std::collections::HashMap;

use super::math::{self, Formula};
use super::parts::{self, Archive, head, part};
use super::xml::{self, Event};
use super::{Emit, Input, Stop};
use crate::error::Failure;
use crate::extract::protocol::{Head, Line, Page, ReadFailure, Tail};
use styles::Styles;

/// Most formulas that are read; each is a separate part of the archive.
const MAX_FORMULAS: usize = 2_000;

pub(crate) fn read_text(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<Tail, Stop> {
    let mut file = open(input)?;
    emit(Line::Document(file.head.clone()))?;
    for page in file.pages()? {
        emit(Line::Page(Page { number: 1, ..page }))?;
    }
    Ok(Tail::default())
}

pub(crate) fn read_slides(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<Tail, Stop> {
    let mut file = open(input)?;
    let slides = file.pages()?;
    if slides.is_empty() {
        return Err(ReadFailure::new(Failure::NoPages, "").into());
    }
    let page_count = u32::try_from(slides.len()).unwrap_or(u32::MAX);
    emit(Line::Document(Head { page_count, ..file.head }))?;
    for page in slides {
        emit(Line::Page(page))?;
    }
    Ok(Tail::default())
}

pub(crate) fn read_sheets(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<Tail, Stop> {
    let file = open(input)?;
    emit(Line::Document(file.head))?;
    let (writer, budget) = sheets::read(&file.content)?;
    emit(Line::Page(writer.page(1)))?;
    Ok(Tail { warnings: budget.warnings, ..Tail::default() })
}

struct File<'a> {
    archive: Archive<'a>,
    content: String,
    head: Head,
}

impl File<'_> {
    /// Returns the slides, or a text as one page.
    fn pages(&mut self) -> Result<Vec<Page>, ReadFailure> {
        let mut styles = Styles::default();
        styles.read(&part(&mut self.archive, "styles.xml")?.unwrap_or_default());
        styles.read(&self.content);
        let formulas = formulas(&mut self.archive)?;
        body::read(&self.content, styles, formulas)
    }
}

fn open<'a>(input: &Input<'a>) -> Result<File<'a>, ReadFailure> {
    let mut archive = parts::open(input.bytes)?;
    let manifest = part(&mut archive, "META-INF/manifest.xml")?.unwrap_or_default();
    let mut is_encrypted = false;
    // An archive without a manifest can be read.
    let _ = xml::each(&manifest, |event| {
        is_encrypted |=
            matches!(event, Event::Open(element) if element.name() == "encryption-data");
    });
    if is_encrypted {
        let detail = "it is protected by a password; save it without one";
        return Err(ReadFailure::new(Failure::EncryptionNotSupported, detail));
    }
    let content = part(&mut archive, "content.xml")?.ok_or_else(|| {
        ReadFailure::new(Failure::WrongFormat, "it is a ZIP archive, not OpenDocument")
    })?;
    let head = head(&part(&mut archive, "meta.xml")?.unwrap_or_default());
    Ok(File { archive, content, head })
}

/// Returns the texts of the formulas in an archive, by their folders.
fn formulas(archive: &mut Archive<'_>) -> Result<HashMap<String, String>, ReadFailure> {
    let folders: Vec<String> = archive
        .names()
        .into_iter()
        .filter_map(|name| name.strip_suffix("/content.xml").map(str::to_owned))
        .take(MAX_FORMULAS)
        .collect();
    let mut formulas = HashMap::new();
    for folder in folders {
        let object = part(archive, &format!("{folder}/content.xml"))?.unwrap_or_default();
        let mut formula: Option<Formula> = None;
        let mut text = None;
        let _ = xml::each(&object, |event| match &mut formula {
            Some(formula) => text = text.take().or(formula.on(event)),
            None => {
                if let Event::Open(element) = event
                    && math::is_formula(element.name())
                {
                    formula.insert(Formula::default()).on(event);
                }
            }
        });
        formulas.extend(text.map(|text| (folder, text)));
    }
    Ok(formulas)
}

#[cfg(test)]
mod tests;
