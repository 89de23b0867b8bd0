//! Reads a presentation: slides as pages, with their tables, charts, diagrams and notes.
//!
//! A PPTX file is a ZIP archive of XML parts (ECMA-376): `ppt/presentation.xml` defines the order of
//! the slides, and each slide refers to its charts, diagrams and notes.

mod items;
mod slide;

use super::figures::Figures;
use super::parts::{self, Archive, head, part};
use super::writer::Writer;
use super::xml::{self, Event};
use super::{Emit, Input, Stop};
use crate::error::Failure;
use crate::extract::protocol::{Head, Line, Page, ReadFailure, Tail};
use items::Item;

/// Reads a presentation.
pub(crate) fn read(input: &Input<'_>, emit: &mut Emit<'_>) -> Result<Tail, Stop> {
    let mut archive = parts::open_office(input.bytes, ".ppt")?;
    let main = parts::main_part(&mut archive, "ppt/presentation.xml")?;
    let presentation = part(&mut archive, &main)?
        .ok_or_else(|| ReadFailure::new(Failure::WrongFormat, "it is a ZIP archive, not PPTX"))?;
    let slides = slides(&mut archive, &main, &presentation)?;
    if slides.is_empty() {
        return Err(ReadFailure::new(Failure::NoPages, "").into());
    }
    let properties = part(&mut archive, "docProps/core.xml")?.unwrap_or_default();
    let page_count = u32::try_from(slides.len()).unwrap_or(u32::MAX);
    emit(Line::Document(Head { page_count, ..head(&properties) }))?;
    for (name, number) in slides.iter().zip(1..) {
        let mut writer = Writer::default();
        let failed = write(&mut archive, name, &mut writer).err().map(|failed| failed.detail);
        emit(Line::Page(Page { failed, ..writer.page(number) }))?;
    }
    Ok(Tail::default())
}

/// Returns the names of the slides in their order.
fn slides(
    archive: &mut Archive<'_>,
    main: &str,
    presentation: &str,
) -> Result<Vec<String>, ReadFailure> {
    let related = parts::relations(archive, main)?;
    let mut slides = Vec::new();
    xml::each(presentation, |event| {
        if let Event::Open(element) = event
            && element.name() == "sldId"
            && let Some(slide) = element.relation().and_then(|id| related.get(&id))
        {
            slides.push(slide.name.clone());
        }
    })?;
    Ok(slides)
}

/// Writes a slide: its title, its other text, its notes.
fn write(archive: &mut Archive<'_>, name: &str, writer: &mut Writer) -> Result<(), ReadFailure> {
    let missing = || ReadFailure::new(Failure::Damaged, format!("{name} is missing"));
    let text = part(archive, name)?.ok_or_else(missing)?;
    let related = parts::relations(archive, name)?;
    let figures = Figures::read(archive, &related)?;
    let mut items = slide::read(&text, &figures);
    // Most programs put the title first, but a slide shows it on top in any case.
    items.sort_by_key(|item| !matches!(item, Item::Title(_)));
    items.into_iter().for_each(|item| item.write(writer));
    let Some(notes) = related.values().find(|related| related.kind == "notesSlide") else {
        return Ok(());
    };
    let notes = slide::read_notes(&part(archive, &notes.name)?.unwrap_or_default());
    if notes.iter().any(|item| !matches!(item, Item::Furniture(_))) {
        writer.heading(2, "Notes");
    }
    notes.into_iter().for_each(|item| item.write(writer));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::archive;
    use crate::testing::{Output, output_of};

    const PRESENTATION: &str = "<p:presentation><p:sldIdLst><p:sldId id='256' r:id='rId9'/>\
        <p:sldId id='257' r:id='rId2'/></p:sldIdLst></p:presentation>";
    const RELATIONS: &str = "<Relationships>\
        <Relationship Id='rId2' Type='x/slide' Target='slides/slide1.xml'/>\
        <Relationship Id='rId9' Type='x/slide' Target='/ppt/slides/slide2.xml'/></Relationships>";
    const FIRST: &str = "<p:sld><p:sp><p:txBody><a:p><a:r><a:t>High water at noon.</a:t></a:r></a:p></p:txBody></p:sp>\
        <p:sp><p:nvSpPr><p:nvPr><p:ph type='title'/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>Tides</a:t></a:r></a:p>\
        </p:txBody></p:sp></p:sld>";
    const SECOND: &str =
        "<p:sld><p:sp><p:txBody><a:p><a:r><a:t>Ends.</a:t></a:r></a:p></p:txBody></p:sp></p:sld>";
    const OF_SLIDE: &str = "<Relationships><Relationship Id='rId1' Type='x/notesSlide' Target='../notesSlides/n.xml'/>\
        </Relationships>";
    const NOTES: &str = "<p:notes><p:sp><p:nvPr><p:ph type='sldNum'/></p:nvPr><p:txBody><a:p><a:r><a:t>1</a:t></a:r></a:p>\
        </p:txBody></p:sp><p:sp><p:nvPr><p:ph type='body' idx='1'/></p:nvPr><p:txBody><a:p><a:r><a:t>Ask Maren.</a:t></a:r>\
        </a:p></p:txBody></p:sp></p:notes>";

    fn outcome(parts: &[(&str, &str)]) -> Result<Output, Stop> {
        output_of(read, &archive(parts))
    }

    #[test]
    fn slides_are_pages_in_the_order_of_the_presentation() {
        let parts = [
            ("ppt/presentation.xml", PRESENTATION),
            ("ppt/_rels/presentation.xml.rels", RELATIONS),
            ("ppt/slides/slide1.xml", SECOND),
            ("ppt/slides/slide2.xml", FIRST),
            ("ppt/slides/_rels/slide2.xml.rels", OF_SLIDE),
            ("ppt/notesSlides/n.xml", NOTES),
        ];
        let (head, blocks) = outcome(&parts).unwrap();
        assert_eq!(head.page_count, 2);
        assert_eq!(blocks, ["# Tides", "High water at noon.", "## Notes", "Ask Maren.", "Ends."]);
        // A slide that is missing is one page that could not be read.
        assert_eq!(outcome(&parts[..3]).unwrap().1, ["Ends."]);
    }

    #[test]
    fn a_file_without_slides_is_refused() {
        for (parts, expected) in [
            (&[("a.txt", "x")][..], Failure::WrongFormat),
            (&[("ppt/presentation.xml", "<p:presentation/>")], Failure::NoPages),
            (&[("ppt/presentation.xml", "<a></b>")], Failure::Damaged),
        ] {
            match outcome(parts) {
                Err(Stop::Failed(failed)) => assert_eq!(failed.failure, expected),
                other => panic!("{other:?}"),
            }
        }
    }
}
